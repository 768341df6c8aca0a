/* Module information files: what is written can be read, and means the same; what is damaged or old is refused. */
#include "reading.h"

#include "fortran/meaning.h"
#include "fortran/module_file.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/ofl-modules-XXXXXX";
static struct reading reading;
static struct ofl_module_files files;

static const char module_text[] =
    "module heat ! comment\n"
    "use iso_fortran_env, only: wp => real64\n"
    "implicit none\nprivate\n"
    "integer, parameter, public :: n = 4\n"
    "include 'part.inc'\n"
    "interface\nmodule subroutine far(x)\nreal(wp), intent(inout) :: x\nend subroutine\nend interface\n"
    "public :: flux, far\ncontains\n"
    "pure real(wp) function flux(x)\nreal(wp), intent(in) :: x\nflux = 2 * x + n\nend function\n"
    "end module\n"
    "submodule (heat) solver\ncontains\nmodule procedure far\nx = 3 * x\nend procedure\nend submodule\n";

static const char user_text[] =
    "subroutine s(a)\nuse heat\nimplicit none\nreal(8) :: a\ncall far(a)\na = flux(a) + extra\n"
    "end subroutine\n";

static void write_file(const char *name, const char *text, size_t length)
{
    char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(text, 1, length, stream), length);
    assert_int_equal(fclose(stream), 0);
}

static char *read_file(const char *name, size_t *length)
{
    char path[200], *text = calloc(1, 100000);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *stream = fopen(path, "r");
    assert_non_null(stream);
    *length = fread(text, 1, 99999, stream);
    fclose(stream);
    return text;
}

static const char *const paths[] = {folder};

static void start(void)
{
    reading_start(&reading, OFL_FORM_FREE);
    reading.options.include_paths = paths;
    reading.options.include_path_count = 1;
    ofl_module_files_start(&files, &reading.modules, &reading.sources, reading.arena, folder, paths, 1);
}

static void parse(const char *text)
{
    reading_parse(&reading, text, strlen(text));
    char *messages = reading_messages(&reading);
    assert_string_equal(messages, "");
    free(messages);
}

static const struct ofl_unit *find(const struct ofl_unit *units, const char *name)
{
    for (; units != NULL; units = units->next) {
        if (strcmp(units->name.name->text, name) == 0) {
            return units;
        }
        const struct ofl_unit *inner = find(units->units, name);
        if (inner != NULL) {
            return inner;
        }
    }
    return NULL;
}

/* Compiles the module; returns the hash of flux's body. */
static uint64_t compile(const char *text)
{
    start();
    parse(text);
    ofl_scopes_build(reading.file, &reading.modules, &reading.diagnostics);
    ofl_module_files_note(&files, reading.file, &reading.options);
    write_file("heat.mod", "interface 1", 11);
    write_file("heat@solver.smod", "interface 2", 11);
    assert_true(ofl_module_files_write(&files));
    uint64_t hash = ofl_body_hash(&reading.modules, find(reading.file->units, "flux"));
    reading_end(&reading);
    return hash;
}

/* What `flux(a) + extra` means in a file that uses the module. */
static const struct ofl_meaning *use(void)
{
    start();
    parse(user_text);
    ofl_scopes_build(reading.file, &reading.modules, &reading.diagnostics);
    const struct ofl_stmt *stmt = reading.file->units->body.last;
    return ofl_meaning_of(&reading.modules, reading.file->units->scope, stmt->as.assign.value);
}

static void expect_problem(const char *problem)
{
    const struct ofl_meaning *meaning = use();
    assert_int_equal(meaning->kind, OFL_MEANS_UNKNOWN);
    assert_non_null(strstr(meaning->reason, "may come from module 'heat', which is not at hand"));
    if (strstr(meaning->reason, problem) == NULL) {
        assert_string_equal(meaning->reason, problem);
    }
    reading_end(&reading);
}

static int setup(void **state)
{
    (void)state;
    static const char part[] = "real(4), parameter, public :: extra = 0.5\n";
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    write_file("part.inc", part, strlen(part));
    return 0;
}

