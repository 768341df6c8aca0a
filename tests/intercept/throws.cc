// A program whose xerbla_ throws, or ends its thread: later calls are still the program's own.  Prints the number of
// calls that were made with right arguments.
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <pthread.h>

extern "C" void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
                       const int *, const double *, const int *, const double *, double *, const int *, std::size_t,
                       std::size_t);
extern "C" void xerbla_(const char *, const int *, std::size_t);

static bool ends_thread;

void xerbla_(const char *, const int *, std::size_t)
{
    if (ends_thread) {
        pthread_exit(nullptr);
    }
    throw std::runtime_error("wrong argument");
}

__attribute__((noinline)) static void deep(int depth, int ldc)
{
    static double a[100 * 100], b[100 * 100], c[100 * 100];
    volatile char room[700];
    const int n = 100;
    const double one = 1, zero = 0;
    room[0] = static_cast<char>(depth);
    if (depth > 0) {
        deep(depth - 1, ldc);
    } else {
        dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &ldc, 1, 1);
    }
    room[1] = room[0];
}

static int calls;

struct last_words {
    ~last_words() // runs while the thread is being ended
    {
        deep(20, 100);
        calls++;
    }
};

static void *end_by_error(void *)
{
    last_words words;
    deep(2, 3);
    return &calls;
}

int main()
{
    int caught = 0;
    for (int round = 0; round < 50; round++) {
        try {
            deep(round % 7, 3);
        } catch (const std::exception &) {
            caught++;
        }
        deep(round * 5 % 9, 100); // sometimes deeper in the stack than the one that was left
        deep(20, 100);
        calls += 2;
    }
    pthread_t thread;
    void *result = &caught;
    ends_thread = true;
    if (caught != 50 || pthread_create(&thread, nullptr, end_by_error, nullptr) != 0 ||
        pthread_join(thread, &result) != 0 || result != nullptr) {
        std::puts("failed");
        return 1;
    }
    std::printf("%d\n", calls);
    return 0;
}
