/* SPDX-License-Identifier: Apache-2.0 */
/* fpu.h: conversions to and from integers, fixed point and half precision; rounding to integral. */
#include "fpu.h"

/* ---- integers and fixed point ---- */

/* The operand's magnitude with another exponent as an integer, rounded; saturated at 2^63, which is
   beyond every target. *inexact: whether there was anything to round. */
static uint64_t magnitude_of(struct fp_operand o, int exponent, enum fp_rounding rounding,
                             bool *inexact)
{
    uint64_t integer, rest;

    *inexact = false;
    if (o.class != FP_FINITE)
        return 0;
    if (exponent >= 0)
        return exponent > 0 ? 1ull << 63 : o.fraction;
    if (exponent > -64) {
        integer = o.fraction >> -exponent;
        rest = o.fraction << (64 + exponent);
    } else {
        integer = 0;
        rest = exponent == -64 ? o.fraction : 1;
    }
    *inexact = rest != 0;
    return integer + fp_rounds_up(o.negative, integer & 1, rest, rounding);
}

/* FPToFixed() */
uint32_t fp_to_fixed(uint32_t a, uint32_t bits, uint32_t fraction_bits, bool is_signed,
                     enum fp_rounding rounding, uint32_t *fpscr)
{
    const struct fp_operand o = fp_unpack(a, fpscr);
    const uint64_t largest = (1ull << (bits - is_signed)) - 1;
    const uint64_t limit = !o.negative ? largest : is_signed ? largest + 1 : 0;
    uint64_t magnitude;
    bool inexact;

    if (fp_is_nan(o)) {
        *fpscr |= FPSCR_IOC;
        return 0;
    }
    magnitude = magnitude_of(o, o.exponent + (int)fraction_bits, rounding, &inexact);
    if (o.class == FP_INFINITE || magnitude > limit) {
        *fpscr |= FPSCR_IOC;
        magnitude = limit;
    } else if (inexact) {
        *fpscr |= FPSCR_IXC;
    }
    return (uint32_t)(o.negative ? -magnitude : magnitude);
}

/* FixedToFP() */
uint32_t fp_from_fixed(uint32_t value, uint32_t bits, uint32_t fraction_bits, bool is_signed,
                       enum fp_rounding rounding, uint32_t *fpscr)
{
    const uint32_t unused = 32 - bits;
    const int64_t integer = is_signed ? (int32_t)(value << unused) >> unused
                                      : (int64_t)(value << unused >> unused);

    if (integer == 0)
        return 0;
    return fp_round(integer < 0, -(int)fraction_bits,
                    (uint64_t)(integer < 0 ? -integer : integer), rounding, fpscr);
}

/* FPRoundInt() */
uint32_t fp_round_to_integral(uint32_t a, enum fp_rounding rounding, bool exact, uint32_t *fpscr)
{
    const struct fp_operand o = fp_unpack(a, fpscr);
    uint64_t magnitude;
    bool inexact;

    if (fp_is_nan(o))
        return fp_nan(o, fpscr);
    if (o.class == FP_INFINITE || (o.class == FP_FINITE && o.exponent > 0))
        return a;
    magnitude = magnitude_of(o, o.exponent, rounding, &inexact);
    if (inexact && exact)
        *fpscr |= FPSCR_IXC;
    if (magnitude == 0)
        return fp_signed(o.negative, 0);
    return fp_round(o.negative, 0, magnitude, FP_ZERO, fpscr);         /* exact */
}

/* ---- half precision; FPSCR.AHP: the alternative format without infinities and NaNs ---- */

enum { HALF_SIGN = 0x8000, HALF_INFINITY = 0x7c00, HALF_DEFAULT_NAN = 0x7e00, HALF_FRACTION = 0x3ff,
       HALF_FRACTION_BITS = 10, HALF_BIAS = 15, HALF_SPECIAL = 0x1f, HALF_QUIET = 0x200,
       HALF_MIN_EXPONENT = -14, HALF_ALTERNATIVE_MAX = 0x7fff, HALF_LARGEST = 0x7bff };
enum { NAN_SHIFT = 13 };               /* from a half's fraction to a single's */

