/* The trace writer; see writer.h.
 *
 * `trace` is written by ofl_trace_start and, in a child of fork, by its first record's thread under
 * `opening`; its atomics by any thread.  `local` is each thread's own.  A thread's window counts only as long as
 * its generation is the process's: a child of fork begins a new one. */
#include "trace/writer.h"
#include "base/message.h"
#include "trace/file.h"
#include "trace/fingerprint.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stddef.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { OFF, TRACING, STOPPED, CHILD }; /* CHILD: forked from a traced process, no file yet */

static struct {
    atomic_int state;
    atomic_ullong end; /* of the slots given out: file offset */
    _Atomic(struct ofl_trace_header *) header;
    struct ofl_trace_file_id file;
    int level;
    char folder[PATH_MAX], path[PATH_MAX];
} trace;

/* The number of this process's file, from 1.  It lies in a page that the kernel wipes in every child, also in one
 * that was made without fork's handlers: there it is 0 until the child has its own. */
static atomic_uint generation_without_page;
static atomic_uint *generation = &generation_without_page;
static unsigned last_generation;

static atomic_flag opening = ATOMIC_FLAG_INIT;
static pthread_key_t thread_end;
static bool thread_end_made;

/* A window: slot[0] describes it, slots from `next` on are free. */
struct window {
    unsigned generation;
    int next;
    struct ofl_trace_record *slot; /* NULL: none */
};

static _Thread_local struct {
    struct window window;
    uint32_t thread;
    volatile bool busy; /* a record is being written; a signal handler must not write another */
} local __attribute__((tls_model("initial-exec")));

/* Windows that ended threads left, for new threads: programs may start thousands of short ones.
 * state: 0 free, 1 being written or read, 2 full. */
enum { SPARES = 16 };
static struct {
    atomic_int state;
    struct window window;
} spares[SPARES];

static void put_spare(const struct window *window)
{
    for (int i = 0; i < SPARES; i++) {
        int expected = 0;
        if (atomic_compare_exchange_strong(&spares[i].state, &expected, 1)) {
            spares[i].window = *window;
            atomic_store(&spares[i].state, 2);
            return;
        }
    }
    munmap(window->slot, OFL_TRACE_BLOCK_SIZE);
}

static bool take_spare(struct window *out)
{
    for (int i = 0; i < SPARES; i++) {
        int expected = 2;
        if (atomic_load_explicit(&spares[i].state, memory_order_relaxed) == 2 &&
            atomic_compare_exchange_strong(&spares[i].state, &expected, 1)) {
            *out = spares[i].window;
            atomic_store(&spares[i].state, 0);
            return true;
        }
    }
    return false;
}

static void leave_thread(void *unused)
{
    (void)unused;
    struct window window = local.window;
    local.window = (struct window){.slot = NULL};
    if (window.slot != NULL && window.generation == atomic_load(generation)) {
        put_spare(&window);
    } else if (window.slot != NULL) {
        munmap(window.slot, OFL_TRACE_BLOCK_SIZE);
    }
}

static void count_dropped(void)
{
    struct ofl_trace_header *header = atomic_load(&trace.header);
    if (header != NULL) {
        __atomic_fetch_add(&header->dropped, 1, __ATOMIC_RELAXED);
    }
}

static void note_end(uint32_t finished)
{
    struct ofl_trace_header *header = atomic_load(&trace.header);
    if (header != NULL) {
        __atomic_store_n(&header->finished, finished, __ATOMIC_RELAXED);
    }
}

/* Tracing cannot go on; the first thread that notices says so. */
static void give_up(const char *explanation)
{
    if (atomic_exchange(&trace.state, STOPPED) != STOPPED) {
        note_end(2);
        ofl_message("tracing stopped: %s; the program goes on without it", explanation);
    }
}

static void read_proc(const char *path, char *text, size_t size, char separator)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? read(file, text, size - 1) : 0;
    if (file >= 0) {
        close(file);
    }
    length = length > 0 ? length : 0;
    for (ssize_t i = 0; i < length; i++) {
        text[i] = text[i] == '\0' ? separator : text[i];
    }
    text[length] = '\0';
}

