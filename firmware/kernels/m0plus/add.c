/* SPDX-License-Identifier: Apache-2.0 */
/* int8 addition for the Cortex-M0+: both operands of one shape, ascending in memory.
 *
 * p = a * factor_a + b * factor_b + offset, with 20 bits behind the point, is so near to the output
 * that only where the fraction of p is below `guard` another byte may be right: the packer proves
 * it. Those are computed as plain/add.c does. Where nothing is proved, guard covers all.
 *
 * Packed constants: struct packed_add. For each scalar of the output the scalar of each operand is
 * read, then the result is written; nothing else in the arena is written. No scratch. */
#include "kernels/m0plus/addition.h"
#include "kernels/m0plus/m0plus.h"
#include "kernels/requantize.h"
#include "port/placement.h"

#ifdef __arm__

enum { LEFT_SHIFT_FACTOR = 1 << 20 };

RAM_CODE("m0plus_add_exact")
int32_t m0plus_add_exact(int32_t a, int32_t b, const struct op_call *call)
{
    const struct quant_record *const quants = call->quants;
    const int32_t zero_point = call->output_zero_point;
    const int32_t first = (a - call->record->input_zero_points[0]) * LEFT_SHIFT_FACTOR;
    const int32_t second = (b - call->record->input_zero_points[1]) * LEFT_SHIFT_FACTOR;
    const uint32_t sum =
        (uint32_t)requantize_double(first, quants[0].multiplier, quants[0].shift) +
        (uint32_t)requantize_double(second, quants[1].multiplier, quants[1].shift);
    return output_stage(requantize_double((int32_t)sum, quants[2].multiplier, quants[2].shift),
                        zero_point, call->activation_min - zero_point,
                        call->activation_max - zero_point);
}

RAM_CODE("m0plus_add")
void m0plus_add(const struct op_call *call)
{
    const int32_t count = call->h_out * call->w_out * call->c_out;
    struct addition addition = {
        .a = call->inputs[0] + count,
        .b = call->inputs[1] + count,
        .output = call->output + count,
        .minus_count = -count,
        .packed = *(const struct packed_add *)(const void *)call->weights,
        .low = call->activation_min,
        .high = call->activation_max,
        .call = call,
    };
    m0plus_add_run(&addition);
}

#endif
