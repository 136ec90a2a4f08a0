/* SPDX-License-Identifier: Apache-2.0 */
/* What an instruction of the Cortex-M33 costs: the rules of cycles_v8m.h that the decoder can
 * apply. Two of them look at the next instruction, which is known: what loads a register and does
 * not branch goes on behind itself. */
#include "cycles_v8m.h"
#include "decode_v8m.h"

static const uint8_t cost_of[OPERATIONS] = {
#define X(name, cost, reads) [OP_##name] = COST_##cost,
    FOR_EACH_OPERATION(X)
    FOR_EACH_V8M_OPERATION(X)
#undef X
};

static const uint8_t reads_of[OPERATIONS] = {
#define X(name, cost, reads) [OP_##name] = READS_##reads,
    FOR_EACH_OPERATION(X)
    FOR_EACH_V8M_OPERATION(X)
#undef X
};

/* Registers that it reads, as a list. */
static uint32_t read_by(enum operation operation, const decoded *d)
{
    const uint32_t reads = reads_of[operation];

    return (reads & READS_N ? 1u << d->rn : 0) | (reads & READS_M ? 1u << d->rm : 0)
           | (reads & READS_D ? 1u << d->rd : 0) | (reads & READS_A ? 1u << d->ra : 0)
           | (reads & READS_LIST ? (uint32_t)d->imm : 0);
}

/* Instructions of the FPU by what they cost, Armv8-M ARM C2.4.1 to C2.4.5. */
static enum cost fpu_cost(uint32_t instruction)
{
    const uint32_t first = instruction >> 16, opcode = bits(first, 7, 4) & 0xb;
    const bool is_double = bits(instruction, 8, 8);

    if ((first & 0xffe0) == 0xec40)                        /* VMOV of two core registers */
        return COST_FP_TWO_CORE;
    if ((first & 0xff20) == 0xed00) {                      /* VLDR, VSTR */
        if (is_double)
            return COST_DUAL;
        return bits(first, 4, 4) ? COST_LOAD : COST_STORE;
    }
    if ((first & 0xfe00) == 0xec00)                        /* VLDM, VSTM */
        return COST_MULTIPLE;
    if ((first & 0xff00) != 0xee00 || bits(instruction, 4, 4))
        return COST_FP;
    if (opcode == 0x8 || ((first & 0xffbf) == 0xeeb1 && bits(instruction, 7, 6) == 3))
        return COST_FP_DIVIDE;
    return opcode <= 0x1 || opcode == 0x9 || opcode == 0xa ? COST_FP_FUSED : COST_FP;
}

static enum cost cost_class(enum operation operation, const decoded *d)
{
    return operation == OP_FPU ? fpu_cost((uint32_t)d->imm) : (enum cost)cost_of[operation];
}

/* Words of a register list; of the FPU the low byte of the instruction says how many. */
static uint32_t list_length(enum operation operation, const decoded *d)
{
    return operation == OP_FPU ? (uint32_t)d->imm & 0xff
                               : (uint32_t)__builtin_popcount((uint32_t)d->imm & 0xffff);
}

static bool is_memory(enum cost cost)
{
    return cost == COST_LOAD || cost == COST_STORE || cost == COST_DUAL || cost == COST_MULTIPLE;
}

/* Registers of the core that it loads, as a list, where the load-use rule applies. */
static uint32_t loaded_by(enum operation operation, enum cost cost, const decoded *d)
{
    const bool stores = reads_of[operation] & READS_D || operation == OP_FPU;

    if (stores || (cost != COST_LOAD && cost != COST_DUAL))
        return 0;
    return 1u << d->rd | (cost == COST_DUAL ? 1u << d->ra : 0);
}

uint8_t v8m_cycles(enum m33_timing timing, uint32_t pc, enum operation operation, const decoded *d,
                   const uint16_t next[2])
{
    const enum cost cost = cost_class(operation, d);
    uint32_t cycles = m33_cycles[cost][timing];

    if (cost == COST_MULTIPLE || cost == COST_POP_PC)
        cycles += list_length(operation, d);
    if (is_memory(cost)) {
        const uint32_t next_pc = pc + (d->form & FORM_WIDE ? 4 : 2);
        decoded following;
        const enum operation then = decode_v8m(next_pc, next, &following);

        if (timing == M33_OPTIMISTIC)
            cycles += (loaded_by(operation, cost, d) & read_by(then, &following)) != 0;
        else if (cost_class(then, &following) == COST_LOAD)
            cycles -= 1;                                   /* the saving of the load behind this */
    }
    return (uint8_t)cycles;
}
