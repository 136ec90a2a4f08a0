/* SPDX-License-Identifier: Apache-2.0 */
/* Decoder of ARMv6-M, and of the 16-bit instructions that ARMv8-M shares with it: one or two
 * halfwords to an operation and its operands, in the order of the encoding tables of the ARMv6-M
 * Architecture Reference Manual, chapter A5. Every encoding that ARMv6-M does not define (CBZ, IT,
 * the 32-bit instructions of ARMv7-M and ARMv8-M) is UNDEFINED; an encoding that the manual calls
 * UNPREDICTABLE is told apart, because there no two chips need to agree. */
#include "decode.h"

/* LDM, STM, PUSH, POP */
static enum operation with_list(decoded *d, enum operation operation, uint32_t list)
{
    d->imm = (int32_t)list;
    return list ? operation : OP_UNPREDICTABLE;
}

/* A5.2.1: 00xxxx */
static enum operation shift_add_subtract_move_compare(uint16_t i, decoded *d)
{
    d->rd = (uint8_t)bits(i, 2, 0);
    d->rn = d->rm = (uint8_t)bits(i, 5, 3);
    if (i < 0x1800) {
        d->imm = (int32_t)bits(i, 10, 6);
        switch (bits(i, 12, 11)) {
        case 0: return d->imm ? OP_LSLS_IMM : OP_MOVS_REG;
        case 1: d->imm = d->imm ? d->imm : 32; return OP_LSRS_IMM;
        default: d->imm = d->imm ? d->imm : 32; return OP_ASRS_IMM;
        }
    }
    if (i < 0x2000) {
        static const uint8_t three_operands[4] = {
            OP_ADDS_REG, OP_SUBS_REG, OP_ADDS_IMM, OP_SUBS_IMM
        };
        d->rm = (uint8_t)bits(i, 8, 6);
        d->imm = d->rm;
        return three_operands[bits(i, 10, 9)];
    }
    static const uint8_t immediate8[4] = { OP_MOVS_IMM, OP_CMP_IMM, OP_ADDS_IMM, OP_SUBS_IMM };
    d->rd = d->rn = (uint8_t)bits(i, 10, 8);
    d->imm = (int32_t)bits(i, 7, 0);
    return immediate8[bits(i, 12, 11)];
}

/* A5.2.2: 010000 */
static enum operation data_processing(uint16_t i, decoded *d)
{
    static const uint8_t by_opcode[16] = {
        OP_ANDS, OP_EORS, OP_LSLS_REG, OP_LSRS_REG, OP_ASRS_REG, OP_ADCS, OP_SBCS, OP_RORS,
        OP_TST, OP_RSBS, OP_CMP_REG, OP_CMN, OP_ORRS, OP_MULS, OP_BICS, OP_MVNS
    };
    d->rd = d->rn = (uint8_t)bits(i, 2, 0);
    d->rm = (uint8_t)bits(i, 5, 3);
    return by_opcode[bits(i, 9, 6)];
}

/* A5.2.3: 010001 */
static enum operation special_data_and_branch_exchange(uint16_t i, decoded *d)
{
    d->rd = d->rn = (uint8_t)(bits(i, 7, 7) << 3 | bits(i, 2, 0));
    d->rm = (uint8_t)bits(i, 6, 3);
    switch (bits(i, 9, 8)) {
    case 0:
        if (d->rd == PC)
            return d->rm == PC ? OP_UNPREDICTABLE : OP_ADD_PC;
        return d->rd == SP ? OP_ADD_SP : OP_ADD_HIGH;
    case 1:
        if ((d->rn < 8 && d->rm < 8) || d->rn == PC || d->rm == PC)
            return OP_UNPREDICTABLE;
        return OP_CMP_REG;
    case 2:
        return d->rd == PC ? OP_MOV_PC : d->rd == SP ? OP_MOV_SP : OP_MOV_HIGH;
    default:
        if (bits(i, 2, 0) || d->rm == PC)
            return OP_UNPREDICTABLE;
        return bits(i, 7, 7) ? OP_BLX : OP_BX;
    }
}

