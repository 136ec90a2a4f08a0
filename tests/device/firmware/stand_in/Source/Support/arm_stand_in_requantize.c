/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"

/* Twice rounded, as TFLite. */
int32_t arm_stand_in_requantize(int32_t x, int32_t multiplier, int32_t shift)
{
    const int left = shift > 0 ? shift : 0;
    const int right = shift > 0 ? 0 : -shift;
    const int64_t product = (int64_t)(int32_t)((uint32_t)x << left) * multiplier;
    const int32_t high = (product + (1ll << 30)) >> 31;
    const int64_t half = right ? 1ll << (right - 1) : 0;
    return right ? ((int64_t)high + half - (high < 0)) >> right : high;
}
