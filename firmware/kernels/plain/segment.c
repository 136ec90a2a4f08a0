/* SPDX-License-Identifier: Apache-2.0 */
/* A plain segment: convolutions, depthwise ones of multiplier 1, and adds of two tensors of one shape,
 * one row of one of them after the other (segment_rows.h). Every scalar is that of the plain kernels.
 *
 *   convolution: for each pixel its field is copied to scratch, padding as the input's zero point; then
 *                its channels are computed from the copy and written in ascending order.
 *   depthwise:   for each channel the rows of its window are copied to scratch, with padding; then the
 *                row of this channel is written, from left to right. So it may take the place of one of
 *                them.
 *   add:         both scalars are read, then the sum is written; pixels and channels ascending.
 *
 * What a row reads of the segment's operands it reads before it is written, of an add each scalar before
 * the one in its place; nothing else is written but the rings and their padding. Rounding is double or
 * single. */
#include "kernels/plain/bytes.h"
#include "kernels/plain/dot.h"
#include "kernels/plain/segment_rows.h"
#include "kernels/plain/taps.h"
#include "kernels/requantize.h"

enum { LEFT_SHIFT_FACTOR = 1 << 20 };         /* of an add, plain/add.c */

RAM_CODE("plain_segment_finish")
static int8_t finish(const struct stage *stage, const struct quant_record *quant, uint32_t sum)
{
    const int32_t scaled =
        requantize(stage->rounding, (int32_t)sum, quant->multiplier, quant->shift);
    return (int8_t)output_stage(scaled, stage->output_zero_point, stage->low, stage->high);
}

/* `count` scalars, `step` bytes apart, one behind the other. */
ALWAYS_INLINE int8_t *copy_apart(int8_t *to, const int8_t *from, int32_t count, int32_t step)
{
    for (; count > 0; count--) {
        *to++ = *from;
        from += step;
    }
    return to;
}

/* One row of the field of the pixel whose first tap is column x, real or not. */
RAM_CODE("plain_segment_field_row")
static int8_t *copy_field_row(int8_t *to, const struct stage *stage, const struct rows *source,
                              const int8_t *row, int32_t x)
{
    const struct taps taps = real_taps(x, 1, stage->k_w, stage->w_in);
    const int8_t padding = (int8_t)stage->input_zero_point;
    const int8_t *pixel = row + (x + taps.first) * source->pixel_step;
    to = fill(to, taps.first * stage->c_in, padding);
    for (int32_t tap = taps.first; tap < taps.end; tap++) {
        to = copy_apart(to, pixel, stage->c_in, source->channel_step);
        pixel += source->pixel_step;
    }
    return fill(to, (stage->k_w - taps.end) * stage->c_in, padding);
}

ALWAYS_INLINE bool exists(const struct stage *stage, int32_t y)
{
    return y >= 0 && y < stage->h_in;
}

RAM_CODE("plain_segment_conv")
static void conv_row(const struct segment *segment, int32_t number, int8_t *scratch)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const source = &segment->stages[number - 1].output;
    const int32_t field_bytes = stage->k_h * stage->k_w * stage->c_in;
    const int32_t top = stage->output.made * stage->s_h - stage->pad_top;
    int8_t *pixel = plain_segment_row(segment, number, stage->output.made);
    int32_t x = -stage->pad_left;
    for (int32_t column = 0; column < stage->w_out; column++, x += stage->s_w) {
        int8_t *to = scratch;
        for (int32_t y = top; y < top + stage->k_h; y++) {
            to = exists(stage, y)
                     ? copy_field_row(to, stage, source,
                                      plain_segment_row(segment, number - 1, y), x)
                     : fill(to, stage->k_w * stage->c_in, (int8_t)stage->input_zero_point);
        }
        const int8_t *weights = stage->weights;
        int8_t *output = pixel;
        for (int32_t channel = 0; channel < stage->c_out; channel++) {
            const struct quant_record *const quant = &stage->quants[channel];
            const uint32_t sum = dot((uint32_t)quant->bias, scratch, weights, field_bytes,
                                     stage->input_zero_point);
            *output = finish(stage, quant, sum);
            output += stage->output.channel_step;
            weights += field_bytes;
        }
        pixel += stage->output.pixel_step;
    }
}

