/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that C has no word for, and words at any address. */
#ifndef KERNELS_M33_SIMD_H
#define KERNELS_M33_SIMD_H

#include <stdint.h>

#include "port/placement.h"

/* Of any object, at any address. */
typedef uint32_t __attribute__((may_alias, aligned(1))) any_word;
typedef int16_t __attribute__((may_alias)) half;

ALWAYS_INLINE uint32_t word_at(const void *from)
{
    return *(const any_word *)from;
}

/* The first `count` bytes of a word, 1 to 3, the others 0: nothing behind them is read. */
ALWAYS_INLINE uint32_t part_of_word(const int8_t *from, int32_t count)
{
    uint32_t word = (uint8_t)from[0];
    if (count > 1) {
        word |= (uint32_t)(uint8_t)from[1] << 8;
    }
    if (count > 2) {
        word |= (uint32_t)(uint8_t)from[2] << 16;
    }
    return word;
}

ALWAYS_INLINE void put_word(void *to, uint32_t word)
{
    *(any_word *)to = word;
}

/* 0 - each halfword. */
ALWAYS_INLINE uint32_t negated_halves(uint32_t halves)
{
    uint32_t result;
    __asm("ssub16 %0, %1, %2" : "=r"(result) : "r"(0), "r"(halves));
    return result;
}

/* Bytes 0 and 2 as signed halfwords, each plus a halfword of `to`. */
ALWAYS_INLINE uint32_t add_even_bytes(uint32_t to, uint32_t bytes)
{
    uint32_t result;
    __asm("sxtab16 %0, %1, %2" : "=r"(result) : "r"(to), "r"(bytes));
    return result;
}

/* Bytes 1 and 3. */
ALWAYS_INLINE uint32_t add_odd_bytes(uint32_t to, uint32_t bytes)
{
    uint32_t result;
    __asm("sxtab16 %0, %1, %2, ror #8" : "=r"(result) : "r"(to), "r"(bytes));
    return result;
}

ALWAYS_INLINE uint32_t bottoms(uint32_t first, uint32_t second)
{
    return (first & 0xffff) | second << 16;
}

ALWAYS_INLINE uint32_t tops(uint32_t first, uint32_t second)
{
    return first >> 16 | (second & 0xffff0000u);
}

/* Two equal halfwords. */
ALWAYS_INLINE uint32_t both_halves(int32_t value)
{
    return ((uint32_t)value & 0xffff) * 0x10001u;
}

/* Four equal bytes. */
ALWAYS_INLINE uint32_t all_bytes(int32_t value)
{
    return ((uint32_t)value & 0xff) * 0x1010101u;
}

#endif
