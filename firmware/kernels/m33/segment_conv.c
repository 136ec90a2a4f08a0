/* SPDX-License-Identifier: Apache-2.0 */
/* A row of a convolution inside a segment: a step of pixels after the other, as conv.c does it. All fields
 * of a step are copied to scratch, then its channels are written, to a planar ring or pixel by pixel. Only
 * a stage that reads X has a window.
 *
 * Scratch: widened weights of 4 channels, which the staged bytes of a field share; fields of a step; spare
 * pixels. */
#include "kernels/m33/exact.h"
#include "kernels/m33/fields.h"
#include "kernels/m33/groups.h"
#include "kernels/m33/saturate.h"
#include "kernels/m33/segment.h"
#include "kernels/m33/segment_planes.h"
#include "kernels/m33/segment_sweep.h"
#include "kernels/m33/simd.h"
#include "kernels/plain/bytes.h"

enum { CHANNELS = SWEEP_CHANNELS };

/* Of a stage. taps: of a field; filled: rounded up to a multiple of 4. */
struct conv {
    struct op_call call;
    const struct stage *stage;
    struct channels channels;
    int32_t taps, filled;
    uint32_t *weights;                        /* of 4 channels, widened: 2 filled words */
    uint32_t *fields;
    int8_t *spare;
};

/* Pixels whose fields are gathered. output: of the first one. */
struct step {
    int8_t *output;
    int32_t count;
};

/* `count` pixels of a row of planes; what fills up the taps is some channel's. */
ALWAYS_INLINE void gather_planes(const struct conv *conv, const int8_t *row, int32_t channel_step,
                                 int32_t count)
{
    const int32_t whole = conv->taps / CHANNELS;
    const int32_t rest = conv->taps % CHANNELS;
    struct planes planes;
    planes.pair_bytes = 4 * conv->filled;
    planes.offset = both_halves(-2 * conv->call.input_zero_point);
    planes.squares = (count + 1) / 4;         /* of whole pairs, or with the partner of an odd pixel */
    planes.next[0] = channel_step;
    planes.next[1] = 2 * channel_step;
    planes.next[2] = 3 * channel_step;
    planes.group_step = CHANNELS * channel_step;
    planes.pair_more = 4 * planes.squares < count;
    planes.groups = whole;
    if (whole != 0) {
        m33_segment_expand_planes(conv->fields, row, &planes);
    }
    if (rest != 0) {
        planes.next[0] = rest > 1 ? channel_step : 0;
        planes.next[1] = rest > 2 ? 2 * channel_step : planes.next[0];
        planes.next[2] = planes.next[1];
        planes.groups = 1;
        m33_segment_expand_planes(conv->fields + 4 * whole, row + whole * planes.group_step, &planes);
    }
}

ALWAYS_INLINE int32_t taps_of(const struct stage *stage)
{
    return stage->k_h * stage->k_w * stage->c_in;
}

ALWAYS_INLINE int32_t filled_up(int32_t taps)
{
    return (taps + 3) & ~3;
}

RAM_CODE("m33_segment_conv_words")
int32_t m33_segment_conv_words(const struct stage *stage)
{
    return 2 * filled_up(taps_of(stage)) + (int32_t)(sizeof(struct numbers) / sizeof(uint32_t));
}

RAM_CODE("m33_segment_conv_scratch")
int32_t m33_segment_conv_scratch(const struct stage *stage, int32_t pixels)
{
    const int32_t odd = stage->w_out % 2 * 2 * CHANNELS;
    const int32_t rest = stage->c_out % CHANNELS != 0 ? CHANNELS * pixels : 0;
    return filled_up(taps_of(stage)) * (8 + 2 * pixels) + (odd > rest ? odd : rest);
}

