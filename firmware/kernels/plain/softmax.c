/* SPDX-License-Identifier: Apache-2.0 */
/* Plain int8 softmax over the channels of each pixel, in integers, as TFLite's reference kernel.
 * The weights are T, 256 int32: e^-d with 31 fraction bits for the differences d = 0 to 255
 * between the largest channel and another. With product(a, b) = (a b + 2^30) >> 31, for each pixel:
 *   top = max x;  sum = sum of (T[top - x] + 2^11) >> 12, with 19 fraction bits
 *   half = the sum brought to [1/2, 1), with 31 fraction bits, by `zeros` bits to the left
 *   inverse = 1 / (2 half), with 31 fraction bits: Newton's method (inverse_of)
 *   y = min(255, (product(inverse, T[top - x]) + 2^(e - 1)) >> e) - 128, e = 35 - zeros
 * and -128 for e > 31. The output's scale is 1/256, its zero point -128.
 *
 * For each pixel, the first one first (row) or the last one first (reverse): all channels are read,
 * then all are read again; then each channel, ascending (row) or descending (reverse), is read and
 * its result written. Nothing else in the arena is written. A channel that such a write has made
 * larger than top reads the table at top - x modulo 256. There are no taps, and TFLite has no other
 * rounding of it: tap order and rounding say nothing. */
#include "kernels/plain/elementwise.h"
#include "runner/kernels.h"

enum {
    ONE = INT32_MAX,                          /* with 31 fraction bits, but for one unit */
    ONE_29 = 1 << 29,                         /* with 29 fraction bits, as the next two */
    GUESS_48_17 = 1515870810,
    GUESS_32_17 = 1010580540,
    GUESS_STEPS = 3,
    SUM_SHIFT = 12,
    SUM_HALF = 1 << (SUM_SHIFT - 1),
    STEPS_MAX = 255
};

/* Leading zeros, 31 for 0. The M0+ has no instruction for it, and libgcc's function is in flash.
 * Without branches, so that cycles do not depend on data. */
ALWAYS_INLINE uint32_t leading_zeros(uint32_t x)
{
    uint32_t zeros = 0;
    for (uint32_t log = 5; log-- > 0;) {
        const uint32_t bits = 1u << log;
        const uint32_t shift = ((x >> (32 - bits)) - 1) >> 31 << log;     /* bits if those are 0 */
        zeros += shift;
        x <<= shift;
    }
    return zeros;
}

/* 1 / (2 half), both with 31 fraction bits; half is at least 2^30. */
RAM_CODE("plain_softmax_inverse")
static int32_t inverse_of(int32_t half)
{
    uint32_t r = (uint32_t)GUESS_48_17 + (uint32_t)doubling_high_mul(half, -GUESS_32_17);
    for (int32_t step = 0; step < GUESS_STEPS; step++) {
        const uint32_t error = (uint32_t)ONE_29 - (uint32_t)doubling_high_mul(half, (int32_t)r);
        r += 4 * (uint32_t)doubling_high_mul((int32_t)r, (int32_t)error);
    }
    return r > ONE / 2 ? ONE : (int32_t)(2 * r);
}

ALWAYS_INLINE int8_t largest(const int8_t *x, int32_t count)
{
    int8_t top = INT8_MIN;
    for (int32_t channel = 0; channel < count; channel++) {
        top = x[channel] > top ? x[channel] : top;
    }
    return top;
}

ALWAYS_INLINE int32_t power_of(const int32_t *table, int8_t top, int8_t x)
{
    return table[(uint8_t)(top - x)];
}

ALWAYS_INLINE uint32_t sum_of(const int32_t *table, int8_t top, const int8_t *x, int32_t count)
{
    uint32_t sum = 0;
    for (int32_t channel = 0; channel < count; channel++) {
        sum += ((uint32_t)power_of(table, top, x[channel]) + SUM_HALF) >> SUM_SHIFT;
    }
    return sum;
}

/* What a power is multiplied by, and the exponent of the power of two to divide by then. Where
 * that is over 31 no probability reaches half a step, and the factor is 0. */
struct scale {
    int32_t factor;
    uint32_t exponent;
};

ALWAYS_INLINE struct scale scale_of(uint32_t sum)
{
    const uint32_t zeros = leading_zeros(sum);
    const int32_t inverse = inverse_of((int32_t)(sum << zeros >> 1));
    const uint32_t exponent = 35 - zeros;
    return exponent > 31 ? (struct scale){0, 31} : (struct scale){inverse, exponent};
}

ALWAYS_INLINE int8_t probability(struct scale scale, int32_t power)
{
    const uint32_t half = 1u << (scale.exponent - 1);
    const uint32_t product = (uint32_t)doubling_high_mul(scale.factor, power);
    const uint32_t steps = (product + half) >> scale.exponent;
    return (int8_t)((int32_t)(steps < STEPS_MAX ? steps : STEPS_MAX) + INT8_MIN);
}

RAM_CODE("plain_softmax")
void plain_softmax(const struct op_call *call)
{
    const int32_t *const table = (const int32_t *)(const void *)call->weights;
    const int32_t c = call->c_in;
    const struct walk pixels = walk_over(call, call->h_out * call->w_out);
    const struct walk channels = walk_over(call, c);
    for (int32_t pixel = pixels.first; pixel != pixels.end; pixel += pixels.step) {
        const int8_t *const x = call->input + pixel * c;
        int8_t *const y = call->output + pixel * c;
        const int8_t top = largest(x, c);
        const struct scale scale = scale_of(sum_of(table, top, x, c));
        for (int32_t at = channels.first; at != channels.end; at += channels.step) {
            y[at] = probability(scale, power_of(table, top, x[at]));
        }
    }
}
