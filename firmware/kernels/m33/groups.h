/* SPDX-License-Identifier: Apache-2.0 */
/* Of 4 output channels of a convolution what a sweep wants (sweep.h). In SRAM. */
#ifndef KERNELS_M33_GROUPS_H
#define KERNELS_M33_GROUPS_H

#include <stddef.h>

#include "kernels/m33/channel.h"
#include "kernels/m33/sweep.h"

/* plan_channel, where it need not be quick. */
enum special m33_plan_channel(const struct channels *all, const struct quant_record *quant,
                              const int8_t *weights, int32_t *doubled_bias,
                              struct channel *channel);

/* plan_channel of 4 channels, each channel_step bytes behind the other, and their biases bias_step. To how many
 * are left: 0, or some are not usual, and what is written says nothing. */
uint32_t m33_plan_group(const struct channels *all, const struct quant_record *quants,
                        struct channel *channels, int32_t *doubled_bias, int32_t channel_step,
                        int32_t bias_step);
#ifdef __arm__
_Static_assert(offsetof(struct channels, bias_room) == 4 &&
                   offsetof(struct channels, zero_point) == 8 && sizeof(struct channel) == 12 &&
                   sizeof(struct quant_record) == 12 && offsetof(struct quant_record, multiplier) == 4,
               "groups.S knows these offsets");
#endif

/* Which of 4 channels are special, a bit each. */
struct specials {
    uint32_t slow, negated;
};

/* Channels from `channel` on, 4 of them, the last one again and again where there are fewer: their numbers, and
 * to rows their weights. */
struct specials m33_plan_channels(const struct channels *all, int32_t channel,
                                  struct channel channels[SWEEP_CHANNELS],
                                  int32_t doubled_bias[SWEEP_CHANNELS],
                                  const int8_t *rows[SWEEP_CHANNELS]);

/* Their weights, filled up to a multiple of 4 taps with zeros: for each pair of taps a word of each
 * channel. */
void m33_widen_channels(uint32_t *to, int32_t taps, const int8_t *const rows[SWEEP_CHANNELS],
                        uint32_t negated);

#endif
