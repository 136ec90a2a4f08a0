/* SPDX-License-Identifier: Apache-2.0 */
/* A row of an add of two tensors of one shape: both scalars are read, then the sum is written, pixels and
 * channels ascending. No tables, as add.c has: they would have to be made anew in each row. */
#include "kernels/m33/saturate.h"
#include "kernels/m33/segment.h"
#include "kernels/m33/simd.h"

/* Requantisation of an add's operand, (x - zero_point) << 20, of which twice the term is wanted: by
 * plain multiplication where its record allows that. */
struct term {
    const struct quant_record *quant;
    int32_t zero_point, multiplier, half, shift;
};

enum { LEFT_SHIFT = 20, LEAST_TERM_SHIFT = 1, MOST_TERM_SHIFT = 20 };

/* Not of a record that shifts to the left, or too little for the sum of two terms to fit. */
ALWAYS_INLINE bool set_term(struct term *term, const struct stage *stage, uint32_t operand)
{
    const struct quant_record *const quant = &stage->quants[operand];
    const int32_t shift = -quant->shift;
    term->quant = quant;
    term->zero_point = stage->record->input_zero_points[operand];
    term->multiplier = quant->multiplier;
    term->shift = shift;
    term->half = shift >= LEAST_TERM_SHIFT && shift <= MOST_TERM_SHIFT ? 1 << (shift - 1) : 0;
    return term->half != 0 && quant->multiplier > 0;
}

/* RoundingDivideByPOT of the doubling high product, doubled: below 2^29. */
ALWAYS_INLINE int32_t doubled_term(const struct term *term, int32_t x)
{
    const int32_t doubled = (x - term->zero_point) * (2 << LEFT_SHIFT);
    int32_t product;
    __asm("smmulr %0, %1, %2" : "=r"(product) : "r"(doubled), "r"(term->multiplier));
    return ((product + term->half + (product >> 31)) >> term->shift) * 2;
}

/* The same of any record. */
ALWAYS_INLINE uint32_t exact_term(const struct term *term, int32_t x)
{
    return (uint32_t)requantize_double((x - term->zero_point) * (1 << LEFT_SHIFT),
                                       term->quant->multiplier, term->quant->shift);
}

/* Of an add stage, its operands in the order of its record. */
struct addition {
    const struct stage *stage;
    struct op_call call;
    struct term terms[2];
    const int8_t *rows[2];
    int32_t pixel_steps[2], channel_steps[2];
    struct channel channel;
};

RAM_CODE("m33_segment_add_exactly")
static void add_exactly(const struct addition *all, int8_t *output)
{
    const struct stage *const stage = all->stage;
    const int8_t *first = all->rows[0], *second = all->rows[1];
    for (int32_t column = 0; column < stage->w_out; column++) {
        for (int32_t channel = 0; channel < stage->c_out; channel++) {
            const uint32_t sum =
                exact_term(&all->terms[0], first[channel * all->channel_steps[0]]) +
                exact_term(&all->terms[1], second[channel * all->channel_steps[1]]);
            output[channel * stage->output.channel_step] =
                exact_byte(&all->call, &stage->quants[2], (int32_t)sum);
        }
        first += all->pixel_steps[0];
        second += all->pixel_steps[1];
        output += stage->output.pixel_step;
    }
}

ALWAYS_INLINE void add_quickly(const struct addition *all, int8_t *output)
{
    const struct stage *const stage = all->stage;
    const struct term one = all->terms[0], two = all->terms[1];
    const uint32_t low = all_bytes(all->call.activation_min);
    const uint32_t high = all_bytes(all->call.activation_max);
    const int8_t *first = all->rows[0], *second = all->rows[1];
    for (int32_t column = 0; column < stage->w_out; column++) {
        const int8_t *a = first, *b = second;
        int8_t *to = output;
        for (int32_t channel = 0; channel < stage->c_out; channel++) {
            const int32_t sum = doubled_term(&one, *a) + doubled_term(&two, *b);
            *to = (int8_t)clamped((uint32_t)saturated(&all->channel, sum), low, high);
            a += all->channel_steps[0];
            b += all->channel_steps[1];
            to += stage->output.channel_step;
        }
        first += all->pixel_steps[0];
        second += all->pixel_steps[1];
        output += stage->output.pixel_step;
    }
}

ALWAYS_INLINE void set_operand(struct addition *all, int32_t number, const struct rows *rows,
                               const int8_t *row)
{
    all->rows[number] = row;
    all->pixel_steps[number] = rows->pixel_step;
    all->channel_steps[number] = rows->channel_step;
}

RAM_CODE("m33_segment_add")
void m33_segment_add(const struct segment *segment, int32_t number, const struct op_call *whole)
{
    const struct stage *const stage = &segment->stages[number];
    const int32_t row = stage->output.made;
    const int32_t own = stage->other_first ? 1 : 0;
    const struct quant_record *const quant = &stage->quants[2];
    const int32_t shift = -quant->shift;
    int8_t *const output = plain_segment_row(segment, number, row);
    struct addition all;
    set_call(&all.call, whole, stage);
    all.stage = stage;
    set_operand(&all, own, &segment->stages[number - 1].output,
                plain_segment_row(segment, number - 1, row));
    set_operand(&all, 1 - own, stage->other, plain_segment_other(stage->other, row));
    all.channel.multiplier = quant->multiplier;
    all.channel.shift = shift;
    const bool first = set_term(&all.terms[0], stage, 0);
    const bool second = set_term(&all.terms[1], stage, 1);
    if (!first || !second || shift < LEAST_SHIFT || shift > MOST_SHIFT ||
        quant->multiplier <= 0) {
        add_exactly(&all, output);
        return;
    }
    all.channel.offset = (int32_t)((uint32_t)(2 * stage->output_zero_point + 1) << (shift - 1));
    add_quickly(&all, output);
}