uint32_t fp_from_half(uint16_t half, uint32_t *fpscr)
{
    const bool negative = half & HALF_SIGN, alternative = *fpscr & FPSCR_AHP;
    const uint32_t biased = half >> HALF_FRACTION_BITS & HALF_SPECIAL;
    const uint32_t fraction = half & HALF_FRACTION;

    if (biased == HALF_SPECIAL && !alternative) {
        struct fp_operand nan = {
            .class = fraction & HALF_QUIET ? FP_QUIET_NAN : FP_SIGNALLING_NAN,
            .bits = fp_signed(negative, FP_INFINITY | fraction << NAN_SHIFT)
        };
        return fraction ? fp_nan(nan, fpscr) : fp_signed(negative, FP_INFINITY);
    }
    if (biased == 0 && fraction == 0)
        return fp_signed(negative, 0);
    return fp_round(negative, (biased ? (int)biased : 1) - HALF_BIAS - HALF_FRACTION_BITS,
                    biased ? fraction | (HALF_FRACTION + 1) : fraction, FP_TIE_EVEN, fpscr);
}

static uint16_t half_overflow(bool negative, bool alternative, enum fp_rounding rounding,
                              uint32_t *fpscr)
{
    const bool to_infinity = rounding == FP_TIE_EVEN || rounding == (negative ? FP_DOWN : FP_UP);

    if (alternative) {
        *fpscr |= FPSCR_IOC;
        return HALF_ALTERNATIVE_MAX;
    }
    *fpscr |= FPSCR_OFC | FPSCR_IXC;
    return to_infinity ? HALF_INFINITY : HALF_LARGEST;
}

/* As fp_round(); flush-to-zero does not apply to halves. */
static uint16_t round_to_half(struct fp_operand o, uint32_t *fpscr)
{
    const enum fp_rounding rounding = fp_rounding(*fpscr);
    const bool alternative = *fpscr & FPSCR_AHP;
    const int magnitude = o.exponent + 62;
    const bool tiny = magnitude < HALF_MIN_EXPONENT;
    const int dropped = 62 - HALF_FRACTION_BITS + (tiny ? HALF_MIN_EXPONENT - magnitude : 0);
    const uint64_t rest = dropped < 64 ? o.fraction << (64 - dropped)
                                       : dropped == 64 ? o.fraction : 1;
    uint32_t result = dropped < 64 ? (uint32_t)(o.fraction >> dropped) : 0;

    if (!tiny && magnitude > HALF_SPECIAL)                 /* beyond both formats */
        return half_overflow(o.negative, alternative, rounding, fpscr);
    if (!tiny)
        result += (uint32_t)(magnitude + HALF_BIAS - 1) << HALF_FRACTION_BITS;
    result += fp_rounds_up(o.negative, result & 1, rest, rounding);
    if (result > (alternative ? HALF_ALTERNATIVE_MAX : HALF_LARGEST))
        return half_overflow(o.negative, alternative, rounding, fpscr);
    if (rest)
        *fpscr |= FPSCR_IXC | (tiny ? FPSCR_UFC : 0);
    return (uint16_t)result;
}

uint16_t fp_to_half(uint32_t a, uint32_t *fpscr)
{
    const struct fp_operand o = fp_unpack(a, fpscr);
    const uint16_t sign = o.negative ? HALF_SIGN : 0;

    if (fp_is_nan(o) && *fpscr & FPSCR_AHP) {
        *fpscr |= FPSCR_IOC;
        return sign;
    }
    if (fp_is_nan(o)) {
        const uint32_t nan = fp_nan(o, fpscr);
        return *fpscr & FPSCR_DN ? HALF_DEFAULT_NAN
                                 : sign | HALF_DEFAULT_NAN | (nan >> NAN_SHIFT & HALF_FRACTION);
    }
    if (o.class == FP_INFINITE && *fpscr & FPSCR_AHP) {
        *fpscr |= FPSCR_IOC;
        return sign | HALF_ALTERNATIVE_MAX;
    }
    if (o.class == FP_INFINITE)
        return sign | HALF_INFINITY;
    return o.class == FP_ZERO_CLASS ? sign : sign | round_to_half(o, fpscr);
}
