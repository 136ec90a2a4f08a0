/* SPDX-License-Identifier: Apache-2.0 */
/* Replays what a window's kernel reads and writes, scalar by scalar, for many small layers at once.
 *
 * One clock counts scalars written. Of each input scalar the clock at its last read is kept, of
 * each write its address; the debt is then the least distance from which on no write lands on a
 * scalar that is still to be read. It knows no formula and shares no code with the harness. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define NO_DEBT INT64_MIN

enum { ROW, COLUMN, REVERSE, HERRINGBONE, CHANNEL };
enum { GATHER, DIRECT, PIPELINED, RING };

/* As harness.bounds.batch.FIELDS. */
typedef struct {
    int64_t h_in, w_in, c_in, c_out, k_h, k_w, s_h, s_w, d_h, d_w, top, left, bottom, right;
} Layer;

/* pixels, channels: of a step; over_rows: do steps run on over the ends of rows. own_channel: each
 * output channel reads its own input channel alone. whole_pixel: taps are live until all of it is
 * written. */
typedef struct {
    int64_t padded, order, traversal, own_channel, whole_pixel, pixels, channels, over_rows;
} Way;

typedef struct {
    Layer g; /* over the input as it is stored */
    Way way;
    int64_t h_out, w_out, k_h_eff, n_in, n_out, written;
    int64_t *last;    /* [n_in] clock at the last read, 0: none that a write could harm */
    int64_t *address; /* [n_out] of each write */
    int64_t *input;   /* [h_in * w_in] place of a stored pixel, row-major */
    int64_t *turns;   /* [h_out * w_out] output pixels in order of processing */
    int64_t *place;   /* [h_out * w_out] of an output pixel in memory */
} Run;

static void *room(int64_t count)
{
    void *got = calloc((size_t)(count > 0 ? count : 1), sizeof(int64_t));
    if (got == NULL) {
        abort();
    }
    return got;
}

static void order_outputs(Run *run)
{
    int64_t n = 0, top = 0, left = 0;
    const int64_t h = run->h_out, w = run->w_out;
    int horizontal = w >= h;
    for (int64_t i = 0; i < h * w; i++) {
        switch (run->way.traversal) {
        case COLUMN: run->turns[i] = (i % h) * w + i / h; break;
        case REVERSE: run->turns[i] = h * w - 1 - i; break;
        default: run->turns[i] = i;
        }
    }
    while (run->way.traversal == HERRINGBONE && top < h && left < w) {
        if (horizontal) {
            for (int64_t c = left; c < w; c++) {
                run->turns[n++] = top * w + c;
            }
            top++;
        } else {
            for (int64_t r = top; r < h; r++) {
                run->turns[n++] = r * w + left;
            }
            left++;
        }
        horizontal = !horizontal;
    }
    for (int64_t i = 0; i < h * w; i++) {
        run->place[run->turns[i]] = run->way.traversal == REVERSE ? run->turns[i] : i;
    }
}

/* The stored pixel under a tap of an output pixel, row-major, or -1. */
static int64_t tap_pixel(const Run *run, int64_t pixel, int64_t i, int64_t j)
{
    const Layer *g = &run->g;
    const int64_t y = pixel / run->w_out * g->s_h + i * g->d_h - g->top;
    const int64_t x = pixel % run->w_out * g->s_w + j * g->d_w - g->left;
    return y < 0 || y >= g->h_in || x < 0 || x >= g->w_in ? -1 : y * g->w_in + x;
}

/* Herringbone stores the input in order of the last reader: never read, then by turn; ties
 * row-major. */
