/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/m33/exact.h"

#include "kernels/m33/simd.h"

/* A halfword of a field is twice x - zero_point. */
RAM_CODE("m33_exact_channel")
void m33_exact_channel(const struct channels *all, const uint32_t *fields, int32_t count,
                       int32_t channel, int8_t *output, int32_t pixel_step)
{
    const struct op_call *const call = all->call;
    const int8_t *const weights = call->weights + channel * all->taps;
    const struct quant_record *const quant = &call->quants[channel];
    const int32_t pair_words = (all->taps + 3) & ~3;
    static const uint8_t place[4] = {0, 4, 1, 5};             /* halfword of a tap in its group */
    for (int32_t pixel = 0; pixel < count; pixel++) {
        const half *const field =
            (const half *)(const void *)(fields + pixel / 2 * pair_words) + pixel % 2 * 2;
        uint32_t sum = (uint32_t)quant->bias;
        for (int32_t tap = 0; tap < all->taps; tap++) {
            const int32_t x = field[tap / 4 * 8 + place[tap % 4]] / 2;
            sum += (uint32_t)(x * weights[tap]);
        }
        *output = m33_exact_byte(call, quant, (int32_t)sum);
        output += pixel_step;
    }
}
