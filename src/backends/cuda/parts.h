/* The functions of the CUDA backend's table, by file. */
#ifndef OFL_BACKENDS_CUDA_PARTS_H
#define OFL_BACKENDS_CUDA_PARTS_H
#include <gpu-offload/device.h>

/* memory.c */
enum ofl_reason ofl_cuda_allocate(int device, size_t bytes, void **out);
enum ofl_reason ofl_cuda_release(int device, void *address);
enum ofl_reason ofl_cuda_host_allocate(int device, size_t bytes, void **out);
enum ofl_reason ofl_cuda_host_release(int device, void *address);
enum ofl_reason ofl_cuda_host_register(int device, void *address, size_t bytes);
enum ofl_reason ofl_cuda_host_unregister(int device, void *address);
bool ofl_cuda_host_is_locked(int device, const void *address);
enum ofl_reason ofl_cuda_copy_in(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                 size_t from_pitch, size_t width, size_t columns);
enum ofl_reason ofl_cuda_copy_out(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                  size_t from_pitch, size_t width, size_t columns);
enum ofl_reason ofl_cuda_copy_within(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                     size_t from_pitch, size_t width, size_t columns);

/* stream.c */
enum ofl_reason ofl_cuda_stream_create(int device, struct ofl_stream **out);
enum ofl_reason ofl_cuda_stream_destroy(int device, struct ofl_stream *stream);
enum ofl_reason ofl_cuda_stream_wait(int device, struct ofl_stream *stream);
enum ofl_reason ofl_cuda_event_create(int device, struct ofl_event **out);
enum ofl_reason ofl_cuda_event_destroy(int device, struct ofl_event *event);
enum ofl_reason ofl_cuda_event_record(int device, struct ofl_stream *stream, struct ofl_event *event);
enum ofl_reason ofl_cuda_event_wait(int device, struct ofl_event *event);
enum ofl_reason ofl_cuda_event_done(int device, struct ofl_event *event, bool *done);
enum ofl_reason ofl_cuda_stream_wait_event(int device, struct ofl_stream *stream, struct ofl_event *event);
enum ofl_reason ofl_cuda_event_elapsed(int device, struct ofl_event *begin, struct ofl_event *end, double *seconds);

/* operations.c */
enum ofl_reason ofl_cuda_operation_prepare(int device, enum ofl_operation operation, char *explanation, size_t size);
enum ofl_reason ofl_cuda_operation_supports(int device, const struct ofl_call *call);
enum ofl_reason ofl_cuda_operation_workspace(int device, const struct ofl_call *call, size_t *device_bytes,
                                             size_t *host_bytes);
enum ofl_reason ofl_cuda_operation_run(int device, struct ofl_stream *stream, const struct ofl_call *call,
                                       void *device_scratch, size_t device_bytes, void *host_scratch,
                                       size_t host_bytes);

/* kernels.c */
enum ofl_reason ofl_cuda_kernel_load(int device, const void *image, size_t bytes, const char *name,
                                     struct ofl_kernel **out);
enum ofl_reason ofl_cuda_kernel_unload(int device, struct ofl_kernel *kernel);
enum ofl_reason ofl_cuda_kernel_launch(int device, struct ofl_stream *stream, struct ofl_kernel *kernel,
                                       const struct ofl_launch *launch);

/* nvml.c: NVIDIA's management library, where it is installed.  `bus` is cuDeviceGetPCIBusId's text.
 * utilisation: 0..1, or negative.  driver: "580.159", or false.  link: bytes a second of the PCIe link, or 0. */
double ofl_cuda_utilisation(const char *bus);
bool ofl_cuda_driver_name(char *out, size_t size);
double ofl_cuda_link(const char *bus);
#endif
