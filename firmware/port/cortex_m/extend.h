/* SPDX-License-Identifier: Apache-2.0 */
/* A count of cycles that wraps, made whole with a slow clock that does not wrap. */
#ifndef PORT_CORTEX_M_EXTEND_H
#define PORT_CORTEX_M_EXTEND_H

#include <stdint.h>

#include "port/placement.h"

/* remainder: the cycles of clk_khz that passed, modulo 2^bits (bits at most 32). microseconds: how
 * long that took, to the next or previous microsecond. Returns all cycles, remainder +
 * round((us * f - remainder) / 2^bits) wraps. Right while us * f is less than half a wrap off the
 * truth. */
ALWAYS_INLINE uint64_t extend_cycles(uint32_t remainder, uint32_t bits, uint64_t microseconds,
                                     uint32_t clk_khz)
{
    const uint64_t half_wrap = (uint64_t)1 << (bits - 1);
    const uint64_t expected = microseconds * clk_khz / 1000 + half_wrap;
    const uint64_t wraps = expected < remainder ? 0 : (expected - remainder) >> bits;
    return (wraps << bits) + remainder;
}

#endif
