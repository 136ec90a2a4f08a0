/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of the cores: name, cost, and the registers it reads. Those of ARMv6-M are here,
 * in the order of the encoding tables of its Architecture Reference Manual, chapter A5; decode.c
 * and execute.c follow it. ARMv8-M Mainline has all of them and those of instructions_v8m.h. An
 * instruction has several operations where the decoder can take a decision out of the way of the
 * common case (a shift by 0, a register list with the pc, a destination that is SP or PC).
 *
 * The cost is a name: CYCLES_<cost> in cycles.h for the Cortex-M0+, COST_<cost> in cycles_v8m.h
 * for the Cortex-M33. What is read (D, N, M, A: R[d] or R[t], R[n], R[m], R[a]; LIST: those of the
 * register list) matters to the load-use rule of the latter. */
#ifndef INSTRUCTIONS_H
#define INSTRUCTIONS_H
#include "instructions_v8m.h"

#define FOR_EACH_OPERATION(X)                                                                     \
    X(DECODE, FREE, NOTHING)     /* entry 0 of a table of zeros: decode, then do it again */       \
    /* A5.2.1 shift (immediate), add, subtract, move, and compare */                               \
    X(MOVS_REG, SHIFT, M)        /* MOV (register) T2 = LSL #0 */                                  \
    X(LSLS_IMM, SHIFT, M) X(LSRS_IMM, SHIFT, M) X(ASRS_IMM, SHIFT, M)                              \
    X(ADDS_REG, ALU, NM) X(SUBS_REG, ALU, NM)                                                      \
    X(ADDS_IMM, ALU, N) X(SUBS_IMM, ALU, N)           /* T1 and T2 */                              \
    X(MOVS_IMM, ALU, NOTHING) X(CMP_IMM, ALU, N)                                                   \
    /* A5.2.2 data processing */                                                                   \
    X(ANDS, ALU, NM) X(EORS, ALU, NM) X(LSLS_REG, SHIFT, NM) X(LSRS_REG, SHIFT, NM)                \
    X(ASRS_REG, SHIFT, NM) X(ADCS, ALU, NM) X(SBCS, ALU, NM) X(RORS, SHIFT, NM)                    \
    X(TST, ALU, NM) X(RSBS, ALU, M) X(CMP_REG, ALU, NM) X(CMN, ALU, NM)                            \
    X(ORRS, ALU, NM) X(MULS, MUL, NM) X(BICS, ALU, NM) X(MVNS, ALU, M)                             \
    /* A5.2.3 special data instructions and branch and exchange */                                 \
    X(ADD_HIGH, ALU, NM) X(ADD_SP, ALU, NM) X(ADD_PC, PC_WRITE, M)                                 \
    X(MOV_HIGH, ALU, M) X(MOV_SP, ALU, M) X(MOV_PC, PC_WRITE, M)                                   \
    X(BX, BX, M) X(BLX, BX, M)                                                                     \
    /* A5.1 load from literal pool; A5.2.4 load/store single data item */                          \
    X(LDR_LITERAL, LOAD, NOTHING)                                                                  \
    X(STR_REG, STORE, DNM) X(STRH_REG, STORE, DNM) X(STRB_REG, STORE, DNM)                         \
    X(LDRSB_REG, LOAD, NM) X(LDR_REG, LOAD, NM) X(LDRH_REG, LOAD, NM)                              \
    X(LDRB_REG, LOAD, NM) X(LDRSH_REG, LOAD, NM)                                                   \
    X(STR_IMM, STORE, DN) X(LDR_IMM, LOAD, N) X(STRB_IMM, STORE, DN)                               \
    X(LDRB_IMM, LOAD, N) X(STRH_IMM, STORE, DN) X(LDRH_IMM, LOAD, N)                               \
    /* A5.1 generate PC- and SP-relative address; A5.2.5 miscellaneous 16-bit instructions */      \
    X(ADR, ALU, NOTHING) X(ADD_SP_IMM, ALU, NOTHING) X(ADJUST_SP, ALU, NOTHING)                    \
    X(SXTH, EXTEND, M) X(SXTB, EXTEND, M) X(UXTH, EXTEND, M) X(UXTB, EXTEND, M)                    \
    X(PUSH, MULTIPLE, LIST) X(CPS, CPS, NOTHING)                                                   \
    X(REV, EXTEND, M) X(REV16, EXTEND, M) X(REVSH, EXTEND, M)                                      \
    X(POP, MULTIPLE, NOTHING) X(POP_PC, POP_PC, NOTHING) X(BKPT, TRAP, NOTHING)                    \
    X(NOP, HINT, NOTHING) X(WFE, WAIT, NOTHING) X(WFI, WAIT, NOTHING) X(SEV, HINT, NOTHING)        \
    /* A5.1 store and load multiple */                                                             \
    X(STM, MULTIPLE, LIST_N) X(LDM, MULTIPLE, N)                                                   \
    /* A5.2.6 conditional branch, and supervisor call; A5.1 unconditional branch */                \
    X(BEQ, CONDITION, NOTHING) X(BNE, CONDITION, NOTHING) X(BCS, CONDITION, NOTHING)               \
    X(BCC, CONDITION, NOTHING) X(BMI, CONDITION, NOTHING) X(BPL, CONDITION, NOTHING)               \
    X(BVS, CONDITION, NOTHING) X(BVC, CONDITION, NOTHING) X(BHI, CONDITION, NOTHING)               \
    X(BLS, CONDITION, NOTHING) X(BGE, CONDITION, NOTHING) X(BLT, CONDITION, NOTHING)               \
    X(BGT, CONDITION, NOTHING) X(BLE, CONDITION, NOTHING)                                          \
    X(SVC, TRAP, NOTHING) X(B, B, NOTHING) X(B_SELF, B, NOTHING)                                   \
    /* A5.3 32-bit instructions: branch and miscellaneous control */                               \
    X(BL, BL, NOTHING) X(MSR, SPECIAL, N) X(MRS, SPECIAL, NOTHING) X(BARRIER, BARRIER, NOTHING)    \
    /* no instruction: undefined, or UNPREDICTABLE by the manual */                                \
    X(UNDEFINED, TRAP, NOTHING) X(UNPREDICTABLE, TRAP, NOTHING)                                    \
    /* stops before the instruction: a comparator of the breakpoint unit; behind a copied entry */ \
    X(BREAKPOINT, FREE, NOTHING) X(STEP_END, FREE, NOTHING)

enum operation {
#define X(name, cost, reads) OP_##name,
    FOR_EACH_OPERATION(X)
    FOR_EACH_V8M_OPERATION(X)
#undef X
    OPERATIONS
};
#endif
