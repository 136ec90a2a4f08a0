/* SPDX-License-Identifier: Apache-2.0 */
/* One output channel's requantisation as the fast code wants it, or the verdict that only the exact
 * code of kernels/requantize.h can do it.
 *
 * The fast code computes, of twice the accumulator,
 *     ((2 acc * m + 2^31) >> 32 + (acc < 0 ? -1 : 0) + offset) >> e,
 * offset = 2^(e - 1) + (zero_point << e), and saturates that to a byte. It is exact if
 *   1 <= e <= 22:  with e = 0 nothing may be subtracted, and with more the offset could overflow;
 *   m > 0:         a negative m is made positive together with bias and weights;
 *   |acc| < 2^30:  so that twice it fits, and the high product plus the offset does.
 * A channel without any weight, or with m = 0, has one value: it becomes m = 0 and an offset. Such
 * channels come with biases and shifts far outside of these ranges, which then do not matter. */
#ifndef KERNELS_M33_CHANNEL_H
#define KERNELS_M33_CHANNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/requantize.h"
#include "port/placement.h"
#include "runner/kernels.h"

struct channel {
    int32_t multiplier, offset, shift;
};

enum { LEAST_SHIFT = 1, MOST_SHIFT = 22 };

/* What is the same for all channels of an op. bias_room: a bias must be below it, and above or at
 * its negative. */
struct channels {
    const struct op_call *call;
    uint32_t bias_room;
    uint32_t zero_point;                      /* 2 zero_point + 1 */
    int32_t taps, tap_step;                   /* of one channel's weights: bytes to the next tap */
};

/* How a channel is special: bits. */
enum special { USUAL = 0, NEGATED = 1, SLOW = 2 };

ALWAYS_INLINE struct channels channels_of(const struct op_call *call, int32_t taps,
                                          int32_t tap_step)
{
    const int32_t largest_product = 255 * 128;
    const int32_t most = 1 << 30;
    return (struct channels){
        .call = call,
        .bias_room = taps < most / largest_product ? (uint32_t)(most - taps * largest_product) : 0,
        .zero_point = (uint32_t)(2 * call->output_zero_point + 1),
        .taps = taps,
        .tap_step = tap_step,
    };
}

/* The exact code. In SRAM. */
int8_t m33_exact_byte(const struct op_call *call, const struct quant_record *quant, int32_t sum);

/* For those that plan_channel finds unusual. In SRAM. */
enum special m33_plan_unusual(const struct channels *all, const struct quant_record *quant,
                              const int8_t *weights, int32_t *doubled_bias,
                              struct channel *channel);

/* Of a channel that is not slow: its numbers. weights: its first tap. NEGATED: its weights have to
 * be negated, too. SLOW: the numbers say nothing. */
ALWAYS_INLINE enum special plan_channel(const struct channels *all,
                                        const struct quant_record *quant, const int8_t *weights,
                                        int32_t *doubled_bias, struct channel *channel)
{
    const int32_t bias = quant->bias;
    const int32_t multiplier = quant->multiplier;
    const int32_t shift = -quant->shift;
    if ((uint32_t)(shift - LEAST_SHIFT) > MOST_SHIFT - LEAST_SHIFT || multiplier <= 0 ||
        (uint32_t)bias + all->bias_room >= 2 * all->bias_room) {
        return m33_plan_unusual(all, quant, weights, doubled_bias, channel);
    }
    *doubled_bias = 2 * bias;
    channel->multiplier = multiplier;
    channel->offset = (int32_t)(all->zero_point << (shift - 1));
    channel->shift = shift;
    return USUAL;
}

#endif
