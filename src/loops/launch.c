/* From a gathered loop to the device: its launches in order, the kernels' parameters, and what the loop's end means.
 *
 * The device's scratch memory has, one behind the other: the status, the mask, two sets of partial results for each
 * reduction, the workspace.  A launch that ran out of workspace has no result and is done again with more. */
#include "internal.h"
#include "base/clock.h"
#include "base/message.h"
#include "base/pack.h"
#include "base/reason.h"
#include "base/settings.h"
#include "trace/writer.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_blocks = 65535, most_steps = 16, alignment = 256 };

/* Workspace of all threads together. */
static const uint64_t most_workspace = (uint64_t)1 << 30;

struct run {
    struct ofl_loop *loop;
    struct ofl_kernel_work work;
    struct ofl_kernel_region *regions;
    size_t region_count;
    struct ofl_kernel_stage stages[2 + most_steps];
    /* Parameters of the kernels. */
    void **arguments;
    uintptr_t status_address, mask_address, workspace_address;
    int64_t partial_count, workspace_bytes;
    struct {
        int64_t in, out, finish;
        void **arguments;
    } steps[most_steps];
    size_t step_count;
    /* Offsets in the scratch memory. */
    size_t mask_offset, partials_offset, workspace_offset;
    uint32_t blocks;
    void *image; /* unpacked, if that was needed */
    size_t image_bytes;
    int64_t status[OFL_STATUS_WORDS];
};

/* ---- The device ---- */

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void prepare_process(void)
{
    ofl_message_start();
    pthread_atfork(ofl_device_before_fork, ofl_device_after_fork_in_parent, ofl_device_after_fork_in_child);
}

static const char *backend_of(const struct ofl_loop *loop)
{
    return loop->device == OFL_LOOPS_CUDA ? "cuda" : "host";
}

static const char *option_of(const struct ofl_loop *loop)
{
    return loop->device == OFL_LOOPS_CUDA ? "cuda" : "cuda_cpu";
}

/* Starts the device that the loop was compiled for, or stops. */
static void start_device(const struct ofl_loop *loop)
{
    pthread_once(&once, prepare_process);
    bool starts = ofl_device_state() != OFL_OK;
    if (starts) {
        ofl_device_prefer(backend_of(loop));
    }
    double begin = ofl_clock();
    enum ofl_reason reason = ofl_device_start();
    if (starts && ofl_settings()->verbose) {
        ofl_message("%s: starting the device for this loop took %.3f s", loop->where, ofl_clock() - begin);
    }
    if (reason != OFL_OK) {
        const char *more = ofl_device_explanation();
        bool other = loop->device == OFL_LOOPS_CUDA && ofl_device_is_missing(reason);
        ofl_loop_stop(loop, "this loop was compiled for a device (--gpu=%s) and cannot run: %s%s", option_of(loop),
                      *more != '\0' ? more : ofl_reason_text(reason),
                      other ? "; or build the program with --gpu=cuda_cpu, which needs no GPU" : "");
    }
    if (strcmp(ofl_device_name(), backend_of(loop)) != 0) {
        ofl_loop_stop(loop, "this loop was compiled with --gpu=%s, but the program already uses another device (%s)",
                      option_of(loop), ofl_device_name());
    }
}

/* ---- Parameters ---- */

/* An object's: its address, strides, bounds. */
static size_t add_object(struct ofl_loop_object *object, void **list)
{
    size_t used = 0;
    list[used++] = &object->origin;
    for (int d = 0; d < object->rank; d++) {
        list[used++] = &object->stride[d];
    }
    for (int d = 0; d < object->rank && object->bounds; d++) {
        list[used++] = &object->lower[d];
        list[used++] = &object->extent[d];
    }
    return used;
}

enum { most_words = 1 + 3 * CFI_MAX_RANK };

