/* SPDX-License-Identifier: Apache-2.0 */
/* int8 depthwise convolution for the Cortex-M0+, one channel after the other: kernels of 3, 5 and
 * 7, square, strides 1 and 2, any padding narrower than the kernel, multiplier 1. Made for an
 * output laid onto its input, base on base.
 *
 * For each channel in ascending order, for each output row from the top: the input rows of this
 * channel's field that have not been read yet are copied to a ring of k rows in scratch, ascending;
 * then the output row is written, four pixels at a time, in each four from right to left. So before
 * an output row is written all rows of its field are read, and no other; each output byte is
 * written once and nothing else in the arena.
 *
 * Packed constants: a packed_channel for each channel, then for each channel its k * k weights.
 * Scratch: the ring, of one word a scalar with the padding beside the image in it, the weights of a
 * channel as words, and the ring's rows, three times, so that there are k that follow each other
 * from any row on, or up to any row. */
#include "kernels/m0plus/depthwise_row.h"
#include "kernels/m0plus/m0plus.h"
#include "port/placement.h"

#ifdef __arm__

typedef int32_t __attribute__((may_alias)) word;
typedef int32_t *__attribute__((may_alias)) row_pointer;

/* The ring and how rows lie in it. */
struct ring {
    int32_t *words;
    int32_t *weights;
    row_pointer *rows;                        /* 3 k of them */
    int32_t phase_words, row_words;
};

/* Output rows of which all rows of taps are real: they follow each other. turns: by how many of its
 * rows the ring has turned behind the last of them, without whole turns. */
struct whole_rows {
    int32_t first, count;
    int32_t turns;
};

ALWAYS_INLINE int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Strides are 1 and 2: no division. */
ALWAYS_INLINE int32_t by_stride(const struct op_call *call, int32_t value)
{
    return value >> (call->s_w - 1);
}

ALWAYS_INLINE struct ring ring_of(const struct op_call *call)
{
    const int32_t k = call->k_w;
    const int32_t phase_words =
        (call->w_out + TILE - 1) / TILE * TILE + by_stride(call, k - 1);
    struct ring ring = {
        .words = (int32_t *)(word *)(void *)call->scratch,
        .phase_words = phase_words,
        .row_words = phase_words * call->s_w,
    };
    ring.weights = ring.words + k * ring.row_words;
    ring.rows = (row_pointer *)(void *)(ring.weights + k * k);
    return ring;
}

ALWAYS_INLINE struct whole_rows whole_rows_of(const struct op_call *call)
{
    const int32_t k = call->k_h;
    const int32_t first = by_stride(call, call->pad_top + call->s_h - 1);
    const int32_t room = call->h_in - k + call->pad_top;
    const int32_t end = room < 0 ? 0 : least(by_stride(call, room) + 1, call->h_out);
    struct whole_rows whole = {first, end - first, 0};
    for (int32_t row = 1; row < whole.count; row++) {
        whole.turns += call->s_h;
        whole.turns -= whole.turns >= k ? k : 0;
    }
    return whole;
}

ALWAYS_INLINE void prepare(const struct op_call *call, const struct ring *ring)
{
    const int32_t k = call->k_h;
    int32_t *row = ring->words;
    for (int32_t n = 0; n < k * ring->row_words; n++) {
        ring->words[n] = call->input_zero_point;
    }
    for (int32_t n = 0; n < k; n++) {
        ring->rows[n] = row;
        ring->rows[n + k] = row;
        ring->rows[n + 2 * k] = row;
        row += ring->row_words;
    }
}

/* The next row of the image to the ring's row. */
ALWAYS_INLINE void load_row(struct row *row, int32_t *ring_row, bool phases)
{
    int8_t *const to = (int8_t *)ring_row;
    row->to[0] = (int32_t *)(void *)(to + row->first[0]);
    row->to[1] = (int32_t *)(void *)(to + row->first[1]);
    if (phases) {
        m0plus_depthwise_load_2(row->from, row->pixel_bytes, row->to, row->input_columns);
    } else {
        m0plus_depthwise_load(row->from, row->pixel_bytes, row->to[0],
                              row->to[0] + row->input_columns);
    }
    row->from += row->input_row_bytes;
}

/* A channel's weights as words, in the order in which the row functions take them, and before[n]:
 * what the rows of taps before the n-th one add if all of them fall on padding. */
ALWAYS_INLINE void spread_weights(const struct op_call *call, const struct ring *ring,
                                  const int8_t *packed, const uint8_t *order,
                                  int32_t before[K_MAX + 1])
{
    int32_t *to = ring->weights;
    int32_t sum = 0;
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        before[k_y] = sum * call->input_zero_point;
        for (int32_t n = 0; n < call->k_w; n++) {
            const int32_t weight = packed[order[n]];
            sum += weight;
            *to++ = weight;
        }
        packed += call->k_w;
    }
    before[call->k_h] = sum * call->input_zero_point;
}

/* Bytes from a ring row's start to where a column of the image goes. */
ALWAYS_INLINE int32_t place_of(const struct op_call *call, const struct ring *ring,
                               int32_t column)
{
    const int32_t at = column + call->pad_left;
    const int32_t phase = at & (call->s_w - 1);
    return (phase * ring->phase_words + by_stride(call, at)) * (int32_t)sizeof(word);
}

