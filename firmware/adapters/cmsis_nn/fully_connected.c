/* SPDX-License-Identifier: Apache-2.0 */
/* Fully connected by CMSIS-NN, with a multiplier for each output. */
#include "adapter.h"

RAM_CODE("cmsis_nn_fully_connected")
void cmsis_nn_fully_connected(const struct op_call *call)
{
    const struct channels channels = split_quants(call);
    const cmsis_nn_context context = context_of(channels.buffer);
    const cmsis_nn_fc_params params = {
        .input_offset = -call->input_zero_point,
        .filter_offset = 0,
        .output_offset = call->output_zero_point,
        .activation = activation_of(call),
    };
    const int32_t inputs = call->h_in * call->w_in * call->c_in;
    const cmsis_nn_dims input = input_dims(call);
    const cmsis_nn_dims filter = dims_of(inputs, 1, 1, call->c_out);
    const cmsis_nn_dims bias = dims_of(1, 1, 1, call->c_out);
    const cmsis_nn_dims output = dims_of(1, 1, 1, call->c_out);
    (void)arm_fully_connected_per_channel_s8(&context, &params, &channels.quant, &input, call->input,
                                             &filter, call->weights, &bias, channels.biases, &output,
                                             call->output);
}