/* The order is that of src/fortran/lowered.h. */
static void set_arguments(struct run *run)
{
    struct ofl_loop *loop = run->loop;
    size_t used = 0, most = 1 + 3 * (size_t)loop->index_count + loop->object_count * most_words + loop->scalar_count +
                            1 + loop->reduction_count + 1 + 1 + 2;
    void **list = run->arguments = ofl_loop_need(loop, malloc(most * sizeof *list));
    list[used++] = &loop->trips;
    for (unsigned i = 0; i < loop->index_count; i++) {
        list[used++] = &loop->index[i].first;
        list[used++] = &loop->index[i].step;
        list[used++] = &loop->index[i].count;
    }
    for (size_t i = 0; i < loop->object_count; i++) {
        used += add_object(&loop->objects[i], list + used);
    }
    for (size_t i = 0; i < loop->scalar_count; i++) {
        list[used++] = loop->scalars[i].words;
    }
    if (loop->mask) {
        list[used++] = &run->mask_address;
    }
    for (size_t i = 0; i < loop->reduction_count; i++) {
        list[used++] = &loop->reductions[i].partials[0];
    }
    if (loop->reduction_count > 0) {
        list[used++] = &run->partial_count;
    }
    if (loop->status) {
        list[used++] = &run->status_address;
    }
    if (loop->workspace) {
        list[used++] = &run->workspace_address;
        list[used++] = &run->workspace_bytes;
    }
}

/* One step of combining: from the set of partials where the last one left them to the other. */
static void set_step_arguments(struct run *run, size_t step)
{
    struct ofl_loop *loop = run->loop;
    size_t used = 0;
    void **list = ofl_loop_need(loop, malloc((3 + loop->reduction_count * (2 + most_words)) * sizeof *list));
    run->steps[step].arguments = list;
    list[used++] = &run->steps[step].in;
    list[used++] = &run->steps[step].out;
    list[used++] = &run->steps[step].finish;
    for (size_t i = 0; i < loop->reduction_count; i++) {
        list[used++] = &loop->reductions[i].partials[step % 2];
        list[used++] = &loop->reductions[i].partials[1 - step % 2];
    }
    for (size_t i = 0; i < loop->reduction_count; i++) {
        used += add_object(&loop->objects[loop->reductions[i].object], list + used);
    }
}

/* ---- The launches ---- */

static uint32_t blocks_for(uint64_t items)
{
    uint64_t blocks = items / OFL_LOOP_THREADS + (items % OFL_LOOP_THREADS != 0);
    return blocks < 1 ? 1 : blocks < most_blocks ? (uint32_t)blocks : most_blocks;
}

static const char *kernel_name(const struct ofl_loop *loop, const char *end)
{
    size_t size = strlen(loop->kernel) + strlen(end) + 1;
    char *name = ofl_loop_need(loop, malloc(size));
    snprintf(name, size, "%s%s", loop->kernel, end);
    return name;
}

static void add_stage(struct run *run, const char *end, uint32_t blocks, void **arguments)
{
    run->stages[run->work.stage_count++] = (struct ofl_kernel_stage){kernel_name(run->loop, end), blocks, arguments};
}

/* The steps that combine the partials to one; at least one step, which puts it into the variable. */
static void add_steps(struct run *run)
{
    const struct ofl_loop *loop = run->loop;
    int64_t count = run->partial_count, elements = 1;
    for (size_t i = 0; i < loop->reduction_count; i++) {
        elements = loop->reductions[i].elements > elements ? loop->reductions[i].elements : elements;
    }
    while (run->step_count == 0 || count > 1) {
        int64_t fewer = ofl_loop_fewer_partials(count);
        size_t step = run->step_count++;
        run->steps[step].in = count;
        run->steps[step].out = fewer;
        run->steps[step].finish = fewer == 1;
        set_step_arguments(run, step);
        add_stage(run, "_combine", blocks_for((uint64_t)fewer * (uint64_t)elements), run->steps[step].arguments);
        count = fewer;
    }
}

/* Adds an aligned piece of scratch memory; returns its offset. */
static size_t reserve(struct run *run, uint64_t bytes)
{
    size_t offset = run->work.scratch_bytes;
    if (__builtin_add_overflow(run->work.scratch_bytes, bytes, &run->work.scratch_bytes) ||
        __builtin_add_overflow(run->work.scratch_bytes, alignment - 1, &run->work.scratch_bytes)) {
        ofl_loop_stop(run->loop, "the loop failed on the device: %s", ofl_reason_text(OFL_DEVICE_MEMORY));
    }
    run->work.scratch_bytes &= ~(size_t)(alignment - 1);
    return offset;
}

