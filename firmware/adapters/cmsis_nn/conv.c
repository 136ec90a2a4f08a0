/* SPDX-License-Identifier: Apache-2.0 */
/* Convolution by CMSIS-NN. A status other than success leaves the output as it was, and its CRC
 * shows it. */
#include "adapter.h"

static inline cmsis_nn_conv_params params_of(const struct op_call *call)
{
    return (cmsis_nn_conv_params){
        .input_offset = -call->input_zero_point,
        .output_offset = call->output_zero_point,
        .stride = tile_of(call->s_h, call->s_w),
        .padding = tile_of(call->pad_top, call->pad_left),
        .dilation = tile_of(call->d_h, call->d_w),
        .activation = activation_of(call),
    };
}

/* As the library does it. Its k x k kernel gathers the fields of two pixels, whatever row they are of,
 * and then writes both. Compiled by gcc its 1 x 1 kernel gathers nothing: for each two output
 * channels it goes over all pixels (stride 1) or over those of a row. */
RAM_CODE("cmsis_nn_conv")
void cmsis_nn_conv(const struct op_call *call)
{
    const struct channels channels = split_quants(call);
    const cmsis_nn_context context = context_of(channels.buffer);
    const cmsis_nn_conv_params params = params_of(call);
    const cmsis_nn_dims input = input_dims(call);
    const cmsis_nn_dims filter = dims_of(call->c_out, call->k_h, call->k_w, call->c_in);
    const cmsis_nn_dims bias = dims_of(1, 1, 1, call->c_out);
    const cmsis_nn_dims output = output_dims(call);
    (void)arm_convolve_wrapper_s8(&context, &params, &channels.quant, &input, call->input, &filter,
                                  call->weights, &bias, channels.biases, &output, call->output);
}

/* Bytes, four at once where both ends allow it. */
ALWAYS_INLINE void copy(int8_t *to, const int8_t *from, int32_t bytes)
{
    if ((((uintptr_t)to | (uintptr_t)from) & 3) == 0) {
        for (; bytes >= 4; bytes -= 4, to += 4, from += 4) {
            *(uint32_t *)(void *)to = *(const uint32_t *)(const void *)from;
        }
    }
    for (; bytes > 0; bytes--) {
        *to++ = *from++;
    }
}

/* The library's fast 1 x 1 kernel on a copy of what step_pixels output pixels read: in place it may
 * write where they lie, which the library alone must not. */
RAM_CODE("cmsis_nn_conv_1x1_copied")
void cmsis_nn_conv_1x1_copied(const struct op_call *call)
{
    const struct channels channels = split_quants(call);
    int8_t *const copied = channels.buffer;
    const cmsis_nn_context context = context_of(NULL);
    cmsis_nn_conv_params params = params_of(call);
    params.stride = tile_of(1, 1);
    const cmsis_nn_dims filter = dims_of(call->c_out, 1, 1, call->c_in);
    const cmsis_nn_dims bias = dims_of(1, 1, 1, call->c_out);
    const int32_t pixels = call->h_out * call->w_out;
    int32_t row = 0;
    int32_t column = 0;
    for (int32_t first = 0; first < pixels; first += call->step_pixels) {
        const int32_t left = pixels - first;
        const int32_t count = left < call->step_pixels ? left : call->step_pixels;
        for (int32_t n = 0; n < count; n++) {
            const int32_t at = row * call->s_h * call->w_in + column * call->s_w;
            copy(copied + n * call->c_in, call->input + at * call->c_in, call->c_in);
            column++;
            if (column == call->w_out) {
                column = 0;
                row++;
            }
        }
        const cmsis_nn_dims input = dims_of(1, 1, count, call->c_in);
        const cmsis_nn_dims output = dims_of(1, 1, count, call->c_out);
        (void)arm_convolve_1x1_s8_fast(&context, &params, &channels.quant, &input, copied, &filter,
                                       call->weights, &bias, channels.biases, &output,
                                       call->output + first * call->c_out);
    }
}
