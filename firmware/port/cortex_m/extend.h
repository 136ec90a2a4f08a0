/* SPDX-License-Identifier: Apache-2.0 */
/* A 24-bit count of cycles made whole with a slow clock that does not wrap. */
#ifndef PORT_CORTEX_M_EXTEND_H
#define PORT_CORTEX_M_EXTEND_H

#include <stdint.h>

#include "port/placement.h"

/* remainder: the cycles of clk_khz that passed, modulo 2^24. microseconds: how long that took,
 * to the next or previous microsecond. Returns all cycles, remainder + round((us * f -
 * remainder) / 2^24) wraps. Right while us * f is less than half a wrap, 2^23 cycles, off the
 * truth. */
ALWAYS_INLINE uint64_t extend_cycles(uint32_t remainder, uint64_t microseconds, uint32_t clk_khz)
{
    const uint64_t half_wrap = 1u << 23;
    const uint64_t expected = microseconds * clk_khz / 1000 + half_wrap;
    const uint64_t wraps = expected < remainder ? 0 : (expected - remainder) >> 24;
    return (wraps << 24) + remainder;
}

#endif
