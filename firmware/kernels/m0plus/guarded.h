/* SPDX-License-Identifier: Apache-2.0 */
/* Requantisation by one multiplication, where that is proved to give the exact kernel's byte.
 *
 * With `sum` the taps times the weights, neither zero point nor bias in it, and x = sum + start:
 *     x as unsigned >= range        low_value if x < 0 as signed, else high_value
 *     p = x * multiplier + offset   signed, 24 bits of fraction, modulo 2^32
 *     fraction of p << 8 < guard    too near a boundary between two outputs: the exact way
 *     otherwise                     p >> 24
 * The packer (harness/kernels/packers) proves for each channel that this is right, or sets guard so
 * that all goes the exact way. */
#ifndef KERNELS_M0PLUS_GUARDED_H
#define KERNELS_M0PLUS_GUARDED_H

#include <stdint.h>

#include "runner/kernels.h"

struct scale {
    int32_t multiplier, offset;
    uint32_t range, guard;
};

/* Of an output channel, in packed constants. base: x + base is the accumulator with its bias. */
struct packed_channel {
    int32_t start, base;
    struct scale scale;
    int8_t low_value, high_value;
    int16_t reserved;
};

struct exact {
    int32_t base;
    const struct quant_record *quant;
    int32_t zero_point, activation_min, activation_max;
};

/* Packed constants begin with a record for each output channel. */
static inline const struct packed_channel *packed_channels(const struct op_call *call)
{
    return (const struct packed_channel *)(const void *)call->weights;
}

/* What is the same for all channels. */
static inline struct exact exact_of(const struct op_call *call)
{
    return (struct exact){
        .zero_point = call->output_zero_point,
        .activation_min = call->activation_min,
        .activation_max = call->activation_max,
    };
}

static inline void set_channel(struct exact *exact, const struct packed_channel *channel,
                               const struct quant_record *quant)
{
    exact->base = channel->base;
    exact->quant = quant;
}

/* In SRAM; called by the assembler. */
int32_t m0plus_exact(uint32_t x, const struct exact *exact);

#endif
