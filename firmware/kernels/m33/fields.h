/* SPDX-License-Identifier: Apache-2.0 */
/* Receptive fields of a step's pixels, copied to scratch as doubled halfwords x - zero_point, so
 * that padding is 0. sweep.h says how they lie there; a field is filled up to a multiple of 4 taps
 * with anything, because the weights of these taps are 0. */
#ifndef KERNELS_M33_FIELDS_H
#define KERNELS_M33_FIELDS_H

#include "runner/kernels.h"

/* Where the gathering stands: the next pixel to gather. */
struct gathering {
    const struct op_call *call;
    int8_t *staged;                           /* scratch for a field's bytes, filled up, and 4 more */
    int32_t row, column;
    int32_t taps;
    int32_t groups;                           /* of 4 taps in a field, filled up */
    uint32_t offset;                          /* -2 zero_point, twice */
};

/* `count` pixels, the first of them to the first word of `fields`. Of the arena it reads the real
 * taps of these, and nothing else. In SRAM. */
void m33_gather(struct gathering *gathering, uint32_t *fields, int32_t count);

#endif
