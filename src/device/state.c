/* The state of this process's device: not started, usable, or why not.
 *
 * The state is one atomic word, an enum ofl_reason or `starting`.  The thread that
 * turns it from OFL_NOT_STARTED to `starting` starts the device; others that come
 * meanwhile wait.  No lock is held while the device is started, and fork takes
 * none: the child looks at the word that it inherited.  A child of a process that
 * had started its device, or was just starting it, stays on the CPU, because
 * drivers do not survive fork; a child of another process may start its own.
 * OFL_DEVICE_LOST, OFL_FORKED and OFL_EXITING are final. */
#include "device/descriptors.h"
#include "device/internal.h"
#include "device/lanes.h"
#include "device/launches.h"
#include "device/loader.h"
#include "device/stack.h"
#include "base/reason.h"
#include "base/settings.h"
#include "base/signals.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { starting = OFL_REASON_COUNT };

static _Atomic int state = OFL_NOT_STARTED;
static struct ofl_started started; /* see internal.h */
static pid_t owner;                /* written with `started` */
static const char *_Atomic name;   /* of the backend, once it is started */

/* Whoever waits for another thread's start. */
static pthread_mutex_t start_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t start_done = PTHREAD_COND_INITIALIZER;

/* One line, written once by whoever wins `explained`, published by `explanation`. */
static char explanation_text[OFL_EXPLANATION_SIZE];
static atomic_flag explained = ATOMIC_FLAG_INIT;
static const char *_Atomic explanation = "";

/* What `auto` means, see ofl_device_prefer. */
static const char *_Atomic preferred = "cuda";

bool ofl_device_is_missing(enum ofl_reason reason)
{
    switch ((int)reason) {
    case OFL_NO_BACKEND:
    case OFL_BACKEND_ABI:
    case OFL_NO_DRIVER:
    case OFL_DRIVER_TOO_OLD:
    case OFL_NO_DEVICE:
    case OFL_LIBRARY_MISSING:
        return true;
    default:
        return false;
    }
}

void ofl_device_prefer(const char *backend)
{
    int now = atomic_load(&state);
    bool other = strcmp(atomic_exchange(&preferred, backend), backend) != 0;
    if (other && ofl_device_is_missing((enum ofl_reason)now) && strcmp(ofl_settings()->device, "auto") == 0) {
        atomic_compare_exchange_strong(&state, &now, OFL_NOT_STARTED);
    }
}

void ofl_explain(const char *text)
{
    if (*text != '\0' && !atomic_flag_test_and_set(&explained)) {
        snprintf(explanation_text, sizeof explanation_text, "%s", text);
        atomic_store_explicit(&explanation, explanation_text, memory_order_release);
    }
}

const char *ofl_device_explanation(void)
{
    return atomic_load_explicit(&explanation, memory_order_acquire);
}

/* Where the streams and events of `started` are, to make and to destroy them. */
enum { stream_count = 3, event_count = OFL_MARK_COUNT + 2 + OFL_MOST_STEPS };

static struct ofl_stream **stream_place(struct ofl_started *of, int i)
{
    return i == 0 ? &of->stream : i == 1 ? &of->in_stream : &of->out_stream;
}

static struct ofl_event **event_place(struct ofl_started *of, int i)
{
    if (i < OFL_MARK_COUNT) {
        return &of->mark[i];
    }
    if (i < OFL_MARK_COUNT + 2) {
        return i == OFL_MARK_COUNT ? &of->arrived : &of->left;
    }
    return &of->computed[i - OFL_MARK_COUNT - 2];
}

static enum ofl_reason create_streams(const struct ofl_backend *backend, struct ofl_started *of)
{
    enum ofl_reason reason = OFL_OK;
    for (int i = 0; i < stream_count && reason == OFL_OK; i++) {
        reason = backend->stream_create(0, stream_place(of, i));
    }
    for (int i = 0; i < event_count && reason == OFL_OK; i++) {
        reason = backend->event_create(0, event_place(of, i));
    }
    return reason;
}

static void destroy_streams(const struct ofl_backend *backend, struct ofl_started *of)
{
    for (int i = 0; i < event_count; i++) {
        if (*event_place(of, i) != NULL) {
            backend->event_destroy(0, *event_place(of, i));
        }
    }
    for (int i = 0; i < stream_count; i++) {
        if (*stream_place(of, i) != NULL) {
            backend->stream_destroy(0, *stream_place(of, i));
        }
    }
    memset(of, 0, sizeof *of);
}

