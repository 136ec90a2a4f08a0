/* SPDX-License-Identifier: Apache-2.0 */
/* Plain int8 convolution: any kernel size, stride, dilation and padding, row order. The padding
 * may be stored with the input (the padded layout): then every tap is real.
 *
 * Pixels are produced in row-major order and channels in ascending order, each byte written once
 * and nothing else in the arena: the host predicts from this what an output placed too close to
 * its input destroys.
 *   gather: the receptive field of a pixel is copied to scratch, padding as the input's zero
 *           point; then its channels are computed from the copy and written.
 *   direct: each channel reads its taps from the workspace, is written, and then the next one.
 * Rounding is double or single, each with code of its own. conv_walk.c has everything else. */
#include "kernels/plain/bytes.h"
#include "kernels/plain/dot.h"
#include "kernels/plain/field.h"
#include "kernels/plain/finish.h"
#include "kernels/requantize.h"
#include "port/placement.h"
#include "runner/kernels.h"

ALWAYS_INLINE struct field field_of(const struct op_call *call, int32_t row, int32_t column)
{
    const int32_t y = row * call->s_h - call->pad_top;
    const int32_t x = column * call->s_w - call->pad_left;
    const struct taps rows = real_taps(y, call->d_h, call->k_h, call->h_in);
    const struct taps columns = real_taps(x, call->d_w, call->k_w, call->w_in);
    return field_of_taps(call, y, x, rows, columns);
}

ALWAYS_INLINE void gather_field(const struct op_call *call, const struct field *field)
{
    const int8_t padding = (int8_t)call->input_zero_point;
    const int32_t c_in = call->c_in;
    int32_t row = field->input;
    int8_t *to = (int8_t *)call->scratch;
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        if (k_y < field->rows.first || k_y >= field->rows.end) {
            to = fill(to, call->k_w * c_in, padding);
            continue;
        }
        int32_t from = row;
        to = fill(to, field->columns.first * c_in, padding);
        for (int32_t run = 0; run < field->runs; run++) {
            to = copy(to, call->input + from, field->run_bytes);
            from += call->d_w * c_in;
        }
        to = fill(to, (call->k_w - field->columns.end) * c_in, padding);
        row += call->d_h * call->w_in * c_in;
    }
}

ALWAYS_INLINE uint32_t dot_in_place(const struct op_call *call, const struct field *field,
                                    const int8_t *weights, uint32_t sum)
{
    const int32_t row_step = call->d_h * call->w_in * call->c_in;
    const int32_t run_step = call->d_w * call->c_in;
    const int32_t weights_step = call->k_w * call->c_in;
    int32_t row = field->input;
    int32_t row_weights = field->weights;
    for (int32_t k_y = field->rows.first; k_y < field->rows.end; k_y++) {
        int32_t from = row;
        int32_t run_weights = row_weights;
        for (int32_t run = 0; run < field->runs; run++) {
            sum = dot(sum, call->input + from, weights + run_weights, field->run_bytes,
                      call->input_zero_point);
            from += run_step;
            run_weights += field->run_bytes;
        }
        row += row_step;
        row_weights += weights_step;
    }
    return sum;
}

#define ROUNDING double
#include "kernels/plain/conv_run.h"
#undef ROUNDING

#define ROUNDING single
#include "kernels/plain/conv_run.h"
#undef ROUNDING
