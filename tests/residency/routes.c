/* The routes: each writes a stretch of whole numbers into an area, or brings about that other numbers are there.
 *
 * What is tested is the kernel's word as much as ours, so each route is the system call or the instruction itself, and
 * nothing is remembered about what was written: the test reads the memory. */
#include "routes.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { page = 4096, most_numbers = 512 };

/* Numbers for the area, from element `first` on. */
struct stretch {
    size_t first, count;
    double number[most_numbers];
};

static unsigned char *place(const struct area *area, const struct stretch *stretch)
{
    return area->memory + stretch->first * sizeof(double);
}

static size_t size_of(const struct stretch *stretch)
{
    return stretch->count * sizeof(double);
}

static void draw_stretch(const struct area *area, struct random *random, struct stretch *stretch)
{
    size_t all = area->bytes / sizeof(double), per_page = page / sizeof(double);
    stretch->count = draw(random, 3) == 0 ? 1 + draw(random, most_numbers) : 1 + draw(random, 3);
    stretch->first = draw(random, all - stretch->count + 1);
    if (draw(random, 3) == 0) { /* around the border of two pages */
        size_t border = (1 + draw(random, area->bytes / page - 1)) * per_page;
        stretch->first = border - draw(random, stretch->count + 1);
        stretch->count = stretch->first + stretch->count > all ? all - stretch->first : stretch->count;
    }
    for (size_t i = 0; i < stretch->count; i++) {
        stretch->number[i] = (double)draw(random, 2000) - 1000;
    }
}

/* ---- in this process ---- */

static bool by_store(struct area *area, struct random *random, const struct stretch *stretch)
{
    (void)random;
    volatile double *to = (double *)(void *)place(area, stretch);
    for (size_t i = 0; i < stretch->count; i++) {
        to[i] = stretch->number[i];
    }
    return true;
}

/* A byte, the last or first of a page: the exponent's low bits and sign, or the lowest of the mantissa. */
static bool by_byte(struct area *area, struct random *random, const struct stretch *stretch)
{
    (void)stretch;
    size_t border = (1 + draw(random, area->bytes / page - 1)) * page;
    volatile unsigned char *byte = area->memory + border - draw(random, 2);
    *byte ^= draw(random, 2) ? 1 : 0x80;
    /* Whole numbers only, so that sums are exact. */
    volatile double *number = (double *)(void *)(area->memory + ((size_t)(byte - area->memory) & ~(size_t)7));
    if (!(*number > -1e6 && *number < 1e6) || *number != (double)(int)*number) {
        *number = (double)draw(random, 50);
    }
    return true;
}

static bool by_memset(struct area *area, struct random *random, const struct stretch *stretch)
{
    (void)random, (void)stretch;
    memset(area->memory, 0, area->bytes);
    return true;
}

static bool by_alias(struct area *area, struct random *random, const struct stretch *stretch)
{
    (void)random;
    if (area->alias == NULL) {
        return false;
    }
    memcpy(area->alias + stretch->first * sizeof(double), stretch->number, size_of(stretch));
    return true;
}

static bool by_pipe(struct area *area, struct random *random, const struct stretch *stretch)
{
    int ends[2];
    bool splice_it = draw(random, 2) == 0;
    struct iovec to = {place(area, stretch), size_of(stretch)};
    check(pipe2(ends, O_CLOEXEC) == 0, "pipe");
    check(write(ends[1], stretch->number, size_of(stretch)) == (ssize_t)size_of(stretch), "write");
    ssize_t moved = splice_it ? vmsplice(ends[0], &to, 1, 0) : read(ends[0], to.iov_base, to.iov_len);
    check(moved == (ssize_t)size_of(stretch), "read or vmsplice");
    close(ends[0]);
    close(ends[1]);
    return true;
}

static bool by_socket(struct area *area, struct random *random, const struct stretch *stretch)
{
    int ends[2];
    struct iovec parts[2] = {{place(area, stretch), sizeof(double)},
                             {place(area, stretch) + sizeof(double), size_of(stretch) - sizeof(double)}};
    struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
    (void)random;
    check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0, "socketpair");
    check(send(ends[1], stretch->number, size_of(stretch), 0) == (ssize_t)size_of(stretch), "send");
    check(recvmsg(ends[0], &message, MSG_WAITALL) == (ssize_t)size_of(stretch), "recvmsg");
    close(ends[0]);
    close(ends[1]);
    return true;
}