/* The rows of one channel's window, with the padding beside, above and below them. */
RAM_CODE("plain_segment_window")
static void copy_window(int8_t *to, const struct segment *segment, int32_t number,
                        int32_t channel)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const source = &segment->stages[number - 1].output;
    const int32_t width = stage->pad_left + stage->w_in + stage->pad_right;
    const int8_t padding = (int8_t)stage->input_zero_point;
    const int32_t top = stage->output.made * stage->s_h - stage->pad_top;
    for (int32_t y = top; y < top + stage->k_h; y++) {
        if (!exists(stage, y)) {
            to = fill(to, width, padding);
            continue;
        }
        const int8_t *const row =
            plain_segment_row(segment, number - 1, y) + channel * source->channel_step;
        if (source->before == stage->pad_left && source->after == stage->pad_right) {
            to = copy_apart(to, row - source->before * source->pixel_step, width,
                            source->pixel_step);
            continue;
        }
        to = fill(to, stage->pad_left, padding);
        to = copy_apart(to, row, stage->w_in, source->pixel_step);
        to = fill(to, stage->pad_right, padding);
    }
}

RAM_CODE("plain_segment_depthwise")
static void depthwise_row(const struct segment *segment, int32_t number, int8_t *scratch)
{
    const struct stage *const stage = &segment->stages[number];
    const int32_t width = stage->pad_left + stage->w_in + stage->pad_right;
    int8_t *const row = plain_segment_row(segment, number, stage->output.made);
    for (int32_t channel = 0; channel < stage->c_out; channel++) {
        const struct quant_record *const quant = &stage->quants[channel];
        int8_t *output = row + channel * stage->output.channel_step;
        const int8_t *window = scratch;
        copy_window(scratch, segment, number, channel);
        for (int32_t column = 0; column < stage->w_out; column++, window += stage->s_w) {
            const int8_t *weight = stage->weights + channel;
            const int8_t *from = window;
            uint32_t sum = (uint32_t)quant->bias;
            for (int32_t k_y = 0; k_y < stage->k_h; k_y++, from += width) {
                for (int32_t k_x = 0; k_x < stage->k_w; k_x++, weight += stage->c_out) {
                    sum += (uint32_t)((from[k_x] - stage->input_zero_point) * *weight);
                }
            }
            *output = finish(stage, quant, sum);
            output += stage->output.pixel_step;
        }
    }
}

/* One operand of a sum, its first or its second. */
ALWAYS_INLINE uint32_t rescaled(const struct stage *stage, uint32_t operand, int32_t x)
{
    const int32_t zero_point = stage->record->input_zero_points[operand];
    const struct quant_record *const quant = &stage->quants[operand];
    return (uint32_t)requantize(stage->rounding, (x - zero_point) * LEFT_SHIFT_FACTOR,
                                quant->multiplier, quant->shift);
}

RAM_CODE("plain_segment_add")
static void add_row(const struct segment *segment, int32_t number)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const source = &segment->stages[number - 1].output;
    const int32_t row = stage->output.made;
    const int8_t *own = plain_segment_row(segment, number - 1, row);
    const int8_t *other = plain_segment_other(stage->other, row);
    int8_t *output = plain_segment_row(segment, number, row);
    for (int32_t column = 0; column < stage->w_out; column++) {
        for (int32_t channel = 0; channel < stage->c_out; channel++) {
            const int32_t a = own[channel * source->channel_step];
            const int32_t b = other[channel * stage->other->channel_step];
            const uint32_t sum = rescaled(stage, 0, stage->other_first ? b : a) +
                                 rescaled(stage, 1, stage->other_first ? a : b);
            output[channel * stage->output.channel_step] = finish(stage, &stage->quants[2], sum);
        }
        own += source->pixel_step;
        other += stage->other->pixel_step;
        output += stage->output.pixel_step;
    }
}

RAM_CODE("plain_segment")
void plain_segment(const struct op_call *call)
{
    struct segment segment;
    int8_t *const scratch = (int8_t *)call->scratch;
    plain_segment_begin(&segment, call);
    int32_t number = plain_segment_next(&segment, 0);
    while (number != 0) {
        if (segment.stages[number].kind == OP_KIND_CONV) {
            conv_row(&segment, number, scratch);
        } else if (segment.stages[number].kind == OP_KIND_DEPTHWISE) {
            depthwise_row(&segment, number, scratch);
        } else {
            add_row(&segment, number);
        }
        plain_segment_made(&segment, number);
        number = plain_segment_next(&segment, number);
    }
}
