/* What the kernel proves about the program's memory; see watch.h.
 *
 * Pages are registered with a userfaultfd that has UFFD_FEATURE_WP_ASYNC and write-protected through it.  A write, by
 * a thread of the program, a system call or another process, clears the page's protection and goes on; the ioctl
 * PAGEMAP_SCAN tells which pages still have it.  There is no signal, no handler and no thread.
 *
 * What is proven: a page counts as unchanged only if the scan finds it present, protected, and in a mapping that is
 * registered.  Registration is lost when a mapping goes (munmap, mremap, a mapping over it), and the page when its
 * content goes (MADV_DONTNEED, swapping), so all these read as changed.  PM_SCAN_CHECK_WPASYNC makes the scan fail
 * as a whole where a mapping is not registered.
 *
 * What the kernel cannot see is refused when pages are protected, after they were registered: mappings of files,
 * devices and shared memory, which change by other routes, and everything while somebody has pinned memory of this
 * process.  A mapping that takes the place of one that was looked at is not registered.
 *
 * Callers hold a lock of their own.  Nothing here touches the memory itself. */
#include "device/watch.h"
#include "device/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* From linux/userfaultfd.h and linux/fs.h of Linux 6.7; the headers of older systems lack them. */
enum { user_mode_only = 1, register_writes = 2, protect_writes = 1, check_async = 2 };
static const uint64_t async_writes = 1 << 15;
enum { is_registered = 1, is_written = 2, is_present = 8 };

struct api {
    uint64_t version, features, ioctls;
};
struct range {
    uint64_t start, length;
};
struct registration {
    struct range range;
    uint64_t mode, ioctls;
};
struct protection {
    struct range range;
    uint64_t mode;
};
struct region {
    uint64_t start, end, categories;
};
struct scan {
    uint64_t size, flags, start, end, walk_end, regions, region_count, most_pages, inverted, all_of, any_of, wanted;
};

#define API       _IOWR(0xAA, 0x3F, struct api)
#define REGISTER  _IOWR(0xAA, 0x00, struct registration)
#define FORGET    _IOR(0xAA, 0x01, struct range)
#define PROTECT   _IOWR(0xAA, 0x06, struct protection)
#define SCAN      _IOWR('f', 16, struct scan)
#define ARRAY(at) ((uint64_t)(uintptr_t)(at))

/* A descriptor, and what it must be: programs close descriptors that are not theirs. */
struct kept {
    int number;
    dev_t device;
    ino_t inode;
};
static struct kept faults = {.number = -1}, pagemap = {.number = -1}, status = {.number = -1};
static bool tried, works;

struct ofl_pages ofl_pages_within(const void *address, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)address;
    struct ofl_pages pages = {(first + page - 1) & ~(page - 1), (first + bytes) & ~(page - 1)};
    if (pages.end < pages.begin) {
        pages.end = pages.begin;
    }
    return pages;
}

/* Moves it out of the way of programs that count on small numbers. */
static bool keep(int number, struct kept *kept)
{
    enum { high = 900 };
    struct stat is;
    int moved = number < 0 ? -1 : fcntl(number, F_DUPFD_CLOEXEC, high);
    if (moved >= 0) {
        close(number);
        number = moved;
    }
    if (number < 0 || fstat(number, &is) != 0) {
        return false;
    }
    *kept = (struct kept){number, is.st_dev, is.st_ino};
    return true;
}

static bool is_still(const struct kept *kept)
{
    struct stat now;
    return kept->number >= 0 && fstat(kept->number, &now) == 0 && now.st_dev == kept->device &&
           now.st_ino == kept->inode;
}

static bool usable(void)
{
    works = works && is_still(&faults) && is_still(&pagemap);
    return works;
}

static struct range range_of(struct ofl_pages pages)
{
    return (struct range){pages.begin, pages.end - pages.begin};
}

/* Whether a line of /proc/self/maps is a mapping whose pages only this process's page tables lead to. */
static bool is_private_anonymous(const char *line, struct ofl_pages *mapping)
{
    unsigned long begin, end, offset, inode;
    unsigned major, minor;
    char access[5];
    if (sscanf(line, "%lx-%lx %4s %lx %x:%x %lu", &begin, &end, access, &offset, &major, &minor, &inode) != 7) {
        *mapping = (struct ofl_pages){0, UINTPTR_MAX};
        return false;
    }
    *mapping = (struct ofl_pages){begin, end};
    return access[3] == 'p' && major == 0 && minor == 0 && inode == 0;
}

