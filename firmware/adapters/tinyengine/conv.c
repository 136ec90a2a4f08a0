/* SPDX-License-Identifier: Apache-2.0 */
/* A 1 x 1 convolution by TinyEngine, with integer requantisation. Its function wants arrays of shifts,
 * multipliers and biases, which are made at the start of the scratch. A status other than success
 * leaves the output as it was, and its CRC shows it. */
#include "arm_nnfunctions.h"
#include "port/placement.h"
#include "runner/kernels.h"
#include "tinyengine_function.h"

RAM_CODE("tinyengine_conv_1x1")
void tinyengine_conv_1x1(const struct op_call *call)
{
    int32_t *const multipliers = (int32_t *)(void *)call->scratch;
    int32_t *const shifts = multipliers + call->c_out;
    int32_t *const biases = shifts + call->c_out;
    for (int32_t channel = 0; channel < call->c_out; channel++) {
        multipliers[channel] = call->quants[channel].multiplier;
        shifts[channel] = call->quants[channel].shift;
        biases[channel] = call->quants[channel].bias;
    }
    (void)convolve_1x1_s8(call->input, (uint16_t)call->w_in, (uint16_t)call->h_in,
                          (uint16_t)call->c_in, call->weights, biases, shifts, multipliers,
                          call->output_zero_point, -call->input_zero_point, call->activation_min,
                          call->activation_max, call->output, (uint16_t)call->w_out,
                          (uint16_t)call->h_out, (uint16_t)call->c_out,
                          (int16_t *)(void *)(biases + call->c_out));
}
