/* SPDX-License-Identifier: Apache-2.0 */
/* A row of a depthwise convolution inside a segment, from a ring of planes, one channel after the
 * other: four pixels at a time, in each four from right to left, each four read before it is written. A
 * row that takes the place of the topmost row of its window begins where that one's padding does, so that
 * it stays left of what is still read. */
#include <stddef.h>

#include "kernels/m0plus/segment.h"

#ifdef __arm__

enum { TILE = 4, K_MAX = 7 };

/* segment_window.S knows the offsets. rows: for each row of the window that exists its address, of the
 * first channel and at its padding, and its k weights; then a 0. step: bytes from an output pixel to the
 * next one, or, of columns, minus those from four pixels to the next ones. partial, last: bytes from a
 * row's start to the taps of the tile that is not full, or none, and of the last one; first: of the first
 * one. They are of rows of the first channel, and include the way to this one's; before it is set up, to
 * the channel before. next_output: of pixels the fourth one, of the channel that is set up next. */
struct window {
    int32_t start;
    const word *rows;
    uint32_t entry;
    int32_t step;
    struct scale scale;
    int8_t *output;
    int32_t partial, last, first;
    int32_t plane;
    int32_t columns;                          /* of the tile that is not full */
    uint32_t low_high;
    struct exact exact;
    const struct packed_channel *channel;
    const int8_t *packed;
    int32_t left;                             /* channels, with this one */
    int8_t *next_output;
    int32_t channel_step;
    uint32_t offset_bias;
    int32_t bytes_above;                      /* weights of rows above the image */
    int32_t real_rows;
    int32_t taps;
    int32_t outside;                          /* is a row of the window? */
    int32_t zero_point;
    const struct quant_record *quants_end;
    int32_t tile_step;
    void (*spread)(void);                     /* of the assembler */
    uint32_t flip;                            /* of low_high */
    int32_t quants_kept;
    const word *kept_quants_end;
    uint32_t reserved[3];
};

_Static_assert(offsetof(struct window, step) == 12, "STEP");
_Static_assert(offsetof(struct window, output) == 32, "OUTPUT");
_Static_assert(offsetof(struct window, columns) == 52, "COLUMNS");
_Static_assert(offsetof(struct window, exact) == 60, "EXACT");
_Static_assert(offsetof(struct window, channel) == 80, "CHANNEL");
_Static_assert(offsetof(struct window, bytes_above) == 104, "BYTES_ABOVE");
_Static_assert(offsetof(struct window, quants_end) == 124, "QUANTS_END");
_Static_assert(sizeof(struct window) == 160, "FRAME");
_Static_assert(sizeof(struct quant_record) == 12, "QUANT_BYTES");
_Static_assert(offsetof(struct window, quants_kept) == 140, "QUANTS_KEPT");

void m0plus_segment_spread_0(void);
void m0plus_segment_spread_3(void);
void m0plus_segment_spread_5(void);
void m0plus_segment_spread_7(void);

/* Where a tile's code is entered, by rows of taps that are left out, 0 to k. */
extern const uint32_t m0plus_segment_k3_s1_entries[];
extern const uint32_t m0plus_segment_k5_s1_entries[];
extern const uint32_t m0plus_segment_k7_s1_entries[];
extern const uint32_t m0plus_segment_k3_s2_entries[];
extern const uint32_t m0plus_segment_k5_s2_entries[];
extern const uint32_t m0plus_segment_k7_s2_entries[];

/* What code a window's size has. Not a table, which would lie in flash and be read anew with every row. */
ALWAYS_INLINE const uint32_t *entries_of(int32_t k, int32_t s)
{
    if (k == 3) {
        return s == 1 ? m0plus_segment_k3_s1_entries : m0plus_segment_k3_s2_entries;
    }
    if (k == 5) {
        return s == 1 ? m0plus_segment_k5_s1_entries : m0plus_segment_k5_s2_entries;
    }
    return s == 1 ? m0plus_segment_k7_s1_entries : m0plus_segment_k7_s2_entries;
}

ALWAYS_INLINE void (*spread_of(int32_t k))(void)
{
    if (k == 3) {
        return m0plus_segment_spread_3;
    }
    return k == 5 ? m0plus_segment_spread_5 : m0plus_segment_spread_7;
}