ALWAYS_INLINE void set_conv(struct conv *conv, const struct stage *stage,
                            const struct op_call *whole, int32_t pixels)
{
    m33_segment_call(&conv->call, whole, stage);
    conv->stage = stage;
    conv->taps = taps_of(stage);
    conv->filled = filled_up(conv->taps);
    conv->channels = channels_of(&conv->call, conv->taps, 1);
    conv->weights = (uint32_t *)(void *)whole->scratch;
    conv->fields = conv->weights + 2 * conv->filled;
    conv->spare = (int8_t *)(conv->fields + pixels * conv->filled / 2);
}

/* Constants of a group of 4 channels; to those that are slow, a bit each. */
ALWAYS_INLINE uint32_t put_group(const struct conv *conv, int32_t channel, uint32_t *weights,
                          struct numbers *numbers)
{
    const int8_t *rows[CHANNELS];
    const struct specials special = m33_plan_channels(&conv->channels, channel, numbers->channels,
                                                      numbers->doubled_bias, rows);
    m33_widen_channels(weights, conv->taps, rows, special.negated);
    return special.slow;
}

/* Up to 4 channels of all pixels of a step, to planes: what is no pair, and what are not 4 channels, goes by
 * way of the spare pixels. */
ALWAYS_INLINE void sweep_planes(const struct conv *conv, struct segment_sweep *sweep,
                                int32_t count, int32_t channels, int8_t *output)
{
    const int32_t plane_step = conv->stage->output.channel_step;
    int32_t pixel = channels == CHANNELS ? count & ~1 : 0;
    sweep->output_end = output + pixel;
    if (pixel != 0) {
        m33_segment_sweep(sweep);
    }
    sweep->plane_step = 2;
    for (; pixel < count; pixel += 2) {
        sweep->fields = conv->fields + pixel / 2 * conv->filled;
        sweep->output = conv->spare;
        sweep->output_end = conv->spare + 2;
        m33_segment_sweep(sweep);
        for (int32_t channel = 0; channel < channels; channel++) {
            int8_t *const to = output + channel * plane_step + pixel;
            to[0] = conv->spare[2 * channel];
            if (pixel + 1 < count) {
                to[1] = conv->spare[2 * channel + 1];
            }
        }
    }
    sweep->plane_step = plane_step;
}

/* The same pixel by pixel. Of an odd number the last one's partner is written to a spare pixel. */
ALWAYS_INLINE void sweep_pixels(const struct conv *conv, struct segment_sweep *sweep,
                                int32_t count, int32_t channels, int8_t *output)
{
    const int32_t step = conv->stage->output.pixel_step;
    const bool whole = channels == CHANNELS;
    const int32_t pairs = whole ? count / 2 : (count + 1) / 2;
    if (!whole) {
        sweep->output = conv->spare;
        sweep->pixel_step = CHANNELS;
    }
    sweep->output_end = sweep->output + 2 * pairs * sweep->pixel_step;
    if (pairs != 0) {
        m33_segment_sweep(sweep);
    }
    if (!whole) {
        for (int32_t pixel = 0; pixel < count; pixel++) {
            copy(output + pixel * step, conv->spare + CHANNELS * pixel, channels);
        }
    } else {
        output += 2 * pairs * step;
        sweep->fields = conv->fields + pairs * conv->filled;
        sweep->output = output;
        sweep->pixel_step = (int32_t)((intptr_t)conv->spare - (intptr_t)output);
        sweep->output_end = output + 2 * sweep->pixel_step;
        m33_segment_sweep(sweep);
    }
    sweep->pixel_step = step;
}

/* Where they are not 4 channels of an even number of pixels. Of the sweep, what is set for all groups of a
 * step stays as it is. */
RAM_CODE("m33_segment_sweep_rest")
static void sweep_rest(const struct conv *conv, struct segment_sweep *sweep, int32_t count,
                       int32_t channels)
{
    if (sweep->pixel_step == 0) {
        sweep_planes(conv, sweep, count, channels, sweep->output);
    } else {
        sweep_pixels(conv, sweep, count, channels, sweep->output);
    }
    sweep->fields = conv->fields;
}

