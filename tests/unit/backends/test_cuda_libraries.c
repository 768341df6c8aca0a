/* Where the CUDA backend looks for NVIDIA's libraries.  Copies of a small library, under a name that nothing
 * else has, are put into the places; each test is a process of its own. */
#include "backend.h"
#include "libraries.h"

#include <link.h>
#include <sys/stat.h>

int ofl_cuda_version; /* stands in for the driver's */

static char root[64];

static void copy_to(const char *folder, const char *file)
{
    char command[1024];
    snprintf(command, sizeof command, "mkdir -p '%s/%s' && cp '%s' '%s/%s/%s'", root, folder, MARKER, root, folder,
             file);
    CHECK(system(command) == 0);
}

static void set_root(const char *variable, const char *folder)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, folder);
    setenv(variable, path, 1);
}

/* Looks for libofltest; true if it was found there. */
static bool found_at(const char *folder, const char *file)
{
    char explanation[512] = "", path[512];
    enum ofl_reason reason;
    struct link_map *map;
    void *library = ofl_cuda_library_open("libofltest", "libofltestLt", 12, &reason, explanation, sizeof explanation);
    if (library == NULL) {
        fprintf(stderr, "%s\n", explanation);
        return false;
    }
    snprintf(path, sizeof path, "%s/%s/%s", root, folder, file);
    return reason == OFL_OK && dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && strcmp(map->l_name, path) == 0;
}

static void in_cuda_home(void)
{
    copy_to("home/lib64", "libofltest.so.12");
    copy_to("home/lib64", "libofltestLt.so.12");
    copy_to("env/lib/python3.11/site-packages/nvidia/test/lib", "libofltest.so.12");
    set_root("CUDA_HOME", "home");
    set_root("VIRTUAL_ENV", "env");
    ofl_cuda_version = 12040;
    CHECK(found_at("home/lib64", "libofltest.so.12"));
    CHECK(dlopen("libofltestLt.so.12", RTLD_NOW | RTLD_NOLOAD) == NULL); /* no soname: known by its path */
    char path[256];
    snprintf(path, sizeof path, "%s/home/lib64/libofltestLt.so.12", root);
    CHECK(dlopen(path, RTLD_NOW | RTLD_NOLOAD) != NULL); /* the companion came first */
}

static void in_wheels(void)
{
    copy_to("env/lib/python3.11/site-packages/nvidia/test/lib", "libofltest.so.13");
    set_root("VIRTUAL_ENV", "env");
    ofl_cuda_version = 13000;
    CHECK(found_at("env/lib/python3.11/site-packages/nvidia/test/lib", "libofltest.so.13"));
}

static void beside_python_modules(void)
{
    char path[256];
    copy_to("py/site-packages/numpy/core", "module.so");
    copy_to("py/site-packages/nvidia/test/lib", "libofltest.so.12");
    snprintf(path, sizeof path, "%s/py/site-packages/numpy/core/module.so", root);
    CHECK(dlopen(path, RTLD_NOW) != NULL);
    ofl_cuda_version = 12000;
    CHECK(found_at("py/site-packages/nvidia/test/lib", "libofltest.so.12"));
}

static void in_conda(void)
{
    copy_to("conda/lib", "libofltest.so.12");
    set_root("CONDA_PREFIX", "conda");
    ofl_cuda_version = 12000;
    CHECK(found_at("conda/lib", "libofltest.so.12"));
}

/* The driver's release first, then earlier ones, whatever the place. */
static void of_the_best_release(void)
{
    copy_to("home/lib64", "libofltest.so.12");
    copy_to("home/lib64", "libofltest.so.14");
    copy_to("env/lib/python3.11/site-packages/nvidia/test/lib", "libofltest.so.13");
    set_root("CUDA_HOME", "home");
    set_root("VIRTUAL_ENV", "env");
    ofl_cuda_version = 13020;
    CHECK(found_at("env/lib/python3.11/site-packages/nvidia/test/lib", "libofltest.so.13"));
}

static void only_for_newer_drivers(void)
{
    char explanation[512] = "";
    enum ofl_reason reason;
    copy_to("home/lib", "libofltest.so.13");
    set_root("CUDA_HOME", "home");
    ofl_cuda_version = 12040;
    CHECK(ofl_cuda_library_open("libofltest", NULL, 12, &reason, explanation, sizeof explanation) == NULL);
    CHECK(reason == OFL_DRIVER_TOO_OLD);
    CHECK(strstr(explanation, "libofltest.so.13 needs a driver for CUDA 13") != NULL);
    CHECK(strstr(explanation, "supports CUDA 12.4") != NULL && strstr(explanation, "update the driver") != NULL);
}

static void nowhere(void)
{
    char explanation[512] = "";
    enum ofl_reason reason;
    ofl_cuda_version = 12040;
    CHECK(ofl_cuda_library_open("libofltest", NULL, 12, &reason, explanation, sizeof explanation) == NULL);
    CHECK(reason == OFL_LIBRARY_MISSING);
    CHECK(strstr(explanation, "libofltest.so.12") != NULL && strstr(explanation, "set CUDA_HOME") != NULL);
}

static void damaged(void)
{
    char command[256];
    snprintf(command, sizeof command, "mkdir -p '%s/home/lib64' && echo no library >'%s/home/lib64/libofltest.so.12'",
             root, root);
    CHECK(system(command) == 0);
    set_root("CUDA_HOME", "home");
    copy_to("conda/lib", "libofltest.so.12");
    set_root("CONDA_PREFIX", "conda");
    ofl_cuda_version = 12000;
    CHECK(found_at("conda/lib", "libofltest.so.12"));
}

static void test_places(void **state)
{
    static void (*const tests[])(void) = {
        in_cuda_home, in_wheels, beside_python_modules, in_conda, of_the_best_release, only_for_newer_drivers,
        nowhere,      damaged};
    (void)state;
    unsetenv("CUDA_HOME");
    unsetenv("VIRTUAL_ENV");
    unsetenv("CONDA_PREFIX");
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++) {
        char command[128];
        strcpy(root, "/tmp/gpu-offload-test-XXXXXX");
        assert_non_null(mkdtemp(root));
        in_child(tests[i]);
        snprintf(command, sizeof command, "rm -r '%s'", root);
        assert_int_equal(system(command), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_places)};
    return cmocka_run_group_tests_name("cuda libraries", tests, NULL, NULL);
}
