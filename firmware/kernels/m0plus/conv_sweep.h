/* SPDX-License-Identifier: Apache-2.0 */
/* conv_sweep.S: an output channel over quads of pixels. */
#ifndef KERNELS_M0PLUS_CONV_SWEEP_H
#define KERNELS_M0PLUS_CONV_SWEEP_H

#include <stddef.h>

#include "kernels/m0plus/guarded.h"
#include "port/placement.h"

enum { QUAD = 4 };

/* conv_sweep.S knows the offsets. */
struct sweep {
    const uint32_t *stream;
    int32_t start_low, start_high;
    int8_t *output;
    struct scale scale;
    int32_t pixel_bytes;
    const int32_t *column, *columns_end;
    int32_t low_value, high_value;
    struct exact exact;
};

_Static_assert(offsetof(struct sweep, output) == 12, "SWEEP_OUTPUT");
_Static_assert(offsetof(struct sweep, column) == 36, "SWEEP_COLUMN");
_Static_assert(offsetof(struct sweep, exact) == 52, "near_boundary");

void m0plus_conv_sweep(struct sweep *sweep);
const int8_t *m0plus_conv_expand(const int8_t *packed, uint32_t *stream);
int32_t *m0plus_conv_gather(const int8_t *const taps[QUAD], int32_t count, int32_t *to);

ALWAYS_INLINE void set_sweep(struct sweep *sweep, const struct packed_channel *channel,
                             const struct quant_record *quant)
{
    const uint32_t start = (uint32_t)channel->start;
    sweep->start_low = (int32_t)(start + (start << 16));
    sweep->start_high = (int32_t)start;
    sweep->scale = channel->scale;
    sweep->low_value = channel->low_value;
    sweep->high_value = channel->high_value;
    set_channel(&sweep->exact, channel, quant);
}

#endif