static void place_inputs(Run *run)
{
    const Layer *g = &run->g;
    const int64_t pixels = g->h_in * g->w_in, outputs = run->h_out * run->w_out;
    int64_t n = 0;
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        const int64_t down = pixel % g->w_in * g->h_in + pixel / g->w_in;
        run->input[pixel] = run->way.traversal == COLUMN ? down : pixel;
    }
    if (run->way.traversal != HERRINGBONE) {
        return;
    }
    int64_t *reader = room(pixels);
    for (int64_t turn = 0; turn < outputs; turn++) {
        for (int64_t tap = 0; tap < g->k_h * g->k_w; tap++) {
            const int64_t pixel = tap_pixel(run, run->turns[turn], tap / g->k_w, tap % g->k_w);
            if (pixel >= 0) {
                reader[pixel] = turn + 1;
            }
        }
    }
    for (int64_t turn = 0; turn <= outputs; turn++) {
        for (int64_t pixel = 0; pixel < pixels; pixel++) {
            if (reader[pixel] == turn) {
                run->input[pixel] = n++;
            }
        }
    }
    free(reader);
}

/* channel -1: all. */
static void read_field(Run *run, int64_t pixel, int64_t channel)
{
    const Layer *g = &run->g;
    for (int64_t tap = 0; tap < g->k_h * g->k_w; tap++) {
        const int64_t stored = tap_pixel(run, pixel, tap / g->k_w, tap % g->k_w);
        for (int64_t c = 0; stored >= 0 && c < g->c_in; c++) {
            if (channel < 0 || channel == c) {
                run->last[run->input[stored] * g->c_in + c] = run->written;
            }
        }
    }
}

static void write_scalar(Run *run, int64_t pixel, int64_t channel)
{
    run->address[run->written++] = run->place[pixel] * run->g.c_out + channel;
}

static void by_pixels(Run *run)
{
    const Layer *g = &run->g;
    const int64_t reverse = run->way.traversal == REVERSE;
    for (int64_t turn = 0; turn < run->h_out * run->w_out; turn++) {
        const int64_t pixel = run->turns[turn];
        if (run->way.order == GATHER) {
            read_field(run, pixel, -1);
        }
        for (int64_t n = 0; n < g->c_out; n++) {
            const int64_t channel = reverse ? g->c_out - 1 - n : n;
            if (run->way.order == DIRECT) {
                read_field(run, pixel,
                           run->way.own_channel ? channel / (g->c_out / g->c_in) : -1);
            }
            write_scalar(run, pixel, channel);
        }
        if (run->way.order == DIRECT && run->way.whole_pixel) {
            read_field(run, pixel, -1);
        }
    }
}

/* Rows of the field of output row `row` from `following` on; returns the row after them. */
static int64_t read_rows(Run *run, int64_t row, int64_t following, int64_t channel)
{
    const Layer *g = &run->g;
    const int64_t top = row * g->s_h - g->top;
    for (int64_t y = top > following ? top : following; y < top + run->k_h_eff; y++) {
        for (int64_t x = 0; y < g->h_in && x < g->w_in; x++) {
            for (int64_t c = 0; c < g->c_in; c++) {
                if (channel < 0 || channel == c) {
                    run->last[(y * g->w_in + x) * g->c_in + c] = run->written;
                }
            }
        }
        following = y + 1;
    }
    return following;
}

static void by_rows(Run *run)
{
    const int64_t by_channel = run->way.traversal == CHANNEL;
    for (int64_t channel = 0; channel < (by_channel ? run->g.c_in : 1); channel++) {
        int64_t following = 0;
        for (int64_t row = 0; row < run->h_out; row++) {
            following = read_rows(run, row, following, by_channel ? channel : -1);
            for (int64_t column = 0; column < run->w_out; column++) {
                if (by_channel) {
                    write_scalar(run, row * run->w_out + column, channel);
                }
                for (int64_t c = 0; !by_channel && c < run->g.c_out; c++) {
                    write_scalar(run, row * run->w_out + column, c);
                }
            }
        }
    }
}

static int64_t step_end(const Run *run, int64_t first)
{
    const int64_t all = run->h_out * run->w_out;
    const int64_t end = first + run->way.pixels;
    const int64_t limit = run->way.over_rows ? all : (first / run->w_out + 1) * run->w_out;
    return end < limit ? end : limit;
}

