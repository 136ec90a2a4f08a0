/* SPDX-License-Identifier: Apache-2.0 */
/* The instructions of ARMv6-M, to be read beside chapter A6.7 of the Architecture Reference
 * Manual; the order is that of the encoding tables (instructions.h). Names are the manual's:
 * RD, RN, RM are R[d] (also R[t], R[dn]), R[n], R[m]; AddWithCarry, BXWritePC and BranchTo are
 * its pseudocode.
 *
 * Threaded code: decode.c turns a halfword into an entry that names its handler; each handler
 * ends in a jump to the next one. Interrupts, host stops and the end of a run are looked for
 * only where the flow changes (jump), so a run ends at the first branch at or after m->until,
 * and the cycle count there does not depend on how the run is cut into pieces. */
#include "threaded.h"

__attribute__((noinline)) void execute(machine *m)
{
    static const int32_t handler_of[OPERATIONS] = {
#define X(name, cycles) [OP_##name] = &&op_##name - &&op_DECODE,
        FOR_EACH_OPERATION(X)
#undef X
    };
    uint32_t *const r = m->r;
    uint8_t *const sram = m->sram, *const sram_has_code = m->sram_has_code;
    const uint8_t *const flash = m->flash;
    const uint32_t flash_bytes = m->flash_bytes;
    uint32_t pc, n, z, c, v, target;
    uint64_t cycles, instructions, limit;
    uint32_t line_end;                 /* first address in need of the next XIP line, if any */
    decoded *i;

resume:
    LOAD();
jump:
    if (unlikely(cycles >= limit)) {
        SAVE();
        if (!poll_events(m))
            return;
        LOAD();
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
        if (pc - SRAM_BASE < SRAM_BYTES)
            i = m->sram_code + ((pc - SRAM_BASE) >> 1);
        else if (pc < ROM_BYTES)
            i = m->rom_code + (pc >> 1);
        else
            FAULT("execution from a region that is execute-never or empty", pc);
    }
    DISPATCH();

next_line:
    cycles += fetch_wait(m, pc);
    line_end = pc + XIP_LINE_BYTES;
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

/* A5.2.1 shift (immediate), add, subtract, move, and compare */
op_MOVS_REG: RESULT(RM);
op_LSLS_IMM: c = RM >> (32 - IMM) & 1; RESULT(RM << IMM);
op_LSRS_IMM: c = RM >> (IMM - 1) & 1; RESULT(IMM == 32 ? 0 : RM >> IMM);
op_ASRS_IMM:
    c = RM >> (IMM - 1) & 1;
    RESULT((uint32_t)((int32_t)RM >> (IMM == 32 ? 31 : IMM)));
op_ADDS_REG: RESULT(add_with_carry(RN, RM, 0, &c, &v));
op_SUBS_REG: RESULT(add_with_carry(RN, ~RM, 1, &c, &v));
op_ADDS_IMM: RESULT(add_with_carry(RN, IMM, 0, &c, &v));
op_SUBS_IMM: RESULT(add_with_carry(RN, ~IMM, 1, &c, &v));
op_MOVS_IMM: RESULT(IMM);
op_CMP_IMM: SET_NZ(add_with_carry(RN, ~IMM, 1, &c, &v)); NEXT();

/* A5.2.2 data processing */
op_ANDS: RESULT(RN & RM);
op_EORS: RESULT(RN ^ RM);
op_LSLS_REG: RESULT(lsl_c(RN, RM & 0xff, &c));
op_LSRS_REG: RESULT(lsr_c(RN, RM & 0xff, &c));
op_ASRS_REG: RESULT(asr_c(RN, RM & 0xff, &c));
op_ADCS: RESULT(add_with_carry(RN, RM, c, &c, &v));
op_SBCS: RESULT(add_with_carry(RN, ~RM, c, &c, &v));
op_RORS: RESULT(ror_c(RN, RM & 0xff, &c));
op_TST: SET_NZ(RN & RM); NEXT();
op_RSBS: RESULT(add_with_carry(~RM, 0, 1, &c, &v));
op_CMP_REG: SET_NZ(add_with_carry(RN, ~RM, 1, &c, &v)); NEXT();
op_CMN: SET_NZ(add_with_carry(RN, RM, 0, &c, &v)); NEXT();
op_ORRS: RESULT(RN | RM);
op_MULS: RESULT(RN * RM);
op_BICS: RESULT(RN & ~RM);
op_MVNS: RESULT(~RM);

/* A5.2.3 special data instructions and branch and exchange; reading the PC gives pc + 4 */
op_ADD_HIGH: RD += i->rm == PC ? pc + 4 : RM; NEXT();
op_ADD_SP: r[SP] = (r[SP] + (i->rm == PC ? pc + 4 : RM)) & ~3u; NEXT();
op_ADD_PC: BRANCH_TO((pc + 4 + RM) & ~1u);
op_MOV_HIGH: RD = i->rm == PC ? pc + 4 : RM; NEXT();
op_MOV_SP: r[SP] = (i->rm == PC ? pc + 4 : RM) & ~3u; NEXT();
op_MOV_PC: BRANCH_TO((i->rm == PC ? pc + 4 : RM) & ~1u);
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

/* A5.1 load from literal pool; A5.2.4 load/store single data item */
op_LDR_LITERAL: LDR(uint32_t, pc + IMM, RD); NEXT();
op_STR_REG: STR(uint32_t, RN + RM, RD); NEXT();
op_STRH_REG: STR(uint16_t, RN + RM, RD); NEXT();
op_STRB_REG: STR(uint8_t, RN + RM, RD); NEXT();
op_LDRSB_REG: LDR(int8_t, RN + RM, RD); NEXT();
op_LDR_REG: LDR(uint32_t, RN + RM, RD); NEXT();
op_LDRH_REG: LDR(uint16_t, RN + RM, RD); NEXT();
op_LDRB_REG: LDR(uint8_t, RN + RM, RD); NEXT();
op_LDRSH_REG: LDR(int16_t, RN + RM, RD); NEXT();
op_STR_IMM: STR(uint32_t, RN + IMM, RD); NEXT();
op_LDR_IMM: LDR(uint32_t, RN + IMM, RD); NEXT();
op_STRB_IMM: STR(uint8_t, RN + IMM, RD); NEXT();
op_LDRB_IMM: LDR(uint8_t, RN + IMM, RD); NEXT();
op_STRH_IMM: STR(uint16_t, RN + IMM, RD); NEXT();
op_LDRH_IMM: LDR(uint16_t, RN + IMM, RD); NEXT();

/* A5.1 PC- and SP-relative address; A5.2.5 miscellaneous 16-bit instructions */
op_ADR: RD = pc + IMM; NEXT();
op_ADD_SP_IMM: RD = r[SP] + IMM; NEXT();
op_ADJUST_SP: r[SP] += IMM; NEXT();
op_SXTH: RD = (uint32_t)(int16_t)RM; NEXT();
op_SXTB: RD = (uint32_t)(int8_t)RM; NEXT();
op_UXTH: RD = (uint16_t)RM; NEXT();
op_UXTB: RD = (uint8_t)RM; NEXT();
op_PUSH: {
    const uint32_t bottom = r[SP] - 4 * (uint32_t)__builtin_popcount(IMM);
    uint32_t address = bottom;
    FOR_EACH_REGISTER(k, IMM) {
        STORE_WORD(address, r[k]);
        address += 4;
    }
    r[SP] = bottom;
    NEXT();
}
op_CPS:                                /* ignored in unprivileged code; CPSIE lets interrupts in */
    if (is_privileged(m))
        m->primask = IMM;
    if (!m->primask)
        limit = 0;
    BRANCH_TO(pc + 2);
op_REV: RD = __builtin_bswap32(RM); NEXT();
op_REV16: RD = rotate_right(__builtin_bswap32(RM), 16); NEXT();
op_REVSH: RD = (uint32_t)(int16_t)__builtin_bswap16((uint16_t)RM); NEXT();
op_POP: {
    uint32_t address = r[SP];
    FOR_EACH_REGISTER(k, IMM) {
        LOAD_WORD(address, r[k]);
        address += 4;
    }
    r[SP] = address;
    NEXT();
}
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
    if (pc < ROM_BYTES) {
        chip_rom_call(m, IMM);
        LOAD();
        target = r[LR];
        goto bx_write_pc;
    }
    if (!debug_enabled(m))
        FAULT("BKPT without a debugger", pc);
    debug_halt(m, DFSR_BKPT);
    goto resume;
op_NOP: NEXT();
op_WFE:
    if (m->event) {
        m->event = false;
        NEXT();
    }
    m->sleeping = m->in_wfe = true;
    limit = 0;
    BRANCH_TO(pc + 2);
op_WFI:
    m->sleeping = true;
    m->in_wfe = false;
    limit = 0;
    BRANCH_TO(pc + 2);
op_SEV: m->event = true; NEXT();

/* A5.1 store and load multiple. LDM writes the base back unless it is in the list; until all loads
   are done the base keeps its value, so that a faulting LDM can be seen and run again. */
op_STM: {
    uint32_t address = RN;
    FOR_EACH_REGISTER(k, IMM) {
        STORE_WORD(address, r[k]);
        address += 4;
    }
    RN = address;
    NEXT();
}
op_LDM: {
    uint32_t address = RN, base = RN + 4 * (uint32_t)__builtin_popcount(IMM);
    FOR_EACH_REGISTER(k, IMM) {
        if (k == i->rn)
            LOAD_WORD(address, base);
        else
            LOAD_WORD(address, r[k]);
        address += 4;
    }
    RN = base;
    NEXT();
}

/* A5.2.6 conditional branch, and supervisor call; conditions as in A6.3 */
op_BEQ: BRANCH_IF(z == 0);
op_BNE: BRANCH_IF(z != 0);
op_BCS: BRANCH_IF(c);
op_BCC: BRANCH_IF(!c);
op_BMI: BRANCH_IF(n >> 31);
op_BPL: BRANCH_IF(!(n >> 31));
op_BVS: BRANCH_IF(v);
op_BVC: BRANCH_IF(!v);
op_BHI: BRANCH_IF(c && z != 0);
op_BLS: BRANCH_IF(!c || z == 0);
op_BGE: BRANCH_IF(n >> 31 == v);
op_BLT: BRANCH_IF(n >> 31 != v);
op_BGT: BRANCH_IF(z != 0 && n >> 31 == v);
op_BLE: BRANCH_IF(z == 0 || n >> 31 != v);
op_SVC:
    SAVE();
    supervisor_call(m, pc);
    goto resume;
op_B: BRANCH_TO(pc + IMM);
op_B_SELF:                             /* all rounds up to the first that would look up, at once */
    if (cycles < limit) {
        const uint64_t rounds = (limit - cycles + CYCLES_B - 1) / CYCLES_B;
        cycles += rounds * CYCLES_B;
        instructions += rounds;
    }
    goto jump;

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
}
