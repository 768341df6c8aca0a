/* Token-level mutation of Fortran texts.
 *
 * Bytes changed at random seldom get behind the lexer.  So here a text is taken as tokens and lines: they are removed,
 * doubled, exchanged, replaced by others of the text or by Fortran's own.  Everything follows from the seed. */
#include "mutate.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const char *const words[] = {
    "do",
    "do concurrent (",
    "end do",
    "enddo",
    "if (",
    ") then",
    "else",
    "else if (",
    "end if",
    "where (",
    "elsewhere",
    "end where",
    "forall (",
    "end forall",
    "select case (",
    "select type (",
    "select rank (",
    "case (",
    "case default",
    "type is (",
    "class is (",
    "class default",
    "rank (",
    "end select",
    "block",
    "end block",
    "associate (",
    "end associate",
    "critical",
    "end critical",
    "change team (",
    "end team",
    "program p",
    "end program",
    "module m",
    "end module",
    "submodule (a:b) c",
    "subroutine s",
    "end subroutine",
    "function f(x)",
    "end function",
    "result(r)",
    "contains",
    "end",
    "interface",
    "end interface",
    "abstract interface",
    "procedure",
    "module procedure",
    "generic ::",
    "final ::",
    "type",
    "type ::",
    "type, extends(t) ::",
    "end type",
    "enum, bind(c)",
    "enumerator ::",
    "end enum",
    "structure /s/",
    "end structure",
    "union",
    "map",
    "end map",
    "end union",
    "record /s/",
    "integer",
    "real(8)",
    "real*8",
    "complex",
    "logical",
    "character(len=*)",
    "character*(*)",
    "double precision",
    "class(*)",
    "type(t)",
    "type(*)",
    "dimension(:)",
    "codimension[*]",
    "allocatable",
    "pointer",
    "target",
    "parameter",
    "save",
    "intent(in)",
    "intent(in out)",
    "optional",
    "value",
    "volatile",
    "bind(c, name='x')",
    "private",
    "public",
    "pure",
    "elemental",
    "recursive",
    "use m, only: a => b",
    "import",
    "implicit none",
    "implicit real(a-h)",
    "common /c/ x",
    "namelist /n/ x",
    "equivalence (a, b)",
    "data x /1/",
    "entry e",
    "include 'x'",
    "call f(",
    "go to 10",
    "goto (1,2), i",
    "assign 10 to i",
    "if (x) 1, 2, 3",
    "return",
    "stop",
    "error stop",
    "exit",
    "cycle",
    "continue",
    "allocate (",
    "deallocate (",
    "nullify (",
    "read (",
    "write (*,*)",
    "print *,",
    "open (",
    "inquire (",
    "format (",
    "10",
    "20 continue",
    "sync all",
    "event post (",
    "local(",
    "local_init(",
    "shared(",
    "default(none)",
    "reduce(+:",
    "::",
    "=>",
    "=",
    "==",
    "/=",
    "<=",
    "**",
    "//",
    "(/",
    "/)",
    "[",
    "]",
    "(",
    ")",
    ",",
    ":",
    ";",
    "&",
    "&\n",
    "\n",
    "\n     1",
    "!$omp parallel do",
    "!$ ",
    "! x",
    "%",
    ".",
    "..",
    ".and.",
    ".not.",
    ".true.",
    ".op.",
    "1.e5",
    "1.eq.2",
    "4Habcd",
    "z'ff'",
    "'a''b'",
    "\"x\"",
    "'",
    "*",
    "*10",
    "1_8",
    "a%b(1)%c",
    "x[1]",
    "null()",
    "operator(+)",
    "assignment(=)",
    "read(formatted)",
    "(i, i = 1, 3)",
    "# 7 \"file.f90\"\n",
};
enum { WORDS = sizeof words / sizeof words[0] };

struct text {
    char *bytes;
    size_t size, most;
    unsigned seed;
};

static unsigned next_random(struct text *text)
{
    text->seed = text->seed * 1664525u + 1013904223u;
    return text->seed >> 8;
}

static bool name_byte(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* The token that holds a random byte: [*begin, *end). */
static void pick_token(struct text *text, size_t *begin, size_t *end)
{
    size_t at = text->size > 0 ? next_random(text) % text->size : 0;
    *begin = at;
    *end = at < text->size ? at + 1 : at;
    if (at < text->size && name_byte(text->bytes[at])) {
        while (*begin > 0 && name_byte(text->bytes[*begin - 1])) {
            (*begin)--;
        }
        while (*end < text->size && name_byte(text->bytes[*end])) {
            (*end)++;
        }
    }
}

static void pick_line(struct text *text, size_t *begin, size_t *end)
{
    size_t at = text->size > 0 ? next_random(text) % text->size : 0;
    *begin = *end = at;
    while (*begin > 0 && text->bytes[*begin - 1] != '\n') {
        (*begin)--;
    }
    while (*end < text->size && text->bytes[*end] != '\n') {
        (*end)++;
    }
    *end += *end < text->size;
}

/* Replaces [begin, end) by `count` bytes that do not lie in the text. */
static void replace(struct text *text, size_t begin, size_t end, const char *bytes, size_t count)
{
    size_t room = text->most - (text->size - (end - begin));
    count = count < room ? count : room;
    memmove(text->bytes + begin + count, text->bytes + end, text->size - end);
    memcpy(text->bytes + begin, bytes, count);
    text->size = text->size - (end - begin) + count;
}

static void copy_piece(struct text *text, size_t from, size_t to, size_t begin, size_t end)
{
    enum { LONGEST = 512 };
    char piece[LONGEST];
    size_t count = to - from < LONGEST ? to - from : LONGEST;
    memcpy(piece, text->bytes + from, count);
    replace(text, begin, end, piece, count);
}

static void mutate_once(struct text *text)
{
    size_t begin, end, from, to;
    pick_token(text, &begin, &end);
    switch (next_random(text) % 9) {
    case 0:
        replace(text, begin, end, "", 0);
        break;
    case 1:
        copy_piece(text, begin, end, end, end);
        break;
    case 2:
        pick_token(text, &from, &to);
        copy_piece(text, from, to, begin, end);
        break;
    case 3:
    case 4: {
        const char *word = words[next_random(text) % WORDS];
        replace(text, begin, end, word, strlen(word));
        break;
    }
    case 5: {
        const char *word = words[next_random(text) % WORDS];
        replace(text, begin, begin, word, strlen(word));
        break;
    }
    case 6:
        pick_line(text, &begin, &end);
        replace(text, begin, end, "", 0);
        break;
    case 7:
        pick_line(text, &from, &to);
        pick_line(text, &begin, &end);
        copy_piece(text, from, to, begin, begin);
        break;
    default: /* cut off */
        if (next_random(text) % 8 == 0) {
            text->size = begin;
        }
        break;
    }
}

size_t ofl_mutate_tokens(char *bytes, size_t size, size_t most, unsigned seed)
{
    struct text text = {bytes, size < most ? size : most, most, seed};
    for (unsigned count = 1 + next_random(&text) % 4; count > 0; count--) {
        mutate_once(&text);
    }
    return text.size;
}
