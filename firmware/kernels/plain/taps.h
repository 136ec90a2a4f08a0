/* SPDX-License-Identifier: Apache-2.0 */
/* Which taps of a kernel fall on the stored input, along one axis. Padding that is stored with the
 * input is input. */
#ifndef KERNELS_PLAIN_TAPS_H
#define KERNELS_PLAIN_TAPS_H

#include <stdint.h>

#include "port/placement.h"

/* Those that do: [first, end). */
struct taps {
    int32_t first, end;
};

/* position: of the first tap, real or not. */
ALWAYS_INLINE struct taps real_taps(int32_t position, int32_t dilation, int32_t taps, int32_t size)
{
    struct taps real = {0, taps};
    while (real.first < real.end && position + real.first * dilation < 0) {
        real.first++;
    }
    while (real.end > real.first && position + (real.end - 1) * dilation >= size) {
        real.end--;
    }
    return real;
}

#endif