static bool by_file(struct area *area, struct random *random, const struct stretch *stretch)
{
    (void)random;
    if (area->file < 0) {
        return false;
    }
    check(pwrite(area->file, stretch->number, size_of(stretch), (off_t)(stretch->first * sizeof(double))) ==
              (ssize_t)size_of(stretch),
          "pwrite");
    return true;
}

/* ---- the memory's layout ---- */

static bool is_mapping(const struct area *area)
{
    return area->kind == KIND_PRIVATE || area->kind == KIND_HUGE;
}

static void map_there(unsigned char *at, size_t bytes)
{
    check(mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == at, "mmap");
}

/* False where the memory is several mappings by now: some of them may have moved.  Then there is new memory. */
static bool move(unsigned char *from, size_t bytes, unsigned char *to)
{
    bool moved = mremap(from, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to) == to;
    check(moved || errno == EFAULT || errno == EINVAL, "mremap");
    if (!moved) {
        map_there(from, bytes);
        munmap(to, bytes);
    }
    return moved;
}

/* Away, and back: with the content, or with other content. */
static bool by_mremap(struct area *area, struct random *random, const struct stretch *stretch)
{
    unsigned char *home = area->memory;
    if (!is_mapping(area)) {
        return false;
    }
    unsigned char *away = mmap(NULL, area->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(away != MAP_FAILED, "mmap");
    if (draw(random, 2) == 0) { /* a mapping with other numbers takes its place */
        memcpy(away, home, area->bytes);
        memcpy(away + stretch->first * sizeof(double), stretch->number, size_of(stretch));
        check(move(away, area->bytes, home), "mremap");
        return true;
    }
    if (!move(home, area->bytes, away)) {
        return true;
    }
    if (draw(random, 2) == 0) {
        memcpy(away + stretch->first * sizeof(double), stretch->number, size_of(stretch));
    }
    check(move(away, area->bytes, home), "mremap");
    return true;
}

/* Two areas' memory changes places: each comes with pages that may be protected for the other. */
static bool by_exchange(struct area *area, struct random *random, const struct stretch *stretch)
{
    static struct area other = {.memory = NULL};
    if (area->kind != KIND_PRIVATE) {
        return false;
    }
    (void)random, (void)stretch;
    size_t bytes = area->bytes;
    if (other.memory == NULL || other.bytes != bytes) {
        if (other.memory != NULL) {
            munmap(other.memory, other.bytes);
        }
        other = *area;
        other.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        check(other.memory != MAP_FAILED, "mmap");
        for (size_t i = 0; i < bytes / sizeof(double); i++) {
            ((double *)(void *)other.memory)[i] = (double)(i % 11);
        }
    }
    unsigned char *between = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    check(between != MAP_FAILED, "mmap");
    if (!move(area->memory, bytes, between)) {
        return true;
    }
    if (move(other.memory, bytes, area->memory)) {
        other.memory = between;
    } else {
        map_there(area->memory, bytes);
        munmap(between, bytes);
    }
    return true;
}

static bool by_new_mapping(struct area *area, struct random *random, const struct stretch *stretch)
{
    if (!is_mapping(area)) {
        return false;
    }
    unsigned char *from = area->memory;
    size_t bytes = area->bytes;
    if (draw(random, 2) == 0) { /* some of its pages only */
        from += draw(random, bytes / page) * page;
        bytes = (1 + draw(random, (size_t)(area->memory + bytes - from) / page)) * page;
    }
    if (draw(random, 2) == 0) {
        munmap(from, bytes);
    }
    map_there(from, bytes);
    return draw(random, 2) == 0 ? true : by_store(area, random, stretch);
}

static bool by_malloc(struct area *area, struct random *random, const struct stretch *stretch)
{
    if (area->kind != KIND_HEAP) {
        return false;
    }
    free(area->memory);
    area->memory = malloc(area->bytes);
    check(area->memory != NULL, "malloc");
    for (size_t i = 0; i < area->bytes / sizeof(double); i++) {
        ((double *)(void *)area->memory)[i] = stretch->number[i % stretch->count];
    }
    (void)random;
    return true;
}

/* The kernel takes the pages, now or when it likes. */
static bool by_advice(struct area *area, struct random *random, const struct stretch *stretch)
{
    static const int advices[] = {MADV_DONTNEED, MADV_DONTNEED, MADV_FREE, MADV_PAGEOUT, MADV_COLD};
    int advice = advices[draw(random, sizeof advices / sizeof *advices)];
    size_t first = draw(random, area->bytes / page), count = 1 + draw(random, area->bytes / page - first);
    if (area->kind == KIND_HEAP) {
        return false; /* the allocator's pages are not ours */
    }
    if (area->kind == KIND_HUGE && draw(random, 2) == 0) {
        first = 0;
        count = area->bytes / page;
    }
    madvise(area->memory + first * page, count * page, advice);
    return draw(random, 2) == 0 ? true : by_store(area, random, stretch);
}

static bool by_protection(struct area *area, struct random *random, const struct stretch *stretch)
{
    if (area->kind == KIND_HEAP) {
        return false;
    }
    check(mprotect(area->memory, area->bytes, draw(random, 2) ? PROT_NONE : PROT_READ) == 0, "mprotect");
    check(mprotect(area->memory, area->bytes, PROT_READ | PROT_WRITE) == 0, "mprotect");
    return by_store(area, random, stretch);
}

/* ---- other processes ---- */

/* The child writes to what is now its own memory, or to shared memory; the parent meanwhile to its own. */
static bool by_fork(struct area *area, struct random *random, const struct stretch *stretch)
{
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        memcpy(place(area, stretch), stretch->number, size_of(stretch));
        _exit(0);
    }
    if (draw(random, 2) == 0) {
        area->memory[draw(random, area->bytes / page) * page] ^= 0; /* breaks the sharing of a page */
        ((double *)(void *)area->memory)[draw(random, area->bytes / sizeof(double))] = 17;
    }
    int status;
    check(waitpid(child, &status, 0) == child && status == 0, "a child");
    return true;
}

