/* SPDX-License-Identifier: Apache-2.0 */
/* A table with a convolution of its own, dense, by rows, gather, double rounding: right for BROKEN 0,
 * and with one mistake of those that kernels are known for otherwise. */
#include <stddef.h>

#include "kernels/requantize.h"
#include "runner/kernels.h"

enum { RIGHT, PAD_WITH_ZERO, SINGLE_ROUNDING, EVEN_WIDTHS_ONLY, PAST_THE_PIXEL, STALE_SCRATCH };

static bool accepts(const struct op_record *record, const struct tensor_record *tensors)
{
    (void)tensors;
    return record->kind == OP_KIND_CONV && record->layout == LAYOUT_DENSE &&
           record->traversal == TRAVERSAL_ROW && record->tap_order == TAP_ORDER_GATHER;
}

static uint64_t scratch_bytes(const struct op_record *record, const struct tensor_record *tensors)
{
    return (uint64_t)record->k_h * record->k_w * tensors[record->inputs[0]].c;
}

static void gather(const struct op_call *call, int32_t row, int32_t column)
{
    const int8_t padding = BROKEN == PAD_WITH_ZERO ? 0 : (int8_t)call->input_zero_point;
    int8_t *to = (int8_t *)call->scratch;
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        for (int32_t k_x = 0; k_x < call->k_w; k_x++) {
            const int32_t y = row * call->s_h - call->pad_top + k_y * call->d_h;
            const int32_t x = column * call->s_w - call->pad_left + k_x * call->d_w;
            const bool real = y >= 0 && y < call->h_in && x >= 0 && x < call->w_in;
            const int8_t *const from = call->input + (y * call->w_in + x) * call->c_in;
            for (int32_t channel = 0; channel < call->c_in; channel++, to++) {
                if (real) {
                    *to = from[channel];
                } else if (BROKEN != STALE_SCRATCH) {
                    *to = padding;
                }
            }
        }
    }
}

static int8_t output_of(const struct op_call *call, int32_t channel)
{
    const int32_t field = call->k_h * call->k_w * call->c_in;
    const struct quant_record *const quant = &call->quants[channel];
    const int8_t *const x = (const int8_t *)call->scratch;
    uint32_t sum = (uint32_t)quant->bias;
    for (int32_t tap = 0; tap < field; tap++) {
        sum += (uint32_t)((x[tap] - call->input_zero_point) * call->weights[channel * field + tap]);
    }
    const int32_t scaled =
        BROKEN == SINGLE_ROUNDING
            ? requantize_single((int32_t)sum, quant->multiplier, quant->shift)
            : requantize_double((int32_t)sum, quant->multiplier, quant->shift);
    return (int8_t)output_stage(scaled, call->output_zero_point,
                                call->activation_min - call->output_zero_point,
                                call->activation_max - call->output_zero_point);
}

static void run(const struct op_call *call)
{
    const int32_t columns = BROKEN == EVEN_WIDTHS_ONLY ? call->w_out & ~1 : call->w_out;
    for (int32_t row = 0; row < call->h_out; row++) {
        for (int32_t column = 0; column < columns; column++) {
            int8_t *const pixel = call->output + (row * call->w_out + column) * call->c_out;
            gather(call, row, column);
            for (int32_t channel = 0; channel < call->c_out; channel++) {
                pixel[channel] = output_of(call, channel);
            }
            if (BROKEN == PAST_THE_PIXEL) {
                pixel[call->c_out] = 0;
            }
        }
    }
}

const struct op_kernel *kernel_for(const struct op_record *record,
                                   const struct tensor_record *tensors)
{
    static const struct op_kernel kernel = {
        .accepts = accepts, .scratch_bytes = scratch_bytes, .run = run};
    return kernel.accepts(record, tensors) ? &kernel : NULL;
}
