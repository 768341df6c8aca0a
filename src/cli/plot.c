/* Pictures of speed curves; see plot.h. */
#include "cli/plot.h"

#include <math.h>
#include <string.h>

enum { COLUMNS = 60, ROWS = 12 };

/* What a picture shows: decades of work and speed. */
struct frame {
    double left, right, bottom, top; /* logarithms to base 10 */
};

static bool find_frame(const struct ofl_curve *cpu, const struct ofl_curve *device, struct frame *out)
{
    const struct ofl_curve *curves[] = {cpu, device};
    *out = (struct frame){INFINITY, -INFINITY, INFINITY, -INFINITY};
    for (int c = 0; c < 2; c++) {
        for (int i = 0; i < curves[c]->points; i++) {
            double x = log10(curves[c]->point[i].work), y = log10(curves[c]->point[i].speed);
            out->left = fmin(out->left, x);
            out->right = fmax(out->right, x);
            out->bottom = fmin(out->bottom, y);
            out->top = fmax(out->top, y);
        }
    }
    if (!isfinite(out->left) || !isfinite(out->bottom)) {
        return false;
    }
    out->left = floor(out->left);
    out->right = fmax(ceil(out->right), out->left + 1);
    out->bottom = floor(out->bottom);
    out->top = fmax(ceil(out->top), out->bottom + 1);
    return true;
}

static void draw(char grid[ROWS][COLUMNS], const struct frame *frame, const struct ofl_curve *curve, char mark)
{
    for (int x = 0; x < COLUMNS; x++) {
        double work = pow(10, frame->left + (frame->right - frame->left) * x / (COLUMNS - 1));
        if (curve->points == 0 || work < 0.999 * curve->point[0].work ||
            work > 1.001 * curve->point[curve->points - 1].work) {
            continue;
        }
        double y = (log10(ofl_curve_speed(curve, work)) - frame->bottom) / (frame->top - frame->bottom);
        int row = ROWS - 1 - (int)lround(y * (ROWS - 1));
        row = row < 0 ? 0 : row >= ROWS ? ROWS - 1 : row;
        grid[row][x] = grid[row][x] == ' ' || grid[row][x] == mark ? mark : '*';
    }
}

/* "1 GFLOP/s" for 9. */
static void print_decade(char *text, size_t size, double decade, const char *unit)
{
    static const char *const prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
    int power = (int)decade, prefix = power > 0 ? power / 3 : 0;
    prefix = prefix > 6 ? 6 : prefix;
    snprintf(text, size, "%g %s%s", pow(10, power - 3 * prefix), prefixes[prefix], unit);
}

void ofl_plot_terminal(FILE *out, const struct ofl_machine *machine, enum ofl_operation operation,
                       enum ofl_precision precision)
{
    const struct ofl_curve *cpu = &machine->curve[OFL_ON_CPU][operation][precision];
    const struct ofl_curve *device = &machine->curve[OFL_ON_DEVICE][operation][precision];
    struct frame frame;
    char grid[ROWS][COLUMNS], left[32], right[32], label[32];
    if (!find_frame(cpu, device, &frame)) {
        return;
    }
    memset(grid, ' ', sizeof grid);
    draw(grid, &frame, cpu, 'c');
    draw(grid, &frame, device, 'd');
    fprintf(out, "\n%c%s: speed over work (c CPU, d device, * both)\n", ofl_precision_letter(precision),
            ofl_operation_name(operation));
    for (int row = 0; row < ROWS; row++) {
        label[0] = '\0';
        if (row == 0 || row == ROWS - 1) {
            print_decade(label, sizeof label, row == 0 ? frame.top : frame.bottom, "FLOP/s");
        }
        int length = COLUMNS;
        while (length > 0 && grid[row][length - 1] == ' ') {
            length--;
        }
        fprintf(out, "%13s |%.*s\n", label, length, grid[row]);
    }
    print_decade(left, sizeof left, frame.left, "FLOP");
    print_decade(right, sizeof right, frame.right, "FLOP");
    fprintf(out, "%13s +", "");
    for (int x = 0; x < COLUMNS; x++) {
        fputc('-', out);
    }
    fprintf(out, "\n%14s%-*s%s\n", "", COLUMNS - (int)strlen(right) + 1, left, right);
}

/* ---- SVG ---- */

enum { WIDTH = 300, HEIGHT = 200, MARGIN = 40, ACROSS = 4 };

