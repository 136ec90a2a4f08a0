/* SPDX-License-Identifier: Apache-2.0 */
/* int8 depthwise convolution for the Cortex-M33's SIMD, channel by channel, dense, double rounding:
 * multiplier 1, 3 x 3, 5 x 5 and 7 x 7, strides 1 and 2, no dilation, any padding below the kernel.
 *
 * For each 4 channels in ascending order (the last group may have fewer), for each band of
 * call->step_pixels / w_out output rows from the top:
 *   1. the input rows of these channels that the band needs and that are not in scratch yet are
 *      copied there, as a plane of halfwords x - zero_point a channel, padding as 0;
 *   2. channel after channel, the band's rows are written, from left to right.
 * So the output may be laid onto the input, base on base, wherever one row at a time may: a band
 * is read as a whole before any of it is written. A channel that only the exact code can do
 * (channel.h) is done by that.
 *
 * Scratch: 4 planes of (rows of the band - 1) * s_h + k_h rows of `row` halfwords, row being what
 * the taps reach, rounded up to 2; and 4 * k_h * (k_w - 1) words of weights. */
#include "kernels/m33/rows.h"
#include "kernels/m33/simd.h"
#include "port/placement.h"
#include "runner/kernels.h"

enum { CHANNELS = 4 };                        /* in a group */

/* Of one op. row, plane: in words. */
struct depthwise {
    const struct op_call *call;
    rows_function *rows;
    struct channels channels;
    struct split split;
    uint32_t *planes, *weights;
    int32_t row, plane;
    int32_t band;                             /* output rows */
    int32_t weight_words;                     /* of a row of taps */
};

/* Of 4 channels. */
struct group {
    int32_t first, count;
    struct rows rows[CHANNELS];
    uint32_t slow;                            /* a bit each */
};

ALWAYS_INLINE rows_function *function_for(const struct op_call *call)
{
    const bool one = call->s_w == 1;
    switch (call->k_w) {
    case 3:
        return one ? m33_rows_3_1 : m33_rows_3_2;
    case 5:
        return one ? m33_rows_5_1 : m33_rows_5_2;
    default:
        return one ? m33_rows_7_1 : m33_rows_7_2;
    }
}

ALWAYS_INLINE struct depthwise depthwise_of(const struct op_call *call)
{
    const int32_t stored = call->pad_left + call->w_in;
    const int32_t reached = (call->w_out - 1) * call->s_w + call->k_w;
    const int32_t row = ((stored > reached ? stored : reached) + 1) / 2;
    const int32_t band = call->step_pixels < call->w_out ? 1 : call->step_pixels / call->w_out;
    const int32_t plane = ((band - 1) * call->s_h + call->k_h) * row;
    const int32_t half_taps = (call->k_w - 1) / 2;
    uint32_t *const planes = (uint32_t *)(void *)call->scratch;
    return (struct depthwise){
        .call = call,
        .rows = function_for(call),
        .channels = channels_of(call, call->k_h * call->k_w, call->c_in),
        .split = {call->c_in, 4 * plane, both_halves(-call->input_zero_point)},
        .planes = planes,
        .weights = planes + CHANNELS * plane,
        .row = row,
        .plane = plane,
        .band = band,
        .weight_words = call->s_w == 1 ? 2 * half_taps : half_taps + 1,
    };
}

/* Bytes of up to 4 channels next to each other, doubled: the even two and the odd two. */
struct doubled {
    uint32_t even, odd;
};

ALWAYS_INLINE struct doubled doubled_at(const int8_t *from, int32_t count)
{
    const uint32_t bytes = count < CHANNELS ? part_of_word(from, count) : word_at(from);
    return (struct doubled){add_even_bytes(add_even_bytes(0, bytes), bytes),
                            add_odd_bytes(add_odd_bytes(0, bytes), bytes)};
}

/* Two neighbouring taps of 4 channels. */
ALWAYS_INLINE void put_weights(uint32_t *to, int32_t channel_words, struct doubled first,
                               struct doubled second)
{
    to[0] = bottoms(first.even, second.even);
    to[channel_words] = bottoms(first.odd, second.odd);
    to[2 * channel_words] = tops(first.even, second.even);
    to[3 * channel_words] = tops(first.odd, second.odd);
}