/* Bytes of one set of partials of a reduction. */
static uint64_t partials_bytes(const struct run *run, const struct ofl_loop_reduction *reduction)
{
    uint64_t bytes = (uint64_t)run->partial_count * (uint64_t)reduction->elements * reduction->element_bytes;
    return (bytes + alignment - 1) & ~(uint64_t)(alignment - 1);
}

static void plan_reductions(struct run *run)
{
    struct ofl_loop *loop = run->loop;
    uint64_t bytes = 0, all = 0;
    for (size_t i = 0; i < loop->reduction_count; i++) {
        bytes += (uint64_t)loop->reductions[i].elements * loop->reductions[i].element_bytes;
    }
    run->partial_count = ofl_loop_partials(loop->trips, bytes);
    for (size_t i = 0; i < loop->reduction_count; i++) {
        all += 2 * partials_bytes(run, &loop->reductions[i]);
    }
    run->partials_offset = reserve(run, all);
}

/* Workspace for as many threads as may have some: fewer threads take more iterations each. */
static void plan_workspace(struct run *run)
{
    uint64_t block = (uint64_t)run->workspace_bytes * OFL_LOOP_THREADS, most = most_workspace / block;
    run->blocks = most < 1 ? 1 : most < run->blocks ? (uint32_t)most : run->blocks;
    run->workspace_offset = reserve(run, block * run->blocks);
}

static void plan(struct run *run)
{
    struct ofl_loop *loop = run->loop;
    run->work.stage_count = run->step_count = run->work.scratch_bytes = run->work.status_bytes = 0;
    if (loop->status) {
        run->work.status_bytes = sizeof run->status;
        reserve(run, sizeof run->status);
    }
    if (loop->mask) {
        run->mask_offset = reserve(run, (uint64_t)loop->trips);
    }
    run->partial_count = 0;
    if (loop->reduction_count > 0) {
        plan_reductions(run);
    }
    run->blocks = blocks_for((uint64_t)(loop->reduction_count > 0 ? run->partial_count : loop->trips));
    if (loop->workspace) {
        plan_workspace(run);
    }
    set_arguments(run);
    if (loop->mask) {
        add_stage(run, "_mask", loop->workspace ? run->blocks : blocks_for((uint64_t)loop->trips), run->arguments);
    }
    add_stage(run, "", run->blocks, run->arguments);
    if (loop->reduction_count > 0) {
        add_steps(run);
    }
}

static void forget_plan(struct run *run)
{
    for (size_t i = 0; i < run->work.stage_count; i++) {
        free((char *)run->stages[i].name);
    }
    for (size_t i = 0; i < run->step_count; i++) {
        free(run->steps[i].arguments);
    }
    free(run->arguments);
}

/* The image out of the program's text. */
static enum ofl_reason unpack_image(void *context, const void **image, size_t *bytes)
{
    struct run *run = context;
    const struct ofl_loop *loop = run->loop;
    if (run->image == NULL) {
        size_t packed_bytes = loop->image_length / 4 * 3 + loop->image_length % 4 * 3 / 4;
        unsigned char *packed = malloc(packed_bytes + 1);
        bool good = packed != NULL && ofl_decode64(loop->image, loop->image_length, packed) &&
                    ofl_is_packed(packed, packed_bytes, &run->image_bytes);
        run->image = good ? malloc(run->image_bytes + 1) : NULL;
        good = good && run->image != NULL && ofl_unpack(packed, packed_bytes, run->image, run->image_bytes);
        enum ofl_reason reason = packed == NULL || run->image == NULL ? OFL_HOST_MEMORY : OFL_KERNEL_FAILED;
        free(packed);
        if (!good) {
            return reason;
        }
    }
    *image = run->image;
    *bytes = run->image_bytes;
    return OFL_OK;
}

/* The regions and the scratch memory are on the device. */
static void bind(void *context)
{
    struct run *run = context;
    struct ofl_loop *loop = run->loop;
    uintptr_t scratch = (uintptr_t)run->work.scratch, next = scratch + run->partials_offset;
    for (size_t i = 0; i < loop->object_count; i++) {
        ofl_loop_place(&loop->objects[i], run->regions, run->region_count);
    }
    run->status_address = scratch;
    run->mask_address = scratch + run->mask_offset;
    run->workspace_address = scratch + run->workspace_offset;
    for (size_t i = 0; i < loop->reduction_count; i++) {
        for (int set = 0; set < 2; set++) {
            loop->reductions[i].partials[set] = next;
            next += partials_bytes(run, &loop->reductions[i]);
        }
    }
}

