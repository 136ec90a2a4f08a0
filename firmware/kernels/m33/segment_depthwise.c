/* SPDX-License-Identifier: Apache-2.0 */
/* A row of a depthwise stage, 3 x 3, 5 x 5 and 7 x 7, strides 1 and 2, from a planar ring: a channel after
 * the other, its k rows read as bytes where they lie (strips.S). Its row is written one quad behind what
 * is read, so it may lie on the topmost of the k rows, up to MOST_LEFT bytes further on; where it would
 * be more, or where it is not planar, it is put in scratch first.
 *
 * The zero point is no part of what is read: it is taken off the bias, times the channel's weights; so
 * rows above and below the tensor are a row of zero points in scratch.
 *
 * Scratch: constants of 4 channels, a row of outputs, a row of padding. */
#include "kernels/m33/saturate.h"
#include "kernels/m33/segment.h"
#include "kernels/m33/simd.h"
#include "kernels/m33/strips.h"

/* BEYOND: what a strip reads behind the taps of its last quad, rounded up. */
enum { CHANNELS = 4, MOST_TAPS = 7, BEYOND = 16, MOST_LEFT = 4 };

/* Of a depthwise stage. words: of constants of a row of taps. */
struct depthwise {
    struct op_call call;
    const struct stage *stage;
    strip_function *strip;
    struct channels channels;
    uint32_t *constants;                      /* of 4 channels */
    int32_t words, address, channel_words;    /* address: its place among the words */
    uint32_t *outputs;
    int8_t *padding;                          /* a row of it */
    const int8_t *rows[MOST_TAPS];                  /* of channel 0; NULL: padding */
    int32_t channel_step;
    int32_t quads;                            /* of outputs */
    bool padded;                              /* is a row padding? */
    bool apart;                               /* do outputs go to scratch before their row? */
};

ALWAYS_INLINE strip_function *strip_for(const struct stage *stage)
{
    const bool one = stage->s_w == 1;
    switch (stage->k_w) {
    case 3:
        return one ? m33_strip_3_1 : m33_strip_3_2;
    case 5:
        return one ? m33_strip_5_1 : m33_strip_5_2;
    default:
        return one ? m33_strip_7_1 : m33_strip_7_2;
    }
}

/* Bytes of 4 channels next to each other, doubled: the even two and the odd two. */
struct doubled {
    uint32_t even, odd;
};

/* Where there are fewer channels, what lies behind them is read, too, and of no account. */
ALWAYS_INLINE struct doubled doubled_at(const int8_t *from)
{
    const uint32_t bytes = word_at(from);
    return (struct doubled){add_even_bytes(add_even_bytes(0, bytes), bytes),
                            add_odd_bytes(add_odd_bytes(0, bytes), bytes)};
}

/* Constants of a row of k taps. */
ALWAYS_INLINE int32_t words_of(int32_t k)
{
    return k == 7 ? 6 : (k + 3) / 2;
}

/* Two taps of 4 channels. */
ALWAYS_INLINE void put_pair(uint32_t *to, int32_t channel_words, struct doubled first,
                            struct doubled second)
{
    to[0] = bottoms(first.even, second.even);
    to[channel_words] = bottoms(first.odd, second.odd);
    to[2 * channel_words] = tops(first.even, second.even);
    to[3 * channel_words] = tops(first.odd, second.odd);
}

ALWAYS_INLINE uint32_t add_halves(uint32_t a, uint32_t b)
{
    uint32_t result;
    __asm("uadd16 %0, %1, %2" : "=r"(result) : "r"(a), "r"(b));
    return result;
}

