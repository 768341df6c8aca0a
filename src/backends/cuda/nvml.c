/* NVIDIA's management library (NVML): how busy the GPU is, and some of its properties.
 *
 * It comes with the driver, but containers may lack it; everything here then says
 * "unknown".  Its header does not come with CUDA's, so the few functions and types,
 * which are part of its stable interface, are declared here. */
#include "parts.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

typedef struct nvmlDevice_st *nvml_device;

struct nvml_utilisation {
    unsigned gpu, memory; /* percent of the last sampling period */
};

static struct {
    int (*init)(void);
    int (*driver_version)(char *version, unsigned length);
    int (*device_by_bus)(const char *bus, nvml_device *device);
    int (*utilisation)(nvml_device device, struct nvml_utilisation *utilisation);
    int (*link_generation)(nvml_device device, unsigned *generation);
    int (*link_width)(nvml_device device, unsigned *width);
} nvml; /* written once */

static pthread_mutex_t nvml_lock = PTHREAD_MUTEX_INITIALIZER;
static enum { untried, usable, absent } nvml_state; /* under nvml_lock */

static bool load(void)
{
    static const struct {
        const char *symbol;
        size_t offset;
    } functions[] = {
        {"nvmlInit_v2", offsetof(__typeof__(nvml), init)},
        {"nvmlSystemGetDriverVersion", offsetof(__typeof__(nvml), driver_version)},
        {"nvmlDeviceGetHandleByPciBusId_v2", offsetof(__typeof__(nvml), device_by_bus)},
        {"nvmlDeviceGetUtilizationRates", offsetof(__typeof__(nvml), utilisation)},
        {"nvmlDeviceGetMaxPcieLinkGeneration", offsetof(__typeof__(nvml), link_generation)},
        {"nvmlDeviceGetMaxPcieLinkWidth", offsetof(__typeof__(nvml), link_width)},
    };
    void *library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        dlerror();
        return false;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].symbol);
        if (function == NULL) {
            return false;
        }
        *(void **)((char *)&nvml + functions[i].offset) = function;
    }
    return nvml.init() == 0;
}

static bool start(void)
{
    pthread_mutex_lock(&nvml_lock);
    if (nvml_state == untried) {
        nvml_state = load() ? usable : absent;
    }
    bool is_usable = nvml_state == usable;
    pthread_mutex_unlock(&nvml_lock);
    return is_usable;
}

static double ask_utilisation(const char *bus)
{
    nvml_device device;
    struct nvml_utilisation rates;
    if (!start() || nvml.device_by_bus(bus, &device) != 0 || nvml.utilisation(device, &rates) != 0) {
        return -1;
    }
    return (double)rates.gpu / 100;
}

/* The library's own sampling period is 1/6 second or more, and asking takes as long as a small call: an answer
 * is good for a tenth of a second. */
double ofl_cuda_utilisation(const char *bus)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char asked_bus[32];
    static double answer;
    static int64_t asked; /* milliseconds */
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t now = (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
    pthread_mutex_lock(&lock);
    if (now - asked >= 100 || strcmp(bus, asked_bus) != 0) {
        answer = ask_utilisation(bus);
        asked = now;
        snprintf(asked_bus, sizeof asked_bus, "%s", bus);
    }
    double result = answer;
    pthread_mutex_unlock(&lock);
    return result;
}

bool ofl_cuda_driver_name(char *out, size_t size)
{
    return start() && nvml.driver_version(out, (unsigned)size) == 0;
}

/* Of the link alone, without its protocol: a generation doubles the rate of the one before. */
double ofl_cuda_link(const char *bus)
{
    static const double lane[] = {0, 0.25e9, 0.5e9, 0.985e9, 1.97e9, 3.94e9, 7.56e9};
    nvml_device device;
    unsigned generation, width;
    if (!start() || nvml.device_by_bus(bus, &device) != 0 || nvml.link_generation(device, &generation) != 0 ||
        nvml.link_width(device, &width) != 0 || generation >= sizeof lane / sizeof *lane) {
        return 0;
    }
    return lane[generation] * (double)width;
}
