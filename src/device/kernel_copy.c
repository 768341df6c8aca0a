/* The copies around a kernel; see kernel_copy.h.
 *
 * A compared region goes to the device by way of a copy in host memory, and its result comes back to a second one:
 * where the two differ, the kernels have written.  (The program's memory itself may be changed by other threads
 * meanwhile, outside the elements that the kernels work on.)  This is right for any subscripts, and costs three more
 * passes over the region in host memory, by several threads.  Other regions, and the sections of what is
 * written as a whole, go straight between the program's memory and the device.
 *
 * The caller has the device's turn. */
#include "device/kernel_copy.h"
#include "device/pipeline.h"
#include "device/pool.h"

#include <stdatomic.h>
#include <string.h>

/* Below this, a copy is left to the driver as it is. */
enum { small_bytes = 64 << 10, chunk_bytes = 256 << 10, page = 4096 };

static size_t aligned(size_t bytes)
{
    return (bytes + OFL_KERNEL_ALIGNMENT - 1) / OFL_KERNEL_ALIGNMENT * OFL_KERNEL_ALIGNMENT;
}

size_t ofl_kernel_compared_bytes(const struct ofl_kernel_work *work)
{
    size_t bytes = 0;
    for (size_t i = 0; i < work->region_count; i++) {
        bytes += work->regions[i].compared ? aligned(work->regions[i].bytes) : 0;
    }
    return bytes;
}

/* ---- By several threads, in host memory ---- */

/* One region: copied to `before`, or written back where `after` differs from it. */
struct passage {
    unsigned char *program, *before;
    const unsigned char *after; /* NULL: copy */
    size_t bytes;
    unsigned unit;
    atomic_size_t next;
};

/* Writes the elements that differ. */
static void commit_page(unsigned char *to, const unsigned char *before, const unsigned char *after, size_t bytes,
                        unsigned unit)
{
    if (memcmp(before, after, bytes) == 0) {
        return;
    }
    if (unit == 8) {
        for (size_t i = 0; i < bytes; i += 8) {
            if (memcmp(before + i, after + i, 8) != 0) {
                memcpy(to + i, after + i, 8);
            }
        }
    } else if (unit == 4) {
        for (size_t i = 0; i < bytes; i += 4) {
            if (memcmp(before + i, after + i, 4) != 0) {
                memcpy(to + i, after + i, 4);
            }
        }
    } else {
        for (size_t i = 0; i < bytes; i++) {
            if (before[i] != after[i]) {
                to[i] = after[i];
            }
        }
    }
}

static bool pass_chunk(void *argument)
{
    struct passage *passage = argument;
    size_t begin = atomic_fetch_add(&passage->next, chunk_bytes);
    if (begin >= passage->bytes) {
        return false;
    }
    size_t bytes = passage->bytes - begin < chunk_bytes ? passage->bytes - begin : chunk_bytes;
    if (passage->after == NULL) {
        memcpy(passage->before + begin, passage->program + begin, bytes);
        return true;
    }
    for (size_t offset = begin; offset < begin + bytes; offset += page) {
        size_t rest = begin + bytes - offset;
        commit_page(passage->program + offset, passage->before + offset, passage->after + offset,
                    rest < page ? rest : page, passage->unit);
    }
    return true;
}

static void pass(const struct ofl_kernel_region *region, unsigned char *before, const unsigned char *after)
{
    struct passage passage = {
        .program = region->address, .before = before, .after = after, .bytes = region->bytes, .unit = region->unit};
    ofl_pool_share(pass_chunk, &passage, region->bytes > 4 * (size_t)chunk_bytes ? ofl_pool_helpers() : 0);
}

/* ---- Between the program's memory and the device ---- */

static enum ofl_reason copy_plain(const struct ofl_started *started, bool in, void *host, void *device, size_t bytes)
{
    return in ? started->backend->copy_in(started->device, started->stream, device, bytes, host, bytes, bytes, 1)
              : started->backend->copy_out(started->device, started->stream, host, bytes, device, bytes, bytes, 1);
}

