/* Reader of the profile format, profile.h: a line at a time, first word first. */
#include "model/profile.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORDS = 8 };

struct word {
    const char *text;
    size_t length;
};

struct parser {
    struct ofl_profile *out;
    struct ofl_curve *curve; /* that point and surface lines belong to; NULL before the first */
    int line;
    bool ended;
    struct word rest; /* of the line, after its first word */
    struct word word[MAX_WORDS];
    int words; /* MAX_WORDS also where there are more */
    char *explanation;
    size_t size;
};

const char *ofl_place_name(enum ofl_place place)
{
    return place == OFL_ON_CPU ? "cpu" : "device";
}

const char *ofl_direction_name(enum ofl_direction direction)
{
    return direction == OFL_COPY_IN ? "in" : "out";
}

const char *ofl_host_memory_name(enum ofl_host_memory memory)
{
    static const char *const names[OFL_HOST_MEMORY_COUNT] = {"pageable", "pinned", "bulk", "commit"};
    return names[memory];
}

const char *ofl_flag_name(enum ofl_flag flag)
{
    static const char *const names[OFL_FLAG_COUNT] = {"right", "lower", "transposed", "second-transposed"};
    return names[flag];
}

const char *ofl_library_name(enum ofl_library library)
{
    return library == OFL_LIBRARY_BLAS ? "blas" : "solver";
}

__attribute__((format(printf, 2, 3))) static bool refuse(struct parser *parser, const char *format, ...)
{
    int used = snprintf(parser->explanation, parser->size, "line %d: ", parser->line);
    if (used > 0 && (size_t)used < parser->size) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(parser->explanation + used, parser->size - (size_t)used, format, arguments);
        va_end(arguments);
    }
    return false;
}

static bool is(const struct word *word, const char *text)
{
    return word->length == strlen(text) && memcmp(word->text, text, word->length) == 0;
}

bool ofl_parse_number(const char *text, size_t length, double *out)
{
    const char *end = text + length;
    double value = 0;
    int scale = 0, digits = 0;
    bool negative = text < end && *text == '-';
    text += negative || (text < end && *text == '+');
    for (bool point = false; text < end && ((*text >= '0' && *text <= '9') || (*text == '.' && !point)); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        value = value * 10 + (*text - '0');
        scale -= point;
        digits++;
    }
    if (digits == 0) {
        return false;
    }
    if (text < end && (*text == 'e' || *text == 'E')) {
        int exponent = 0, exponent_digits = 0;
        text++;
        bool minus = text < end && *text == '-';
        text += minus || (text < end && *text == '+');
        for (; text < end && *text >= '0' && *text <= '9'; text++, exponent_digits++) {
            exponent = exponent < 10000 ? exponent * 10 + (*text - '0') : exponent;
        }
        if (exponent_digits == 0) {
            return false;
        }
        scale += minus ? -exponent : exponent;
    }
    /* Dividing keeps 1e-3 and its like exact to the last digit. */
    value = scale < 0 ? value / pow(10, -scale) : value * pow(10, scale);
    *out = negative ? -value : value;
    return text == end;
}

/* A number that a machine can have: finite, and positive or, where allowed, zero. */
static bool number(struct parser *parser, int index, bool zero, double *out)
{
    const struct word *word = &parser->word[index];
    if (!ofl_parse_number(word->text, word->length, out)) {
        return refuse(parser, "'%.*s' is not a number", (int)word->length, word->text);
    }
    if (!isfinite(*out) || *out < 0 || (*out == 0 && !zero)) {
        return refuse(parser, "%.*s is not a possible value here", (int)word->length, word->text);
    }
    return true;
}

static bool expect_words(struct parser *parser, int words)
{
    if (parser->words != words) {
        return refuse(parser, "'%.*s' takes %d values, not %d", (int)parser->word[0].length, parser->word[0].text,
                      words - 1, parser->words - 1);
    }
    return true;
}

