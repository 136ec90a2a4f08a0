/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler part of a segment's depthwise stages: see strips.S. */
#ifndef KERNELS_M33_STRIPS_H
#define KERNELS_M33_STRIPS_H

#include <stddef.h>
#include <stdint.h>

enum { STRIP_TAPS = 7 };                      /* the most in a row, and rows */

/* A row of outputs of one channel after the other, from the bytes of k input rows.
 *
 * constants: of each channel its weights, row by row, twice their value (strips.S); multiplier, offset
 * and shift of struct channel; and the doubled bias, less what the input's zero point comes to.
 * offset: added to each of the rows' addresses, of the first channel.
 * Outputs are written four (3 x 3, stride 1: eight) at a time, when the taps of all of them have been read:
 * next to each other up to `limit`, an offset as above, and from there on pixel_step bytes apart. What is
 * read goes up to 12 bytes beyond the last outputs' taps. */
struct strips {
    const uint32_t *constants;
    int32_t offset;
    uint32_t low, high;                       /* the activation's range, four times */
    int32_t limit;                            /* of the first channel; 0: all are pixel_step bytes apart */
    int8_t *output;
    int32_t limit_step;                       /* from a channel to the next one */
    int32_t output_step;                      /* from behind a channel's last output to the next one's first */
    int32_t pixel_step;
    int32_t end;                              /* offset + width */
    int32_t width;                            /* bytes from the first outputs to behind the last */
    int32_t channel_step;                     /* of the rows, less width */
    int32_t channels;                         /* not 0 */
    int32_t left;                             /* of the last four, 1 to 4, or of the last eight */
    const int8_t *rows[STRIP_TAPS];
};
#ifdef __arm__
_Static_assert(offsetof(struct strips, low) == 8 && offsetof(struct strips, output) == 8 + 12 &&
                   offsetof(struct strips, end) == 8 + 28 && offsetof(struct strips, left) == 8 + 44 &&
                   offsetof(struct strips, rows) == 8 + 48,
               "strips.S knows these offsets");
#endif

typedef void strips_function(const struct strips *strips);
strips_function m33_strips_3_1, m33_strips_5_1, m33_strips_7_1;
strips_function m33_strips_3_2, m33_strips_5_2, m33_strips_7_2;

#endif
