/* SPDX-License-Identifier: Apache-2.0 */
/* The 32-bit data-processing instructions of ARMv8-M Mainline with the DSP extension, in the order
 * of the encoding tables of the Armv8-M Architecture Reference Manual: C2.3.3 (shifted register,
 * modified immediate, plain immediate), C2.3.6 (register), C2.3.7 and C2.3.8 (multiply, divide).
 * `i` and `j` are the two halfwords, as in the manual's diagrams from the left to the right.
 *
 * Operands: rd, rn, rm, ra as the manual names them (RdLo is rd and RdHi is ra); imm, shift and
 * amount as said at each row. */
#include "decode_v8m.h"

/* A modified immediate, C2.2.3 ThumbExpandImm_C(): the value, and what becomes of the carry in
   `amount`. false: a pattern of zero bytes, UNPREDICTABLE. */
static bool expand_immediate(uint32_t imm12, decoded *d)
{
    const uint32_t byte = bits(imm12, 7, 0), rotation = bits(imm12, 11, 7);
    uint32_t value;

    d->amount = CARRY_STAYS;
    switch (bits(imm12, 11, 8)) {
    case 0: value = byte; break;
    case 1: value = byte << 16 | byte; break;
    case 2: value = byte << 24 | byte << 8; break;
    case 3: value = byte * 0x01010101u; break;
    default:
        value = 0x80 | bits(imm12, 6, 0);
        value = value >> rotation | value << (32 - rotation);
        d->amount = (uint8_t)(value >> 31);
    }
    d->imm = (int32_t)value;
    return byte != 0 || imm12 < 0x100 || imm12 >= 0x400;
}

static uint32_t imm12_of(uint32_t i, uint32_t j)
{
    return bits(i, 10, 10) << 11 | bits(j, 14, 12) << 8 | bits(j, 7, 0);
}

/* C2.2.4 DecodeImmShift(): an amount of 32 is 32, RRX a type of its own. */
static void decode_shift(uint32_t type, uint32_t amount, decoded *d)
{
    d->shift = (uint8_t)type;
    d->amount = (uint8_t)amount;
    if (amount == 0) {
        if (type == SHIFT_ROR)
            d->shift = SHIFT_RRX;
        else if (type != SHIFT_LSL)
            d->amount = 32;
    }
}

static uint32_t imm5_of(uint32_t j) { return bits(j, 14, 12) << 2 | bits(j, 7, 6); }

/* TST, TEQ, CMN, CMP: the destination is the pc. */
static enum operation compare(uint32_t opcode, bool immediate, const decoded *d)
{
    if (d->rn == PC || (d->rn == SP && opcode < 8))
        return OP_UNPREDICTABLE;
    switch (opcode) {
    case 0x0: return immediate ? OP_TST_IMM_W : OP_TST_REG_W;
    case 0x4: return immediate ? OP_TEQ_IMM_W : OP_TEQ_REG_W;
    case 0x8: return immediate ? OP_CMN_IMM_W : OP_CMN_REG_W;
    case 0xd: return immediate ? OP_CMP_IMM_W : OP_CMP_REG_W;
    default: return OP_UNPREDICTABLE;
    }
}

/* ADD and SUB with the stack pointer as destination. imm is negative for a subtraction; SP_FLAGS_W,
   which takes all that is rare, has it in ra instead, and PC in rm for an immediate. */
static enum operation to_stack_pointer(bool subtract, bool flags, bool immediate, decoded *d)
{
    if (d->rn != SP || (!immediate && (d->shift != SHIFT_LSL || d->amount > 3)))
        return OP_UNPREDICTABLE;
    if (immediate && !flags) {
        d->imm = subtract ? -d->imm : d->imm;
        return OP_SP_IMM_W;
    }
    d->ra = subtract;
    d->imm = immediate ? d->imm : 0;
    d->form |= flags ? FORM_SETS_FLAGS : 0;
    if (immediate)
        d->rm = PC;
    return OP_SP_FLAGS_W;
}

/* Shifted register or modified immediate; opcode is op of the manual. */
static enum operation data_processing(uint32_t opcode, bool flags, bool immediate, decoded *d)
{
    static const uint16_t by_opcode[16] = {
        [0x0] = OP_AND_IMM_W, [0x1] = OP_BIC_IMM_W, [0x2] = OP_ORR_IMM_W, [0x3] = OP_ORN_IMM_W,
        [0x4] = OP_EOR_IMM_W, [0x8] = OP_ADD_IMM_W, [0xa] = OP_ADC_IMM_W, [0xb] = OP_SBC_IMM_W,
        [0xd] = OP_SUB_IMM_W, [0xe] = OP_RSB_IMM_W
    };
    const bool is_add_or_subtract = opcode == 0x8 || opcode == 0xd;
    uint32_t operation = by_opcode[opcode];
    enum data_form form = flags ? FORM_IMM_FLAGS : FORM_IMM;

