/* SPDX-License-Identifier: Apache-2.0 */
/* fpu.h: taking apart and rounding, the arithmetic operations, comparison. */
#include "fpu.h"

enum { FRACTION_BITS = 23, EXPONENT_BIAS = 127, EXPONENT_SPECIAL = 0xff,
       MIN_EXPONENT = -126, MAX_EXPONENT = 127 };
enum { FRACTION_MASK = (1 << FRACTION_BITS) - 1, IMPLICIT_ONE = 1 << FRACTION_BITS,
       QUIET_BIT = 1 << 22, LARGEST_FINITE = 0x7f7fffff };
enum { TOP = 62 };                     /* leading bit of an operand's fraction */

typedef unsigned __int128 wide;

/* ---- FPUnpack(), FPRound(), FPProcessNaN() ---- */

struct fp_operand fp_unpack(uint32_t bits, uint32_t *fpscr)
{
    const uint32_t biased = bits >> FRACTION_BITS & EXPONENT_SPECIAL;
    const uint32_t fraction = bits & FRACTION_MASK;
    struct fp_operand o = { .negative = bits >> 31, .bits = bits };

    if (biased == EXPONENT_SPECIAL) {
        o.class = fraction == 0 ? FP_INFINITE
                                : fraction & QUIET_BIT ? FP_QUIET_NAN : FP_SIGNALLING_NAN;
        return o;
    }
    if (biased == 0 && fraction && *fpscr & FPSCR_FZ) {
        *fpscr |= FPSCR_IDC;
        return o;                      /* FP_ZERO_CLASS */
    }
    if (biased == 0 && fraction == 0)
        return o;
    const uint64_t integer = biased ? fraction | IMPLICIT_ONE : fraction;
    const int shift = __builtin_clzll(integer) - (63 - TOP);
    o.class = FP_FINITE;
    o.fraction = integer << shift;
    o.exponent = (biased ? (int)biased : 1) - EXPONENT_BIAS - FRACTION_BITS - shift;
    return o;
}

static uint32_t overflow(bool negative, enum fp_rounding rounding, uint32_t *fpscr)
{
    const bool to_infinity = rounding == FP_TIE_EVEN || rounding == (negative ? FP_DOWN : FP_UP);

    *fpscr |= FPSCR_OFC | FPSCR_IXC;
    return fp_signed(negative, to_infinity ? FP_INFINITY : LARGEST_FINITE);
}

/* Of fraction * 2^exponent, not zero; bit 0 stands for everything below it. Underflow is tininess
   before rounding together with inexactness. */
uint32_t fp_round(bool negative, int exponent, uint64_t fraction, enum fp_rounding rounding,
                  uint32_t *fpscr)
{
    const int shift = __builtin_clzll(fraction);
    const int magnitude = exponent - shift + 63;           /* floor(log2) */
    const bool tiny = magnitude < MIN_EXPONENT;
    int dropped = 63 - FRACTION_BITS;
    uint64_t rest;
    uint32_t result;

    fraction <<= shift;
    if (tiny) {
        if (*fpscr & FPSCR_FZ) {
            *fpscr |= FPSCR_UFC;
            return fp_signed(negative, 0);
        }
        dropped += MIN_EXPONENT - magnitude;
    }
    if (dropped < 64) {
        rest = fraction << (64 - dropped);
        result = (uint32_t)(fraction >> dropped);
    } else {
        rest = dropped == 64 ? fraction : 1;
        result = 0;
    }
    if (rest)
        *fpscr |= FPSCR_IXC | (tiny ? FPSCR_UFC : 0);
    if (!tiny)                         /* the implicit one becomes 1 of the exponent */
        result += (uint32_t)(magnitude + EXPONENT_BIAS - 1) << FRACTION_BITS;
    result += fp_rounds_up(negative, result & 1, rest, rounding);
    if (magnitude > MAX_EXPONENT || result >= FP_INFINITY)
        return overflow(negative, rounding, fpscr);
    return fp_signed(negative, result);
}

