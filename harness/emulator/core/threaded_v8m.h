/* SPDX-License-Identifier: Apache-2.0 */
/* The machinery under execute_v8m.c: what it adds to threaded.h, and what thumb16.h asks for. The
 * macros use the local variables of execute_v8m(). */
#ifndef THREADED_V8M_H
#define THREADED_V8M_H
#include "cycles_v8m.h"
#include "decode_v8m.h"
#include "threaded.h"

/* ---- C2.2.4 Shift_C() ---- */

static inline uint32_t shift_c(uint32_t x, uint32_t type, uint32_t amount, uint32_t *carry)
{
    uint32_t result;

    switch (type) {
    case SHIFT_LSL: return lsl_c(x, amount, carry);
    case SHIFT_LSR: return lsr_c(x, amount, carry);
    case SHIFT_ASR: return asr_c(x, amount, carry);
    case SHIFT_ROR: return ror_c(x, amount, carry);
    default:
        result = *carry << 31 | x >> 1;
        *carry = x & 1;
        return result;
    }
}

/* ---- IT blocks: bits 7:4 are the condition, 3:0 how many instructions are left ---- */

static inline uint32_t it_advance(uint32_t itstate)
{
    return itstate & 7 ? (itstate & 0xe0) | (itstate << 1 & 0x1f) : 0;
}

/* E2.1 ConditionHolds() */
static inline bool condition_holds(uint32_t condition, uint32_t n, uint32_t z, uint32_t c,
                                   uint32_t v)
{
    bool holds;

    switch (condition >> 1) {
    case 0: holds = z == 0; break;
    case 1: holds = c; break;
    case 2: holds = n >> 31; break;
    case 3: holds = v; break;
    case 4: holds = c && z != 0; break;
    case 5: holds = n >> 31 == v; break;
    case 6: holds = n >> 31 == v && z != 0; break;
    default: return true;
    }
    return holds != (condition & 1);
}

/* ---- the parts of handlers that are no macro ---- */

static inline uint32_t load_address(const decoded *i, const uint32_t *r, uint32_t pc)
{
    switch (i->shift) {
    case ADDRESS_REG: return RN + (RM << i->amount);
    case ADDRESS_LITERAL: return pc + IMM;
    case ADDRESS_INDEX: return i->form & FORM_BEFORE ? RN + IMM : RN;
    default: return RN + IMM;
    }
}

/* ---- what thumb16.h asks for, and macros of 32-bit instructions ---- */

#undef FAULT
#define FAULT(kind, address)                                           \
    do {                                                               \
        fault_kind = (kind);                                           \
        m->fault_address = (address);                                  \
        goto instruction_fault;                                        \
    } while (0)

/* A fault of where the flow goes, not of the instruction that sent it there. */
#define FLOW_FAULT(kind, address)                                      \
    do {                                                               \
        fault_kind = (kind);                                           \
        m->fault_address = (address);                                  \
        goto flow_fault;                                               \
    } while (0)

#define STACK_LIMIT(sp)                                                \
    do {                                                               \
        if (unlikely((sp) < stack_limit(m)))                           \
            FAULT(FAULT_STKOF, (sp));                                  \
    } while (0)

#define ALIGNED_TO(address, size)                                      \
    do {                                                               \
        if (unlikely((address) & ((size) - 1)))                        \
            FAULT(FAULT_UNALIGNED, (address));                         \
    } while (0)
#define WORDS_AT(address) ALIGNED_TO(address, 4)

#define RA r[i->ra]

#define NEXT_WIDE()                                                    \
    do {                                                               \
        pc += 4;                                                       \
        i += 2;                                                        \
        if (unlikely(pc >= line_end))                                  \
            goto next_line;                                            \
        DISPATCH();                                                    \
    } while (0)

#define RESULT_W(result) do { RD = (result); NEXT_WIDE(); } while (0)
#define RESULT_FLAGS_W(result) do { SET_NZ(RD = (result)); NEXT_WIDE(); } while (0)

#define BRANCH_IF_W(condition)                                         \
    do {                                                               \
        if (condition) {                                               \
            FETCH_SECOND_HALFWORD();                                   \
            cycles += taken;                                           \
            BRANCH_TO(pc + IMM);                                       \
        }                                                              \
        NEXT_WIDE();                                                   \
    } while (0)

/* Past an instruction that does not run in the threaded way. */
#define STEP_OVER(halfwords_)                                          \
    do {                                                               \
        pc += 2 * (halfwords_);                                        \
        i += (halfwords_);                                             \
        PROFILE_AT();                                                  \
        if (unlikely(pc >= line_end)) {                                \
            cycles += fetch_wait(m, line_end);                         \
            line_end += XIP_LINE_BYTES;                                \
        }                                                              \
    } while (0)
#endif
