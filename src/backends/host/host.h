/* What the files of the host backend share. */
#ifndef OFL_BACKENDS_HOST_H
#define OFL_BACKENDS_HOST_H
#include <gpu-offload/device.h>

/* faults.c: failures on demand. */
enum ofl_host_step { OFL_HOST_ALLOCATE, OFL_HOST_COPY, OFL_HOST_OPERATION, OFL_HOST_LAUNCH, OFL_HOST_STEPS };

/* Reads the setting host_faults.  False with an explanation where it makes no sense. */
bool ofl_host_faults_start(const char *text, char *explanation, size_t size);
/* Counts a step.  True if it has to fail.  *lost: the device stops working here. */
bool ofl_host_step_fails(enum ofl_host_step step, bool *lost);

/* device.c: OFL_DEVICE_LOST after the device was lost, else OFL_OK... */
enum ofl_reason ofl_host_usable(int device);
/* ... the same for a step that can be told to fail, with this reason. */
enum ofl_reason ofl_host_step(int device, enum ofl_host_step step, enum ofl_reason failure);

/* memory.c */
void ofl_host_memory_start(uint64_t limit, uint64_t copy_rate);
void ofl_host_memory_use(uint64_t *used, uint64_t *limit);
/* Whether the bytes lie in device memory that is allocated. */
bool ofl_host_is_device_memory(const void *address, size_t bytes);
enum ofl_reason ofl_host_allocate(int device, size_t bytes, void **out);
enum ofl_reason ofl_host_release(int device, void *address);
enum ofl_reason ofl_host_locked_allocate(int device, size_t bytes, void **out);
enum ofl_reason ofl_host_locked_release(int device, void *address);
enum ofl_reason ofl_host_register(int device, void *address, size_t bytes);
enum ofl_reason ofl_host_unregister(int device, void *address);
bool ofl_host_is_locked(int device, const void *address);
enum ofl_reason ofl_host_copy_in(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                 size_t from_pitch, size_t width, size_t columns);
enum ofl_reason ofl_host_copy_out(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                  size_t from_pitch, size_t width, size_t columns);
enum ofl_reason ofl_host_copy_within(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                     size_t from_pitch, size_t width, size_t columns);

/* library.c: the CPU library that computes. */
enum ofl_reason ofl_host_library_load(const char *name, char *explanation, size_t size);
typedef void ofl_host_function(void);
/* The library's routine, NULL if it has none. */
ofl_host_function *ofl_host_routine(enum ofl_operation operation, enum ofl_precision precision);

/* lapack.c: LAPACK's operations.  Workspace in bytes of device memory; 0 for other operations. */
bool ofl_host_is_lapack(enum ofl_operation operation);
enum ofl_reason ofl_host_lapack_supports(const struct ofl_call *call);
size_t ofl_host_lapack_workspace(const struct ofl_call *call);
void ofl_host_lapack_run(ofl_host_function *routine, const struct ofl_call *call, void *scratch);

/* operations.c */
enum ofl_reason ofl_host_operation_prepare(int device, enum ofl_operation operation, char *explanation, size_t size);
enum ofl_reason ofl_host_operation_supports(int device, const struct ofl_call *call);
enum ofl_reason ofl_host_operation_workspace(int device, const struct ofl_call *call, size_t *device_bytes,
                                             size_t *host_bytes);
enum ofl_reason ofl_host_operation_run(int device, struct ofl_stream *stream, const struct ofl_call *call,
                                       void *device_scratch, size_t device_bytes, void *host_scratch,
                                       size_t host_bytes);

/* kernels.c */
enum ofl_reason ofl_host_kernel_load(int device, const void *image, size_t bytes, const char *name,
                                     struct ofl_kernel **out);
enum ofl_reason ofl_host_kernel_unload(int device, struct ofl_kernel *kernel);
enum ofl_reason ofl_host_kernel_launch(int device, struct ofl_stream *stream, struct ofl_kernel *kernel,
                                       const struct ofl_launch *launch);

/* pool.c: runs function(argument, i) for 0 <= i < count on all processors; returns when all are done. */
enum ofl_reason ofl_host_pool_run(void (*function)(void *argument, uint64_t index), void *argument, uint64_t count);
int ofl_host_pool_threads(void);
void ofl_host_pool_stop(void);
#endif
