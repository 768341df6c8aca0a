/* The preload library in the life of its process: start, fork, exit.
 *
 * Calls may come before ofl_start (constructors of other libraries) and after ofl_end; both work, the latter
 * on the CPU library only. */
#include "intercept/ending.h"
#include "intercept/importers.h"
#include "intercept/loading.h"
#include "intercept/lookup.h"
#include "intercept/summary.h"
#include "intercept/tracing.h"
#include "intercept/wrapper.h"
#include "base/message.h"
#include "base/settings.h"
#include "device/device.h"
#include "trace/writer.h"

#include <pthread.h>

static void mark_backend_thread(void)
{
    ofl_thread.backend = true;
}

/* While fork holds the allocator's locks a signal handler that calls BLAS must not wait for another thread's turn on
 * the device, which may be waiting for them. */
static _Thread_local bool was_backend;

static void before_fork(void)
{
    was_backend = ofl_thread.backend;
    ofl_thread.backend = true;
    ofl_device_before_fork();
}

static void after_fork_in_parent(void)
{
    ofl_device_after_fork_in_parent();
    ofl_thread.backend = was_backend;
}

static void after_fork_in_child(void)
{
    ofl_importers_reset();
    ofl_loading_forked();
    ofl_device_after_fork_in_child();
    ofl_counters_reset();
    ofl_summary_forked();
    ofl_trace_after_fork_in_child();
    ofl_ending_forked();
    ofl_thread.backend = was_backend;
}

__attribute__((constructor)) static void ofl_start(void)
{
    ofl_lookup_start();
    ofl_jumps_start();
    ofl_message_start();
    ofl_weak_start();
    ofl_summary_start();
    ofl_tracing_start();
    ofl_set_floor();
    ofl_device_on_thread(mark_backend_thread);
    ofl_ending_start();
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

__attribute__((destructor)) static void ofl_end(void)
{
    ofl_ending();
    ofl_device_exit();
}