uint32_t fp_nan(struct fp_operand operand, uint32_t *fpscr)
{
    if (operand.class == FP_SIGNALLING_NAN)
        *fpscr |= FPSCR_IOC;
    return *fpscr & FPSCR_DN ? FP_DEFAULT_NAN : operand.bits | QUIET_BIT;
}

uint32_t fp_invalid(uint32_t *fpscr)
{
    *fpscr |= FPSCR_IOC;
    return FP_DEFAULT_NAN;
}

/* FPProcessNaNs(): signalling before quiet, first operand before second. */
static uint32_t nan_of(struct fp_operand a, struct fp_operand b, uint32_t *fpscr)
{
    if (a.class == FP_SIGNALLING_NAN || (fp_is_nan(a) && b.class != FP_SIGNALLING_NAN))
        return fp_nan(a, fpscr);
    return fp_nan(b, fpscr);
}

/* The sign of an exact zero sum. */
static uint32_t zero_sum(bool a_negative, bool b_negative, uint32_t fpscr)
{
    const bool negative = a_negative == b_negative ? a_negative : fp_rounding(fpscr) == FP_DOWN;
    return fp_signed(negative, 0);
}

/* ---- sums: a + b of finite numbers other than zero, with bit 62 of the fractions set ---- */

static uint64_t narrowed(wide sum, int *exponent)
{
    const uint64_t high = (uint64_t)(sum >> 64);
    int shift;

    if (high == 0)
        return (uint64_t)sum;
    shift = 64 - __builtin_clzll(high);
    *exponent += shift;
    return (uint64_t)(sum >> shift) | (sum << (128 - shift) != 0);
}

static uint32_t sum_of(struct fp_operand a, struct fp_operand b, uint32_t *fpscr)
{
    if (a.exponent < b.exponent || (a.exponent == b.exponent && a.fraction < b.fraction)) {
        const struct fp_operand swap = a;
        a = b;
        b = swap;
    }
    const int distance = a.exponent - b.exponent, guard = TOP;
    int exponent = a.exponent - guard;
    const wide larger = (wide)a.fraction << guard;
    wide smaller = (wide)b.fraction << guard, sum;

    if (distance > 0) {
        const bool sticky = distance > 127 || smaller << (128 - distance) != 0;
        smaller = distance > 127 ? 0 : smaller >> distance;
        smaller |= sticky;
    }
    sum = a.negative == b.negative ? larger + smaller : larger - smaller;
    if (sum == 0)
        return zero_sum(a.negative, b.negative, *fpscr);
    const uint64_t fraction = narrowed(sum, &exponent);
    return fp_round(a.negative, exponent, fraction, fp_rounding(*fpscr), fpscr);
}

static uint32_t add(struct fp_operand a, struct fp_operand b, uint32_t *fpscr)
{
    if (fp_is_nan(a) || fp_is_nan(b))
        return nan_of(a, b, fpscr);
    if (a.class == FP_INFINITE && b.class == FP_INFINITE && a.negative != b.negative)
        return fp_invalid(fpscr);
    if (a.class == FP_INFINITE || b.class == FP_INFINITE)
        return fp_signed(a.class == FP_INFINITE ? a.negative : b.negative, FP_INFINITY);
    if (a.class == FP_ZERO_CLASS && b.class == FP_ZERO_CLASS)
        return zero_sum(a.negative, b.negative, *fpscr);
    if (a.class == FP_ZERO_CLASS || b.class == FP_ZERO_CLASS) {
        const struct fp_operand o = a.class == FP_ZERO_CLASS ? b : a;
        return fp_round(o.negative, o.exponent, o.fraction, fp_rounding(*fpscr), fpscr);
    }
    return sum_of(a, b, fpscr);
}

uint32_t fp_add(uint32_t a, uint32_t b, uint32_t *fpscr)
{
    const struct fp_operand first = fp_unpack(a, fpscr);
    return add(first, fp_unpack(b, fpscr), fpscr);
}

