/* The preload library in the life of its process: start, fork, exit.
 *
 * Calls may come before ofl_start (constructors of other libraries) and after ofl_end; both work, the latter
 * on the CPU library only. */
#include "intercept/importers.h"
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

static void after_fork_in_child(void)
{
    ofl_importers_reset();
    ofl_device_after_fork_in_child();
    ofl_counters_reset();
    ofl_summary_forked();
    ofl_trace_after_fork_in_child();
}

__attribute__((constructor)) static void ofl_start(void)
{
    ofl_message_start();
    ofl_summary_start();
    ofl_tracing_start();
    ofl_set_floor();
    ofl_device_on_thread(mark_backend_thread);
    pthread_atfork(ofl_device_before_fork, ofl_device_after_fork_in_parent, after_fork_in_child);
}

__attribute__((destructor)) static void ofl_end(void)
{
    ofl_summary_write();
    ofl_trace_stop();
    ofl_device_exit();
}
