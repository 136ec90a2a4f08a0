/* SPDX-License-Identifier: Apache-2.0 */
/* From twice an accumulator to a byte, by the short form of channel.h, in C. */
#ifndef KERNELS_M33_SATURATE_H
#define KERNELS_M33_SATURATE_H

#include "kernels/m33/channel.h"

/* A number from -128 to 127. */
ALWAYS_INLINE int32_t saturated(const struct channel *channel, int32_t doubled_sum)
{
    int32_t result;
    __asm("add %0, %2, %1, asr #31\n\t"
          "smmlar %0, %1, %3, %0\n\t"
          "asr %0, %0, %4\n\t"
          "ssat %0, #8, %0"
          : "=&r"(result)
          : "r"(doubled_sum), "r"(channel->offset), "r"(channel->multiplier), "r"(channel->shift));
    return result;
}

ALWAYS_INLINE uint32_t four_bytes(int32_t b0, int32_t b1, int32_t b2, int32_t b3)
{
    return ((uint32_t)b0 & 0xff) | ((uint32_t)b1 & 0xff) << 8 | ((uint32_t)b2 & 0xff) << 16 |
           (uint32_t)b3 << 24;
}

/* Four signed bytes, each raised to low's and lowered to high's. */
ALWAYS_INLINE uint32_t clamped(uint32_t bytes, uint32_t low, uint32_t high)
{
    uint32_t unused;
    __asm("ssub8 %1, %0, %2\n\t"
          "sel %0, %0, %2\n\t"
          "ssub8 %1, %3, %0\n\t"
          "sel %0, %0, %3"
          : "+r"(bytes), "=&r"(unused)
          : "r"(low), "r"(high)
          : "cc");
    return bytes;
}

#endif