enum ofl_reason ofl_streams_create(const struct ofl_started *device, struct ofl_started *out)
{
    *out = (struct ofl_started){.backend = device->backend, .device = device->device, .properties = device->properties};
    enum ofl_reason reason = create_streams(device->backend, out);
    if (reason != OFL_OK) {
        destroy_streams(device->backend, out);
    }
    return reason;
}

/* Starts a backend that has been loaded and opens its first device. */
static enum ofl_reason start_backend(const struct ofl_backend *backend, char *text, size_t size)
{
    int devices = 0;
    enum ofl_reason reason = backend->start(&devices, text, size);
    if (reason != OFL_OK) {
        return reason;
    }
    if (devices < 1) {
        snprintf(text, size, "the %s backend found no device", backend->name);
        reason = OFL_NO_DEVICE;
    } else {
        reason = backend->open(0, text, size);
    }
    if (reason != OFL_OK) {
        backend->stop();
        return reason;
    }
    reason = create_streams(backend, &started);
    if (reason == OFL_OK) {
        reason = backend->properties(0, &started.properties);
    }
    if (reason != OFL_OK) {
        snprintf(text, size, "the %s device failed after it was opened (%s); try again when it is less busy",
                 backend->name, ofl_reason_text(reason));
        destroy_streams(backend, &started);
        backend->close(0);
        backend->stop();
        return reason;
    }
    started.backend = backend;
    owner = getpid();
    atomic_store_explicit(&name, backend->name, memory_order_release);
    return OFL_OK;
}

struct start {
    enum ofl_reason reason;
    char text[OFL_EXPLANATION_SIZE];
};

static void start_errand(void *argument)
{
    struct start *start = argument;
    const char *device = ofl_settings()->device;
    const struct ofl_backend *backend;
    struct ofl_descriptors descriptors;
    sigset_t before;
    if (strcmp(device, "none") == 0) {
        start->reason = OFL_DISABLED;
        snprintf(start->text, sizeof start->text, "no device was asked for (--device none)");
        return;
    }
    /* The host device is for tests: automatic choice takes it only for kernels that were compiled for it. */
    if (strcmp(device, "auto") == 0) {
        device = atomic_load(&preferred);
    }
    ofl_signals_block(&before); /* drivers make threads */
    ofl_descriptors_fill(&descriptors);
    start->reason = ofl_backend_load(device, &backend, start->text, sizeof start->text);
    if (start->reason == OFL_OK) {
        start->reason = start_backend(backend, start->text, sizeof start->text);
    }
    ofl_descriptors_restore(&descriptors);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* At exit drivers and libraries take themselves down, from under calls of other threads: those end first.  Registered
 * after the driver has been loaded, so that it comes before what the driver does at exit. */
static void close_lanes(void)
{
    ofl_lanes_close(ofl_device_is_inside() ? 1 : 0);
}

static void start_device(void)
{
    static struct start start; /* used once in a process: by the thread that won */
    int saved = errno;
    start.text[0] = '\0';
    if (!ofl_with_large_stack(start_errand, &start)) {
        start.reason = OFL_HOST_MEMORY;
        snprintf(start.text, sizeof start.text, "there is no memory for a stack to start the device on");
    }
    if (start.reason != OFL_OK) {
        ofl_explain(start.text);
    }
    if (start.reason == OFL_OK) {
        (void)atexit(close_lanes); /* fails only where memory is exhausted */
    }
    pthread_mutex_lock(&start_lock);
    int expected = starting; /* unless the process began to exit */
    atomic_compare_exchange_strong(&state, &expected, (int)start.reason);
    pthread_cond_broadcast(&start_done);
    pthread_mutex_unlock(&start_lock);
    errno = saved;
}

static void wait_for_start(void)
{
    pthread_mutex_lock(&start_lock);
    while (atomic_load(&state) == starting) {
        pthread_cond_wait(&start_done, &start_lock);
    }
    pthread_mutex_unlock(&start_lock);
}

enum ofl_reason ofl_device_start(void)
{
    int now = atomic_load_explicit(&state, memory_order_acquire);
    if (now == OFL_NOT_STARTED || now == starting) {
        int cancellable;
        pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancellable);
        now = OFL_NOT_STARTED;
        if (atomic_compare_exchange_strong(&state, &now, starting)) {
            start_device();
        } else {
            wait_for_start();
        }
        pthread_setcancelstate(cancellable, NULL);
        now = atomic_load_explicit(&state, memory_order_acquire);
    }
    return (enum ofl_reason)now;
}