ALWAYS_INLINE void widen_weights(const struct depthwise *d, int32_t channel, int32_t count)
{
    const struct op_call *const call = d->call;
    const int32_t step = call->c_in;
    const int32_t channel_words = call->k_h * d->weight_words;
    const int32_t pairs = (call->k_w - 1) / 2;
    const int32_t first_b = call->s_w == 1 ? 0 : pairs - 1;
    const int8_t *from = call->weights + channel;
    uint32_t *to = d->weights;
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        struct doubled first = doubled_at(from, count);
        for (int32_t pair = 0; pair < pairs; pair++) {
            const struct doubled second = doubled_at(from + step, count);
            const struct doubled third = doubled_at(from + 2 * step, count);
            put_weights(to + pair, channel_words, first, second);
            if (pair >= first_b) {
                put_weights(to + pairs + pair - first_b, channel_words, second, third);
            }
            first = third;
            from += 2 * step;
        }
        from += step;
        to += d->weight_words;
    }
}

ALWAYS_INLINE void negate(uint32_t *words, int32_t count)
{
    for (int32_t at = 0; at < count; at++) {
        words[at] = negated_halves(words[at]);
    }
}

ALWAYS_INLINE void prepare(const struct depthwise *d, struct group *group)
{
    const struct op_call *const call = d->call;
    const int32_t channel_words = call->k_h * d->weight_words;
    widen_weights(d, group->first, group->count);
    group->slow = 0;
    for (int32_t number = 0; number < group->count; number++) {
        const int32_t channel = group->first + number;
        struct rows *const rows = &group->rows[number];
        uint32_t *const weights = d->weights + number * channel_words;
        const enum special special =
            plan_channel(&d->channels, &call->quants[channel], call->weights + channel,
                         &rows->doubled_bias, &rows->channel);
        if ((special & NEGATED) != 0) {
            negate(weights, channel_words);
        }
        group->slow |= (uint32_t)((special & SLOW) != 0) << number;
        rows->weights = weights;
        rows->row_bytes = 4 * d->row;
        rows->low = all_bytes(call->activation_min);
        rows->high = all_bytes(call->activation_max);
        rows->pixel_step = call->c_out;
        rows->width = call->w_out;
        rows->row_advance = 4 * d->row * call->s_h;
    }
}

ALWAYS_INLINE void fill_zeros(uint32_t *to, int32_t words)
{
    for (uint32_t *const end = to + words; to != end; to++) {
        *to = 0;
        __asm("" : "+r"(to));                 /* no call of memset, which lies in flash */
    }
}

/* One pixel alone, in the bottom or the top halfword; the other one is padding. */
ALWAYS_INLINE void split_pixel(const struct depthwise *d, uint32_t *to, const int8_t *from, bool top)
{
    const uint32_t bytes = word_at(from);
    const uint32_t even = add_even_bytes(d->split.offset, bytes);
    const uint32_t odd = add_odd_bytes(d->split.offset, bytes);
    to[0] = top ? even << 16 : even & 0xffff;
    to[d->plane] = top ? odd << 16 : odd & 0xffff;
    to[2 * d->plane] = top ? even & 0xffff0000u : even >> 16;
    to[3 * d->plane] = top ? odd & 0xffff0000u : odd >> 16;
}

/* An input row of fewer channels: byte by byte, since what lies beside them is none of theirs. */
RAM_CODE("m33_depthwise_split_few")
static void split_few(const struct depthwise *d, uint32_t *to, const int8_t *from, int32_t count)
{
    const struct op_call *const call = d->call;
    for (int32_t number = 0; number < count; number++, to += d->plane) {
        half *plane = (half *)(void *)to + call->pad_left;
        const int8_t *x = from + number;
        for (int32_t column = 0; column < call->w_in; column++, x += call->c_in) {
            *plane++ = (half)(*x - call->input_zero_point);
        }
    }
}