/* Rows of the window that exist, the first of them being `first` of k. */
struct real_rows {
    int32_t first, count;
};

ALWAYS_INLINE int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The addresses of the window's rows; their weights follow. */
ALWAYS_INLINE struct real_rows set_rows(word *rows, const struct segment *segment, int32_t number)
{
    const struct stage *const stage = &segment->stages[number];
    const int32_t k = stage->k_h;
    const int32_t top = stage->output.made * stage->s_h - stage->pad_top;
    const int32_t end = least(k, stage->h_in - top);
    const int32_t first = top < 0 ? -top : 0;
    const struct real_rows real = {first, end > first ? end - first : 0};
    for (int32_t y = top + first; y < top + first + real.count; y++) {
        const int8_t *const row = plain_segment_row(segment, number - 1, y) - stage->pad_left;
        *rows = (int32_t)(intptr_t)row;
        rows += 1 + k;
    }
    *rows = 0;
    return real;
}

/* Where the outputs go, and where their taps are. */
ALWAYS_INLINE void set_places(struct window *window, const struct segment *segment, int32_t number,
                              uint8_t *columns)
{
    const struct stage *const stage = &segment->stages[number];
    const int32_t tiles = (stage->w_out + TILE - 1) / TILE;
    window->plane = segment->stages[number - 1].output.channel_step;
    window->first = -window->plane;
    window->last = (tiles - 1) * TILE * stage->s_w - window->plane;
    window->columns = stage->w_out % TILE;
    window->partial = window->columns == 0 ? window->last + 1 : window->last;
    if (columns != NULL) {
        window->step = -stage->c_out * COLUMN_BYTES;
        window->next_output = (int8_t *)columns;
        window->channel_step = COLUMN_BYTES;
    } else {
        window->step = stage->output.pixel_step;
        window->next_output =
            row_of_planes(segment, number, stage->output.made) + (TILE - 1) * window->step;
        window->channel_step = stage->output.channel_step;
    }
}

/* What is to be made: stage `number`'s next row. rows: room for struct window's. */
struct row {
    const struct segment *segment;
    int32_t number;
    const struct constants *constants;
    uint8_t *columns;
    word *rows;
};

void m0plus_segment_window(const struct row *row);

/* Called by the assembler, on whose stack the window lies. */
void m0plus_segment_set_window(struct window *window, const struct row *row);

RAM_CODE("m0plus_segment_set_window")
void m0plus_segment_set_window(struct window *window, const struct row *row)
{
    const struct stage *const stage = &row->segment->stages[row->number];
    const int32_t k = stage->k_h;
    const bool biased = output_bias(stage) != 0;
    const struct real_rows real = set_rows(row->rows, row->segment, row->number);
    set_places(window, row->segment, row->number, row->columns);
    window->rows = row->rows;
    window->entry = entries_of(k, stage->s_w)[k - real.count];
    window->exact = exact_of_stage(stage);
    window->channel = packed_channels_of(stage);
    window->packed = (const int8_t *)(window->channel + stage->c_out);
    window->left = stage->c_out;
    window->offset_bias = biased ? (uint32_t)PLANE_BIAS << 24 : 0;
    window->flip = biased ? 0x8080 : 0;
    window->bytes_above = real.first * k;
    window->real_rows = real.count;
    window->taps = k * k;
    window->outside = real.count != k;
    window->zero_point = stage->input_zero_point;
    window->quants_end = stage->quants + stage->c_out;
    window->quants_kept = row->constants->quants_kept;
    window->kept_quants_end = kept_quants_end(row->constants);
    window->tile_step = TILE * stage->s_w;
    window->spread = real.count == 0 ? m0plus_segment_spread_0 : spread_of(k);
}

RAM_CODE("m0plus_segment_depthwise")
void m0plus_segment_depthwise(const struct segment *segment, int32_t number,
                              const struct constants *constants, uint8_t *columns)
{
    word rows[K_MAX * (1 + K_MAX) + 1 + K_MAX]; /* what is behind the 0 is loaded, too */
    const struct row row = {segment, number, constants, columns, rows};
    m0plus_segment_window(&row);
}

#endif
