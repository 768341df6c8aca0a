/* What every generated wrapper does around the call of the CPU library.
 *
 *   enter     find the target; is this call nested in another one of this thread?
 *   consider  only the program's own calls, and only above the floor: describe it, decide, run it
 *   leave     count it
 *
 * The path of a small call is all here, inline, without locks, allocation or system calls. */
#ifndef OFL_INTERCEPT_WRAPPER_H
#define OFL_INTERCEPT_WRAPPER_H
#include "intercept/counters.h"
#include "intercept/symbols.h"
#include "device/device.h"
#include "model/decide.h"
#include "trace/record.h"
#include <string.h>

#define OFL_EXPORT __attribute__((visibility("default")))
#define OFL_BODY   __attribute__((visibility("hidden"), used))

/* The one considered call that a thread can be in: only the outermost call is considered. */
struct ofl_visit {
    struct ofl_call call;
    bool decided;           /* work and prediction are set */
    enum ofl_reason reason; /* why it runs where it runs */
    bool traced;            /* `record` will be written */
    bool looked;            /* `outlook` is set */
    bool loading;           /* the call made the device load a library */
    double started;         /* seconds */
    double spent;           /* seconds that the device took and then failed; 0: it was not tried, or did the call */
    int32_t info;           /* LAPACK's verdict, wherever the call ran; 0 for BLAS */
    struct ofl_device_outlook outlook;
    struct ofl_work work;
    struct ofl_prediction prediction;
    struct ofl_trace_record record;
};

struct ofl_thread {
    unsigned char lane;                  /* set by a lane's stub, taken by the wrapper; must be the first field */
    bool backend;                        /* the device is at work in this thread: every wrapper passes through */
    bool considered;                     /* `visit` describes the outermost call */
    const volatile uintptr_t *outermost; /* mark of the program's own call that runs in this thread, or NULL */
    const struct ofl_target *settled;    /* goes with OFL_LANE_SETTLED */
    unsigned loads;                      /* dlopen calls of this thread that may be under way: see loading.c */
    const void *loading;                 /* the frame of the one that cannot be followed, or NULL */
    struct ofl_counters *counters;
    struct ofl_visit visit; /* here, not in the wrappers' frames, which every small call would pay for */
};

/* Initial-exec: a preloaded library has its thread-local storage from the start. */
extern _Thread_local struct ofl_thread ofl_thread __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* Calls with fewer floating-point operations are not considered; 0 until ofl_set_floor. */
void ofl_set_floor(void);
extern _Atomic double ofl_flops_floor __attribute__((visibility("hidden")));

enum { OFL_ROW_MAJOR = 101, OFL_COLUMN_MAJOR = 102 }; /* CBLAS_LAYOUT */

/* See jumps.c. */
void ofl_jumps_start(void);

/* Decides the call that ofl_thread.visit describes; true: the device has done it. */
bool ofl_consider(const struct ofl_symbol *symbol, const struct ofl_target *target, const void *caller,
                  enum ofl_reason reason);
/* A considered call has come back from the CPU library. */
void ofl_considered_returned(const struct ofl_symbol *symbol);

/* An exported function that calls `prepare`, which returns the next function of its name, and jumps there: for
 * functions that look at their return address or frame, and must not find us in between. */
#if defined __x86_64__
#define OFL_TAIL_HOOK(name, prepare)                                                                                   \
    __asm__(".pushsection .text\n"                                                                                     \
            ".globl " #name "\n"                                                                                       \
            ".type " #name ", @function\n" #name ":\n"                                                                 \
            ".cfi_startproc\n"                                                                                         \
            "pushq %rdi\n"                                                                                             \
            ".cfi_adjust_cfa_offset 8\n"                                                                               \
            "pushq %rsi\n"                                                                                             \
            ".cfi_adjust_cfa_offset 8\n"                                                                               \
            "subq $8, %rsp\n"                                                                                          \
            ".cfi_adjust_cfa_offset 8\n"                                                                               \
            "call " #prepare "\n"                                                                                      \
            "addq $8, %rsp\n"                                                                                          \
            ".cfi_adjust_cfa_offset -8\n"                                                                              \
            "popq %rsi\n"                                                                                              \
            ".cfi_adjust_cfa_offset -8\n"                                                                              \
            "popq %rdi\n"                                                                                              \
            ".cfi_adjust_cfa_offset -8\n"                                                                              \
            "jmp *%rax\n"                                                                                              \
            ".cfi_endproc\n"                                                                                           \
            ".size " #name ", .-" #name "\n"                                                                           \
            ".popsection\n")
#endif

/* The stubs of a name: each tells the wrapper which of the name's targets its importer reaches. */
#if defined __x86_64__
#define OFL_LANE(name, lane)                                                                                           \
    ".balign 32\n"                                                                                                     \
    "movq ofl_thread@gottpoff(%rip), %r11\n"                                                                           \
    "movb $" #lane ", %fs:(%r11)\n"                                                                                    \
    "jmp " #name "\n"
