/* SPDX-License-Identifier: Apache-2.0 */
/* The machinery under execute.c: shifts and additions of the pseudocode, fetching, and the
 * macros that move from one instruction to the next and reach memory. They use the local
 * variables of execute(). */
#ifndef THREADED_H
#define THREADED_H
#include "core.h"
#include "profile.h"
#include "witness.h"
#include "xip.h"
#include <string.h>

#define unlikely(condition) __builtin_expect(!!(condition), 0)

/* Inside base .. base + bytes and aligned to its own size, in one comparison: rotating a
   misaligned offset moves its low bits to the top. `bytes` and sizeof(type) are powers of two
   or multiples. */
#define IS_IN(type, offset, bytes) \
    (rotate_right((offset), sizeof(type) == 4 ? 2 : sizeof(type) == 2) < (bytes) / sizeof(type))

static inline uint32_t rotate_right(uint32_t value, uint32_t by)
{
    return value >> by | value << (-by & 31);
}

/* ---- A2.2.1: AddWithCarry(); shifts by 0..255, where 0 leaves the carry as it is ---- */

static inline uint32_t add_with_carry(uint32_t x, uint32_t y, uint32_t carry_in, uint32_t *carry,
                                      uint32_t *overflow)
{
    const uint64_t sum = (uint64_t)x + y + carry_in;
    const uint32_t result = (uint32_t)sum;

    *carry = (uint32_t)(sum >> 32);
    *overflow = (~(x ^ y) & (x ^ result)) >> 31;
    return result;
}

static inline uint32_t lsl_c(uint32_t x, uint32_t amount, uint32_t *carry)
{
    if (amount == 0)
        return x;
    *carry = amount <= 32 ? x >> (32 - amount) & 1 : 0;
    return amount < 32 ? x << amount : 0;
}

static inline uint32_t lsr_c(uint32_t x, uint32_t amount, uint32_t *carry)
{
    if (amount == 0)
        return x;
    *carry = amount <= 32 ? x >> (amount - 1) & 1 : 0;
    return amount < 32 ? x >> amount : 0;
}

static inline uint32_t asr_c(uint32_t x, uint32_t amount, uint32_t *carry)
{
    if (amount == 0)
        return x;
    if (amount > 31) {
        *carry = x >> 31;
        return (uint32_t)((int32_t)x >> 31);
    }
    *carry = x >> (amount - 1) & 1;
    return (uint32_t)((int32_t)x >> amount);
}

static inline uint32_t ror_c(uint32_t x, uint32_t amount, uint32_t *carry)
{
    if (amount == 0)
        return x;
    x = rotate_right(x, amount & 31);
    *carry = x >> 31;
    return x;
}

/* ---- fetching ---- */

/* XIP wait cycles before the instruction at pc can be fetched; none within the current line. */
static inline uint32_t fetch_wait(machine *m, uint32_t pc)
{
    const uint32_t line = pc >> XIP_LINE_SHIFT;

    if (line == m->fetch_line)
        return 0;
    m->fetch_line = line;
    return pc >> 24 == XIP_BASE >> 24 ? xip_access(m, pc) : xip_window_access(m, pc);
}

/* The cycle from which a branch has to look up: an event, the end of the run, or at once. */
static inline uint64_t event_limit(const machine *m)
{
    if (m->stop || m->step || m->sleeping)
        return 0;
    return m->next_event < m->until ? m->next_event : m->until;
}

/* ---- the machine's state in local variables, and back ---- */

#define PUBLISH() (r[PC] = pc, m->cycles = cycles, m->instructions = instructions)
#define SAVE() (PUBLISH(), m->n = n, m->z = z, m->c = c, m->v = v)
#define LOAD_TIME() (cycles = m->cycles, limit = event_limit(m))
#define LOAD()                                                         \
    (LOAD_TIME(), pc = r[PC], instructions = m->instructions,          \
     n = m->n, z = m->z, c = m->c, v = m->v)

/* ---- flow ---- */

#define DISPATCH()                                                     \
    do {                                                               \
        PROFILE_AT();                                                  \
        instructions++;                                                \
        cycles += i->cycles;                                           \
        goto *((const char *)&&op_DECODE + i->handler);                \
    } while (0)

#define NEXT()                                                         \
    do {                                                               \
        pc += 2;                                                       \
        i++;                                                           \
        if (unlikely(pc >= line_end))                                  \
            goto next_line;                                            \
        DISPATCH();                                                    \
    } while (0)

