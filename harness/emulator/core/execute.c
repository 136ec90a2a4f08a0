/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of ARMv6-M: those that ARMv8-M shares are in thumb16.h, here are the flow, what
 * enters or leaves exceptions, special registers, and the 32-bit instructions. BXWritePC and
 * BranchTo are the pseudocode of the Architecture Reference Manual.
 *
 * Threaded code: decode.c turns a halfword into an entry that names its handler; each handler
 * ends in a jump to the next one. Interrupts, host stops and the end of a run are looked for
 * only where the flow changes (jump), so a run ends at the first branch at or after m->until,
 * and the cycle count there does not depend on how the run is cut into pieces. */
#include "threaded.h"

/* No stack limit; an unaligned word of a register list faults by itself. */
#define STACK_LIMIT(sp) ((void)0)
#define WORDS_AT(address) ((void)0)

static void decode_into(machine *m, uint32_t pc, decoded *entry, const int32_t *handler_of)
{
    const uint16_t first = fetch_halfword(m, pc);
    const uint16_t second = is_32_bit(first) ? fetch_halfword(m, pc + 2) : 0;
    enum operation operation = decode(pc, first, second, entry);

    if (breakpoint_at(m, pc)) {
        operation = OP_BREAKPOINT;
        entry->cycles = 0;
    }
    entry->handler = handler_of[operation];
    if (pc - SRAM_BASE < m->sram_bytes) {
        m->sram_has_code[(pc - SRAM_BASE) >> 8] = 1;
        if (pc + 2 - SRAM_BASE < m->sram_bytes)               /* where the second half lies */
            m->sram_has_code[(pc + 2 - SRAM_BASE) >> 8] = 1;
    }
}

