/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle counts of the Cortex-M33. Arm publishes no table for it, so there are two models, made to
 * enclose what a Pico 2 does, and every figure from either is a model's: optimistic (as if nearly
 * everything took one cycle) and conservative (the published table of the Cortex-M4, which has the
 * same three stages less the dual issue). Zero-wait memory; what XIP and APB add is in xip.h and
 * bus.c. None of it has been measured on silicon.
 *
 * Rules that need two instructions (timing_v8m.c):
 *   optimistic: +1 when the next instruction reads a register that a LDR or LDRD loads;
 *   conservative: a LDR right behind another load or store takes 1 less, being pipelined.
 * Rules that need the run:
 *   a conditional branch that is taken adds TAKEN; what an IT block skips takes SKIPPED;
 *   an unaligned access adds UNALIGNED, a division what its quotient is long (divide_cycles). */
#ifndef CYCLES_V8M_H
#define CYCLES_V8M_H
#include <stdint.h>

#define FOR_EACH_COST(X)   /* optimistic, conservative */                                         \
    X(FREE, 0, 0)          /* entries that are no instruction */                                   \
    X(ALU, 1, 1)           /* arithmetic, logic, moves, bit fields, saturation, parallel add */    \
    X(SHIFT, 1, 1)                                                                                 \
    X(EXTEND, 1, 1)        /* SXTB... with or without addition, REV..., CLZ */                     \
    X(MUL, 1, 1)           /* all multiplications, also 64-bit results and SMLAD */                \
    X(DIVIDE, 2, 2)        /* SDIV UDIV: 2 to 11 in both, by the quotient */                       \
    X(LOAD, 1, 2)          /* LDR... of one register, and see the rules above */                   \
    X(STORE, 1, 1)                                                                                 \
    X(DUAL, 2, 3)          /* LDRD STRD */                                                         \
    X(MULTIPLE, 0, 1)      /* LDM STM PUSH POP: N or 1 + N, added by the decoder */                \
    X(POP_PC, 1, 3)        /* the same with the pc, which N counts: N + 1 or 3 + N */               \
    X(LOAD_PC, 2, 4)       /* LDR PC: a load and a branch */                                       \
    X(TABLE, 2, 4)         /* TBB TBH: the same */                                                 \
    X(EXCLUSIVE, 2, 2)     /* LDREX STREX LDA STL and their like */                                \
    X(PC_WRITE, 2, 3)      /* ADD PC, MOV PC */                                                    \
    X(CONDITION, 1, 1)     /* B<c> CBZ CBNZ that falls through */                                  \
    X(TAKEN, 1, 2)         /* ... and what a taken one adds */                                     \
    X(B, 2, 3)                                                                                     \
    X(BL, 2, 3)                                                                                    \
    X(BX, 2, 3)            /* BX BLX BXNS BLXNS */                                                 \
    X(IT, 1, 1)                                                                                    \
    X(SKIPPED, 1, 1)                                                                               \
    X(UNALIGNED, 1, 2)                                                                             \
    X(CPS, 1, 2)                                                                                   \
    X(SPECIAL, 1, 2)       /* MRS MSR TT */                                                        \
    X(BARRIER, 1, 3)       /* DMB DSB ISB */                                                       \
    X(HINT, 1, 1)          /* NOP YIELD SEV CLREX SG */                                            \
    X(WAIT, 1, 2)          /* WFI WFE, and the time asleep */                                      \
    X(TRAP, 1, 1)          /* SVC BKPT UDF; the exception entry comes on top */                    \
    X(FP, 1, 1)            /* VADD VMUL VCMP VCVT VMOV VMRS... */                                  \
    X(FP_FUSED, 1, 3)      /* VMLA VMLS VFMA VFMS and the negated ones */                          \
    X(FP_DIVIDE, 14, 14)   /* VDIV VSQRT */                                                        \
    X(FP_TWO_CORE, 1, 2)   /* VMOV of two core registers */                                        \
    X(COPROCESSOR, 1, 1)   /* MCR MRC of the chip's coprocessors */

enum cost {
#define X(name, optimistic, conservative) COST_##name,
    FOR_EACH_COST(X)
#undef X
    COSTS
};

static const uint8_t m33_cycles[COSTS][2] = {              /* [cost][enum m33_timing] */
#define X(name, optimistic, conservative) { optimistic, conservative },
    FOR_EACH_COST(X)
#undef X
};

/* What a division takes beyond DIVIDE: 2 to 11 cycles in all for 0 to 32 bits of quotient. */
static inline uint32_t divide_cycles(uint32_t quotient_magnitude)
{
    const uint32_t zeros = quotient_magnitude ? (uint32_t)__builtin_clz(quotient_magnitude) : 32;
    return ((32 - zeros) * 9 + 31) / 32;
}
#endif