/* The weights of 4 channels, row by row as strips.S has them; to their sums, doubled. k: a constant. */
ALWAYS_INLINE struct doubled put_weights(const struct depthwise *d, int32_t k, int32_t channel)
{
    const int32_t step = d->stage->c_out;
    const int32_t words = words_of(k);
    const int32_t all = k * words;
    const int8_t *from = d->stage->weights + channel;
    uint32_t *to = d->constants;
    struct doubled sums = {0, 0};
    for (int32_t k_y = 0; k_y < k; k_y++, to += words) {
        struct doubled w[MOST_TAPS];
#pragma GCC unroll 7
        for (int32_t k_x = 0; k_x < MOST_TAPS; k_x++) {
            w[k_x] = (struct doubled){0, 0};
            if (k_x < k) {
                w[k_x] = doubled_at(from);
                from += step;
            }
            sums.even = add_halves(sums.even, w[k_x].even);
            sums.odd = add_halves(sums.odd, w[k_x].odd);
        }
        if (k == 3) {
            put_pair(to, all, w[0], w[2]);
            to[1] = w[1].even;
            to[all + 1] = w[1].odd;
            to[2 * all + 1] = w[1].even >> 16;
            to[3 * all + 1] = w[1].odd >> 16;
        } else if (k == 5) {
            put_pair(to, all, w[0], w[2]);
            put_pair(to + 1, all, w[2], w[4]);
            put_pair(to + 2, all, w[1], w[3]);
        } else {
            put_pair(to, all, w[1], w[3]);
            put_pair(to + 1, all, w[3], w[5]);
            put_pair(to + 3, all, w[0], w[2]);
            put_pair(to + 4, all, w[4], w[6]);
            put_pair(to + 5, all, w[2], w[4]);
        }
    }
    return sums;
}

RAM_CODE("m33_segment_put_weights_3")
static struct doubled put_weights_3(const struct depthwise *d, int32_t channel)
{
    return put_weights(d, 3, channel);
}

RAM_CODE("m33_segment_put_weights_5")
static struct doubled put_weights_5(const struct depthwise *d, int32_t channel)
{
    return put_weights(d, 5, channel);
}

RAM_CODE("m33_segment_put_weights_7")
static struct doubled put_weights_7(const struct depthwise *d, int32_t channel)
{
    return put_weights(d, 7, channel);
}

ALWAYS_INLINE struct doubled put_all_weights(const struct depthwise *d, int32_t channel)
{
    switch (d->stage->k_w) {
    case 3:
        return put_weights_3(d, channel);
    case 5:
        return put_weights_5(d, channel);
    default:
        return put_weights_7(d, channel);
    }
}

ALWAYS_INLINE void negate_words(uint32_t *words, int32_t count)
{
    for (int32_t at = 0; at < count; at++) {
        words[at] = negated_halves(words[at]);
    }
}

/* Of a channel `offset` bytes behind the first one. */
ALWAYS_INLINE void put_addresses(const struct depthwise *d, uint32_t *to, int32_t offset)
{
    to += d->address;
    for (int32_t k_y = 0; k_y < d->stage->k_h; k_y++, to += d->words) {
        const int8_t *const row = d->rows[k_y] == NULL ? d->padding - offset : d->rows[k_y];
        *to = (uint32_t)(uintptr_t)row;
    }
}

RAM_CODE("m33_segment_exact_strip")
static void exact_strip(const struct depthwise *d, int32_t channel)
{
    const struct stage *const stage = d->stage;
    const struct quant_record *const quant = &stage->quants[channel];
    int8_t *output = (int8_t *)d->outputs;
    for (int32_t column = 0; column < stage->w_out; column++) {
        const int8_t *weight = stage->weights + channel;
        uint32_t sum = (uint32_t)quant->bias;
        for (int32_t k_y = 0; k_y < stage->k_h; k_y++) {
            const int8_t *const row =
                d->rows[k_y] == NULL ? d->padding : d->rows[k_y] + channel * d->channel_step;
            const int8_t *x = row + column * stage->s_w;
            for (int32_t k_x = 0; k_x < stage->k_w; k_x++, weight += stage->c_out) {
                sum += (uint32_t)((*x++ - stage->input_zero_point) * *weight);
            }
        }
        *output++ = exact_byte(&d->call, quant, (int32_t)sum);
    }
}

ALWAYS_INLINE void copy_outputs(const struct depthwise *d, int8_t *to)
{
    const int32_t step = d->stage->output.pixel_step;
    const int8_t *from = (const int8_t *)d->outputs;
    for (int32_t left = d->stage->w_out; left > 0; left--, to += step) {
        *to = *from++;
    }
}

/* The outputs of the last quad that exist. */
ALWAYS_INLINE void put_last(const struct strip *strip, int32_t outputs)
{
    const int32_t left = (outputs - 1) % 4;
    int8_t *const to = strip->output;
    uint32_t word = strip->last;
    if (left == 3) {
        put_word(to, word);
        return;
    }
    for (int32_t at = 0; at <= left; at++, word >>= 8) {
        to[at] = (int8_t)word;
    }
}

