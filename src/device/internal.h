/* What the files of src/device share: the started device and the steps of its start. */
#ifndef OFL_DEVICE_INTERNAL_H
#define OFL_DEVICE_INTERNAL_H
#include "device/device.h"

enum { OFL_EXPLANATION_SIZE = 512 };

/* Steps that a call may be cut into, see tiles.h. */
enum { OFL_MOST_STEPS = 20 };

/* Calls that may run at the same time, see lanes.h. */
enum { OFL_MOST_LANES = 8 };

/* The boundaries of a call's phases: its begin, the last copy in, the last operation. */
enum ofl_mark { OFL_MARK_BEGIN, OFL_MARK_COPIED_IN, OFL_MARK_COMPUTED, OFL_MARK_COUNT };

/* The started device.  Written by the thread that starts it, before the state becomes OFL_OK;
 * constant afterwards. */
struct ofl_started {
    const struct ofl_backend *backend;
    int device;
    struct ofl_device_properties properties;   /* asking the driver may take longer than a small call */
    struct ofl_stream *stream;                 /* operations, and the copies of calls that are not cut */
    struct ofl_stream *in_stream, *out_stream; /* copies of the others */
    struct ofl_event *arrived, *left, *computed[OFL_MOST_STEPS];
    struct ofl_event *mark[OFL_MARK_COUNT];
    int lane; /* whose streams and events these are */
};

/* The started device; valid only while ofl_device_state is OFL_OK. */
const struct ofl_started *ofl_started_device(void);

/* The same device with streams and events of its own. */
enum ofl_reason ofl_streams_create(const struct ofl_started *device, struct ofl_started *out);

/* The device stopped working: OFL_DEVICE_LOST from now on. */
void ofl_device_lost(void);

/* Whether this thread is in a call: a handler of its faults asks. */
bool ofl_device_is_inside(void);

/* Whether this process is the one that started the device.  Sees also what was forked without
 * the handlers of pthread_atfork. */
bool ofl_device_is_ours(void);

/* Sets what ofl_device_explanation returns, unless it was set before. */
void ofl_explain(const char *explanation);

/* Loads what the operation needs, once; later calls return the same answer. */
enum ofl_reason ofl_operation_prepare(const struct ofl_started *started, enum ofl_operation operation);

/* Waits until nothing is under way on the stream of the operations, and on those of the copies where they were used.
 * Where that fails the device is lost: nobody knows what the streams still do. */
enum ofl_reason ofl_drain(const struct ofl_started *device, bool copies);

/* Runs `errand` when no other errand and no large call runs on the device, with a large stack, and with descriptors and
 * errno of the program left alone; *wait gets the seconds until its turn came.  The state is OFL_OK when it begins; an
 * answer of OFL_DEVICE_LOST becomes the state.  Returns the errand's answer, or why it did not run. */
enum ofl_reason ofl_in_turn(enum ofl_reason (*errand)(const struct ofl_started *started, void *argument),
                            void *argument, double *wait);

/* In a forked child: no lock is held and nothing is cached. */
void ofl_execute_after_fork(void);
uint64_t ofl_execute_cached_bytes(void);
#endif
