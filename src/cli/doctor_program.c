/* doctor: what of a program can be intercepted, what not and why.
 *
 * Entry point: ofl_doctor_program.  The dynamic linker itself is asked which files the program maps (its --list
 * option, which runs nothing of the program), so search paths and caches are exactly its own.  A
 * Python interpreter is asked to import NumPy and SciPy and to name what it then has mapped: these
 * load their BLAS libraries while they run. */
#include "cli/doctor.h"
#include "cli/capture.h"
#include "cli/cli.h"
#include "cli/modules.h"
#include "cli/program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

static bool is_python(const char *path)
{
    return strncmp(base_name(path), "python", 6) == 0 || strncmp(base_name(path), "pypy", 4) == 0;
}

/* ---- Which files the program maps ---- */

static void add_needed(struct ofl_modules *modules, const char *executable)
{
    char option[] = "--list", linker[PATH_MAX] = "", file[PATH_MAX];
    ofl_modules_add(modules, executable);
    if (modules->count > 0 && modules->item[0].elf.interpreter != NULL) {
        snprintf(linker, sizeof linker, "%s", modules->item[0].elf.interpreter);
    }
    snprintf(file, sizeof file, "%s", executable);
    char *arguments[] = {linker, option, file, NULL};
    char *text = *linker != '\0' ? ofl_cli_capture(arguments, 30) : NULL;
    char *rest = text, *line;
    while (rest != NULL && (line = strsep(&rest, "\n")) != NULL) {
        /* "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f...)" */
        char *path = strstr(line, " => "), *name = line + strspn(line, "\t ");
        if (path != NULL && strcmp(path + 4, "not found") == 0) {
            ofl_doctor_line("missing library", "%.*s", (int)strcspn(name, " "), name);
        } else if (path != NULL) {
            path += 4;
            path[strcspn(path, " ")] = '\0';
            ofl_modules_add(modules, path);
        }
    }
    free(text);
}

/* Prints "package VERSION" for each package and "file PATH" for each shared object. */
static char python_script[] = "import importlib\n"
                              "for name in 'numpy', 'scipy.linalg':\n"
                              "    try:\n"
                              "        importlib.import_module(name)\n"
                              "        top = importlib.import_module(name.split('.')[0])\n"
                              "        print('package', top.__name__, top.__version__)\n"
                              "    except ImportError:\n"
                              "        print('package', name.split('.')[0], 'is not installed')\n"
                              "for line in open('/proc/self/maps'):\n"
                              "    if '.so' in line and '/' in line:\n"
                              "        print('file', line[line.index('/'):].rstrip())\n";

static void add_python(struct ofl_modules *modules, const char *interpreter)
{
    char option[] = "-c", name[PATH_MAX];
    snprintf(name, sizeof name, "%s", interpreter);
    char *arguments[] = {name, option, python_script, NULL};
    char *text = ofl_cli_capture(arguments, 60);
    if (text == NULL) {
        ofl_doctor_line("Python", "%s could not import NumPy in time, or failed", interpreter);
        ofl_doctor_advice("try: %s -c 'import numpy'", interpreter);
    }
    char *rest = text, *line;
    while (rest != NULL && (line = strsep(&rest, "\n")) != NULL) {
        char package[32], version[64];
        if (sscanf(line, "package %31s %63[^\n]", package, version) == 2) {
            ofl_doctor_line(strcmp(package, "numpy") == 0 ? "NumPy" : "SciPy", "%s", version);
        } else if (strncmp(line, "file ", 5) == 0) {
            ofl_modules_add(modules, line + 5);
        }
    }
    free(text);
}

/* ---- What they say ---- */

static bool imports(const struct ofl_modules *modules, const char *name)
{
    const struct ofl_elf *program = &modules->item[0].elf;
    for (size_t i = 0; modules->count > 0 && i < program->exported.count; i++) {
        if (program->exported.symbol[i].st_shndx == SHN_UNDEF &&
            strcmp(ofl_elf_symbol_name(&program->exported, i), name) == 0) {
            return true;
        }
    }
    return false;
}

static void report_provider(const struct ofl_module *module, bool executable)
{
    ofl_doctor_line("BLAS library", "%s", module->path);
    if (executable) {
        ofl_doctor_line("",
                        "the program holds and exports these routines itself: its own calls of them cannot be seen");
        ofl_doctor_advice("link the program with a shared BLAS library (-lopenblas or -lblas, no .a file)");
    }
}