/* The program ends, or the launch is done again: nothing is copied back. */
static bool accept(void *context)
{
    const struct run *run = context;
    return !run->loop->status || (run->status[OFL_STATUS_STOPPED] == 0 &&
                                  (!run->loop->workspace || run->status[OFL_STATUS_WORKSPACE] <= run->workspace_bytes));
}

/* ---- The end ---- */

static void tell_stop(const struct run *run, int64_t *stop, char *text)
{
    if (!run->loop->status || run->status[OFL_STATUS_STOPPED] == 0) {
        return;
    }
    int64_t length = run->status[OFL_STATUS_LENGTH];
    stop[OFL_LOOPS_STOP_KIND] = run->status[OFL_STATUS_KIND] + 1;
    stop[OFL_LOOPS_STOP_CODE] = run->status[OFL_STATUS_CODE];
    stop[OFL_LOOPS_STOP_LENGTH] = length < OFL_LOOPS_STOP_TEXT ? length : OFL_LOOPS_STOP_TEXT;
    stop[OFL_LOOPS_STOP_QUIET] = run->status[OFL_STATUS_QUIET];
    memcpy(text, &run->status[OFL_STATUS_TEXT], OFL_LOOPS_STOP_TEXT);
}

static bool needs_more_workspace(const struct run *run)
{
    return run->loop->workspace && run->status[OFL_STATUS_STOPPED] == 0 &&
           run->status[OFL_STATUS_WORKSPACE] > run->workspace_bytes;
}

static void run_once(struct run *run)
{
    struct ofl_loop *loop = run->loop;
    struct ofl_device_times times;
    bool traced = ofl_loop_is_traced();
    uint64_t start = traced ? ofl_trace_now() : 0;
    enum ofl_reason reason = ofl_device_run_kernel(&run->work, traced ? &times : NULL);
    if (reason != OFL_OK) {
        ofl_loop_stop(loop, "the loop failed on the device (%s): %s",
                      ofl_device_name() != NULL ? ofl_device_name() : "none", ofl_reason_text(reason));
    }
    if (run->work.loading > 0 && ofl_settings()->verbose) {
        ofl_message("%s: preparing kernel %s for the device took %.3f s", loop->where, loop->kernel, run->work.loading);
    }
    if (traced) {
        ofl_loop_trace(loop, &run->work, &times, start);
    }
}

void ofl_loop_launch(struct ofl_loop *loop, int64_t *stop, char *text)
{
    struct run *run = ofl_loop_need(loop, calloc(1, sizeof *run));
    run->loop = loop;
    run->workspace_bytes = OFL_WORKSPACE_BYTES;
    start_device(loop);
    run->regions = ofl_loop_need(loop, malloc((loop->object_count + loop->part_count + 1) * sizeof *run->regions));
    run->region_count = ofl_loop_regions(loop, run->regions);
    run->work = (struct ofl_kernel_work){
        .identity = loop->identity,
        .image = unpack_image,
        .stages = run->stages,
        .threads = OFL_LOOP_THREADS,
        .regions = run->regions,
        .region_count = run->region_count,
        .status = run->status,
        .bind = bind,
        .accept = accept,
        .context = run,
    };
    run->work.sections =
        ofl_loop_need(loop, ofl_loop_sections(loop, run->regions, run->region_count, &run->work.section_count));
    run->work.pointers = ofl_loop_need(loop, ofl_loop_pointers(loop, run->regions, run->region_count));
    run->work.pointer_count = loop->pointer_count;
    plan(run);
    run_once(run);
    while (needs_more_workspace(run)) {
        run->workspace_bytes = (run->status[OFL_STATUS_WORKSPACE] + 15) / 16 * 16;
        forget_plan(run);
        plan(run);
        run_once(run);
    }
    tell_stop(run, stop, text);
    ofl_summary_count(loop->kernel, ofl_device_name());
    forget_plan(run);
    free((void *)run->work.sections);
    free((void *)run->work.pointers);
    free(run->regions);
    free(run->image);
    free(run);
}
