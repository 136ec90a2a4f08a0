/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler part of a segment's depthwise stages: see strips.S. */
#ifndef KERNELS_M33_STRIPS_H
#define KERNELS_M33_STRIPS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/m33/channel.h"

/* An output row of one channel, from the bytes of k input rows. constants: for each of them the words of
 * its weights, twice their value, and its address less `offset` (strips.S). doubled_bias: less what the zero
 * point comes to. A quad of outputs is written, at any address, when the
 * next one's input has been read; the last one is left in `last`, for output. What is read goes up to 12
 * bytes beyond the last quad's taps. */
struct strip {
    const uint32_t *constants;
    int32_t doubled_bias;
    struct channel channel;
    uint32_t low, high;                       /* the activation's range, four times */
    int8_t *output;
    int32_t quads;                            /* not 0 */
    int32_t offset;
    uint32_t last;
    int32_t first;                            /* quads at first */
};
#ifdef __arm__
_Static_assert(offsetof(struct strip, channel) == 8 && offsetof(struct strip, output) == 28 &&
                   offsetof(struct strip, offset) == 36 &&
                   offsetof(struct strip, last) == 40,
               "strips.S knows these offsets");
#endif

typedef void strip_function(struct strip *strip);
strip_function m33_strip_3_1, m33_strip_5_1, m33_strip_7_1;
strip_function m33_strip_3_2, m33_strip_5_2, m33_strip_7_2;

#endif
