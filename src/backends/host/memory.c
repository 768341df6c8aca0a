/* The host device's memory and the copies to and from it.
 *
 * Device memory is ordinary memory that is accounted for: bounded, poisoned when it
 * is allocated so that reading what was never copied there shows (a NaN in every
 * precision), and checked: a copy whose device side does not lie in one allocation
 * fails, as it would on a device.  A copy that has been told to fail leaves its
 * destination partly written. */
#include "host.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { poison = 0xff, alignment = 256 };

struct block {
    char *address;
    size_t bytes;
    bool locked_host; /* page-locked host memory, for which ordinary memory stands in */
    struct block *next;
};

static pthread_mutex_t blocks_lock = PTHREAD_MUTEX_INITIALIZER;
/* Under blocks_lock. */
static struct block *blocks;
static uint64_t bytes_used;
/* Written by the start. */
static uint64_t memory_limit, rate;

void ofl_host_memory_start(uint64_t limit, uint64_t copy_rate)
{
    memory_limit = limit;
    rate = copy_rate;
}

void ofl_host_memory_use(uint64_t *used, uint64_t *limit)
{
    pthread_mutex_lock(&blocks_lock);
    *used = bytes_used;
    pthread_mutex_unlock(&blocks_lock);
    *limit = memory_limit;
}

/* Takes `bytes` from what is left; false if that is too little. */
static bool take(size_t bytes)
{
    pthread_mutex_lock(&blocks_lock);
    bool enough = bytes <= memory_limit && bytes_used <= memory_limit - bytes;
    bytes_used += enough ? bytes : 0;
    pthread_mutex_unlock(&blocks_lock);
    return enough;
}

static void give_back(size_t bytes)
{
    pthread_mutex_lock(&blocks_lock);
    bytes_used -= bytes;
    pthread_mutex_unlock(&blocks_lock);
}

static enum ofl_reason new_block(size_t bytes, bool locked_host, enum ofl_reason failure, void **out)
{
    size_t whole;
    if (bytes == 0 || __builtin_add_overflow(bytes, alignment - 1, &whole)) {
        return OFL_INVALID_ARGUMENT;
    }
    struct block *block = malloc(sizeof *block);
    char *address = block != NULL ? aligned_alloc(alignment, whole / alignment * alignment) : NULL;
    if (address == NULL) {
        free(block);
        return failure;
    }
    memset(address, poison, bytes);
    *block = (struct block){address, bytes, locked_host, NULL};
    pthread_mutex_lock(&blocks_lock);
    block->next = blocks;
    blocks = block;
    pthread_mutex_unlock(&blocks_lock);
    *out = address;
    return OFL_OK;
}

static enum ofl_reason free_block(void *address, bool locked_host)
{
    pthread_mutex_lock(&blocks_lock);
    struct block **link = &blocks;
    while (*link != NULL && ((*link)->address != address || (*link)->locked_host != locked_host)) {
        link = &(*link)->next;
    }
    struct block *block = *link;
    if (block != NULL) {
        *link = block->next;
        bytes_used -= locked_host ? 0 : block->bytes;
    }
    pthread_mutex_unlock(&blocks_lock);
    if (block == NULL) {
        return OFL_INVALID_ARGUMENT;
    }
    free(block->address);
    free(block);
    return OFL_OK;
}

enum ofl_reason ofl_host_allocate(int device, size_t bytes, void **out)
{
    *out = NULL;
    enum ofl_reason reason = ofl_host_step(device, OFL_HOST_ALLOCATE, OFL_DEVICE_MEMORY);
    if (reason != OFL_OK) {
        return reason;
    }
    if (!take(bytes)) {
        return OFL_DEVICE_MEMORY;
    }
    reason = new_block(bytes, false, OFL_DEVICE_MEMORY, out);
    if (reason != OFL_OK) {
        give_back(bytes);
    }
    return reason;
}

enum ofl_reason ofl_host_release(int device, void *address)
{
    enum ofl_reason usable = ofl_host_usable(device), reason = free_block(address, false);
    return usable != OFL_OK ? usable : reason;
}

enum ofl_reason ofl_host_locked_allocate(int device, size_t bytes, void **out)
{
    *out = NULL;
    enum ofl_reason reason = ofl_host_step(device, OFL_HOST_ALLOCATE, OFL_HOST_MEMORY);
    return reason == OFL_OK ? new_block(bytes, true, OFL_HOST_MEMORY, out) : reason;
}

enum ofl_reason ofl_host_locked_release(int device, void *address)
{
    enum ofl_reason usable = ofl_host_usable(device), reason = free_block(address, true);
    return usable != OFL_OK ? usable : reason;
}

