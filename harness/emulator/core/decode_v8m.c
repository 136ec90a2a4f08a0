/* SPDX-License-Identifier: Apache-2.0 */
/* Decoder of ARMv8-M Mainline: the 16-bit instructions that ARMv6-M lacks, branches and
 * miscellaneous control (Armv8-M Architecture Reference Manual C2.2 and C2.3.4), coprocessor
 * encodings, and what an IT block does to an instruction. Data processing is in decode_v8m_data.c,
 * memory in decode_v8m_memory.c, costs in timing_v8m.c. */
#include "decode_v8m.h"

/* ---- C2.2: 16 bits ---- */

static enum operation compare_and_branch(uint16_t i, decoded *d)
{
    d->rn = (uint8_t)bits(i, 2, 0);
    d->imm = (int32_t)(4 + (bits(i, 9, 9) << 6 | bits(i, 7, 3) << 1));
    return bits(i, 11, 11) ? OP_CBNZ : OP_CBZ;
}

/* IT: firstcond 1111 is UNPREDICTABLE, 1110 with an else (a mask of more than one bit) too. */
static enum operation if_then(uint16_t i, decoded *d)
{
    d->imm = (int32_t)bits(i, 7, 0);
    if (bits(i, 7, 4) == 0xf || (bits(i, 7, 4) == 0xe && __builtin_popcount(bits(i, 3, 0)) != 1))
        return OP_UNPREDICTABLE;
    return OP_IT;
}

/* CPS: imm is im, I and F; at least one of the two must be affected. */
static enum operation change_state(uint16_t i, decoded *d)
{
    d->imm = (int32_t)bits(i, 4, 0);
    return bits(i, 1, 0) == 0 || bits(i, 3, 2) ? OP_UNPREDICTABLE : OP_CPS;
}

static enum operation non_secure_branch(uint16_t i, decoded *d)
{
    d->rm = (uint8_t)bits(i, 6, 3);
    if (is_sp_or_pc(d->rm) || bits(i, 1, 0))
        return OP_UNPREDICTABLE;
    return bits(i, 7, 7) ? OP_BLXNS : OP_BXNS;
}

static enum operation sixteen_bit(uint32_t pc, uint16_t i, decoded *d)
{
    if ((i & 0xf500) == 0xb100)
        return compare_and_branch(i, d);
    if ((i & 0xff00) == 0xbf00 && bits(i, 3, 0))
        return if_then(i, d);
    if ((i & 0xffe0) == 0xb660)
        return change_state(i, d);
    if ((i & 0xff04) == 0x4704)
        return non_secure_branch(i, d);
    return decode_16_bit(pc, i, d);
}

/* ---- C2.3.4: 11110xxxxxxx with bit 15 of j set ---- */

static bool is_special_register(uint32_t sysm)
{
    enum { NON_SECURE = 0x80, SP_NS = 0x98 };
    const uint32_t banked = sysm & ~(uint32_t)NON_SECURE;

    return sysm <= 3 || (sysm >= 5 && sysm <= 7) || (banked >= SYSM_MSP && banked <= SYSM_PSPLIM)
           || (banked >= SYSM_PRIMASK && banked <= SYSM_CONTROL && banked != SYSM_BASEPRI_MAX)
           || sysm == SYSM_BASEPRI_MAX || sysm == SP_NS;
}

/* MSR: amount is the mask of APSR (bit 1 NZCVQ, bit 0 GE). MRS */
static enum operation move_special(bool to_special, uint32_t i, uint32_t j, decoded *d)
{
    const uint32_t core_register = to_special ? d->rn : d->rd;

    d->imm = (int32_t)bits(j, 7, 0);
    d->amount = (uint8_t)bits(j, 11, 10);
    if (is_sp_or_pc(core_register) || !is_special_register((uint32_t)d->imm) || bits(i, 4, 4)
        || bits(j, 13, 13))
        return OP_UNPREDICTABLE;
    if (!to_special)
        return bits(i, 3, 0) == 0xf ? OP_MRS : OP_UNPREDICTABLE;
    if (bits(j, 9, 8) || d->amount == 0 || (d->imm > 3 && d->amount != 2))
        return OP_UNPREDICTABLE;
    return OP_MSR;
}

static enum operation hint(uint32_t i, uint32_t j)
{
    if (bits(i, 3, 0) != 0xf || bits(j, 13, 13) || bits(j, 11, 11))
        return OP_UNPREDICTABLE;
    if (bits(j, 10, 8))
        return OP_UNDEFINED;                               /* CPS of other profiles */
    switch (bits(j, 7, 0)) {
    case 2: return OP_WFE_W;
    case 3: return OP_WFI_W;
    case 4: return OP_SEV_W;
    default: return OP_NOP_W;                              /* also YIELD, CSDB, DBG, unallocated */
    }
}

static enum operation barrier(uint32_t i, uint32_t j)
{
    if (bits(j, 7, 4) != 2 && (bits(j, 7, 4) < 4 || bits(j, 7, 4) > 6))
        return OP_UNDEFINED;
    if (bits(i, 3, 0) != 0xf || bits(j, 13, 8) != 0x0f)
        return OP_UNPREDICTABLE;
    return bits(j, 7, 4) == 2 ? OP_CLREX : OP_BARRIER;
}

