/* SPDX-License-Identifier: Apache-2.0 */
/* Plain int8 average and max pool: any kernel size, stride, dilation and padding, dense layout, row
 * order, tap order direct.
 *
 * Pixels are produced in row-major order. For each of a pixel's channels in ascending order, its
 * taps, without those in padding, are read from the workspace in row-major order, and the byte is
 * written: each once, and nothing else in the arena. The host predicts from this what an output
 * placed too close to its input destroys.
 *
 * Padding is no part of a window: an average divides by the number of the other taps, and rounds
 * halves away from zero. A window has at least one tap (runner/shapes.c). Input and output have one
 * scale and one zero point, so that nothing is requantised, and the record's rounding does not
 * matter. */
#include "kernels/plain/window.h"
#include "port/placement.h"
#include "runner/kernels.h"

/* One channel's taps in the input: `step` bytes from one to the next, row_step from the end of a
 * row of taps to the next row. */
struct block {
    int32_t rows, columns;
    int32_t step, row_step;
};

ALWAYS_INLINE struct block block_of(const struct op_call *call, const struct window *window)
{
    const int32_t columns = window->columns.end - window->columns.first;
    const int32_t step = call->d_w * call->c_in;
    return (struct block){
        .rows = window->rows.end - window->rows.first,
        .columns = columns,
        .step = step,
        .row_step = call->d_h * call->w_in * call->c_in - columns * step,
    };
}

/* sum / count to nearest, halves away from zero, for a sum of count int8 values: the quotient of
 * |sum| + count / 2 by count, rounded down, is 128 at most, and eight steps of long division find
 * it, without a branch. The M0+ has no division. */
ALWAYS_INLINE int32_t divide_to_nearest(int32_t sum, int32_t count)
{
    const int32_t sign = sum >> 31;
    int32_t rest = (sum ^ sign) - sign + (count >> 1);
    int32_t quotient = 0;
    for (int32_t bit = 7; bit >= 0; bit--) {
        const int32_t part = count << bit;
        rest -= part;
        const int32_t too_much = rest >> 31;
        rest += part & too_much;
        quotient = 2 * quotient + 1 + too_much;
    }
    return (quotient ^ sign) - sign;
}

ALWAYS_INLINE int32_t average(const int8_t *x, const struct block *block)
{
    int32_t sum = 0;
    int32_t at = 0;
    for (int32_t rows = block->rows; rows > 0; rows--) {
        for (int32_t columns = block->columns; columns > 0; columns--) {
            sum += x[at];
            at += block->step;
        }
        at += block->row_step;
    }
    return divide_to_nearest(sum, block->rows * block->columns);
}

ALWAYS_INLINE int32_t maximum(const int8_t *x, const struct block *block)
{
    int32_t most = INT8_MIN;
    int32_t at = 0;
    for (int32_t rows = block->rows; rows > 0; rows--) {
        for (int32_t columns = block->columns; columns > 0; columns--) {
            most = x[at] > most ? x[at] : most;
            at += block->step;
        }
        at += block->row_step;
    }
    return most;
}

ALWAYS_INLINE void run_pool(const struct op_call *call, enum op_kind kind)
{
    int8_t *output = call->output;
    for (int32_t row = 0; row < call->h_out; row++) {
        for (int32_t column = 0; column < call->w_out; column++) {
            struct window window;
            plain_find_window(call, row, column, &window);
            const struct block block = block_of(call, &window);
            const int8_t *const x = call->input + window.input;
            for (int32_t channel = 0; channel < call->c_out; channel++) {
                const int32_t value = kind == OP_KIND_MAX_POOL ? maximum(x + channel, &block)
                                                               : average(x + channel, &block);
                const int32_t raised =
                    value < call->activation_min ? call->activation_min : value;
                *output++ =
                    (int8_t)(raised > call->activation_max ? call->activation_max : raised);
            }
        }
    }
}

#define KERNEL(name, KIND)                               \
    RAM_CODE("plain_" #name "_pool")                     \
    void plain_##name##_pool(const struct op_call *call) \
    {                                                    \
        run_pool(call, KIND);                            \
    }

KERNEL(average, OP_KIND_AVERAGE_POOL)
KERNEL(max, OP_KIND_MAX_POOL)
