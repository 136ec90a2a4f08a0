/* SPDX-License-Identifier: Apache-2.0 */
/* The RP2040's XIP cache as a clock: which accesses hit, and what a miss costs. Data sheet 2.6.3.1:
 * 16 KB, two ways, 8-byte lines, one cycle for a hit (which the load's own two cycles contain).
 * The contents are not modelled: bytes always come from the flash itself. Replacement is least
 * recently used, an assumption (the data sheet does not say). Lines are filled whole. */
#ifndef XIP_H
#define XIP_H
#include "machine.h"

enum { XIP_SETS = 1024, XIP_LINE_BYTES = 8, XIP_LINE_SHIFT = 3, XIP_WAYS = 2 };
#define NO_LINE UINT32_MAX

/* The four windows of 16 MB, data sheet 2.6.3: what the address bits 25:24 say */
enum xip_window { XIP_CACHED = 0, XIP_NO_ALLOCATE, XIP_NO_CACHE, XIP_NO_CACHE_NO_ALLOCATE };

/* A read through the cached window: cycles that it waits. */
static inline uint32_t xip_access(machine *m, uint32_t address)
{
    const uint32_t line = (address & (XIP_BYTES - 1)) >> XIP_LINE_SHIFT;
    const uint32_t set = line % XIP_SETS, tag = line / XIP_SETS;

    m->xip_accesses++;
    if (m->xip_tag[0][set] == tag) {
        m->xip_oldest[set] = 1;
        return 0;
    }
    if (m->xip_tag[1][set] == tag) {
        m->xip_oldest[set] = 0;
        return 0;
    }
    const uint32_t way = m->xip_oldest[set];
    m->xip_tag[way][set] = tag;
    m->xip_oldest[set] = !way;
    m->xip_misses++;
    return m->xip_miss_cycles;
}

/* A read through any window: the other three are a miss each and leave the cache as it is. */
uint32_t xip_window_access(machine *m, uint32_t address);
#endif
