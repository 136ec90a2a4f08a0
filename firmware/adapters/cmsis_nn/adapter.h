/* SPDX-License-Identifier: Apache-2.0 */
/* An op_call in CMSIS-NN's words. Its structures are filled from the call; what the library wants as
 * arrays of its own (multipliers, shifts, biases) is copied to the start of the scratch, and its
 * buffer follows. */
#ifndef CMSIS_NN_ADAPTER_H
#define CMSIS_NN_ADAPTER_H

#include <stddef.h>

#include "arm_nnfunctions.h"
#include "port/placement.h"
#include "runner/kernels.h"

/* What every output channel has, and the buffer: kernels.yaml counts 12 * c_out bytes, then its. */
struct channels {
    cmsis_nn_per_channel_quant_params quant;
    const int32_t *biases;
    void *buffer;
};

ALWAYS_INLINE struct channels split_quants(const struct op_call *call)
{
    int32_t *const multipliers = (int32_t *)(void *)call->scratch;
    int32_t *const shifts = multipliers + call->c_out;
    int32_t *const biases = shifts + call->c_out;
    for (int32_t channel = 0; channel < call->c_out; channel++) {
        multipliers[channel] = call->quants[channel].multiplier;
        shifts[channel] = call->quants[channel].shift;
        biases[channel] = call->quants[channel].bias;
    }
    return (struct channels){{multipliers, shifts}, biases, biases + call->c_out};
}

/* The library asks for the buffer alone, never for its size. */
ALWAYS_INLINE cmsis_nn_context context_of(void *buffer)
{
    return (cmsis_nn_context){.buf = buffer, .size = 0};
}

ALWAYS_INLINE cmsis_nn_dims dims_of(int32_t n, int32_t h, int32_t w, int32_t c)
{
    return (cmsis_nn_dims){.n = n, .h = h, .w = w, .c = c};
}

ALWAYS_INLINE cmsis_nn_dims input_dims(const struct op_call *call)
{
    return dims_of(1, call->h_in, call->w_in, call->c_in);
}

ALWAYS_INLINE cmsis_nn_dims output_dims(const struct op_call *call)
{
    return dims_of(1, call->h_out, call->w_out, call->c_out);
}

ALWAYS_INLINE cmsis_nn_activation activation_of(const struct op_call *call)
{
    return (cmsis_nn_activation){.min = call->activation_min, .max = call->activation_max};
}

ALWAYS_INLINE cmsis_nn_tile tile_of(int32_t h, int32_t w)
{
    return (cmsis_nn_tile){.w = w, .h = h};
}

#endif
