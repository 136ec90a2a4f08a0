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
#include "kernels/m33/saturate.h"
#include "kernels/m33/segment.h"
#include "kernels/m33/simd.h"
#include "kernels/m33/strips.h"

/* BEYOND: what a strip reads behind the taps of its last outputs, rounded up. NUMBERS: words of a channel's
 * constants behind its weights. */
enum { CHANNELS = 4, BEYOND = 16, NUMBERS = 4 };

/* Of a depthwise stage. words: of a row of weights; channel_words: of a channel's constants. */
struct depthwise {
    struct op_call call;
    const struct stage *stage;
    struct channels channels;
    int32_t words, channel_words;
};

ALWAYS_INLINE strips_function *strips_for(const struct stage *stage)
{
    const bool one = stage->s_w == 1;
    switch (stage->k_w) {
    case 3:
        return one ? m33_strips_3_1 : m33_strips_3_2;
    case 5:
        return one ? m33_strips_5_1 : m33_strips_5_2;
    default:
        return one ? m33_strips_7_1 : m33_strips_7_2;
    }
}

/* That are made at a time. */
ALWAYS_INLINE int32_t strip_outputs(const struct stage *stage)
{
    return stage->k_w == 3 && stage->s_w == 1 ? 8 : 4;
}

/* Numbers of 4 channels next to each other, doubled, as halfwords: of the even two and the odd two. Where there
 * are fewer channels, what lies behind them is read, too, and of no account. */
struct doubled {
    uint32_t even, odd;
};

/* Weights of a row of k taps. */
ALWAYS_INLINE int32_t words_of(int32_t k)
{
    return k == 7 ? 5 : (k + 1) / 2;
}

