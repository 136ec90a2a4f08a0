/* SPDX-License-Identifier: Apache-2.0 */
/* A convolution that makes two pixels of a row a step: both fields are gathered, then both pixels are
 * written, channel by channel, the second pixel first. LATE, where it is defined, writes two channels
 * of the first pixel before the second field is gathered: a mistake. */
#include "kernels/requantize.h"
#include "port/placement.h"
#include "runner/kernels.h"

ALWAYS_INLINE void gather(const struct op_call *call, int32_t row, int32_t column, int8_t *to)
{
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        for (int32_t k_x = 0; k_x < call->k_w; k_x++) {
            const int32_t y = row * call->s_h - call->pad_top + k_y * call->d_h;
            const int32_t x = column * call->s_w - call->pad_left + k_x * call->d_w;
            const bool real = y >= 0 && y < call->h_in && x >= 0 && x < call->w_in;
            for (int32_t channel = 0; channel < call->c_in; channel++) {
                *to++ = real ? call->input[(y * call->w_in + x) * call->c_in + channel]
                             : (int8_t)call->input_zero_point;
            }
        }
    }
}

ALWAYS_INLINE int8_t output_of(const struct op_call *call, int32_t channel, const int8_t *x)
{
    const int32_t field = call->k_h * call->k_w * call->c_in;
    const struct quant_record *const quant = &call->quants[channel];
    uint32_t sum = (uint32_t)quant->bias;
    for (int32_t tap = 0; tap < field; tap++) {
        sum += (uint32_t)((x[tap] - call->input_zero_point) * call->weights[channel * field + tap]);
    }
    const int32_t scaled = requantize_double((int32_t)sum, quant->multiplier, quant->shift);
    return (int8_t)output_stage(scaled, call->output_zero_point,
                                call->activation_min - call->output_zero_point,
                                call->activation_max - call->output_zero_point);
}

RAM_CODE("two_pixels")
void two_pixels(const struct op_call *call)
{
    int8_t *const first = (int8_t *)call->scratch;
    int8_t *const second = first + call->k_h * call->k_w * call->c_in;
    for (int32_t row = 0; row < call->h_out; row++) {
        for (int32_t column = 0; column < call->w_out; column += call->step_pixels) {
            int8_t *const pixel = call->output + (row * call->w_out + column) * call->c_out;
            const bool both = column + 1 < call->w_out;
            gather(call, row, column, first);
#ifdef LATE
            pixel[0] = output_of(call, 0, first);
            pixel[1] = output_of(call, 1, first);
#endif
            if (both) {
                gather(call, row, column + 1, second);
            }
            for (int32_t channel = 0; channel < call->c_out; channel++) {
                if (both) {
                    pixel[call->c_out + channel] = output_of(call, channel, second);
                }
                pixel[channel] = output_of(call, channel, first);
            }
        }
    }
}
