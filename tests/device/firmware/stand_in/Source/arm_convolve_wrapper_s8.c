/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"

static void gather(const cmsis_nn_conv_params *p, const cmsis_nn_dims *in, const int8_t *input,
                   const cmsis_nn_dims *filter, int32_t row, int32_t column, int16_t *to)
{
    for (int32_t k_y = 0; k_y < filter->h; k_y++) {
        for (int32_t k_x = 0; k_x < filter->w; k_x++) {
            const int32_t y = row * p->stride.h - p->padding.h + k_y * p->dilation.h;
            const int32_t x = column * p->stride.w - p->padding.w + k_x * p->dilation.w;
            const int inside = y >= 0 && y < in->h && x >= 0 && x < in->w;
            for (int32_t c = 0; c < in->c; c++) {
                *to++ = inside ? input[(y * in->w + x) * in->c + c] + p->input_offset : 0;
            }
        }
    }
}

/* The fields of two pixels, of whatever row, then both pixels. */
arm_cmsis_nn_status arm_convolve_wrapper_s8(ARRAYS(cmsis_nn_conv_params))
{
    if (filter->h * filter->w == 1 && p->stride.h * p->stride.w == 1) {
        return arm_convolve_1x1_s8_fast(ctx, p, quant, in, input, filter, weights, bias_dims, bias,
                                        out, output);
    }
    const int32_t field = filter->h * filter->w * in->c;
    int16_t *const fields = ctx->buf;
    const int32_t pixels = out->h * out->w;
    for (int32_t first = 0; first < pixels; first += 2) {
        const int32_t count = first + 1 < pixels ? 2 : 1;
        for (int32_t n = 0; n < count; n++) {
            gather(p, in, input, filter, (first + n) / out->w, (first + n) % out->w,
                   fields + n * field);
        }
        for (int32_t c = 0; c < out->c; c++) {
            for (int32_t n = 0; n < count; n++) {
                int32_t sum = bias[c];
                for (int32_t tap = 0; tap < field; tap++) {
                    sum += fields[n * field + tap] * weights[c * field + tap];
                }
                output[(first + n) * out->c + c] =
                    clamped(arm_stand_in_requantize(sum, quant->multiplier[c], quant->shift[c]) +
                                p->output_offset,
                            p->activation);
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
