/* SPDX-License-Identifier: Apache-2.0 */
/* Some of CMSIS-NN's interface, written for these tests: its names, and the steps of its functions.
 * $Revision:    V.0.1
 */
#ifndef STAND_IN_H
#define STAND_IN_H

#include <stdint.h>
#include <string.h>

typedef enum { ARM_CMSIS_NN_SUCCESS = 0, ARM_CMSIS_NN_ARG_ERROR = -1 } arm_cmsis_nn_status;

typedef struct { int32_t w, h; } cmsis_nn_tile;
typedef struct { void *buf; int32_t size; } cmsis_nn_context;
typedef struct { int32_t n, h, w, c; } cmsis_nn_dims;
typedef struct { int32_t *multiplier, *shift; } cmsis_nn_per_channel_quant_params;
typedef struct { int32_t min, max; } cmsis_nn_activation;
typedef struct {
    int32_t input_offset, output_offset;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_conv_params;
typedef struct {
    int32_t input_offset, output_offset, ch_mult;
    cmsis_nn_tile stride, padding, dilation;
    cmsis_nn_activation activation;
} cmsis_nn_dw_conv_params;
typedef struct {
    cmsis_nn_tile stride, padding;
    cmsis_nn_activation activation;
} cmsis_nn_pool_params;
typedef struct {
    int32_t input_offset, filter_offset, output_offset;
    cmsis_nn_activation activation;
} cmsis_nn_fc_params;

#define ARRAYS(params)                                                                             \
    const cmsis_nn_context *ctx, const params *p, const cmsis_nn_per_channel_quant_params *quant,  \
        const cmsis_nn_dims *in, const int8_t *input, const cmsis_nn_dims *filter,                 \
        const int8_t *weights, const cmsis_nn_dims *bias_dims, const int32_t *bias,                \
        const cmsis_nn_dims *out, int8_t *output

arm_cmsis_nn_status arm_convolve_wrapper_s8(ARRAYS(cmsis_nn_conv_params));
arm_cmsis_nn_status arm_convolve_1x1_s8_fast(ARRAYS(cmsis_nn_conv_params));
arm_cmsis_nn_status arm_depthwise_conv_wrapper_s8(ARRAYS(cmsis_nn_dw_conv_params));
arm_cmsis_nn_status arm_fully_connected_per_channel_s8(ARRAYS(cmsis_nn_fc_params));
arm_cmsis_nn_status arm_avgpool_s8(const cmsis_nn_context *ctx, const cmsis_nn_pool_params *p,
                                   const cmsis_nn_dims *in, const int8_t *input,
                                   const cmsis_nn_dims *filter, const cmsis_nn_dims *out,
                                   int8_t *output);
arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *one, const int8_t *other, int32_t offset_1, int32_t mult_1, int32_t shift_1,
    int32_t offset_2, int32_t mult_2, int32_t shift_2, int32_t left_shift, int8_t *output,
    int32_t out_offset, int32_t out_mult, int32_t out_shift, int32_t min, int32_t max, int32_t size);

int32_t arm_stand_in_requantize(int32_t x, int32_t multiplier, int32_t shift);

/* -Wconversion has something to say here: the header is not ours as the runner sees it. */
static inline int8_t clamped(int32_t x, cmsis_nn_activation to)
{
    return x < to.min ? to.min : x > to.max ? to.max : x;
}

#endif
