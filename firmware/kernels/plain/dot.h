/* SPDX-License-Identifier: Apache-2.0 */
/* The sum over taps that lie next to each other in memory. Each file has its own: gcc makes other
 * code of the row convolution's loops where this is a function of another file. */
#ifndef KERNELS_PLAIN_DOT_H
#define KERNELS_PLAIN_DOT_H

#include <stdint.h>

#include "port/placement.h"

/* sum + sum of (x - zero_point) * w, modulo 2^32. Thumb-1 loads a signed byte from two registers
 * only: one index for both arrays, kept from being folded into offsets, makes that six
 * instructions a tap. */
RAM_CODE("plain_dot")
static uint32_t dot(uint32_t sum, const int8_t *x, const int8_t *w, int32_t count,
                    int32_t zero_point)
{
    int32_t tap = 0;
#define TAP()                                              \
    do {                                                   \
        sum += (uint32_t)((x[tap] - zero_point) * w[tap]); \
        tap++;                                             \
        __asm("" : "+r"(tap), "+r"(sum));                  \
    } while (0)
    while (count - tap >= 8) {
        TAP();
        TAP();
        TAP();
        TAP();
        TAP();
        TAP();
        TAP();
        TAP();
    }
    while (tap < count) {
        TAP();
    }
#undef TAP
    return sum;
}

#endif