/* Copies are as fast from any memory: there is nothing to register. */
enum ofl_reason ofl_host_register(int device, void *address, size_t bytes)
{
    return address == NULL || bytes == 0 ? OFL_INVALID_ARGUMENT : ofl_host_usable(device);
}

enum ofl_reason ofl_host_unregister(int device, void *address)
{
    return address == NULL ? OFL_INVALID_ARGUMENT : ofl_host_usable(device);
}

/* Only this backend's own; a program cannot have registered any. */
bool ofl_host_is_locked(int device, const void *address)
{
    bool found = false;
    (void)device;
    pthread_mutex_lock(&blocks_lock);
    for (const struct block *block = blocks; block != NULL && !found; block = block->next) {
        found = block->locked_host && (uintptr_t)address - (uintptr_t)block->address < block->bytes;
    }
    pthread_mutex_unlock(&blocks_lock);
    return found;
}

bool ofl_host_is_device_memory(const void *address, size_t bytes)
{
    bool found = false;
    pthread_mutex_lock(&blocks_lock);
    for (const struct block *block = blocks; block != NULL && !found; block = block->next) {
        size_t offset = (size_t)((uintptr_t)address - (uintptr_t)block->address);
        found = !block->locked_host && (uintptr_t)address >= (uintptr_t)block->address && offset <= block->bytes &&
                bytes <= block->bytes - offset;
    }
    pthread_mutex_unlock(&blocks_lock);
    return found;
}

static void wait_as_long(uint64_t bytes, const struct timespec *begin)
{
    if (rate == 0) {
        return;
    }
    double seconds = (double)bytes / (double)rate;
    struct timespec until = *begin;
    until.tv_sec += (time_t)seconds;
    until.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
    if (until.tv_nsec >= 1000000000L) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000L;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR) {
    }
}

struct copy {
    char *to;
    const char *from;
    size_t to_pitch, from_pitch, width, columns;
};

static void copy_bytes(const struct copy *copy, size_t columns, size_t width)
{
    for (size_t j = 0; j < columns; j++) {
        memmove(copy->to + j * copy->to_pitch, copy->from + j * copy->from_pitch, width);
    }
}

/* Bytes from the first to the last of one side; false if they exceed the address space. */
static bool extent(size_t pitch, size_t width, size_t columns, size_t *bytes)
{
    return !__builtin_mul_overflow(pitch, columns - 1, bytes) && !__builtin_add_overflow(*bytes, width, bytes);
}

static enum ofl_reason run_copy(int device, const struct copy *copy, bool to_device, bool from_device, bool timed)
{
    struct timespec begin;
    size_t to_bytes, from_bytes;
    if (copy->width == 0 || copy->columns == 0) {
        return ofl_host_usable(device);
    }
    if ((copy->columns > 1 && (copy->to_pitch < copy->width || copy->from_pitch < copy->width)) ||
        !extent(copy->to_pitch, copy->width, copy->columns, &to_bytes) ||
        !extent(copy->from_pitch, copy->width, copy->columns, &from_bytes) ||
        (to_device && !ofl_host_is_device_memory(copy->to, to_bytes)) ||
        (from_device && !ofl_host_is_device_memory(copy->from, from_bytes))) {
        return OFL_COPY_FAILED;
    }
    clock_gettime(CLOCK_MONOTONIC, &begin);
    enum ofl_reason reason = ofl_host_step(device, OFL_HOST_COPY, OFL_COPY_FAILED);
    if (reason != OFL_OK) { /* half of it has arrived */
        copy_bytes(copy, copy->columns / 2, copy->width);
        if (copy->columns == 1) {
            copy_bytes(copy, 1, copy->width / 2);
        }
        return reason;
    }
    copy_bytes(copy, copy->columns, copy->width);
    if (timed) {
        wait_as_long((uint64_t)copy->width * copy->columns, &begin);
    }
    return OFL_OK;
}

enum ofl_reason ofl_host_copy_in(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                 size_t from_pitch, size_t width, size_t columns)
{
    (void)stream;
    return run_copy(device, &(struct copy){to, from, to_pitch, from_pitch, width, columns}, true, false, true);
}

enum ofl_reason ofl_host_copy_out(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                  size_t from_pitch, size_t width, size_t columns)
{
    (void)stream;
    return run_copy(device, &(struct copy){to, from, to_pitch, from_pitch, width, columns}, false, true, true);
}

enum ofl_reason ofl_host_copy_within(int device, struct ofl_stream *stream, void *to, size_t to_pitch, const void *from,
                                     size_t from_pitch, size_t width, size_t columns)
{
    (void)stream;
    return run_copy(device, &(struct copy){to, from, to_pitch, from_pitch, width, columns}, true, true, false);
}
