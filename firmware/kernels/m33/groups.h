/* SPDX-License-Identifier: Apache-2.0 */
/* Of 4 output channels of a convolution what a sweep wants (sweep.h). */
#ifndef KERNELS_M33_GROUPS_H
#define KERNELS_M33_GROUPS_H

#include "kernels/m33/channel.h"
#include "kernels/m33/simd.h"
#include "kernels/m33/sweep.h"

/* The last 1 to 3 taps of 4 channels, followed by zeros. */
ALWAYS_INLINE void widen_rest(uint32_t *to, const int8_t *const rows[SWEEP_CHANNELS], int32_t taps)
{
    for (int32_t channel = 0; channel < SWEEP_CHANNELS; channel++) {
        const int8_t *const row = rows[channel];
        const int32_t third = taps > 2 ? row[2] : 0;
        const int32_t second = taps > 1 ? row[1] : 0;
        to[channel] = ((uint32_t)row[0] & 0xffff) | (uint32_t)third << 16;
        to[channel + SWEEP_CHANNELS] = (uint32_t)second & 0xffff;
    }
}

ALWAYS_INLINE void widen(uint32_t *to, int32_t taps, const int8_t *const rows[SWEEP_CHANNELS])
{
    const int32_t whole = taps & ~3;
    if (whole != 0) {
        to = m33_widen(to, rows, whole / 4);
    }
    if (whole != taps) {
        const int8_t *const rest[SWEEP_CHANNELS] = {rows[0] + whole, rows[1] + whole,
                                                    rows[2] + whole, rows[3] + whole};
        widen_rest(to, rest, taps - whole);
    }
}

/* Which of 4 channels are special, a bit each. */
struct specials {
    uint32_t slow, negated;
};

/* Channels from `channel` on, 4 of them, the last one again and again where there are fewer: their numbers, and
 * to rows their weights. */
ALWAYS_INLINE struct specials plan_channels(const struct channels *all, const struct op_call *call,
                                            int32_t channel,
                                            struct channel channels[SWEEP_CHANNELS],
                                            int32_t doubled_bias[SWEEP_CHANNELS],
                                            const int8_t *rows[SWEEP_CHANNELS])
{
    const int32_t last = call->c_out - 1;
    struct specials found = {0, 0};
#pragma GCC unroll 4
    for (int32_t number = 0; number < SWEEP_CHANNELS; number++) {
        const int32_t at = channel + number < last ? channel + number : last;
        rows[number] = call->weights + at * all->taps;
        const enum special special = plan_channel(all, &call->quants[at], rows[number],
                                                  &doubled_bias[number], &channels[number]);
        found.slow |= (uint32_t)((special & SLOW) != 0) << number;
        found.negated |= (uint32_t)((special & NEGATED) != 0) << number;
    }
    return found;
}

/* Their weights, filled up to a multiple of 4 taps with zeros: for each pair of taps a word of each
 * channel. */
ALWAYS_INLINE void widen_channels(uint32_t *to, int32_t taps,
                                  const int8_t *const rows[SWEEP_CHANNELS], uint32_t negated)
{
    const uint32_t *const end = to + 2 * ((taps + 3) & ~3);
    widen(to, taps, rows);
    for (; negated != 0; to++, negated >>= 1) {
        if ((negated & 1) != 0) {
            for (uint32_t *at = to; at < end; at += SWEEP_CHANNELS) {
                *at = negated_halves(*at);
            }
        }
    }
}

#endif