static enum operation branch(uint32_t i, uint32_t j, decoded *d)
{
    const uint32_t s = bits(i, 10, 10);                    /* I1 = NOT(J1 EOR S) */
    const uint32_t i1 = !(bits(j, 13, 13) ^ s), i2 = !(bits(j, 11, 11) ^ s);

    d->imm = 4 + sign_extend(s << 24 | i1 << 23 | i2 << 22 | bits(i, 9, 0) << 12
                             | bits(j, 10, 0) << 1, 25);
    return bits(j, 14, 14) ? OP_BL : OP_B_W;
}

static enum operation conditional_branch(uint32_t i, uint32_t j, decoded *d)
{
    d->imm = 4 + sign_extend(bits(i, 10, 10) << 20 | bits(j, 11, 11) << 19 | bits(j, 13, 13) << 18
                             | bits(i, 5, 0) << 12 | bits(j, 10, 0) << 1, 21);
    return (enum operation)(OP_BEQ_W + bits(i, 9, 6));
}

static enum operation branch_and_control(uint32_t i, uint32_t j, decoded *d)
{
    if (bits(j, 12, 12))
        return branch(i, j, d);
    if (bits(j, 14, 14))
        return OP_UNDEFINED;
    if (bits(i, 9, 7) != 7)
        return conditional_branch(i, j, d);
    switch (bits(i, 10, 4)) {
    case 0x38: case 0x39: return move_special(true, i, j, d);
    case 0x3a: return hint(i, j);
    case 0x3b: return barrier(i, j);
    case 0x3e: case 0x3f: return move_special(false, i, j, d);
    default: return OP_UNDEFINED;
    }
}

/* ---- C2.4: coprocessors; imm is the instruction ---- */

static enum operation coprocessor_instruction(uint32_t i, uint32_t j, decoded *d)
{
    const uint32_t number = bits(j, 11, 8);

    d->imm = (int32_t)(i << 16 | j);
    if ((i & 0xef00) == 0xef00)
        return OP_UNDEFINED;                               /* Advanced SIMD */
    return number == 10 || number == 11 ? OP_FPU : OP_COPROCESSOR;
}

/* ---- C2.3: by bits 12:4 of the first halfword ---- */

static enum operation thirty_two_bit(uint32_t pc, uint32_t i, uint32_t j, decoded *d)
{
    d->rn = (uint8_t)bits(i, 3, 0);
    d->rd = (uint8_t)bits(j, 11, 8);
    d->rm = (uint8_t)bits(j, 3, 0);
    d->form = FORM_WIDE;
    if ((i & 0xec00) == 0xec00)
        return coprocessor_instruction(i, j, d);
    if (bits(i, 12, 11) == 1) {
        if (bits(i, 10, 9))
            return decode_shifted_register(i, j, d);
        return bits(i, 6, 6) ? decode_dual(pc, i, j, d) : decode_multiple(i, j, d);
    }
    if (bits(i, 12, 11) == 2) {
        if (bits(j, 15, 15))
            return branch_and_control(i, j, d);
        return bits(i, 9, 9) ? decode_plain_immediate(pc, i, j, d)
                             : decode_modified_immediate(i, j, d);
    }
    switch (bits(i, 10, 7)) {
    case 0x0: case 0x1: case 0x2: case 0x3: return decode_single(pc, i, j, d);
    case 0x4: case 0x5: return decode_data_register(i, j, d);
    case 0x6: return decode_multiply(i, j, d);
    case 0x7: return decode_long_multiply(i, j, d);
    default: return OP_UNDEFINED;
    }
}

/* ---- what the flow has to know ---- */

/* 16-bit data processing leaves the flags alone in an IT block, unless comparing is its point. */
static bool is_quiet(enum operation operation)
{
    return operation >= OP_MOVS_REG && operation <= OP_MVNS && operation != OP_CMP_IMM
           && operation != OP_TST && operation != OP_CMP_REG && operation != OP_CMN;
}

static uint8_t it_rule(enum operation operation)
{
    switch (operation) {
    case OP_IT: case OP_CPS: case OP_CBZ: case OP_CBNZ:
        return FORM_NOT_IN_IT;
    case OP_BX: case OP_BLX: case OP_BXNS: case OP_BLXNS: case OP_B: case OP_B_SELF: case OP_B_W:
    case OP_BL: case OP_POP_PC: case OP_LDM_PC_W: case OP_LDR_PC_W: case OP_ADD_PC: case OP_MOV_PC:
    case OP_TBB: case OP_TBH:
        return FORM_LAST_IN_IT;
    case OP_BKPT:
        return FORM_UNCONDITIONAL;
    default:
        if ((operation >= OP_BEQ && operation <= OP_BLE)
            || (operation >= OP_BEQ_W && operation <= OP_BLE_W))
            return FORM_NOT_IN_IT;
        return is_quiet(operation) ? FORM_QUIET : 0;
    }
}

enum operation decode_v8m(uint32_t pc, const uint16_t halfwords[2], decoded *d)
{
    enum operation operation;

    *d = (decoded) { 0 };
    if (is_32_bit(halfwords[0]))
        operation = thirty_two_bit(pc, halfwords[0], halfwords[1], d);
    else
        operation = sixteen_bit(pc, halfwords[0], d);
    d->form |= it_rule(operation);
    return operation;
}
