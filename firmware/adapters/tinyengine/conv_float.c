/* SPDX-License-Identifier: Apache-2.0 */
/* A 1 x 1 convolution by TinyEngine, with its float requantisation: (int32_t)((float)sum * scale). The
 * scales and biases are made at the start of the scratch. The runner uses no FPU: floats are libgcc's. */
#include "arm_nnfunctions.h"
#include "port/placement.h"
#include "runner/kernels.h"
#include "tinyengine_function.h"

/* 2^exponent, of a normal number. */
ALWAYS_INLINE float power_of_two(int32_t exponent)
{
    const union {
        uint32_t bits;
        float value;
    } made = {(uint32_t)(exponent + 127) << 23};
    return made.value;
}

RAM_CODE("tinyengine_conv_1x1_float")
void tinyengine_conv_1x1_float(const struct op_call *call)
{
    float *const scales = (float *)(void *)call->scratch;
    int32_t *const biases = (int32_t *)(void *)(scales + call->c_out);
    for (int32_t channel = 0; channel < call->c_out; channel++) {
        const struct quant_record *const quant = &call->quants[channel];
        scales[channel] = (float)quant->multiplier * power_of_two(quant->shift - 31);
        biases[channel] = quant->bias;
    }
    (void)convolve_1x1_s8_fpreq(call->input, (uint16_t)call->w_in, (uint16_t)call->h_in,
                                (uint16_t)call->c_in, call->weights, biases, scales,
                                call->output_zero_point, -call->input_zero_point,
                                call->activation_min, call->activation_max, call->output,
                                (uint16_t)call->w_out, (uint16_t)call->h_out, (uint16_t)call->c_out,
                                (int16_t *)(void *)(biases + call->c_out));
}
