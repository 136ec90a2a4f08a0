/* SPDX-License-Identifier: Apache-2.0 */
/* System control space of the Cortex-M0+ (ARMv6-M ARM B3.2 to B3.4): SCB and NVIC, and the way
 * to SysTick and to the debug registers.
 *
 * What ARMv8-M has in their place is in ppb_v8m.c and scb_v8m.c.
 *
 * The core may use words only, in privileged code; the debug registers (DHCSR to DEMCR, DFSR,
 * SHCSR, BPU, DWT, ROM table) belong to the debug port alone, as on every Cortex-M0+. A
 * register that is not here stops the core's run (EMU_STRICT); a debugger may look anywhere, it
 * reads 0. */
#include "scb_v8m.h"

enum {
    ACTLR = 0xe000e008, SYSTICK_FIRST = 0xe000e010, SYSTICK_LAST = 0xe000e01c,
    NVIC_ISER = 0xe000e100, NVIC_ICER = 0xe000e180, NVIC_ISPR = 0xe000e200, NVIC_ICPR = 0xe000e280,
    NVIC_IPR0 = 0xe000e400, NVIC_IPR7 = 0xe000e41c,
    CPUID = 0xe000ed00, ICSR = 0xe000ed04, VTOR = 0xe000ed08, AIRCR = 0xe000ed0c, SCR = 0xe000ed10,
    CCR = 0xe000ed14, SHPR2 = 0xe000ed1c, SHPR3 = 0xe000ed20, SHCSR = 0xe000ed24,
    MPU_TYPE = 0xe000ed90, MPU_CTRL = 0xe000ed94
};
enum {
    CPUID_CORTEX_M0PLUS_R0P1 = 0x410cc601,
    ICSR_NMIPENDSET = 1u << 31, ICSR_PENDSVSET = 1 << 28, ICSR_PENDSVCLR = 1 << 27,
    ICSR_PENDSTSET = 1 << 26, ICSR_PENDSTCLR = 1 << 25, ICSR_ISRPENDING = 1 << 22,
    ICSR_VECTPENDING_SHIFT = 12,
    VTOR_TBLOFF = 0xffffff00,
    AIRCR_VECTKEY = 0x05fa, AIRCR_VECTKEYSTAT = 0xfa050000,
    AIRCR_SYSRESETREQ = 1 << 2, AIRCR_VECTCLRACTIVE = 1 << 1,
    CCR_STKALIGN_UNALIGN_TRP = 0x208,
    SHCSR_SVCALLPENDED = 1 << 15,
    MPU_TYPE_8_REGIONS = 8 << 8,
    PRIORITY_BITS = 0xc0                /* two bits of priority, the upper ones of each byte */
};

/* ---- priorities: four to a register ---- */

static uint32_t read_priorities(const uint8_t priority[4])
{
    return priority[0] | (uint32_t)priority[1] << 8 | (uint32_t)priority[2] << 16
           | (uint32_t)priority[3] << 24;
}

static void write_priorities(uint8_t priority[4], uint32_t value)
{
    for (int k = 0; k < 4; k++)
        priority[k] = value >> 8 * k & PRIORITY_BITS;
}

/* ---- SCB ---- */

static uint32_t read_icsr(machine *m)
{
    uint32_t number = 0, value = m->ipsr;
    int priority;

    systick_update(m);
    irq_sample(m);
    if (highest_pending(m, &number, &priority))
        value |= number << ICSR_VECTPENDING_SHIFT;
    if (m->irq_pending)
        value |= ICSR_ISRPENDING;
    if (m->pending_system >> SYSTICK & 1)
        value |= ICSR_PENDSTSET;
    if (m->pending_system >> PENDSV & 1)
        value |= ICSR_PENDSVSET;
    if (m->pending_system >> NMI & 1)
        value |= ICSR_NMIPENDSET;
    return value;
}

static void write_icsr(machine *m, uint32_t value)
{
    systick_update(m);
    if (value & ICSR_NMIPENDSET)
        m->pending_system |= 1u << NMI;
    if (value & ICSR_PENDSVSET)
        m->pending_system |= 1u << PENDSV;
    if (value & ICSR_PENDSVCLR)
        m->pending_system &= ~(1u << PENDSV);
    if (value & ICSR_PENDSTSET)
        m->pending_system |= 1u << SYSTICK;
    if (value & ICSR_PENDSTCLR)
        m->pending_system &= ~(1u << SYSTICK);
}

static void write_aircr(machine *m, uint32_t value)
{
    if (value >> 16 != AIRCR_VECTKEY)
        return;
    if (value & AIRCR_VECTCLRACTIVE && m->halted)
        m->active_system = m->ipsr = 0, m->irq_active = 0;
    if (value & AIRCR_SYSRESETREQ)
        machine_request_reset(m);
}

/* ---- the whole, by word; false: no such register ---- */

