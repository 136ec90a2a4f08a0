/* SPDX-License-Identifier: Apache-2.0 */
/* Plain int8 depthwise convolution over pixels: any kernel size, stride, dilation and padding, a
 * multiplier of 1 and more, dense and padded layout, row order.
 *
 * Output channel o reads input channel o / m alone, m = c_out / c_in. Pixels are produced in
 * row-major order and channels in ascending order, each byte written once and nothing else in the
 * arena: the host predicts from this what an output placed too close to its input destroys.
 *   gather: the taps of all channels of a pixel are copied to scratch, tap by tap in row-major
 *           order, padding as the input's zero point; then its channels are computed from the
 *           copy and written.
 *   direct: each output channel reads its taps from the workspace in row-major order, without
 *           those in padding, is written, and then the next one: an input channel is read m times.
 * In the padded layout stored padding is read as any other input. Rounding is double or single. */
#include "kernels/plain/bytes.h"
#include "kernels/plain/finish.h"
#include "kernels/plain/window.h"
#include "port/placement.h"
#include "runner/kernels.h"

/* A block of one channel's taps, in the input or in scratch, and of their weights: offsets of the
 * first tap, bytes from a tap to the next one and from a row of taps to the next one. */
struct block {
    int32_t rows, columns;
    int32_t x, x_step, x_row_step;
    int32_t w, w_step, w_row_step;
};

/* sum + sum of (x - zero_point) * w, modulo 2^32. */
RAM_CODE("plain_depthwise_dot")
static uint32_t block_dot(uint32_t sum, const int8_t *x, const int8_t *w,
                          const struct block *block, int32_t zero_point)
{
    const int32_t w_row_bytes = block->columns * block->w_step;
    int32_t x_row = block->x;
    int32_t w_row = block->w;
    for (int32_t rows = block->rows; rows > 0; rows--) {
        const int32_t end = w_row + w_row_bytes;
        int32_t at_x = x_row;
        for (int32_t at_w = w_row; at_w != end; at_w += block->w_step) {
            sum += (uint32_t)((x[at_x] - zero_point) * w[at_w]);
            at_x += block->x_step;
        }
        x_row += block->x_row_step;
        w_row += block->w_row_step;
    }
    return sum;
}

/* Of scratch, where every tap is: one row, since there taps follow each other evenly. */
ALWAYS_INLINE struct block block_of_scratch(const struct op_call *call)
{
    return (struct block){
        .rows = 1,
        .columns = call->k_h * call->k_w,
        .x_step = call->c_in,
        .w_step = call->c_out,
    };
}

ALWAYS_INLINE struct block block_in_place(const struct op_call *call, const struct window *window)
{
    return (struct block){
        .rows = window->rows.end - window->rows.first,
        .columns = window->columns.end - window->columns.first,
        .x = window->input,
        .x_step = call->d_w * call->c_in,
        .x_row_step = call->d_h * call->w_in * call->c_in,
        .w = (window->rows.first * call->k_w + window->columns.first) * call->c_out,
        .w_step = call->c_out,
        .w_row_step = call->k_w * call->c_out,
    };
}

ALWAYS_INLINE void gather(const struct op_call *call, const struct window *window)
{
    const int8_t padding = (int8_t)call->input_zero_point;
    const int32_t c_in = call->c_in;
    int32_t row = window->input;
    int8_t *to = (int8_t *)call->scratch;
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        if (k_y < window->rows.first || k_y >= window->rows.end) {
            to = fill(to, call->k_w * c_in, padding);
            continue;
        }
        int32_t from = row;
        to = fill(to, window->columns.first * c_in, padding);
        for (int32_t k_x = window->columns.first; k_x < window->columns.end; k_x++) {
            to = copy(to, call->input + from, c_in);
            from += call->d_w * c_in;
        }
        to = fill(to, (call->k_w - window->columns.end) * c_in, padding);
        row += call->d_h * call->w_in * c_in;
    }
}

/* All channels of a pixel. o / m is counted, not divided: c_in is added for each output channel,
 * and when c_out = m * c_in is reached the next input channel begins. */
ALWAYS_INLINE int8_t *write_pixel(const struct op_call *call, const int8_t *x,
                                  const struct block *block, int8_t *output,
                                  enum rounding rounding)
{
    int32_t counted = 0;
    for (int32_t channel = 0; channel < call->c_out; channel++) {
        const struct quant_record *const quant = &call->quants[channel];
        const uint32_t sum = block_dot((uint32_t)quant->bias, x, call->weights + channel, block,
                                       call->input_zero_point);
        *output++ = plain_finish(call, quant, sum, rounding);
        counted += call->c_in;
        if (counted == call->c_out) {
            counted = 0;
            x++;
        }
    }
    return output;
}

RAM_CODE("plain_depthwise_gather")
static void run_depthwise_gather(const struct op_call *call, enum rounding rounding)
{
    const struct block block = block_of_scratch(call);
    int8_t *output = call->output;
    for (int32_t row = 0; row < call->h_out; row++) {
        for (int32_t column = 0; column < call->w_out; column++) {
            struct window window;
            plain_find_window(call, row, column, &window);
            gather(call, &window);
            output = write_pixel(call, (const int8_t *)call->scratch, &block, output, rounding);
        }
    }
}

RAM_CODE("plain_depthwise_direct")
static void run_depthwise_direct(const struct op_call *call, enum rounding rounding)
{
    int8_t *output = call->output;
    for (int32_t row = 0; row < call->h_out; row++) {
        for (int32_t column = 0; column < call->w_out; column++) {
            struct window window;
            plain_find_window(call, row, column, &window);
            const struct block block = block_in_place(call, &window);
            output = write_pixel(call, call->input, &block, output, rounding);
        }
    }
}

#define KERNEL(order, rounding, ROUNDING)                                 \
    RAM_CODE("plain_depthwise_" #order "_" #rounding)                     \
    void plain_depthwise_##order##_##rounding(const struct op_call *call) \
    {                                                                     \
        run_depthwise_##order(call, ROUNDING);                            \
    }

KERNEL(gather, double, ROUNDING_DOUBLE)
KERNEL(gather, single, ROUNDING_SINGLE)
KERNEL(direct, double, ROUNDING_DOUBLE)
KERNEL(direct, single, ROUNDING_SINGLE)
