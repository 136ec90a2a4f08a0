/* SPDX-License-Identifier: Apache-2.0 */
/* A segment's stages for the Cortex-M33: see segment.c. */
#ifndef KERNELS_M33_SEGMENT_H
#define KERNELS_M33_SEGMENT_H

#include "kernels/plain/segment_rows.h"

/* What a stage has from row to row: constants of its first groups of 4 channels, one behind the other, at most
 * so many. pixels: of a convolution's step. */
struct kept {
    uint32_t *first;
    int32_t groups, most, words;              /* words: of a group */
    int32_t pixels;
};

/* Where to put the constants of the group behind those that are kept; NULL: there is no room. */
ALWAYS_INLINE uint32_t *room_for_group(const struct kept *kept, int32_t group)
{
    const bool next = group == kept->groups && group < kept->most;
    return next ? kept->first + group * kept->words : NULL;
}

/* They are made. A group with a slow channel is not kept, nor is what is behind it. */
ALWAYS_INLINE void keep_group(struct kept *kept, bool slow)
{
    if (slow) {
        kept->most = kept->groups;
    } else {
        kept->groups++;
    }
}

/* Row y of what a stage makes. A parked one is not over the pixels of the row whose place it takes, but
 * begins where its padding does, so that what is written stays behind what is still read. In SRAM, as all
 * below. */
int8_t *m33_segment_row(const struct segment *segment, int32_t number, int32_t y);

/* Each makes the next row of stage `number`. whole: the call of the segment. */
void m33_segment_conv(const struct segment *segment, int32_t number, const struct op_call *whole,
                      struct kept *kept);
void m33_segment_depthwise(const struct segment *segment, int32_t number,
                           const struct op_call *whole, struct kept *kept);
void m33_segment_add(const struct segment *segment, int32_t number, const struct op_call *whole,
                     struct kept *kept);

/* Words of a group's constants. */
int32_t m33_segment_conv_words(const struct stage *stage);
int32_t m33_segment_depthwise_words(const struct stage *stage);

/* Bytes of scratch beside them. */
int32_t m33_segment_conv_scratch(const struct stage *stage, int32_t pixels);
int32_t m33_segment_depthwise_scratch(const struct stage *stage);

/* What the code of single ops asks of a stage. */
void m33_segment_call(struct op_call *call, const struct op_call *segment,
                      const struct stage *stage);

#endif
