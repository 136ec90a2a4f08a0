/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"

/* Channels first to end of a pixel are summed, then written. */
static void pixel(const cmsis_nn_dw_conv_params *p, const cmsis_nn_per_channel_quant_params *quant,
                  const cmsis_nn_dims *in, const int8_t *input, const cmsis_nn_dims *filter,
                  const int8_t *weights, const int32_t *bias, int32_t row, int32_t column,
                  int32_t first, int32_t end, int8_t *output, int16_t *made)
{
    for (int32_t c = first; c < end; c++) {
        int32_t sum = bias[c];
        for (int32_t k_y = 0; k_y < filter->h; k_y++) {
            for (int32_t k_x = 0; k_x < filter->w; k_x++) {
                const int32_t y = row * p->stride.h - p->padding.h + k_y;
                const int32_t x = column * p->stride.w - p->padding.w + k_x;
                if (y >= 0 && y < in->h && x >= 0 && x < in->w) {
                    sum += (input[(y * in->w + x) * in->c + c] + p->input_offset) *
                           weights[(k_y * filter->w + k_x) * in->c + c];
                }
            }
        }
        made[c - first] = clamped(
            arm_stand_in_requantize(sum, quant->multiplier[c], quant->shift[c]) + p->output_offset,
            p->activation);
    }
    for (int32_t c = first; c < end; c++) {
        output[c] = made[c - first];
    }
}

/* 3 x 3: four channels; else all of them with DSP, one without. */
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(ARRAYS(cmsis_nn_dw_conv_params))
{
    const int small = filter->h == 3 && filter->w == 3 && p->padding.h <= 1 && p->padding.w <= 1;
#ifdef __ARM_FEATURE_DSP
    const int32_t others = out->c;
#else
    const int32_t others = 1;
#endif
    int16_t few[4];
    const int32_t step = small ? 4 : others;
    for (int32_t at = 0; at < out->h * out->w; at++) {
        for (int32_t c = 0; c < out->c; c += step) {
            pixel(p, quant, in, input, filter, weights, bias, at / out->w, at % out->w, c,
                  c + step < out->c ? c + step : out->c, output + at * out->c,
                  step > 4 ? ctx->buf : few);
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
