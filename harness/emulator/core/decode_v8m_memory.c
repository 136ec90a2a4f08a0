/* SPDX-License-Identifier: Apache-2.0 */
/* The 32-bit loads and stores of ARMv8-M Mainline, in the order of the encoding tables of the
 * Armv8-M Architecture Reference Manual: C2.3.1 (multiple), C2.3.2 (dual, exclusive, acquire-
 * release, table branch, SG, TT), C2.3.5 (single). `i` and `j` are the two halfwords.
 *
 * Operands: rd is R[t], ra R[t2] or the status register of a store exclusive; imm is the signed
 * offset, or its distance from the pc for a literal; form says how an index is used. */
#include "decode_v8m.h"

enum { SG_HALFWORD = 0xe97f };

/* ---- C2.3.1: 1110100 op 0 W L; op 1 is IA, 2 is DB (FORM_BEFORE) ---- */

enum operation decode_multiple(uint32_t i, uint32_t j, decoded *d)
{
    const bool loads = bits(i, 4, 4), writes_back = bits(i, 5, 5);
    const uint32_t direction = bits(i, 8, 7);
    const bool takes_pc = loads && bits(j, 15, 15);

    if (direction != 1 && direction != 2)
        return OP_UNDEFINED;
    d->imm = (int32_t)j;
    d->form |= (direction == 2 ? FORM_BEFORE : 0) | (writes_back ? FORM_WRITE_BACK : 0);
    if (d->rn == PC || __builtin_popcount(j) < 2 || bits(j, 13, 13)
        || (loads ? bits(j, 15, 14) == 3 : bits(j, 15, 15)) || (writes_back && j >> d->rn & 1))
        return OP_UNPREDICTABLE;
    return takes_pc ? OP_LDM_PC_W : loads ? OP_LDM_W : OP_STM_W;
}

/* ---- C2.3.2: 1110100 P U 1 W L ---- */

static enum operation load_store_dual(uint32_t pc, uint32_t i, uint32_t j, decoded *d)
{
    const bool loads = bits(i, 4, 4), writes_back = bits(i, 5, 5);

    d->imm = (int32_t)bits(j, 7, 0) * (bits(i, 7, 7) ? 4 : -4);
    d->form |= (bits(i, 8, 8) ? FORM_BEFORE : 0) | (writes_back ? FORM_WRITE_BACK : 0);
    if (is_sp_or_pc(d->rd) || is_sp_or_pc(d->ra) || (loads && d->rd == d->ra)
        || (writes_back && (d->rn == d->rd || d->rn == d->ra || d->rn == PC))
        || (!loads && d->rn == PC))
        return OP_UNPREDICTABLE;
    if (d->rn == PC) {
        d->imm = from_aligned_pc(pc, (uint32_t)d->imm);
        return OP_LDRD_LITERAL;
    }
    if (loads)
        return writes_back ? OP_LDRD_INDEX : OP_LDRD_IMM;
    return writes_back ? OP_STRD_INDEX : OP_STRD_IMM;
}

/* LDREX, STREX: a word at an offset; TT, TTT, TTA, TTAT in the place of a STREX of the pc */
static enum operation exclusive_word(uint32_t i, uint32_t j, decoded *d)
{
    d->imm = (int32_t)bits(j, 7, 0) * 4;
    d->amount = 4;
    if (bits(i, 4, 4))
        return d->ra != 0xf || is_sp_or_pc(d->rd) || d->rn == PC ? OP_UNPREDICTABLE
                                                                 : OP_LOAD_EXCLUSIVE;
    if (d->rd == PC && bits(j, 5, 0) == 0) {
        d->rd = d->ra;
        return is_sp_or_pc(d->rd) || d->rn == PC ? OP_UNPREDICTABLE : OP_TT;
    }
    return is_sp_or_pc(d->ra) || is_sp_or_pc(d->rd) || d->rn == PC || d->ra == d->rn
                   || d->ra == d->rd
               ? OP_UNPREDICTABLE : OP_STORE_EXCLUSIVE;
}

static enum operation table_branch(uint32_t j, const decoded *d)
{
    if (d->rn == SP || is_sp_or_pc(d->rm) || bits(j, 15, 8) != 0xf0)
        return OP_UNPREDICTABLE;
    return bits(j, 4, 4) ? OP_TBH : OP_TBB;
}

/* Bits 7:4 of j: 01xx exclusive, 10xx acquire or release, 11xx both; the low two the size */
static enum operation exclusive_sized(uint32_t i, uint32_t j, decoded *d)
{
    const uint32_t opcode = bits(j, 7, 4), size = bits(j, 5, 4);
    const bool loads = bits(i, 4, 4), is_exclusive = opcode != 8 && opcode != 9 && opcode != 10;

    if (loads && opcode < 2)
        return table_branch(j, d);
    if (opcode < 4 || size == 3 || opcode == 6)
        return OP_UNDEFINED;
    d->amount = (uint8_t)(1 << size);
    if (is_sp_or_pc(d->rd) || d->rn == PC || d->ra != 0xf)
        return OP_UNPREDICTABLE;
    d->ra = d->rm;
    if (loads || !is_exclusive) {
        if (d->ra != 0xf)
            return OP_UNPREDICTABLE;
        return !loads ? OP_STORE_RELEASE : is_exclusive ? OP_LOAD_EXCLUSIVE : OP_LOAD_ACQUIRE;
    }
    return is_sp_or_pc(d->ra) || d->ra == d->rn || d->ra == d->rd ? OP_UNPREDICTABLE
                                                                  : OP_STORE_EXCLUSIVE;
}

