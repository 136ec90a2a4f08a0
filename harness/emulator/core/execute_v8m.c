/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of ARMv8-M Mainline (Armv8-M Architecture Reference Manual, chapter C2): the
 * 16-bit ones shared with ARMv6-M are in thumb16.h, data processing in thumb32_data.h, loads and
 * stores in thumb32_memory.h; here are the flow and what reaches the system. The security state is
 * fixed: secure.
 *
 * Threaded code as in execute.c, with one thing more. In an IT block, and for a debugger's step,
 * an entry does not run where it stands: a copy of it does, with STEP_END behind it (one_by_one,
 * it_block). So only IT blocks pay for conditions, and nothing in an entry depends on an IT before
 * it: a branch or a return into the middle of a block does what m->itstate says.
 *
 * m->itstate is the state after the copy that is running, which is what an exception taken behind
 * it has to stack; a fault of the copy itself puts it back (it_now). Wherever the flow goes on
 * through `jump` in the middle of a block (MSR, WFI, a return), it has to poll, for that is where
 * the block is noticed: `limit` is 0 then. */
#include "dsp.h"
#include "threaded_v8m.h"

enum { TT_SECURE = 1 << 22 | 1 << 19 | 1 << 18 };    /* TT: S, RW, R; no MPU, SAU */

/* Entries depend on four halfwords: a 32-bit instruction and the next one (timing_v8m.c). */
static void decode_entry(machine *m, uint32_t pc, decoded *entry, const int32_t *handler_of)
{
    uint16_t halfwords[4];
    enum operation operation;

    for (uint32_t k = 0; k < 4; k++)
        halfwords[k] = fetch_halfword(m, pc + 2 * k);
    operation = decode_v8m(pc, halfwords, entry);
    entry->cycles = v8m_cycles(m->m33_timing, pc, operation, entry,
                               halfwords + (entry->form & FORM_WIDE ? 2 : 1));
    if (breakpoint_at(m, pc)) {
        operation = OP_BREAKPOINT;
        *entry = (decoded) { .form = FORM_UNCONDITIONAL };
    }
    entry->handler = handler_of[operation];
    for (uint32_t k = 0; k < 8; k += 2)
        if (pc + k - SRAM_BASE < m->sram_bytes)
            m->sram_has_code[(pc + k - SRAM_BASE) >> 8] = 1;
}

