/* Facts about this machine, from /proc and /sys. */
#include "profile/facts.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reads at most size - 1 bytes; the result is always a string. */
static bool read_text(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;
    text[0] = '\0';
    if (file < 0) {
        return false;
    }
    while (used < size - 1) {
        ssize_t more = read(file, text + used, size - 1 - used);
        if (more <= 0) {
            break;
        }
        used += (size_t)more;
    }
    close(file);
    text[used] = '\0';
    return used > 0;
}

/* Copies what follows "NAME :" in the first line that begins with NAME; blanks at both ends are dropped. */
static bool find_field(const char *text, const char *name, char *out, size_t size)
{
    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *end = strchrnul(line, '\n');
        if (strncmp(line, name, strlen(name)) == 0) {
            const char *at = memchr(line, ':', (size_t)(end - line));
            if (at != NULL) {
                at++;
                while (at < end && isspace((unsigned char)*at)) {
                    at++;
                }
                while (end > at && isspace((unsigned char)end[-1])) {
                    end--;
                }
                snprintf(out, size, "%.*s", (int)(end - at), at);
                return *out != '\0';
            }
        }
        line = *end == '\n' ? end + 1 : NULL;
    }
    return false;
}

/* The first processor's paragraph is enough; it may be long because of the flags. */
enum { CPU_TEXT = 16384 };

static void find_cpu(char *out, size_t size)
{
    char text[CPU_TEXT];
    /* x86 and POWER have names of their own for the field; Arm has only numbers. */
    static const char *const fields[] = {"model name", "cpu\t", "CPU part", "uarch"};
    if (!read_text("/proc/cpuinfo", text, sizeof text)) {
        return;
    }
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (find_field(text, fields[i], out, size)) {
            return;
        }
    }
}

static void find_gpu(struct ofl_profile_key *out)
{
    static const char folder[] = "/proc/driver/nvidia/gpus";
    char text[2048], path[512], first[256] = "";
    DIR *gpus = opendir(folder);
    if (gpus != NULL) {
        for (struct dirent *entry = readdir(gpus); entry != NULL; entry = readdir(gpus)) {
            if (entry->d_name[0] != '.' && (*first == '\0' || strcmp(entry->d_name, first) < 0)) {
                snprintf(first, sizeof first, "%s", entry->d_name);
            }
        }
        closedir(gpus);
    }
    snprintf(path, sizeof path, "%s/%s/information", folder, first);
    if (*first != '\0' && read_text(path, text, sizeof text)) {
        find_field(text, "Model", out->device, sizeof out->device);
    }
    /* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159  ...": the first word that begins with a digit
     * and has a point. */
    if (read_text("/proc/driver/nvidia/version", text, sizeof text)) {
        char *save = NULL;
        for (char *word = strtok_r(text, " \t\n", &save); word != NULL; word = strtok_r(NULL, " \t\n", &save)) {
            if (isdigit((unsigned char)word[0]) && strchr(word, '.') != NULL) {
                snprintf(out->driver, sizeof out->driver, "%.*s", OFL_PROFILE_KEY_SIZE - 1, word);
                break;
            }
        }
    }
}

void ofl_facts_key(bool gpu, struct ofl_profile_key *out)
{
    *out = (struct ofl_profile_key){.cores = 0};
    find_cpu(out->cpu, sizeof out->cpu);
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    out->cores = cores > 0 ? (int)cores : 0;
    if (gpu) {
        find_gpu(out);
    }
}

static int vector_bytes(const char *cpuinfo)
{
    if (strstr(cpuinfo, " avx512f") != NULL) {
        return 64;
    }
    if (strstr(cpuinfo, " avx2") != NULL || strstr(cpuinfo, " sve") != NULL) {
        return 32;
    }
    return 16;
}

void ofl_facts_cpu(struct ofl_cpu_properties *out)
{
    char text[CPU_TEXT], field[64];
    *out = (struct ofl_cpu_properties){.cores = 0};
    cpu_set_t allowed;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        out->cores = CPU_COUNT(&allowed);
    } else {
        long cores = sysconf(_SC_NPROCESSORS_ONLN);
        out->cores = cores > 0 ? (int)cores : 0;
    }
    /* Two hardware threads share one core's vector units. */
    if (read_text("/sys/devices/system/cpu/smt/active", text, sizeof text) && text[0] == '1' && out->cores > 1) {
        out->cores /= 2;
    }
    if (read_text("/proc/cpuinfo", text, sizeof text)) {
        out->vector_bytes = vector_bytes(text);
        if (find_field(text, "cpu MHz", field, sizeof field)) {
            out->frequency = strtol(field, NULL, 10) * 1e6;
        }
    }
    if (read_text("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", text, sizeof text)) {
        out->frequency = strtol(text, NULL, 10) * 1e3;
    }
}