/* A5.2.4: 0101xx, 011xxx, 100xxx */
static enum operation load_store_single(uint16_t i, decoded *d)
{
    static const uint8_t by_register[8] = {
        OP_STR_REG, OP_STRH_REG, OP_STRB_REG, OP_LDRSB_REG,
        OP_LDR_REG, OP_LDRH_REG, OP_LDRB_REG, OP_LDRSH_REG
    };
    d->rd = (uint8_t)bits(i, 2, 0);
    d->rn = (uint8_t)bits(i, 5, 3);
    d->rm = (uint8_t)bits(i, 8, 6);
    if (i < 0x6000)
        return by_register[bits(i, 11, 9)];

    d->imm = (int32_t)bits(i, 10, 6);
    switch (bits(i, 15, 11)) {
    case 0x0c: d->imm *= 4; return OP_STR_IMM;
    case 0x0d: d->imm *= 4; return OP_LDR_IMM;
    case 0x0e: return OP_STRB_IMM;
    case 0x0f: return OP_LDRB_IMM;
    case 0x10: d->imm *= 2; return OP_STRH_IMM;
    case 0x11: d->imm *= 2; return OP_LDRH_IMM;
    }
    d->rd = (uint8_t)bits(i, 10, 8);                       /* 1001x: SP-relative */
    d->rn = SP;
    d->imm = (int32_t)bits(i, 7, 0) * 4;
    return bits(i, 11, 11) ? OP_LDR_IMM : OP_STR_IMM;
}

/* A5.2.5: 1011xx */
static enum operation miscellaneous(uint16_t i, decoded *d)
{
    static const uint8_t extend[4] = { OP_SXTH, OP_SXTB, OP_UXTH, OP_UXTB };
    static const uint8_t reverse[4] = { OP_REV, OP_REV16, OP_UNDEFINED, OP_REVSH };

    d->rd = (uint8_t)bits(i, 2, 0);
    d->rm = (uint8_t)bits(i, 5, 3);
    switch (bits(i, 11, 8)) {
    case 0x0:
        d->imm = (int32_t)bits(i, 6, 0) * (bits(i, 7, 7) ? -4 : 4);
        return OP_ADJUST_SP;
    case 0x2:
        return extend[bits(i, 7, 6)];
    case 0x4: case 0x5:
        return with_list(d, OP_PUSH, bits(i, 7, 0) | bits(i, 8, 8) << LR);
    case 0x6:
        if (bits(i, 7, 5) != 3)
            return OP_UNDEFINED;
        d->imm = (int32_t)bits(i, 4, 4);
        return bits(i, 3, 0) == 2 ? OP_CPS : OP_UNPREDICTABLE;
    case 0xa:
        return reverse[bits(i, 7, 6)];
    case 0xc:
        return with_list(d, OP_POP, bits(i, 7, 0));
    case 0xd:
        return with_list(d, OP_POP_PC, bits(i, 7, 0) | 1u << PC);
    case 0xe:
        d->imm = (int32_t)bits(i, 7, 0);
        return OP_BKPT;
    case 0xf:
        if (bits(i, 3, 0))
            return OP_UNDEFINED;                           /* IT of ARMv7-M */
        switch (bits(i, 7, 4)) {
        case 2: return OP_WFE;
        case 3: return OP_WFI;
        case 4: return OP_SEV;
        default: return OP_NOP;                            /* NOP, YIELD, unallocated hints */
        }
    default:
        return OP_UNDEFINED;
    }
}

/* A5.2.6: 1101xx */
static enum operation conditional_branch_and_svc(uint16_t i, decoded *d)
{
    static const uint8_t by_condition[16] = {
        OP_BEQ, OP_BNE, OP_BCS, OP_BCC, OP_BMI, OP_BPL, OP_BVS, OP_BVC,
        OP_BHI, OP_BLS, OP_BGE, OP_BLT, OP_BGT, OP_BLE, OP_UNDEFINED, OP_SVC
    };
    d->imm = 4 + 2 * sign_extend(bits(i, 7, 0), 8);
    return by_condition[bits(i, 11, 8)];
}

/* A5.3.1: branch and miscellaneous control. The operands of MSR and MRS are checked here. */
static bool is_special_register(uint32_t sysm)
{
    return sysm <= 3 || (sysm >= 5 && sysm <= 9) || sysm == SYSM_PRIMASK || sysm == SYSM_CONTROL;
}