/* The sign of a NaN that is subtracted stays: FPSub() is not FPAdd(FPNeg()). */
uint32_t fp_sub(uint32_t a, uint32_t b, uint32_t *fpscr)
{
    const struct fp_operand first = fp_unpack(a, fpscr);
    struct fp_operand second = fp_unpack(b, fpscr);

    second.negative = !second.negative;
    return add(first, second, fpscr);
}

/* ---- products and quotients ---- */

static struct fp_operand product(struct fp_operand a, struct fp_operand b)
{
    struct fp_operand p = { .negative = a.negative != b.negative };

    if (a.class == FP_INFINITE || b.class == FP_INFINITE) {
        p.class = FP_INFINITE;
    } else if (a.class == FP_FINITE && b.class == FP_FINITE) {
        const uint64_t fraction = (a.fraction >> 32) * (b.fraction >> 32);  /* exact: 24 bits */
        const int shift = __builtin_clzll(fraction) - (63 - TOP);
        p.class = FP_FINITE;
        p.fraction = fraction << shift;
        p.exponent = a.exponent + b.exponent + 64 - shift;
    }
    return p;                          /* else FP_ZERO_CLASS */
}

static bool zero_times_infinity(struct fp_operand a, struct fp_operand b)
{
    return (a.class == FP_ZERO_CLASS && b.class == FP_INFINITE)
           || (a.class == FP_INFINITE && b.class == FP_ZERO_CLASS);
}

static uint32_t packed(struct fp_operand o, uint32_t *fpscr)
{
    switch (o.class) {
    case FP_ZERO_CLASS: return fp_signed(o.negative, 0);
    case FP_INFINITE: return fp_signed(o.negative, FP_INFINITY);
    default: return fp_round(o.negative, o.exponent, o.fraction, fp_rounding(*fpscr), fpscr);
    }
}

uint32_t fp_mul(uint32_t a, uint32_t b, uint32_t *fpscr)
{
    const struct fp_operand x = fp_unpack(a, fpscr), y = fp_unpack(b, fpscr);

    if (fp_is_nan(x) || fp_is_nan(y))
        return nan_of(x, y, fpscr);
    if (zero_times_infinity(x, y))
        return fp_invalid(fpscr);
    return packed(product(x, y), fpscr);
}

/* FPMulAdd(): a NaN of the addend counts before those of the factors; but a quiet one beside zero
   times infinity is invalid. */
uint32_t fp_mul_add(uint32_t addend, uint32_t a, uint32_t b, uint32_t *fpscr)
{
    const struct fp_operand c = fp_unpack(addend, fpscr), x = fp_unpack(a, fpscr),
                            y = fp_unpack(b, fpscr);

    if (c.class == FP_QUIET_NAN && zero_times_infinity(x, y))
        return fp_invalid(fpscr);
    if (fp_is_nan(c) || fp_is_nan(x) || fp_is_nan(y)) {
        const struct fp_operand operands[] = { c, x, y };
        for (int k = 0; k < 3; k++)
            if (operands[k].class == FP_SIGNALLING_NAN)
                return fp_nan(operands[k], fpscr);
        return fp_nan(fp_is_nan(c) ? c : fp_is_nan(x) ? x : y, fpscr);
    }
    if (zero_times_infinity(x, y))
        return fp_invalid(fpscr);
    return add(c, product(x, y), fpscr);
}

uint32_t fp_div(uint32_t a, uint32_t b, uint32_t *fpscr)
{
    const struct fp_operand x = fp_unpack(a, fpscr), y = fp_unpack(b, fpscr);
    const bool negative = x.negative != y.negative;

    if (fp_is_nan(x) || fp_is_nan(y))
        return nan_of(x, y, fpscr);
    if (x.class == y.class && x.class != FP_FINITE)        /* 0 / 0, infinity / infinity */
        return fp_invalid(fpscr);
    if (x.class == FP_INFINITE || y.class == FP_ZERO_CLASS) {
        if (x.class != FP_INFINITE)
            *fpscr |= FPSCR_DZC;
        return fp_signed(negative, FP_INFINITY);
    }
    if (x.class == FP_ZERO_CLASS || y.class == FP_INFINITE)
        return fp_signed(negative, 0);
    const uint64_t divisor = y.fraction >> 32;             /* 24 significant bits, exact */
    const uint64_t quotient = x.fraction / divisor;
    return fp_round(negative, x.exponent - y.exponent - 32,
                    quotient | (quotient * divisor != x.fraction), fp_rounding(*fpscr), fpscr);
}