/* A key: the rest of the line, as it is. */
static bool copy_text(struct parser *parser, char to[OFL_PROFILE_KEY_SIZE])
{
    if (parser->rest.length >= OFL_PROFILE_KEY_SIZE) {
        return refuse(parser, "the text is longer than %d characters", OFL_PROFILE_KEY_SIZE - 1);
    }
    memcpy(to, parser->rest.text, parser->rest.length);
    to[parser->rest.length] = '\0';
    return true;
}

static bool read_cores(struct parser *parser)
{
    double cores;
    if (!expect_words(parser, 2) || !number(parser, 1, false, &cores)) {
        return false;
    }
    if (cores > 1e6 || cores != floor(cores)) {
        return refuse(parser, "not a possible number of cores");
    }
    parser->out->key.cores = (int)cores;
    return true;
}

static bool read_cpu(struct parser *parser)
{
    return copy_text(parser, parser->out->key.cpu);
}

static bool read_device(struct parser *parser)
{
    return copy_text(parser, parser->out->key.device);
}

static bool read_driver(struct parser *parser)
{
    return copy_text(parser, parser->out->key.driver);
}

static bool read_library(struct parser *parser)
{
    return copy_text(parser, parser->out->key.library);
}

static bool read_date(struct parser *parser)
{
    return copy_text(parser, parser->out->date);
}

static bool read_effort(struct parser *parser)
{
    if (!expect_words(parser, 2)) {
        return false;
    }
    parser->out->quick = is(&parser->word[1], "quick");
    return parser->out->quick || is(&parser->word[1], "full") || refuse(parser, "effort is 'full' or 'quick'");
}

const char *ofl_library_routine_name(enum ofl_library library)
{
    return library == OFL_LIBRARY_BLAS ? "blas-routine" : "solver-routine";
}

/* start SECONDS | start LIBRARY SECONDS | start LIBRARY-routine SECONDS */
static bool read_start(struct parser *parser)
{
    if (parser->words == 2) {
        return number(parser, 1, true, &parser->out->machine.start);
    }
    if (!expect_words(parser, 3)) {
        return false;
    }
    for (int i = 0; i < OFL_LIBRARY_COUNT; i++) {
        if (is(&parser->word[1], ofl_library_name((enum ofl_library)i))) {
            return number(parser, 2, true, &parser->out->machine.library[i]);
        }
        if (is(&parser->word[1], ofl_library_routine_name((enum ofl_library)i))) {
            return number(parser, 2, true, &parser->out->machine.routine[i]);
        }
    }
    return refuse(parser, "'%.*s' is no library of a device", (int)parser->word[1].length, parser->word[1].text);
}

/* overlap SHARE */
static bool read_overlap(struct parser *parser)
{
    double share;
    if (!expect_words(parser, 2) || !number(parser, 1, true, &share)) {
        return false;
    }
    parser->out->machine.serial = 1 - share;
    return share <= 1 || refuse(parser, "an overlap is from 0 to 1");
}

/* copy in|out pageable|pinned|bulk|commit FIXED RATE */
static bool read_copy(struct parser *parser)
{
    if (!expect_words(parser, 5)) {
        return false;
    }
    for (int d = 0; d < OFL_DIRECTION_COUNT; d++) {
        for (int h = 0; h < OFL_HOST_MEMORY_COUNT; h++) {
            struct ofl_line *line = &parser->out->machine.copy[d][h];
            if (is(&parser->word[1], ofl_direction_name((enum ofl_direction)d)) &&
                is(&parser->word[2], ofl_host_memory_name((enum ofl_host_memory)h))) {
                return number(parser, 3, true, &line->fixed) && number(parser, 4, false, &line->rate);
            }
        }
    }
    return refuse(parser, "a copy is 'in' or 'out', 'pageable', 'pinned', 'bulk' or 'commit'");
}