    if (!operation)
        return OP_UNDEFINED;
    if (d->rd == PC && flags)
        return compare(opcode, immediate, d);
    if (d->rd == SP && is_add_or_subtract)
        return to_stack_pointer(opcode == 0xd, flags, immediate, d);
    if (d->rn == PC && (opcode == 0x2 || opcode == 0x3))
        operation = opcode == 0x2 ? OP_MOV_IMM_W : OP_MVN_IMM_W;
    else if (d->rn == PC || (d->rn == SP && !is_add_or_subtract))
        return OP_UNPREDICTABLE;
    if (is_sp_or_pc(d->rd))
        return OP_UNPREDICTABLE;
    if (!immediate)
        form = flags ? FORM_REG_FLAGS : d->shift == SHIFT_LSL ? FORM_LSL : FORM_REG;
    return (enum operation)(operation + form);
}

/* MOV.W without a shift may move from or to the stack pointer. */
static enum operation move_stack_pointer(bool flags, const decoded *d)
{
    if (flags || d->rd == PC || d->rm == PC || (d->rd == SP && d->rm == SP))
        return OP_UNPREDICTABLE;
    return d->rd == SP ? OP_MOV_SP_W : OP_MOV_LSL_W;
}

/* 1110101xxxxx: shift is the type, amount the distance */
enum operation decode_shifted_register(uint32_t i, uint32_t j, decoded *d)
{
    const uint32_t opcode = bits(i, 8, 5);
    const bool flags = bits(i, 4, 4);

    if (bits(j, 15, 15))
        return OP_UNPREDICTABLE;
    decode_shift(bits(j, 5, 4), imm5_of(j), d);
    if (opcode == 0x6) {                                   /* PKH: bit 5 is tb, bit 4 is T */
        if (flags || bits(j, 4, 4))
            return OP_UNDEFINED;
        if (is_sp_or_pc(d->rd) || is_sp_or_pc(d->rn) || is_sp_or_pc(d->rm))
            return OP_UNPREDICTABLE;
        return bits(j, 5, 5) ? OP_PKHTB : OP_PKHBT;
    }
    if (opcode == 0x2 && d->rn == PC && d->shift == SHIFT_LSL && d->amount == 0
        && (d->rd == SP || d->rm == SP))
        return move_stack_pointer(flags, d);
    if (is_sp_or_pc(d->rm))
        return OP_UNPREDICTABLE;
    return data_processing(opcode, flags, false, d);
}

/* 11110x0xxxxx with bit 15 of j clear: imm is the value, amount the carry */
enum operation decode_modified_immediate(uint32_t i, uint32_t j, decoded *d)
{
    const bool is_valid = expand_immediate(imm12_of(i, j), d);
    const enum operation operation = data_processing(bits(i, 8, 5), bits(i, 4, 4), true, d);

    return is_valid || operation == OP_UNDEFINED ? operation : OP_UNPREDICTABLE;
}

/* SSAT, USAT: shift and amount say how the operand is shifted; imm is the width. With ASR #0 they
   are SSAT16 and USAT16. */
static enum operation saturate(uint32_t i, uint32_t j, bool is_signed, decoded *d)
{
    const bool is_dual = bits(i, 5, 5) && imm5_of(j) == 0;

    if (is_sp_or_pc(d->rd) || is_sp_or_pc(d->rn) || bits(i, 10, 10) || bits(j, 5, 5)
        || (is_dual && bits(j, 4, 4)))
        return OP_UNPREDICTABLE;
    d->imm = (int32_t)(bits(j, 4, 0) + is_signed);
    decode_shift(bits(i, 5, 5) << 1, imm5_of(j), d);
    if (is_dual)
        return is_signed ? OP_SSAT16 : OP_USAT16;
    return is_signed ? OP_SSAT : OP_USAT;
}

/* SBFX, UBFX, BFI, BFC: shift is the lowest bit, amount the width. */
static enum operation bit_field(uint32_t i, uint32_t j, decoded *d)
{
    const uint32_t lowest = imm5_of(j), last = bits(j, 4, 0);
    const bool extracts = !bits(i, 5, 5);

