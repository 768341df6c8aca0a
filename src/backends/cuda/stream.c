/* Streams and events of the CUDA backend.
 *
 * Streams do not wait for the default stream, which belongs to the program. */
#include "driver.h"
#include "parts.h"

/* The driver's handles are passed as our opaque pointers. */
static CUstream stream_of(struct ofl_stream *stream)
{
    return (CUstream)(void *)stream;
}

static CUevent event_of(struct ofl_event *event)
{
    return (CUevent)(void *)event;
}

/* Leaves the device and gives the reason for a result. */
static enum ofl_reason leave(int device, CUresult result, enum ofl_reason failure)
{
    ofl_cuda_leave();
    return ofl_cuda_reason(device, result, failure);
}

enum ofl_reason ofl_cuda_stream_create(int device, struct ofl_stream **out)
{
    CUstream stream = NULL;
    enum ofl_reason reason = ofl_cuda_enter(device);
    *out = NULL;
    if (reason == OFL_OK) {
        reason = leave(device, ofl_cuda.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), OFL_DEVICE_MEMORY);
        *out = reason == OFL_OK ? (struct ofl_stream *)(void *)stream : NULL;
    }
    return reason;
}

enum ofl_reason ofl_cuda_stream_destroy(int device, struct ofl_stream *stream)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    return reason == OFL_OK ? leave(device, ofl_cuda.cuStreamDestroy(stream_of(stream)), OFL_INVALID_ARGUMENT) : reason;
}

enum ofl_reason ofl_cuda_stream_wait(int device, struct ofl_stream *stream)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    return reason == OFL_OK ? leave(device, ofl_cuda.cuStreamSynchronize(stream_of(stream)), OFL_OPERATION_FAILED)
                            : reason;
}

enum ofl_reason ofl_cuda_event_create(int device, struct ofl_event **out)
{
    CUevent event = NULL;
    enum ofl_reason reason = ofl_cuda_enter(device);
    *out = NULL;
    if (reason == OFL_OK) {
        reason = leave(device, ofl_cuda.cuEventCreate(&event, CU_EVENT_DEFAULT), OFL_DEVICE_MEMORY);
        *out = reason == OFL_OK ? (struct ofl_event *)(void *)event : NULL;
    }
    return reason;
}

enum ofl_reason ofl_cuda_event_destroy(int device, struct ofl_event *event)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    return reason == OFL_OK ? leave(device, ofl_cuda.cuEventDestroy(event_of(event)), OFL_INVALID_ARGUMENT) : reason;
}

enum ofl_reason ofl_cuda_event_record(int device, struct ofl_stream *stream, struct ofl_event *event)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    return reason == OFL_OK
               ? leave(device, ofl_cuda.cuEventRecord(event_of(event), stream_of(stream)), OFL_OPERATION_FAILED)
               : reason;
}

enum ofl_reason ofl_cuda_event_wait(int device, struct ofl_event *event)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    return reason == OFL_OK ? leave(device, ofl_cuda.cuEventSynchronize(event_of(event)), OFL_OPERATION_FAILED)
                            : reason;
}

enum ofl_reason ofl_cuda_event_done(int device, struct ofl_event *event, bool *done)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    *done = false;
    if (reason == OFL_OK) {
        CUresult result = ofl_cuda.cuEventQuery(event_of(event));
        *done = result == CUDA_SUCCESS;
        reason = leave(device, result == CUDA_ERROR_NOT_READY ? CUDA_SUCCESS : result, OFL_OPERATION_FAILED);
    }
    return reason;
}

enum ofl_reason ofl_cuda_stream_wait_event(int device, struct ofl_stream *stream, struct ofl_event *event)
{
    enum ofl_reason reason = ofl_cuda_enter(device);
    return reason == OFL_OK
               ? leave(device, ofl_cuda.cuStreamWaitEvent(stream_of(stream), event_of(event), 0), OFL_OPERATION_FAILED)
               : reason;
}

enum ofl_reason ofl_cuda_event_elapsed(int device, struct ofl_event *begin, struct ofl_event *end, double *seconds)
{
    float milliseconds = 0;
    enum ofl_reason reason = ofl_cuda_enter(device);
    if (reason == OFL_OK) {
        reason = leave(device, ofl_cuda.cuEventElapsedTime(&milliseconds, event_of(begin), event_of(end)),
                       OFL_INVALID_ARGUMENT);
        *seconds = 1e-3 * (double)milliseconds;
    }
    return reason;
}
