/* Failures on demand: the setting host_faults.
 *
 *   faults = fault { "," fault }
 *   fault  = step ":" number [ "+" ]
 *   step   = "allocate" | "copy" | "operation" | "launch" | "any" | "lost"
 *
 * "copy:3" lets the process's third copy fail, "copy:3+" that and all later ones.
 * "any" counts steps of all kinds; "lost:N" is the same, but the device stops
 * working for good.  The counts are atomic, so that the Nth step fails exactly once
 * whatever the threads do. */
#include "host.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { any = OFL_HOST_STEPS, lost_step, step_names, max_faults = 32 };

static const char *const names[step_names] = {
    [OFL_HOST_ALLOCATE] = "allocate",
    [OFL_HOST_COPY] = "copy",
    [OFL_HOST_OPERATION] = "operation",
    [OFL_HOST_LAUNCH] = "launch",
    [any] = "any",
    [lost_step] = "lost",
};

static struct fault {
    int step;
    unsigned long long first;
    bool and_later;
} faults[max_faults]; /* written by the start, constant afterwards */
static int fault_count;

static atomic_ullong counts[OFL_HOST_STEPS], all_steps;

/* fault; moves *text past it and its comma. */
static bool parse_fault(const char **text, struct fault *fault)
{
    size_t length = strcspn(*text, ":");
    for (fault->step = 0; fault->step < step_names; fault->step++) {
        if (strlen(names[fault->step]) == length && strncmp(names[fault->step], *text, length) == 0) {
            break;
        }
    }
    const char *number = *text + length + 1;
    if (fault->step == step_names || (*text)[length] != ':' || *number < '0' || *number > '9') {
        return false;
    }
    char *end;
    errno = 0;
    fault->first = strtoull(number, &end, 10);
    fault->and_later = *end == '+';
    end += fault->and_later;
    bool more = *end == ',' && end[1] != '\0';
    *text = end + more;
    return errno == 0 && fault->first > 0 && (more || *end == '\0');
}

bool ofl_host_faults_start(const char *text, char *explanation, size_t size)
{
    const char *at = text;
    fault_count = 0;
    while (*at != '\0') {
        if (fault_count == max_faults || !parse_fault(&at, &faults[fault_count])) {
            snprintf(explanation, size,
                     "GPU_OFFLOAD_HOST_FAULTS: '%s' is not STEP:N[+],... with at most %d of them, N from 1, and STEP "
                     "one of allocate, copy, operation, launch, any, lost",
                     text, max_faults);
            fault_count = 0;
            return false;
        }
        fault_count++;
    }
    return true;
}

bool ofl_host_step_fails(enum ofl_host_step step, bool *lost)
{
    bool fails = false;
    *lost = false;
    if (fault_count == 0) {
        return false;
    }
    unsigned long long number = atomic_fetch_add(&counts[step], 1) + 1, total = atomic_fetch_add(&all_steps, 1) + 1;
    for (int i = 0; i < fault_count; i++) {
        const struct fault *fault = &faults[i];
        if (fault->step != (int)step && fault->step != any && fault->step != lost_step) {
            continue;
        }
        unsigned long long reached = fault->step == (int)step ? number : total;
        if (reached == fault->first || (reached > fault->first && fault->and_later)) {
            fails = true;
            *lost = *lost || fault->step == lost_step;
        }
    }
    return fails;
}
