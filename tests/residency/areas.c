/* Areas of memory of all kinds. */
#include "routes.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { page = 4096, most_pages = 12, huge = 2 << 20 };

uint64_t draw(struct random *random, uint64_t below)
{
    random->state ^= random->state << 13;
    random->state ^= random->state >> 7;
    random->state ^= random->state << 17;
    return random->state % below;
}

void check(bool condition, const char *what)
{
    if (!condition) {
        perror(what);
        exit(3);
    }
}

static void fill(struct area *area)
{
    double *values = (double *)area->memory;
    for (size_t i = 0; i < area->bytes / sizeof *values; i++) {
        values[i] = (double)(i % 7) - 3;
    }
}

static int new_file(void)
{
    char name[] = "residency-XXXXXX";
    int file = mkostemp(name, O_CLOEXEC);
    check(file >= 0, "a file in the working directory");
    unlink(name);
    return file;
}

static unsigned char *map(size_t bytes, int flags, int file)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    check(memory != MAP_FAILED, "mmap");
    return memory;
}

void area_make(struct area *area, enum kind kind, struct random *random)
{
    *area = (struct area){.kind = kind, .bytes = (4 + draw(random, most_pages - 3)) * page, .file = -1};
    switch (kind) {
    case KIND_PRIVATE:
        area->memory = map(area->bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        break;
    case KIND_HUGE:
        area->bytes = 2 * (size_t)huge;
        area->memory = map(area->bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
        madvise(area->memory, area->bytes, MADV_HUGEPAGE);
        break;
    case KIND_HEAP:
        area->memory = malloc(area->bytes);
        check(area->memory != NULL, "malloc");
        break;
    case KIND_MEMFD:
        area->file = memfd_create("residency", MFD_CLOEXEC);
        check(area->file >= 0 && ftruncate(area->file, (off_t)area->bytes) == 0, "memfd");
        area->memory = map(area->bytes, MAP_SHARED, area->file);
        area->alias = map(area->bytes, MAP_SHARED, area->file);
        break;
    case KIND_FILE_PRIVATE:
    case KIND_FILE_SHARED:
        area->file = new_file();
        check(ftruncate(area->file, (off_t)area->bytes) == 0, "ftruncate");
        area->memory = map(area->bytes, kind == KIND_FILE_SHARED ? MAP_SHARED : MAP_PRIVATE, area->file);
        break;
    case KIND_PROCESSES:
        area->memory = map(area->bytes, MAP_SHARED | MAP_ANONYMOUS, -1);
        break;
    case KIND_COUNT:
        break;
    }
    fill(area);
}

void area_free(struct area *area)
{
    if (area->kind == KIND_HEAP) {
        free(area->memory);
    } else {
        munmap(area->memory, area->bytes);
    }
    if (area->alias != NULL) {
        munmap(area->alias, area->bytes);
    }
    if (area->file >= 0) {
        close(area->file);
    }
}
