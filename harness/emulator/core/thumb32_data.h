/* SPDX-License-Identifier: Apache-2.0 */
/* The 32-bit data-processing instructions of ARMv8-M, the inside of execute_v8m() (see thumb16.h),
 * in the order of instructions_v8m.h. RA is R[a] or RdHi, RD also RdLo. */

/* ---- C2.3.3: x op y, where y is an immediate or a shifted register ---- */

#define SHIFTED(carry) shift_c(RM, i->shift, i->amount, (carry))

#define LOGICAL(name, result)                                                                     \
    op_##name##_IMM_W: { const uint32_t y = IMM; RESULT_W(result); }                               \
    op_##name##S_IMM_W: {                                                                          \
        const uint32_t y = IMM;                                                                    \
        if (i->amount != CARRY_STAYS)                                                              \
            c = i->amount;                                                                         \
        RESULT_FLAGS_W(result);                                                                    \
    }                                                                                              \
    op_##name##_LSL_W: { const uint32_t y = RM << i->amount; RESULT_W(result); }                   \
    op_##name##_REG_W: {                                                                           \
        uint32_t carry = c;                                                                        \
        const uint32_t y = SHIFTED(&carry);                                                        \
        RESULT_W(result);                                                                          \
    }                                                                                              \
    op_##name##S_REG_W: { const uint32_t y = SHIFTED(&c); RESULT_FLAGS_W(result); }

LOGICAL(AND, RN & y)
LOGICAL(BIC, RN & ~y)
LOGICAL(ORR, RN | y)
LOGICAL(ORN, RN | ~y)
LOGICAL(EOR, RN ^ y)
LOGICAL(MOV, y)
LOGICAL(MVN, ~y)

#define ARITHMETIC(name, a, b, carry_in)                                                          \
    op_##name##_IMM_W: { const uint32_t y = IMM; RESULT_W((a) + (b) + (carry_in)); }               \
    op_##name##S_IMM_W: {                                                                          \
        const uint32_t y = IMM;                                                                    \
        RESULT_FLAGS_W(add_with_carry((a), (b), (carry_in), &c, &v));                              \
    }                                                                                              \
    op_##name##_LSL_W: {                                                                           \
        const uint32_t y = RM << i->amount;                                                        \
        RESULT_W((a) + (b) + (carry_in));                                                          \
    }                                                                                              \
    op_##name##_REG_W: {                                                                           \
        uint32_t carry = c;                                                                        \
        const uint32_t y = SHIFTED(&carry);                                                        \
        RESULT_W((a) + (b) + (carry_in));                                                          \
    }                                                                                              \
    op_##name##S_REG_W: {                                                                          \
        uint32_t carry = c;                                                                        \
        const uint32_t y = SHIFTED(&carry);                                                        \
        RESULT_FLAGS_W(add_with_carry((a), (b), (carry_in), &c, &v));                              \
    }

ARITHMETIC(ADD, RN, y, 0)
ARITHMETIC(ADC, RN, y, c)
ARITHMETIC(SBC, RN, ~y, c)
ARITHMETIC(SUB, RN, ~y, 1)
ARITHMETIC(RSB, ~RN, y, 1)

op_TST_IMM_W:
    if (i->amount != CARRY_STAYS)
        c = i->amount;
    SET_NZ(RN & IMM);
    NEXT_WIDE();
op_TST_REG_W: SET_NZ(RN & SHIFTED(&c)); NEXT_WIDE();
op_TEQ_IMM_W:
    if (i->amount != CARRY_STAYS)
        c = i->amount;
    SET_NZ(RN ^ IMM);
    NEXT_WIDE();
op_TEQ_REG_W: SET_NZ(RN ^ SHIFTED(&c)); NEXT_WIDE();
op_CMN_IMM_W: SET_NZ(add_with_carry(RN, IMM, 0, &c, &v)); NEXT_WIDE();
op_CMN_REG_W: {
    uint32_t carry = c;
    const uint32_t y = SHIFTED(&carry);
    SET_NZ(add_with_carry(RN, y, 0, &c, &v));
    NEXT_WIDE();
}
op_CMP_IMM_W: SET_NZ(add_with_carry(RN, ~IMM, 1, &c, &v)); NEXT_WIDE();
op_CMP_REG_W: {
    uint32_t carry = c;
    const uint32_t y = SHIFTED(&carry);
    SET_NZ(add_with_carry(RN, ~y, 1, &c, &v));
    NEXT_WIDE();
}

