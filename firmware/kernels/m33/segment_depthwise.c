/* SPDX-License-Identifier: Apache-2.0 */
/* A row of a depthwise stage, 3 x 3, 5 x 5 and 7 x 7, strides 1 and 2, from a planar ring: a channel after
 * the other, its k rows read as bytes where they lie, and its outputs written from left to right, each four
 * when their taps have been read (strips.S). So its row may lie on the topmost of the k rows, if it
 * begins where that one's padding does (segment.h).
 *
 * The zero point is no part of what is read: it is taken off the bias, times the channel's weights; so
 * rows above and below the tensor are a row of zero points in scratch.
 *
 * Scratch: constants of 4 channels, a row of padding. */
#include "kernels/m33/groups.h"
#include "kernels/m33/saturate.h"
#include "kernels/m33/segment.h"
#include "kernels/m33/segment_planes.h"
#include "kernels/m33/simd.h"
#include "kernels/m33/strips.h"

/* BEYOND: what a strip reads behind the taps of its last outputs, rounded up. NUMBERS: words of a channel's
 * constants behind its weights, of which BIAS is the last. */
enum { CHANNELS = 4, BEYOND = 16, NUMBERS = 4, BIAS = 3 };

/* Of a depthwise stage. channel_words: of a channel's constants; before_last: bytes of a row of inputs before
 * the last outputs' taps. */
struct depthwise {
    struct op_call call;
    const struct stage *stage;
    struct channels channels;
    strips_function *strips;
    int32_t channel_words, before_last;
};

/* Not a table, which would be one more line of flash. */
ALWAYS_INLINE strips_function *strips_of(int32_t k, int32_t s)
{
    if (k == 3) {
        return s == 1 ? m33_strips_3_1 : m33_strips_3_2;
    }
    if (k == 5) {
        return s == 1 ? m33_strips_5_1 : m33_strips_5_2;
    }
    return s == 1 ? m33_strips_7_1 : m33_strips_7_2;
}

/* That are made at a time. */
ALWAYS_INLINE int32_t strip_outputs(const struct stage *stage)
{
    return stage->k_w == 3 && stage->s_w == 1 ? 8 : 4;
}

/* Weights of a row of k taps. */
ALWAYS_INLINE int32_t words_of(int32_t k)
{
    return k == 7 ? 5 : (k + 1) / 2;
}

ALWAYS_INLINE void negate_words(uint32_t *words, int32_t count)
{
    for (int32_t at = 0; at < count; at++) {
        words[at] = negated_halves(words[at]);
    }
}

/* Constants of up to 4 channels; to those that are slow, a bit each. Where there are fewer, what lies behind
 * their weights is read, too, and of no account. */
RAM_CODE("m33_segment_put_constants")
static uint32_t put_constants(const struct depthwise *d, int32_t first, uint32_t *to)
{
    const struct stage *const stage = d->stage;
    const int32_t left = stage->c_out - first;
    const int32_t count = left < CHANNELS ? left : CHANNELS;
    const int32_t words = d->channel_words, bytes = 4 * words;
    const int8_t *const from = stage->weights + first;
    const uint64_t sums = m33_segment_spread(to, from, stage->c_out, bytes, stage->k_w);
    const uint32_t even = (uint32_t)sums, odd = (uint32_t)(sums >> 32);
    int32_t sum_of[CHANNELS] = {(int16_t)even, (int16_t)odd, (int32_t)even >> 16,
                                (int32_t)odd >> 16};
    const int32_t weights = words - NUMBERS;
    uint32_t *numbers = to + weights;
    uint32_t slow = 0;
    if (count < CHANNELS ||
        m33_plan_group(&d->channels, &stage->quants[first], (struct channel *)(void *)numbers,
                       (int32_t *)numbers + BIAS, bytes, bytes) != 0) {
        for (int32_t at = 0; at < count; at++, to += words) {
            uint32_t *const own = to + weights;
            const enum special special =
                m33_plan_channel(&d->channels, &stage->quants[first + at], from + at,
                                 (int32_t *)own + BIAS, (struct channel *)(void *)own);
            slow |= (uint32_t)((special & SLOW) != 0) << at;
            if ((special & NEGATED) != 0) {
                negate_words(to, weights);
                sum_of[at] = -sum_of[at];
            }
        }
    }
#pragma GCC unroll 1
    for (int32_t at = 0; at < CHANNELS; at++, numbers += words) {
        numbers[BIAS] -= (uint32_t)(stage->input_zero_point * sum_of[at]);
    }
    return slow;
}

