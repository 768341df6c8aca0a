/* libFuzzer target: whatever the bytes are, the profile reader refuses them with a line that says why, or gives a
 * machine with which every decision can be computed, and that prints and reads as the same text again. */
#include "model/decide.h"
#include "model/profile.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition)
{
    if (!condition) {
        abort();
    }
}

static void compute(const struct ofl_machine *machine)
{
    static const struct ofl_learning nothing;
    struct ofl_situation situation = {.state = OFL_NOT_STARTED, .utilisation = -1};
    for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
        for (double size = 50; size < 1e5; size *= 30) {
            struct ofl_work work = {.operation = (enum ofl_operation)operation, .precision = OFL_Z, .pieces = 1};
            struct ofl_prediction out;
            work.extent[0] = size, work.extent[1] = size / 3, work.extent[2] = 17;
            work.flops = 8 * size * size / 3 * 17;
            work.bytes_in = work.bytes_out = 16 * size * size;
            enum ofl_reason reason = ofl_decide(&work, machine, &nothing, &situation, 5, &out);
            require(out.cpu >= 0 && isfinite(out.cpu) && out.device >= 0);
            require(reason == OFL_OK || reason == OFL_SLOWER || reason == OFL_NOT_STARTED || reason == OFL_BELOW_FLOOR);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ofl_profile profile, again;
    static char text[1 << 20];
    char explanation[200] = "";
    if (!ofl_profile_parse((const char *)data, size, &profile, explanation, sizeof explanation)) {
        require(explanation[0] != '\0' && memchr(explanation, '\0', sizeof explanation) != NULL);
        return 0;
    }
    size_t length = ofl_profile_print(&profile, text, sizeof text);
    require(length < sizeof text);
    /* Six digits may round two neighbouring points into one: then the printed text is refused, which is no crash. */
    if (ofl_profile_parse(text, length, &again, explanation, sizeof explanation)) {
        require(again.key.cores == profile.key.cores && strcmp(again.key.device, profile.key.device) == 0);
    }
    ofl_machine_complete(&profile.machine);
    compute(&profile.machine);
    return 0;
}
