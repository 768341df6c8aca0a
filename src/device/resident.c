/* Copies of operands that stay on the device from one call to the next.
 *
 * A copy belongs to a place in memory and how it is read (address, shape, leading dimension, region).  It is used
 * again only where the kernel proves that the memory behind it was not written since (watch.c):
 *
 *  - The pages are protected first and copied then.  What is written in between, or while they are copied, counts as
 *    written.
 *  - Only whole pages inside the operand are protected.  Bytes in the page where it begins and the page where it ends
 *    are copied for every call, so neighbours in memory never matter.
 *  - No two copies share a page, so that protecting for one never hides a write from another.
 *  - Before each use the pages are looked at.  Written ones are protected again and copied again; where most are, or
 *    nothing is proven, the copy is given up.
 *  - A result stays where it was computed: its pages are protected when it is in place, before the call returns.
 *
 * What is worth it is sightings.c's business, and that of the setting residency.  Copies take at most half of the
 * device's memory and are given up when a call needs it, the longest unused first.
 *
 * `lock` guards everything here and in sightings.c; the memory of operands is looked at, but never written.  A copy
 * in use belongs to the calls that use it: `users` of them read it, or one call writes it. */
#include "device/resident.h"
#include "base/clock.h"
#include "base/settings.h"
#include "device/sightings.h"
#include "device/watch.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { most_runs = 512, most_copies = 256, least_bytes = 4 << 20, widest_spread = 4, many_reads = 8 };

/* Copies in are about as fast: protecting a result's pages, and ending that for the next result, must cost less. */
static const double copy_rate = 40e9;