__attribute__((noinline)) void execute(machine *m)
{
    static const int32_t handler_of[OPERATIONS] = {
#define X(name, cost, reads) [OP_##name] = &&op_##name - &&op_DECODE,
        FOR_EACH_OPERATION(X)
#undef X
    };
    enum { taken = CYCLES_TAKEN, sio_saves = CYCLES_SIO_SAVES };
    uint32_t *const r = m->r;
    uint8_t *const sram = m->sram, *const sram_has_code = m->sram_has_code;
    const uint8_t *const flash = m->flash;
    const uint32_t flash_bytes = m->flash_bytes, sram_bytes = m->sram_bytes;
    uint32_t pc, n, z, c, v, target;
    uint64_t cycles, instructions, limit;
    uint32_t line_end;                 /* first address in need of the next XIP line, if any */
    decoded *i;

resume:
    LOAD();
jump:
    PROFILE_AT();
    if (unlikely(cycles >= limit)) {
        SAVE();
        if (!poll_events(m))
            return;
        LOAD();
        PROFILE_AT();
        if (m->step)
            goto single_step;
    }
    if (in_xip_windows(pc)) {
        cycles += fetch_wait(m, pc);
        line_end = (pc | (XIP_LINE_BYTES - 1)) + 1;
        i = m->flash_code + ((pc & (flash_bytes - 1)) >> 1);
    } else {
        m->fetch_line = NO_LINE;
        line_end = UINT32_MAX;
        if (pc - SRAM_BASE < sram_bytes)
            i = m->sram_code + ((pc - SRAM_BASE) >> 1);
        else if (pc < m->rom_bytes)
            i = m->rom_code + (pc >> 1);
        else
            FAULT("execution from a region that is execute-never or empty", pc);
    }
    DISPATCH();

next_line:
    PROFILE_AT();
    cycles += fetch_wait(m, line_end);
    line_end += XIP_LINE_BYTES;
    DISPATCH();

op_DECODE:                             /* also reached behind the end of a memory */
    instructions--;                    /* take back what DISPATCH counted: an entry that was */
    cycles -= i->cycles;               /* forgotten still holds the cycles of what stood there */
    i = code_slot(m, pc);
    if (!i)
        FAULT("execution ran into a region that is execute-never or empty", pc);
    decode_into(m, pc, i, handler_of);
    DISPATCH();

single_step:                           /* a copy of the entry with a stop behind it */
    i = code_slot(m, pc);
    if (!i)
        FAULT("execution from a region that is execute-never or empty", pc);
    line_end = UINT32_MAX;
    if (in_xip_windows(pc)) {
        cycles += fetch_wait(m, pc);
        line_end = (pc | (XIP_LINE_BYTES - 1)) + 1;
    }
    if (!i->handler)
        decode_into(m, pc, i, handler_of);
    m->step_code[0] = *i;
    m->step_code[1] = (decoded) { .handler = handler_of[OP_STEP_END] };
    i = m->step_code;
    m->step = STEP_DONE;
    DISPATCH();
op_STEP_END:
    instructions--;
    goto jump;

fault:                                 /* synchronous: the instruction itself is where it returns */
    SAVE();
    hard_fault(m, pc);
    goto resume;

#include "thumb16.h"

/* A5.2.3 branch and exchange */
op_BX:
    target = RM;
bx_write_pc:                           /* BXWritePC(): also POP {..., pc} */
    if (target >> 28 == 0xf && m->ipsr) {
        SAVE();
        if (!exception_return(m, target))
            hard_fault(m, pc);
        goto resume;
    }
blx_write_pc:                          /* BLXWritePC(): bit 0 becomes EPSR.T; a clear one faults */
    if (unlikely(!(target & 1))) {
        m->thumb = false;
        pc = target;
        FAULT("branch to an address with bit 0 clear", target);
    }
    BRANCH_TO(target & ~1u);
op_BLX:
    target = RM;
    r[LR] = (pc + 2) | 1;
    goto blx_write_pc;

/* A5.2.5 miscellaneous 16-bit instructions */
op_CPS:                                /* ignored in unprivileged code; CPSIE lets interrupts in */
    if (is_privileged(m))
        m->primask = IMM;
    if (!m->primask)
        limit = 0;
    BRANCH_TO(pc + 2);
op_POP_PC: {
    uint32_t address = r[SP];
    FOR_EACH_REGISTER(k, IMM & 0xff) {
        LOAD_WORD(address, r[k]);
        address += 4;
    }
    LOAD_WORD(address, target);
    r[SP] = address + 4;
    goto bx_write_pc;
}
op_BKPT:                               /* in the ROM, the stub of a function of the chip */
    SAVE();
    if (pc < m->rom_bytes) {
        chip_rom_call(m, IMM);
        LOAD();
        target = r[LR];
        goto bx_write_pc;
    }
    if (!debug_enabled(m))
        FAULT("BKPT without a debugger", pc);
    debug_halt(m, DFSR_BKPT);
    goto resume;
op_SVC:
    SAVE();
    supervisor_call(m, pc);
    goto resume;

/* A5.3 32-bit instructions. MSR and the barriers let pending interrupts in. */
op_BL:
    FETCH_SECOND_HALFWORD();
    r[LR] = (pc + 4) | 1;
    BRANCH_TO(pc + IMM);
op_MSR:
    FETCH_SECOND_HALFWORD();
    SAVE();
    write_special(m, IMM, RN);
    LOAD();
    limit = 0;
    BRANCH_TO(pc + 4);
op_MRS:
    FETCH_SECOND_HALFWORD();
    SAVE();
    RD = read_special(m, IMM);
    BRANCH_TO(pc + 4);
op_BARRIER:
    FETCH_SECOND_HALFWORD();
    BRANCH_TO(pc + 4);

op_UNDEFINED:
    FAULT("undefined instruction", pc);
op_UNPREDICTABLE:
    SAVE();
    machine_strict(m, "UNPREDICTABLE encoding %04x", fetch_halfword(m, pc));
    FAULT("UNPREDICTABLE encoding", pc);
op_BREAKPOINT:
    instructions--;
    SAVE();
    if (!debug_enabled(m))
        FAULT("breakpoint unit matched without a debugger", pc);
    debug_halt(m, DFSR_BKPT);
    goto resume;
#ifdef WITNESS
op_WATCHPOINT:                         /* ahead of a store, which is to begin anew */
    instructions--;
    cycles -= i->cycles;
    SAVE();
    debug_halt(m, DFSR_DWTTRAP);
    goto resume;
#endif
}
