/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"

arm_cmsis_nn_status arm_fully_connected_per_channel_s8(ARRAYS(cmsis_nn_fc_params))
{
    for (int32_t c = 0; c < out->c; c++) {
        int32_t sum = bias[c];
        for (int32_t i = 0; i < filter->n; i++) {
            sum += (input[i] + p->input_offset) * weights[c * filter->n + i];
        }
        output[c] = clamped(arm_stand_in_requantize(sum, quant->multiplier[c], quant->shift[c]) +
                                p->output_offset,
                            p->activation);
    }
    return ARM_CMSIS_NN_SUCCESS;
}
