/* SPDX-License-Identifier: Apache-2.0 */
/* A row of a depthwise convolution inside a segment, from a ring of planes, one channel after the
 * other: four pixels at a time, in each four from right to left, each four read before it is written. A row
 * that takes the place of the topmost row of its window begins where that one's padding does, so that
 * it stays left of what is still read. */
#include <stddef.h>

#include "kernels/m0plus/segment.h"

#ifdef __arm__

enum { TILE = 4, K_MAX = 7 };

typedef int32_t __attribute__((may_alias)) word;

/* segment_window.S knows the offsets. rows: for each row of the window that exists its address, of the
 * first channel and at its padding, and its k weights; then a 0. output: of the fourth pixel from here.
 * partial, last: bytes from a row's start to the taps of the tile that is not full, or none, and of the
 * last one; first: of the first one. They are of rows of the first channel, and include the way to this
 * one's. */
struct window_row {
    int32_t start;
    const word *rows;
    uint32_t entry;
    int32_t pixel_bytes;
    struct scale scale;
    int8_t *output;
    int32_t partial, last;
    int32_t columns;                          /* of the tile that is not full */
    int32_t low_value, high_value;
    struct exact exact;
    int32_t first;
};

_Static_assert(offsetof(struct window_row, pixel_bytes) == 12, "ROW_SCALE");
_Static_assert(offsetof(struct window_row, output) == 32, "ROW_OUTPUT");
_Static_assert(offsetof(struct window_row, columns) == 44, "ROW_COLUMNS");
_Static_assert(offsetof(struct window_row, exact) == 56, "ROW_EXACT");
_Static_assert(offsetof(struct window_row, first) == 76, "ROW_FIRST");

#define ROW_FUNCTION(name)              \
    void name(struct window_row *row); \
    extern const uint32_t name##_entries[]

ROW_FUNCTION(m0plus_segment_k3_s1);
ROW_FUNCTION(m0plus_segment_k5_s1);
ROW_FUNCTION(m0plus_segment_k7_s1);
ROW_FUNCTION(m0plus_segment_k3_s2);
ROW_FUNCTION(m0plus_segment_k5_s2);
ROW_FUNCTION(m0plus_segment_k7_s2);

int32_t m0plus_segment_spread(const int8_t *from, int32_t k, int32_t rows, word *to);

struct row_function {
    void (*run)(struct window_row *row);
    const uint32_t *entries;                  /* by rows of taps that are left out, 0 to k */
};

#define ROW_FUNCTION_OF(name) {m0plus_segment_##name, m0plus_segment_##name##_entries}

/* Of strides 1 and 2. */
static const struct row_function functions_k3[2] = {ROW_FUNCTION_OF(k3_s1), ROW_FUNCTION_OF(k3_s2)};
static const struct row_function functions_k5[2] = {ROW_FUNCTION_OF(k5_s1), ROW_FUNCTION_OF(k5_s2)};
static const struct row_function functions_k7[2] = {ROW_FUNCTION_OF(k7_s1), ROW_FUNCTION_OF(k7_s2)};

/* Rows of the window that exist, the first of them being `first` of k. */
struct real_rows {
    int32_t first, count;
};

ALWAYS_INLINE int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

ALWAYS_INLINE struct row_function function_of(const struct stage *stage)
{
    const struct row_function *const functions = stage->k_h == 3   ? functions_k3
                                                 : stage->k_h == 5 ? functions_k5
                                                                   : functions_k7;
    return functions[stage->s_w - 1];
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

/* What is the same for all channels. */
ALWAYS_INLINE void set_row(struct window_row *row, const struct segment *segment, int32_t number)
{
    const struct stage *const stage = &segment->stages[number];
    const int32_t tiles = (stage->w_out + TILE - 1) / TILE;
    row->pixel_bytes = stage->output.pixel_step;
    row->last = (tiles - 1) * TILE * stage->s_w;
    row->columns = stage->w_out % TILE;
    row->partial = row->columns == 0 ? row->last + 1 : row->last;
    row->first = 0;
    row->exact = exact_of_stage(stage);
}

/* What the rows of taps add that fall on padding, of which the sums know nothing. */
ALWAYS_INLINE int32_t outside(const struct stage *stage, const int8_t *packed, int32_t sum)
{
    const int8_t *const end = packed + stage->k_h * stage->k_w;
    for (; packed != end; packed++) {
        sum -= *packed;
    }
    return -sum * stage->input_zero_point;
}

RAM_CODE("m0plus_segment_depthwise")
void m0plus_segment_depthwise(const struct segment *segment, int32_t number)
{
    const struct stage *const stage = &segment->stages[number];
    const int32_t plane = segment->stages[number - 1].output.channel_step;
    const struct row_function function = function_of(stage);
    const struct packed_channel *channel = packed_channels_of(stage);
    const struct quant_record *quant = stage->quants;
    const int8_t *packed = (const int8_t *)(channel + stage->c_out);
    const int32_t k = stage->k_h;
    const int32_t bias = output_bias(stage);
    word rows[K_MAX * (1 + K_MAX) + 1 + K_MAX]; /* what is behind the 0 is loaded, too */
    int8_t *output =
        row_of_planes(segment, number, stage->output.made) + (TILE - 1) * stage->output.pixel_step;
    const struct real_rows real = set_rows(rows, segment, number);
    const int32_t bytes_above = real.first * k;
    struct window_row row;
    row.rows = rows;
    set_row(&row, segment, number);
    row.entry = function.entries[k - real.count];
    for (int32_t left = stage->c_out; left > 0; left--) {
        const int32_t sum = m0plus_segment_spread(packed + bytes_above, k, real.count, rows);
        row.start = channel->start - sum * PLANE_BIAS;
        if (real.count != k) {
            row.start += outside(stage, packed, sum);
        }
        row.scale = channel->scale;
        row.scale.offset = biased_offset(row.scale.offset, bias);
        row.low_value = channel->low_value + bias;
        row.high_value = channel->high_value + bias;
        set_channel(&row.exact, channel, quant);
        row.output = output;
        function.run(&row);
        row.first += plane;
        row.partial += plane;
        row.last += plane;
        channel++;
        quant++;
        packed += k * k;
        output += stage->output.channel_step;
    }
}

#endif
