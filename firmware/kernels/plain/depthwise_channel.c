/* SPDX-License-Identifier: Apache-2.0 */
/* Plain int8 depthwise convolution of one channel after the other: multiplier 1, dense layout, any
 * kernel size, stride, dilation and padding. Made for an output laid onto its input, base on base.
 *
 * For each channel in ascending order, for each output row from the top:
 *   1. Input rows of this channel, those of the row's receptive field that have not been read yet,
 *      are copied in ascending order, each from left to right, to a ring in scratch. The field is
 *      rows r * s_h - pad_top to r * s_h - pad_top + k_h_eff - 1, as far as they are in the image,
 *      with those between dilated taps: k_h_eff = (k_h - 1) * d_h + 1. So a row is read at most
 *      once, and rows that lie between two fields or below the last one are not read.
 *   2. The output row of this channel is computed from the ring and written from left to right.
 * Each output byte is written once and nothing else in the arena is. At any other distance from its
 * input the kernel does the same reads and writes: the host predicts what they destroy.
 *
 * The ring has k_h_eff rows of w_in bytes. Rounding is double or single; tap order gather, since
 * a row's taps are copied before its first write. */
#include "kernels/plain/finish.h"
#include "kernels/plain/window.h"
#include "port/placement.h"
#include "runner/kernels.h"

ALWAYS_INLINE int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* The last rows of one channel that were read. Input row next - n lies n slots before `slot`, for n
 * up to the rows read; rows that are skipped get no slot, and none before them is needed again. */
struct ring {
    int8_t *bytes;
    int32_t rows, row_bytes;
    int32_t next;                             /* the next input row to read */
    int32_t slot;                             /* of the ring, where it will go */
};

ALWAYS_INLINE void read_rows(struct ring *ring, const struct op_call *call, int32_t channel,
                             int32_t first, int32_t end)
{
    if (ring->next < first) {
        ring->next = first;
    }
    while (ring->next < end) {
        int32_t from = ring->next * call->w_in * call->c_in + channel;
        int8_t *const to = ring->bytes + ring->slot * ring->row_bytes;
        for (int32_t x = 0; x < call->w_in; x++) {
            to[x] = call->input[from];
            from += call->c_in;
        }
        ring->next++;
        ring->slot = ring->slot + 1 == ring->rows ? 0 : ring->slot + 1;
    }
}

/* One output row of a channel: its real rows of taps, and where the first of them is, as a row in
 * the ring and as an offset in the weights. No such row: any numbers. */
struct output_row {
    struct taps rows;
    int32_t slot;
    int32_t weights;
};

ALWAYS_INLINE struct output_row output_row_of(const struct ring *ring, const struct op_call *call,
                                              int32_t channel, int32_t y)
{
    const struct taps rows = plain_real_taps(y, call->d_h, call->k_h, call->h_in);
    const int32_t slot = ring->slot - (ring->next - (y + rows.first * call->d_h));
    return (struct output_row){
        .rows = rows,
        .slot = slot < 0 ? slot + ring->rows : slot,
        .weights = rows.first * call->k_w * call->c_in + channel,
    };
}

/* sum + sum of (x - zero_point) * w over the taps of one output scalar, modulo 2^32. x: of its
 * first column of taps, real or not. */
RAM_CODE("plain_depthwise_channel_dot")
static uint32_t ring_dot(uint32_t sum, const struct ring *ring, const struct op_call *call,
                         const struct output_row *row, int32_t x)
{
    const struct taps columns = plain_real_taps(x, call->d_w, call->k_w, call->w_in);
    const int32_t w_row_step = call->k_w * call->c_in;
    const int32_t w_row_bytes = (columns.end - columns.first) * call->c_in;
    const int32_t first_x = x + columns.first * call->d_w;
    int32_t w_row = row->weights + columns.first * call->c_in;
    int32_t slot = row->slot;
    for (int32_t rows = row->rows.end - row->rows.first; rows > 0; rows--) {
        const int8_t *const from = ring->bytes + slot * ring->row_bytes;
        const int32_t end = w_row + w_row_bytes;
        int32_t at_x = first_x;
        for (int32_t at_w = w_row; at_w != end; at_w += call->c_in) {
            sum += (uint32_t)((from[at_x] - call->input_zero_point) * call->weights[at_w]);
            at_x += call->d_w;
        }
        w_row += w_row_step;
        slot += call->d_h;
        slot -= slot >= ring->rows ? ring->rows : 0;
    }
    return sum;
}

ALWAYS_INLINE void run_channel(const struct op_call *call, int32_t channel, enum rounding rounding)
{
    struct ring ring = {
        .bytes = (int8_t *)call->scratch,
        .rows = (call->k_h - 1) * call->d_h + 1,
        .row_bytes = call->w_in,
    };
    const struct quant_record *const quant = &call->quants[channel];
    int8_t *output = call->output + channel;
    for (int32_t number = 0; number < call->h_out; number++) {
        const int32_t y = number * call->s_h - call->pad_top;
        read_rows(&ring, call, channel, y, least(y + ring.rows, call->h_in));
        const struct output_row row = output_row_of(&ring, call, channel, y);
        int32_t x = -call->pad_left;
        for (int32_t column = 0; column < call->w_out; column++) {
            const uint32_t sum = ring_dot((uint32_t)quant->bias, &ring, call, &row, x);
            *output = plain_finish(call, quant, sum, rounding);
            output += call->c_out;
            x += call->s_w;
        }
    }
}

RAM_CODE("plain_depthwise_channel")
static void run_depthwise_channel(const struct op_call *call, enum rounding rounding)
{
    for (int32_t channel = 0; channel < call->c_out; channel++) {
        run_channel(call, channel, rounding);
    }
}

#define KERNEL(rounding, ROUNDING)                                      \
    RAM_CODE("plain_depthwise_channel_" #rounding)                      \
    void plain_depthwise_channel_##rounding(const struct op_call *call) \
    {                                                                   \
        run_depthwise_channel(call, ROUNDING);                          \
    }

KERNEL(double, ROUNDING_DOUBLE)
KERNEL(single, ROUNDING_SINGLE)