enum operation decode_dual(uint32_t pc, uint32_t i, uint32_t j, decoded *d)
{
    d->rd = (uint8_t)bits(j, 15, 12);
    d->ra = (uint8_t)bits(j, 11, 8);
    if (i == SG_HALFWORD && j == SG_HALFWORD)
        return OP_SG;
    if (bits(i, 8, 8) || bits(i, 5, 5))
        return load_store_dual(pc, i, j, d);
    return bits(i, 7, 7) ? exclusive_sized(i, j, d) : exclusive_word(i, j, d);
}

/* ---- C2.3.5: 1111100 S U size L; S sign-extends, size 0 byte, 1 halfword, 2 word ---- */

/* Which of the forms; UNPREDICTABLE ones, and encodings that are none, are told by `*bad`. */
static enum address_form address_form(uint32_t pc, uint32_t i, uint32_t j, decoded *d,
                                      enum operation *bad)
{
    *bad = OP_DECODE;
    if (d->rn == PC) {                                     /* a literal; stores have none */
        *bad = bits(i, 4, 4) ? OP_DECODE : OP_UNDEFINED;
        d->imm = from_aligned_pc(pc, bits(i, 7, 7) ? bits(j, 11, 0) : -bits(j, 11, 0));
        return ADDRESS_LITERAL;
    }
    if (bits(i, 7, 7)) {
        d->imm = (int32_t)bits(j, 11, 0);
        return ADDRESS_IMM;
    }
    if (!bits(j, 11, 11)) {
        d->amount = (uint8_t)bits(j, 5, 4);
        *bad = bits(j, 10, 6) ? OP_UNDEFINED : is_sp_or_pc(d->rm) ? OP_UNPREDICTABLE : OP_DECODE;
        return ADDRESS_REG;
    }
    d->imm = (int32_t)bits(j, 7, 0) * (bits(j, 9, 9) ? 1 : -1);
    d->form |= (bits(j, 10, 10) ? FORM_BEFORE : 0) | (bits(j, 8, 8) ? FORM_WRITE_BACK : 0);
    if (!(d->form & (FORM_BEFORE | FORM_WRITE_BACK)))
        *bad = OP_UNDEFINED;
    else if (d->form & FORM_WRITE_BACK && d->rn == d->rd)
        *bad = OP_UNPREDICTABLE;
    return d->form & FORM_WRITE_BACK ? ADDRESS_INDEX : ADDRESS_IMM;
}

/* LDRBT and its like: bits 11:8 of j are 1110. There is one privilege here (no MPU): plain ones. */
static bool is_unprivileged(uint32_t i, uint32_t j, const decoded *d)
{
    return d->rn != PC && !bits(i, 7, 7) && bits(j, 11, 8) == 0xe;
}

static enum operation single_load(uint32_t i, uint32_t j, enum address_form form, decoded *d)
{
    static const uint16_t by_size[2][4] = {
        { OP_LDRB_IMM_W, OP_LDRH_IMM_W, OP_LDR_IMM_W, 0 },
        { OP_LDRSB_IMM_W, OP_LDRSH_IMM_W, 0, 0 }
    };
    const uint32_t operation = by_size[bits(i, 8, 8)][bits(i, 6, 5)];

    if (d->rd == PC && bits(i, 6, 5) != 2)                 /* PLD, PLI, unallocated memory hints */
        return form == ADDRESS_INDEX || is_unprivileged(i, j, d) ? OP_UNPREDICTABLE : OP_NOP_W;
    if (is_sp_or_pc(d->rd)) {
        if (bits(i, 6, 5) != 2 || is_unprivileged(i, j, d))
            return OP_UNPREDICTABLE;
        d->shift = form;
        return d->rd == PC ? OP_LDR_PC_W : OP_LDR_SP_W;
    }
    return (enum operation)(operation + form);
}

static enum operation single_store(uint32_t i, uint32_t j, enum address_form form, const decoded *d)
{
    static const uint16_t by_size[4] = { OP_STRB_IMM_W, OP_STRH_IMM_W, OP_STR_IMM_W, 0 };

    if (d->rd == PC || (d->rd == SP && (bits(i, 6, 5) != 2 || is_unprivileged(i, j, d))))
        return OP_UNPREDICTABLE;
    return (enum operation)(by_size[bits(i, 6, 5)] + form);
}

enum operation decode_single(uint32_t pc, uint32_t i, uint32_t j, decoded *d)
{
    const bool loads = bits(i, 4, 4), sign_extends = bits(i, 8, 8);
    const uint32_t size = bits(i, 6, 5);
    enum operation bad;
    enum address_form form;

    d->rd = (uint8_t)bits(j, 15, 12);
    if (size == 3 || (sign_extends && (size == 2 || !loads)))
        return OP_UNDEFINED;
    form = address_form(pc, i, j, d, &bad);
    if (bad != OP_DECODE)
        return bad;
    return loads ? single_load(i, j, form, d) : single_store(i, j, form, d);
}
