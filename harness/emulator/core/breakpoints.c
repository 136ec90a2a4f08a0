/* SPDX-License-Identifier: Apache-2.0 */
/* Hardware breakpoints: the breakpoint unit of ARMv6-M with four comparators for code below SRAM
 * (ARMv6-M ARM C1.9), and the one of ARMv8-M with eight, for code anywhere (ARMv8-M ARM D1.2.105,
 * B15).
 *
 * They cost nothing until they are hit: the decoder asks breakpoint_at and plants a stop in place
 * of the instruction; mirrors of the flash share their entries, so it stops in all of them. */
#include "debug.h"

enum {
    BPU_BASE = 0xe0002000, BP_CTRL = BPU_BASE, FP_REMAP = BPU_BASE + 4, BP_COMP0 = BPU_BASE + 8
};
enum { BP_CTRL_ENABLE = 1 << 0, BP_CTRL_KEY = 1 << 1, FP_CTRL_REV = 1 << 28, NUM_CODE_SHIFT = 4 };
enum { COMP_ENABLE = 1 << 0 };

/* ARMv6-M: BP_MATCH in bits 31:30 is 1 for the lower halfword, 2 the upper, 3 both. */
enum { COMPARATORS = 4, COMP_ADDRESS = 0x1ffffffc, COMP_WRITABLE = (int)0xdffffffd };
enum { V8M_COMPARATORS = 8 };

static uint32_t comparators(const machine *m)
{
    return m->architecture == ARMV8M ? V8M_COMPARATORS : COMPARATORS;
}

static bool matches(uint32_t comparator, uint32_t pc)
{
    const uint32_t halves = comparator >> 30;

    return comparator & COMP_ENABLE && (comparator & COMP_ADDRESS) == (pc & COMP_ADDRESS)
           && halves & (pc & 2 ? 2 : 1);
}

bool breakpoint_at(const machine *m, uint32_t pc)
{
    const bool v8m = m->architecture == ARMV8M;

    if (!(m->bpu_ctrl & BP_CTRL_ENABLE) || (!v8m && pc >= SRAM_BASE))
        return false;
    for (uint32_t k = 0; k < comparators(m); k++)
        if (v8m ? m->bpu_comp[k] == (pc | COMP_ENABLE) : matches(m->bpu_comp[k], pc))
            return true;
    return false;
}

static void decode_again(machine *m, uint32_t k)
{
    const uint32_t bits = m->architecture == ARMV8M ? ~(uint32_t)COMP_ENABLE : COMP_ADDRESS;
    code_changed(m, m->bpu_comp[k] & bits, 4);
}

static bool is_comparator(const machine *m, uint32_t address)
{
    return address >= BP_COMP0 && address < BP_COMP0 + 4 * comparators(m);
}

bool breakpoints_read(const machine *m, uint32_t address, uint32_t *value)
{
    if (is_comparator(m, address)) {
        *value = m->bpu_comp[(address - BP_COMP0) / 4];
        return true;
    }
    if (m->architecture == ARMV8M && address == FP_REMAP) {
        *value = 0;                    /* no remapping */
        return true;
    }
    if (address != BP_CTRL)
        return false;
    *value = comparators(m) << NUM_CODE_SHIFT | m->bpu_ctrl
             | (m->architecture == ARMV8M ? FP_CTRL_REV : 0);
    return true;
}

bool breakpoints_write(machine *m, uint32_t address, uint32_t value)
{
    if (is_comparator(m, address)) {
        const uint32_t k = (address - BP_COMP0) / 4;
        decode_again(m, k);
        m->bpu_comp[k] = m->architecture == ARMV8M ? value : value & (uint32_t)COMP_WRITABLE;
        decode_again(m, k);
        return true;
    }
    if (address != BP_CTRL)
        return m->architecture == ARMV8M && address == FP_REMAP;
    if (value & BP_CTRL_KEY)
        m->bpu_ctrl = value & BP_CTRL_ENABLE;
    for (uint32_t k = 0; k < comparators(m); k++)
        decode_again(m, k);
    return true;
}

void breakpoints_power_on(machine *m)
{
    m->bpu_ctrl = 0;
    for (uint32_t k = 0; k < V8M_COMPARATORS; k++)
        m->bpu_comp[k] = 0;
}