ALWAYS_INLINE void make_strip(const struct depthwise *d, struct strip *strip, int32_t channel,
                              int32_t number, int32_t doubled_sum, int8_t *row)
{
    const struct stage *const stage = d->stage;
    uint32_t *const constants = d->constants + number * d->channel_words;
    const enum special special =
        plan_channel(&d->channels, &stage->quants[channel], stage->weights + channel,
                     &strip->doubled_bias, &strip->channel);
    int8_t *const output = row + channel * stage->output.channel_step;
    if ((special & SLOW) != 0) {
        exact_strip(d, channel);
        copy_outputs(d, output);
    } else {
        strip->offset = channel * d->channel_step;
        if ((special & NEGATED) != 0) {
            negate_words(constants, d->channel_words);
            doubled_sum = -doubled_sum;
        }
        if (special != USUAL || d->padded) {
            put_addresses(d, constants, strip->offset);
        }
        strip->constants = constants;
        strip->doubled_bias -= stage->input_zero_point * doubled_sum;
        strip->output = d->apart ? (int8_t *)d->outputs : output;
        strip->quads = d->quads;
        strip->first = d->quads;
        d->strip(strip);
        put_last(strip, stage->w_out);
        if (d->apart) {
            copy_outputs(d, output);
        }
    }
}

ALWAYS_INLINE void set_depthwise(struct depthwise *d, const struct segment *segment, int32_t number,
                                 const struct op_call *whole)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const source = &segment->stages[number - 1].output;
    const int32_t top = stage->output.made * stage->s_h - stage->pad_top;
    const int32_t k = stage->k_w;
    set_call(&d->call, whole, stage);
    d->stage = stage;
    d->strip = strip_for(stage);
    d->channels = channels_of(&d->call, k * k, stage->c_out);
    d->words = words_of(k);
    d->address = k == 5 ? 3 : 2;
    d->channel_words = k * d->words;
    d->quads = (stage->w_out + 3) / 4;
    d->constants = (uint32_t *)(void *)whole->scratch;
    d->outputs = d->constants + CHANNELS * d->channel_words;
    d->padding = (int8_t *)(d->outputs + d->quads);
    d->channel_step = source->channel_step;
    d->apart = stage->output.pixel_step != 1 || stage->pad_left > MOST_LEFT;
    d->padded = false;
    for (int32_t k_y = 0; k_y < k; k_y++) {
        const bool real = top + k_y >= 0 && top + k_y < stage->h_in;
        d->padded = d->padded || !real;
        d->rows[k_y] =
            real ? plain_segment_row(segment, number - 1, top + k_y) - source->before : NULL;
    }
    if (d->padded) {
        const uint32_t word = all_bytes(stage->input_zero_point);
        for (int32_t at = 0; at < 4 * d->quads * stage->s_w + BEYOND; at += 4) {
            put_word(d->padding + at, word);
        }
    }
}

RAM_CODE("m33_segment_depthwise")
void m33_segment_depthwise(const struct segment *segment, int32_t number,
                           const struct op_call *whole)
{
    const struct stage *const stage = &segment->stages[number];
    int8_t *const row = plain_segment_row(segment, number, stage->output.made);
    struct depthwise d;
    struct strip strip;
    set_depthwise(&d, segment, number, whole);
    for (int32_t at = 0; at < CHANNELS; at++) {
        put_addresses(&d, d.constants + at * d.channel_words, 0);
    }
    strip.low = all_bytes(d.call.activation_min);
    strip.high = all_bytes(d.call.activation_max);
    for (int32_t first = 0; first < stage->c_out; first += CHANNELS) {
        const int32_t left = stage->c_out - first;
        const int32_t count = left < CHANNELS ? left : CHANNELS;
        const struct doubled sums = put_all_weights(&d, first);
        const int32_t sum_of[CHANNELS] = {
            (int16_t)sums.even, (int16_t)sums.odd, (int32_t)sums.even >> 16,
            (int32_t)sums.odd >> 16};
        for (int32_t at = 0; at < count; at++) {
            make_strip(&d, &strip, first + at, at, sum_of[at], row);
        }
    }
}
