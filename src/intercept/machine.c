/* The machine that decisions are made for.
 *
 * Two objects: what is assumed before the device has started, and what is known after.  Each is
 * written once before its address is published, and only read then. */
#include "intercept/machine.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/settings.h"
#include "device/device.h"
#include "model/estimate.h"
#include "profile/facts.h"
#include "profile/store.h"
#include "trace/writer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static struct ofl_machine assumed, known;
static const struct ofl_machine *_Atomic current;
static pthread_once_t assumed_once = PTHREAD_ONCE_INIT, start_once = PTHREAD_ONCE_INIT;
static bool has_profile;

static const char *device_kind(void)
{
    const char *device = ofl_settings()->device;
    return strcmp(device, "auto") == 0 ? "cuda" : device;
}

/* A profile that is refused, or none at all, is worth one line; the latter once a machine. */
static bool load_profile(const struct ofl_cpu_properties *cpu)
{
    struct ofl_profile_key here;
    char path[4096], explanation[512] = "";
    struct ofl_profile *profile = malloc(sizeof *profile);
    bool used = false;
    ofl_facts_key(strcmp(device_kind(), "cuda") == 0, &here);
    if (profile != NULL && ofl_profile_path(&here, device_kind(), path, sizeof path)) {
        enum ofl_profile_found found = ofl_profile_load(path, &here, profile, explanation, sizeof explanation);
        if (found == OFL_PROFILE_USED) {
            assumed = profile->machine;
            ofl_machine_complete(&assumed);
            used = true;
        } else if (found == OFL_PROFILE_REFUSED) {
            ofl_message("%s; using the built-in estimate", explanation);
        }
    }
    free(profile);
    if (!used) {
        struct ofl_device_properties guess;
        ofl_machine_estimate(cpu, ofl_device_guess(here.device, &guess) ? &guess : NULL, &assumed);
    }
    return used;
}

static void assume(void)
{
    struct ofl_cpu_properties cpu;
    ofl_facts_cpu(&cpu);
    has_profile = load_profile(&cpu);
    atomic_store(&current, &assumed);
}

const struct ofl_machine *ofl_machine(void)
{
    pthread_once(&assumed_once, assume);
    return atomic_load(&current);
}

/* Once a machine, and only where there is a GPU to gain from. */
static void recommend_calibration(void)
{
    struct ofl_profile_key here;
    if (strcmp(device_kind(), "cuda") == 0) {
        ofl_facts_key(true, &here);
        if (ofl_profile_recommend_once(&here, "cuda")) {
            ofl_message("this machine has not been measured, so decisions are made from an estimate; run "
                        "'gpu-offload calibrate' once (this line does not come again)");
        }
    }
}

/* The properties of a device that has started are better than a guess, a profile better than both. */
static void learn_properties(void)
{
    struct ofl_device_properties properties;
    struct ofl_cpu_properties cpu;
    if (has_profile || ofl_device_properties(&properties) != OFL_OK) {
        return;
    }
    ofl_facts_cpu(&cpu);
    ofl_machine_estimate(&cpu, &properties, &known);
    atomic_store(&current, &known);
    recommend_calibration();
}

/* `gpu-offload run` may have said it before the program began. */
static bool told_already(enum ofl_reason reason)
{
    const char *told = getenv(OFL_TOLD_VARIABLE);
    return told != NULL && strcmp(told, "1") == 0 &&
           (reason == OFL_NO_BACKEND || reason == OFL_NO_DRIVER || reason == OFL_DRIVER_TOO_OLD ||
            reason == OFL_NO_DEVICE);
}

/* The first start, with what is to be said and recorded of it. */
static void start(void)
{
    struct ofl_device_properties properties;
    double started = ofl_clock();
    enum ofl_reason reason = ofl_device_start();
    if (reason == OFL_OK) {
        bool named = ofl_device_properties(&properties) == OFL_OK;
        ofl_trace_device(named ? properties.name : ofl_device_name(), ofl_clock() - started);
        learn_properties();
    } else if (strcmp(ofl_settings()->device, "auto") != 0 && strcmp(ofl_settings()->device, "none") != 0 &&
               ofl_device_explanation()[0] != '\0' && !told_already(reason)) {
        ofl_message("%s; the program runs on the CPU", ofl_device_explanation());
    }
}

enum ofl_reason ofl_start_device(void)
{
    ofl_machine();
    pthread_once(&start_once, start);
    return ofl_device_start();
}
