/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"

/* Four bytes as CMSIS-NN loads them. */
static int32_t word_at(const int8_t *from)
{
    int32_t word;
    memcpy(&word, from, 4);
    return word;
}

static int32_t dot(const int8_t *x, const int8_t *weights, int32_t count, int32_t offset)
{
    int32_t sum = 0;
    int32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        const int32_t a = word_at(x + i);
        const int32_t b = word_at(weights + i);
        for (int byte = 0; byte < 32; byte += 8) {
            sum += ((int8_t)(a >> byte) + offset) * (int8_t)(b >> byte);
        }
    }
    for (; i < count; i++) {
        sum += (x[i] + offset) * weights[i];
    }
    return sum;
}

/* Two channels of all pixels, then the next two: nothing is gathered. */
arm_cmsis_nn_status arm_convolve_1x1_s8_fast(ARRAYS(cmsis_nn_conv_params))
{
    int what_is_never_used;
    const int32_t pixels = in->h * in->w;
    for (int32_t first = 0; first < out->c; first += 2) {
        for (int32_t pixel = 0; pixel < pixels; pixel++) {
            int8_t made[2];
            for (int32_t c = first; c < out->c && c < first + 2; c++) {
                const int32_t sum = bias[c] + dot(input + pixel * in->c, weights + c * in->c, in->c,
                                                  p->input_offset);
                made[c - first] = clamped(arm_stand_in_requantize(sum, quant->multiplier[c],
                                                                  quant->shift[c]) +
                                              p->output_offset,
                                          p->activation);
            }
            for (int32_t c = first; c < out->c && c < first + 2; c++) {
                output[pixel * out->c + c] = made[c - first];
            }
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