/* All channels of a step, ascending. */
RAM_CODE("m33_segment_conv_step")
static void conv_step(const struct conv *conv, const struct step *step, struct kept *kept)
{
    const struct stage *const stage = conv->stage;
    const int32_t weights_words = 2 * conv->filled;
    const int32_t channel_step = stage->output.channel_step;
    const int32_t run = step->count * stage->output.pixel_step;
    const bool odd = step->count % 2 != 0;
    uint32_t *block = kept->first;
    int8_t *output = step->output;
    int32_t channel = 0;
    struct numbers of_scratch;
    struct segment_sweep sweep;
    sweep.fields = conv->fields;
    sweep.low = all_bytes(conv->call.activation_min);
    sweep.high = all_bytes(conv->call.activation_max);
    sweep.plane_step = channel_step;
    sweep.pixel_step = channel_step != 1 ? 0 : stage->output.pixel_step;
    sweep.end_step = CHANNELS * channel_step;
    sweep.output_step = sweep.end_step - run;
    sweep.block_step = 4 * kept->words;
    while (channel < stage->c_out) {
        const int32_t left = stage->c_out - channel;
        const int32_t group = channel / CHANNELS;
        const bool whole = !odd && left >= CHANNELS;
        uint32_t *weights = block;
        struct numbers *numbers = (struct numbers *)(void *)(block + weights_words);
        uint32_t slow = 0;
        int32_t groups = 1;
        if (group >= kept->groups) {
            const bool keeps = room_for_group(kept, group) != NULL;
            if (!keeps) {
                weights = conv->weights;
                numbers = &of_scratch;
            }
            slow = put_group(conv, channel, weights, numbers);
            if (keeps) {
                keep_group(kept, slow != 0);
            }
        } else if (whole) {
            groups = left / CHANNELS;
            groups = kept->groups - group < groups ? kept->groups - group : groups;
        }
        sweep.groups = groups;
        sweep.weights = weights;
        sweep.weights_end = weights + weights_words;
        sweep.numbers = numbers;
        sweep.output = output;
        sweep.output_end = output + run;
        if (whole) {
            m33_segment_sweep(&sweep);
        } else {
            sweep_rest(conv, &sweep, step->count, left < CHANNELS ? left : CHANNELS);
        }
        for (int32_t at = channel; slow != 0 && at < stage->c_out; at++, slow >>= 1) {
            if ((slow & 1) != 0) {
                m33_exact_channel(&conv->channels, conv->fields, step->count, at,
                                  step->output + at * channel_step, stage->output.pixel_step);
            }
        }
        block += groups * kept->words;
        output += groups * sweep.end_step;
        channel += CHANNELS * groups;
    }
}

RAM_CODE("m33_segment_conv")
void m33_segment_conv(const struct segment *segment, int32_t number, const struct op_call *whole,
                      struct kept *kept)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const source = &segment->stages[number - 1].output;
    const int32_t row = stage->output.made;
    struct conv conv;
    set_conv(&conv, stage, whole, kept->pixels);
    struct gathering gathering;
    gathering.call = &conv.call;
    gathering.staged = (int8_t *)conv.weights;
    gathering.taps = conv.taps;
    gathering.groups = conv.filled / 4;
    gathering.offset = both_halves(-2 * conv.call.input_zero_point);
    gathering.row = row;
    gathering.column = 0;
    conv.call.input = source->first;
    if (number > 1) {                         /* a row of a ring, pointwise */
        conv.call.input = m33_segment_row(segment, number - 1, row);
        conv.call.h_in = 1;
        conv.call.h_out = 1;
        gathering.row = 0;
    }
    struct step step = {plain_segment_row(segment, number, row), kept->pixels};
    for (int32_t first = 0; first < stage->w_out; first += kept->pixels) {
        if (step.count > stage->w_out - first) {
            step.count = stage->w_out - first;
        }
        if (source->channel_step != 1) {
            gather_planes(&conv, conv.call.input + first, source->channel_step, step.count);
        } else {
            m33_gather(&gathering, conv.fields, step.count);
        }
        conv_step(&conv, &step, kept);
        step.output += step.count * stage->output.pixel_step;
    }
}