/* curve cpu|device ROUTINE */
static bool read_curve(struct parser *parser)
{
    if (!expect_words(parser, 3)) {
        return false;
    }
    int place = is(&parser->word[1], "cpu") ? OFL_ON_CPU : is(&parser->word[1], "device") ? OFL_ON_DEVICE : -1;
    const struct word *routine = &parser->word[2];
    static const char letters[] = "sdcz";
    const char *letter = memchr(letters, routine->text[0], OFL_PRECISION_COUNT);
    enum ofl_operation operation = ofl_operation_find(routine->text + 1, routine->length - 1);
    if (place < 0) {
        return refuse(parser, "a curve is of 'cpu' or 'device'");
    }
    if (letter == NULL || !ofl_operation_has(operation, (enum ofl_precision)(letter - letters))) {
        return refuse(parser, "'%.*s' is no routine that this version knows", (int)routine->length, routine->text);
    }
    parser->curve = &parser->out->machine.curve[place][operation][letter - letters];
    return parser->curve->points == 0 || refuse(parser, "the curve is there twice");
}

/* Whether a line stands below a curve's. */
static bool in_curve(struct parser *parser)
{
    return parser->curve != NULL || refuse(parser, "a line of a curve before the first curve");
}

/* point WORK SPEED */
static bool read_point(struct parser *parser)
{
    struct ofl_curve *curve = parser->curve;
    if (!in_curve(parser)) {
        return false;
    }
    if (curve->points == OFL_CURVE_POINTS) {
        return refuse(parser, "more than %d points", OFL_CURVE_POINTS);
    }
    struct ofl_point *point = &curve->point[curve->points];
    if (!expect_words(parser, 3) || !number(parser, 1, false, &point->work) ||
        !number(parser, 2, false, &point->speed)) {
        return false;
    }
    if (curve->points > 0 && point->work <= point[-1].work) {
        return refuse(parser, "points must be in order of increasing work");
    }
    curve->points++;
    return true;
}

/* Three costs. */
static bool read_three(struct parser *parser, double out[3])
{
    return expect_words(parser, 4) && number(parser, 1, true, &out[0]) && number(parser, 2, true, &out[1]) &&
           number(parser, 3, true, &out[2]);
}

/* surface MN MK NK */
static bool read_surface(struct parser *parser)
{
    return in_curve(parser) && read_three(parser, parser->curve->surface);
}

/* edge M N K */
static bool read_edge(struct parser *parser)
{
    return in_curve(parser) && read_three(parser, parser->curve->edge);
}

/* flag NAME FACTOR */
static bool read_flag(struct parser *parser)
{
    if (!in_curve(parser) || !expect_words(parser, 3)) {
        return false;
    }
    for (int i = 0; i < OFL_FLAG_COUNT; i++) {
        if (is(&parser->word[1], ofl_flag_name((enum ofl_flag)i))) {
            return number(parser, 2, false, &parser->curve->flag[i]);
        }
    }
    return refuse(parser, "'%.*s' is no flag of a curve", (int)parser->word[1].length, parser->word[1].text);
}

/* near M N K FACTOR */
static bool read_near(struct parser *parser)
{
    double value[4];
    if (!in_curve(parser) || !expect_words(parser, 5)) {
        return false;
    }
    if (parser->curve->nears == OFL_CURVE_NEAR) {
        return refuse(parser, "more than %d calls near a curve", OFL_CURVE_NEAR);
    }
    for (int i = 0; i < 4; i++) {
        if (!number(parser, i + 1, false, &value[i])) {
            return false;
        }
    }
    struct ofl_near *near = &parser->curve->near[parser->curve->nears++];
    *near = (struct ofl_near){{(float)log(value[0]), (float)log(value[1]), (float)log(value[2])}, (float)log(value[3])};
    return true;
}

static bool read_end(struct parser *parser)
{
    parser->ended = true;
    return expect_words(parser, 1);
}

