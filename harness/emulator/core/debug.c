/* SPDX-License-Identifier: Apache-2.0 */
/* Debug registers as the debug port sees them (ARMv6-M ARM C1): DHCSR, DCRSR, DCRDR, DEMCR,
 * DFSR, the breakpoint unit with four comparators, a DWT without comparators, and the ROM
 * table.
 *
 * Breakpoints cost nothing until they are hit: the decoder asks breakpoint_at and plants a stop
 * in place of the instruction; mirrors of the flash share their entries, so it stops in all of
 * them. Data watchpoints are not modelled; DWT_CTRL says so (NUMCOMP 0). */
#include "core.h"

enum {
    DFSR = 0xe000ed30, DHCSR = 0xe000edf0, DCRSR = 0xe000edf4, DCRDR = 0xe000edf8,
    DEMCR = 0xe000edfc,
    SCS_BASE = 0xe000e000, DWT_BASE = 0xe0001000, BPU_BASE = 0xe0002000,
    ROM_TABLE_BASE = 0xe00ff000,
    DWT_CTRL = DWT_BASE, DWT_PCSR = DWT_BASE + 0x1c,
    BP_CTRL = BPU_BASE, BP_COMP0 = BPU_BASE + 8, BP_COMP3 = BPU_BASE + 0x14
};
enum {
    DHCSR_KEY = 0xa05f, DHCSR_CONTROL = C_DEBUGEN | C_HALT | C_STEP | C_MASKINTS,
    S_REGRDY = 1 << 16, S_HALT = 1 << 17, S_SLEEP = 1 << 18, S_LOCKUP = 1 << 19,
    S_RETIRE_ST = 1 << 24, S_RESET_ST = 1 << 25,
    DCRSR_WRITE = 1 << 16, DCRSR_REGSEL = 0x1f,
    DEMCR_DWTENA = 1 << 24, DEMCR_WRITABLE = DEMCR_DWTENA | VC_HARDERR | VC_CORERESET,
    DFSR_WRITABLE = 0x1f,
    BPU_COMPARATORS = 4, BP_CTRL_ENABLE = 1 << 0, BP_CTRL_KEY = 1 << 1,
    BP_COMP_ENABLE = 1 << 0, BP_COMP_ADDRESS = 0x1ffffffc, BP_COMP_WRITABLE = 0xdffffffd
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
                           | (m->reset_happened ? S_RESET_ST : 0);
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
    const int regsel = value & DCRSR_REGSEL;

    m->register_ready = m->halted;
    if (!m->halted)
        return;
    if (value & DCRSR_WRITE)
        emu_set_register(m, regsel, m->dcrdr);
    else
        m->dcrdr = emu_register(m, regsel);
}

/* ---- breakpoint unit, C1.9 ---- */

/* BP_MATCH: 1 the lower halfword, 2 the upper, 3 both. The comparators see bits 28:2. */
static bool matches(uint32_t comparator, uint32_t pc)
{
    const uint32_t halves = comparator >> 30;

    return comparator & BP_COMP_ENABLE && (comparator & BP_COMP_ADDRESS) == (pc & BP_COMP_ADDRESS)
           && halves & (pc & 2 ? 2 : 1);
}

bool breakpoint_at(const machine *m, uint32_t pc)
{
    if (!(m->bpu_ctrl & BP_CTRL_ENABLE) || pc >= SRAM_BASE)
        return false;
    for (int k = 0; k < BPU_COMPARATORS; k++)
        if (matches(m->bpu_comp[k], pc))
            return true;
    return false;
}

static void decode_again(machine *m, int k)
{
    code_changed(m, m->bpu_comp[k] & BP_COMP_ADDRESS, 4);
}

static void write_bpu(machine *m, uint32_t address, uint32_t value)
{
    if (address == BP_CTRL) {
        if (value & BP_CTRL_KEY)
            m->bpu_ctrl = value & BP_CTRL_ENABLE;
        for (int k = 0; k < BPU_COMPARATORS; k++)
            decode_again(m, k);
    } else {
        const int k = (int)(address - BP_COMP0) / 4;
        decode_again(m, k);
        m->bpu_comp[k] = value & BP_COMP_WRITABLE;
        decode_again(m, k);
    }
}

