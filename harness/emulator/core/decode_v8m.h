/* SPDX-License-Identifier: Apache-2.0 */
/* What the two decoder files of ARMv8-M and its handlers share: the meaning of the fields of
 * `decoded` that ARMv6-M does not use. */
#ifndef DECODE_V8M_H
#define DECODE_V8M_H
#include "decode.h"

/* decoded.shift of a shifted register; amounts of LSR and ASR are 1 to 32 */
enum { SHIFT_LSL, SHIFT_LSR, SHIFT_ASR, SHIFT_ROR, SHIFT_RRX };

/* decoded.amount of a modified immediate: the carry that a logical instruction leaves, 0, 1 or */
enum { CARRY_STAYS = 2 };

/* decoded.form: what the flow has to know of an instruction, and variants of some */
enum {
    FORM_WIDE = 1 << 0,                /* 32 bits */
    FORM_QUIET = 1 << 1,               /* leaves the flags alone inside an IT block */
    FORM_NOT_IN_IT = 1 << 2,           /* UNPREDICTABLE in an IT block */
    FORM_LAST_IN_IT = 1 << 3,          /* the same but as its last instruction */
    FORM_UNCONDITIONAL = 1 << 4,       /* happens in an IT block whatever the condition */
    FORM_BEFORE = 1 << 5,              /* address: the index counts for this access (else after) */
    FORM_WRITE_BACK = 1 << 6,
    FORM_SETS_FLAGS = 1 << 7           /* SP_FLAGS_W */
};

static inline bool is_sp_or_pc(uint32_t n) { return n == SP || n == PC; }

/* decode_v8m.c: the second halfword only counts for a 32-bit instruction */
enum operation decode_v8m(uint32_t pc, const uint16_t halfwords[2], decoded *d);

/* timing_v8m.c: cycles of a decoded instruction at pc; next: the halfwords behind it */
uint8_t v8m_cycles(enum m33_timing timing, uint32_t pc, enum operation operation, const decoded *d,
                   const uint16_t next[2]);

/* decode_v8m_data.c: by the first halfword's leading bits, see there */
enum operation decode_shifted_register(uint32_t i, uint32_t j, decoded *d);
enum operation decode_modified_immediate(uint32_t i, uint32_t j, decoded *d);
enum operation decode_plain_immediate(uint32_t pc, uint32_t i, uint32_t j, decoded *d);
enum operation decode_data_register(uint32_t i, uint32_t j, decoded *d);
enum operation decode_multiply(uint32_t i, uint32_t j, decoded *d);
enum operation decode_long_multiply(uint32_t i, uint32_t j, decoded *d);

/* decode_v8m_memory.c */
enum operation decode_multiple(uint32_t i, uint32_t j, decoded *d);
enum operation decode_dual(uint32_t pc, uint32_t i, uint32_t j, decoded *d);
enum operation decode_single(uint32_t pc, uint32_t i, uint32_t j, decoded *d);
#endif
