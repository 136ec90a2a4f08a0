/* SPDX-License-Identifier: Apache-2.0 */
/* Depthwise convolution by CMSIS-NN, pixel by pixel. What it reads of a pixel before it writes it
 * depends on the window and on the core: kernels.yaml has an entry for each. */
#include "adapter.h"

RAM_CODE("cmsis_nn_depthwise")
void cmsis_nn_depthwise(const struct op_call *call)
{
    const struct channels channels = split_quants(call);
    const cmsis_nn_context context = context_of(channels.buffer);
    const cmsis_nn_dw_conv_params params = {
        .input_offset = -call->input_zero_point,
        .output_offset = call->output_zero_point,
        .ch_mult = 1,
        .stride = tile_of(call->s_h, call->s_w),
        .padding = tile_of(call->pad_top, call->pad_left),
        .dilation = tile_of(call->d_h, call->d_w),
        .activation = activation_of(call),
    };
    const cmsis_nn_dims input = input_dims(call);
    const cmsis_nn_dims filter = dims_of(1, call->k_h, call->k_w, call->c_out);
    const cmsis_nn_dims bias = dims_of(1, 1, 1, call->c_out);
    const cmsis_nn_dims output = output_dims(call);
    (void)arm_depthwise_conv_wrapper_s8(&context, &params, &channels.quant, &input, call->input,
                                        &filter, call->weights, &bias, channels.biases, &output,
                                        call->output);
}
