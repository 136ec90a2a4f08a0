/* SPDX-License-Identifier: Apache-2.0 */
/* An int8 depthwise convolution, one channel after the other: a channel is copied to scratch in its
 * padding, then its outputs are computed from there and written. A write of a channel only ever meets
 * input of that channel, all of which has been read by then: the output may lie on the input, base on
 * base.
 *
 * A helper has to be ALWAYS_INLINE, or RAM_CODE as the kernel is: a call into flash would cost misses
 * of its cache that depend on what else is there. */
#include "kernels/requantize.h"
#include "port/placement.h"
#include "runner/kernels.h"

/* One channel and the padding around it, by rows. */
struct plane {
    int8_t *bytes;
    int32_t h, w;
};

ALWAYS_INLINE void copy_channel(const struct op_call *call, const struct plane *plane,
                                int32_t channel)
{
    int8_t *to = plane->bytes;
    for (int32_t row = 0; row < plane->h; row++) {
        const int32_t y = row - call->pad_top;
        for (int32_t column = 0; column < plane->w; column++) {
            const int32_t x = column - call->pad_left;
            const bool real = y >= 0 && y < call->h_in && x >= 0 && x < call->w_in;
            *to++ = real ? call->input[(y * call->w_in + x) * call->c_in + channel]
                         : (int8_t)call->input_zero_point;
        }
    }
}

/* One output scalar. field: its first tap in the plane. Sums wrap modulo 2^32, as TFLite's do. */
ALWAYS_INLINE int8_t output_of(const struct op_call *call, const struct plane *plane,
                               int32_t channel, const int8_t *field)
{
    const struct quant_record *const quant = &call->quants[channel];
    const int32_t zero_point = call->output_zero_point;
    const int8_t *weight = call->weights + channel;
    uint32_t sum = (uint32_t)quant->bias;
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        const int8_t *tap = field + k_y * call->d_h * plane->w;
        for (int32_t k_x = 0; k_x < call->k_w; k_x++) {
            sum += (uint32_t)((*tap - call->input_zero_point) * *weight);
            tap += call->d_w;
            weight += call->c_out;
        }
    }
    const int32_t scaled = requantize_double((int32_t)sum, quant->multiplier, quant->shift);
    return (int8_t)output_stage(scaled, zero_point, call->activation_min - zero_point,
                                call->activation_max - zero_point);
}

RAM_CODE("new_kernel")
void new_kernel(const struct op_call *call)
{
    const struct plane plane = {
        .bytes = (int8_t *)call->scratch,
        .h = call->h_in + call->record->pad_top + call->record->pad_bottom,
        .w = call->w_in + call->record->pad_left + call->record->pad_right,
    };
    for (int32_t channel = 0; channel < call->c_out; channel++) {
        int8_t *output = call->output + channel;
        copy_channel(call, &plane, channel);
        for (int32_t row = 0; row < call->h_out; row++) {
            const int8_t *field = plane.bytes + row * call->s_h * plane.w;
            for (int32_t column = 0; column < call->w_out; column++) {
                *output = output_of(call, &plane, channel, field);
                output += call->c_out;
                field += call->s_w;
            }
        }
    }
}
