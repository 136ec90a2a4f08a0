/* SPDX-License-Identifier: Apache-2.0 */
/* The 32-bit loads and stores of ARMv8-M, the inside of execute_v8m() (see thumb16.h), in the
 * order of instructions_v8m.h. Single accesses may be unaligned (bus.c); all others may not.
 *
 * A base that is the stack pointer is held against its limit before the access is made. */

#define BASE_MAY_BE(address)                                           \
    do {                                                               \
        if (i->rn == SP)                                               \
            STACK_LIMIT(address);                                      \
    } while (0)

#define WRITE_BACK(address) (RN = i->rn == SP ? (address) & ~3u : (address))

/* ---- C2.3.1: load and store multiple; FORM_BEFORE is DB, whose words end at the base ---- */

/* The lowest address and what the base becomes; both faults come before any access. */
#define LIST_ADDRESSES(address, end)                                   \
    const uint32_t bytes_ = 4 * (uint32_t)__builtin_popcount(IMM);     \
    uint32_t address = i->form & FORM_BEFORE ? RN - bytes_ : RN;       \
    const uint32_t end = i->form & FORM_BEFORE ? address : RN + bytes_; \
    if (i->form & FORM_WRITE_BACK)                                     \
        BASE_MAY_BE(end);                                              \
    ALIGNED_TO(address, 4)

op_LDM_W: {                            /* a base in the list is loaded last: see op_LDM */
    LIST_ADDRESSES(address, end);
    uint32_t base = i->form & FORM_WRITE_BACK ? end : RN;
    FOR_EACH_REGISTER(k, IMM) {
        if (k == i->rn)
            LOAD_WORD(address, base);
        else
            LOAD_WORD(address, r[k]);
        address += 4;
    }
    WRITE_BACK(base);
    NEXT_WIDE();
}
op_LDM_PC_W: {
    FETCH_SECOND_HALFWORD();
    LIST_ADDRESSES(address, end);
    uint32_t base = i->form & FORM_WRITE_BACK ? end : RN;
    FOR_EACH_REGISTER(k, IMM & 0x7fff) {
        if (k == i->rn)
            LOAD_WORD(address, base);
        else
            LOAD_WORD(address, r[k]);
        address += 4;
    }
    LOAD_WORD(address, target);
    WRITE_BACK(base);
    goto bx_write_pc;
}
op_STM_W: {
    LIST_ADDRESSES(address, end);
    FOR_EACH_REGISTER(k, IMM) {
        STORE_WORD(address, r[k]);
        address += 4;
    }
    if (i->form & FORM_WRITE_BACK)
        WRITE_BACK(end);
    NEXT_WIDE();
}

/* ---- C2.3.2: load and store dual ---- */

#define LOAD_DUAL(at)                                                  \
    do {                                                               \
        const uint32_t dual_ = (at);                                   \
        uint32_t first_, second_;                                      \
        ALIGNED_TO(dual_, 4);                                          \
        LOAD_WORD(dual_, first_);                                      \
        LOAD_WORD(dual_ + 4, second_);                                 \
        RD = first_;                                                   \
        RA = second_;                                                  \
    } while (0)

#define STORE_DUAL(at)                                                 \
    do {                                                               \
        const uint32_t dual_ = (at);                                   \
        ALIGNED_TO(dual_, 4);                                          \
        STORE_WORD(dual_, RD);                                         \
        STORE_WORD(dual_ + 4, RA);                                     \
    } while (0)

/* Pre-indexed with FORM_BEFORE, else post-indexed. */
#define INDEXED(access)                                                \
    {                                                                  \
        const uint32_t end = RN + IMM;                                 \
        const uint32_t address = i->form & FORM_BEFORE ? end : RN;     \
        BASE_MAY_BE(end);                                              \
        access;                                                        \
        WRITE_BACK(end);                                               \
        NEXT_WIDE();                                                   \
    }

op_LDRD_IMM: LOAD_DUAL(RN + IMM); NEXT_WIDE();
op_LDRD_INDEX: INDEXED(LOAD_DUAL(address))
op_LDRD_LITERAL: LOAD_DUAL(pc + IMM); NEXT_WIDE();
op_STRD_IMM: STORE_DUAL(RN + IMM); NEXT_WIDE();
op_STRD_INDEX: INDEXED(STORE_DUAL(address))

/* ---- C2.3.2: exclusive, acquire, release; one core, in order: only the monitor matters ---- */