static void print_polyline(FILE *out, const struct frame *frame, const struct ofl_curve *curve, double x0, double y0,
                           const char *colour)
{
    if (curve->points == 0) {
        return;
    }
    fprintf(out, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour);
    for (int i = 0; i < curve->points; i++) {
        double x = (log10(curve->point[i].work) - frame->left) / (frame->right - frame->left);
        double y = (log10(curve->point[i].speed) - frame->bottom) / (frame->top - frame->bottom);
        fprintf(out, "%.1f,%.1f ", x0 + x * WIDTH, y0 + (1 - y) * HEIGHT);
    }
    fputs("\"/>\n", out);
}

static void print_picture(FILE *out, const struct ofl_machine *machine, int operation, int precision, int number)
{
    const struct ofl_curve *cpu = &machine->curve[OFL_ON_CPU][operation][precision];
    const struct ofl_curve *device = &machine->curve[OFL_ON_DEVICE][operation][precision];
    int row = number / ACROSS, column = number % ACROSS;
    double x0 = MARGIN + column * (WIDTH + 2 * MARGIN), y0 = 2 * MARGIN + row * (HEIGHT + 2 * MARGIN);
    char left[32], right[32], bottom[32], top[32];
    struct frame frame;
    if (!find_frame(cpu, device, &frame)) {
        return;
    }
    print_decade(left, sizeof left, frame.left, "FLOP");
    print_decade(right, sizeof right, frame.right, "FLOP");
    print_decade(bottom, sizeof bottom, frame.bottom, "FLOP/s");
    print_decade(top, sizeof top, frame.top, "FLOP/s");
    fprintf(out,
            "<rect x=\"%.0f\" y=\"%.0f\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"#888\"/>\n"
            "<text x=\"%.0f\" y=\"%.0f\" font-weight=\"bold\">%c%s</text>\n"
            "<text x=\"%.0f\" y=\"%.0f\">%s</text><text x=\"%.0f\" y=\"%.0f\">%s</text>\n"
            "<text x=\"%.0f\" y=\"%.0f\">%s</text><text x=\"%.0f\" y=\"%.0f\" text-anchor=\"end\">%s</text>\n",
            x0, y0, WIDTH, HEIGHT, x0, y0 - 6, ofl_precision_letter((enum ofl_precision)precision),
            ofl_operation_name((enum ofl_operation)operation), x0 + 4, y0 + 14, top, x0 + 4, y0 + HEIGHT - 6, bottom,
            x0, y0 + HEIGHT + 14, left, x0 + WIDTH, y0 + HEIGHT + 14, right);
    print_polyline(out, &frame, cpu, x0, y0, "#1f77b4");
    print_polyline(out, &frame, device, x0, y0, "#2ca02c");
}

/* Texts come from the profile: they may hold what XML reserves. */
static void print_escaped(FILE *out, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            fputs("&lt;", out);
            break;
        case '&':
            fputs("&amp;", out);
            break;
        default:
            fputc((unsigned char)*text < ' ' ? ' ' : *text, out);
        }
    }
}

void ofl_plot_svg(FILE *out, const struct ofl_machine *machine, const char *title)
{
    int pictures = 0;
    for (int pass = 0; pass < 2; pass++) {
        int number = 0;
        for (int operation = 0; operation < OFL_OPERATION_COUNT; operation++) {
            for (int p = 0; p < OFL_PRECISION_COUNT; p++) {
                if (machine->curve[OFL_ON_CPU][operation][p].points > 0 ||
                    machine->curve[OFL_ON_DEVICE][operation][p].points > 0) {
                    if (pass == 1) {
                        print_picture(out, machine, operation, p, number);
                    }
                    number++;
                }
            }
        }
        if (pass == 0) {
            pictures = number;
            int rows = (pictures + ACROSS - 1) / ACROSS;
            fprintf(out,
                    "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" "
                    "font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n"
                    "<text x=\"%d\" y=\"24\" font-size=\"16\">",
                    ACROSS * (WIDTH + 2 * MARGIN), MARGIN + rows * (HEIGHT + 2 * MARGIN) + MARGIN, MARGIN);
            print_escaped(out, title);
            fputs("</text>\n<text x=\"40\" y=\"44\"><tspan fill=\"#1f77b4\">CPU</tspan> "
                  "<tspan fill=\"#2ca02c\">device</tspan></text>\n",
                  out);
        }
    }
    fputs("</svg>\n", out);
}
