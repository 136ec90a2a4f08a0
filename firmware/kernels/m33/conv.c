/* SPDX-License-Identifier: Apache-2.0 */
/* int8 convolution for the Cortex-M33's SIMD: dense, by rows, gather, double rounding; any kernel
 * size, stride, dilation, padding and channels.
 *
 * Steps of call->step_pixels output pixels in row-major order, over the ends of rows; the last one
 * may be shorter. In each
 *   1. the receptive fields of all its pixels are copied to scratch (fields.h);
 *   2. for each 4 output channels in ascending order, their weights are widened to halfwords in
 *      scratch, once for all pixels, and the channels of these pixels are written, pixels ascending.
 * (A step of one pixel takes the weights as they are, four channels at a time.)
 * Nothing of the arena is read in 2, and nothing but the step's output is written. The bytes of a
 * channel that only the exact code can do (channel.h) are written twice, the second time right.
 *
 * Scratch, taps being a field's rounded up to 4 and pixels the step's rounded up to 2:
 *   widened weights  8 taps;  fields  2 taps pixels;  staged bytes  taps + 4;  channels beyond a
 *   multiple of 4, or the partner of an odd pixel  4 pixels. */
#include "kernels/m33/conv.h"

#include "kernels/m33/exact.h"
#include "kernels/m33/fields.h"
#include "kernels/m33/groups.h"
#include "kernels/m33/saturate.h"
#include "kernels/m33/simd.h"
#include "kernels/m33/sweep.h"
#include "kernels/plain/bytes.h"
#include "port/placement.h"
#include "runner/kernels.h"

/* Of one op. taps: of a field; filled: rounded up to a multiple of 4. */
struct conv {
    const struct op_call *call;
    struct channels channels;
    int32_t taps, filled;
    uint32_t *weights;                        /* of 4 channels, widened: 2 filled words */
    uint32_t *fields;
    int8_t *staged, *spare;
};

/* Pixels whose fields are gathered. output: of the first one. */
struct step {
    int8_t *output;
    int32_t count;
};

ALWAYS_INLINE struct conv conv_of(const struct op_call *call)
{
    const int32_t taps = call->k_h * call->k_w * call->c_in;
    const int32_t filled = (taps + 3) & ~3;
    const int32_t pixels = (call->step_pixels + 1) & ~1;
    uint32_t *const weights = (uint32_t *)(void *)call->scratch;
    uint32_t *const fields = weights + 2 * filled;
    int8_t *const staged = (int8_t *)(fields + pixels * filled / 2);
    return (struct conv){
        .call = call,
        .channels = channels_of(call, taps, 1),
        .taps = taps,
        .filled = filled,
        .weights = weights,
        .fields = fields,
        .staged = staged,
        .spare = staged + filled + 4,
    };
}

/* 4 channels of all pixels of a step; with an odd number of them the last one's partner is written to
 * `partner`, 4 bytes. */
ALWAYS_INLINE void sweep_pixels(const struct conv *conv, struct sweep *sweep, int32_t count,
                                int8_t *partner)
{
    sweep->fields = conv->fields;
    sweep->pairs = count / 2;
    if (sweep->pairs != 0) {
        m33_sweep(sweep);
    }
    if (count % 2 != 0) {
        sweep->fields = conv->fields + count / 2 * conv->filled;
        sweep->pairs = 1;
        sweep->pixel_step = (int32_t)((intptr_t)partner - (intptr_t)sweep->output);
        m33_sweep(sweep);
    }
}

/* The channels of a step that are left behind the last 4: by way of the spare pixels. */
ALWAYS_INLINE void write_rest(const struct conv *conv, struct sweep *sweep, int32_t count,
                              int8_t *output, int32_t channels)
{
    const int32_t pixel_step = conv->call->c_out;
    sweep->output = conv->spare;
    sweep->pixel_step = SWEEP_CHANNELS;
    sweep_pixels(conv, sweep, count, conv->spare + SWEEP_CHANNELS * count);
    for (int32_t pixel = 0; pixel < count; pixel++) {
        copy(output + pixel * pixel_step, conv->spare + SWEEP_CHANNELS * pixel, channels);
    }
}

