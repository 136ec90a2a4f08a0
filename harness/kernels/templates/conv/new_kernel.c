/* SPDX-License-Identifier: Apache-2.0 */
/* An int8 convolution, call->step_pixels pixels of a row a step: their fields are gathered to scratch,
 * then the pixels are written. The last step of a row may be shorter. Nothing is read from the arena
 * between the first and the last write of a step, so that the output may lie on the input as close as
 * the declaration in kernels.yaml says.
 *
 * A helper has to be ALWAYS_INLINE, or RAM_CODE as the kernel is: a call into flash would cost misses
 * of its cache that depend on what else is there. */
#include "kernels/requantize.h"
#include "port/placement.h"
#include "runner/kernels.h"

/* The field of one output pixel, tap by tap, a tap beside the image being the input's zero point. */
ALWAYS_INLINE void gather(const struct op_call *call, int32_t row, int32_t column, int8_t *to)
{
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        const int32_t y = row * call->s_h - call->pad_top + k_y * call->d_h;
        for (int32_t k_x = 0; k_x < call->k_w; k_x++) {
            const int32_t x = column * call->s_w - call->pad_left + k_x * call->d_w;
            const bool real = y >= 0 && y < call->h_in && x >= 0 && x < call->w_in;
            const int8_t *const from = call->input + (y * call->w_in + x) * call->c_in;
            for (int32_t channel = 0; channel < call->c_in; channel++) {
                *to++ = real ? from[channel] : (int8_t)call->input_zero_point;
            }
        }
    }
}

/* One output scalar. Sums wrap modulo 2^32, as TFLite's do. */
ALWAYS_INLINE int8_t output_of(const struct op_call *call, int32_t channel, const int8_t *field)
{
    const int32_t taps = call->k_h * call->k_w * call->c_in;
    const int8_t *const weights = call->weights + channel * taps;
    const struct quant_record *const quant = &call->quants[channel];
    const int32_t zero_point = call->output_zero_point;
    uint32_t sum = (uint32_t)quant->bias;
    for (int32_t tap = 0; tap < taps; tap++) {
        sum += (uint32_t)((field[tap] - call->input_zero_point) * weights[tap]);
    }
    const int32_t scaled = requantize_double((int32_t)sum, quant->multiplier, quant->shift);
    return (int8_t)output_stage(scaled, zero_point, call->activation_min - zero_point,
                                call->activation_max - zero_point);
}

RAM_CODE("new_kernel")
void new_kernel(const struct op_call *call)
{
    const int32_t taps = call->k_h * call->k_w * call->c_in;
    int8_t *const fields = (int8_t *)call->scratch;
    int8_t *output = call->output;
    for (int32_t row = 0; row < call->h_out; row++) {
        for (int32_t column = 0; column < call->w_out; column += call->step_pixels) {
            const int32_t left = call->w_out - column;
            const int32_t pixels = left < call->step_pixels ? left : call->step_pixels;
            for (int32_t pixel = 0; pixel < pixels; pixel++) {
                gather(call, row, column + pixel, fields + pixel * taps);
            }
            for (int32_t pixel = 0; pixel < pixels; pixel++) {
                for (int32_t channel = 0; channel < call->c_out; channel++) {
                    *output++ = output_of(call, channel, fields + pixel * taps);
                }
            }
        }
    }
}
