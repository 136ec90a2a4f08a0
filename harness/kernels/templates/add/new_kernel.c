/* SPDX-License-Identifier: Apache-2.0 */
/* An int8 addition of two tensors of one shape, as TFLite's: with R_n the requantisation by the n-th
 * quant record,
 *   y = R_2(R_0((x_1 - zero_point_1) << 20) + R_1((x_2 - zero_point_2) << 20)) + zero point,
 * clamped. Four scalars a step: those of both operands are read, then the sums are written. So the
 * output may lie on either operand.
 *
 * A helper has to be ALWAYS_INLINE, or RAM_CODE as the kernel is: a call into flash would cost misses
 * of its cache that depend on what else is there. */
#include "kernels/requantize.h"
#include "port/placement.h"
#include "runner/kernels.h"

enum { STEP = 4, LEFT_SHIFT_FACTOR = 1 << 20 };

/* An operand's scalar, on the scale that both are brought to. */
ALWAYS_INLINE int32_t rescaled(const struct op_call *call, uint32_t operand, int32_t x)
{
    const struct quant_record *const quant = &call->quants[operand];
    const int32_t raised = (x - call->record->input_zero_points[operand]) * LEFT_SHIFT_FACTOR;
    return requantize_double(raised, quant->multiplier, quant->shift);
}

ALWAYS_INLINE int8_t sum_of(const struct op_call *call, int32_t first, int32_t second)
{
    const struct quant_record *const quant = &call->quants[2];
    const int32_t zero_point = call->output_zero_point;
    const uint32_t sum =
        (uint32_t)rescaled(call, 0, first) + (uint32_t)rescaled(call, 1, second);
    const int32_t scaled = requantize_double((int32_t)sum, quant->multiplier, quant->shift);
    return (int8_t)output_stage(scaled, zero_point, call->activation_min - zero_point,
                                call->activation_max - zero_point);
}

RAM_CODE("new_kernel")
void new_kernel(const struct op_call *call)
{
    const int32_t count = call->h_out * call->w_out * call->c_out;
    for (int32_t at = 0; at < count; at += STEP) {
        const int32_t left = count - at;
        const int32_t some = left < STEP ? left : STEP;
        int8_t first[STEP];
        int8_t second[STEP];
        for (int32_t n = 0; n < some; n++) {
            first[n] = call->inputs[0][at + n];
            second[n] = call->inputs[1][at + n];
        }
        for (int32_t n = 0; n < some; n++) {
            call->output[at + n] = sum_of(call, first[n], second[n]);
        }
    }
}