/* Errands for the helper: write these numbers there, in this process, by one call or another. */
struct errand {
    uintptr_t to;
    bool by_file, shared;
    struct stretch stretch;
};
static int helper[2];
static pid_t helper_process;

static void serve(int socket, pid_t parent)
{
    struct errand errand;
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/mem", (long)parent);
    while (recv(socket, &errand, sizeof errand, MSG_WAITALL) == (ssize_t)sizeof errand) {
        size_t bytes = errand.stretch.count * sizeof(double);
        struct iovec from = {errand.stretch.number, bytes}, to = {(void *)errand.to, bytes};
        bool done = false;
        if (errand.shared) {
            memcpy((void *)errand.to, errand.stretch.number, bytes);
            done = true;
        } else if (errand.by_file) {
            int memory = open(path, O_WRONLY | O_CLOEXEC);
            done = memory >= 0 && pwrite(memory, errand.stretch.number, bytes, (off_t)errand.to) == (ssize_t)bytes;
            close(memory);
        } else {
            done = process_vm_writev(parent, &from, 1, &to, 1, 0) == (ssize_t)bytes;
        }
        send(socket, &done, sizeof done, 0);
    }
    _exit(0);
}

void helper_start(void)
{
    pid_t parent = getpid();
    check(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, helper) == 0, "socketpair");
    helper_process = fork();
    check(helper_process >= 0, "fork");
    if (helper_process == 0) {
        close(helper[0]);
        serve(helper[1], parent);
    }
    close(helper[1]);
}

void helper_end(void)
{
    close(helper[0]);
    waitpid(helper_process, NULL, 0);
}

static bool by_process(struct area *area, struct random *random, const struct stretch *stretch)
{
    struct errand errand = {(uintptr_t)place(area, stretch), draw(random, 2) == 0, area->kind == KIND_PROCESSES,
                            *stretch};
    bool done = false;
    check(send(helper[0], &errand, sizeof errand, 0) == (ssize_t)sizeof errand, "the helper");
    check(recv(helper[0], &done, sizeof done, MSG_WAITALL) == (ssize_t)sizeof done, "the helper");
    return done; /* not where one process may not write to another's memory */
}