/* Whether the pages lie in such mappings; *whole gets the mappings' bounds. */
static bool all_private_anonymous(struct ofl_pages pages, struct ofl_pages *whole)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char *line = NULL;
    size_t size = 0;
    bool good = maps != NULL;
    *whole = (struct ofl_pages){UINTPTR_MAX, 0};
    while (good && getline(&line, &size, maps) > 0) {
        struct ofl_pages mapping;
        bool fits = is_private_anonymous(line, &mapping);
        if (mapping.begin < pages.end && pages.begin < mapping.end) {
            good = fits;
            whole->begin = mapping.begin < whole->begin ? mapping.begin : whole->begin;
            whole->end = mapping.end > whole->end ? mapping.end : whole->end;
        }
    }
    good = good && whole->begin < whole->end && ferror(maps) == 0;
    free(line);
    if (maps != NULL) {
        fclose(maps);
    }
    return good;
}

bool ofl_watch_trusts(struct ofl_pages pages)
{
    struct ofl_pages unwanted;
    return all_private_anonymous(pages, &unwanted);
}

/* Registers pages that can be trusted, whatever becomes of the memory meanwhile: a mapping that comes after the
 * registration is not registered.  Whole mappings are, since a mapping that were divided could not be moved any more
 * by the program's mremap. */
static bool make_watchable(struct ofl_pages pages)
{
    struct ofl_pages whole, now;
    if (pages.end <= pages.begin || !usable() || !all_private_anonymous(pages, &whole)) {
        return false;
    }
    struct registration registration = {.range = range_of(whole), .mode = register_writes};
    if (ioctl(faults.number, REGISTER, &registration) != 0) {
        return false;
    }
    if (!all_private_anonymous(pages, &now)) {
        ioctl(faults.number, FORGET, &registration.range);
        return false;
    }
    return true;
}

/* Whether pages that were protected and then moved to where other memory was read as written there.  Older kernels let
 * them keep their protection; then a registration that ended and began again would prove nothing. */
static bool moved_pages_are_written(void)
{
    enum { access = PROT_READ | PROT_WRITE, kind = MAP_PRIVATE | MAP_ANONYMOUS };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *from = mmap(NULL, page, access, kind, -1, 0), *to = mmap(NULL, page, access, kind, -1, 0);
    struct ofl_pages run, there = {(uintptr_t)from, (uintptr_t)from + page};
    bool written = false;
    if (from != MAP_FAILED && to != MAP_FAILED) {
        *(volatile char *)from = 1;
        if (make_watchable(there) && ofl_watch_protect_again(there) && ofl_watch_changed(there, &run, 1) == 0 &&
            mremap(from, page, page, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to) {
            from = MAP_FAILED;
            there = (struct ofl_pages){(uintptr_t)to, (uintptr_t)to + page};
            written = make_watchable(there) && ofl_watch_changed(there, &run, 1) == 1;
        }
    }
    if (from != MAP_FAILED) {
        munmap(from, page);
    }
    if (to != MAP_FAILED) {
        munmap(to, page);
    }
    return written;
}

bool ofl_watch_start(void)
{
    if (!tried) {
        struct api api = {.version = 0xAA, .features = async_writes};
        struct scan nothing = {.size = sizeof nothing, .any_of = is_written, .wanted = is_written};
        tried = true;
        works = keep((int)syscall(SYS_userfaultfd, O_CLOEXEC | user_mode_only), &faults) &&
                ioctl(faults.number, API, &api) == 0 && (api.features & async_writes) != 0 &&
                keep(open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), &pagemap) &&
                ioctl(pagemap.number, SCAN, &nothing) == 0 &&
                keep(open("/proc/self/status", O_RDONLY | O_CLOEXEC), &status);
        works = works && moved_pages_are_written();
    }
    return usable();
}

bool ofl_watch_protect(struct ofl_pages pages)
{
    if (!make_watchable(pages)) {
        return false;
    }
    if (!ofl_watch_protect_again(pages) || ofl_watch_somebody_pins()) {
        ofl_watch_stop(pages);
        return false;
    }
    return true;
}

/* Page number `index` of those that are tried. */
enum { tries = 8 };
static struct ofl_pages tried_page(struct ofl_pages pages, int index)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), count = (pages.end - pages.begin) / page;
    uintptr_t begin = pages.begin + (uintptr_t)index * (count - 1) / (tries - 1) * page;
    return (struct ofl_pages){begin, begin + page};
}

bool ofl_watch_try(struct ofl_pages pages)
{
    bool done = make_watchable(pages);
    for (int i = 0; i < tries && done; i++) {
        done = ofl_watch_protect_again(tried_page(pages, i));
    }
    return done;
}