    d->shift = (uint8_t)lowest;
    d->amount = (uint8_t)(extracts ? last + 1 : last - lowest + 1);
    if (is_sp_or_pc(d->rd) || bits(i, 10, 10) || bits(j, 5, 5) || d->rn == SP)
        return OP_UNPREDICTABLE;
    if (extracts) {
        if (d->rn == PC || lowest + last > 31)
            return OP_UNPREDICTABLE;
        return bits(i, 7, 7) ? OP_UBFX : OP_SBFX;
    }
    if (last < lowest)
        return OP_UNPREDICTABLE;
    return d->rn == PC ? OP_BFC : OP_BFI;
}

/* ADDW, SUBW: ADR with the pc as base */
static enum operation plain_add(uint32_t pc, bool subtract, decoded *d)
{
    if (d->rn == PC) {
        d->imm = from_aligned_pc(pc, (uint32_t)(subtract ? -d->imm : d->imm));
        return is_sp_or_pc(d->rd) ? OP_UNPREDICTABLE : OP_ADR_W;
    }
    if (d->rd == SP)
        return to_stack_pointer(subtract, false, true, d);
    if (d->rd == PC)
        return OP_UNPREDICTABLE;
    return subtract ? OP_SUB_IMM_W : OP_ADD_IMM_W;
}

/* 11110x1xxxxx with bit 15 of j clear */
enum operation decode_plain_immediate(uint32_t pc, uint32_t i, uint32_t j, decoded *d)
{
    d->imm = (int32_t)imm12_of(i, j);
    switch (bits(i, 8, 4)) {
    case 0x00: return plain_add(pc, false, d);
    case 0x0a: return plain_add(pc, true, d);
    case 0x04: case 0x0c:                                  /* MOVW, MOVT */
        d->imm |= (int32_t)bits(i, 3, 0) << 12;
        if (is_sp_or_pc(d->rd))
            return OP_UNPREDICTABLE;
        return bits(i, 7, 7) ? OP_MOVT : OP_MOV_IMM_W;
    case 0x10: case 0x12: return saturate(i, j, true, d);
    case 0x18: case 0x1a: return saturate(i, j, false, d);
    case 0x14: case 0x16: case 0x1c: return bit_field(i, j, d);
    default: return OP_UNDEFINED;
    }
}

/* 11111010xxxx: extend (amount is the rotation), parallel (shift is the operation, amount the
   variant), and the rest of 10xx */
static enum operation extend(uint32_t i, uint32_t j, decoded *d)
{
    static const uint16_t alone[8] = {
        OP_SXTH_W, OP_UXTH_W, OP_SXTB16, OP_UXTB16, OP_SXTB_W, OP_UXTB_W, 0, 0
    };
    static const uint16_t added[8] = {
        OP_SXTAH, OP_UXTAH, OP_SXTAB16, OP_UXTAB16, OP_SXTAB, OP_UXTAB, 0, 0
    };
    const uint32_t operation = (d->rn == PC ? alone : added)[bits(i, 6, 4)];

    d->amount = (uint8_t)(8 * bits(j, 5, 4));
    if (!operation)
        return OP_UNDEFINED;
    return bits(j, 6, 6) || d->rn == SP ? OP_UNPREDICTABLE : (enum operation)operation;
}

static enum operation miscellaneous(uint32_t i, uint32_t j, const decoded *d)
{
    static const uint16_t saturating[4] = { OP_QADD, OP_QDADD, OP_QSUB, OP_QDSUB };
    static const uint16_t reversing[4] = { OP_REV_W, OP_REV16_W, OP_RBIT, OP_REVSH_W };

    switch (bits(i, 6, 4) << 2 | bits(j, 5, 4)) {
    case 0x0: case 0x1: case 0x2: case 0x3: return saturating[bits(j, 5, 4)];
    case 0x4: case 0x5: case 0x6: case 0x7:                /* Rm is encoded twice */
        return d->rn == d->rm ? reversing[bits(j, 5, 4)] : OP_UNPREDICTABLE;
    case 0x8: return OP_SEL;
    case 0xc: return d->rn == d->rm ? OP_CLZ : OP_UNPREDICTABLE;
    default: return OP_UNDEFINED;
    }
}