#define OFL_LANES(name, number)                                                                                        \
    __asm__(".pushsection .text\n.globl ofl_lanes_" #number "\n.hidden ofl_lanes_" #number "\n.balign 32\n"            \
            "ofl_lanes_" #number ":\n" OFL_LANE(name, 1) OFL_LANE(name, 2) OFL_LANE(name, 3) OFL_LANE(name, 4)         \
                OFL_LANE(name, 5) OFL_LANE(name, 6) OFL_LANE(name, 7) OFL_LANE(name, 8) ".popsection\n");
#else
#define OFL_LANES(name, number) const char ofl_lanes_##number[1] __attribute__((visibility("hidden")));
#endif

/* The exported names that do not tell the width of integers.  Somebody may have a function of his own under such a
 * name, with other arguments and a result; it must be reached with all registers as they are.  So as long as it is
 * not settled that whatever callers reach is BLAS, ofl_unsettled asks ofl_settle where to go, and goes there. */
#if defined __x86_64__
#define OFL_ENTRY(name, number)                                                                                        \
    __asm__(".pushsection .text\n.globl " #name "\n.type " #name ", @function\n.balign 16\n" #name ":\n"               \
            ".cfi_startproc\n"                                                                                         \
            "movl ofl_generation(%rip), %r11d\n"                                                                       \
            "cmpl %r11d, ofl_settled+4*" #number "(%rip)\n"                                                            \
            "je ofl_wrap_" #name "\n"                                                                                  \
            "movl $" #number ", %r11d\n"                                                                               \
            "jmp ofl_unsettled\n"                                                                                      \
            ".cfi_endproc\n.size " #name ", .-" #name "\n.popsection\n");
#else
#define OFL_ENTRY(name, number)                                                                                        \
    extern __typeof(ofl_wrap_##name) name __attribute__((alias("ofl_wrap_" #name), visibility("default")));
#endif
/* Where a call of symbol `number` goes that will return to `caller`: the wrapper, or a function that is not BLAS. */
const void *ofl_settle(unsigned number, const void *caller) __attribute__((visibility("hidden")));

#define OFL_INLINE static inline __attribute__((always_inline))

/* In a wrapper's body: who unwinds its frame (exceptions, cancelled threads) tells jumps.c. */
#if defined __x86_64__
#define OFL_TELL_UNWINDING() __asm__ volatile(".cfi_personality 0x1b, ofl_unwinding")
#else
#define OFL_TELL_UNWINDING() (void)0
#endif

/* What the caller that returns to `caller` would have reached. */
OFL_INLINE const struct ofl_target *ofl_target(struct ofl_symbol *symbol, const void *caller)
{
    struct ofl_thread *thread = &ofl_thread;
    if (__builtin_expect(thread->lane != 0, 0)) {
        unsigned lane = thread->lane;
        thread->lane = 0;
        if (lane == OFL_LANE_SETTLED) {
            return thread->settled;
        }
        return atomic_load_explicit(&symbol->lane_targets[lane - 1], memory_order_acquire);
    }
    unsigned generation = atomic_load_explicit(&ofl_generation, memory_order_relaxed);
    const struct ofl_target *target = atomic_load_explicit(&symbol->common, memory_order_acquire);
    if (target != NULL && atomic_load_explicit(&target->generation, memory_order_relaxed) == generation) {
        return target;
    }
    unsigned arrangement = atomic_load_explicit(&ofl_arrangement, memory_order_acquire);
    uintptr_t address = (uintptr_t)caller;
    target = atomic_load_explicit(&symbol->cache[(address ^ address >> 4) % OFL_TARGET_CACHE], memory_order_acquire);
    if (__builtin_expect(target == NULL || target->caller != caller ||
                             atomic_load_explicit(&target->arrangement, memory_order_relaxed) != arrangement,
                         0)) {
        target = ofl_resolve(symbol, caller);
    }
    return target;
}

/* A mark on the stack holds this combination with its own address while its wrapper is running.  Where a call
 * is left without a return, jumps.c clears `outermost`. */
#define OFL_MARK ((uintptr_t)0x6f666c6d61726b21)

/* Whether this is the program's own call, not one that the CPU library makes inside another. */
OFL_INLINE bool ofl_enter(volatile uintptr_t *mark)
{
    struct ofl_thread *thread = &ofl_thread;
    if (__builtin_expect(thread->counters == NULL, 0)) {
        thread->counters = ofl_counters_acquire();
    }
    /* The stack grows down: a mark at or below this one was left behind. */
    const volatile uintptr_t *outer = thread->outermost;
    if (thread->backend || (outer != NULL && outer > mark && *outer == ((uintptr_t)outer ^ OFL_MARK))) {
        return false;
    }
    *mark = (uintptr_t)mark ^ OFL_MARK;
    thread->outermost = mark;
    thread->considered = false;
    return true;
}

OFL_INLINE void ofl_leave(const struct ofl_symbol *symbol, bool outermost)
{
    struct ofl_thread *thread = &ofl_thread;
    if (!outermost) {
        if (!thread->backend) {
            ofl_count(thread->counters, symbol, OFL_COUNT_NESTED);
        }
        return;
    }
    thread->outermost = NULL;
    if (__builtin_expect(thread->considered, 0)) {
        ofl_considered_returned(symbol);
    } else {
        ofl_count(thread->counters, symbol, OFL_COUNT_SMALL);
    }
}

/* Integers are read as the caller's library reads them; they may lie at odd addresses. */
static inline int64_t ofl_integer(const void *address, unsigned integer_bytes)
{
    int64_t wide;
    int32_t narrow;
    if (integer_bytes == 8) {
        memcpy(&wide, address, sizeof wide);
        return wide;
    }
    memcpy(&narrow, address, sizeof narrow);
    return narrow;
}

/* The low bytes of an integer are the narrower integer. */
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "integers of two widths are written as one");
static inline void ofl_integer_write(void *address, int64_t value, unsigned integer_bytes)
{
    memcpy(address, &value, integer_bytes);
}

/* By value, a caller with 32-bit integers leaves anything in the upper half. */
static inline int64_t ofl_integer_value(int64_t value, unsigned integer_bytes)
{
    return integer_bytes == 8 ? value : (int64_t)(int32_t)value;
}

/* LAPACK's verdict on a call that the CPU library did: failed calls end early, and nothing is learned from them. */
static inline void ofl_note_verdict(bool outermost, const void *info, unsigned integer_bytes)
{
    if (outermost && ofl_thread.considered && integer_bytes != 0) {
        int64_t verdict = ofl_integer(info, integer_bytes);
        ofl_thread.visit.info = verdict < INT32_MAX ? (int32_t)verdict : INT32_MAX;
    }
}

static inline enum ofl_precision ofl_real_precision(enum ofl_precision precision)
{
    return precision == OFL_C ? OFL_S : precision == OFL_Z ? OFL_D : precision;
}

static inline bool ofl_is_complex(enum ofl_precision precision)
{
    return precision == OFL_C || precision == OFL_Z;
}

#define NOT_TRANSPOSED(flag) ((flag) == 'N')
#define LEFT(flag)           ((flag) == 'L' || (flag) == 'l')
#define MIN(a, b)            ((a) < (b) ? (a) : (b))
#define MAX(a, b)            ((a) > (b) ? (a) : (b))

/* A call that asks the CPU library for the workspace that it would like: the arguments that it replaces. */
struct ofl_query {
    int64_t lwork;         /* -1 in either width */
    union ofl_scalar work; /* the answer */
    int64_t info;
};

static inline void ofl_query_begin(struct ofl_query *query)
{
    *query = (struct ofl_query){.lwork = -1};
    ofl_thread.backend = true; /* what the library calls meanwhile passes through */
}

/* Puts the answer where the routine puts it, unless it has failed. */
static inline void ofl_query_end(const struct ofl_query *query, enum ofl_precision precision, void *work)
{
    static const unsigned char sizes[OFL_PRECISION_COUNT] = {4, 8, 8, 16};
    ofl_thread.backend = false;
    if (ofl_thread.visit.info == 0) {
        memcpy(work, &query->work, sizes[precision]);
    }
}

/* Helpers of the generated describe_OP; see describe.c. */
char ofl_flag(char value, const char *letters, enum ofl_precision precision, bool *legal);
char ofl_cblas_flag(int value);
char ofl_flip(char value, const char *letters, enum ofl_precision precision);
const void *ofl_conjugate(union ofl_scalar *out, enum ofl_precision precision, const void *scalar);
void ofl_scalar_read(union ofl_scalar *out, enum ofl_precision precision, const void *scalar);
enum ofl_region ofl_triangle(char uplo);
void ofl_operand(struct ofl_call *call, const void *address, int64_t ld, enum ofl_access access, enum ofl_region region,
                 int64_t rows, int64_t columns, bool *legal);
/* Pivots: `rows` integers, as wide as the caller's. */
void ofl_pivots(struct ofl_call *call, const void *address, unsigned integer_bytes, enum ofl_access access,
                int64_t rows);
bool ofl_scalar_is_zero(const union ofl_scalar *scalar, enum ofl_precision precision);
enum ofl_reason ofl_describe_end(struct ofl_call *call, bool legal);
bool ofl_scalar_overlaps(const struct ofl_call *call, const void *scalar);
#endif