/* ---- devices ---- */

/* From a file around the page cache, whole pages. */
static bool by_direct_read(struct area *area, struct random *random, const struct stretch *stretch)
{
    static int file = -2;
    static _Alignas(page) double numbers[page / sizeof(double)];
    if (file == -2) {
        char name[] = "residency-direct-XXXXXX";
        file = mkostemp(name, O_CLOEXEC | O_DIRECT);
        unlink(name);
    }
    if (file < 0 || area->kind == KIND_HEAP) {
        return false;
    }
    for (size_t i = 0; i < page / sizeof(double); i++) {
        numbers[i] = stretch->number[i % stretch->count];
    }
    unsigned char *to = area->memory + draw(random, area->bytes / page) * page;
    return pwrite(file, numbers, page, 0) == page && pread(file, to, page, 0) == page;
}

/* A ring of one entry. */
static struct {
    int descriptor;
    bool tried;
    struct io_uring_params parameters;
    unsigned char *submit, *complete;
    struct io_uring_sqe *entries;
} ring = {.descriptor = -1};

static bool ring_start(void)
{
    if (!ring.tried) {
        ring.tried = true;
        ring.descriptor = (int)syscall(SYS_io_uring_setup, 2, &ring.parameters);
        if (ring.descriptor < 0) {
            return false;
        }
        const int access = PROT_READ | PROT_WRITE;
        ring.submit = mmap(NULL, ring.parameters.sq_off.array + ring.parameters.sq_entries * sizeof(unsigned), access,
                           MAP_SHARED, ring.descriptor, IORING_OFF_SQ_RING);
        ring.complete =
            mmap(NULL, ring.parameters.cq_off.cqes + ring.parameters.cq_entries * sizeof(struct io_uring_cqe), access,
                 MAP_SHARED, ring.descriptor, IORING_OFF_CQ_RING);
        ring.entries = mmap(NULL, ring.parameters.sq_entries * sizeof *ring.entries, access, MAP_SHARED,
                            ring.descriptor, IORING_OFF_SQES);
        check(ring.submit != MAP_FAILED && ring.complete != MAP_FAILED && (void *)ring.entries != MAP_FAILED, "mmap");
    }
    return ring.descriptor >= 0;
}

static void *in(unsigned char *base, unsigned offset)
{
    return base + offset;
}

/* One read into `to`; with a registered buffer if `fixed`. */
static bool ring_read(int from, void *to, size_t bytes, bool fixed)
{
    unsigned *tail = in(ring.submit, ring.parameters.sq_off.tail);
    unsigned slot = *tail & *(unsigned *)in(ring.submit, ring.parameters.sq_off.ring_mask);
    memset(&ring.entries[slot], 0, sizeof ring.entries[slot]);
    ring.entries[slot].opcode = fixed ? IORING_OP_READ_FIXED : IORING_OP_READ;
    ring.entries[slot].fd = from;
    ring.entries[slot].off = (uint64_t)-1;
    ring.entries[slot].addr = (uintptr_t)to;
    ring.entries[slot].len = (uint32_t)bytes;
    ((unsigned *)in(ring.submit, ring.parameters.sq_off.array))[slot] = slot;
    __atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
    if (syscall(SYS_io_uring_enter, ring.descriptor, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) != 1) {
        return false;
    }
    unsigned *head = in(ring.complete, ring.parameters.cq_off.head);
    unsigned mask = *(unsigned *)in(ring.complete, ring.parameters.cq_off.ring_mask);
    const struct io_uring_cqe *event =
        (struct io_uring_cqe *)in(ring.complete, ring.parameters.cq_off.cqes) + (*head & mask);
    bool done = event->res == (int)bytes;
    __atomic_store_n(head, *head + 1, __ATOMIC_RELEASE);
    return done;
}