/* What is the same for all channels. */
ALWAYS_INLINE void begin_row(struct row *row, const struct op_call *call, const struct ring *ring)
{
    const int32_t word_bytes = (int32_t)sizeof(word);
    const int32_t tiles = (call->w_out + TILE - 1) / TILE;
    const int32_t columns = call->w_out % TILE;
    const int32_t reach = (call->w_out - 1) * call->s_w + call->k_w - call->pad_left;
    row->odd_taps = word_bytes * (ring->phase_words - (call->k_w + 1) / 2 + 1 - TILE);
    row->pixel_bytes = call->c_out;
    row->last = (tiles - 1) * TILE * word_bytes;
    row->partial = columns == 0 ? NO_TILE : row->last;
    row->columns = columns;
    row->exact = exact_of(call);
    row->output_step = (call->w_out - tiles * TILE) * call->c_out;
    row->input_row_bytes = call->w_in * call->c_in;
    row->first[0] = place_of(call, ring, 0);
    row->first[1] = place_of(call, ring, 1);
    row->input_columns = least(call->w_in, reach);
}

/* A channel: its row, what rows of taps on padding add, where sums start without any. */
struct lane {
    struct row row;
    int32_t before[K_MAX + 1];
    int32_t start;
    int32_t rows_before;                      /* of ring.rows, behind the field's first row */
};

ALWAYS_INLINE void begin_channel(struct lane *lane, const struct op_call *call, int32_t channel)
{
    const struct packed_channel *const packed = &packed_channels(call)[channel];
    lane->start = packed->start;
    lane->row.scale = packed->scale;
    lane->row.low_value = packed->low_value;
    lane->row.high_value = packed->high_value;
    lane->row.from = call->input + channel;
    set_channel(&lane->row.exact, packed, &call->quants[channel]);
}

/* The row whose taps begin at input row `top`. */
ALWAYS_INLINE void place_row(const struct op_call *call, const struct ring *ring,
                             struct lane *lane, int32_t top, const uint32_t *entries)
{
    const int32_t k = call->k_h;
    const int32_t first = top < 0 ? -top : 0;
    const int32_t end = least(k, call->h_in - top);
    const int32_t rows = end > first ? end - first : 0;
    const int32_t real = rows == 0 ? 0 : lane->before[end] - lane->before[first];
    lane->row.start = lane->start + lane->before[k] - real;
    lane->row.weights = ring->weights + first * call->k_w;
    lane->row.entry = entries[k - rows];
    lane->rows_before = first + rows;
}

RAM_CODE("m0plus_depthwise_channel")
static void run_channel(const struct op_call *call, const struct ring *ring, struct lane *lane,
                        int8_t *output, const struct row_function *function,
                        const struct whole_rows *whole)
{
    const int32_t k = call->k_h;
    const int32_t h_in = call->h_in;
    const int32_t row_bytes = call->w_out * call->c_out;
    int32_t slot = 0;
    int32_t next = -call->pad_top;
    int32_t top = next;
    for (int32_t number = 0; number < call->h_out;) {
        for (; next < top + k; next++) {
            if ((uint32_t)next < (uint32_t)h_in) {
                load_row(&lane->row, ring->rows[slot], call->s_w != 1);
            }
            slot = slot + 1 == k ? 0 : slot + 1;
        }
        const int32_t count = number == whole->first && whole->count > 0 ? whole->count : 1;
        place_row(call, ring, lane, top, function->entries);
        lane->row.rows = &ring->rows[slot + lane->rows_before];
        lane->row.output = output;
        lane->row.left = count;
        function->run(&lane->row);
        output += row_bytes * count;
        number += count;
        top += call->s_h * count;
        if (count > 1) {
            slot += whole->turns;
            slot -= slot >= k ? k : 0;
            next = top - call->s_h + k;
        }
    }
}

/* functions: of strides 1 and 2. */
RAM_CODE("m0plus_depthwise_run")
static void run(const struct op_call *call, const struct row_function functions[2])
{
    const struct ring ring = ring_of(call);
    const struct whole_rows whole = whole_rows_of(call);
    const struct row_function function = functions[call->s_w - 1];
    const int8_t *packed = (const int8_t *)(packed_channels(call) + call->c_out);
    int8_t *const fourth = call->output + (TILE - 1) * call->c_out;
    struct lane lane;
    prepare(call, &ring);
    begin_row(&lane.row, call, &ring);
    for (int32_t channel = 0; channel < call->c_out; channel++) {
        begin_channel(&lane, call, channel);
        spread_weights(call, &ring, packed, function.order, lane.before);
        packed += call->k_h * call->k_w;
        run_channel(call, &ring, &lane, fourth + channel, &function, &whole);
    }
}

/* One for each size, so that a runner has the code of those alone that it needs. */
#define DEPTHWISE(k)                                      \
    RAM_CODE("m0plus_depthwise_" #k)                      \
    void m0plus_depthwise_##k(const struct op_call *call) \
    {                                                     \
        run(call, functions_##k);                         \
    }

DEPTHWISE(k3)
DEPTHWISE(k5)
DEPTHWISE(k7)

#endif