static void by_steps(Run *run)
{
    const int64_t all = run->h_out * run->w_out;
    const int64_t block = run->way.order == DIRECT ? run->way.channels : run->g.c_out;
    for (int64_t first = 0; first < all;) {
        const int64_t end = step_end(run, first);
        if (run->way.order == PIPELINED) {
            for (int64_t pixel = first == 0 ? 0 : end;
                 pixel < (end < all ? step_end(run, end) : all); pixel++) {
                read_field(run, pixel, -1);
            }
        }
        for (int64_t from = 0; from < run->g.c_out; from += block) {
            for (int64_t pixel = first; run->way.order != PIPELINED && pixel < end; pixel++) {
                read_field(run, pixel, -1);
            }
            for (int64_t pixel = first; pixel < end; pixel++) {
                for (int64_t c = from; c < from + block && c < run->g.c_out; c++) {
                    write_scalar(run, pixel, c);
                }
            }
        }
        first = end;
    }
}

static int64_t debt_of(const Run *run)
{
    int64_t *furthest = room(run->n_out);
    int64_t debt = NO_DEBT;
    const int64_t reverse = run->way.traversal == REVERSE;
    for (int64_t w = 0; w < run->n_out; w++) {
        const int64_t at = reverse ? -run->address[w] : run->address[w];
        furthest[w] = w > 0 && furthest[w - 1] > at ? furthest[w - 1] : at;
    }
    for (int64_t x = 0; x < run->n_in; x++) {
        if (run->last[x] > 0) {
            const int64_t reached = furthest[run->last[x] - 1];
            const int64_t needed =
                reverse ? run->n_out - run->n_in + reached + x + 1 : reached - x + 1;
            debt = needed > debt ? needed : debt;
        }
    }
    free(furthest);
    return debt;
}

static int64_t collides_at_zero(const Run *run)
{
    for (int64_t w = 0; w < run->n_out; w++) {
        if (run->address[w] < run->n_in && run->last[run->address[w]] > w) {
            return 1;
        }
    }
    return 0;
}

static int64_t judge_one(const Layer *layer, const Way *way)
{
    Run run;
    memset(&run, 0, sizeof run);
    run.g = *layer;
    run.way = *way;
    run.k_h_eff = (layer->k_h - 1) * layer->d_h + 1;
    const int64_t h_p = layer->h_in + layer->top + layer->bottom;
    const int64_t w_p = layer->w_in + layer->left + layer->right;
    run.h_out = (h_p - run.k_h_eff) / layer->s_h + 1;
    run.w_out = (w_p - (layer->k_w - 1) * layer->d_w - 1) / layer->s_w + 1;
    if (way->padded) {
        run.g.h_in = h_p;
        run.g.w_in = w_p;
        run.g.top = run.g.left = 0;
    }
    run.n_in = run.g.h_in * run.g.w_in * run.g.c_in;
    run.n_out = run.h_out * run.w_out * run.g.c_out;
    run.last = room(run.n_in);
    run.address = room(run.n_out);
    run.input = room(run.g.h_in * run.g.w_in);
    run.turns = room(run.h_out * run.w_out);
    run.place = room(run.h_out * run.w_out);
    order_outputs(&run);
    place_inputs(&run);
    if (way->traversal == CHANNEL || way->order == RING) {
        by_rows(&run);
    } else if (way->pixels > 0) {
        by_steps(&run);
    } else {
        by_pixels(&run);
    }
    int64_t debt = debt_of(&run);
    if (way->traversal == CHANNEL && debt != NO_DEBT && !collides_at_zero(&run)) {
        debt = 0;
    }
    free(run.last);
    free(run.address);
    free(run.input);
    free(run.turns);
    free(run.place);
    return debt;
}

/* debts: [count], as harness.liveness.debt has them, NO_DEBT for None. */
void judge(int64_t count, const Layer *layers, const Way *way, int64_t *debts)
{
    for (int64_t n = 0; n < count; n++) {
        debts[n] = judge_one(&layers[n], way);
    }
}
