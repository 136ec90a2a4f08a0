/* SPDX-License-Identifier: Apache-2.0 */
/* XIP cache, the parts off the fast path: see xip.h. */
#include "xip.h"
#include <string.h>

uint32_t xip_window_access(machine *m, uint32_t address)
{
    if ((address >> 24 & 3) == XIP_CACHED)
        return xip_access(m, address);
    m->xip_accesses++;
    m->xip_misses++;
    return m->xip_miss_cycles;
}

void xip_flush(machine *m)
{
    memset(m->xip_tag, 0xff, sizeof m->xip_tag);
    memset(m->xip_oldest, 0, sizeof m->xip_oldest);
    m->fetch_line = NO_LINE;
}
