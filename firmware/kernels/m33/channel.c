/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/m33/channel.h"

ALWAYS_INLINE bool without_weights(const struct channels *all, const int8_t *weights)
{
    for (int32_t tap = 0; tap < all->taps; tap++, weights += all->tap_step) {
        if (*weights != 0) {
            return false;
        }
    }
    return true;
}

RAM_CODE("m33_plan_unusual")
enum special m33_plan_unusual(const struct channels *all, const struct quant_record *quant,
                              const int8_t *weights, int32_t *doubled_bias,
                              struct channel *channel)
{
    if (quant->multiplier == 0 || without_weights(all, weights)) {
        const int32_t value = m33_exact_byte(all->call, quant, quant->bias);
        *doubled_bias = 0;
        *channel = (struct channel){0, 2 * value + 1, 1};
        return USUAL;
    }
    if (quant->multiplier < 0 && quant->bias != INT32_MIN) {
        const struct quant_record positive = {-quant->bias, -quant->multiplier, quant->shift};
        const int32_t shift = -positive.shift;
        if (shift >= LEAST_SHIFT && shift <= MOST_SHIFT &&
            (uint32_t)positive.bias + all->bias_room < 2 * all->bias_room) {
            return NEGATED | plan_channel(all, &positive, weights, doubled_bias, channel);
        }
    }
    *doubled_bias = 0;
    *channel = (struct channel){0, 1, 1};
    return SLOW;
}

RAM_CODE("m33_exact_byte")
int8_t m33_exact_byte(const struct op_call *call, const struct quant_record *quant, int32_t sum)
{
    const int32_t zero_point = call->output_zero_point;
    const int32_t scaled = requantize_double(sum, quant->multiplier, quant->shift);
    return (int8_t)output_stage(scaled, zero_point, call->activation_min - zero_point,
                                call->activation_max - zero_point);
}
