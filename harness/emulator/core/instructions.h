/* SPDX-License-Identifier: Apache-2.0 */
/* Every operation of the core with its base cycle count (cycles.h), in the order of the
 * encoding tables of the ARMv6-M Architecture Reference Manual, chapter A5; decode.c and
 * execute.c follow it. An instruction has several operations where the decoder can take a
 * decision out of the way of the common case (a shift by 0, a register list with the pc, a
 * destination that is SP or PC). */
#ifndef INSTRUCTIONS_H
#define INSTRUCTIONS_H
#include "cycles.h"

#define FOR_EACH_OPERATION(X)                                                                     \
    X(DECODE, 0)                 /* entry 0 of a table of zeros: decode, then do it again */       \
    /* A5.2.1 shift (immediate), add, subtract, move, and compare */                               \
    X(MOVS_REG, CYCLES_SHIFT)    /* MOV (register) T2 = LSL #0 */                                  \
    X(LSLS_IMM, CYCLES_SHIFT) X(LSRS_IMM, CYCLES_SHIFT) X(ASRS_IMM, CYCLES_SHIFT)                  \
    X(ADDS_REG, CYCLES_ALU) X(SUBS_REG, CYCLES_ALU)                                                \
    X(ADDS_IMM, CYCLES_ALU) X(SUBS_IMM, CYCLES_ALU)   /* T1 and T2 */                              \
    X(MOVS_IMM, CYCLES_ALU) X(CMP_IMM, CYCLES_ALU)                                                 \
    /* A5.2.2 data processing */                                                                   \
    X(ANDS, CYCLES_ALU) X(EORS, CYCLES_ALU) X(LSLS_REG, CYCLES_SHIFT) X(LSRS_REG, CYCLES_SHIFT)    \
    X(ASRS_REG, CYCLES_SHIFT) X(ADCS, CYCLES_ALU) X(SBCS, CYCLES_ALU) X(RORS, CYCLES_SHIFT)        \
    X(TST, CYCLES_ALU) X(RSBS, CYCLES_ALU) X(CMP_REG, CYCLES_ALU) X(CMN, CYCLES_ALU)               \
    X(ORRS, CYCLES_ALU) X(MULS, CYCLES_MUL) X(BICS, CYCLES_ALU) X(MVNS, CYCLES_ALU)                \
    /* A5.2.3 special data instructions and branch and exchange */                                 \
    X(ADD_HIGH, CYCLES_ALU) X(ADD_SP, CYCLES_ALU) X(ADD_PC, CYCLES_PC_WRITE)                       \
    X(MOV_HIGH, CYCLES_ALU) X(MOV_SP, CYCLES_ALU) X(MOV_PC, CYCLES_PC_WRITE)                       \
    X(BX, CYCLES_BX) X(BLX, CYCLES_BX)                                                             \
    /* A5.1 load from literal pool; A5.2.4 load/store single data item */                          \
    X(LDR_LITERAL, CYCLES_LOAD)                                                                    \
    X(STR_REG, CYCLES_STORE) X(STRH_REG, CYCLES_STORE) X(STRB_REG, CYCLES_STORE)                   \
    X(LDRSB_REG, CYCLES_LOAD) X(LDR_REG, CYCLES_LOAD) X(LDRH_REG, CYCLES_LOAD)                     \
    X(LDRB_REG, CYCLES_LOAD) X(LDRSH_REG, CYCLES_LOAD)                                             \
    X(STR_IMM, CYCLES_STORE) X(LDR_IMM, CYCLES_LOAD) X(STRB_IMM, CYCLES_STORE)                     \
    X(LDRB_IMM, CYCLES_LOAD) X(STRH_IMM, CYCLES_STORE) X(LDRH_IMM, CYCLES_LOAD)                    \
    /* A5.1 generate PC- and SP-relative address; A5.2.5 miscellaneous 16-bit instructions */      \
    X(ADR, CYCLES_ALU) X(ADD_SP_IMM, CYCLES_ALU) X(ADJUST_SP, CYCLES_ALU)                          \
    X(SXTH, CYCLES_EXTEND) X(SXTB, CYCLES_EXTEND) X(UXTH, CYCLES_EXTEND) X(UXTB, CYCLES_EXTEND)    \
    X(PUSH, CYCLES_MULTIPLE) X(CPS, CYCLES_CPS)                                                    \
    X(REV, CYCLES_EXTEND) X(REV16, CYCLES_EXTEND) X(REVSH, CYCLES_EXTEND)                          \
    X(POP, CYCLES_MULTIPLE) X(POP_PC, CYCLES_POP_PC) X(BKPT, CYCLES_TRAP)                          \
    X(NOP, CYCLES_HINT) X(WFE, CYCLES_WAIT) X(WFI, CYCLES_WAIT) X(SEV, CYCLES_HINT)                \
    /* A5.1 store and load multiple */                                                             \
    X(STM, CYCLES_MULTIPLE) X(LDM, CYCLES_MULTIPLE)                                                \
    /* A5.2.6 conditional branch, and supervisor call; A5.1 unconditional branch */                \
    X(BEQ, CYCLES_CONDITION) X(BNE, CYCLES_CONDITION) X(BCS, CYCLES_CONDITION)                     \
    X(BCC, CYCLES_CONDITION) X(BMI, CYCLES_CONDITION) X(BPL, CYCLES_CONDITION)                     \
    X(BVS, CYCLES_CONDITION) X(BVC, CYCLES_CONDITION) X(BHI, CYCLES_CONDITION)                     \
    X(BLS, CYCLES_CONDITION) X(BGE, CYCLES_CONDITION) X(BLT, CYCLES_CONDITION)                     \
    X(BGT, CYCLES_CONDITION) X(BLE, CYCLES_CONDITION)                                              \
    X(SVC, CYCLES_TRAP) X(B, CYCLES_B) X(B_SELF, CYCLES_B)                                         \
    /* A5.3 32-bit instructions: branch and miscellaneous control */                               \
    X(BL, CYCLES_BL) X(MSR, CYCLES_SPECIAL) X(MRS, CYCLES_SPECIAL) X(BARRIER, CYCLES_BARRIER)      \
    /* no instruction of ARMv6-M: undefined, or UNPREDICTABLE by the manual */                     \
    X(UNDEFINED, CYCLES_TRAP) X(UNPREDICTABLE, CYCLES_TRAP)                                        \
    /* stops before the instruction: a comparator of the breakpoint unit, the end of a step */     \
    X(BREAKPOINT, 0) X(STEP_END, 0)

enum operation {
#define X(name, cycles) OP_##name,
    FOR_EACH_OPERATION(X)
#undef X
    OPERATIONS
};
#endif