ALWAYS_INLINE uint32_t add_halves(uint32_t a, uint32_t b)
{
    uint32_t result;
    __asm("uadd16 %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

/* Taps of a row whose weights are a word of strips.S, for 3, 5 and 7. */
static const uint8_t pairs_of[3][10] = {
    {0, 2, 1, 0}, {0, 2, 2, 4, 1, 3}, {1, 3, 3, 5, 0, 2, 4, 6, 2, 4}};

/* The weights of 4 channels, row by row as strips.S has them; to their sums, doubled. */
RAM_CODE("m33_segment_put_weights")
static struct doubled put_weights(const struct stage *stage, int32_t channel, uint32_t *to)
{
    const int32_t k = stage->k_w;
    const int32_t step = stage->c_out;
    const int32_t words = words_of(k);
    const struct spread spread = {k, k * step, 4 * words, 4 * (k * words + NUMBERS)};
    const uint8_t *taps = pairs_of[k / 2 - 1];
    const int8_t *from = stage->weights + channel;
    struct doubled sums = {0, 0};
    for (int32_t pair = 0; pair < words; pair++, taps += 2) {
        m33_segment_spread(to + pair, from + taps[0] * step, from + taps[1] * step, &spread);
    }
    for (int32_t left = k * k; left > 0; left--, from += step) {
        const uint32_t bytes = word_at(from);
        sums.even = add_even_bytes(sums.even, bytes);
        sums.odd = add_odd_bytes(sums.odd, bytes);
    }
    sums.even = add_halves(sums.even, sums.even);
    sums.odd = add_halves(sums.odd, sums.odd);
    return sums;
}

ALWAYS_INLINE void negate_words(uint32_t *words, int32_t count)
{
    for (int32_t at = 0; at < count; at++) {
        words[at] = negated_halves(words[at]);
    }
}

/* Constants of up to 4 channels; to those that are slow, a bit each. */
RAM_CODE("m33_segment_put_constants")
static uint32_t put_constants(const struct depthwise *d, int32_t first, uint32_t *to)
{
    const struct stage *const stage = d->stage;
    const int32_t left = stage->c_out - first;
    const int32_t count = left < CHANNELS ? left : CHANNELS;
    const struct doubled sums = put_weights(stage, first, to);
    const int32_t sum_of[CHANNELS] = {(int16_t)sums.even, (int16_t)sums.odd,
                                      (int32_t)sums.even >> 16, (int32_t)sums.odd >> 16};
    const int32_t weights = d->channel_words - NUMBERS;
    uint32_t slow = 0;
    for (int32_t at = 0; at < count; at++, to += d->channel_words) {
        struct channel channel;
        int32_t bias, sum = sum_of[at];
        const enum special special =
            plan_channel(&d->channels, &stage->quants[first + at], stage->weights + first + at,
                         &bias, &channel);
        slow |= (uint32_t)((special & SLOW) != 0) << at;
        if ((special & NEGATED) != 0) {
            negate_words(to, weights);
            sum = -sum;
        }
        uint32_t *const numbers = to + weights;
        numbers[0] = (uint32_t)channel.multiplier;
        numbers[1] = (uint32_t)channel.offset;
        numbers[2] = (uint32_t)channel.shift;
        numbers[3] = (uint32_t)(bias - stage->input_zero_point * sum);
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
    d->words = words_of(k);
    d->channel_words = k * d->words + NUMBERS;
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
    uint32_t padded = 0;
    for (int32_t k_y = 0; k_y < stage->k_h; k_y++) {
        const bool real = top + k_y >= 0 && top + k_y < stage->h_in;
        padded |= (uint32_t)!real << k_y;
        strips->rows[k_y] =
            real ? plain_segment_row(segment, number - 1, top + k_y) - source->before : padding;
    }
    return padded;
}

/* What is the same for all channels, and the way to the next one. */
ALWAYS_INLINE void set_strips(struct strips *strips, const struct depthwise *d,
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
    strips->channel_step = source->channel_step - strips->width;
    strips->left = stage->w_out - unit * (units - 1);
}

/* Channels from `first` on. output: of channel 0. */
RAM_CODE("m33_segment_run_strips")
static void run_strips(struct strips *strips, const struct depthwise *d, int32_t first,
                              int32_t channels, const uint32_t *constants, int8_t *output)
{
    const int32_t offset = first * (strips->channel_step + strips->width);
    const int32_t last = strips->width - strip_outputs(d->stage) * d->stage->s_w;
    strips->constants = constants;
    strips->offset = offset;
    strips->limit = strips->limit_step != 0 ? offset + last : 0;
    strips->end = offset + strips->width;
    strips->output = output + first * d->stage->output.channel_step;
    strips->channels = channels;
    strips_for(d->stage)(strips);
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

/* The same, one channel after the other, where some rows of taps are padding, which is the same for all
 * channels, or where some have to be made exactly. */
RAM_CODE("m33_segment_each_strip")
static void run_each(struct strips *strips, const struct depthwise *d, uint32_t padded,
                     uint32_t slow, int32_t first, int32_t channels, const uint32_t *constants,
                     int8_t *output)
{
    struct strips each = *strips;
    for (int32_t channel = first; channel < first + channels; channel++, slow >>= 1) {
        const int32_t offset = channel * (strips->channel_step + strips->width);
        for (int32_t k_y = 0; k_y < d->stage->k_h; k_y++) {
            each.rows[k_y] = strips->rows[k_y] - ((padded >> k_y & 1) != 0 ? offset : 0);
        }
        if ((slow & 1) != 0) {
            exact_strip(&each, d, channel, output);
        } else {
            run_strips(&each, d, channel, 1, constants, output);
        }
        constants += d->channel_words;
    }
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
    int32_t first = 0;
    if (kept->groups != 0) {
        const int32_t made = CHANNELS * kept->groups;
        first = made < stage->c_out ? made : stage->c_out;
        run_channels(&strips, &d, padded, 0, 0, first, kept->first, row);
    }
    for (; first < stage->c_out; first += CHANNELS) {
        const int32_t left = stage->c_out - first;
        uint32_t *const room = room_for_group(kept, first / CHANNELS);
        uint32_t *const to = room != NULL ? room : constants;
        const uint32_t slow = put_constants(&d, first, to);
        if (room != NULL) {
            keep_group(kept, slow != 0);
        }
        run_channels(&strips, &d, padded, slow, first, left < CHANNELS ? left : CHANNELS, to, row);
    }
}