ALWAYS_INLINE void set_depthwise(struct depthwise *d, const struct stage *stage,
                                 const struct op_call *whole)
{
    const int32_t k = stage->k_w;
    m33_segment_call(&d->call, whole, stage);
    d->stage = stage;
    d->channels = channels_of(&d->call, k * k, stage->c_out);
    d->channel_words = k * words_of(k) + NUMBERS;
    d->strips = strips_of(k, stage->s_w);
}

RAM_CODE("m33_segment_depthwise_words")
int32_t m33_segment_depthwise_words(const struct stage *stage)
{
    return CHANNELS * (stage->k_w * words_of(stage->k_w) + NUMBERS);
}

/* A row of padding, and what is read behind it. */
ALWAYS_INLINE int32_t padding_bytes(const struct stage *stage)
{
    return (stage->w_out + 3) / 4 * 4 * stage->s_w + BEYOND;
}

RAM_CODE("m33_segment_depthwise_scratch")
int32_t m33_segment_depthwise_scratch(const struct stage *stage)
{
    return (int32_t)sizeof(uint32_t) * m33_segment_depthwise_words(stage) + padding_bytes(stage);
}

/* The rows of taps of the next row, of the first channel. Those above and below the tensor are `padding`, a
 * bit each. */
ALWAYS_INLINE uint32_t set_rows(struct strips *strips, const struct segment *segment,
                                int32_t number, const int8_t *padding)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const source = &segment->stages[number - 1].output;
    const int32_t top = stage->output.made * stage->s_h - stage->pad_top;
    const int8_t *const first = source->first - source->before;
    const int8_t *const last = first + (source->slots - 1) * source->row_step;
    const int8_t *row = plain_segment_row(segment, number - 1, top) - source->before;
    uint32_t padded = 0;
    for (int32_t k_y = 0; k_y < stage->k_h; k_y++) {
        const bool real = (uint32_t)(top + k_y) < (uint32_t)stage->h_in;
        padded |= (uint32_t)!real << k_y;
        strips->rows[k_y] = real ? row : padding;
        row = row == last ? first : row + source->row_step;
    }
    return padded;
}

/* What is the same for all channels, and the way to the next one. */
ALWAYS_INLINE void set_strips(struct strips *strips, struct depthwise *d,
                              const struct rows *source)
{
    const struct stage *const stage = d->stage;
    const struct rows *const output = &stage->output;
    const int32_t unit = strip_outputs(stage);
    const int32_t units = (stage->w_out + unit - 1) / unit;
    strips->low = all_bytes(d->call.activation_min);
    strips->high = all_bytes(d->call.activation_max);
    strips->limit_step = output->pixel_step == 1 ? source->channel_step : 0;
    strips->output_step = output->channel_step - stage->w_out * output->pixel_step;
    strips->pixel_step = output->pixel_step;
    strips->width = unit * stage->s_w * units;
    d->before_last = strips->width - unit * stage->s_w;
    strips->channel_step = source->channel_step - strips->width;
    strips->left = stage->w_out - unit * (units - 1);
}

/* Channels from `first` on. output: of channel 0. */
RAM_CODE("m33_segment_run_strips")
static void run_strips(struct strips *strips, const struct depthwise *d, int32_t first,
                              int32_t channels, const uint32_t *constants, int8_t *output)
{
    const int32_t offset = first * (strips->channel_step + strips->width);
    strips->constants = constants;
    strips->offset = offset;
    strips->limit = strips->limit_step != 0 ? offset + d->before_last : 0;
    strips->end = offset + strips->width;
    strips->output = output + first * d->stage->output.channel_step;
    strips->channels = channels;
    d->strips(strips);
}