static int teardown(void **state)
{
    static const char *const names[] = {"part.inc", "heat.mod", "heat@solver.smod", "heat.ofl", "heat@solver.ofl"};
    char path[200];
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

static void test_missing(void **state)
{
    (void)state;
    expect_problem(
        "there is no heat.ofl in the folders of modules: compile the module's file with gpu-offload fc first");
}

static void test_round(void **state)
{
    (void)state;
    uint64_t hash = compile(module_text);
    const struct ofl_meaning *meaning = use();
    assert_int_equal(meaning->kind, OFL_MEANS_OPERATION);
    assert_string_equal(ofl_type_text(&reading.modules, meaning->type), "real(8)");
    struct ofl_stmt *stmt = reading.file->units->body.last;
    const struct ofl_call *call =
        ofl_meaning_of(&reading.modules, reading.file->units->scope, stmt->as.assign.value->as.operation.left)->call;
    assert_non_null(call->procedure->body);
    assert_true(call->procedure->is_pure);
    assert_int_equal(ofl_body_hash(&reading.modules, call->procedure->body), hash);
    struct ofl_place place = ofl_place_of(&reading.sources, call->procedure->body->span.begin);
    assert_string_equal(place.file, "t.f90");
    assert_int_equal(place.line, 14);
    /* the body of the separate procedure is in the submodule's file */
    for (stmt = reading.file->units->body.first; stmt->kind != OFL_STMT_CALL; stmt = stmt->next) {
    }
    call = ofl_action_of(&reading.modules, reading.file->units->scope, stmt)->call;
    assert_non_null(call);
    assert_non_null(call->procedure->body);
    reading_end(&reading);
}

static void test_body_hash(void **state)
{
    static const char changed[] =
        "module heat\nuse iso_fortran_env, only: wp => real64\ncontains\n"
        "pure real(wp) function flux(x)\nreal(wp), intent(in) :: x\n%s\nend function\nend module\n";
    char text[1000];
    uint64_t hashes[4];
    static const char *const bodies[] = {"flux = 2 * x + n", "FLUX=2*x   +&\n & N ! same", "flux = 3 * x + n",
                                         "flux = 2 * x"};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        snprintf(text, sizeof text, changed, bodies[i]);
        hashes[i] = compile(text);
    }
    assert_int_equal(hashes[0], hashes[1]);
    assert_int_not_equal(hashes[0], hashes[2]);
    assert_int_not_equal(hashes[0], hashes[3]);
}

static void test_damage(void **state)
{
    size_t length;
    (void)state;
    compile(module_text);
    char *text = read_file("heat.ofl", &length);
    write_file("heat.ofl", text, length - 20);
    expect_problem("is cut off: compile the module's file again");
    text[length - 10] ^= 1;
    write_file("heat.ofl", text, length);
    expect_problem("is damaged: compile the module's file again");
    text[length - 10] ^= 1;
    for (size_t at = 0; at < 120; at++) { /* no byte of the header can change unseen */
        char old = text[at];
        text[at] = old == '7' ? '8' : '7';
        write_file("heat.ofl", text, length);
        assert_int_equal(use()->kind, OFL_MEANS_UNKNOWN);
        reading_end(&reading);
        text[at] = old;
    }
    text[strlen("gpu-offload module information ")] = '9';
    write_file("heat.ofl", text, length);
    expect_problem("was written by another version of gpu-offload");
    write_file("heat.ofl", "", 0);
    expect_problem("is no module information file");
    free(text);
}

static void test_stale(void **state)
{
    (void)state;
    compile(module_text);
    write_file("heat.mod", "interface 3", 11);
    expect_problem("does not belong to the .mod file beside it");
    compile(module_text);
    assert_int_equal(use()->kind, OFL_MEANS_OPERATION);
    reading_end(&reading);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing), cmocka_unit_test(test_round), cmocka_unit_test(test_body_hash),
        cmocka_unit_test(test_damage),  cmocka_unit_test(test_stale),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
