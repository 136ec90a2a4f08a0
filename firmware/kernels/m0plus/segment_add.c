/* SPDX-License-Identifier: Apache-2.0 */
/* A row of an addition inside a segment. */
#include "kernels/m0plus/addition.h"
#include "kernels/m0plus/segment.h"

#ifdef __arm__

/* Of a sum, a row. flip: what it holds differs from the scalars by these bits (PLANE_BIAS). */
struct operand {
    const int8_t *pixel;
    int32_t pixel_step, channel_step;
    int8_t flip;
};

ALWAYS_INLINE struct operand operand_of(const struct rows *rows, const int8_t *row, bool parked)
{
    return (struct operand){
        .pixel = row,
        .pixel_step = rows->pixel_step,
        .channel_step = rows->channel_step,
        .flip = !parked && rows->channel_step != 1 ? INT8_MIN : 0,
    };
}

/* What m0plus_add_exact reads of a call. */
ALWAYS_INLINE struct op_call call_of(const struct stage *stage)
{
    return (struct op_call){
        .quants = stage->quants,
        .record = stage->record,
        .output_zero_point = stage->output_zero_point,
        .activation_min = stage->low + stage->output_zero_point,
        .activation_max = stage->high + stage->output_zero_point,
    };
}

/* All of them one behind the other. */
ALWAYS_INLINE void add_run(const struct stage *stage, const struct op_call *call, const int8_t *a,
                           const int8_t *b, int8_t *output)
{
    const int32_t count = stage->w_out * stage->c_out;
    struct addition addition = {
        .a = a + count,
        .b = b + count,
        .output = output + count,
        .minus_count = -count,
        .packed = *(const struct packed_add *)(const void *)stage->weights,
        .low = call->activation_min,
        .high = call->activation_max,
        .call = call,
    };
    m0plus_add_run(&addition);
}

/* A pixel, its channels apart from each other. */
ALWAYS_INLINE void add_pixel(const struct stage *stage, const struct op_call *call,
                             const struct operand *one, const struct operand *two, int8_t *output)
{
    const int8_t *a = one->pixel;
    const int8_t *b = two->pixel;
    for (int32_t channel = 0; channel < stage->c_out; channel++) {
        const int32_t sum =
            m0plus_add_exact((int8_t)(*a ^ one->flip), (int8_t)(*b ^ two->flip), call);
        *output = (int8_t)(sum + output_bias(stage));
        output += stage->output.channel_step;
        a += one->channel_step;
        b += two->channel_step;
    }
}

RAM_CODE("m0plus_segment_add")
void m0plus_segment_add(const struct segment *segment, int32_t number)
{
    const struct stage *const stage = &segment->stages[number];
    const struct stage *const before = &segment->stages[number - 1];
    const int32_t row = stage->output.made;
    const struct operand own = operand_of(
        &before->output, row_of_planes(segment, number - 1, row), before->parked);
    const struct operand other =
        operand_of(stage->other, plain_segment_other(stage->other, row), false);
    struct operand one = stage->other_first ? other : own;
    struct operand two = stage->other_first ? own : other;
    int8_t *output = plain_segment_row(segment, number, row);
    const struct op_call call = call_of(stage);
    if (one.channel_step == 1 && two.channel_step == 1 && stage->output.channel_step == 1) {
        add_run(stage, &call, one.pixel, two.pixel, output);
        return;
    }
    for (int32_t column = 0; column < stage->w_out; column++) {
        add_pixel(stage, &call, &one, &two, output);
        one.pixel += one.pixel_step;
        two.pixel += two.pixel_step;
        output += stage->output.pixel_step;
    }
}

#endif