RAM_CODE("m33_segment_exact_strip")
static void exact_strip(const struct strips *strips, const struct depthwise *d, int32_t channel,
                        int8_t *output)
{
    const struct stage *const stage = d->stage;
    const struct quant_record *const quant = &stage->quants[channel];
    const int32_t offset = channel * (strips->channel_step + strips->width);
    output += channel * stage->output.channel_step;
    for (int32_t column = 0; column < stage->w_out; column++) {
        const int8_t *weight = stage->weights + channel;
        uint32_t sum = (uint32_t)quant->bias;
        for (int32_t k_y = 0; k_y < stage->k_h; k_y++) {
            const int8_t *x = strips->rows[k_y] + offset + column * stage->s_w;
            for (int32_t k_x = 0; k_x < stage->k_w; k_x++, weight += stage->c_out) {
                sum += (uint32_t)((*x++ - stage->input_zero_point) * *weight);
            }
        }
        *output = m33_exact_byte(&d->call, quant, (int32_t)sum);
        output += stage->output.pixel_step;
    }
}

/* Those that are padding. */
RAM_CODE("m33_segment_move_rows")
static void move_rows(struct strips *strips, uint32_t padded, int32_t distance)
{
    for (const int8_t **row = strips->rows; padded != 0; row++, padded >>= 1) {
        if ((padded & 1) != 0) {
            *row += distance;
        }
    }
}

/* The same, one channel after the other, where some rows of taps are padding, which is the same for all
 * channels, or where some have to be made exactly. */
RAM_CODE("m33_segment_each_strip")
static void run_each(struct strips *strips, const struct depthwise *d, uint32_t padded,
                     uint32_t slow, int32_t first, int32_t channels, const uint32_t *constants,
                     int8_t *output)
{
    const int32_t step = strips->channel_step + strips->width;
    move_rows(strips, padded, -first * step);
    for (int32_t channel = first; channel < first + channels; channel++, slow >>= 1) {
        if ((slow & 1) != 0) {
            exact_strip(strips, d, channel, output);
        } else {
            run_strips(strips, d, channel, 1, constants, output);
        }
        move_rows(strips, padded, -step);
        constants += d->channel_words;
    }
    move_rows(strips, padded, (first + channels) * step);
}

RAM_CODE("m33_segment_channels")
static void run_channels(struct strips *strips, const struct depthwise *d, uint32_t padded,
                         uint32_t slow, int32_t first, int32_t channels, const uint32_t *constants,
                         int8_t *output)
{
    if ((padded | slow) != 0) {
        run_each(strips, d, padded, slow, first, channels, constants, output);
    } else {
        run_strips(strips, d, first, channels, constants, output);
    }
}

RAM_CODE("m33_segment_depthwise")
void m33_segment_depthwise(const struct segment *segment, int32_t number,
                           const struct op_call *whole, struct kept *kept)
{
    const struct stage *const stage = &segment->stages[number];
    int8_t *const row = m33_segment_row(segment, number, stage->output.made);
    struct depthwise d;
    struct strips strips;
    set_depthwise(&d, stage, whole);
    set_strips(&strips, &d, &segment->stages[number - 1].output);
    uint32_t *const constants = (uint32_t *)(void *)whole->scratch;
    int8_t *const padding = (int8_t *)(constants + CHANNELS * d.channel_words);
    const uint32_t padded = set_rows(&strips, segment, number, padding);
    if (padded != 0) {
        const uint32_t word = all_bytes(stage->input_zero_point);
        for (int32_t at = 0; at < padding_bytes(stage); at += 4) {
            put_word(padding + at, word);
        }
    }
    int32_t channels;
    for (int32_t first = 0; first < stage->c_out; first += channels) {
        const int32_t left = stage->c_out - first;
        const uint32_t *from = kept->first;
        uint32_t slow = 0;
        channels = CHANNELS * kept->groups;   /* those that are kept are the first ones */
        if (first >= channels) {
            uint32_t *const room = room_for_group(kept, first / CHANNELS);
            uint32_t *const to = room != NULL ? room : constants;
            slow = put_constants(&d, first, to);
            if (room != NULL) {
                keep_group(kept, slow != 0);
            }
            from = to;
            channels = CHANNELS;
        }
        run_channels(&strips, &d, padded, slow, first, left < channels ? left : channels, from, row);
    }
}