__attribute__((noinline)) void execute_v8m(machine *m)
{
    static const int32_t handler_of[OPERATIONS] = {
#define X(name, cost, reads) [OP_##name] = &&op_##name - &&op_DECODE,
        FOR_EACH_OPERATION(X)
        FOR_EACH_V8M_OPERATION(X)
#undef X
    };
    enum { sio_saves = 0 };
    const uint32_t taken = m33_cycles[COST_TAKEN][m->m33_timing];
    uint32_t *const r = m->r;
    uint8_t *const sram = m->sram, *const sram_has_code = m->sram_has_code;
    const uint8_t *const flash = m->flash;
    const uint32_t flash_bytes = m->flash_bytes, sram_bytes = m->sram_bytes;
    uint32_t pc, n, z, c, v, target;
    uint64_t cycles, instructions, limit;
    uint32_t line_end;                 /* first address in need of the next XIP line, if any */
    uint32_t it_now = 0;               /* IT state of the copy that is running */
    enum v8m_fault_kind fault_kind;
    decoded *i, *behind = NULL;        /* behind: the entry after the one that was copied */

    m->step_code[1] = m->step_code[2] = (decoded) { .handler = handler_of[OP_STEP_END] };

resume:
    LOAD();
    if (m->itstate)
        limit = 0;
jump:
    PROFILE_AT();
    if (unlikely(cycles >= limit)) {
        SAVE();
        if (!poll_events(m))
            return;
        LOAD();
        PROFILE_AT();
        if (m->step || m->itstate)
            goto one_by_one;
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
            FLOW_FAULT(fetch_fault(pc), pc);
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
        FLOW_FAULT(fetch_fault(pc), pc);
    decode_entry(m, pc, i, handler_of);
    DISPATCH();

one_by_one:
    i = code_slot(m, pc);
    if (!i)
        FLOW_FAULT(fetch_fault(pc), pc);
    line_end = UINT32_MAX;
    if (in_xip_windows(pc)) {
        cycles += fetch_wait(m, pc);
        line_end = (pc | (XIP_LINE_BYTES - 1)) + 1;
    } else {
        m->fetch_line = NO_LINE;
    }
    if (m->step)
        m->step = STEP_DONE;
    if (m->itstate)
        goto it_block;
    if (!i->handler)
        decode_entry(m, pc, i, handler_of);
    it_now = 0;
    m->step_code[0] = *i;
    i = m->step_code;
    DISPATCH();

op_IT:
    m->itstate = IMM;
    STEP_OVER(1);
    if (m->step)
        goto jump;
it_block:                              /* i is the entry at pc, m->itstate is for it */
    if (!i->handler) {
        if (!code_slot(m, pc))
            FLOW_FAULT(fetch_fault(pc), pc);
        decode_entry(m, pc, i, handler_of);
    }
    it_now = m->itstate;
    m->itstate = it_advance(it_now);
    if (i->form & FORM_NOT_IN_IT || (i->form & FORM_LAST_IN_IT && m->itstate))
        goto unpredictable_in_it;
    if (condition_holds(it_now >> 4, n, z, c, v) || i->form & FORM_UNCONDITIONAL) {
        behind = i + (i->form & FORM_WIDE ? 2 : 1);
        m->n = n, m->z = z, m->c = c, m->v = v;
        m->step_code[0] = *i;
        i = m->step_code;
        DISPATCH();
    }
    instructions++;
    cycles += m33_cycles[COST_SKIPPED][m->m33_timing];
    STEP_OVER(i->form & FORM_WIDE ? 2 : 1);
    goto copy_done;

op_STEP_END:                           /* behind a copy */
    instructions--;
    i = behind;
    if (it_now && m->step_code[0].form & FORM_QUIET)
        n = m->n, z = m->z, c = m->c, v = m->v;
copy_done:
    if (m->step)
        goto jump;
    if (m->itstate)
        goto it_block;
    DISPATCH();

unpredictable_in_it:
    SAVE();
    m->itstate = it_now;
    machine_strict(m, "instruction %04x in an IT block: UNPREDICTABLE", fetch_halfword(m, pc));
    FLOW_FAULT(FAULT_UNDEFINED, pc);

fault:                                 /* of the bus, the FPU or a coprocessor: they say which */
    fault_kind = m->fault_kind;
instruction_fault:                     /* synchronous: the instruction itself is where it returns */
    if (i == m->step_code)
        m->itstate = it_now;
flow_fault:
    SAVE();
    v8m_fault(m, fault_kind, m->fault_address);
    goto resume;

#include "thumb16.h"

/* C2.2: branch and exchange, compare and branch, and what reaches the system */
op_BXNS:
    target = RM;
    if (!(target & 1))
        goto to_non_secure;
    goto bx_write_pc;
op_BX:
    target = RM;
bx_write_pc:                           /* BXWritePC(): also LDR pc, POP and LDM with the pc */
    if (target >> 24 == 0xff && m->ipsr) {
        SAVE();
        v8m_exception_return(m, target);
        goto resume;
    }
blx_write_pc:                          /* BLXWritePC(): bit 0 becomes EPSR.T; a clear one faults */
    if (unlikely(!(target & 1))) {
        m->thumb = false;
        pc = target;
        FLOW_FAULT(FAULT_INVSTATE, target);
    }
    BRANCH_TO(target & ~1u);
op_BLXNS:
    if (!(RM & 1)) {
        target = RM;
        goto to_non_secure;
    }
op_BLX:
    target = RM;
    r[LR] = (pc + 2) | 1;
    goto blx_write_pc;
to_non_secure:
    SAVE();
    machine_strict(m, "branch to %#010x in the non-secure state, which is not modelled", target);
    FAULT(FAULT_UNDEFINED, pc);
op_CBZ: BRANCH_IF(RN == 0);
op_CBNZ: BRANCH_IF(RN != 0);
op_CPS:                                /* IMM: im, I, F; lets pending interrupts in */
    SAVE();
    change_processor_state(m, IMM >> 4 & 1, IMM >> 1 & 1, IMM & 1);
    LOAD();
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
    if (i == m->step_code)
        m->itstate = it_now;
    SAVE();
    if (pc < m->rom_bytes) {
        chip_rom_call(m, IMM);
        LOAD();
        target = r[LR];
        goto bx_write_pc;
    }
    if (!debug_enabled(m))
        FLOW_FAULT(FAULT_DEBUGEVT, pc);
    debug_halt(m, DFSR_BKPT);
    goto resume;
op_SVC:
    SAVE();
    supervisor_call(m, pc);
    goto resume;

/* C2.3.3 and C2.3.6 to C2.3.8 data processing; C2.3.1, C2.3.2 and C2.3.5 loads and stores */
#include "thumb32_data.h"
#include "thumb32_memory.h"

/* C2.3.4 branches and miscellaneous control. MSR and the barriers let pending interrupts in. */
op_BEQ_W: BRANCH_IF_W(z == 0);
op_BNE_W: BRANCH_IF_W(z != 0);
op_BCS_W: BRANCH_IF_W(c);
op_BCC_W: BRANCH_IF_W(!c);
op_BMI_W: BRANCH_IF_W(n >> 31);
op_BPL_W: BRANCH_IF_W(!(n >> 31));
op_BVS_W: BRANCH_IF_W(v);
op_BVC_W: BRANCH_IF_W(!v);
op_BHI_W: BRANCH_IF_W(c && z != 0);
op_BLS_W: BRANCH_IF_W(!c || z == 0);
op_BGE_W: BRANCH_IF_W(n >> 31 == v);
op_BLT_W: BRANCH_IF_W(n >> 31 != v);
op_BGT_W: BRANCH_IF_W(z != 0 && n >> 31 == v);
op_BLE_W: BRANCH_IF_W(z == 0 || n >> 31 != v);
op_B_W:
    FETCH_SECOND_HALFWORD();
    BRANCH_TO(pc + IMM);
op_BL:
    FETCH_SECOND_HALFWORD();
    r[LR] = (pc + 4) | 1;
    BRANCH_TO(pc + IMM);
op_MSR:
    FETCH_SECOND_HALFWORD();
    SAVE();
    special_write(m, IMM, i->amount, RN);
    LOAD();
    limit = 0;
    BRANCH_TO(pc + 4);
op_MRS:
    SAVE();
    RESULT_W(special_read(m, IMM));
op_BARRIER:
    FETCH_SECOND_HALFWORD();
    if (m->itstate)
        limit = 0;
    BRANCH_TO(pc + 4);
op_NOP_W: NEXT_WIDE();
op_WFE_W:
    if (m->event) {
        m->event = false;
        NEXT_WIDE();
    }
    FETCH_SECOND_HALFWORD();
    m->sleeping = m->in_wfe = true;
    limit = 0;
    BRANCH_TO(pc + 4);
op_WFI_W:
    FETCH_SECOND_HALFWORD();
    m->sleeping = true;
    m->in_wfe = false;
    limit = 0;
    BRANCH_TO(pc + 4);
op_SEV_W: m->event = true; NEXT_WIDE();
op_CLREX: m->exclusive = false; NEXT_WIDE();

/* C2.4 the FPU and the coprocessors of the chip */
op_FPU:
    SAVE();
    if (!fpu_execute(m, IMM))
        goto fault;
    LOAD();
    NEXT_WIDE();
op_COPROCESSOR:
    SAVE();
    if (!coprocessor(m, IMM))
        goto fault;
    LOAD();
    NEXT_WIDE();

op_UNDEFINED:
    FAULT(FAULT_UNDEFINED, pc);
op_UNPREDICTABLE:
    SAVE();
    machine_strict(m, "UNPREDICTABLE encoding %04x %04x", fetch_halfword(m, pc),
                   fetch_halfword(m, pc + 2));
    FAULT(FAULT_UNDEFINED, pc);
op_BREAKPOINT:
    instructions--;
    if (i == m->step_code)
        m->itstate = it_now;
    SAVE();
    if (!debug_enabled(m))
        FLOW_FAULT(FAULT_DEBUGEVT, pc);
    debug_halt(m, DFSR_BKPT);
    goto resume;
#ifdef WITNESS
op_WATCHPOINT:                         /* ahead of a store, which is to begin anew */
    instructions--;
    cycles -= i->cycles;
    if (i == m->step_code)
        m->itstate = it_now;
    SAVE();
    debug_halt(m, DFSR_DWTTRAP);
    goto resume;
#endif
}
