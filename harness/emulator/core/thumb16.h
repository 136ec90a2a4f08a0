/* SPDX-License-Identifier: Apache-2.0 */
/* The 16-bit instructions that ARMv6-M and ARMv8-M share, to be read beside chapter A6.7 of the
 * ARMv6-M Architecture Reference Manual; the order is that of the encoding tables
 * (instructions.h). Names are the manual's: RD, RN, RM are R[d] (also R[t], R[dn]), R[n], R[m];
 * AddWithCarry is its pseudocode.
 *
 * This is the inside of execute() and of execute_v8m(): each includes it once, after defining what
 * the two architectures do not share:
 *   STACK_LIMIT(sp)   a fault where ARMv8-M does not allow the stack pointer to go
 *   WORDS_AT(address) a fault where a register list must not be unaligned
 *   taken, sio_saves  cycles that a taken branch adds, that the SIO is faster than the bus */

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

/* A5.2.3 special data instructions; reading the PC gives pc + 4 */
op_ADD_HIGH: RD += i->rm == PC ? pc + 4 : RM; NEXT();
op_ADD_SP: {
    const uint32_t sum = (r[SP] + (i->rm == PC ? pc + 4 : RM)) & ~3u;
    STACK_LIMIT(sum);
    r[SP] = sum;
    NEXT();
}
op_ADD_PC: BRANCH_TO((pc + 4 + RM) & ~1u);
op_MOV_HIGH: RD = i->rm == PC ? pc + 4 : RM; NEXT();
op_MOV_SP: {
    const uint32_t value = (i->rm == PC ? pc + 4 : RM) & ~3u;
    STACK_LIMIT(value);
    r[SP] = value;
    NEXT();
}
op_MOV_PC: BRANCH_TO((i->rm == PC ? pc + 4 : RM) & ~1u);

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
op_ADJUST_SP:
    STACK_LIMIT(r[SP] + IMM);
    r[SP] += IMM;
    NEXT();
op_SXTH: RD = (uint32_t)(int16_t)RM; NEXT();
op_SXTB: RD = (uint32_t)(int8_t)RM; NEXT();
op_UXTH: RD = (uint16_t)RM; NEXT();
op_UXTB: RD = (uint8_t)RM; NEXT();
op_PUSH: {
    const uint32_t bottom = r[SP] - 4 * (uint32_t)__builtin_popcount(IMM);
    uint32_t address = bottom;
    STACK_LIMIT(bottom);
    FOR_EACH_REGISTER(k, IMM) {
        STORE_WORD(address, r[k]);
        address += 4;
    }
    r[SP] = bottom;
    NEXT();
}
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
    WORDS_AT(address);
    FOR_EACH_REGISTER(k, IMM) {
        STORE_WORD(address, r[k]);
        address += 4;
    }
    RN = address;
    NEXT();
}
op_LDM: {
    uint32_t address = RN, base = RN + 4 * (uint32_t)__builtin_popcount(IMM);
    WORDS_AT(address);
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

/* A5.2.6 conditional branch: conditions as in A6.3; A5.1 unconditional branch */
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
op_B: BRANCH_TO(pc + IMM);
op_B_SELF:                             /* all rounds up to the first that would look up, at once */
    if (cycles < limit) {
        const uint64_t rounds = (limit - cycles + i->cycles - 1) / i->cycles;
        cycles += rounds * i->cycles;
        instructions += rounds;
    }
    goto jump;

