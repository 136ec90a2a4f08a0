/* SPDX-License-Identifier: Apache-2.0 */
/* Debug registers as the debug port sees them (ARMv6-M ARM C1, ARMv8-M ARM B12 and D1.2): DHCSR,
 * DCRSR, DCRDR, DEMCR, DFSR, and DSCSR and DAUTHSTATUS of ARMv8-M, whose debugger may do everything
 * and finds the core in the Secure state. Breakpoints, the DWT and the ROM table are in
 * breakpoints.c, dwt.c and components.c. Data watchpoints are not modelled; DWT_CTRL says so
 * (NUMCOMP 0). */
#include "debug.h"
#include "scb_v8m.h"

enum {
    DFSR = 0xe000ed30, DHCSR = 0xe000edf0, DCRSR = 0xe000edf4, DCRDR = 0xe000edf8,
    DEMCR = 0xe000edfc, DSCSR = 0xe000ee08, DAUTHSTATUS = 0xe000efb8,
    DWT_CTRL = 0xe0001000, DWT_PCSR = 0xe000101c
};
enum {
    DHCSR_KEY = 0xa05f, DHCSR_CONTROL = C_DEBUGEN | C_HALT | C_STEP | C_MASKINTS,
    S_REGRDY = 1 << 16, S_HALT = 1 << 17, S_SLEEP = 1 << 18, S_LOCKUP = 1 << 19,
    S_RETIRE_ST = 1 << 24, S_RESET_ST = 1 << 25, V8M_S_SDE = 1 << 20,
    DCRSR_WRITE = 1 << 16, DCRSR_REGSEL = 0x1f, V8M_DCRSR_REGSEL = 0x7f,
    DEMCR_DWTENA = 1 << 24, DEMCR_WRITABLE = DEMCR_DWTENA | VC_HARDERR | VC_CORERESET,
    V8M_DEMCR_WRITABLE = DEMCR_WRITABLE | VC_INTERR | VC_BUSERR | VC_STATERR | VC_CHKERR
                         | VC_NOCPERR | VC_MMERR,
    DFSR_WRITABLE = 0x1f,
    DSCSR_CDS = 1 << 16, DSCSR_WRITABLE = 3,               /* secure; SBRSEL and SBRSELEN */
    DAUTHSTATUS_ALL = 0xff              /* invasive and non-invasive, Secure and Non-secure */
};

/* ---- halting ---- */

void debug_halt(machine *m, uint32_t dfsr_reason)
{
    m->halted = true;
    m->dhcsr_control |= C_HALT;
    m->dfsr |= dfsr_reason;
    m->locked_up = m->sleeping = false;
    m->step = NO_STEP;
    m->next_event = 0;                 /* execute() looks up at once */
}

static void resume(machine *m)
{
    m->halted = false;
    m->step = m->dhcsr_control & C_STEP ? STEP_REQUESTED : NO_STEP;
    m->next_event = 0;
}

static uint32_t read_dhcsr(machine *m)
{
    const uint32_t value = m->dhcsr_control
                           | (m->register_ready ? S_REGRDY : 0)
                           | (m->halted ? S_HALT : 0)
                           | (m->sleeping ? S_SLEEP : 0)
                           | (m->locked_up ? S_LOCKUP : 0)
                           | (m->retired != m->instructions ? S_RETIRE_ST : 0)
                           | (m->reset_happened ? S_RESET_ST : 0)
                           | (m->architecture == ARMV8M ? V8M_S_SDE : 0);
    m->retired = m->instructions;
    m->reset_happened = false;
    return value;
}

/* A step is not run here but by the next emu_run: time passes nowhere else. */
static void write_dhcsr(machine *m, uint32_t value)
{
    if (value >> 16 != DHCSR_KEY)
        return;
    m->dhcsr_control = value & C_DEBUGEN ? value & DHCSR_CONTROL : 0;
    if (m->dhcsr_control & C_HALT) {
        if (!m->halted)
            debug_halt(m, DFSR_HALTED);
    } else if (m->halted) {
        resume(m);
    }
}

/* In Debug state only; otherwise the transfer never finishes. */
static void write_dcrsr(machine *m, uint32_t value)
{
    const int regsel = value & (m->architecture == ARMV8M ? V8M_DCRSR_REGSEL : DCRSR_REGSEL);

    m->register_ready = m->halted;
    if (!m->halted)
        return;
    if (value & DCRSR_WRITE)
        emu_set_register(m, regsel, m->dcrdr);
    else
        m->dcrdr = emu_register(m, regsel);
}

/* TRCENA starts and stops the cycle counter. A monitor exception is not modelled. */
static void write_demcr(machine *m, uint32_t value)
{
    const uint32_t writable = m->architecture == ARMV8M ? V8M_DEMCR_WRITABLE : DEMCR_WRITABLE;

    dwt_trace_enabled(m, value & DEMCR_DWTENA);
    m->demcr = value & writable;
}

/* ---- the whole ---- */

static bool v8m_read(const machine *m, uint32_t address, uint32_t *value)
{
    switch (address) {
    case DSCSR: *value = DSCSR_CDS | m->dscsr; return true;
    case DAUTHSTATUS: *value = DAUTHSTATUS_ALL; return true;
    default: return false;
    }
}

static bool v6m_read(const machine *m, uint32_t address, uint32_t *value)
{
    switch (address) {
    case DWT_CTRL: *value = 0; return true;
    case DWT_PCSR: *value = m->halted ? UINT32_MAX : m->r[PC]; return true;
    default: return false;
    }
}

bool debug_read(machine *m, uint32_t address, uint32_t *value)
{
    if (component_read(m, address, value) || breakpoints_read(m, address, value))
        return true;
    switch (address) {
    case DHCSR: *value = read_dhcsr(m); return true;
    case DCRSR: *value = 0; return true;                   /* write-only */
    case DCRDR: *value = m->dcrdr; return true;
    case DEMCR: *value = m->demcr; return true;
    case DFSR: *value = m->dfsr; return true;
    default: return (m->architecture == ARMV8M ? v8m_read : v6m_read)(m, address, value);
    }
}

bool debug_write(machine *m, uint32_t address, uint32_t value)
{
    if (breakpoints_write(m, address, value))
        return true;
    switch (address) {
    case DHCSR: write_dhcsr(m, value); return true;
    case DCRSR: write_dcrsr(m, value); return true;
    case DCRDR: m->dcrdr = value; return true;
    case DEMCR: write_demcr(m, value); return true;
    case DFSR: m->dfsr &= ~(value & DFSR_WRITABLE); return true;       /* write one to clear */
    case DSCSR: m->dscsr = value & DSCSR_WRITABLE; return m->architecture == ARMV8M;
    default: return false;
    }
}

void debug_power_on(machine *m)
{
    m->dhcsr_control = m->dcrdr = m->demcr = m->dfsr = m->dscsr = 0;
    breakpoints_power_on(m);
    dwt_power_on(m);
    m->register_ready = true;
    m->retired = 0;
}

/* A system reset ends Debug state, unless the debugger wants it at the reset vector (C1.4). */
void debug_reset(machine *m)
{
    m->halted = m->locked_up = false;
    m->step = NO_STEP;
    m->reset_happened = true;
    if (!debug_enabled(m))
        return;
    if (m->demcr & VC_CORERESET)
        debug_halt(m, DFSR_VCATCH);
    else
        m->dhcsr_control &= ~(uint32_t)(C_HALT | C_STEP);
}