bool ofl_watch_tried_unchanged(struct ofl_pages pages)
{
    struct ofl_pages run;
    bool unchanged = true;
    for (int i = 0; i < tries && unchanged; i++) {
        unchanged = ofl_watch_changed(tried_page(pages, i), &run, 1) == 0;
    }
    return unchanged;
}

bool ofl_watch_protect_again(struct ofl_pages pages)
{
    struct protection protection = {.range = range_of(pages), .mode = protect_writes};
    int result;
    do {
        result = ioctl(faults.number, PROTECT, &protection);
    } while (result != 0 && errno == EAGAIN); /* the memory's layout was being changed */
    return result == 0;
}

/* The files are ours. */
static int search(struct ofl_pages pages, struct ofl_pages *runs, int most)
{
    enum { batch = 128 };
    struct region regions[batch];
    int count = 0;
    while (pages.begin < pages.end) {
        struct scan scan = {.size = sizeof scan,
                            .flags = check_async,
                            .start = pages.begin,
                            .end = pages.end,
                            .regions = ARRAY(regions),
                            .region_count = batch,
                            .inverted = is_registered | is_present,
                            .any_of = is_registered | is_present | is_written,
                            .wanted = is_present};
        int found = ioctl(pagemap.number, SCAN, &scan);
        if (found < 0 || scan.walk_end <= pages.begin) {
            return -1;
        }
        for (int i = 0; i < found; i++) {
            if (count > 0 && runs[count - 1].end == regions[i].start) {
                runs[count - 1].end = regions[i].end;
            } else if (count < most) {
                runs[count++] = (struct ofl_pages){regions[i].start, regions[i].end};
            } else {
                return -1;
            }
        }
        pages.begin = scan.walk_end;
    }
    return count;
}

/* A search by several threads for anything that is changed. */
struct common_search {
    struct ofl_pages pages;
    _Atomic uintptr_t next; /* bytes after the begin */
    atomic_bool found;      /* or the search failed */
};
enum { search_bytes = 8 << 20 };

static bool search_some(void *argument)
{
    struct common_search *common = argument;
    uintptr_t length = common->pages.end - common->pages.begin;
    uintptr_t from = atomic_fetch_add(&common->next, search_bytes);
    if (from >= length || atomic_load(&common->found)) {
        return false;
    }
    struct ofl_pages run, part = {common->pages.begin + from, common->pages.end};
    if (length - from > search_bytes) {
        part.end = part.begin + search_bytes;
    }
    if (search(part, &run, 1) != 0) {
        atomic_store(&common->found, true);
    }
    return true;
}

int ofl_watch_changed(struct ofl_pages pages, struct ofl_pages *runs, int most)
{
    uintptr_t parts = (pages.end - pages.begin) / search_bytes;
    if (!usable()) {
        return -1;
    }
    if (parts >= 2) { /* mostly nothing has changed */
        struct common_search common = {.pages = pages};
        int helpers = ofl_pool_helpers();
        ofl_pool_share(search_some, &common, (uintptr_t)helpers < parts ? helpers : (int)parts - 1);
        if (!atomic_load(&common.found)) {
            return 0;
        }
    }
    return search(pages, runs, most);
}

void ofl_watch_stop(struct ofl_pages pages)
{
    /* Only where all of it is ours: the memory may have become somebody else's, with a userfaultfd of his own. */
    struct scan scan = {.size = sizeof scan,
                        .flags = check_async,
                        .start = pages.begin,
                        .end = pages.end,
                        .all_of = is_registered,
                        .wanted = is_registered};
    struct protection protection = {.range = range_of(pages), .mode = 0};
    struct region region;
    scan.regions = ARRAY(&region);
    scan.region_count = 1;
    if (pages.end > pages.begin && usable() && ioctl(pagemap.number, SCAN, &scan) >= 0) {
        ioctl(faults.number, PROTECT, &protection);
    }
}

bool ofl_watch_somebody_pins(void)
{
    char text[4096];
    ssize_t length = is_still(&status) ? pread(status.number, text, sizeof text - 1, 0) : -1;
    text[length > 0 ? length : 0] = '\0';
    const char *line = strstr(text, "\nVmPin:");
    return line == NULL || strtoull(line + sizeof "\nVmPin:" - 1, NULL, 10) != 0;
}

void ofl_watch_after_fork(void)
{
    struct kept *const all[] = {&faults, &pagemap, &status};
    for (int i = 0; i < 3; i++) {
        if (is_still(all[i])) {
            close(all[i]->number);
        }
        all[i]->number = -1;
    }
    tried = works = false;
}