static const struct {
    const char *word;
    bool (*read)(struct parser *parser);
} statements[] = {
    {"cpu", read_cpu},         {"cores", read_cores},     {"device", read_device}, {"driver", read_driver},
    {"library", read_library}, {"date", read_date},       {"effort", read_effort}, {"start", read_start},
    {"copy", read_copy},       {"overlap", read_overlap}, {"curve", read_curve},   {"point", read_point},
    {"surface", read_surface}, {"edge", read_edge},       {"flag", read_flag},     {"near", read_near},
    {"end", read_end},
};

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Splits a line into parser->word and parser->rest. */
static void split(struct parser *parser, const char *at, const char *end)
{
    parser->words = 0;
    parser->rest = (struct word){end, 0};
    while (end > at && is_space(end[-1])) {
        end--;
    }
    while (at < end && parser->words < MAX_WORDS) {
        while (is_space(*at)) {
            at++;
        }
        if (parser->words == 1) {
            parser->rest = (struct word){at, (size_t)(end - at)};
        }
        const char *begin = at;
        while (at < end && !is_space(*at)) {
            at++;
        }
        parser->word[parser->words++] = (struct word){begin, (size_t)(at - begin)};
    }
}

static bool read_line(struct parser *parser, const char *at, const char *end)
{
    if (memchr(at, '\0', (size_t)(end - at)) != NULL) {
        return refuse(parser, "a zero byte: this is not a text");
    }
    split(parser, at, end);
    if (parser->words == 0 || parser->word[0].text[0] == '#') {
        return true;
    }
    if (parser->ended) {
        return refuse(parser, "text after 'end'");
    }
    for (size_t i = 0; i < sizeof statements / sizeof *statements; i++) {
        if (is(&parser->word[0], statements[i].word)) {
            return statements[i].read(parser);
        }
    }
    return refuse(parser, "'%.*s' is no word of a profile",
                  (int)(parser->word[0].length < 40 ? parser->word[0].length : 40), parser->word[0].text);
}

/* gpu-offload profile VERSION */
static bool read_first_line(struct parser *parser, const char *at, const char *end)
{
    double version;
    split(parser, at, end);
    if (parser->words != 3 || !is(&parser->word[0], "gpu-offload") || !is(&parser->word[1], "profile") ||
        !ofl_parse_number(parser->word[2].text, parser->word[2].length, &version)) {
        return refuse(parser, "this is not a gpu-offload profile");
    }
    if (version != OFL_PROFILE_VERSION) {
        return refuse(parser, "the profile has format version %.*s, this program reads version %d",
                      (int)(parser->word[2].length < 20 ? parser->word[2].length : 20), parser->word[2].text,
                      OFL_PROFILE_VERSION);
    }
    return true;
}

bool ofl_profile_parse(const char *text, size_t length, struct ofl_profile *out, char *explanation, size_t size)
{
    struct parser parser = {.out = out, .explanation = explanation, .size = size};
    memset(out, 0, sizeof *out);
    const char *end = text + length;
    for (const char *at = text; at < end;) {
        const char *line_end = memchr(at, '\n', (size_t)(end - at));
        line_end = line_end != NULL ? line_end : end;
        parser.line++;
        if (!(parser.line == 1 ? read_first_line(&parser, at, line_end) : read_line(&parser, at, line_end))) {
            return false;
        }
        at = line_end < end ? line_end + 1 : end;
    }
    if (parser.line == 0) {
        return refuse(&parser, "the profile is empty");
    }
    if (!parser.ended) {
        return refuse(&parser, "the profile is cut off: its last line is not 'end'");
    }
    return true;
}

static bool same_text(const char *what, const char *profile, const char *here, char *explanation, size_t size)
{
    if (*profile == '\0' || *here == '\0' || strcmp(profile, here) == 0) {
        return true;
    }
    snprintf(explanation, size, "it was made with the %s '%s', here is '%s'", what, profile, here);
    return false;
}

bool ofl_profile_matches(const struct ofl_profile *profile, const struct ofl_profile_key *here, char *explanation,
                         size_t size)
{
    const struct ofl_profile_key *key = &profile->key;
    if (key->cores != 0 && here->cores != 0 && key->cores != here->cores) {
        snprintf(explanation, size, "it was made with %d cores, here are %d", key->cores, here->cores);
        return false;
    }
    return same_text("CPU", key->cpu, here->cpu, explanation, size) &&
           same_text("device", key->device, here->device, explanation, size) &&
           same_text("driver", key->driver, here->driver, explanation, size) &&
           same_text("BLAS library", key->library, here->library, explanation, size);
}