/* The stack pointer as destination: its low bits are not there, and it has a limit. */
op_SP_IMM_W: {
    const uint32_t sum = (r[SP] + IMM) & ~3u;
    STACK_LIMIT(sum);
    r[SP] = sum;
    NEXT_WIDE();
}
op_SP_FLAGS_W: {
    const uint32_t y = i->rm == PC ? IMM : RM << i->amount;
    uint32_t carry, overflow;
    const uint32_t sum = i->ra ? add_with_carry(r[SP], ~y, 1, &carry, &overflow)
                               : add_with_carry(r[SP], y, 0, &carry, &overflow);
    STACK_LIMIT(sum & ~3u);
    r[SP] = sum & ~3u;
    if (i->form & FORM_SETS_FLAGS) {
        SET_NZ(sum);
        c = carry;
        v = overflow;
    }
    NEXT_WIDE();
}
op_MOV_SP_W: STACK_LIMIT(RM & ~3u); r[SP] = RM & ~3u; NEXT_WIDE();
op_ADR_W: RESULT_W(pc + IMM);

op_PKHBT: RESULT_W((RN & 0xffff) | (RM << i->amount & 0xffff0000));
op_PKHTB: {
    uint32_t carry = c;
    const uint32_t y = asr_c(RM, i->amount, &carry);
    RESULT_W((RN & 0xffff0000) | (y & 0xffff));
}
op_MOVT: RESULT_W((RD & 0xffff) | IMM << 16);
op_SSAT: {
    uint32_t carry = c;
    const int32_t y = (int32_t)shift_c(RN, i->shift, i->amount, &carry);
    RESULT_W(signed_saturate(y, IMM, &m->q));
}
op_SSAT16:
    RESULT_W(halves(signed_saturate(half(RN, 1), IMM, &m->q),
                    signed_saturate(half(RN, 0), IMM, &m->q)));
op_USAT: {
    uint32_t carry = c;
    const int32_t y = (int32_t)shift_c(RN, i->shift, i->amount, &carry);
    RESULT_W(unsigned_saturate(y, IMM, &m->q));
}
op_USAT16:
    RESULT_W(halves(unsigned_saturate(half(RN, 1), IMM, &m->q),
                    unsigned_saturate(half(RN, 0), IMM, &m->q)));
op_SBFX: RESULT_W((uint32_t)((int32_t)(RN << (32 - i->shift - i->amount)) >> (32 - i->amount)));
op_UBFX: RESULT_W(RN << (32 - i->shift - i->amount) >> (32 - i->amount));
op_BFI: {
    const uint32_t mask = UINT32_MAX >> (32 - i->amount) << i->shift;
    RESULT_W((RD & ~mask) | (RN << i->shift & mask));
}
op_BFC: RESULT_W(RD & ~(UINT32_MAX >> (32 - i->amount) << i->shift));

/* ---- C2.3.6: register ---- */

#define SHIFT_BY_REGISTER(name, function)                                                         \
    op_##name##_W: { uint32_t carry = c; RESULT_W(function(RN, RM & 0xff, &carry)); }              \
    op_##name##S_W: RESULT_FLAGS_W(function(RN, RM & 0xff, &c));

SHIFT_BY_REGISTER(LSL, lsl_c)
SHIFT_BY_REGISTER(LSR, lsr_c)
SHIFT_BY_REGISTER(ASR, asr_c)
SHIFT_BY_REGISTER(ROR, ror_c)

#define ROTATED rotate_right(RM, i->amount)
op_SXTH_W: RESULT_W((uint32_t)(int16_t)ROTATED);
op_UXTH_W: RESULT_W((uint16_t)ROTATED);
op_SXTB16: RESULT_W(halves((uint32_t)(int8_t)(ROTATED >> 16), (uint32_t)(int8_t)ROTATED));
op_UXTB16: RESULT_W(ROTATED & 0x00ff00ff);
op_SXTB_W: RESULT_W((uint32_t)(int8_t)ROTATED);
op_UXTB_W: RESULT_W((uint8_t)ROTATED);
op_SXTAH: RESULT_W(RN + (uint32_t)(int16_t)ROTATED);
op_UXTAH: RESULT_W(RN + (uint16_t)ROTATED);
op_SXTAB16:
    RESULT_W(halves((RN >> 16) + (uint32_t)(int8_t)(ROTATED >> 16),
                    RN + (uint32_t)(int8_t)ROTATED));
op_UXTAB16: RESULT_W(halves((RN >> 16) + (uint8_t)(ROTATED >> 16), RN + (uint8_t)ROTATED));
op_SXTAB: RESULT_W(RN + (uint32_t)(int8_t)ROTATED);
op_UXTAB: RESULT_W(RN + (uint8_t)ROTATED);