/* ---- identification of the components, as pyOCD, OpenOCD and others walk them (C1.2, ADI)
   ---- */

enum { FIRST_ID = 0xfd0, PIDR4 = 0xfd0, PIDR0 = 0xfe0, CIDR0 = 0xff0 };

static bool component_id(uint32_t address, uint32_t *value)
{
    static const struct { uint32_t base; uint16_t part; uint8_t class; } components[] = {
        { SCS_BASE, 0x008, 0xe }, { DWT_BASE, 0x00a, 0xe }, { BPU_BASE, 0x00b, 0xe },
        { ROM_TABLE_BASE, 0x4c0, 0x1 }
    };
    enum { JEP106_ARM = 0x3b, JEP106_CONTINUATION = 4, JEDEC = 8 };
    const uint32_t offset = address & 0xfff, k = address >> 2 & 3;

    for (size_t n = 0; n < sizeof components / sizeof *components; n++) {
        if (components[n].base != (address & ~0xfffu) || offset < FIRST_ID)
            continue;
        const uint32_t part = components[n].part;
        const uint8_t pidr[4] = { part & 0xff, (uint8_t)(part >> 8 | (JEP106_ARM & 0xf) << 4),
                                  JEDEC | JEP106_ARM >> 4, 0 };
        const uint8_t cidr[4] = { 0x0d, (uint8_t)(components[n].class << 4), 0x05, 0xb1 };
        *value = offset >= CIDR0   ? cidr[k]
                 : offset >= PIDR0 ? pidr[k]
                 : k == 0          ? JEP106_CONTINUATION
                                   : 0;
        return true;
    }
    return false;
}

static bool rom_table(uint32_t address, uint32_t *value)
{
    enum { PRESENT_32_BIT = 3, MEMTYPE = ROM_TABLE_BASE + 0xfcc };
    static const uint32_t bases[] = { SCS_BASE, DWT_BASE, BPU_BASE };
    const uint32_t entry = (address - ROM_TABLE_BASE) / 4;

    if (address < ROM_TABLE_BASE || address > MEMTYPE)
        return false;
    *value = address == MEMTYPE ? 1 : 0;                   /* system memory is on this bus too */
    if (entry < sizeof bases / sizeof *bases)
        *value = (bases[entry] - ROM_TABLE_BASE) | PRESENT_32_BIT;
    return true;
}

/* ---- the whole ---- */

bool debug_read(machine *m, uint32_t address, uint32_t *value)
{
    if (component_id(address, value) || rom_table(address, value))
        return true;
    if (address >= BP_COMP0 && address <= BP_COMP3) {
        *value = m->bpu_comp[(address - BP_COMP0) / 4];
        return true;
    }
    switch (address) {
    case DHCSR: *value = read_dhcsr(m); return true;
    case DCRSR: *value = 0; return true;                   /* write-only */
    case DCRDR: *value = m->dcrdr; return true;
    case DEMCR: *value = m->demcr; return true;
    case DFSR: *value = m->dfsr; return true;
    case BP_CTRL: *value = BPU_COMPARATORS << 4 | m->bpu_ctrl; return true;
    case DWT_CTRL: *value = 0; return true;
    case DWT_PCSR: *value = m->halted ? UINT32_MAX : m->r[PC]; return true;
    default: return false;
    }
}

bool debug_write(machine *m, uint32_t address, uint32_t value)
{
    if (address == BP_CTRL || (address >= BP_COMP0 && address <= BP_COMP3)) {
        write_bpu(m, address, value);
        return true;
    }
    switch (address) {
    case DHCSR: write_dhcsr(m, value); return true;
    case DCRSR: write_dcrsr(m, value); return true;
    case DCRDR: m->dcrdr = value; return true;
    case DEMCR: m->demcr = value & DEMCR_WRITABLE; return true;
    case DFSR: m->dfsr &= ~(value & DFSR_WRITABLE); return true;       /* write one to clear */
    default: return false;
    }
}

void debug_power_on(machine *m)
{
    m->dhcsr_control = m->dcrdr = m->demcr = m->dfsr = m->bpu_ctrl = 0;
    for (int k = 0; k < BPU_COMPARATORS; k++)
        m->bpu_comp[k] = 0;
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
