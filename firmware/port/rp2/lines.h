/* SPDX-License-Identifier: Apache-2.0 */
/* Loads that bring a range of flash into the cache, one a line. */
#ifndef PORT_RP2_LINES_H
#define PORT_RP2_LINES_H

#include <stdint.h>

#include "port/placement.h"

/* The first load goes to offset 0, wherever in a line the range begins; this is where the one after
 * `offset` goes: to the first byte of the next line. */
ALWAYS_INLINE uint32_t next_line(uint32_t base, uint32_t offset, uint32_t line_bytes)
{
    return offset + line_bytes - (base + offset) % line_bytes;
}

#endif
