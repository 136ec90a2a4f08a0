/* SPDX-License-Identifier: Apache-2.0 */
/* The private peripheral bus of a Cortex-M33 (ARMv8-M Architecture Reference Manual B11): who may
 * access it and how, the NVIC (D1.2.173 to D1.2.182), and the way to SysTick, SCB, DWT and the
 * debug registers. Software may use all of them but what drives a halted core (DHCSR, DCRSR,
 * DCRDR), which it may only read.
 *
 * The fault status, system handler priority and interrupt priority registers take bytes and
 * halfwords, all others words. A register that is not here stops the core's run (EMU_STRICT); a
 * debugger may look anywhere, it reads 0. The Non-secure alias at 0xe002e000 is not here. */
#include "scb_v8m.h"

enum {
    ICTR = 0xe000e004, SYSTICK_FIRST = 0xe000e010, SYSTICK_LAST = 0xe000e01c,
    NVIC_ISER = 0xe000e100, NVIC_ICER = 0xe000e180, NVIC_ISPR = 0xe000e200, NVIC_ICPR = 0xe000e280,
    NVIC_IABR = 0xe000e300, NVIC_ITNS = 0xe000e380, NVIC_FIRST = NVIC_ISER,
    NVIC_LAST = NVIC_ITNS + 0x7c,
    NVIC_IPR_FIRST = 0xe000e400, NVIC_IPR_LAST = 0xe000e43c,
    SHPR_FIRST = 0xe000ed18, SHPR_LAST = 0xe000ed20, CFSR = 0xe000ed28,
    STIR = 0xe000ef00, DHCSR = 0xe000edf0, DCRSR = 0xe000edf4, DCRDR = 0xe000edf8,
    DEMCR = 0xe000edfc
};
enum { REGISTERS_OF_32 = 2, PRIORITY_BITS = 0xf0, STIR_INTID = 0x1ff };
enum { DEMCR_MONITOR = 0xf << 16 };    /* the DebugMonitor exception, which is not modelled */

/* ---- NVIC ---- */

static uint64_t existing_irqs(const machine *m) { return (1ull << m->irqs) - 1; }

/* Set-enable, clear-enable, set-pending, ...: a block each, one bit an interrupt. */
static bool read_irq_bits(machine *m, uint32_t address, uint32_t *value)
{
    const uint32_t k = address >> 2 & 0x1f;
    uint64_t bits;

    if (k >= REGISTERS_OF_32)
        return false;
    switch (address & ~0x7cu) {
    case NVIC_ISER: case NVIC_ICER: bits = m->irq_enabled; break;
    case NVIC_ISPR: case NVIC_ICPR: irq_sample(m); bits = m->irq_pending; break;
    case NVIC_IABR: bits = m->irq_active; break;
    default: bits = 0;                 /* NVIC_ITNS: every interrupt is Secure */
    }
    *value = (uint32_t)(bits >> 32 * k);
    return true;
}

static void pend(machine *m, uint64_t bits)
{
    if (bits & ~m->irq_pending && m->scr & SCR_SEVONPEND)
        m->event = true;
    m->irq_pending |= bits;
}

static bool write_irq_bits(machine *m, uint32_t address, uint32_t value)
{
    const uint32_t k = address >> 2 & 0x1f;
    const uint64_t bits = (uint64_t)value << 32 * (k & 1) & existing_irqs(m);

    if (k >= REGISTERS_OF_32)
        return false;
    switch (address & ~0x7cu) {
    case NVIC_ISER: m->irq_enabled |= bits; return true;
    case NVIC_ICER: m->irq_enabled &= ~bits; return true;
    case NVIC_ISPR: pend(m, bits); return true;
    case NVIC_ICPR: irq_sample(m); m->irq_pending &= ~bits; return true;
    case NVIC_IABR: return true;       /* read-only */
    default: return value == 0;
    }
}

static uint32_t read_irq_priorities(const machine *m, uint32_t first)
{
    uint32_t value = 0;

    for (uint32_t k = 0; k < 4 && first + k < m->irqs; k++)
        value |= (uint32_t)m->irq_priority[first + k] << 8 * k;
    return value;
}

static void write_irq_priorities(machine *m, uint32_t first, uint32_t value)
{
    for (uint32_t k = 0; k < 4 && first + k < m->irqs; k++)
        m->irq_priority[first + k] = value >> 8 * k & PRIORITY_BITS;
}

