/* What limits copies through page-locked slots on this machine: sweep [MEGABYTES]
 *
 * Threads copy ordinary memory into slots of their own, from which the device copies, and the other way round, as the
 * transfer pipeline does; for several numbers of threads, sizes of slots, kinds of pages and of stores.  The source is
 * written by one thread before each measurement, as programs do.  GB/s, the best of three; and what waking threads and
 * the smallest copies take.  Needs CUDA's runtime and no library of ours. */
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { most_threads = 16, most_slot = 2 << 20, rounds = 3 };
enum way { IN_HOST_ONLY, IN, OUT_HOST_ONLY, OUT, OUT_STREAMING, WAYS };
static const char *const way_name[WAYS] = {"in, no device", "in", "out, no device", "out", "out, streaming"};

static char *memory, *device, *slots;
static size_t bytes;
static cudaStream_t stream;
static cudaEvent_t event[most_threads][2];
static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic size_t next;
static pthread_barrier_t begin, end;
static enum way way;
static size_t slot_bytes;
static int active;
static atomic_bool leave;
static double woken[most_threads];

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void stream_copy(char *to, const char *from, size_t size)
{
#ifdef __SSE2__
    for (size_t i = 0; i < size; i += 16) {
        _mm_stream_si128((__m128i *)(void *)(to + i), _mm_load_si128((const __m128i *)(const void *)(from + i)));
    }
    _mm_sfence();
#else
    memcpy(to, from, size);
#endif
}

static void queue(int thread, int slot, size_t at, bool in)
{
    char *host = slots + ((size_t)thread * 2 + (size_t)slot) * most_slot;
    pthread_mutex_lock(&queue_lock);
    cudaMemcpyAsync(in ? device + at : host, in ? host : device + at, slot_bytes,
                    in ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, stream);
    cudaEventRecord(event[thread][slot], stream);
    pthread_mutex_unlock(&queue_lock);
}

static void work_in(int thread)
{
    bool used[2] = {false, false};
    for (int turn = 0;; turn ^= 1) {
        size_t at = atomic_fetch_add(&next, slot_bytes);
        if (at + slot_bytes > bytes) {
            return;
        }
        if (used[turn] && way == IN) {
            cudaEventSynchronize(event[thread][turn]);
        }
        memcpy(slots + ((size_t)thread * 2 + (size_t)turn) * most_slot, memory + at, slot_bytes);
        used[turn] = true;
        if (way == IN) {
            queue(thread, turn, at, true);
        }
    }
}

static void work_out(int thread)
{
    size_t at[2] = {bytes, bytes};
    for (int turn = 0;; turn ^= 1) {
        size_t following = atomic_fetch_add(&next, slot_bytes);
        at[turn] = following + slot_bytes <= bytes ? following : bytes;
        if (at[turn] < bytes && way != OUT_HOST_ONLY) {
            queue(thread, turn, at[turn], false);
        }
        size_t oldest = at[turn ^ 1];
        if (oldest < bytes) {
            const char *slot = slots + ((size_t)thread * 2 + (size_t)(turn ^ 1)) * most_slot;
            if (way != OUT_HOST_ONLY) {
                cudaEventSynchronize(event[thread][turn ^ 1]);
            }
            if (way == OUT_STREAMING) {
                stream_copy(memory + oldest, slot, slot_bytes);
            } else {
                memcpy(memory + oldest, slot, slot_bytes);
            }
            at[turn ^ 1] = bytes;
        }
        if (at[turn] == bytes) {
            return;
        }
    }
}

static void *work(void *argument)
{
    int thread = (int)(size_t)argument;
    for (;;) {
        pthread_barrier_wait(&begin);
        if (atomic_load(&leave)) {
            return NULL;
        }
        woken[thread] = now();
        if (thread < active && way <= IN) {
            work_in(thread);
        } else if (thread < active) {
            work_out(thread);
        }
        pthread_barrier_wait(&end);
    }
}