static enum operation data_register(uint32_t i, uint32_t j, decoded *d)
{
    static const uint16_t shifts[8] = {
        OP_LSL_W, OP_LSLS_W, OP_LSR_W, OP_LSRS_W, OP_ASR_W, OP_ASRS_W, OP_ROR_W, OP_RORS_W
    };
    if (!bits(i, 7, 7)) {
        if (bits(j, 7, 4) == 0)
            return shifts[bits(i, 6, 4)];
        return bits(j, 7, 7) ? extend(i, j, d) : OP_UNDEFINED;
    }
    if (!bits(j, 7, 7)) {
        d->shift = (uint8_t)bits(i, 6, 4);
        d->amount = (uint8_t)bits(j, 6, 4);
        return bits(i, 6, 4) == 3 || bits(i, 6, 4) == 7 || bits(j, 5, 4) == 3 ? OP_UNDEFINED
                                                                             : OP_PARALLEL;
    }
    return bits(j, 6, 6) ? OP_UNDEFINED : miscellaneous(i, j, d);
}

enum operation decode_data_register(uint32_t i, uint32_t j, decoded *d)
{
    const enum operation operation = bits(j, 15, 12) == 0xf ? data_register(i, j, d) : OP_UNDEFINED;

    if (operation != OP_UNDEFINED
        && (is_sp_or_pc(d->rd) || is_sp_or_pc(d->rm)
            || (is_sp_or_pc(d->rn) && (bits(i, 7, 7) || !bits(j, 7, 7)))))
        return OP_UNPREDICTABLE;
    return operation;
}

/* 111110110xxx: ra is 15 where nothing is added; amount bit 0 and 1 are M (or X, R) and N */
static enum operation multiply(uint32_t i, uint32_t j, const decoded *d)
{
    static const uint16_t with_variant[8] = {
        0, 0, 0, OP_SMLAWY, OP_SMLSD, OP_SMMLA, OP_SMMLS, 0
    };
    const uint32_t operation = bits(i, 6, 4), variant = bits(j, 5, 4);

    switch (operation) {
    case 0:
        if (variant == 0)
            return d->ra == PC ? OP_MUL_W : OP_MLA;
        if (variant == 1)
            return d->ra == PC ? OP_UNPREDICTABLE : OP_MLS;
        return OP_UNDEFINED;
    case 1: return OP_SMLAXY;
    case 2: return variant == 0 ? OP_SMLAD : variant == 1 ? OP_SMLADX : OP_UNDEFINED;
    case 7: return variant == 0 ? OP_USADA8 : OP_UNDEFINED;
    default:
        if (variant > 1)
            return OP_UNDEFINED;
        return operation == 6 && d->ra == PC ? OP_UNPREDICTABLE
                                             : (enum operation)with_variant[operation];
    }
}

enum operation decode_multiply(uint32_t i, uint32_t j, decoded *d)
{
    enum operation operation;

    d->ra = (uint8_t)bits(j, 15, 12);
    d->amount = (uint8_t)bits(j, 5, 4);
    operation = bits(j, 7, 6) == 0 ? multiply(i, j, d) : OP_UNDEFINED;
    if (operation != OP_UNDEFINED
        && (is_sp_or_pc(d->rd) || is_sp_or_pc(d->rn) || is_sp_or_pc(d->rm) || d->ra == SP))
        return OP_UNPREDICTABLE;
    return operation;
}

/* 111110111xxx */
static enum operation long_multiply(uint32_t i, uint32_t j)
{
    const uint32_t operation = bits(i, 6, 4), variant = bits(j, 7, 4);

    switch (operation << 4 | variant) {
    case 0x00: return OP_SMULL;
    case 0x1f: return OP_SDIV;
    case 0x20: return OP_UMULL;
    case 0x3f: return OP_UDIV;
    case 0x40: return OP_SMLAL;
    case 0x48: case 0x49: case 0x4a: case 0x4b: return OP_SMLALXY;
    case 0x4c: case 0x4d: return OP_SMLALD;
    case 0x5c: case 0x5d: return OP_SMLSLD;
    case 0x60: return OP_UMLAL;
    case 0x66: return OP_UMAAL;
    default: return OP_UNDEFINED;
    }
}

enum operation decode_long_multiply(uint32_t i, uint32_t j, decoded *d)
{
    const enum operation operation = long_multiply(i, j);
    const bool divides = operation == OP_SDIV || operation == OP_UDIV;

    d->amount = (uint8_t)bits(j, 5, 4);
    if (operation == OP_UNDEFINED)
        return operation;
    if (is_sp_or_pc(d->rd) || is_sp_or_pc(d->rn) || is_sp_or_pc(d->rm))
        return OP_UNPREDICTABLE;
    if (divides)                                           /* one result, in bits 11:8 */
        return bits(j, 15, 12) == 0xf ? operation : OP_UNPREDICTABLE;
    d->ra = d->rd;
    d->rd = (uint8_t)bits(j, 15, 12);
    return is_sp_or_pc(d->rd) || d->rd == d->ra ? OP_UNPREDICTABLE : operation;
}