struct ofl_resident {
    struct ofl_place_key key;
    struct ofl_pages pages;
    void *device;
    size_t bytes;
    uint64_t last;  /* when it was used */
    unsigned reads; /* since it was filled, or its result computed */
    int users;
    bool alone;      /* its user writes it */
    bool protected;  /* the pages are */
    bool given_up;   /* released when nobody uses it */
    bool challenged; /* another operand wanted its pages since it was last used */
    struct ofl_resident *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct ofl_resident *copies;
static uint64_t now;
static _Atomic uint64_t bytes_now;
static struct ofl_residency_counts counts;

static bool is_wanted(void)
{
    return strcmp(ofl_settings()->residency, "off") != 0 && ofl_watch_start();
}

static bool keeps_all(void)
{
    return strcmp(ofl_settings()->residency, "always") == 0;
}

static size_t compact_bytes(const struct ofl_buffer *operand)
{
    return (size_t)operand->rows * (size_t)operand->columns * operand->element_size;
}

static struct ofl_pages pages_of(const struct ofl_buffer *operand)
{
    size_t elements = (size_t)(operand->columns - 1) * (size_t)operand->ld + (size_t)operand->rows;
    return ofl_pages_within(operand->address, elements * operand->element_size);
}

/* Whether it is worth any thought. */
static bool is_eligible(const struct ofl_buffer *operand)
{
    if (operand->region == OFL_PIVOTS || operand->rows < 1 || operand->columns < 1) {
        return false;
    }
    double stored = (double)operand->rows * (double)operand->columns * operand->element_size;
    double spread = (double)operand->ld * (double)operand->columns * operand->element_size;
    struct ofl_pages pages = pages_of(operand);
    return (keeps_all() || ofl_settings()->small_pieces ||
            (stored >= least_bytes && spread <= widest_spread * stored)) &&
           spread < 1e18 && pages.begin < pages.end;
}

static void release(const struct ofl_started *started, struct ofl_resident *copy)
{
    for (struct ofl_resident **at = &copies; *at != NULL; at = &(*at)->next) {
        if (*at == copy) {
            *at = copy->next;
            break;
        }
    }
    if (copy->protected) {
        ofl_watch_stop(copy->pages);
    }
    started->backend->release(started->device, copy->device);
    atomic_fetch_sub(&bytes_now, copy->bytes);
    free(copy);
}

static void give_up(const struct ofl_started *started, struct ofl_resident *copy)
{
    copy->given_up = true;
    if (copy->users == 0) {
        release(started, copy);
    }
}

static bool evict(const struct ofl_started *started)
{
    struct ofl_resident *oldest = NULL;
    for (struct ofl_resident *copy = copies; copy != NULL; copy = copy->next) {
        if (copy->users == 0 && (oldest == NULL || copy->last < oldest->last)) {
            oldest = copy;
        }
    }
    if (oldest != NULL) {
        release(started, oldest);
    }
    return oldest != NULL;
}

static struct ofl_resident *find(const struct ofl_buffer *operand)
{
    struct ofl_place_key key = ofl_place_key(operand);
    for (struct ofl_resident *copy = copies; copy != NULL; copy = copy->next) {
        if (!copy->given_up && ofl_same_place(&copy->key, &key)) {
            return copy;
        }
    }
    return NULL;
}

/* Whether pages of it belong to a copy, of whatever operand. */
static bool is_taken(struct ofl_pages pages)
{
    for (struct ofl_resident *copy = copies; copy != NULL; copy = copy->next) {
        if (copy->pages.begin < pages.end && pages.begin < copy->pages.end) {
            return true;
        }
    }
    return false;
}

/* Gives up the copies that pages belong to: those that are not in use, and were not used since another operand wanted
 * their pages.  Whether the pages are free now. */
static bool clear(const struct ofl_started *started, struct ofl_pages pages)
{
    struct ofl_resident *next;
    bool clear = true;
    for (struct ofl_resident *copy = copies; copy != NULL; copy = next) {
        next = copy->next;
        if (copy->pages.begin >= pages.end || pages.begin >= copy->pages.end) {
            continue;
        }
        if (copy->users == 0 && (copy->challenged || keeps_all())) {
            release(started, copy);
        } else {
            copy->challenged = true;
            clear = false;
        }
    }
    return clear;
}

static uint64_t most_bytes(const struct ofl_started *started)
{
    uint64_t memory = started->properties.memory_bytes, allowed = (uint64_t)ofl_settings()->device_memory;
    return (allowed > 0 && allowed < memory ? allowed : memory) / 2;
}

/* Whether the device's driver knows the memory as page-locked: devices write to such memory unseen. */
static bool devices_write(const struct ofl_started *started, const struct ofl_buffer *operand)
{
    enum { every = 2 << 20, samples = 256 };
    const char *first = operand->address;
    size_t bytes =
        ((size_t)(operand->columns - 1) * (size_t)operand->ld + (size_t)operand->rows) * operand->element_size;
    size_t step = bytes / samples > every ? bytes / samples : every;
    bool known = false;
    for (size_t at = 0; at < bytes && !known; at += step) {
        known = started->backend->host_is_locked(started->device, first + at);
    }
    return known || started->backend->host_is_locked(started->device, first + bytes - 1);
}

/* A copy without content, for one call alone; NULL where there is no room. */
static struct ofl_resident *make(const struct ofl_started *started, const struct ofl_buffer *operand)
{
    struct ofl_pages pages = pages_of(operand);
    size_t bytes = compact_bytes(operand);
    int count = 0;
    for (const struct ofl_resident *copy = copies; copy != NULL; copy = copy->next) {
        count++;
    }
    if (bytes > most_bytes(started) || !clear(started, pages) || devices_write(started, operand)) {
        return NULL;
    }
    bool room = true;
    while (room && (count >= most_copies || atomic_load(&bytes_now) + bytes > most_bytes(started))) {
        room = evict(started);
        count--;
    }
    struct ofl_resident *copy = room ? malloc(sizeof *copy) : NULL;
    if (copy == NULL) {
        return NULL;
    }
    *copy = (struct ofl_resident){.key = ofl_place_key(operand), .pages = pages, .bytes = bytes, .alone = true};
    while (room && started->backend->allocate(started->device, bytes, &copy->device) != OFL_OK) {
        copy->device = NULL;
        room = evict(started);
    }
    if (copy->device == NULL) {
        free(copy);
        return NULL;
    }
    copy->next = copies;
    copies = copy;
    atomic_fetch_add(&bytes_now, bytes);
    return copy;
}

/* What of the operand has to be copied, besides written pages: what its whole pages leave. */
static bool select_edges(const struct ofl_resident *copy, struct ofl_selection *changed, const struct ofl_pages *runs,
                         int count)
{
    bool done = ofl_selection_add(changed, 0, copy->pages.begin);
    for (int i = 0; i < count && done; i++) {
        done = ofl_selection_add(changed, runs[i].begin, runs[i].end);
    }
    return done && ofl_selection_add(changed, copy->pages.end, UINTPTR_MAX);
}

/* Protects the written pages again and selects them; false where the copy is not worth it, or nothing is proven. */
static bool refresh(const struct ofl_started *started, struct ofl_resident *copy, const struct ofl_buffer *operand,
                    struct ofl_selection *changed, bool *clean)
{
    static struct ofl_pages runs[most_runs]; /* under `lock` */
    double begin = ofl_clock();
    int count = ofl_watch_changed(copy->pages, runs, most_runs);
    uintptr_t written = 0;
    counts.check_seconds += ofl_clock() - begin;
    counts.bytes_checked += copy->pages.end - copy->pages.begin;
    for (int i = 0; i < count; i++) {
        written += runs[i].end - runs[i].begin;
    }
    *clean = count == 0;
    if (count < 0 || ofl_watch_somebody_pins() ||
        (!keeps_all() && written > (copy->pages.end - copy->pages.begin) / 4)) {
        return false;
    }
    if (count > 0 && (copy->users > 0 || devices_write(started, operand))) {
        return false;
    }
    for (int i = 0; i < count; i++) {
        if (!ofl_watch_protect_again(runs[i])) {
            return false;
        }
    }
    if (count > 0 && !ofl_watch_trusts(copy->pages)) {
        return false;
    }
    *changed = ofl_selection_of(operand);
    return select_edges(copy, changed, runs, count);
}

/* Uses a copy that is there.  False where it cannot be; then it is given up. */
static bool use(const struct ofl_started *started, struct ofl_resident *copy, const struct ofl_buffer *operand,
                bool read, bool written, struct ofl_grip *grip)
{
    bool clean = true;
    if (read && (!copy->protected || !refresh(started, copy, operand, &grip->changed, &clean))) {
        ofl_selection_free(&grip->changed);
        give_up(started, copy);
        return false;
    }
    copy->alone = written || !clean;
    grip->current = read;
    if (read) {
        copy->reads++;
        counts.uses++;
        counts.bytes_spared += copy->bytes;
        for (int64_t i = 0; i < grip->changed.count; i++) {
            uint64_t bytes = ofl_piece_bytes(operand, &grip->changed.piece[i]);
            counts.bytes_spared -= bytes < counts.bytes_spared ? bytes : counts.bytes_spared;
        }
    }
    if (written && copy->protected) { /* the result would pay for each page */
        ofl_watch_stop(copy->pages);
        copy->protected = false;
    }
    return true;
}

static struct ofl_resident *take(const struct ofl_started *started, const struct ofl_buffer *operand, bool read,
                                 bool written, struct ofl_grip *grip)
{
    struct ofl_resident *copy = find(operand);
    struct ofl_sighting *sighting = ofl_sighting_of(operand);
    if (copy != NULL && (copy->alone || (written && copy->users > 0))) {
        return NULL; /* another thread's call has it */
    }
    /* A result that nobody read before the next one was kept in vain. */
    bool in_vain = copy != NULL && !read && copy->reads == 0 && !keeps_all();
    if (in_vain) {
        give_up(started, copy);
    } else if (copy != NULL && use(started, copy, operand, read, written, grip)) {
        if (copy->reads >= many_reads) {
            sighting->mistakes = 0;
        }
        return copy;
    }
    if (copy != NULL) {
        ofl_sighting_mistaken(sighting);
    }
    if (read) {
        ofl_sighting_read(sighting, operand, !is_taken(sighting->pages));
    }
    bool confirmed = sighting->confirmed;
    if (written) {
        ofl_sighting_before_write(sighting);
    }
    copy = confirmed || keeps_all() ? make(started, operand) : NULL;
    if (copy != NULL && !written) {
        copy->protected = ofl_watch_protect(copy->pages);
        if (!copy->protected) {
            ofl_sighting_mistaken(sighting);
            release(started, copy);
            copy = NULL;
        }
    }
    if (copy != NULL) {
        sighting->credit = 0;
        counts.kept++;
    }
    return copy;
}

void ofl_resident_take(const struct ofl_started *started, const struct ofl_buffer *operand, bool read, bool written,
                       struct ofl_grip *grip)
{
    *grip = (struct ofl_grip){.copy = NULL};
    if (!is_eligible(operand)) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (is_wanted()) {
        grip->copy = take(started, operand, read, written, grip);
    }
    if (grip->copy != NULL) {
        grip->device = grip->copy->device;
        grip->copy->users++;
        grip->copy->last = ++now;
        grip->copy->challenged = false;
    }
    pthread_mutex_unlock(&lock);
}

void ofl_resident_leave(const struct ofl_started *started, const struct ofl_buffer *operand, bool written, bool success,
                        struct ofl_grip *grip)
{
    struct ofl_resident *copy = grip->copy;
    bool worthwhile = true;
    ofl_selection_free(&grip->changed);
    if (copy == NULL && !(written && success && is_eligible(operand))) {
        return;
    }
    pthread_mutex_lock(&lock);
    if (copy != NULL) {
        copy->users--;
        copy->alone = false;
        if (success && written) {
            double begin = ofl_clock();
            copy->protected = ofl_watch_protect(copy->pages);
            copy->reads = 0;
            worthwhile = 2 * (ofl_clock() - begin) * copy_rate < (double)copy->bytes || keeps_all();
        }
        if (!success || !copy->protected || !worthwhile || copy->given_up) {
            give_up(started, copy);
        }
    }
    if (written && success && is_wanted()) {
        struct ofl_sighting *sighting = ofl_sighting_of(operand);
        if (!worthwhile) {
            ofl_sighting_mistaken(sighting);
        }
        ofl_sighting_written(sighting, operand, !is_taken(sighting->pages));
    }
    pthread_mutex_unlock(&lock);
    grip->copy = NULL;
}

bool ofl_resident_evict(const struct ofl_started *started)
{
    pthread_mutex_lock(&lock);
    bool released = evict(started);
    pthread_mutex_unlock(&lock);
    return released;
}

uint64_t ofl_resident_bytes(void)
{
    return atomic_load(&bytes_now);
}

static bool is_read(const struct ofl_buffer *operand)
{
    return operand->access == OFL_READ || operand->access == OFL_UPDATE;
}

void ofl_device_residency(const struct ofl_call *call, struct ofl_device_residency *out)
{
    *out = (struct ofl_device_residency){.resident = 0};
    for (int i = 0; i < call->operands; i++) {
        const struct ofl_buffer *operand = &call->operand[i];
        if (!is_read(operand) || !is_eligible(operand)) {
            continue;
        }
        double bytes = (double)compact_bytes(operand);
        pthread_mutex_lock(&lock);
        if (is_wanted()) {
            const struct ofl_resident *copy = find(operand);
            const struct ofl_sighting *sighting = copy == NULL ? ofl_sighting_find(operand) : NULL;
            out->resident += copy != NULL && copy->protected ? bytes : 0;
            if (sighting != NULL && ofl_sighting_repeats(sighting, operand)) {
                out->repeated += bytes;
                out->credit += sighting->credit;
            }
        }
        pthread_mutex_unlock(&lock);
    }
}

void ofl_device_residency_missed(const struct ofl_call *call, double seconds)
{
    for (int i = 0; i < call->operands; i++) {
        const struct ofl_buffer *operand = &call->operand[i];
        if (!is_eligible(operand)) {
            continue;
        }
        pthread_mutex_lock(&lock);
        if (is_wanted() && find(operand) == NULL) {
            struct ofl_sighting *sighting = ofl_sighting_of(operand);
            if (operand->access == OFL_READ) {
                ofl_sighting_read(sighting, operand, !is_taken(sighting->pages));
                sighting->credit += sighting->confirmed || sighting->tried ? seconds : 0;
            } else {
                ofl_sighting_written(sighting, operand, false);
            }
        }
        pthread_mutex_unlock(&lock);
    }
}

void ofl_device_residency_counts(struct ofl_residency_counts *out)
{
    pthread_mutex_lock(&lock);
    *out = counts;
    out->bytes_now = atomic_load(&bytes_now);
    out->works = is_wanted();
    pthread_mutex_unlock(&lock);
}

void ofl_resident_after_fork(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    copies = NULL; /* the parent's */
    counts = (struct ofl_residency_counts){.works = false};
    atomic_store(&bytes_now, 0);
    ofl_sightings_forget();
    ofl_watch_after_fork();
}
