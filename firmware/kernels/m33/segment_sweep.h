/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler part of a segment's convolutions: see segment_sweep.S. */
#ifndef KERNELS_M33_SEGMENT_SWEEP_H
#define KERNELS_M33_SEGMENT_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/m33/sweep.h"

/* Of 4 channels, beside their weights. */
struct numbers {
    struct channel channels[SWEEP_CHANNELS];
    int32_t doubled_bias[SWEEP_CHANNELS];
};

/* fields, weights: as sweep.h has them, of two pairs of taps or more. Four bytes a pixel are written, at any
 * address: next to each other; or, with a pixel_step of 0, each to its channel's plane, where pixels lie
 * next to each other. */
struct segment_sweep {
    const uint32_t *fields;
    uint32_t low, high;                       /* the activation's range, four times */
    int8_t *output;
    int32_t plane_step;                       /* bytes from a plane to the next one */
    const int8_t *output_end;                 /* of the pixel behind the last pair, not output */
    int32_t pixel_step;                       /* bytes from a pixel to the next one, or 0 */
    const uint32_t *weights, *weights_end;
    const struct numbers *numbers;
    int32_t groups;                           /* of 4 channels, not 0; afterwards 1 */
    int32_t output_step;                      /* from the end of a group's output to the next one's */
    int32_t end_step;                         /* from a group's output_end to the next one's */
    int32_t block_step;                       /* the same of weights, and of numbers, bytes */
};
#ifdef __arm__
_Static_assert(offsetof(struct segment_sweep, low) == 4 &&
                   offsetof(struct segment_sweep, output) == 12 &&
                   offsetof(struct segment_sweep, pixel_step) == 24 &&
                   offsetof(struct segment_sweep, numbers) == 36 &&
                   offsetof(struct segment_sweep, groups) == 40 &&
                   offsetof(struct numbers, doubled_bias) == 48,
               "segment_sweep.S knows these offsets");
#endif

void m33_segment_sweep(const struct segment_sweep *sweep);

#endif