/* Runs of bytes, by way of page-locked memory and by several threads if they are large. */
static enum ofl_reason copy_runs(const struct ofl_started *started, bool in, void *host, void *device, size_t width,
                                 size_t pitch, size_t columns)
{
    if (columns == 1 && width <= small_bytes) {
        return copy_plain(started, in, host, device, width);
    }
    static struct ofl_step step; /* the caller has the device's turn */
    const struct ofl_part part = {
        .host = {.address = host,
                 .rows = (int64_t)width,
                 .columns = (int64_t)columns,
                 .ld = (int64_t)pitch,
                 .element_size = 1,
                 .access = in ? OFL_READ : OFL_WRITE},
        .device = device,
        .device_ld = (int64_t)pitch,
    };
    step.ins = in ? 1 : 0;
    step.outs = in ? 0 : 1;
    step.calls = 0;
    *(in ? &step.in[0] : &step.out[0]) = part;
    struct ofl_pipeline pipeline = {.started = started, .steps = 1, .step = &step};
    return ofl_pipeline_run(&pipeline);
}

/* In the copy of region `region`, addresses become the device's.  They come back so, and are no difference. */
static size_t put_pointers(const struct ofl_kernel_work *work, size_t region, size_t next, unsigned char *copy)
{
    for (; next < work->pointer_count && work->pointers[next].region <= region; next++) {
        const struct ofl_kernel_pointer *pointer = &work->pointers[next];
        char *address = (char *)work->regions[pointer->target].device + pointer->target_offset;
        if (pointer->region == region) {
            memcpy(copy + pointer->offset, &address, sizeof address);
        }
    }
    return next;
}

/* Between a copy of a region and the device. */
static enum ofl_reason copy_copy(const struct ofl_started *started, bool in, unsigned char *copy,
                                 const struct ofl_kernel_region *region, bool locked)
{
    return locked ? copy_plain(started, in, copy, region->device, region->bytes)
                  : copy_runs(started, in, copy, region->device, region->bytes, region->bytes, 1);
}

enum ofl_reason ofl_kernel_copy_in(const struct ofl_started *started, const struct ofl_kernel_work *work,
                                   const struct ofl_kernel_copies *copies, struct ofl_device_times *times)
{
    unsigned char *before = copies->before;
    enum ofl_reason reason = OFL_OK;
    size_t pointer = 0;
    for (size_t i = 0; i < work->region_count && reason == OFL_OK; i++) {
        const struct ofl_kernel_region *region = &work->regions[i];
        if (region->compared) {
            pass(region, before, NULL);
            pointer = put_pointers(work, i, pointer, before);
            reason = copy_copy(started, true, before, region, copies->locked);
            before += aligned(region->bytes);
        } else if (region->read) {
            reason = copy_runs(started, true, region->address, region->device, region->bytes, region->bytes, 1);
        }
        times->bytes_in += region->read ? region->bytes : 0;
    }
    return reason == OFL_OK ? started->backend->stream_wait(started->device, started->stream) : reason;
}

static enum ofl_reason copy_section(const struct ofl_started *started, const struct ofl_kernel_work *work,
                                    const struct ofl_kernel_section *section)
{
    const struct ofl_kernel_region *region = &work->regions[section->region];
    return copy_runs(started, false, (char *)region->address + section->offset,
                     (char *)region->device + section->offset, section->width, section->pitch, section->columns);
}

enum ofl_reason ofl_kernel_copy_out(const struct ofl_started *started, const struct ofl_kernel_work *work,
                                    const struct ofl_kernel_copies *copies, struct ofl_device_times *times)
{
    enum ofl_reason reason = OFL_OK;
    unsigned char *before = copies->before, *after = copies->after, *next = after;
    for (size_t i = 0; i < work->region_count && reason == OFL_OK; i++) {
        const struct ofl_kernel_region *region = &work->regions[i];
        if (region->compared) {
            reason = copy_copy(started, false, next, region, copies->locked);
            times->bytes_out += region->bytes;
            next += aligned(region->bytes);
        }
    }
    for (size_t i = 0; i < work->section_count && reason == OFL_OK; i++) {
        reason = copy_section(started, work, &work->sections[i]);
        times->bytes_out += work->sections[i].width * work->sections[i].columns;
    }
    if (reason == OFL_OK) {
        reason = started->backend->stream_wait(started->device, started->stream);
    }
    for (size_t i = 0; i < work->region_count && reason == OFL_OK; i++) {
        const struct ofl_kernel_region *region = &work->regions[i];
        if (region->compared) {
            pass(region, before, after);
            before += aligned(region->bytes);
            after += aligned(region->bytes);
        }
    }
    return reason;
}
