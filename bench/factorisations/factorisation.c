/* A routine of LAPACK, as any program has it: factorisation ROUTINE N [TIMES], the routine as in dgetrf.
 *
 * The operands lie in ordinary memory and are new for each call.  Output: the median time of a call in milliseconds
 * (the first, which may start a device, is left out), and how far the last call's results are off, see problem.h. */
#include "problem.h"

typedef void getrf(const int *, const int *, void *, const int *, int *, int *);
typedef void potrf(const char *, const int *, void *, const int *, int *, size_t);
typedef void geqrf(const int *, const int *, void *, const int *, void *, void *, const int *, int *);
typedef void gesv(const int *, const int *, void *, const int *, int *, void *, const int *, int *);
typedef void getrs(const char *, const int *, const int *, const void *, const int *, const int *, void *, const int *,
                   int *, size_t);
typedef void potrs(const char *, const int *, const int *, const void *, const int *, void *, const int *, int *,
                   size_t);
typedef void gels(const char *, const int *, const int *, const int *, void *, const int *, void *, const int *, void *,
                  const int *, int *, size_t);
typedef void getri(const int *, void *, const int *, const int *, void *, const int *, int *);

getrf sgetrf_, dgetrf_, cgetrf_, zgetrf_;
potrf spotrf_, dpotrf_, cpotrf_, zpotrf_;
geqrf sgeqrf_, dgeqrf_, cgeqrf_, zgeqrf_;
gesv sgesv_, dgesv_, cgesv_, zgesv_;
getrs sgetrs_, dgetrs_, cgetrs_, zgetrs_;
potrs spotrs_, dpotrs_, cpotrs_, zpotrs_;
gels sgels_, dgels_, cgels_, zgels_;
getri sgetri_, dgetri_, cgetri_, zgetri_;

/* The function of the problem's precision. */
#define OF(p, name)                                                                                                    \
    ((p)->precision == 's'   ? s##name##_                                                                              \
     : (p)->precision == 'd' ? d##name##_                                                                              \
     : (p)->precision == 'c' ? c##name##_                                                                              \
                             : z##name##_)

/* Calls the routine; its info. */
static int run(const struct problem *p, void *work, int lwork)
{
    int info = 0;
    switch (p->routine) {
    case GETRF:
        OF(p, getrf)(&p->m, &p->n, p->a, &p->m, p->pivots, &info);
        break;
    case POTRF:
        OF(p, potrf)("L", &p->n, p->a, &p->m, &info, 1);
        break;
    case GEQRF:
        OF(p, geqrf)(&p->m, &p->n, p->a, &p->m, p->tau, work, &lwork, &info);
        break;
    case GESV:
        OF(p, gesv)(&p->n, &p->nrhs, p->a, &p->m, p->pivots, p->b, &p->m, &info);
        break;
    case GETRS:
        OF(p, getrs)("N", &p->n, &p->nrhs, p->a, &p->m, p->pivots, p->b, &p->m, &info, 1);
        break;
    case POTRS:
        OF(p, potrs)("L", &p->n, &p->nrhs, p->a, &p->m, p->b, &p->m, &info, 1);
        break;
    case GELS:
        OF(p, gels)("N", &p->m, &p->n, &p->nrhs, p->a, &p->m, p->b, &p->m, work, &lwork, &info, 1);
        break;
    case GETRI:
        OF(p, getri)(&p->n, p->a, &p->m, p->pivots, work, &lwork, &info);
        break;
    case ROUTINES:
        break;
    }
    return info;
}

int main(int argc, char **argv)
{
    const int n = argc > 2 ? atoi(argv[2]) : 0, times = argc > 3 ? atoi(argv[3]) : 5;
    struct problem p;
    if (argc < 3 || !problem_named(argv[1], n, &p) || times < 1) {
        fprintf(stderr, "usage: factorisation ROUTINE N [TIMES]\n");
        return 2;
    }
    const int lwork = 64 * n; /* as the CPU library asks for, or more */
    void *work = get_memory((size_t)lwork * p.size);
    double *seconds = get_memory(((size_t)times + 1) * sizeof *seconds), error = 0;
    int info = 0;
    for (int i = 0; i <= times && info == 0; i++) {
        make_operands(&p, (uint64_t)i);
        double start = now();
        info = run(&p, work, lwork);
        seconds[i] = now() - start;
        error = i == times ? error_of(&p, (uint64_t)i) : 0;
        free_operands(&p);
    }
    if (info != 0) {
        fprintf(stderr, "factorisation: %s returned info %d\n", argv[1], info);
        return 1;
    }
    printf("%.3f %.3f\n", 1e3 * median(seconds + 1, times), error);
    free(seconds);
    free(work);
    return 0;
}
