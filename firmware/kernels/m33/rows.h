/* SPDX-License-Identifier: Apache-2.0 */
/* The assembler parts of the depthwise convolution: see rows.S and planes.S. */
#ifndef KERNELS_M33_ROWS_H
#define KERNELS_M33_ROWS_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/m33/channel.h"

/* Output rows of one channel. weights: twice their value, for each row of taps A and then B, with
 * stride 2 A and the last B (rows.S). tile, row_start: the first row of taps of the next output, on
 * 4 bytes. All is used up by a call but weights, row_bytes, doubled_bias, channel, low and high. */
struct rows {
    const uint32_t *weights;
    int32_t row_bytes;                        /* of the plane */
    int32_t doubled_bias;
    const int16_t *tile;
    struct channel channel;
    uint32_t low, high;                       /* the activation's range, four times */
    int8_t *output;
    int32_t pixel_step;                       /* bytes from an output pixel to the next one */
    int32_t left;                             /* outputs of this row */
    int32_t rows;                             /* not 0 */
    const int16_t *row_start;
    int32_t width;                            /* outputs of a row */
    int32_t row_advance;                      /* bytes of the plane between two output rows' taps */
};
#ifdef __arm__
_Static_assert(offsetof(struct rows, tile) == 12 && offsetof(struct rows, channel) == 16 &&
                   offsetof(struct rows, output) == 36 && offsetof(struct rows, left) == 36 + 8 &&
                   offsetof(struct rows, rows) == 36 + 12 &&
                   offsetof(struct rows, row_start) == 36 + 16 &&
                   offsetof(struct rows, width) == 36 + 20 &&
                   offsetof(struct rows, row_advance) == 36 + 24,
               "rows.S knows these offsets");
#endif

typedef void rows_function(struct rows *rows);
rows_function m33_rows_3_1, m33_rows_5_1, m33_rows_7_1;
rows_function m33_rows_3_2, m33_rows_5_2, m33_rows_7_2;

struct split {
    int32_t pixel_step;                       /* bytes from a pixel to the next one */
    int32_t plane_bytes;                      /* from a channel's plane to the next one's */
    uint32_t offset;                          /* added to each value, twice */
};
void m33_split(uint32_t *to, const int8_t *from, int32_t pairs, const struct split *split);
void m33_move_down(uint32_t *to, const uint32_t *from, int32_t words);

#endif
