/* SPDX-License-Identifier: Apache-2.0 */
/* Plain int8 addition, as TFLite's: with R_n the requantisation by the n-th quant record,
 *   y = R_2(R_0((x_1 - zero_point_1) << 20) + R_1((x_2 - zero_point_2) << 20)) + zero point,
 * clamped. The second operand has the shape of the first, or is 1 x 1 x c.
 *
 * For each scalar of the output, ascending in memory (row) or descending (reverse): the scalar of
 * each operand is read, then the result is written. Nothing else in the arena is written. There
 * are no taps: the tap order says nothing. Rounding is double or single. */
#include "kernels/plain/elementwise.h"
#include "runner/kernels.h"

enum { LEFT_SHIFT_FACTOR = 1 << 20 };

ALWAYS_INLINE int32_t rescale(enum rounding rounding, int32_t x, const struct quant_record *quant)
{
    return requantize(rounding, x, quant->multiplier, quant->shift);
}

ALWAYS_INLINE void add(const struct op_call *call, enum rounding rounding)
{
    const struct walk walk = walk_over_output(call);
    struct second_walk second = second_walk(call, &walk);
    const int8_t *const first = call->inputs[0];
    const int8_t *const other = call->inputs[1];
    int8_t *const output = call->output;
    const struct quant_record *const quants = call->quants;
    const int32_t first_zero = call->record->input_zero_points[0];
    const int32_t other_zero = call->record->input_zero_points[1];
    const int32_t zero_point = call->output_zero_point;
    const int32_t low = call->activation_min - zero_point;
    const int32_t high = call->activation_max - zero_point;
    for (int32_t at = walk.first; at != walk.end; at += walk.step) {
        const int32_t a = (first[at] - first_zero) * LEFT_SHIFT_FACTOR;
        const int32_t b = (other[second.at] - other_zero) * LEFT_SHIFT_FACTOR;
        const uint32_t sum = (uint32_t)rescale(rounding, a, &quants[0]) +
                             (uint32_t)rescale(rounding, b, &quants[1]);
        const int32_t scaled = rescale(rounding, (int32_t)sum, &quants[2]);
        output[at] = (int8_t)output_stage(scaled, zero_point, low, high);
        second_next(&second);
    }
}

#define KERNEL(name, ROUNDING)                        \
    RAM_CODE("plain_add_" #name)                      \
    void plain_add_##name(const struct op_call *call) \
    {                                                 \
        add(call, ROUNDING);                          \
    }

KERNEL(double, ROUNDING_DOUBLE)
KERNEL(single, ROUNDING_SINGLE)
