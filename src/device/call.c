/* What a call says of itself, before anybody looks for memory or a device.
 *
 * Entry points: the functions of call.h for whoever plans a call, and ofl_device_outlook for predictions, which
 * says what the plan would be.  No state but a cache of the table's words; nothing of an operand is read. */
#include "device/call.h"
#include "device/beyond.h"
#include "device/tiles.h"

#include <stdatomic.h>
#include <string.h>

/* The words of operations.def. */
static const struct {
    const char *arguments;
} rows[OFL_OPERATION_COUNT] = {
#define OFL_OPERATION(name, precisions, kind, arguments, ...) [OFL_OP_##name] = {arguments},
#include <gpu-offload/operations.def>
#undef OFL_OPERATION
};

/* What the words say, found once: predictions ask for every call. */
enum { KNOWN = 1, LAPACK = 2, ALPHA = 4, REAL_ALPHA = 8, REAL_BETA = 16 };

static unsigned traits_of(enum ofl_operation operation)
{
    static atomic_uint found[OFL_OPERATION_COUNT];
    unsigned traits = atomic_load_explicit(&found[operation], memory_order_relaxed);
    if (traits == 0) {
        const char *words = rows[operation].arguments;
        traits = KNOWN | (strstr(words, " info") != NULL ? LAPACK : 0) | (strstr(words, "alpha") != NULL ? ALPHA : 0) |
                 (strstr(words, "real_alpha") != NULL ? REAL_ALPHA : 0) |
                 (strstr(words, "real_beta") != NULL ? REAL_BETA : 0);
        atomic_store_explicit(&found[operation], traits, memory_order_relaxed);
    }
    return traits;
}

bool ofl_call_is_lapack(const struct ofl_call *call)
{
    return (traits_of(call->operation) & LAPACK) != 0;
}

/* `real`: the scalar is real whatever the precision. */
static bool scalar_is_zero(const struct ofl_call *call, const union ofl_scalar *scalar, bool real)
{
    switch (call->precision) {
    case OFL_S:
        return scalar->s == 0;
    case OFL_D:
        return scalar->d == 0;
    case OFL_C:
        return scalar->c[0] == 0 && (real || scalar->c[1] == 0);
    case OFL_Z:
        return scalar->z[0] == 0 && (real || scalar->z[1] == 0);
    case OFL_PRECISION_COUNT:
        break;
    }
    return false;
}

bool ofl_call_is_empty(const struct ofl_call *call)
{
    for (int i = 0; i < call->operands; i++) {
        if (call->operand[i].rows < 1 || call->operand[i].columns < 1) {
            return true;
        }
    }
    unsigned traits = traits_of(call->operation);
    return (traits & ALPHA) != 0 && scalar_is_zero(call, &call->alpha, (traits & REAL_ALPHA) != 0);
}

static bool same_input(const struct ofl_buffer *a, const struct ofl_buffer *b)
{
    return a->access == OFL_READ && b->access == OFL_READ && a->address == b->address && a->rows == b->rows &&
           a->columns == b->columns && a->ld == b->ld && a->element_size == b->element_size && a->region == b->region;
}

void ofl_call_transfers(const struct ofl_call *call, int i, bool *read, bool *written, bool *staged, int *copy_of)
{
    const struct ofl_buffer *operand = &call->operand[i];
    *written = operand->access != OFL_READ;
    *read = operand->access == OFL_READ || operand->access == OFL_UPDATE ||
            (operand->access == OFL_ADD &&
             !scalar_is_zero(call, &call->beta, (traits_of(call->operation) & REAL_BETA) != 0));
    /* LAPACK's results are looked at before any of them is committed. */
    *staged = *written && ofl_call_is_lapack(call);
    *copy_of = -1;
    for (int j = 0; j < i && *copy_of < 0; j++) {
        *copy_of = same_input(operand, &call->operand[j]) ? j : -1;
    }
}

void ofl_device_outlook(const struct ofl_call *call, struct ofl_device_outlook *out)
{
    struct ofl_layout layout = {.call = call, .device = call};
    *out = (struct ofl_device_outlook){.pieces = 1, .shared = -1};
    for (int i = 0; i < call->operands; i++) {
        ofl_call_transfers(call, i, &layout.read[i], &layout.written[i], &out->staged[i], &layout.copy_of[i]);
    }
    int count = ofl_call_is_empty(call) ? 0 : ofl_tiles_count(&layout, &out->shared);
    out->pieces = count > 1 ? count : 1;
    struct ofl_ring ring;
    bool divisible = ofl_beyond_can(call->operation) || ofl_ring_of(call, &ring);
    out->most_bytes =
        divisible && ofl_device_state() == OFL_OK ? ofl_memory_limit(ofl_started_device(), call->operation) : 0;
}
