/* SPDX-License-Identifier: Apache-2.0 */
/* What the decoders of both architectures share. */
#ifndef DECODE_H
#define DECODE_H
#include "core.h"

static inline uint32_t bits(uint32_t value, int high, int low)
{
    return value >> low & ((2u << (high - low)) - 1);
}

static inline int32_t sign_extend(uint32_t value, int width)
{
    return (int32_t)(value << (32 - width)) >> (32 - width);
}

/* Distance from the instruction to a word-aligned pc plus `offset`: Align(PC, 4) + offset - pc. */
static inline int32_t from_aligned_pc(uint32_t pc, uint32_t offset)
{
    return (int32_t)(((pc + 4) & ~3u) - pc + offset);
}

/* decode.c: the 16-bit instructions of ARMv6-M, all of which ARMv8-M has too */
enum operation decode_16_bit(uint32_t pc, uint16_t i, decoded *d);
#endif