#define LOAD_SIZED(address, destination)                               \
    do {                                                               \
        ALIGNED_TO((address), i->amount);                              \
        if (i->amount == 4)                                            \
            LOAD_WORD((address), destination);                         \
        else if (i->amount == 2)                                       \
            LDR(uint16_t, (address), destination);                     \
        else                                                           \
            LDR(uint8_t, (address), destination);                      \
    } while (0)

#define STORE_SIZED(address, value)                                    \
    do {                                                               \
        ALIGNED_TO((address), i->amount);                              \
        if (i->amount == 4)                                            \
            STORE_WORD((address), value);                              \
        else if (i->amount == 2)                                       \
            STR(uint16_t, (address), value);                           \
        else                                                           \
            STR(uint8_t, (address), value);                            \
    } while (0)

op_LOAD_ACQUIRE: LOAD_SIZED(RN, RD); NEXT_WIDE();
op_LOAD_EXCLUSIVE: {
    const uint32_t address = RN + IMM;
    LOAD_SIZED(address, RD);
    m->exclusive = true;
    NEXT_WIDE();
}
op_STORE_RELEASE: STORE_SIZED(RN, RD); NEXT_WIDE();
op_STORE_EXCLUSIVE: {
    const uint32_t address = RN + IMM;
    ALIGNED_TO(address, i->amount);
    if (m->exclusive)
        STORE_SIZED(address, RD);
    RA = !m->exclusive;
    m->exclusive = false;
    NEXT_WIDE();
}

/* ---- C2.3.2: table branch, TT, SG ---- */

op_TBB: {
    FETCH_SECOND_HALFWORD();
    LDR(uint8_t, (i->rn == PC ? pc + 4 : RN) + RM, target);
    BRANCH_TO(pc + 4 + 2 * target);
}
op_TBH: {
    FETCH_SECOND_HALFWORD();
    LDR(uint16_t, (i->rn == PC ? pc + 4 : RN) + 2 * RM, target);
    BRANCH_TO(pc + 4 + 2 * target);
}
op_TT: RESULT_W(TT_SECURE);
op_SG: NEXT_WIDE();                    /* no operation in code that is secure already */

/* ---- C2.3.5: single loads and stores ---- */

#define LOAD_FORMS(name, type)                                                                    \
    op_##name##_IMM_W: LDR(type, RN + IMM, RD); NEXT_WIDE();                                       \
    op_##name##_INDEX_W: INDEXED(LDR(type, address, RD))                                           \
    op_##name##_REG_W: LDR(type, RN + (RM << i->amount), RD); NEXT_WIDE();                         \
    op_##name##_LITERAL_W: LDR(type, pc + IMM, RD); NEXT_WIDE();

LOAD_FORMS(LDR, uint32_t)
LOAD_FORMS(LDRH, uint16_t)
LOAD_FORMS(LDRB, uint8_t)
LOAD_FORMS(LDRSH, int16_t)
LOAD_FORMS(LDRSB, int8_t)

#define STORE_FORMS(name, type)                                                                   \
    op_##name##_IMM_W: STR(type, RN + IMM, RD); NEXT_WIDE();                                       \
    op_##name##_INDEX_W: INDEXED(STR(type, address, RD))                                           \
    op_##name##_REG_W: STR(type, RN + (RM << i->amount), RD); NEXT_WIDE();

STORE_FORMS(STR, uint32_t)
STORE_FORMS(STRH, uint16_t)
STORE_FORMS(STRB, uint8_t)

/* LDR with PC or SP as destination, in all forms */
#define LOAD_ANY_FORM(destination)                                     \
    do {                                                               \
        const uint32_t end_ = RN + IMM;                                \
        if (i->shift == ADDRESS_INDEX)                                 \
            BASE_MAY_BE(end_);                                         \
        LDR(uint32_t, load_address(i, r, pc), destination);            \
        if (i->shift == ADDRESS_INDEX)                                 \
            WRITE_BACK(end_);                                          \
    } while (0)

op_LDR_PC_W:
    FETCH_SECOND_HALFWORD();
    LOAD_ANY_FORM(target);
    goto bx_write_pc;
op_LDR_SP_W: {
    uint32_t value;
    LOAD_ANY_FORM(value);
    STACK_LIMIT(value & ~3u);
    r[SP] = value & ~3u;
    NEXT_WIDE();
}
