/* SPDX-License-Identifier: Apache-2.0 */
/* SysTick (ARMv6-M ARM B3.3): a 24-bit down-counter at the processor clock.
 *
 * It counts to 0, stays there for one cycle, and loads RVR: a period is RVR + 1 cycles, and
 * COUNTFLAG is set (and the exception pended) when it goes from 1 to 0. A write to CVR clears
 * it to 0 without either; the next cycle loads RVR. RVR 0 lets it end at 0. While it counts it
 * is not a counter here but two moments, its latest and its next zero, so that any length of
 * time is exact and free. */
#include "core.h"

enum {
    SYST_CSR = 0xe000e010, SYST_RVR = 0xe000e014, SYST_CVR = 0xe000e018, SYST_CALIB = 0xe000e01c
};
enum { CSR_ENABLE = 1 << 0, CSR_TICKINT = 1 << 1, CSR_CLKSOURCE = 1 << 2, CSR_COUNTFLAG = 1 << 16 };
enum { COUNTER_MASK = 0xffffff };

static bool counting(const machine *m) { return m->systick_csr & CSR_ENABLE; }

/* The counter is `value` now: place its zeros. */
static void start_at(machine *m, uint32_t value)
{
    m->systick_zero = value ? NEVER : m->cycles;
    if (value)
        m->systick_next_zero = m->cycles + value;
    else
        m->systick_next_zero = m->systick_rvr ? m->cycles + m->systick_rvr + 1 : NEVER;
}

static uint32_t current(const machine *m)
{
    if (!counting(m))
        return m->systick_stopped_at;
    if (m->cycles == m->systick_zero || m->systick_next_zero == NEVER)
        return 0;
    return (uint32_t)(m->systick_next_zero - m->cycles);
}

void systick_update(machine *m)
{
    const uint64_t period = m->systick_rvr + 1ull;

    if (!counting(m) || m->cycles < m->systick_next_zero)
        return;
    m->systick_csr |= CSR_COUNTFLAG;
    if (m->systick_csr & CSR_TICKINT)
        m->pending_system |= 1u << SYSTICK;
    m->systick_zero = m->systick_next_zero;
    if (m->systick_rvr == 0) {
        m->systick_next_zero = NEVER;
        return;
    }
    m->systick_zero += (m->cycles - m->systick_zero) / period * period;
    m->systick_next_zero = m->systick_zero + period;
}

uint64_t systick_next_event(const machine *m)
{
    return counting(m) && m->systick_csr & CSR_TICKINT ? m->systick_next_zero : NEVER;
}

/* COUNTFLAG is cleared by reading it, but not by a debugger's look. */
uint32_t systick_read(machine *m, uint32_t address, enum bus_master master)
{
    systick_update(m);
    switch (address) {
    case SYST_CSR: {
        const uint32_t value = m->systick_csr;
        if (master == BY_CORE)
            m->systick_csr &= ~(uint32_t)CSR_COUNTFLAG;
        return value;
    }
    case SYST_RVR: return m->systick_rvr;
    case SYST_CVR: return current(m);
    default: return 0;                 /* SYST_CALIB: no calibration value */
    }
}

static void write_csr(machine *m, uint32_t value)
{
    const uint32_t now = current(m), control = value & (CSR_ENABLE | CSR_TICKINT | CSR_CLKSOURCE);
    const bool was_counting = counting(m);

    if (control & CSR_ENABLE && !(control & CSR_CLKSOURCE))
        machine_strict(m, "SysTick on the external reference clock is not modelled: "
                          "set CSR.CLKSOURCE");
    m->systick_csr = (m->systick_csr & CSR_COUNTFLAG) | control;
    if (was_counting && !counting(m))
        m->systick_stopped_at = now;
    if (!was_counting && counting(m))
        start_at(m, m->systick_stopped_at);
}

void systick_write(machine *m, uint32_t address, uint32_t value)
{
    systick_update(m);
    m->next_event = 0;
    switch (address) {
    case SYST_CSR:
        write_csr(m, value);
        break;
    case SYST_RVR:                     /* for the next load, which may be in the next cycle */
        m->systick_rvr = value & COUNTER_MASK;
        if (counting(m) && current(m) == 0)
            start_at(m, 0);
        break;
    case SYST_CVR:
        m->systick_csr &= ~(uint32_t)CSR_COUNTFLAG;
        m->systick_stopped_at = 0;
        start_at(m, 0);
        break;
    }
}
