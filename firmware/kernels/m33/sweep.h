/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler part of the convolution: see sweep.S and spread.S. */
#ifndef KERNELS_M33_SWEEP_H
#define KERNELS_M33_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/m33/channel.h"

enum { SWEEP_CHANNELS = 4 };                  /* in one sweep */

/* fields: a pair of pixels has, for each pair of taps, a word of the one and a word of the other.
 * weights: for each pair of taps, a word of each channel. After the sweep output is behind the last
 * pair and pairs is 0. Four bytes a pixel are written, at any address. */
struct sweep {
    struct channel channels[SWEEP_CHANNELS];
    uint32_t low, high;                       /* the activation's range, four times */
    int32_t doubled_bias[SWEEP_CHANNELS];
    int8_t *output;
    int32_t pixel_step;                       /* bytes from an output pixel to the next one */
    int32_t pairs;                            /* of pixels, not 0 */
    const uint32_t *weights;
    int32_t pair_bytes;                       /* of fields: a multiple of 16 */
    const uint32_t *fields;
};
#ifdef __arm__
_Static_assert(offsetof(struct sweep, doubled_bias) == 56 &&
                   offsetof(struct sweep, output) == 56 + 16 &&
                   offsetof(struct sweep, pixel_step) == 56 + 20 &&
                   offsetof(struct sweep, pairs) == 56 + 24 &&
                   offsetof(struct sweep, weights) == 56 + 28 &&
                   offsetof(struct sweep, pair_bytes) == 56 + 32 &&
                   offsetof(struct sweep, fields) == 56 + 36,
               "sweep.S knows these offsets");
#endif

/* sums: of 4 channels, before and after. field: as above, of the first pixel of a pair. */
struct dot {
    int32_t doubled_sums[SWEEP_CHANNELS];
    const uint32_t *field;
    const int8_t *weights;
    int32_t channel_step;                     /* bytes from a channel's weights to the next one's */
    int32_t groups;                           /* of 4 taps, not 0 */
};

void m33_dot(struct dot *dot);
void m33_sweep(struct sweep *sweep);
void m33_expand(uint32_t *to, const int8_t *from, int32_t groups, uint32_t offset);
void m33_expand_pairs(uint32_t *to, const int8_t *from, int32_t groups, uint32_t offset,
                      int32_t pairs, int32_t pixel_step);
uint32_t *m33_widen(uint32_t *to, const int8_t *const rows[SWEEP_CHANNELS], int32_t groups);

#endif