/* 4 channels of the only pixel of a step. */
ALWAYS_INLINE void write_pixel(const struct conv *conv, const struct sweep *sweep,
                               const int8_t *weights, int8_t *output)
{
    struct dot dot = {
        .field = conv->fields,
        .weights = weights,
        .channel_step = conv->taps,
        .groups = conv->filled / 4,
    };
    int32_t bytes[SWEEP_CHANNELS];
#pragma GCC unroll 4
    for (int32_t number = 0; number < SWEEP_CHANNELS; number++) {
        dot.doubled_sums[number] = sweep->doubled_bias[number];
    }
    m33_dot(&dot);
#pragma GCC unroll 4
    for (int32_t number = 0; number < SWEEP_CHANNELS; number++) {
        bytes[number] = saturated(&sweep->channels[number], dot.doubled_sums[number]);
    }
    const uint32_t word = four_bytes(bytes[0], bytes[1], bytes[2], bytes[3]);
    put_word(output, clamped(word, sweep->low, sweep->high));
}

ALWAYS_INLINE void write_channels(const struct conv *conv, const struct step *step,
                                  struct sweep *sweep, int32_t channel)
{
    const struct op_call *const call = conv->call;
    const int32_t left = call->c_out - channel;
    int8_t *const output = step->output + channel;
    const int8_t *rows[SWEEP_CHANNELS];
    const struct specials special = m33_plan_channels(&conv->channels, channel, sweep->channels,
                                                      sweep->doubled_bias, rows);
    if (step->count == 1 && left >= SWEEP_CHANNELS && special.negated == 0 &&
        conv->taps == conv->filled) {
        write_pixel(conv, sweep, rows[0], output);
    } else {
        m33_widen_channels(conv->weights, conv->taps, rows, special.negated);
        if (left >= SWEEP_CHANNELS) {
            sweep->output = output;
            sweep->pixel_step = call->c_out;
            sweep_pixels(conv, sweep, step->count, conv->spare);
        } else {
            write_rest(conv, sweep, step->count, output, left);
        }
    }
    uint32_t slow = special.slow;
    for (int32_t number = 0; slow != 0 && number < left; number++, slow >>= 1) {
        if ((slow & 1) != 0) {
            m33_exact_channel(&conv->channels, conv->fields, step->count, channel + number,
                              output + number, call->c_out);
        }
    }
}

RAM_CODE("m33_conv_step")
static void conv_step(const struct conv *conv, const struct step *step)
{
    const struct op_call *const call = conv->call;
    struct sweep sweep;                       /* an initializer would call memset, which lies in flash */
    sweep.low = all_bytes(call->activation_min);
    sweep.high = all_bytes(call->activation_max);
    sweep.weights = conv->weights;
    sweep.pair_bytes = 4 * conv->filled;
    for (int32_t channel = 0; channel < call->c_out; channel += SWEEP_CHANNELS) {
        write_channels(conv, step, &sweep, channel);
    }
}

RAM_CODE("m33_conv")
void m33_conv(const struct op_call *call)
{
    const struct conv conv = conv_of(call);
    struct gathering gathering = {
        .call = call,
        .staged = conv.staged,
        .taps = conv.taps,
        .groups = conv.filled / 4,
        .offset = both_halves(-2 * call->input_zero_point),
    };
    const int32_t pixels = call->h_out * call->w_out;
    struct step step = {call->output, call->step_pixels};
    for (int32_t first = 0; first < pixels; first += call->step_pixels) {
        if (step.count > pixels - first) {
            step.count = pixels - first;
        }
        m33_gather(&gathering, conv.fields, step.count);
        conv_step(&conv, &step);
        step.output += call->step_pixels * call->c_out;
    }
}
