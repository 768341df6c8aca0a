/* Functions that have the name of a BLAS routine and are none.
 *
 * The names that do not tell the width of integers begin with OFL_ENTRY (wrapper.h), which comes here, by
 * ofl_unsettled, with all of the call's registers saved, until it is settled that every caller reaches BLAS.  A
 * function whose width cannot be found out is not taken for BLAS: the call goes to it untouched, returns to
 * its caller, and is only counted. */
#include "intercept/wrapper.h"

#include <errno.h>

static void count_foreign(const struct ofl_symbol *symbol)
{
    struct ofl_thread *thread = &ofl_thread;
    if (thread->backend) {
        return;
    }
    if (thread->counters == NULL) {
        thread->counters = ofl_counters_acquire();
    }
    ofl_count(thread->counters, symbol, OFL_COUNT_CPU);
    ofl_increment(&thread->counters->reasons[OFL_INTEGER_WIDTH]);
}

const void *ofl_settle(unsigned number, const void *caller)
{
    struct ofl_symbol *symbol = &ofl_symbols[number];
    int saved = errno;
    const struct ofl_target *target = ofl_target(symbol, caller);
    const void *next = symbol->body;
    if (target->integer_bytes == 0) {
        count_foreign(symbol);
        next = target->function;
    } else {
        if (target == atomic_load(&symbol->common)) {
            atomic_store_explicit(&ofl_settled[number], atomic_load(&target->generation), memory_order_relaxed);
        }
        /* For the wrapper: another lookup might find another arrangement. */
        ofl_thread.lane = OFL_LANE_SETTLED;
        ofl_thread.settled = target;
    }
    errno = saved;
    return next;
}

#if defined __x86_64__
/* r11: the symbol's number.  Arguments are in six general registers, eight vector registers (al: how many, for
 * functions without a prototype), r10 and on the stack. */
__asm__(".pushsection .text\n"
        ".globl ofl_unsettled\n.hidden ofl_unsettled\n.type ofl_unsettled, @function\nofl_unsettled:\n"
        ".cfi_startproc\n"
        "subq $200, %rsp\n"
        ".cfi_adjust_cfa_offset 200\n"
        "movq %rdi, 0(%rsp)\n"
        "movq %rsi, 8(%rsp)\n"
        "movq %rdx, 16(%rsp)\n"
        "movq %rcx, 24(%rsp)\n"
        "movq %r8, 32(%rsp)\n"
        "movq %r9, 40(%rsp)\n"
        "movq %rax, 48(%rsp)\n"
        "movq %r10, 56(%rsp)\n"
        "movups %xmm0, 64(%rsp)\n"
        "movups %xmm1, 80(%rsp)\n"
        "movups %xmm2, 96(%rsp)\n"
        "movups %xmm3, 112(%rsp)\n"
        "movups %xmm4, 128(%rsp)\n"
        "movups %xmm5, 144(%rsp)\n"
        "movups %xmm6, 160(%rsp)\n"
        "movups %xmm7, 176(%rsp)\n"
        "movl %r11d, %edi\n"
        "movq 200(%rsp), %rsi\n"
        "call ofl_settle\n"
        "movq %rax, %r11\n"
        "movups 64(%rsp), %xmm0\n"
        "movups 80(%rsp), %xmm1\n"
        "movups 96(%rsp), %xmm2\n"
        "movups 112(%rsp), %xmm3\n"
        "movups 128(%rsp), %xmm4\n"
        "movups 144(%rsp), %xmm5\n"
        "movups 160(%rsp), %xmm6\n"
        "movups 176(%rsp), %xmm7\n"
        "movq 0(%rsp), %rdi\n"
        "movq 8(%rsp), %rsi\n"
        "movq 16(%rsp), %rdx\n"
        "movq 24(%rsp), %rcx\n"
        "movq 32(%rsp), %r8\n"
        "movq 40(%rsp), %r9\n"
        "movq 48(%rsp), %rax\n"
        "movq 56(%rsp), %r10\n"
        "addq $200, %rsp\n"
        ".cfi_adjust_cfa_offset -200\n"
        "jmp *%r11\n"
        ".cfi_endproc\n"
        ".size ofl_unsettled, .-ofl_unsettled\n"
        ".popsection\n");
#endif