/* Integer square root: the largest r with r * r <= value. */
static uint64_t square_root(uint64_t value)
{
    uint64_t root = 0;

    for (uint64_t bit = 1ull << 31; bit; bit >>= 1)
        if ((root | bit) * (root | bit) <= value)
            root |= bit;
    return root;
}

uint32_t fp_sqrt(uint32_t a, uint32_t *fpscr)
{
    const struct fp_operand x = fp_unpack(a, fpscr);
    uint64_t radicand = x.fraction, root;
    int exponent = x.exponent;

    if (fp_is_nan(x))
        return fp_nan(x, fpscr);
    if (x.class == FP_ZERO_CLASS)
        return fp_signed(x.negative, 0);
    if (x.negative)
        return fp_invalid(fpscr);
    if (x.class == FP_INFINITE)
        return FP_INFINITY;
    if (exponent & 1) {                /* bit 62 is set, so that bit 63 is free */
        radicand <<= 1;
        exponent--;
    }
    root = square_root(radicand);
    /* one more bit below the root holds what is left of the radicand */
    return fp_round(false, exponent / 2 - 1, root << 1 | (root * root != radicand),
                    fp_rounding(*fpscr), fpscr);
}

/* ---- comparison, maximum and minimum ---- */

/* An integer in the order of the numbers; both zeros are 0. Not for NaNs. */
static int64_t ordered(struct fp_operand o)
{
    const int64_t magnitude = o.class == FP_ZERO_CLASS ? 0 : (int64_t)(o.bits & ~(uint32_t)FP_SIGN);
    return o.negative ? -magnitude : magnitude;
}

uint32_t fp_compare(uint32_t a, uint32_t b, bool quiet_nan_is_invalid, uint32_t *fpscr)
{
    enum { LESS = 8, EQUAL = 6, GREATER = 2, UNORDERED = 3 };
    const struct fp_operand x = fp_unpack(a, fpscr), y = fp_unpack(b, fpscr);

    if (fp_is_nan(x) || fp_is_nan(y)) {
        if (x.class == FP_SIGNALLING_NAN || y.class == FP_SIGNALLING_NAN || quiet_nan_is_invalid)
            *fpscr |= FPSCR_IOC;
        return UNORDERED;
    }
    return ordered(x) == ordered(y) ? EQUAL : ordered(x) < ordered(y) ? LESS : GREATER;
}

/* FPMaxNum(), FPMinNum(): a quiet NaN beside a number counts for nothing; -0 is less than +0. */
static uint32_t max_or_min(uint32_t a, uint32_t b, bool maximum, uint32_t *fpscr)
{
    const struct fp_operand x = fp_unpack(a, fpscr), y = fp_unpack(b, fpscr);
    bool first;

    if (x.class == FP_QUIET_NAN && !fp_is_nan(y))
        return packed(y, fpscr);
    if (y.class == FP_QUIET_NAN && !fp_is_nan(x))
        return packed(x, fpscr);
    if (fp_is_nan(x) || fp_is_nan(y))
        return nan_of(x, y, fpscr);
    first = ordered(x) == ordered(y) ? x.negative != maximum
                                     : (ordered(x) > ordered(y)) == maximum;
    return packed(first ? x : y, fpscr);
}

uint32_t fp_max_num(uint32_t a, uint32_t b, uint32_t *fpscr)
{
    return max_or_min(a, b, true, fpscr);
}

uint32_t fp_min_num(uint32_t a, uint32_t b, uint32_t *fpscr)
{
    return max_or_min(a, b, false, fpscr);
}
