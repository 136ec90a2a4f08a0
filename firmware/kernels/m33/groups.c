/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/m33/groups.h"

#include "kernels/m33/simd.h"

/* The last 1 to 3 taps of 4 channels, followed by zeros. */
ALWAYS_INLINE void widen_rest(uint32_t *to, const int8_t *const rows[SWEEP_CHANNELS], int32_t at,
                              int32_t taps)
{
    for (int32_t channel = 0; channel < SWEEP_CHANNELS; channel++) {
        const uint32_t rest = part_of_word(rows[channel] + at, taps);
        to[channel] = add_even_bytes(0, rest);
        to[channel + SWEEP_CHANNELS] = add_odd_bytes(0, rest);
    }
}

RAM_CODE("m33_plan_channel")
enum special m33_plan_channel(const struct channels *all, const struct quant_record *quant,
                              const int8_t *weights, int32_t *doubled_bias,
                              struct channel *channel)
{
    return plan_channel(all, quant, weights, doubled_bias, channel);
}

RAM_CODE("m33_plan_channels")
struct specials m33_plan_channels(const struct channels *all, int32_t channel,
                                  struct channel channels[SWEEP_CHANNELS],
                                  int32_t doubled_bias[SWEEP_CHANNELS],
                                  const int8_t *rows[SWEEP_CHANNELS])
{
    const struct op_call *const call = all->call;
    const int32_t last = call->c_out - 1 - channel;
    const struct quant_record *const quants = call->quants + channel;
    const int8_t *row = call->weights + channel * all->taps;
    struct specials found = {0, 0};
    rows[0] = row;
#pragma GCC unroll 3
    for (int32_t number = 1; number < SWEEP_CHANNELS; number++) {
        row += number <= last ? all->taps : 0;
        rows[number] = row;
    }
    if (last >= SWEEP_CHANNELS - 1 &&
        m33_plan_group(all, quants, channels, doubled_bias, sizeof(struct channel),
                       sizeof(int32_t)) == 0) {
        return found;
    }
#pragma GCC unroll 1
    for (int32_t number = 0; number < SWEEP_CHANNELS; number++) {
        const enum special special =
            m33_plan_channel(all, &quants[number < last ? number : last], rows[number],
                             &doubled_bias[number], &channels[number]);
        found.slow |= (uint32_t)((special & SLOW) != 0) << number;
        found.negated |= (uint32_t)((special & NEGATED) != 0) << number;
    }
    return found;
}

RAM_CODE("m33_widen_channels")
void m33_widen_channels(uint32_t *to, int32_t taps, const int8_t *const rows[SWEEP_CHANNELS],
                        uint32_t negated)
{
    const uint32_t *const end = to + 2 * ((taps + 3) & ~3);
    const int32_t whole = taps & ~3;
    if (whole != 0) {
        m33_widen(to, rows, whole / 4);
    }
    if (whole != taps) {
        widen_rest(to + 2 * whole, rows, whole, taps - whole);
    }
    for (; negated != 0; to++, negated >>= 1) {
        if ((negated & 1) != 0) {
            for (uint32_t *at = to; at < end; at += SWEEP_CHANNELS) {
                *at = negated_halves(*at);
            }
        }
    }
}
