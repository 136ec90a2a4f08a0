/* SPDX-License-Identifier: Apache-2.0 */
/* Filling and copying for kernels, byte by byte: each is stored once, in the stated order. */
#ifndef KERNELS_PLAIN_BYTES_H
#define KERNELS_PLAIN_BYTES_H

#include <stdint.h>

#include "port/placement.h"

/* The first byte first; to the end of what was written. */
ALWAYS_INLINE int8_t *fill(int8_t *to, int32_t count, int8_t value)
{
    for (int8_t *const end = to + count; to != end; to++) {
        *to = value;
    }
    return to;
}

/* The first byte first; to the end of what was written. */
ALWAYS_INLINE int8_t *copy(int8_t *to, const int8_t *from, int32_t count)
{
    for (; count >= 4; count -= 4, to += 4, from += 4) {
        to[0] = from[0];
        to[1] = from[1];
        to[2] = from[2];
        to[3] = from[3];
    }
    for (; count > 0; count--) {
        *to++ = *from++;
    }
    return to;
}

/* The last byte first. */
ALWAYS_INLINE void copy_reverse(int8_t *to, const int8_t *from, int32_t count)
{
    int32_t at = count;
    for (; at >= 4; at -= 4) {
        to[at - 1] = from[at - 1];
        to[at - 2] = from[at - 2];
        to[at - 3] = from[at - 3];
        to[at - 4] = from[at - 4];
    }
    for (; at > 0; at--) {
        to[at - 1] = from[at - 1];
    }
}

#endif