static bool read_word(machine *m, uint32_t address, enum bus_master master, uint32_t *value)
{
    if (address >= SYSTICK_FIRST && address <= SYSTICK_LAST) {
        *value = systick_read(m, address, master);
        return true;
    }
    if (address >= NVIC_IPR0 && address <= NVIC_IPR7) {
        *value = read_priorities(&m->irq_priority[address - NVIC_IPR0]);
        return true;
    }
    switch (address) {
    case NVIC_ISER: case NVIC_ICER: *value = (uint32_t)m->irq_enabled; return true;
    case NVIC_ISPR: case NVIC_ICPR: irq_sample(m); *value = (uint32_t)m->irq_pending; return true;
    case CPUID: *value = CPUID_CORTEX_M0PLUS_R0P1; return true;
    case ICSR: *value = read_icsr(m); return true;
    case VTOR: *value = m->vtor; return true;
    case AIRCR: *value = AIRCR_VECTKEYSTAT; return true;
    case SCR: *value = m->scr; return true;
    case CCR: *value = CCR_STKALIGN_UNALIGN_TRP; return true;
    case SHPR2: *value = read_priorities(&m->system_priority[8]); return true;
    case SHPR3: *value = read_priorities(&m->system_priority[12]); return true;
    case MPU_TYPE: *value = MPU_TYPE_8_REGIONS; return true;
    case ACTLR: case MPU_CTRL: *value = 0; return true;
    }
    if (master == BY_DEBUGGER && address == SHCSR) {
        *value = m->pending_system >> SVCALL & 1 ? SHCSR_SVCALLPENDED : 0;
        return true;
    }
    return master == BY_DEBUGGER && debug_read(m, address, value);
}

static bool write_word(machine *m, uint32_t address, enum bus_master master, uint32_t value)
{
    if (address >= SYSTICK_FIRST && address <= SYSTICK_LAST) {
        systick_write(m, address, value);
        return true;
    }
    if (address >= NVIC_IPR0 && address <= NVIC_IPR7) {
        write_priorities(&m->irq_priority[address - NVIC_IPR0], value);
        return true;
    }
    switch (address) {
    case NVIC_ISER: m->irq_enabled |= value; return true;
    case NVIC_ICER: m->irq_enabled &= ~(uint64_t)value; return true;
    case NVIC_ISPR:
        if (value & ~m->irq_pending && m->scr & SCR_SEVONPEND)
            m->event = true;
        m->irq_pending |= value;
        return true;
    case NVIC_ICPR: irq_sample(m); m->irq_pending &= ~(uint64_t)value; return true;
    case ICSR: write_icsr(m, value); return true;
    case VTOR: m->vtor = value & VTOR_TBLOFF; return true;
    case AIRCR: write_aircr(m, value); return true;
    case SCR: m->scr = value & (SCR_SLEEPONEXIT | SCR_SLEEPDEEP | SCR_SEVONPEND); return true;
    case SHPR2: write_priorities(&m->system_priority[8], value & 0xff000000u); return true;
    case SHPR3: write_priorities(&m->system_priority[12], value & 0xffff0000u); return true;
    case CPUID: case CCR: case ACTLR: case MPU_TYPE: return true;      /* read-only */
    case MPU_CTRL: return value == 0;                                  /* the MPU is not modelled */
    }
    if (master == BY_DEBUGGER && address == SHCSR) {
        if (value & SHCSR_SVCALLPENDED)
            m->pending_system |= 1u << SVCALL;
        else
            m->pending_system &= ~(1u << SVCALL);
        return true;
    }
    return master == BY_DEBUGGER && debug_write(m, address, value);
}

/* Privileged words: an unprivileged access faults, a narrower one is UNPREDICTABLE. */
static bool may_access(machine *m, uint32_t address, int size, enum bus_master master,
                       const char *verb)
{
    if (master == BY_CORE && !is_privileged(m)) {
        m->fault_cause = "unprivileged access to the private peripheral bus";
        m->fault_address = address;
        return false;
    }
    if (master == BY_CORE && size != 4)
        machine_strict(m, "%s of %d bytes at %#010x: the PPB of ARMv6-M takes words only", verb,
                       size, address);
    return true;
}

bool ppb_read(machine *m, uint32_t address, int size, enum bus_master master, uint32_t *value)
{
    *value = 0;
    if (m->architecture == ARMV8M)
        return ppb_read_v8m(m, address, size, master, value);
    if (!may_access(m, address, size, master, "read"))
        return false;
    if (!read_word(m, address & ~3u, master, value) && master == BY_CORE)
        machine_strict(m, "read of %#010x: no register there that a Cortex-M0+ lets software use",
                       address);
    *value >>= 8 * (address & 3);
    return true;
}

bool ppb_write(machine *m, uint32_t address, int size, enum bus_master master, uint32_t value)
{
    if (m->architecture == ARMV8M)
        return ppb_write_v8m(m, address, size, master, value);
    if (!may_access(m, address, size, master, "write"))
        return false;
    if (size != 4)
        return true;
    if (!write_word(m, address, master, value) && master == BY_CORE)
        machine_strict(m, "write of %#010x to %#010x: not modelled, or not for software on a "
                          "Cortex-M0+", value, address);
    m->next_event = 0;
    return true;
}

void scs_reset(machine *m)
{
    m->pending_system = m->active_system = 0;
    m->irq_pending = m->irq_enabled = m->irq_active = m->irq_lines = 0;
    for (int k = 0; k < MAX_IRQS; k++)
        m->irq_priority[k] = 0;
    for (int k = 0; k < IRQ0; k++)
        m->system_priority[k] = 0;
    m->vtor = m->scr = 0;
    scb_reset(m);
    m->systick_csr = m->systick_rvr = m->systick_stopped_at = 0;
    m->systick_zero = m->systick_next_zero = NEVER;
}
