/* Lanes: calls of several threads that run on the device at the same time.
 *
 * While a small call computes or waits for the device the wires idle.  So small calls of several threads run side
 * by side, each with streams, events and memory of its own; the pool's helpers work for all of them.  A large call
 * saturates the wires by itself: these run one at a time, in the first lane.
 *
 * A lane is made when it is first needed; where its streams cannot be made, callers share those that there are.
 * `lock` guards everything here. */
#include "device/lanes.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

enum { NOT_MADE, FREE, BUSY };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t left = PTHREAD_COND_INITIALIZER;
static struct ofl_started own[OFL_MOST_LANES]; /* of lanes but the first */
static struct ofl_lane lanes[OFL_MOST_LANES];
static int state[OFL_MOST_LANES];
static uint64_t held[OFL_MOST_LANES]; /* device memory, when they were left */
static bool no_more;                  /* lanes cannot be made */
static _Atomic uint64_t bytes;

/* `lock` is held. */
static bool make(int index)
{
    if (index == 0) {
        lanes[0].started = ofl_started_device();
        return true;
    }
    no_more = no_more || ofl_streams_create(ofl_started_device(), &own[index]) != OFL_OK;
    own[index].lane = index;
    lanes[index].started = &own[index];
    return !no_more;
}

/* `lock` is held. */
static struct ofl_lane *find(bool small)
{
    for (int i = 0; i < (small ? OFL_MOST_LANES : 1); i++) {
        if (state[i] == FREE || (state[i] == NOT_MADE && make(i))) {
            state[i] = BUSY;
            return &lanes[i];
        }
    }
    return NULL;
}

struct ofl_lane *ofl_lane_take(bool small, double *wait)
{
    struct ofl_lane *lane;
    double begin = ofl_clock();
    pthread_mutex_lock(&lock);
    while ((lane = find(small)) == NULL) {
        pthread_cond_wait(&left, &lock);
    }
    pthread_mutex_unlock(&lock);
    *wait = ofl_clock() - begin;
    return lane;
}

/* A lane that is not in use any more.  `lock` is held. */
static void count_bytes(int index)
{
    uint64_t now = lanes[index].scratch.device_bytes;
    atomic_fetch_add(&bytes, now - held[index]);
    held[index] = now;
}

void ofl_lane_leave(struct ofl_lane *lane)
{
    pthread_mutex_lock(&lock);
    state[lane - lanes] = FREE;
    count_bytes((int)(lane - lanes));
    pthread_cond_broadcast(&left);
    pthread_mutex_unlock(&lock);
}

bool ofl_lanes_release_idle(void)
{
    bool released = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < OFL_MOST_LANES; i++) {
        if (state[i] == FREE && lanes[i].scratch.device_bytes > 0) {
            ofl_scratch_release(&lanes[i].scratch, ofl_started_device());
            count_bytes(i);
            released = true;
        }
    }
    pthread_mutex_unlock(&lock);
    return released;
}

uint64_t ofl_lanes_bytes(void)
{
    return atomic_load(&bytes);
}

void ofl_lanes_after_fork(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    left = (pthread_cond_t)PTHREAD_COND_INITIALIZER;
}

void ofl_lane_clocks(const struct ofl_started *started, double seconds, struct ofl_device_times *times)
{
    double *const phases[] = {&times->copy_in, &times->compute};
    for (int i = 0; i < OFL_MARK_COUNT - 1; i++) {
        if (started->backend->event_elapsed(started->device, started->mark[i], started->mark[i + 1], phases[i]) !=
            OFL_OK) {
            *phases[i] = 0;
        }
    }
    times->copy_out = seconds - times->copy_in - times->compute;
    times->copy_out = times->copy_out > 0 ? times->copy_out : 0;
}
