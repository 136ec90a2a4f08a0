/* SPDX-License-Identifier: Apache-2.0 */
/* A segment for the Cortex-M33's SIMD: rows pulled through convolutions, depthwise ones of 3 x 3, 5 x 5
 * and 7 x 7 and strides 1 and 2, and adds (plain/segment_rows.h), double rounding, planar rings.
 *
 *   convolution: a step of pixels after the other, as conv.c does it: all fields of a step are copied to
 *                scratch, then its channels are written, to a planar ring or pixel by pixel. Only a
 *                stage that reads X has a window.
 *   depthwise:   segment_depthwise.c.
 *   add:         segment_add.c.
 *
 * Scratch of a convolution: widened weights of 4 channels, which the staged bytes of a field share;
 * fields of a step; spare pixels. */
#include "kernels/m33/conv.h"
#include "kernels/m33/fields.h"
#include "kernels/m33/segment.h"
#include "kernels/m33/simd.h"
#include "kernels/m33/sweep.h"

enum { CHANNELS = 4 };                        /* in a group */

/* 4 channels of two pixels of a planar row to the fields of a pair, as m33_expand_planes has them. */
ALWAYS_INLINE void expand_half(uint32_t *to, const int8_t *const rows[4], int32_t at,
                               uint32_t offset)
{
#pragma GCC unroll 2
    for (int32_t number = 0; number < 2; number++) {
        const uint32_t x = word_at(rows[number] + at), y = word_at(rows[number + 2] + at);
        to[2 * number] = bottoms(add_even_bytes(add_even_bytes(offset, x), x),
                                 add_even_bytes(add_even_bytes(offset, y), y));
        to[2 * number + 1] = bottoms(add_odd_bytes(add_odd_bytes(offset, x), x),
                                     add_odd_bytes(add_odd_bytes(offset, y), y));
    }
}

/* `count` pixels of a row of planes; what fills up the taps is some channel's. */
RAM_CODE("m33_segment_gather_planes")
static void gather_planes(const struct conv *conv, const int8_t *row, int32_t channel_step,
                          int32_t count)
{
    const int32_t last = conv->taps - 1;
    const uint32_t offset = both_halves(-2 * conv->call->input_zero_point);
    const int32_t squares = (count + 1) / 4;  /* of whole pairs, or with the partner of an odd pixel */
    uint32_t *to = conv->fields;
    for (int32_t channel = 0; channel < conv->taps; channel += CHANNELS, to += 4) {
        const int8_t *rows[CHANNELS];
#pragma GCC unroll 4
        for (int32_t number = 0; number < CHANNELS; number++) {
            const int32_t at = channel + number < last ? channel + number : last;
            rows[number] = row + at * channel_step;
        }
        if (squares != 0) {
            m33_expand_planes(to, rows, offset, squares, 4 * conv->filled);
        }
        if (4 * squares < count) {
            expand_half(to + 2 * squares * conv->filled, rows, 4 * squares, offset);
        }
    }
}

/* Pixels of a step: a row, of fields that are filled up half a row. As kernels.yaml has it. */
ALWAYS_INLINE int32_t pixels_of(const struct stage *stage, int32_t taps)
{
    const int32_t pixels = taps % 4 == 0 ? stage->w_out : (stage->w_out + 1) / 2;
    return (pixels + 1) & ~1;
}

ALWAYS_INLINE struct conv conv_of_stage(const struct op_call *call, const struct stage *stage)
{
    const int32_t taps = stage->k_h * stage->k_w * stage->c_in;
    const int32_t filled = (taps + 3) & ~3;
    uint32_t *const weights = (uint32_t *)(void *)call->scratch;
    uint32_t *const fields = weights + 2 * filled;
    return (struct conv){
        .call = call,
        .channels = channels_of(call, taps, 1),
        .taps = taps,
        .filled = filled,
        .weights = weights,
        .fields = fields,
        .staged = (int8_t *)weights,
        .spare = (int8_t *)(fields + call->step_pixels * filled / 2),
        .pixel_step = stage->output.pixel_step,
        .channel_step = stage->output.channel_step,
    };
}

RAM_CODE("m33_segment_conv")
static void conv_row(const struct segment *segment, int32_t number, const struct op_call *whole)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const source = &segment->stages[number - 1].output;
    const int32_t row = stage->output.made;
    struct op_call call;
    set_call(&call, whole, stage);
    call.step_pixels = pixels_of(stage, stage->k_h * stage->k_w * stage->c_in);
    const struct conv conv = conv_of_stage(&call, stage);
    struct gathering gathering;
    gathering.call = &call;
    gathering.staged = conv.staged;
    gathering.taps = conv.taps;
    gathering.groups = conv.filled / 4;
    gathering.offset = both_halves(-2 * call.input_zero_point);
    gathering.row = row;
    gathering.column = 0;
    call.input = source->first;
    if (number > 1) {                         /* a row of a ring, pointwise */
        call.input = plain_segment_row(segment, number - 1, row);
        call.h_in = 1;
        call.h_out = 1;
        gathering.row = 0;
    }
    struct step step = {plain_segment_row(segment, number, row), call.step_pixels};
    for (int32_t first = 0; first < stage->w_out; first += call.step_pixels) {
        if (step.count > stage->w_out - first) {
            step.count = stage->w_out - first;
        }
        if (source->channel_step != 1) {
            gather_planes(&conv, call.input + first, source->channel_step, step.count);
        } else {
            m33_gather(&gathering, conv.fields, step.count);
        }
        m33_conv_step(&conv, &step);
        step.output += step.count * stage->output.pixel_step;
    }
}

RAM_CODE("m33_segment")
void m33_segment(const struct op_call *call)
{
    struct segment segment;
    plain_segment_begin(&segment, call);
    int32_t number = plain_segment_next(&segment, 0);
    while (number != 0) {
        if (segment.stages[number].kind == OP_KIND_CONV) {
            conv_row(&segment, number, call);
        } else if (segment.stages[number].kind == OP_KIND_DEPTHWISE) {
            m33_segment_depthwise(&segment, number, call);
        } else {
            m33_segment_add(&segment, number, call);
        }
        plain_segment_made(&segment, number);
        number = plain_segment_next(&segment, number);
    }
}
