/* SPDX-License-Identifier: Apache-2.0 */
/* Requantisation of x by m * 2^(shift - 31), without branches, so that its cycles do not depend on
 * data, and without 64-bit or float helpers, which would be called in flash. m is over INT32_MIN,
 * shift -31 to 30. double and single are TFLite's MultiplyByQuantizedMultiplier, truncate is
 * TinyEngine's.
 *
 * double: RoundingDivideByPOT(SaturatingRoundingDoublingHighMul(x << max(shift, 0), m),
 *         max(-shift, 0))
 * single: (x * m + 2^(30 - shift)) >> (31 - shift) in 64 bits, of which the low 32 are kept
 * truncate: (int32_t)((float)x * (float)(m * 2^(shift - 31))), saturating */
#ifndef KERNELS_REQUANTIZE_H
#define KERNELS_REQUANTIZE_H

#include <stdint.h>

#include "port/placement.h"
#include "ripbench_schema.h"

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

/* An int32 as float32, to nearest, ties to even: +-bits * 2^(8 - zeros), bits with 24 digits, zeros
 * 0 to 31. 0 has bits 0 and zeros 31. */
struct rounded {
    uint32_t bits;
    int32_t zeros;
};

/* Shifts left by `step` if as many leading digits are 0. */
ALWAYS_INLINE void shift_out_zeros(struct rounded *value, uint32_t step)
{
    const uint32_t none = ((value->bits >> (32 - step)) - 1) >> 31;
    value->bits <<= none * step;
    value->zeros += (int32_t)(none * step);
}

ALWAYS_INLINE struct rounded float_of(int32_t x)
{
    const uint32_t sign = (uint32_t)(x >> 31);
    struct rounded value = {.bits = ((uint32_t)x ^ sign) - sign};
    shift_out_zeros(&value, 16);
    shift_out_zeros(&value, 8);
    shift_out_zeros(&value, 4);
    shift_out_zeros(&value, 2);
    shift_out_zeros(&value, 1);
    const uint32_t whole = value.bits >> 8;
    const uint32_t up = ((value.bits & 0xff) + 0x7f + (whole & 1)) >> 8;
    const uint32_t carry = (whole + up) >> 24;
    return (struct rounded){(whole + up) >> carry, value.zeros - (int32_t)carry};
}

/* The product of two float32, cut to an integer, exactly as floats do it. Its exponent needs no
 * care: the factors' are 0 to 31 and -62 to 30, so that a product that is not 0 lies between 2^-62
 * and 2^61, far within float32's normal numbers. */
ALWAYS_INLINE int32_t requantize_truncate(int32_t x, int32_t multiplier, int32_t shift)
{
    const struct rounded a = float_of(x);
    const struct rounded b = float_of(multiplier);
    /* 47 or 48 digits, the lowest 16 of them apart; then 48, the first of 32 being set */
    const uint32_t a_low = a.bits & 0xffff;
    const uint32_t b_low = b.bits & 0xffff;
    const uint32_t a_high = a.bits >> 16;
    const uint32_t b_high = b.bits >> 16;
    const uint32_t low_low = a_low * b_low;
    const uint32_t high =
        (a_high * b_high << 16) + a_high * b_low + a_low * b_high + (low_low >> 16);
    const uint32_t unset = 1 - (high >> 31);
    const uint32_t low = (low_low & 0xffff) << unset;
    const uint32_t upper = high << unset | low >> 16;
    /* to nearest even: 24 digits stay, 8 of upper and 16 of low go */
    const uint32_t whole = upper >> 8;
    const uint32_t rest = (upper & 0xff) << 16 | (low & 0xffff);
    const uint32_t product = whole + ((rest + 0x7fffff + (whole & 1)) >> 24);
    /* The result is product * 2^(7 - right), product 2^23 to 2^24: with right below 0 it is 2^31 or
     * more, and with right over 31 below 1. If a factor is 0, right is not below 0. */
    const int32_t right = a.zeros + b.zeros + (int32_t)unset - shift - 2;
    const uint32_t over = (uint32_t)(right >> 31);
    const uint32_t fits = (uint32_t)((right - 32) >> 31);
    const uint32_t cut = (product << 7 >> (right & 31) & fits) | over;
    const uint32_t sign = (uint32_t)((x ^ multiplier) >> 31);
    const uint32_t most = 0x7fffffff - sign;  /* the choice is made as in output_stage */
    return (int32_t)(((cut < most ? cut : most) ^ sign) - sign);
}

/* double or single: a choice at run time, unless `rounding` is a constant. truncate is left to the
 * one kernel that has it, since all others would carry its code. */
ALWAYS_INLINE int32_t requantize(enum rounding rounding, int32_t x, int32_t multiplier,
                                 int32_t shift)
{
    return rounding == ROUNDING_SINGLE ? requantize_single(x, multiplier, shift)
                                       : requantize_double(x, multiplier, shift);
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