enum ofl_reason ofl_device_state(void)
{
    int now = atomic_load_explicit(&state, memory_order_acquire);
    return now == starting ? OFL_NOT_STARTED : (enum ofl_reason)now;
}

const struct ofl_started *ofl_started_device(void)
{
    return &started;
}

bool ofl_device_is_ours(void)
{
    return getpid() == owner;
}

void ofl_device_lost(void)
{
    int expected = OFL_OK;
    atomic_compare_exchange_strong(&state, &expected, OFL_DEVICE_LOST);
}

enum ofl_reason ofl_drain(const struct ofl_started *device, bool copies)
{
    struct ofl_stream *const streams[] = {device->stream, device->in_stream, device->out_stream};
    enum ofl_reason first = OFL_OK;
    for (int i = 0; i < (copies ? 3 : 1); i++) {
        enum ofl_reason reason = device->backend->stream_wait(device->device, streams[i]);
        first = first == OFL_OK ? reason : first;
    }
    if (first != OFL_OK) {
        ofl_device_lost();
    }
    return first;
}

const char *ofl_device_name(void)
{
    return atomic_load_explicit(&name, memory_order_acquire);
}

enum ofl_reason ofl_device_properties(struct ofl_device_properties *out)
{
    enum ofl_reason now = ofl_device_state();
    if (now == OFL_OK) {
        *out = started.properties;
    }
    return now;
}

enum ofl_reason ofl_device_load(struct ofl_device_load *out)
{
    enum ofl_reason now = ofl_device_state();
    if (now == OFL_OK) {
        now = started.backend->load(started.device, out);
        /* What is kept between calls is free for the next one. */
        out->memory_free += now == OFL_OK ? ofl_execute_cached_bytes() : 0;
    }
    return now;
}

void ofl_device_on_thread(void (*mark)(void))
{
    ofl_stack_set_mark(mark);
}

struct preparation {
    const struct ofl_started *device;
    enum ofl_operation operation;
    struct start result;
};

static void prepare_errand(void *argument)
{
    struct preparation *preparation = argument;
    const struct ofl_started *device = preparation->device;
    struct ofl_descriptors descriptors;
    sigset_t before;
    ofl_signals_block(&before);
    ofl_descriptors_fill(&descriptors);
    preparation->result.reason = device->backend->operation_prepare(
        device->device, preparation->operation, preparation->result.text, sizeof preparation->result.text);
    ofl_descriptors_restore(&descriptors);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

enum ofl_reason ofl_operation_prepare(const struct ofl_started *device, enum ofl_operation operation)
{
    /* The answer plus one; 0 until it is known.  Two threads may find it out at once: it is the same. */
    static _Atomic int answers[OFL_OPERATION_COUNT];
    int answer = atomic_load_explicit(&answers[operation], memory_order_acquire);
    if (answer == 0) {
        struct preparation preparation = {.device = device, .operation = operation};
        if (!ofl_with_large_stack(prepare_errand, &preparation)) {
            preparation.result.reason = OFL_HOST_MEMORY;
        }
        if (preparation.result.reason != OFL_OK) {
            ofl_explain(preparation.result.text);
        }
        answer = (int)preparation.result.reason + 1;
        /* Memory may be there another time. */
        if (preparation.result.reason != OFL_DEVICE_MEMORY && preparation.result.reason != OFL_HOST_MEMORY) {
            atomic_store_explicit(&answers[operation], answer, memory_order_release);
        }
    }
    return (enum ofl_reason)(answer - 1);
}

/* Nothing to do: the child can tell from the state what it may do, and no lock must be free. */
void ofl_device_before_fork(void)
{
}

void ofl_device_after_fork_in_parent(void)
{
}

void ofl_device_after_fork_in_child(void)
{
    int now = atomic_load(&state);
    ofl_launches_after_fork_in_child();
    /* Locks may be held by threads that do not exist here. */
    start_lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    start_done = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
    ofl_execute_after_fork();
    if (now == starting || now == OFL_OK || now == OFL_DEVICE_LOST) {
        atomic_store(&state, OFL_FORKED);
        atomic_store(&name, NULL);
    }
}

void ofl_device_exit(void)
{
    pthread_mutex_lock(&start_lock);
    atomic_store(&state, OFL_EXITING);
    pthread_cond_broadcast(&start_done);
    pthread_mutex_unlock(&start_lock);
}
