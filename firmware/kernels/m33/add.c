/* SPDX-License-Identifier: Apache-2.0 */
/* int8 addition for the Cortex-M33, double rounding, ascending: TFLite's
 *   y = R_2(R_0((x_1 - zero_point_1) << 20) + R_1((x_2 - zero_point_2) << 20)) + zero point,
 * clamped, R_n being the requantisation by the n-th quant record. The second operand has the shape
 * of the first, or is 1 x 1 x c.
 *
 * R_0 and R_1 are looked up: a table of 256 words for each operand, made in scratch at the start.
 * For each 4 scalars in the order of memory: those of both operands are read, then the results are
 * written; up to 3 at the end (of each pixel, for 1 x 1 x c) one by one. Records for which the short
 * form of R_2 (channel.h) is not exact go through the exact code. Scratch: 2048 bytes. */
#include "kernels/m33/add.h"
#include "kernels/m33/saturate.h"
#include "kernels/m33/simd.h"
#include "port/placement.h"
#include "runner/kernels.h"

enum { LEFT_SHIFT_FACTOR = 1 << 20, VALUES = 256, MOST_TERM = 1 << 28 };

/* requantize_double with a product of 64 bits, which takes this core five instructions. */
ALWAYS_INLINE int32_t term_of(int32_t x, const struct quant_record *quant)
{
    const uint32_t left = quant->shift > 0 ? (uint32_t)quant->shift : 0;
    const uint32_t right = quant->shift > 0 ? 0 : (uint32_t)-quant->shift;
    const int64_t product = (int64_t)(int32_t)((uint32_t)x << left) * quant->multiplier;
    return rounding_divide_by_pot((int32_t)((product + (1 << 30)) >> 31), right);
}

/* false: a term is too large for the sums to fit. */
ALWAYS_INLINE bool make_table(table_word *table, const struct quant_record *quant,
                              int32_t zero_point)
{
    bool fits = true;
    for (int32_t value = INT8_MIN; value <= INT8_MAX; value++) {
        const int32_t term = term_of((value - zero_point) * LEFT_SHIFT_FACTOR, quant);
        fits = fits && term < MOST_TERM && term > -MOST_TERM;
        table[value & (VALUES - 1)] = (int32_t)(2 * (uint32_t)term);
    }
    return fits;
}

ALWAYS_INLINE int32_t result(const struct add *add, uint32_t first, uint32_t second)
{
    return saturated(&add->output, add->first[first] + add->second[second]);
}

ALWAYS_INLINE uint32_t four_results(const struct add *add, uint32_t first, uint32_t second)
{
    const int32_t y0 = result(add, first & 0xff, second & 0xff);
    const int32_t y1 = result(add, first >> 8 & 0xff, second >> 8 & 0xff);
    const int32_t y2 = result(add, first >> 16 & 0xff, second >> 16 & 0xff);
    const int32_t y3 = result(add, first >> 24, second >> 24);
    return clamped(four_bytes(y0, y1, y2, y3), add->low, add->high);
}

RAM_CODE("m33_add_run")
void m33_add_run(const struct add *given, const int8_t *first, const int8_t *second,
                 int8_t *output, int32_t count)
{
    const struct add add = *given;
    for (; count >= 4; count -= 4, first += 4, second += 4, output += 4) {
        put_word(output, four_results(&add, word_at(first), word_at(second)));
    }
    for (; count > 0; count--) {
        const int32_t y = result(&add, (uint8_t)*first++, (uint8_t)*second++);
        *output++ = (int8_t)clamped((uint32_t)y, add.low, add.high);
    }
}

ALWAYS_INLINE uint32_t exact_term(const struct op_call *call, int32_t operand, int32_t x)
{
    const struct quant_record *const quant = &call->quants[operand];
    const int32_t zero_point = call->record->input_zero_points[operand];
    return (uint32_t)term_of((x - zero_point) * LEFT_SHIFT_FACTOR, quant);
}

RAM_CODE("m33_add_exactly")
int8_t m33_add_exactly(const struct op_call *call, int32_t first, int32_t second)
{
    const uint32_t sum = exact_term(call, 0, first) + exact_term(call, 1, second);
    return m33_exact_byte(call, &call->quants[2], (int32_t)sum);
}

RAM_CODE("m33_add_begin")
bool m33_add_begin(struct add *add, const struct op_call *call, void *tables, bool made)
{
    const struct quant_record *const quants = call->quants;
    const int32_t *const zero_points = call->record->input_zero_points;
    const int32_t shift = -quants[2].shift;
    if (shift < LEAST_SHIFT || shift > MOST_SHIFT || quants[2].multiplier <= 0) {
        return false;
    }
    add->first = (table_word *)tables;
    add->second = add->first + VALUES;
    add->output.multiplier = quants[2].multiplier;
    add->output.offset = (int32_t)((uint32_t)(2 * call->output_zero_point + 1) << (shift - 1));
    add->output.shift = shift;
    add->low = all_bytes(call->activation_min);
    add->high = all_bytes(call->activation_max);
    return made || (make_table(add->first, &quants[0], zero_points[0]) &&
                    make_table(add->second, &quants[1], zero_points[1]));
}

RAM_CODE("m33_add")
void m33_add(const struct op_call *call)
{
    const int32_t count = call->h_out * call->w_out * call->c_out;
    const int32_t run = (int32_t)call->input_records[1]->bytes;
    struct add add;
    if (!m33_add_begin(&add, call, call->scratch, false)) {
        for (int32_t at = 0; at < count; at++) {
            call->output[at] = m33_add_exactly(call, call->inputs[0][at], call->inputs[1][at % run]);
        }
        return;
    }
    for (int32_t at = 0; at < count; at += run) {
        m33_add_run(&add, call->inputs[0] + at, call->inputs[1], call->output + at, run);
    }
}
