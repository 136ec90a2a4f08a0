/* SPDX-License-Identifier: Apache-2.0 */
/* Single-precision arithmetic of FPv5 in integers: what the architecture's pseudocode computes
 * (ARMv8-M Architecture Reference Manual, chapter E2.1, functions FP...), bit for bit, in every
 * rounding mode, with default NaN and flush-to-zero, and the cumulative exception bits in FPSCR. No
 * floating point of the host takes part, so that no compiler and no flag of it can change a result.
 */
#ifndef FPU_H
#define FPU_H
#include <stdbool.h>
#include <stdint.h>

enum {
    FPSCR_IOC = 1 << 0, FPSCR_DZC = 1 << 1, FPSCR_OFC = 1 << 2, FPSCR_UFC = 1 << 3,
    FPSCR_IXC = 1 << 4, FPSCR_IDC = 1 << 7,                /* invalid ... input denormal */
    FPSCR_RMODE_SHIFT = 22, FPSCR_FZ = 1 << 24, FPSCR_DN = 1 << 25, FPSCR_AHP = 1 << 26,
    FPSCR_NZCV_SHIFT = 28
};
#define FPSCR_WRITABLE 0xf7c0009fu

enum fp_rounding { FP_TIE_EVEN, FP_UP, FP_DOWN, FP_ZERO, FP_TIE_AWAY };    /* FPSCR.RMode and one */
static inline enum fp_rounding fp_rounding(uint32_t fpscr)
{
    return fpscr >> FPSCR_RMODE_SHIFT & 3;
}

enum { FP_SIGN = (int)0x80000000, FP_INFINITY = 0x7f800000, FP_DEFAULT_NAN = 0x7fc00000 };

/* fpu_arithmetic.c */
uint32_t fp_add(uint32_t a, uint32_t b, uint32_t *fpscr);
uint32_t fp_sub(uint32_t a, uint32_t b, uint32_t *fpscr);
uint32_t fp_mul(uint32_t a, uint32_t b, uint32_t *fpscr);
uint32_t fp_div(uint32_t a, uint32_t b, uint32_t *fpscr);
uint32_t fp_mul_add(uint32_t addend, uint32_t a, uint32_t b, uint32_t *fpscr);     /* fused */
uint32_t fp_sqrt(uint32_t a, uint32_t *fpscr);
uint32_t fp_max_num(uint32_t a, uint32_t b, uint32_t *fpscr);
uint32_t fp_min_num(uint32_t a, uint32_t b, uint32_t *fpscr);
uint32_t fp_compare(uint32_t a, uint32_t b, bool quiet_nan_is_invalid, uint32_t *fpscr);  /* NZCV */

/* fpu_convert.c. fraction_bits: of the fixed-point side, 0 for integers; bits: 16 or 32 */
uint32_t fp_to_fixed(uint32_t a, uint32_t bits, uint32_t fraction_bits, bool is_signed,
                     enum fp_rounding rounding, uint32_t *fpscr);
uint32_t fp_from_fixed(uint32_t value, uint32_t bits, uint32_t fraction_bits, bool is_signed,
                       enum fp_rounding rounding, uint32_t *fpscr);
uint32_t fp_round_to_integral(uint32_t a, enum fp_rounding rounding, bool exact, uint32_t *fpscr);
uint32_t fp_from_half(uint16_t half, uint32_t *fpscr);
uint16_t fp_to_half(uint32_t a, uint32_t *fpscr);

/* What the two share: an operand taken apart. Its value is fraction * 2^exponent with bit 62 of the
   fraction set, if it is a finite number other than zero. */
enum fp_class { FP_ZERO_CLASS, FP_FINITE, FP_INFINITE, FP_QUIET_NAN, FP_SIGNALLING_NAN };
struct fp_operand {
    enum fp_class class;
    bool negative;
    int exponent;
    uint64_t fraction;
    uint32_t bits;
};
struct fp_operand fp_unpack(uint32_t bits, uint32_t *fpscr);
uint32_t fp_round(bool negative, int exponent, uint64_t fraction, enum fp_rounding rounding,
                  uint32_t *fpscr);
uint32_t fp_nan(struct fp_operand operand, uint32_t *fpscr);
uint32_t fp_invalid(uint32_t *fpscr);
static inline bool fp_is_nan(struct fp_operand operand) { return operand.class >= FP_QUIET_NAN; }
static inline uint32_t fp_signed(bool negative, uint32_t bits)
{
    return bits | (negative ? (uint32_t)FP_SIGN : 0);
}

/* Whether rounding `rest`, the bits shifted out as a fraction of 2^64, goes up in magnitude. */
static inline bool fp_rounds_up(bool negative, bool odd, uint64_t rest, enum fp_rounding rounding)
{
    const uint64_t half = 1ull << 63;

    switch (rounding) {
    case FP_TIE_EVEN: return rest > half || (rest == half && odd);
    case FP_TIE_AWAY: return rest >= half;
    case FP_UP: return rest && !negative;
    case FP_DOWN: return rest && negative;
    default: return false;
    }
}
#endif