/* An input row of a group's channels, or padding, to a row of each plane. */
ALWAYS_INLINE void read_row(const struct depthwise *d, const struct group *group, int32_t y,
                            int32_t slot)
{
    const struct op_call *const call = d->call;
    uint32_t *to = d->planes + slot * d->row;
    if (y < 0 || y >= call->h_in) {
        for (int32_t number = 0; number < CHANNELS; number++) {
            fill_zeros(to + number * d->plane, d->row);
        }
        return;
    }
    const int8_t *from = call->input + y * call->w_in * call->c_in + group->first;
    int32_t pixels = call->w_in;
    if (group->count < CHANNELS) {
        split_few(d, to, from, group->count);
        return;
    }
    to += call->pad_left / 2;
    if (call->pad_left % 2 != 0) {
        split_pixel(d, to++, from, true);
        from += call->c_in;
        pixels--;
    }
    if (pixels >= 2) {
        m33_split(to, from, pixels / 2, &d->split);
    }
    if (pixels % 2 != 0) {
        split_pixel(d, to + pixels / 2, from + (pixels - 1) * call->c_in, false);
    }
}

/* Rows that the band before has left in the planes move up; the others are read. */
ALWAYS_INLINE void read_band(const struct depthwise *d, const struct group *group, int32_t first,
                             int32_t rows)
{
    const struct op_call *const call = d->call;
    int32_t slot = 0;
    if (first != 0) {
        slot = call->k_h - call->s_h;
        uint32_t *to = d->planes;
        for (int32_t number = 0; number < CHANNELS; number++, to += d->plane) {
            m33_move_down(to, to + d->band * call->s_h * d->row, slot * d->row);
        }
    }
    const int32_t y = first * call->s_h - call->pad_top;
    for (const int32_t slots = (rows - 1) * call->s_h + call->k_h; slot < slots; slot++) {
        read_row(d, group, y + slot, slot);
    }
}

/* A band of one channel by the exact code. plane: its first row of taps. */
RAM_CODE("m33_depthwise_exact_rows")
static void exact_rows(const struct depthwise *d, const half *plane, int32_t channel,
                       int32_t first, int32_t rows)
{
    const struct op_call *const call = d->call;
    const struct quant_record *const quant = &call->quants[channel];
    int8_t *output = call->output + first * call->w_out * call->c_out + channel;
    for (int32_t row = 0; row < rows; row++, plane += 2 * d->row * call->s_h) {
        for (int32_t column = 0; column < call->w_out; column++, output += call->c_out) {
            uint32_t sum = (uint32_t)quant->bias;
            const int8_t *weights = call->weights + channel;
            for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
                const half *x = plane + 2 * d->row * k_y + column * call->s_w;
                for (int32_t k_x = 0; k_x < call->k_w; k_x++, weights += call->c_in) {
                    sum += (uint32_t)(*x++ * *weights);
                }
            }
            *output = m33_exact_byte(call, quant, (int32_t)sum);
        }
    }
}

ALWAYS_INLINE void write_band(const struct depthwise *d, struct group *group, int32_t first,
                              int32_t rows)
{
    const struct op_call *const call = d->call;
    for (int32_t number = 0; number < group->count; number++) {
        const int32_t channel = group->first + number;
        const half *const plane = (const half *)(void *)(d->planes + number * d->plane);
        struct rows *const these = &group->rows[number];
        if ((group->slow >> number & 1) != 0) {
            exact_rows(d, plane, channel, first, rows);
            continue;
        }
        these->output = call->output + first * call->w_out * call->c_out + channel;
        these->tile = these->row_start = plane;
        these->left = call->w_out;
        these->rows = rows;
        d->rows(these);
    }
}

RAM_CODE("m33_depthwise")
void m33_depthwise(const struct op_call *call)
{
    const struct depthwise d = depthwise_of(call);
    struct group group;
    fill_zeros(d.planes, CHANNELS * d.plane); /* padding at the sides stays */
    for (group.first = 0; group.first < call->c_out; group.first += CHANNELS) {
        const int32_t left = call->c_out - group.first;
        group.count = left < CHANNELS ? left : CHANNELS;
        prepare(&d, &group);
        for (int32_t first = 0; first < call->h_out; first += d.band) {
            const int32_t after = call->h_out - first;
            const int32_t rows = after < d.band ? after : d.band;
            read_band(&d, &group, first, rows);
            write_band(&d, &group, first, rows);
        }
    }
}
