/* SPDX-License-Identifier: Apache-2.0 */
/* A segment's stages for the Cortex-M33: see segment.c. */
#ifndef KERNELS_M33_SEGMENT_H
#define KERNELS_M33_SEGMENT_H

#include "kernels/plain/segment_rows.h"

/* Each makes the next row of stage `number`. whole: the call of the segment. In SRAM. */
void m33_segment_depthwise(const struct segment *segment, int32_t number,
                           const struct op_call *whole);
void m33_segment_add(const struct segment *segment, int32_t number, const struct op_call *whole);

/* What the code of single ops asks of a stage. */
ALWAYS_INLINE void set_call(struct op_call *call, const struct op_call *segment,
                            const struct stage *stage)
{
    call->weights = stage->weights;
    call->quants = stage->quants;
    call->scratch = segment->scratch;
    call->h_in = stage->h_in;
    call->w_in = stage->w_in;
    call->c_in = stage->c_in;
    call->h_out = stage->h_out;
    call->w_out = stage->w_out;
    call->c_out = stage->c_out;
    call->k_h = stage->k_h;
    call->k_w = stage->k_w;
    call->s_h = stage->s_h;
    call->s_w = stage->s_w;
    call->d_h = 1;
    call->d_w = 1;
    call->pad_top = stage->pad_top;
    call->pad_left = stage->pad_left;
    call->input_zero_point = stage->input_zero_point;
    call->output_zero_point = stage->output_zero_point;
    call->activation_min = stage->low + stage->output_zero_point;
    call->activation_max = stage->high + stage->output_zero_point;
}

#endif