static bool by_ring(struct area *area, struct random *random, const struct stretch *stretch)
{
    int ends[2];
    (void)random;
    if (!ring_start()) {
        return false;
    }
    check(pipe2(ends, O_CLOEXEC) == 0, "pipe");
    check(write(ends[1], stretch->number, size_of(stretch)) == (ssize_t)size_of(stretch), "write");
    bool done = ring_read(ends[0], place(area, stretch), size_of(stretch), false);
    close(ends[0]);
    close(ends[1]);
    return done;
}

/* Memory that stays pinned over several calls: the kernel writes to it without page tables. */
static bool by_pinned(struct area *area, struct random *random, const struct stretch *stretch)
{
    static struct iovec pinned;
    static unsigned left;
    if (!ring_start() || area->kind != KIND_PRIVATE) {
        return false;
    }
    if (left == 0 || pinned.iov_base != area->memory || pinned.iov_len != area->bytes) {
        if (pinned.iov_base != NULL) {
            syscall(SYS_io_uring_register, ring.descriptor, IORING_UNREGISTER_BUFFERS, NULL, 0);
            pinned.iov_base = NULL;
        }
        if (left > 0 || draw(random, 4) != 0) {
            left = 0;
            return false;
        }
        pinned = (struct iovec){area->memory, area->bytes};
        if (syscall(SYS_io_uring_register, ring.descriptor, IORING_REGISTER_BUFFERS, &pinned, 1) != 0) {
            pinned.iov_base = NULL;
            return false;
        }
        left = 3;
        return true;
    }
    left--;
    int ends[2];
    check(pipe2(ends, O_CLOEXEC) == 0, "pipe");
    check(write(ends[1], stretch->number, size_of(stretch)) == (ssize_t)size_of(stretch), "write");
    bool done = ring_read(ends[0], place(area, stretch), size_of(stretch), true);
    close(ends[0]);
    close(ends[1]);
    return done;
}

static bool by_nothing(struct area *area, struct random *random, const struct stretch *stretch)
{
    (void)area, (void)random, (void)stretch;
    return true;
}

/* How often, of the sum of all; those that take long are rare. */
static struct route {
    const char *name;
    unsigned weight;
    bool (*take)(struct area *area, struct random *random, const struct stretch *stretch);
    uint64_t taken, refused;
} routes[] = {
    {"nothing", 300, by_nothing, 0, 0},
    {"store", 100, by_store, 0, 0},
    {"byte at a page's edge", 80, by_byte, 0, 0},
    {"memset", 20, by_memset, 0, 0},
    {"alias of a memfd", 60, by_alias, 0, 0},
    {"read, vmsplice", 50, by_pipe, 0, 0},
    {"recvmsg", 40, by_socket, 0, 0},
    {"pwrite to the file", 60, by_file, 0, 0},
    {"mremap", 40, by_mremap, 0, 0},
    {"mremap of two areas", 40, by_exchange, 0, 0},
    {"munmap and mmap", 40, by_new_mapping, 0, 0},
    {"free and malloc", 60, by_malloc, 0, 0},
    {"madvise", 60, by_advice, 0, 0},
    {"mprotect", 30, by_protection, 0, 0},
    {"fork", 2, by_fork, 0, 0},
    {"another process", 30, by_process, 0, 0},
    {"O_DIRECT", 10, by_direct_read, 0, 0},
    {"io_uring", 30, by_ring, 0, 0},
    {"io_uring, pinned", 30, by_pinned, 0, 0},
};
enum { route_count = sizeof routes / sizeof *routes };

void change(struct area *area, struct random *random, const char **name)
{
    static unsigned sum;
    struct stretch stretch;
    for (int i = 0; i < route_count && sum == 0; i++) {
        for (int j = 0; j < route_count; j++) {
            sum += routes[j].weight;
        }
    }
    uint64_t at = draw(random, sum);
    struct route *route = routes;
    while (at >= route->weight) {
        at -= route->weight;
        route++;
    }
    draw_stretch(area, random, &stretch);
    *name = route->name;
    if (route->take(area, random, &stretch)) {
        route->taken++;
    } else {
        route->refused++;
    }
}

void routes_print(void)
{
    for (int i = 0; i < route_count; i++) {
        printf("  %-24s %9llu%s\n", routes[i].name, (unsigned long long)routes[i].taken,
               routes[i].taken == 0 ? "   (not possible here)" : "");
    }
}