static void find_cpu(char *out, size_t size)
{
    char text[2048];
    read_proc("/proc/cpuinfo", text, sizeof text, ' ');
    const char *at = strstr(text, "model name");
    at = at != NULL ? strchr(at, ':') : NULL;
    if (at != NULL) {
        at += strspn(at, ": \t");
        snprintf(out, size, "%.*s", (int)strcspn(at, "\n"), at);
    }
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

uint64_t ofl_trace_now(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

_Static_assert(offsetof(struct ofl_trace_record, call_site) == offsetof(struct ofl_trace_text, first),
               "a block's first slot can be written as either");

static const char operation_names[] =
#define OFL_OPERATION(name, ...) #name " "
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
    ;
_Static_assert(sizeof operation_names <= sizeof((struct ofl_trace_header *)0)->operations,
               "the names of all operations fit into the header");

static void fill_header(struct ofl_trace_header *header, const char *program)
{
    header->version = OFL_TRACE_VERSION;
    header->byte_order = OFL_TRACE_BYTE_ORDER;
    header->header_size = OFL_TRACE_HEADER_SIZE;
    header->record_size = sizeof(struct ofl_trace_record);
    header->monotonic = clock_ns(CLOCK_MONOTONIC);
    header->realtime = clock_ns(CLOCK_REALTIME);
    header->process = (uint32_t)getpid();
    header->parent = (uint32_t)getppid();
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    header->cores = cores > 0 ? (uint32_t)cores : 0;
    header->level = (uint32_t)trace.level;
    find_cpu(header->cpu, sizeof header->cpu);
    snprintf(header->program, sizeof header->program, "%.*s", (int)sizeof header->program - 1, program);
    read_proc("/proc/self/cmdline", header->command, sizeof header->command, ' ');
    memcpy(header->operations, operation_names, sizeof operation_names);
    /* The magic last: a file that has it has all the rest. */
    atomic_signal_fence(memory_order_release);
    memcpy(header->magic, OFL_TRACE_MAGIC, sizeof header->magic);
}

/* Creates the file of this process.  One thread at a time. */
static bool open_trace(char *explanation, size_t size)
{
    char program[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    const char *slash = strrchr(program, '/');
    const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : "program";
    struct ofl_trace_header *header =
        ofl_trace_file_create(trace.folder, name, trace.path, sizeof trace.path, explanation, size);
    if (header == NULL) {
        return false;
    }
    fill_header(header, program);
    atomic_store(&trace.header, header);
    if (!ofl_trace_file_identify(trace.path, &trace.file)) {
        snprintf(explanation, size, "%s cannot be found again", trace.path);
        return false;
    }
    atomic_store(&trace.end, OFL_TRACE_HEADER_SIZE);
    /* The folder may be relative and the program may change its own. */
    size_t folder = (size_t)(strrchr(trace.path, '/') - trace.path);
    memcpy(trace.folder, trace.path, folder);
    trace.folder[folder] = '\0';
    return true;
}

/* The page that children find wiped.  Without it only fork's handlers tell that this is a child. */
static void find_page(void)
{
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    if (generation != &generation_without_page) {
        return;
    }
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        return;
    }
    if (madvise(page, size, MADV_WIPEONFORK) == 0) {
        generation = page;
    } else {
        munmap(page, size);
    }
}

bool ofl_trace_start(const char *folder, int level, char *explanation, size_t size)
{
    if (strlen(folder) >= sizeof trace.folder) {
        snprintf(explanation, size, "the folder's path is too long");
        return false;
    }
    memcpy(trace.folder, folder, strlen(folder) + 1);
    trace.level = level;
    if (!thread_end_made) {
        thread_end_made = pthread_key_create(&thread_end, leave_thread) == 0;
    }
    if (!open_trace(explanation, size)) {
        return false;
    }
    find_page();
    atomic_store(generation, ++last_generation);
    atomic_store(&trace.state, TRACING);
    return true;
}

bool ofl_trace_active(void)
{
    int state = atomic_load_explicit(&trace.state, memory_order_relaxed);
    return state == TRACING || state == CHILD;
}

/* The first record of a child of fork opens its file; other threads drop theirs meanwhile rather than
 * wait. */
static bool open_in_child(void)
{
    char explanation[PATH_MAX + 128];
    if (atomic_flag_test_and_set(&opening)) {
        return false;
    }
    bool opened = atomic_load(&trace.state) == TRACING;
    if (!opened && atomic_load(&trace.state) == CHILD) {
        opened = open_trace(explanation, sizeof explanation);
        if (opened) {
            atomic_store(&trace.state, TRACING);
        } else {
            give_up(explanation);
        }
    }
    atomic_flag_clear(&opening);
    return opened;
}

/* Gives this thread a window with free slots. */
static bool new_window(void)
{
    char explanation[PATH_MAX + 128];
    if (local.window.slot != NULL) { /* from before a fork */
        munmap(local.window.slot, OFL_TRACE_BLOCK_SIZE);
        local.window.slot = NULL;
    }
    if (thread_end_made && pthread_getspecific(thread_end) == NULL) {
        pthread_setspecific(thread_end, &local);
    }
    local.thread = (uint32_t)syscall(SYS_gettid);
    if (take_spare(&local.window)) {
        return true;
    }
    uint64_t offset = atomic_fetch_add(&trace.end, OFL_TRACE_BLOCK_SIZE);
    void *map = ofl_trace_file_map(trace.path, &trace.file, offset, explanation, sizeof explanation);
    if (map == NULL) {
        give_up(explanation);
        return false;
    }
    local.window = (struct window){atomic_load(generation), 1, map};
    __atomic_store_n(&local.window.slot->kind, OFL_TRACE_BLOCK, __ATOMIC_RELEASE);
    return true;
}

/* Copies the full window to the end of the file and clears it; record.h tells why in this order. */
static bool empty_window(void)
{
    char explanation[PATH_MAX + 128];
    struct ofl_trace_record *slot = local.window.slot;
    uint64_t *copied_to = &((struct ofl_trace_text *)(void *)slot)->first;
    uint64_t offset = atomic_fetch_add(&trace.end, OFL_TRACE_BLOCK_SIZE);
    __atomic_store_n(copied_to, offset, __ATOMIC_RELEASE);
    if (!ofl_trace_file_write(trace.path, &trace.file, offset, slot, explanation, sizeof explanation)) {
        give_up(explanation);
        return false;
    }
    for (int i = 1; i < OFL_TRACE_BLOCK_SLOTS; i++) {
        __atomic_store_n(&slot[i].kind, OFL_TRACE_EMPTY, __ATOMIC_RELEASE);
    }
    __atomic_store_n(copied_to, 0, __ATOMIC_RELEASE);
    local.window.next = 1;
    return true;
}

static bool window_is_current(void)
{
    return local.window.slot != NULL &&
           local.window.generation == atomic_load_explicit(generation, memory_order_relaxed);
}

/* The slow path: no free slot at hand. */
static bool prepare(void)
{
    int saved = errno;
    if (atomic_load(generation) == 0) {
        ofl_trace_after_fork_in_child();
    }
    int state = atomic_load(&trace.state);
    bool ready = state == TRACING || (state == CHILD && open_in_child());
    if (ready && !window_is_current()) {
        ready = new_window();
    }
    if (ready && local.window.next == OFL_TRACE_BLOCK_SLOTS) {
        ready = empty_window();
    }
    errno = saved;
    return ready;
}

void ofl_trace_write(const struct ofl_trace_record *record)
{
    if (!ofl_trace_active()) {
        if (atomic_load_explicit(&trace.state, memory_order_relaxed) == STOPPED) {
            count_dropped();
        }
        return;
    }
    if (local.busy) {
        count_dropped();
        return;
    }
    local.busy = true;
    atomic_signal_fence(memory_order_seq_cst);
    bool ready = window_is_current() && local.window.next < OFL_TRACE_BLOCK_SLOTS;
    if (ready || prepare()) {
        struct ofl_trace_record *slot = &local.window.slot[local.window.next++];
        memcpy((char *)slot + sizeof slot->kind, (const char *)record + sizeof record->kind,
               sizeof *slot - sizeof slot->kind);
        slot->thread = local.thread;
        __atomic_store_n(&slot->kind, record->kind, __ATOMIC_RELEASE);
    } else {
        count_dropped();
    }
    atomic_signal_fence(memory_order_seq_cst);
    local.busy = false;
}

void ofl_trace_write_buffers(const struct ofl_trace_record *work, const struct ofl_trace_buffer *buffers, int count)
{
    for (int i = 0; i < count; i += OFL_TRACE_BUFFERS) {
        struct ofl_trace_record more = {.kind = OFL_TRACE_CONTINUATION, .start = work->start, .loop = work->loop};
        more.buffers = (uint8_t)(count - i < OFL_TRACE_BUFFERS ? count - i : OFL_TRACE_BUFFERS);
        memcpy(more.buffer, buffers + i, more.buffers * sizeof *buffers);
        ofl_trace_write(&more);
    }
}

static void write_text(enum ofl_trace_kind kind, uint64_t first, uint64_t last, double seconds, const char *text)
{
    union {
        struct ofl_trace_text text;
        struct ofl_trace_record record;
    } both = {.text = {.kind = kind, .start = ofl_trace_now(), .first = first, .last = last}};
    both.text.duration = seconds > 0 && seconds < 1e9 ? (uint64_t)(seconds * 1e9) : 0;
    size_t length = strlen(text), room = sizeof both.text.text - 1;
    memcpy(both.text.text, length > room ? text + length - room : text, length > room ? room : length);
    ofl_trace_write(&both.record);
}

void ofl_trace_module(const void *first, const void *last, const char *path)
{
    write_text(OFL_TRACE_MODULE, (uintptr_t)first, (uintptr_t)last, 0, path);
}

void ofl_trace_device(const char *name, double seconds)
{
    write_text(OFL_TRACE_DEVICE, 0, 0, seconds, name);
}

void ofl_trace_kernel(uint32_t loop, const char *name)
{
    write_text(OFL_TRACE_KERNEL, loop, loop, 0, name);
}

/* Bytes of the stored elements of an operand. */
static uint64_t stored_bytes(const struct ofl_buffer *buffer)
{
    if (buffer->rows <= 0 || buffer->columns <= 0) {
        return 0;
    }
    uint64_t rows = (uint64_t)buffer->rows, columns = (uint64_t)buffer->columns;
    uint64_t square = rows < columns ? rows : columns;
    uint64_t beyond = buffer->region == OFL_LOWER ? rows - square : columns - square;
    bool triangle = buffer->region == OFL_UPPER || buffer->region == OFL_LOWER;
    uint64_t elements = !triangle ? rows * columns : square * (square + 1) / 2 + beyond * square;
    return elements * buffer->element_size;
}

void ofl_trace_describe(const struct ofl_call *call, struct ofl_trace_record *out)
{
    *out = (struct ofl_trace_record){
        .kind = OFL_TRACE_CALL,
        .predicted_cpu = -1,
        .predicted_device = -1,
        .m = call->m,
        .n = call->n,
        .k = call->k != 0 ? call->k : call->nrhs,
        .operation = (uint16_t)call->operation,
        .precision = (uint8_t)call->precision,
        .side = call->side,
        .uplo = call->uplo,
        .transa = call->transa != 0 ? call->transa : call->trans,
        .transb = call->transb,
        .diag = call->diag,
    };
    for (int i = 0; i < call->operands && i < OFL_TRACE_BUFFERS; i++) {
        const struct ofl_buffer *operand = &call->operand[i];
        out->buffer[out->buffers++] = (struct ofl_trace_buffer){
            .address = (uintptr_t)operand->address,
            .bytes = stored_bytes(operand),
            .fingerprint = ofl_fingerprint(operand),
            .access = (uint8_t)operand->access,
            .region = (uint8_t)operand->region,
            .element_size = (uint8_t)operand->element_size,
        };
    }
}

void ofl_trace_after_fork_in_child(void)
{
    /* The parent's slots and header are the parent's: forgotten, not written. */
    atomic_store(&trace.header, NULL);
    if (atomic_load(&trace.state) != TRACING && atomic_load(&trace.state) != CHILD) {
        return;
    }
    atomic_store(generation, ++last_generation);
    atomic_flag_clear(&opening);
    for (int i = 0; i < SPARES; i++) {
        atomic_store(&spares[i].state, 0);
    }
    atomic_store(&trace.state, CHILD);
}

void ofl_trace_stop(void)
{
    if (atomic_exchange(&trace.state, OFF) == TRACING) {
        note_end(1);
    }
}
