/* SPDX-License-Identifier: Apache-2.0 */
/* The operations that ARMv8-M Mainline with the DSP extension adds (see instructions.h), in the
 * order of the encoding tables of the Armv8-M Architecture Reference Manual, chapter C2.3;
 * decode_v8m.c, decode_v8m_data.c, thumb32_data.h, thumb32_memory.h and execute_v8m.c follow it.
 * _W: the 32-bit encoding of an instruction that also has a 16-bit one, or one of its forms. */
#ifndef INSTRUCTIONS_V8M_H
#define INSTRUCTIONS_V8M_H

/* Forms of one data-processing instruction, in the order of enum data_form: immediate, the same
   with flags, register shifted left, register with any shift, the same with flags. */
#define FOR_EACH_DATA_FORM(X, name, reads_imm, reads_reg)                                         \
    X(name##_IMM_W, ALU, reads_imm) X(name##S_IMM_W, ALU, reads_imm)                               \
    X(name##_LSL_W, ALU, reads_reg) X(name##_REG_W, ALU, reads_reg) X(name##S_REG_W, ALU, reads_reg)
enum data_form { FORM_IMM, FORM_IMM_FLAGS, FORM_LSL, FORM_REG, FORM_REG_FLAGS };

/* Forms of a load or store, in the order of enum address_form: [Rn, #imm], the same with write-back
   before or after, [Rn, Rm, LSL #n]. */
#define FOR_EACH_LOAD_FORM(X, name)                                                               \
    X(name##_IMM_W, LOAD, N) X(name##_INDEX_W, LOAD, N) X(name##_REG_W, LOAD, NM)                  \
    X(name##_LITERAL_W, LOAD, NOTHING)
#define FOR_EACH_STORE_FORM(X, name)                                                              \
    X(name##_IMM_W, STORE, DN) X(name##_INDEX_W, STORE, DN) X(name##_REG_W, STORE, DNM)
enum address_form { ADDRESS_IMM, ADDRESS_INDEX, ADDRESS_REG, ADDRESS_LITERAL };

#define FOR_EACH_V8M_OPERATION(X)                                                                 \
    /* C2.2 16-bit instructions */                                                                 \
    X(IT, IT, NOTHING) X(CBZ, CONDITION, N) X(CBNZ, CONDITION, N) X(BXNS, BX, M) X(BLXNS, BX, M)   \
    /* C2.3.1 load/store multiple */                                                               \
    X(LDM_W, MULTIPLE, N) X(LDM_PC_W, POP_PC, N) X(STM_W, MULTIPLE, LIST_N)                        \
    /* C2.3.2 load/store dual, exclusive, acquire-release; table branch; SG, TT */                 \
    X(LDRD_IMM, DUAL, N) X(LDRD_INDEX, DUAL, N) X(LDRD_LITERAL, DUAL, NOTHING)                     \
    X(STRD_IMM, DUAL, DNA) X(STRD_INDEX, DUAL, DNA)                                                \
    X(LOAD_ACQUIRE, EXCLUSIVE, N) X(LOAD_EXCLUSIVE, EXCLUSIVE, N)                                  \
    X(STORE_RELEASE, EXCLUSIVE, DN) X(STORE_EXCLUSIVE, EXCLUSIVE, DN)                              \
    X(TBB, TABLE, NM) X(TBH, TABLE, NM) X(TT, SPECIAL, N) X(SG, HINT, NOTHING)                     \
    /* C2.3.3 data processing: shifted register, modified immediate, plain immediate */            \
    FOR_EACH_DATA_FORM(X, AND, N, NM) FOR_EACH_DATA_FORM(X, BIC, N, NM)                            \
    FOR_EACH_DATA_FORM(X, ORR, N, NM) FOR_EACH_DATA_FORM(X, ORN, N, NM)                            \
    FOR_EACH_DATA_FORM(X, EOR, N, NM) FOR_EACH_DATA_FORM(X, MOV, NOTHING, M)                       \
    FOR_EACH_DATA_FORM(X, MVN, NOTHING, M) FOR_EACH_DATA_FORM(X, ADD, N, NM)                       \
    FOR_EACH_DATA_FORM(X, ADC, N, NM) FOR_EACH_DATA_FORM(X, SBC, N, NM)                            \
    FOR_EACH_DATA_FORM(X, SUB, N, NM) FOR_EACH_DATA_FORM(X, RSB, N, NM)                            \
    X(TST_IMM_W, ALU, N) X(TST_REG_W, ALU, NM) X(TEQ_IMM_W, ALU, N) X(TEQ_REG_W, ALU, NM)          \
    X(CMN_IMM_W, ALU, N) X(CMN_REG_W, ALU, NM) X(CMP_IMM_W, ALU, N) X(CMP_REG_W, ALU, NM)          \
    X(SP_IMM_W, ALU, NOTHING) X(SP_FLAGS_W, ALU, M) X(MOV_SP_W, ALU, M) X(ADR_W, ALU, NOTHING)     \
    X(PKHBT, ALU, NM) X(PKHTB, ALU, NM) X(MOVT, ALU, D)                                            \
    X(SSAT, ALU, N) X(SSAT16, ALU, N) X(USAT, ALU, N) X(USAT16, ALU, N)                            \
    X(SBFX, ALU, N) X(UBFX, ALU, N) X(BFI, ALU, DN) X(BFC, ALU, D)                                 \
    /* C2.3.4 branches and miscellaneous control */                                                \
    X(BEQ_W, CONDITION, NOTHING) X(BNE_W, CONDITION, NOTHING) X(BCS_W, CONDITION, NOTHING)         \
    X(BCC_W, CONDITION, NOTHING) X(BMI_W, CONDITION, NOTHING) X(BPL_W, CONDITION, NOTHING)         \
    X(BVS_W, CONDITION, NOTHING) X(BVC_W, CONDITION, NOTHING) X(BHI_W, CONDITION, NOTHING)         \
    X(BLS_W, CONDITION, NOTHING) X(BGE_W, CONDITION, NOTHING) X(BLT_W, CONDITION, NOTHING)         \
    X(BGT_W, CONDITION, NOTHING) X(BLE_W, CONDITION, NOTHING) X(B_W, B, NOTHING)                   \
    X(NOP_W, HINT, NOTHING) X(WFE_W, WAIT, NOTHING) X(WFI_W, WAIT, NOTHING) X(SEV_W, HINT, NOTHING)\
    X(CLREX, HINT, NOTHING)                                                                        \
    /* C2.3.5 load/store single; with SP or PC as destination all forms are one operation */       \
    FOR_EACH_LOAD_FORM(X, LDR) FOR_EACH_LOAD_FORM(X, LDRH) FOR_EACH_LOAD_FORM(X, LDRB)             \
    FOR_EACH_LOAD_FORM(X, LDRSH) FOR_EACH_LOAD_FORM(X, LDRSB)                                      \
    FOR_EACH_STORE_FORM(X, STR) FOR_EACH_STORE_FORM(X, STRH) FOR_EACH_STORE_FORM(X, STRB)          \
    X(LDR_PC_W, LOAD_PC, NM) X(LDR_SP_W, LOAD, NM)                                                 \
    /* C2.3.6 data processing (register) */                                                        \
    X(LSL_W, SHIFT, NM) X(LSLS_W, SHIFT, NM) X(LSR_W, SHIFT, NM) X(LSRS_W, SHIFT, NM)              \
    X(ASR_W, SHIFT, NM) X(ASRS_W, SHIFT, NM) X(ROR_W, SHIFT, NM) X(RORS_W, SHIFT, NM)              \
    X(SXTH_W, EXTEND, M) X(UXTH_W, EXTEND, M) X(SXTB16, EXTEND, M) X(UXTB16, EXTEND, M)            \
    X(SXTB_W, EXTEND, M) X(UXTB_W, EXTEND, M)                                                      \
    X(SXTAH, EXTEND, NM) X(UXTAH, EXTEND, NM) X(SXTAB16, EXTEND, NM) X(UXTAB16, EXTEND, NM)        \
    X(SXTAB, EXTEND, NM) X(UXTAB, EXTEND, NM)                                                      \
    X(PARALLEL, ALU, NM)         /* SADD16 to UHSUB8: all 36 */                                    \
    X(QADD, ALU, NM) X(QDADD, ALU, NM) X(QSUB, ALU, NM) X(QDSUB, ALU, NM)                          \
    X(REV_W, EXTEND, M) X(REV16_W, EXTEND, M) X(RBIT, EXTEND, M) X(REVSH_W, EXTEND, M)             \
    X(SEL, ALU, NM) X(CLZ, EXTEND, M)                                                              \
    /* C2.3.7 multiply, and absolute difference; C2.3.8 long multiply and divide */                \
    X(MUL_W, MUL, NM) X(MLA, MUL, NMA) X(MLS, MUL, NMA) X(SMLAXY, MUL, NMA) X(SMLAD, MUL, NMA)     \
    X(SMLADX, MUL, NMA) X(SMLAWY, MUL, NMA) X(SMLSD, MUL, NMA) X(SMMLA, MUL, NMA)                  \
    X(SMMLS, MUL, NMA) X(USADA8, MUL, NMA)                                                         \
    X(SMULL, MUL, NM) X(UMULL, MUL, NM) X(SMLAL, MUL, DNMA) X(UMLAL, MUL, DNMA)                    \
    X(UMAAL, MUL, DNMA) X(SMLALXY, MUL, DNMA) X(SMLALD, MUL, DNMA) X(SMLSLD, MUL, DNMA)            \
    X(SDIV, DIVIDE, NM) X(UDIV, DIVIDE, NM)                                                        \
    /* C2.4 coprocessor 10 and 11 (the FPU, costs of its own), and the others */                   \
    X(FPU, FP, NOTHING) X(COPROCESSOR, COPROCESSOR, NOTHING)

/* What an operation reads; see instructions.h. */
enum reads {
    READS_NOTHING = 0, READS_N = 1, READS_M = 2, READS_D = 4, READS_A = 8, READS_LIST = 16,
    READS_NM = READS_N | READS_M, READS_DN = READS_D | READS_N, READS_DNM = READS_D | READS_NM,
    READS_DNA = READS_DN | READS_A, READS_NMA = READS_NM | READS_A,
    READS_DNMA = READS_DNM | READS_A, READS_LIST_N = READS_LIST | READS_N
};
#endif
