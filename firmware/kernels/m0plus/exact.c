/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/m0plus/guarded.h"
#include "kernels/requantize.h"
#include "port/placement.h"

RAM_CODE("m0plus_exact")
int32_t m0plus_exact(uint32_t x, const struct exact *exact)
{
    const int32_t sum = (int32_t)(x + (uint32_t)exact->base);
    const int32_t zero_point = exact->zero_point;
    const int32_t scaled =
        requantize_double(sum, exact->quant->multiplier, exact->quant->shift);
    return output_stage(scaled, zero_point, exact->activation_min - zero_point,
                        exact->activation_max - zero_point);
}
