/* SPDX-License-Identifier: Apache-2.0 */
/* Average pool by CMSIS-NN: on a core with DSP the sums of all of a pixel's channels are made in the
 * buffer before one is written, else channel by channel. */
#include "adapter.h"

RAM_CODE("cmsis_nn_average_pool")
void cmsis_nn_average_pool(const struct op_call *call)
{
    const cmsis_nn_context context = context_of(call->scratch);
    const cmsis_nn_pool_params params = {
        .stride = tile_of(call->s_h, call->s_w),
        .padding = tile_of(call->pad_top, call->pad_left),
        .activation = activation_of(call),
    };
    const cmsis_nn_dims input = input_dims(call);
    const cmsis_nn_dims filter = dims_of(1, call->k_h, call->k_w, 1);
    const cmsis_nn_dims output = output_dims(call);
    (void)arm_avgpool_s8(&context, &params, &input, call->input, &filter, &output, call->output);
}
