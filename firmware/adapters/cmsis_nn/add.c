/* SPDX-License-Identifier: Apache-2.0 */
/* Addition by CMSIS-NN: on a core with DSP four scalars at a time, else one. */
#include "adapter.h"

enum { LEFT_SHIFT = 20 };                     /* TFLite's */

RAM_CODE("cmsis_nn_add")
void cmsis_nn_add(const struct op_call *call)
{
    const struct quant_record *const quants = call->quants;
    (void)arm_elementwise_add_s8(
        call->inputs[0], call->inputs[1], -call->record->input_zero_points[0], quants[0].multiplier,
        quants[0].shift, -call->record->input_zero_points[1], quants[1].multiplier, quants[1].shift,
        LEFT_SHIFT, call->output, call->output_zero_point, quants[2].multiplier, quants[2].shift,
        call->activation_min, call->activation_max, call->h_out * call->w_out * call->c_out);
}