static double measure(void)
{
    double best = 1e9;
    for (int i = 0; i < rounds; i++) {
        if (way <= IN) {
            memset(memory, i + 1, bytes);
        }
        atomic_store(&next, 0);
        double start = now();
        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&end);
        cudaStreamSynchronize(stream);
        double seconds = now() - start;
        best = seconds < best ? seconds : best;
    }
    return 1e-9 * (double)bytes / best;
}

static void sweep(bool huge)
{
    static const int threads[] = {1, 4, 8, 12, 16};
    static const size_t sizes[] = {256 << 10, 512 << 10, 1 << 20, 2 << 20};
    memory = mmap(NULL, bytes + most_slot, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memory += -(size_t)memory & (most_slot - 1);
    madvise(memory, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    memset(memory, 1, bytes);
    printf("\n%s pages, GB/s%14s", huge ? "huge" : "small", "threads");
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        printf("%8d", threads[i]);
    }
    puts("");
    for (way = 0; way < WAYS; way++) {
        for (size_t j = 0; j < sizeof sizes / sizeof *sizes; j++) {
            slot_bytes = sizes[j];
            printf("  %-16s slots of %4zu KiB", way_name[way], slot_bytes >> 10);
            for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
                active = threads[i];
                printf("%8.1f", measure());
            }
            puts("");
        }
    }
}

/* From the barrier until the last of so many threads runs; threads that sleep. */
static void measure_waking(void)
{
    way = IN_HOST_ONLY;
    active = 0;
    double sum = 0, most = 0;
    for (int i = 0; i < 20; i++) {
        usleep(2000);
        double start = now(), last = 0;
        pthread_barrier_wait(&begin);
        pthread_barrier_wait(&end);
        for (int j = 0; j < most_threads; j++) {
            last = woken[j] - start > last ? woken[j] - start : last;
        }
        sum += last;
        most = last > most ? last : most;
    }
    printf("\nwaking %d threads: %.0f us, at most %.0f us\n", most_threads, 1e6 * sum / 20, 1e6 * most);
}

static void measure_small(void)
{
    double start = now();
    void *more;
    for (int i = 0; i < 200; i++) {
        cudaMemcpyAsync(device, slots, 64 << 10, cudaMemcpyHostToDevice, stream);
        cudaStreamSynchronize(stream);
    }
    printf("64 KiB in, waiting: %.1f us\n", 1e6 * (now() - start) / 200);
    start = now();
    for (int i = 0; i < 200; i++) {
        cudaMemcpyAsync(device, slots, 1024, cudaMemcpyHostToDevice, stream);
        cudaEventRecord(event[0][0], stream);
    }
    printf("queueing a copy and an event: %.1f us\n", 1e6 * (now() - start) / 200);
    cudaStreamSynchronize(stream);
    start = now();
    cudaMallocHost(&more, 256 << 10);
    printf("page-locking 256 KiB: %.0f us\n", 1e6 * (now() - start));
    cudaFreeHost(more);
}

int main(int argc, char **argv)
{
    pthread_t thread[most_threads];
    bytes = (size_t)(argc > 1 ? atoi(argv[1]) : 128) << 20;
    if (cudaMalloc((void **)&device, bytes) != cudaSuccess ||
        cudaMallocHost((void **)&slots, (size_t)most_threads * 2 * most_slot) != cudaSuccess ||
        cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) {
        fprintf(stderr, "sweep: no usable GPU, or too little memory\n");
        return 1;
    }
    for (int i = 0; i < most_threads; i++) {
        cudaEventCreateWithFlags(&event[i][0], cudaEventDisableTiming);
        cudaEventCreateWithFlags(&event[i][1], cudaEventDisableTiming);
    }
    pthread_barrier_init(&begin, NULL, most_threads + 1);
    pthread_barrier_init(&end, NULL, most_threads + 1);
    for (int i = 0; i < most_threads; i++) {
        pthread_create(&thread[i], NULL, work, (void *)(size_t)i);
    }
    measure_small();
    measure_waking();
    sweep(false);
    sweep(true);
    atomic_store(&leave, true);
    pthread_barrier_wait(&begin);
    for (int i = 0; i < most_threads; i++) {
        pthread_join(thread[i], NULL);
    }
    return 0;
}
