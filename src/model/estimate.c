/* A machine from what the hardware says of itself.
 *
 * Efficiencies are round figures from experience with OpenBLAS on x86-64 and with CUDA's libraries;
 * they only have to be good enough that learning starts from the right side. */
#include "model/estimate.h"

#include <math.h>
#include <string.h>

/* Relative to gemm: the CPU library and the device's. */
static const struct {
    const char *name;
    double cpu, device;
} efficiencies[] = {
    {"gemm", 1.00, 1.00},  {"symm", 0.90, 0.80},  {"hemm", 0.90, 0.80},  {"syrk", 0.85, 0.80},  {"herk", 0.85, 0.80},
    {"syr2k", 0.85, 0.80}, {"her2k", 0.85, 0.80}, {"trmm", 0.85, 0.60},  {"trsm", 0.80, 0.50},  {"getrf", 0.65, 0.25},
    {"getrs", 0.60, 0.40}, {"gesv", 0.65, 0.25},  {"potrf", 0.65, 0.30}, {"potrs", 0.60, 0.40}, {"posv", 0.65, 0.30},
    {"geqrf", 0.45, 0.15}, {"ormqr", 0.55, 0.30}, {"unmqr", 0.55, 0.30}, {"orgqr", 0.45, 0.20}, {"ungqr", 0.45, 0.20},
    {"syev", 0.06, 0.02},  {"heev", 0.06, 0.02},  {"syevd", 0.10, 0.04}, {"heevd", 0.10, 0.04}, {"gesvd", 0.06, 0.01},
    {"gesdd", 0.10, 0.02}, {"gemmt", 0.85, 0.50}, {"getri", 0.60, 0.30}, {"potri", 0.50, 0.20}, {"trtri", 0.50, 0.20},
    {"gels", 0.45, 0.15},
};

double ofl_operation_efficiency(enum ofl_operation operation, enum ofl_place place)
{
    const char *name = ofl_operation_name(operation);
    for (size_t i = 0; i < sizeof efficiencies / sizeof *efficiencies; i++) {
        if (strcmp(efficiencies[i].name, name) == 0) {
            return place == OFL_ON_CPU ? efficiencies[i].cpu : efficiencies[i].device;
        }
    }
    return place == OFL_ON_CPU ? 0.25 : 0.05;
}

bool ofl_device_guess(const char *name, struct ofl_device_properties *out)
{
    static const struct {
        const char *part;
        double single, doubles, memory, link;
    } gpus[] = {
#define OFL_GPU(part, single, doubles, memory, link) {part, single, doubles, memory, link},
#include "model/gpus.def"
#undef OFL_GPU
    };
    *out = (struct ofl_device_properties){.multiprocessors = 0};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        if (strstr(name, gpus[i].part) != NULL) {
            out->flops_single = gpus[i].single;
            out->flops_double = gpus[i].doubles;
            out->memory_bandwidth = gpus[i].memory;
            out->link_bandwidth = gpus[i].link;
            return true;
        }
    }
    return false;
}

static double or_default(double value, double instead)
{
    return isfinite(value) && value > 0 ? value : instead;
}

/* The share of the peak that a product reaches, by the time it takes at the peak: a call costs
 * `latency` seconds whatever it does, and long ones reach `best` of the peak. */
static void set_gemm(struct ofl_curve *curve, double peak, double best, double latency, double element_bytes,
                     double bandwidth)
{
    static const double work[] = {1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13};
    curve->points = 0;
    for (size_t i = 0; i < sizeof work / sizeof *work; i++) {
        double speed = work[i] / (latency + work[i] / (peak * best));
        curve->point[curve->points++] = (struct ofl_point){work[i], speed};
    }
    /* The operands are read once, the result is read and written. */
    curve->surface[0] = 2 * element_bytes / bandwidth;
    curve->surface[1] = curve->surface[2] = element_bytes / bandwidth;
}

static void estimate_cpu(const struct ofl_cpu_properties *cpu, struct ofl_machine *out)
{
    double cores = or_default(cpu->cores, 4);
    double frequency = or_default(cpu->frequency, 2.5e9);
    double vector = or_default(cpu->vector_bytes, 32);
    double bandwidth = or_default(cpu->memory_bandwidth, 1e10 * (cores < 8 ? cores : 8));
    for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
        double real_bytes = p == OFL_S || p == OFL_C ? 4 : 8;
        /* Two vector units, each a multiplication and an addition a cycle. */
        double peak = cores * frequency * 4 * vector / real_bytes;
        set_gemm(&out->curve[OFL_ON_CPU][OFL_OP_gemm][p], peak, 0.75, 5e-6, ofl_precision_bytes((enum ofl_precision)p),
                 bandwidth);
    }
}

static void estimate_device(const struct ofl_device_properties *device, struct ofl_machine *out)
{
    static const struct ofl_device_properties unknown = {.multiprocessors = 0};
    device = device != NULL ? device : &unknown;
    /* A multiprocessor of the last ten years does at least 64 single multiply-adds a cycle at 1.2 GHz;
     * in double precision consumer devices do a sixty-fourth of that. */
    double single = or_default(device->flops_single, or_default(device->multiprocessors, 20) * 64 * 2 * 1.2e9);
    double doubles = or_default(device->flops_double, single / 64);
    double bandwidth = or_default(device->memory_bandwidth, 2e11);
    double link = or_default(device->link_bandwidth, 8e9);
    for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
        double peak = p == OFL_S || p == OFL_C ? single : doubles;
        set_gemm(&out->curve[OFL_ON_DEVICE][OFL_OP_gemm][p], peak, 0.75, 2e-5,
                 ofl_precision_bytes((enum ofl_precision)p), bandwidth);
    }
    /* Ordinary memory is copied through the CPU, at about 10 GB/s; pinned memory at four fifths of the link. */
    double pageable = 0.5 * link < 1e10 ? 0.5 * link : 1e10;
    for (int direction = 0; direction < OFL_DIRECTION_COUNT; direction++) {
        out->copy[direction][OFL_PAGEABLE] = (struct ofl_line){2e-5, pageable};
        out->copy[direction][OFL_PINNED] = (struct ofl_line){1e-5, 0.8 * link};
        /* Several threads: three times as fast as one, up to what a link and memory allow. */
        double bulk = fmin(3 * pageable, 0.6 * link);
        out->copy[direction][OFL_BULK] = (struct ofl_line){6e-5, bulk > pageable ? bulk : pageable};
    }
    out->copy[OFL_COPY_OUT][OFL_COMMIT] = (struct ofl_line){1e-5, 1.5e10};
    out->start = 0.5;
    out->library[OFL_LIBRARY_BLAS] = 0.1;
    out->library[OFL_LIBRARY_SOLVER] = 0.3;
    out->routine[OFL_LIBRARY_BLAS] = 0.005;
    out->routine[OFL_LIBRARY_SOLVER] = 0.02;
}

void ofl_machine_estimate(const struct ofl_cpu_properties *cpu, const struct ofl_device_properties *device,
                          struct ofl_machine *out)
{
    *out = (struct ofl_machine){.start = 0};
    estimate_cpu(cpu, out);
    estimate_device(device, out);
    ofl_machine_complete(out);
}
