/* Finding intrinsic procedures; see intrinsics.h.  The hash table over the names is made once, when first asked. */
#include "fortran/intrinsics.h"

#include <string.h>

#define DOUBLE OFL_KIND_DOUBLE
#define ANY    OFL_KIND_ANY

static const struct ofl_intrinsic rows[] = {
#define OFL_INTRINSIC(id, name, class, result, shape, arguments)                                                       \
    {name,                                                                                                             \
     OFL_INTRINSIC_##id,                                                                                               \
     OFL_INTRINSIC_##class,                                                                                            \
     OFL_RESULT_##result,                                                                                              \
     OFL_SHAPE_##shape,                                                                                                \
     arguments,                                                                                                        \
     false,                                                                                                            \
     OFL_TYPE_ASSUMED,                                                                                                 \
     OFL_TYPE_ASSUMED,                                                                                                 \
     0,                                                                                                                \
     0},
#define OFL_SPECIFIC(name, id, argument, kind, result, result_kind)
#include "fortran/intrinsics.def"
#undef OFL_INTRINSIC
#undef OFL_SPECIFIC
#define OFL_INTRINSIC(id, name, class, result, shape, arguments)
#define OFL_SPECIFIC(name, id, argument, kind, result, result_kind)                                                    \
    {name,                                                                                                             \
     OFL_INTRINSIC_##id,                                                                                               \
     OFL_INTRINSIC_ELEMENTAL,                                                                                          \
     OFL_RESULT_NONE,                                                                                                  \
     OFL_SHAPE_ARGUMENTS,                                                                                              \
     NULL,                                                                                                             \
     true,                                                                                                             \
     OFL_TYPE_##argument,                                                                                              \
     OFL_TYPE_##result,                                                                                                \
     kind,                                                                                                             \
     result_kind},
#include "fortran/intrinsics.def"
#undef OFL_INTRINSIC
#undef OFL_SPECIFIC
};

enum { ROWS = sizeof rows / sizeof *rows, SLOTS = 1024 };
_Static_assert(ROWS < SLOTS / 2, "the hash table needs room");

static unsigned slot_of(const char *name)
{
    unsigned hash = 2166136261u;
    for (; *name != '\0'; name++) {
        hash = (hash ^ (unsigned char)*name) * 16777619u;
    }
    return hash & (SLOTS - 1);
}

const struct ofl_intrinsic *ofl_intrinsic_find(const char *name)
{
    static uint16_t slots[SLOTS]; /* a row's number + 1; the compiler has one thread */
    if (slots[slot_of(rows[0].name)] == 0) {
        for (unsigned i = 0; i < ROWS; i++) {
            unsigned slot = slot_of(rows[i].name);
            while (slots[slot] != 0) {
                slot = (slot + 1) & (SLOTS - 1);
            }
            slots[slot] = (uint16_t)(i + 1);
        }
    }
    for (unsigned slot = slot_of(name); slots[slot] != 0; slot = (slot + 1) & (SLOTS - 1)) {
        if (strcmp(rows[slots[slot] - 1].name, name) == 0) {
            return &rows[slots[slot] - 1];
        }
    }
    return NULL;
}

bool ofl_intrinsic_is_other(const char *name)
{
    static const char *const others[] = {
        "access",
        "alarm",
        "atomic_and",
        "atomic_cas",
        "atomic_fetch_add",
        "atomic_fetch_and",
        "atomic_fetch_or",
        "atomic_fetch_xor",
        "atomic_or",
        "atomic_xor",
        "backtrace",
        "besjn",
        "besyn",
        "chdir",
        "chmod",
        "co_reduce",
        "coshape",
        "ctime",
        "dbesjn",
        "dbesyn",
        "event_query",
        "failed_images",
        "fdate",
        "fget",
        "fgetc",
        "fnum",
        "fput",
        "fputc",
        "free",
        "fseek",
        "fstat",
        "ftell",
        "gerror",
        "get_team",
        "getcwd",
        "getenv",
        "getgid",
        "getlog",
        "getuid",
        "gmtime",
        "hostnm",
        "idate",
        "ierrno",
        "image_status",
        "isatty",
        "itime",
        "kill",
        "link",
        "lnblnk",
        "long",
        "lstat",
        "ltime",
        "malloc",
        "perror",
        "rename",
        "short",
        "signal",
        "stat",
        "stopped_images",
        "symlnk",
        "team_number",
        "ttynam",
        "umask",
        "unlink",
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        if (strcmp(others[i], name) == 0) {
            return true;
        }
    }
    return false;
}

const struct ofl_intrinsic *ofl_intrinsic_row(enum ofl_intrinsic_id id)
{
    return &rows[id];
}

/* "name:types[]=N..." with a `?` before it. */
static const char *formal(const char *text, struct ofl_formal *formal)
{
    *formal = (struct ofl_formal){.optional = *text == '?'};
    formal->name = text + (*text == '?');
    formal->name_length = (uint32_t)strcspn(formal->name, ":");
    formal->types = formal->name + formal->name_length + 1;
    size_t length = strcspn(formal->types, ",");
    for (const char *c = formal->types; c < formal->types + length; c++) {
        formal->array |= *c == '[';
        formal->variadic |= *c == '.';
        formal->same = *c == '=' ? (unsigned)(c[1] - '0') : formal->same;
    }
    text = formal->types + length;
    return text + strspn(text, ", ");
}

unsigned ofl_intrinsic_formals(const struct ofl_intrinsic *intrinsic, struct ofl_formal formals[OFL_MAX_FORMALS])
{
    const char *text = rows[intrinsic->id].arguments;
    unsigned count = 0;
    while (*text != '\0' && count < OFL_MAX_FORMALS) {
        text = formal(text, &formals[count++]);
    }
    return count;
}
