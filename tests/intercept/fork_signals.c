/* Signal handlers that call BLAS while their thread forks and others compute: nothing may hang. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { N = 60 };
void dgemm_(const char *, const char *, const int *, const int *, const int *, const double *, const double *,
            const int *, const double *, const int *, const double *, double *, const int *, size_t, size_t);

static atomic_int wrong, ended;

static void product(int n)
{
    static const double a[N * N] = {2}, b[N * N] = {3}, one = 1, zero = 0;
    double c[N * N];
    dgemm_("N", "N", &n, &n, &n, &one, a, &n, b, &n, &zero, c, &n, 1, 1);
    if (c[0] != 6) {
        atomic_fetch_add(&wrong, 1);
    }
}

static void handle(int number)
{
    (void)number;
    product(12);
}

static void *work(void *unused)
{
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    while (!atomic_load(&ended)) {
        product(N);
    }
    return unused;
}

int main(void)
{
    pthread_t threads[3];
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    struct itimerval often = {{0, 700}, {0, 700}}, never = {{0, 0}, {0, 0}};
    product(N);
    for (int i = 0; i < 3; i++) {
        pthread_create(&threads[i], NULL, work, NULL);
    }
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int i = 0; i < 100; i++) {
        int status = 1;
        pid_t child = fork();
        if (child == 0) {
            product(40);
            _exit(atomic_load(&wrong) != 0);
        }
        while (waitpid(child, &status, 0) < 0) {
        }
        atomic_fetch_add(&wrong, status != 0);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    atomic_store(&ended, 1);
    for (int i = 0; i < 3; i++) {
        pthread_join(threads[i], NULL);
    }
    printf("%d wrong\n", atomic_load(&wrong));
    return atomic_load(&wrong) != 0;
}
