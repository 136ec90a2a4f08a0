/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"

static int8_t average(const cmsis_nn_pool_params *p, const cmsis_nn_dims *in, const int8_t *input,
                      const cmsis_nn_dims *filter, int32_t row, int32_t column, int32_t c)
{
    int32_t sum = 0;
    int32_t count = 0;
    for (int32_t y = row * p->stride.h - p->padding.h, end_y = y + filter->h; y < end_y; y++) {
        for (int32_t x = column * p->stride.w - p->padding.w, end_x = x + filter->w; x < end_x; x++) {
            if (y >= 0 && y < in->h && x >= 0 && x < in->w) {
                sum += input[(y * in->w + x) * in->c + c];
                count++;
            }
        }
    }
    return clamped((sum > 0 ? sum + count / 2 : sum - count / 2) / count, p->activation);
}

/* All channels of a pixel with DSP, one without. */
arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *p,
                                   const cmsis_nn_dims *in, const int8_t *input,
                                   const cmsis_nn_dims *filter, const cmsis_nn_dims *out,
                                   int8_t *output)
{
    for (int32_t at = 0; at < out->h * out->w; at++) {
        for (int32_t c = 0; c < in->c; c++) {
            const int8_t made = average(p, in, input, filter, at / out->w, at % out->w, c);
#ifdef __ARM_FEATURE_DSP
            ((int32_t *)ctx->buf)[c] = made;
        }
        for (int32_t c = 0; c < in->c; c++) {
            output[at * in->c + c] = ((int32_t *)ctx->buf)[c];
#else
            output[at * in->c + c] = made;
#endif
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