/* ---- the whole, by word; false: no such register ---- */

static bool read_word(machine *m, uint32_t address, enum bus_master master, uint32_t *value)
{
    if (address >= SYSTICK_FIRST && address <= SYSTICK_LAST) {
        *value = systick_read(m, address, master);
        return true;
    }
    if (address >= NVIC_FIRST && address <= NVIC_LAST)
        return read_irq_bits(m, address, value);
    if (address >= NVIC_IPR_FIRST && address <= NVIC_IPR_LAST) {
        *value = read_irq_priorities(m, address - NVIC_IPR_FIRST);
        return true;
    }
    if (address == ICTR) {
        *value = REGISTERS_OF_32 - 1;
        return true;
    }
    return scb_read(m, address, value) || dwt_read(m, address, value)
           || debug_read(m, address, value);
}

static bool write_word(machine *m, uint32_t address, enum bus_master master, uint32_t value)
{
    if (address >= SYSTICK_FIRST && address <= SYSTICK_LAST) {
        systick_write(m, address, value);
        return true;
    }
    if (address >= NVIC_FIRST && address <= NVIC_LAST)
        return write_irq_bits(m, address, value);
    if (address >= NVIC_IPR_FIRST && address <= NVIC_IPR_LAST) {
        write_irq_priorities(m, address - NVIC_IPR_FIRST, value);
        return true;
    }
    switch (address) {
    case ICTR: return true;            /* read-only */
    case STIR: pend(m, (value & STIR_INTID) < m->irqs ? 1ull << (value & STIR_INTID) : 0);
        return true;
    case DHCSR: case DCRSR: case DCRDR:
        if (master == BY_CORE)
            return false;
        break;
    case DEMCR:
        if (value & DEMCR_MONITOR)
            return false;
        break;
    }
    return scb_write(m, address, value) || dwt_write(m, address, value)
           || debug_write(m, address, value);
}

/* ---- who may, and how wide ---- */

static bool takes_bytes(uint32_t address)
{
    return (address >= NVIC_IPR_FIRST && address <= NVIC_IPR_LAST)
           || (address >= SHPR_FIRST && address <= SHPR_LAST) || address == CFSR;
}

/* Unprivileged code gets a BusFault, but for the trigger register when CCR allows it. */
static bool may_access(machine *m, uint32_t address, int size, enum bus_master master,
                       const char *verb)
{
    if (master == BY_DEBUGGER)
        return true;
    if (!is_privileged(m) && !(address == STIR && m->ccr & CCR_USERSETMPEND)) {
        m->fault_kind = FAULT_PRECISERR;
        m->fault_cause = "unprivileged access to the private peripheral bus";
        m->fault_address = address;
        return false;
    }
    if (size != 4 && !takes_bytes(address & ~3u))
        machine_strict(m, "%s of %d bytes at %#010x: this register takes words only", verb, size,
                       address);
    return true;
}

bool ppb_read_v8m(machine *m, uint32_t address, int size, enum bus_master master, uint32_t *value)
{
    if (!may_access(m, address, size, master, "read"))
        return false;
    if (!read_word(m, address & ~3u, master, value) && master == BY_CORE)
        machine_strict(m, "read of %#010x: no register there that is modelled", address);
    *value >>= 8 * (address & 3);
    if (size < 4)
        *value &= (1u << 8 * size) - 1;
    return true;
}

/* The other bytes of a priority register keep their value, those of CFSR see a zero, which clears
   nothing. */
static uint32_t widened(machine *m, uint32_t address, int size, uint32_t value)
{
    const uint32_t shift = 8 * (address & 3), mask = size < 4 ? (1u << 8 * size) - 1 : UINT32_MAX;
    uint32_t old = 0;

    if ((address & ~3u) != CFSR && mask != UINT32_MAX)
        read_word(m, address & ~3u, BY_DEBUGGER, &old);
    return (old & ~(mask << shift)) | (value & mask) << shift;
}

bool ppb_write_v8m(machine *m, uint32_t address, int size, enum bus_master master, uint32_t value)
{
    if (!may_access(m, address, size, master, "write"))
        return false;
    if (size != 4 && !takes_bytes(address & ~3u))
        return true;
    if (!write_word(m, address & ~3u, master, widened(m, address, size, value))
        && master == BY_CORE)
        machine_strict(m, "write of %#010x to %#010x: not modelled, or not for software", value,
                       address);
    m->next_event = 0;
    return true;
}
