/* SPDX-License-Identifier: Apache-2.0 */
/* A pixel's receptive field, without what padding puts outside the image. Taps next to each other in
 * memory are read as one run; there are `runs` in each row of taps. */
#ifndef KERNELS_PLAIN_FIELD_H
#define KERNELS_PLAIN_FIELD_H

#include <stdbool.h>

#include "kernels/plain/taps.h"
#include "runner/kernels.h"

struct field {
    struct taps rows, columns;
    int32_t input;                            /* offset of the first real tap in the input, and */
    int32_t weights;                          /* in a channel's weights; no tap: any number */
    int32_t runs, run_bytes;
};

/* y, x: of the first tap, real or not. rows, columns: the real taps from there. */
ALWAYS_INLINE struct field field_of_taps(const struct op_call *call, int32_t y, int32_t x,
                                         struct taps rows, struct taps columns)
{
    const int32_t taps = columns.end - columns.first;
    const int32_t first_y = y + rows.first * call->d_h;
    const int32_t first_x = x + columns.first * call->d_w;
    const bool adjacent = call->d_w == 1;
    return (struct field){
        .rows = rows,
        .columns = columns,
        .input = (first_y * call->w_in + first_x) * call->c_in,
        .weights = (rows.first * call->k_w + columns.first) * call->c_in,
        .runs = adjacent ? 1 : taps,
        .run_bytes = adjacent ? taps * call->c_in : call->c_in,
    };
}

#endif
