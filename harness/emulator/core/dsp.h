/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic of the DSP extension, as in the pseudocode of the Armv8-M Architecture Reference
 * Manual: saturation (E2.1), halfwords of a register, and the parallel additions. `q` is APSR.Q: it
 * is set, never cleared. */
#ifndef DSP_H
#define DSP_H
#include <stdint.h>

/* SignedSatQ() and UnsignedSatQ() to `width` bits */
static inline uint32_t signed_saturate(int64_t value, uint32_t width, uint32_t *q)
{
    const int64_t highest = ((int64_t)1 << (width - 1)) - 1, lowest = -highest - 1;

    if (value > highest || value < lowest)
        *q = 1;
    return (uint32_t)(value > highest ? highest : value < lowest ? lowest : value);
}

static inline uint32_t unsigned_saturate(int64_t value, uint32_t width, uint32_t *q)
{
    const int64_t highest = ((int64_t)1 << width) - 1;

    if (value > highest || value < 0)
        *q = 1;
    return (uint32_t)(value > highest ? highest : value < 0 ? 0 : value);
}

/* A sum that sets Q where 32 bits cannot hold it, but is not saturated */
static inline uint32_t sum_q(int64_t sum, uint32_t *q)
{
    if (sum != (int32_t)sum)
        *q = 1;
    return (uint32_t)sum;
}

static inline int32_t half(uint32_t x, uint32_t top)
{
    return (int16_t)(top ? x >> 16 : x);
}

static inline uint32_t halves(uint32_t top, uint32_t bottom)
{
    return top << 16 | (bottom & 0xffff);
}

/* The two products of SMLAD, SMLALD (added) and SMLSD, SMLSLD (subtracted) */
static inline int64_t dual_sum(uint32_t x, uint32_t y)
{
    return (int64_t)half(x, 0) * half(y, 0) + (int64_t)half(x, 1) * half(y, 1);
}

static inline int64_t dual_difference(uint32_t x, uint32_t y)
{
    return (int64_t)half(x, 0) * half(y, 0) - (int64_t)half(x, 1) * half(y, 1);
}

static inline uint32_t sum_of_differences(uint32_t x, uint32_t y)
{
    uint32_t sum = 0;

    for (int k = 0; k < 32; k += 8) {
        const int32_t difference = (int32_t)(x >> k & 0xff) - (int32_t)(y >> k & 0xff);
        sum += (uint32_t)(difference < 0 ? -difference : difference);
    }
    return sum;
}

static inline uint32_t reverse_bits(uint32_t x)
{
    x = (x & 0x55555555) << 1 | (x >> 1 & 0x55555555);
    x = (x & 0x33333333) << 2 | (x >> 2 & 0x33333333);
    x = (x & 0x0f0f0f0f) << 4 | (x >> 4 & 0x0f0f0f0f);
    return __builtin_bswap32(x);
}

/* dsp.c. operation: bits 6:4 of the first halfword, variant: bits 6:4 of the second one (C2.3.6).
   `ge` (four bits) is written by the variants that do not saturate or halve. */
uint32_t parallel_add_subtract(uint32_t operation, uint32_t variant, uint32_t x, uint32_t y,
                               uint32_t *ge);
#endif
