/* SPDX-License-Identifier: Apache-2.0 */
/* The DWT of ARMv8-M (Architecture Reference Manual D1.2.58, B14): the cycle counter and the
 * sampled pc. Comparators, profiling counters and trace packets are not modelled; DWT_CTRL says so
 * (NUMCOMP 0, NOTRCPKT, NOEXTTRIG, NOPRFCNT), where silicon has four comparators.
 *
 * CYCCNT counts processor cycles, those asleep too, while DWT_CTRL.CYCCNTENA and DEMCR.TRCENA are
 * set, and wraps at 32 bits. As SysTick, it is not a counter here but the cycle at which it was
 * zero, so that any length of time is exact and free. */
#include "scb_v8m.h"

enum { DWT_CTRL = 0xe0001000, DWT_CYCCNT = 0xe0001004, DWT_PCSR = 0xe000101c };
enum { CTRL_CYCCNTENA = 1 << 0, CTRL_FIXED = 1 << 27 | 1 << 26 | 1 << 24 };
enum { DEMCR_TRCENA = 1 << 24 };

static bool counting(const machine *m)
{
    return m->dwt_ctrl & CTRL_CYCCNTENA && m->demcr & DEMCR_TRCENA;
}

static uint32_t current(const machine *m)
{
    return counting(m) ? (uint32_t)(m->cycles - m->dwt_zero) : m->dwt_stopped_at;
}

static void set(machine *m, uint32_t value)
{
    m->dwt_stopped_at = value;
    m->dwt_zero = m->cycles - value;
}

/* Before the one or the other enable changes: the counter goes on from where it is. */
static void change(machine *m, uint32_t ctrl, uint32_t trcena)
{
    const uint32_t now = current(m);

    m->dwt_ctrl = ctrl;
    m->demcr = (m->demcr & ~(uint32_t)DEMCR_TRCENA) | trcena;
    set(m, now);
}

void dwt_trace_enabled(machine *m, bool enabled)
{
    change(m, m->dwt_ctrl, enabled ? (uint32_t)DEMCR_TRCENA : 0);
}

bool dwt_read(machine *m, uint32_t address, uint32_t *value)
{
    switch (address) {
    case DWT_CTRL: *value = CTRL_FIXED | m->dwt_ctrl; return true;
    case DWT_CYCCNT: *value = current(m); return true;
    case DWT_PCSR: *value = m->halted ? UINT32_MAX : m->r[PC]; return true;
    default: return false;
    }
}

bool dwt_write(machine *m, uint32_t address, uint32_t value)
{
    switch (address) {
    case DWT_CTRL:
        change(m, value & CTRL_CYCCNTENA, m->demcr & DEMCR_TRCENA);
        return true;
    case DWT_CYCCNT: set(m, value); return true;
    default: return false;
    }
}

void dwt_power_on(machine *m)
{
    m->dwt_ctrl = 0;
    set(m, 0);
}
