/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler part of a segment's way from planes: see segment_planes.S. */
#ifndef KERNELS_M33_SEGMENT_PLANES_H
#define KERNELS_M33_SEGMENT_PLANES_H

#include <stddef.h>
#include <stdint.h>

/* Rows of 4 channels a group. next: from a group's first channel to the other ones, bytes. */
struct planes {
    int32_t pair_bytes;                       /* of fields: from a pair of pixels to the next one */
    uint32_t offset;                          /* added to what is doubled, a halfword each */
    int32_t squares;                          /* of 4 pixels */
    int32_t next[3];
    int32_t group_step;                       /* bytes from a group's first channel to the next one's */
    int32_t pair_more;                        /* 1: behind the squares lies one pair more, 0: none */
    int32_t groups;                           /* not 0; afterwards 0 */
};
#ifdef __arm__
_Static_assert(offsetof(struct planes, next) == 12 && offsetof(struct planes, pair_more) == 28 &&
                   offsetof(struct planes, groups) == 32,
               "segment_planes.S knows these offsets");
#endif

/* Up to 3 bytes are read behind a row's pixels. */
void m33_segment_expand_planes(uint32_t *to, const int8_t *from, struct planes *planes);

/* A depthwise stage's weights of 4 channels, k x k taps, `step` bytes apart. */
uint64_t m33_segment_spread(uint32_t *to, const int8_t *from, int32_t step, int32_t channel_bytes,
                            int32_t k);

#endif