static enum operation thirty_two_bit(uint16_t i, uint16_t j, decoded *d)
{
    if (bits(i, 12, 11) != 2 || !bits(j, 15, 15))
        return OP_UNDEFINED;
    if (bits(j, 14, 14) && bits(j, 12, 12)) {              /* BL T1: I1 = NOT(J1 EOR S) */
        const uint32_t s = bits(i, 10, 10);
        const uint32_t i1 = !(bits(j, 13, 13) ^ s), i2 = !(bits(j, 11, 11) ^ s);
        d->imm = 4 + sign_extend(s << 24 | i1 << 23 | i2 << 22 | bits(i, 9, 0) << 12
                                 | bits(j, 10, 0) << 1, 25);
        return OP_BL;
    }
    if (bits(j, 14, 14) || bits(j, 12, 12))
        return OP_UNDEFINED;

    d->imm = (int32_t)bits(j, 7, 0);
    switch (bits(i, 10, 4)) {
    case 0x38: case 0x39:                                  /* MSR */
        d->rn = (uint8_t)bits(i, 3, 0);
        if (bits(i, 4, 4) || bits(j, 13, 8) != 0x08 || d->rn == SP || d->rn == PC
            || !is_special_register((uint32_t)d->imm))
            return OP_UNPREDICTABLE;
        return OP_MSR;
    case 0x3b:                                             /* miscellaneous control instructions */
        if (bits(j, 7, 4) < 4 || bits(j, 7, 4) > 6)
            return OP_UNDEFINED;
        return bits(i, 3, 0) == 0xf && bits(j, 13, 8) == 0x0f ? OP_BARRIER : OP_UNPREDICTABLE;
    case 0x3e: case 0x3f:                                  /* MRS */
        d->rd = (uint8_t)bits(j, 11, 8);
        if (bits(i, 4, 0) != 0x0f || bits(j, 13, 13) || d->rd == SP || d->rd == PC
            || !is_special_register((uint32_t)d->imm))
            return OP_UNPREDICTABLE;
        return OP_MRS;
    default:
        return OP_UNDEFINED;
    }
}

/* A5.1 and A5.2: by bits 15:10 */
enum operation decode_16_bit(uint32_t pc, uint16_t i, decoded *d)
{
    const uint32_t opcode = bits(i, 15, 10);

    if (opcode < 0x10)
        return shift_add_subtract_move_compare(i, d);
    if (opcode == 0x10)
        return data_processing(i, d);
    if (opcode == 0x11)
        return special_data_and_branch_exchange(i, d);
    if (opcode < 0x14) {
        d->rd = (uint8_t)bits(i, 10, 8);
        d->imm = from_aligned_pc(pc, bits(i, 7, 0) * 4);
        return OP_LDR_LITERAL;
    }
    if (opcode < 0x28)
        return load_store_single(i, d);
    if (opcode < 0x2c) {
        d->rd = (uint8_t)bits(i, 10, 8);
        d->imm = (int32_t)bits(i, 7, 0) * 4;
        if (bits(i, 11, 11))
            return OP_ADD_SP_IMM;
        d->imm = from_aligned_pc(pc, (uint32_t)d->imm);
        return OP_ADR;
    }
    if (opcode < 0x30)
        return miscellaneous(i, d);
    if (opcode < 0x34) {
        d->rn = (uint8_t)bits(i, 10, 8);
        return with_list(d, bits(i, 11, 11) ? OP_LDM : OP_STM, bits(i, 7, 0));
    }
    if (opcode < 0x38)
        return conditional_branch_and_svc(i, d);
    d->imm = 4 + 2 * sign_extend(bits(i, 10, 0), 11);
    return d->imm ? OP_B : OP_B_SELF;
}

/* LDM, STM, PUSH, POP: one more cycle for each register of the list. */
static uint8_t base_cycles(enum operation operation, const decoded *d)
{
    static const uint8_t cycles_of[OPERATIONS] = {
#define X(name, cost, reads) [OP_##name] = CYCLES_##cost,
        FOR_EACH_OPERATION(X)
#undef X
    };
    switch (operation) {
    case OP_PUSH: case OP_POP: case OP_POP_PC: case OP_STM: case OP_LDM:
        return (uint8_t)(cycles_of[operation] + __builtin_popcount((uint32_t)d->imm));
    default:
        return cycles_of[operation];
    }
}

enum operation decode(uint32_t pc, uint16_t first, uint16_t second, decoded *d)
{
    enum operation operation;

    *d = (decoded) { 0 };
    operation = is_32_bit(first) ? thirty_two_bit(first, second, d) : decode_16_bit(pc, first, d);
    d->cycles = base_cycles(operation, d);
    return operation;
}