static void report_caller(const struct ofl_module *module)
{
    const char *name = base_name(module->path);
    size_t all = module->intercepted + module->others;
    if (module->intercepted > 0) {
        ofl_doctor_line(name, "%zu of the %zu BLAS and LAPACK routines that it calls are intercepted: %s%s",
                        module->intercepted, all, module->examples, module->more_examples ? ", ..." : "");
    } else if (all > 0) {
        ofl_doctor_line(
            name, "none of the %zu BLAS and LAPACK routines that it calls is intercepted; they stay on the CPU", all);
    } else if (module->built_in != NULL) {
        ofl_doctor_line(name, "holds %s and maybe others itself, linked statically: its calls cannot be seen",
                        module->built_in);
        ofl_doctor_advice("link it with a shared BLAS library (-lopenblas or -lblas, no .a file)");
    }
}

static bool report_modules(struct ofl_modules *modules)
{
    if (!ofl_modules_classify(modules)) {
        ofl_doctor_line("libgpuoffload.so", "cannot be read: %s", strerror(errno));
        ofl_doctor_advice("install gpu-offload again");
        return false;
    }
    bool any = false, trampoline = false;
    for (size_t i = 0; i < modules->count; i++) {
        const struct ofl_module *module = &modules->item[i];
        trampoline = trampoline || strstr(base_name(module->path), "libblastrampoline") != NULL;
        if (module->provider) {
            report_provider(module, i == 0);
        }
    }
    for (size_t i = 0; i < modules->count; i++) {
        report_caller(&modules->item[i]);
        any = any || modules->item[i].intercepted > 0;
    }
    if (trampoline) {
        ofl_doctor_line("libblastrampoline",
                        "takes the addresses of BLAS routines with dlsym: calls through it cannot be seen");
        ofl_doctor_advice("use a package that is linked with BLAS directly");
    }
    return any;
}

/* Programs that reach BLAS in their own way. */
static bool report_known(const char *path)
{
    if (strncmp(base_name(path), "julia", 5) == 0) {
        ofl_doctor_line("Julia",
                        "reaches BLAS through libblastrampoline, which takes the addresses with dlsym: its calls "
                        "cannot be seen");
        ofl_doctor_advice("use Julia's own GPU packages");
        return true;
    }
    return false;
}

bool ofl_doctor_program(char **argv)
{
    struct ofl_program program;
    struct ofl_modules modules = {0};
    ofl_doctor_heading("Program %s", argv[0]);
    int error = ofl_program_examine(argv[0], &program);
    if (error != 0) {
        ofl_doctor_line("not usable", "%s", error == ENOENT ? "there is no such program" : "it cannot be executed");
        return false;
    }
    ofl_doctor_line("file", "%s%s%s%s", program.file, program.script ? ", a script for " : "",
                    program.script ? program.executable : "", "");
    if (program.reach != OFL_REACH_OK) {
        ofl_doctor_line("preload", "cannot see its calls because %s", ofl_reach_text(program.reach));
        ofl_doctor_advice("%s", ofl_reach_advice(program.reach));
        return false;
    }
    if (report_known(program.file)) {
        return false;
    }
    bool python = is_python(program.file) || is_python(program.executable);
    add_needed(&modules, program.executable);
    if (python) {
        add_python(&modules, is_python(program.file) ? program.file : program.executable);
    }
    bool any = report_modules(&modules);
    if (!any && !python &&
        (program.script || imports(&modules, "dlopen") || imports(&modules, "execve") || imports(&modules, "execvp") ||
         imports(&modules, "posix_spawn"))) {
        ofl_doctor_line("calls",
                        "none of the files that it is linked with calls BLAS; what it loads or starts while it "
                        "runs is followed");
        ofl_doctor_advice("see what is seen: gpu-offload run --summary -- %s ...", argv[0]);
        any = true;
    } else if (!any) {
        ofl_doctor_line("calls", "none of its files calls a BLAS routine that is intercepted");
        ofl_doctor_advice(python ? "install NumPy for this interpreter"
                                 : "link the program with a shared BLAS library (-lopenblas or -lblas)");
    }
    ofl_doctor_line("never seen", "routines that a program looks up with dlsym(handle, ...), libraries opened with "
                                  "RTLD_DEEPBIND, and what a BLAS library calls inside itself");
    ofl_modules_free(&modules);
    return any;
}
