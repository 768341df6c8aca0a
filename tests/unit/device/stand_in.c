/* Backends that are wrong, slow or nosy, for the tests of the loader and the start.  One source, several
 * libraries: STAND_IN_ABI and STAND_IN_SIZE are what they claim.  STAND_IN_WAIT names a descriptor: the
 * start tells that it has begun by writing to the one and goes on when it can read from the other. */
#include <gpu-offload/device.h>

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef STAND_IN_ABI
#define STAND_IN_ABI OFL_DEVICE_ABI
#endif
#ifndef STAND_IN_SIZE
#define STAND_IN_SIZE sizeof(struct ofl_backend)
#endif

static atomic_int starts;

/* Whether the program's signals stay away from this thread, as from those that a driver makes here. */
static bool signals_blocked(void)
{
    sigset_t now;
    return pthread_sigmask(SIG_SETMASK, NULL, &now) == 0 && sigismember(&now, SIGALRM) && sigismember(&now, SIGINT) &&
           !sigismember(&now, SIGSEGV);
}

static enum ofl_reason start(int *devices, char *explanation, size_t size)
{
    const char *wait = getenv("STAND_IN_WAIT");
    int out, in;
    char byte = 's';
    *devices = 1;
    if (atomic_fetch_add(&starts, 1) > 0) {
        snprintf(explanation, size, "started twice");
        return OFL_NO_DEVICE;
    }
    if (wait != NULL && sscanf(wait, "%d,%d", &out, &in) == 2 &&
        (write(out, &byte, 1) != 1 || read(in, &byte, 1) != 1)) {
        snprintf(explanation, size, "the test's pipes are broken");
        return OFL_NO_DEVICE;
    }
    if (!signals_blocked()) {
        snprintf(explanation, size, "signals are not blocked");
        return OFL_NO_DEVICE;
    }
    if (getenv("STAND_IN_FAIL") != NULL) {
        snprintf(explanation, size, "told to fail");
        return OFL_NO_DEVICE;
    }
    /* as drivers do: descriptors that stay open */
    return open("/dev/zero", O_RDWR) >= 0 ? OFL_OK : OFL_NO_DEVICE;
}

static void stop(void)
{
}

static enum ofl_reason open_device(int device, char *explanation, size_t size)
{
    (void)device, (void)explanation, (void)size;
    return OFL_OK;
}

static enum ofl_reason properties(int device, struct ofl_device_properties *out)
{
    (void)device;
    memset(out, 0, sizeof *out);
    return OFL_OK;
}

static enum ofl_reason stream_create(int device, struct ofl_stream **out)
{
    (void)device;
    *out = NULL;
    return OFL_OK;
}

static enum ofl_reason event_create(int device, struct ofl_event **out)
{
    (void)device;
    *out = NULL;
    return OFL_OK;
}

__attribute__((visibility("default"))) extern const struct ofl_backend ofl_backend;
const struct ofl_backend ofl_backend = {
    .abi = STAND_IN_ABI,
    .size = (uint32_t)(STAND_IN_SIZE),
    .name = "host",
    .start = start,
    .stop = stop,
    .open = open_device,
    .properties = properties,
    .stream_create = stream_create,
    .event_create = event_create,
};