op_PARALLEL: RESULT_W(parallel_add_subtract(i->shift, i->amount, RN, RM, &m->ge));
#define SIGNED(x) ((int64_t)(int32_t)(x))
#define DOUBLED(x) SIGNED(signed_saturate(2 * SIGNED(x), 32, &m->q))
op_QADD: RESULT_W(signed_saturate(SIGNED(RM) + SIGNED(RN), 32, &m->q));
op_QDADD: RESULT_W(signed_saturate(SIGNED(RM) + DOUBLED(RN), 32, &m->q));
op_QSUB: RESULT_W(signed_saturate(SIGNED(RM) - SIGNED(RN), 32, &m->q));
op_QDSUB: RESULT_W(signed_saturate(SIGNED(RM) - DOUBLED(RN), 32, &m->q));
op_REV_W: RESULT_W(__builtin_bswap32(RM));
op_REV16_W: RESULT_W(rotate_right(__builtin_bswap32(RM), 16));
op_RBIT: RESULT_W(reverse_bits(RM));
op_REVSH_W: RESULT_W((uint32_t)(int16_t)__builtin_bswap16((uint16_t)RM));
op_SEL: {                              /* a bit of GE becomes a byte of ones */
    const uint32_t mask = (m->ge * 0x00204081u & 0x01010101) * 0xff;
    RESULT_W((RN & mask) | (RM & ~mask));
}
op_CLZ: RESULT_W(RM ? (uint32_t)__builtin_clz(RM) : 32);

/* ---- C2.3.7: multiply; without an accumulator R[a] is encoded as the pc ---- */

#define ACCUMULATOR (i->ra == PC ? 0 : SIGNED(RA))
#define X_SWAPPED (i->amount & 1 ? rotate_right(RM, 16) : RM)
op_MUL_W: RESULT_W(RN * RM);
op_MLA: RESULT_W(RA + RN * RM);
op_MLS: RESULT_W(RA - RN * RM);
op_SMLAXY:
    RESULT_W(sum_q((int64_t)half(RN, i->amount & 2) * half(RM, i->amount & 1) + ACCUMULATOR,
                   &m->q));
op_SMLAD: RESULT_W(sum_q(dual_sum(RN, RM) + ACCUMULATOR, &m->q));
op_SMLADX: RESULT_W(sum_q(dual_sum(RN, rotate_right(RM, 16)) + ACCUMULATOR, &m->q));
op_SMLAWY:
    RESULT_W(sum_q((SIGNED(RN) * half(RM, i->amount & 1) >> 16) + ACCUMULATOR, &m->q));
op_SMLSD: RESULT_W(sum_q(dual_difference(RN, X_SWAPPED) + ACCUMULATOR, &m->q));
#define ROUNDING ((uint64_t)(i->amount & 1) << 31)
op_SMMLA: {
    const uint64_t product = (uint64_t)(SIGNED(RN) * SIGNED(RM));
    RESULT_W((uint32_t)((((uint64_t)ACCUMULATOR << 32) + product + ROUNDING) >> 32));
}
op_SMMLS: {
    const uint64_t product = (uint64_t)(SIGNED(RN) * SIGNED(RM));
    RESULT_W((uint32_t)((((uint64_t)RA << 32) - product + ROUNDING) >> 32));
}
op_USADA8: RESULT_W((uint32_t)ACCUMULATOR + sum_of_differences(RN, RM));

/* ---- C2.3.8: 64-bit results, divide ---- */

#define PAIR ((uint64_t)RA << 32 | RD)
#define RESULT_PAIR(result)                                            \
    do {                                                               \
        const uint64_t pair_ = (uint64_t)(result);                     \
        RD = (uint32_t)pair_;                                          \
        RA = (uint32_t)(pair_ >> 32);                                  \
        NEXT_WIDE();                                                   \
    } while (0)
op_SMULL: RESULT_PAIR(SIGNED(RN) * SIGNED(RM));
op_UMULL: RESULT_PAIR((uint64_t)RN * RM);
op_SMLAL: RESULT_PAIR(PAIR + (uint64_t)(SIGNED(RN) * SIGNED(RM)));
op_UMLAL: RESULT_PAIR(PAIR + (uint64_t)RN * RM);
op_UMAAL: RESULT_PAIR((uint64_t)RN * RM + RA + RD);
op_SMLALXY:
    RESULT_PAIR(PAIR + (uint64_t)((int64_t)half(RN, i->amount & 2) * half(RM, i->amount & 1)));
op_SMLALD: RESULT_PAIR(PAIR + (uint64_t)dual_sum(RN, X_SWAPPED));
op_SMLSLD: RESULT_PAIR(PAIR + (uint64_t)dual_difference(RN, X_SWAPPED));
op_SDIV: {                             /* the lowest number by -1 is itself */
    const int64_t x = SIGNED(RN), y = SIGNED(RM);
    if (y == 0 && m->ccr & CCR_DIV_0_TRP)
        FAULT(FAULT_DIVBYZERO, pc);
    const int64_t quotient = y ? x / y : 0;
    cycles += divide_cycles((uint32_t)(quotient < 0 ? -quotient : quotient));
    RESULT_W((uint32_t)quotient);
}
op_UDIV: {
    if (RM == 0 && m->ccr & CCR_DIV_0_TRP)
        FAULT(FAULT_DIVBYZERO, pc);
    const uint32_t quotient = RM ? RN / RM : 0;
    cycles += divide_cycles(quotient);
    RESULT_W(quotient);
}
