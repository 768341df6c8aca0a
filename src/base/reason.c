/* Names and texts of enum ofl_reason; the table is reasons.def. */
#include "base/reason.h"

static const struct {
    const char *name, *text;
} reasons[OFL_REASON_COUNT] = {
#define OFL_REASON(id, name, text) [OFL_##id] = {name, text},
#include <gpu-offload/reasons.def>
#undef OFL_REASON
};

const char *ofl_reason_name(enum ofl_reason reason)
{
    return (unsigned)reason < OFL_REASON_COUNT ? reasons[reason].name : "unknown";
}

const char *ofl_reason_text(enum ofl_reason reason)
{
    return (unsigned)reason < OFL_REASON_COUNT ? reasons[reason].text : "the reason is unknown";
}
