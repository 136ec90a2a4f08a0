/* SPDX-License-Identifier: Apache-2.0 */
/* TFLite's requantisation, MultiplyByQuantizedMultiplier(x, m, shift), without branches, so that
 * its cycles do not depend on data, and without 64-bit helpers, which would be called in flash.
 * m is over INT32_MIN, shift -31 to 30.
 *
 * double: RoundingDivideByPOT(SaturatingRoundingDoublingHighMul(x << max(shift, 0), m),
 *         max(-shift, 0))
 * single: (x * m + 2^(30 - shift)) >> (31 - shift) in 64 bits, of which the low 32 are kept */
#ifndef KERNELS_REQUANTIZE_H
#define KERNELS_REQUANTIZE_H

#include <stdint.h>

#include "port/placement.h"

/* SaturatingRoundingDoublingHighMul for m > INT32_MIN, where nothing can saturate. gemmlowp's
 * nudge, which depends on the sign, with its truncating division is floor((x * m + 2^30) /
 * 2^31). */
ALWAYS_INLINE int32_t doubling_high_mul(int32_t x, int32_t m)
{
    const uint32_t x_low = (uint32_t)x & 0xffff;
    const uint32_t m_low = (uint32_t)m & 0xffff;
    const int32_t x_high = x >> 16;
    const int32_t m_high = m >> 16;
    const uint32_t low_low = x_low * m_low;
    const int32_t low_high = (int32_t)x_low * m_high;
    const int32_t high_low = x_high * (int32_t)m_low;
    /* the upper 48 bits of x * m + 2^30, in units of 2^16 */
    const uint32_t middle = (low_low >> 16) + ((uint32_t)low_high & 0xffff) +
                            ((uint32_t)high_low & 0xffff) + (1u << 14);
    const uint32_t high = (uint32_t)(x_high * m_high) + (uint32_t)(low_high >> 16) +
                          (uint32_t)(high_low >> 16) + (middle >> 16);
    return (int32_t)(high << 1 | (middle >> 15 & 1));
}

/* RoundingDivideByPOT: x / 2^exponent to nearest, ties away from zero; exponent 0 to 31. */
ALWAYS_INLINE int32_t rounding_divide_by_pot(int32_t x, uint32_t exponent)
{
    const uint32_t mask = (1u << exponent) - 1;
    const uint32_t remainder = (uint32_t)x & mask;
    const uint32_t threshold = (mask >> 1) + ((uint32_t)x >> 31);
    const uint32_t up = (threshold - remainder) >> 31;      /* remainder > threshold */
    return (int32_t)((uint32_t)(x >> exponent) + up);
}

ALWAYS_INLINE int32_t requantize_double(int32_t x, int32_t multiplier, int32_t shift)
{
    const uint32_t right = (uint32_t)(-shift & shift >> 31);
    const uint32_t left = (uint32_t)(shift & ~(shift >> 31));
    const int32_t shifted = (int32_t)((uint32_t)x << left);   /* wraps, as TFLite's does */
    return rounding_divide_by_pot(doubling_high_mul(shifted, multiplier), right);
}

/* Halves of the 64-bit product. */
struct product {
    uint32_t high, low;
};

ALWAYS_INLINE struct product full_product(int32_t x, int32_t m)
{
    const uint32_t x_low = (uint32_t)x & 0xffff;
    const uint32_t m_low = (uint32_t)m & 0xffff;
    const int32_t x_high = x >> 16;
    const int32_t m_high = m >> 16;
    const uint32_t low_low = x_low * m_low;
    const int32_t low_high = (int32_t)x_low * m_high;
    const int32_t high_low = x_high * (int32_t)m_low;
    const uint32_t middle =
        (low_low >> 16) + ((uint32_t)low_high & 0xffff) + ((uint32_t)high_low & 0xffff);
    return (struct product){
        .high = (uint32_t)(x_high * m_high) + (uint32_t)(low_high >> 16) +
                (uint32_t)(high_low >> 16) + (middle >> 16),
        .low = middle << 16 | (low_low & 0xffff),
    };
}

/* Adding half and shifting is shifting and adding the last bit that was shifted out. */
ALWAYS_INLINE int32_t requantize_single(int32_t x, int32_t multiplier, int32_t shift)
{
    const uint32_t right = (uint32_t)(-shift & shift >> 31);
    const uint32_t left = (uint32_t)(shift & ~(shift >> 31));
    const struct product product = full_product(x, multiplier);
    const uint32_t upper = product.high << 1 | product.low >> 31;      /* x * m / 2^31 */
    const uint32_t lower = product.low & 0x7fffffff;                   /* and what remains */
    const uint32_t whole = upper << left | lower >> (31 - left);
    const uint32_t with_half = upper << (left + 1) | lower >> (30 - left);
    return (int32_t)((uint32_t)((int32_t)whole >> right) + (with_half >> right & 1));
}

/* Clamps to [low, high] and then adds the zero point, which cannot overflow; low and high are
 * the activation's less the zero point. Each choice compiles to a compare, a branch and a move:
 * two cycles after the compare, whether the branch is taken or not. */
ALWAYS_INLINE int32_t output_stage(int32_t x, int32_t zero_point, int32_t low, int32_t high)
{
    const int32_t raised = x < low ? low : x;
    return (raised > high ? high : raised) + zero_point;
}

#endif