#define BRANCH_TO(address)                                             \
    do {                                                               \
        pc = (address);                                                \
        WITNESS_BRANCH();                                              \
        PROFILE_BRANCH();                                              \
        goto jump;                                                     \
    } while (0)

#define BRANCH_IF(condition)                                           \
    do {                                                               \
        if (condition) {                                               \
            cycles += taken;                                    \
            BRANCH_TO(pc + (uint32_t)i->imm);                          \
        }                                                              \
        NEXT();                                                        \
    } while (0)

#define FAULT(cause, address)                                          \
    do {                                                               \
        m->fault_cause = (cause);                                      \
        m->fault_address = (address);                                  \
        goto fault;                                                    \
    } while (0)

/* A 32-bit instruction that straddles a line needs the next one too. */
#define FETCH_SECOND_HALFWORD()                                        \
    do {                                                               \
        if (unlikely(pc + 2 >= line_end)) {                            \
            cycles += fetch_wait(m, pc + 2);                           \
            line_end += XIP_LINE_BYTES;                                \
        }                                                              \
    } while (0)

/* ---- operands ---- */

#define RD r[i->rd]
#define RN r[i->rn]
#define RM r[i->rm]
#define IMM ((uint32_t)i->imm)

/* N and Z of a result: `n` keeps its bit 31, `z` is zero when it is. */
#define SET_NZ(result) (n = z = (result))
#define RESULT(result) do { SET_NZ(RD = (result)); NEXT(); } while (0)

/* Memory: SRAM and the XIP window in line; whatever else there is, and every misaligned or
   unanswered address, in bus.c. `type` signed: the value is sign-extended. sio_saves: cycles
   that the single-cycle I/O port is faster than the bus. A failed access leaves the destination
   alone. */
#define LOAD_FROM(type, address, destination, sio_saves)               \
    do {                                                               \
        const uint32_t address_ = (address);                           \
        type value_;                                                   \
        if (IS_IN(type, address_ - SRAM_BASE, sram_bytes)) {           \
            memcpy(&value_, sram + (address_ - SRAM_BASE), sizeof value_); \
            WITNESS_LOAD(type, address_ - SRAM_BASE);                  \
        } else if (IS_IN(type, address_ - XIP_BASE, flash_bytes)) {    \
            memcpy(&value_, flash + (address_ - XIP_BASE), sizeof value_); \
            cycles += xip_access(m, address_);                         \
        } else {                                                       \
            uint32_t word_;                                            \
            PUBLISH();                                                 \
            if (!core_read(m, address_, sizeof(type), &word_))         \
                goto fault;                                            \
            LOAD_TIME();                                               \
            cycles -= is_sio(address_) ? (sio_saves) : 0;              \
            value_ = (type)word_;                                      \
        }                                                              \
        destination = (uint32_t)value_;                                \
    } while (0)

#define STORE_TO(type, address, value, sio_saves)                      \
    do {                                                               \
        const uint32_t address_ = (address), offset_ = address_ - SRAM_BASE; \
        const type value_ = (type)(value);                             \
        WITNESS_WATCH(type, address_);                                 \
        if (IS_IN(type, offset_, sram_bytes)) {                        \
            memcpy(sram + offset_, &value_, sizeof value_);            \
            WITNESS_STORE(type, offset_);                              \
            if (unlikely(sram_has_code[offset_ >> 8]))                 \
                forget_code(m, offset_);                               \
        } else {                                                       \
            PUBLISH();                                                 \
            if (!core_write(m, address_, sizeof(type), value_))        \
                goto fault;                                            \
            LOAD_TIME();                                               \
            cycles -= is_sio(address_) ? (sio_saves) : 0;              \
        }                                                              \
    } while (0)

/* LDR and STR in all sizes, and a word of a register list */
#define LDR(type, address, destination) LOAD_FROM(type, address, destination, sio_saves)
#define STR(type, address, value) STORE_TO(type, address, value, sio_saves)
#define LOAD_WORD(address, destination) LOAD_FROM(uint32_t, address, destination, 0)
#define STORE_WORD(address, value) STORE_TO(uint32_t, address, value, 0)

/* Registers of a list from the lowest number at the lowest address, A6.7 LDM, STM, PUSH, POP */
#define FOR_EACH_REGISTER(k, list)                                     \
    for (uint32_t rest_ = (list), k;                                   \
         rest_ && (k = (uint32_t)__builtin_ctz(rest_), 1);             \
         rest_ &= rest_ - 1)
#endif
