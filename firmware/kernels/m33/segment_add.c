/* SPDX-License-Identifier: Apache-2.0 */
/* A row of an add of two tensors of one shape, pixels and channels ascending: by the tables of add.c where
 * these last from row to row and both operands lie pixel by pixel, otherwise scalar by scalar. */
#include "kernels/m33/add.h"
#include "kernels/m33/segment.h"

/* In the order of the stage's record. */
struct operands {
    const int8_t *rows[2];
    const struct rows *of[2];
};

RAM_CODE("m33_segment_add_exactly")
static void add_exactly(const struct stage *stage, const struct op_call *call,
                        const struct operands *operands, int8_t *output)
{
    const struct rows *const one = operands->of[0], *const two = operands->of[1];
    for (int32_t column = 0; column < stage->w_out; column++) {
        const int8_t *a = operands->rows[0] + column * one->pixel_step;
        const int8_t *b = operands->rows[1] + column * two->pixel_step;
        int8_t *to = output + column * stage->output.pixel_step;
        for (int32_t channel = 0; channel < stage->c_out; channel++) {
            *to = m33_add_exactly(call, *a, *b);
            a += one->channel_step;
            b += two->channel_step;
            to += stage->output.channel_step;
        }
    }
}

RAM_CODE("m33_segment_add")
void m33_segment_add(const struct segment *segment, int32_t number, const struct op_call *whole,
                     struct kept *kept)
{
    const struct stage *const stage = &segment->stages[number];
    const int32_t row = stage->output.made;
    const int32_t own = stage->other_first ? 1 : 0;
    int8_t *const output = plain_segment_row(segment, number, row);
    struct operands operands;
    operands.of[own] = &segment->stages[number - 1].output;
    operands.rows[own] = m33_segment_row(segment, number - 1, row);
    operands.of[1 - own] = stage->other;
    operands.rows[1 - own] = plain_segment_other(stage->other, row);
    struct op_call call;
    struct add add;
    m33_segment_call(&call, whole, stage);
    const bool planes = operands.of[0]->channel_step != 1 || operands.of[1]->channel_step != 1 ||
                        stage->output.channel_step != 1;
    if (!planes && kept->most != 0) {
        const bool made = kept->groups != 0;
        const bool usual = m33_add_begin(&add, &call, kept->first, made);
        if (!made) {
            keep_group(kept, !usual);
        }
        if (usual) {
            m33_add_run(&add, operands.rows[0], operands.rows[1], output,
                        stage->w_out * stage->c_out);
            return;
        }
    }
    add_exactly(stage, &call, &operands, output);
}
