/* SPDX-License-Identifier: Apache-2.0 */
/* The loops of conv.c, which includes this once for each rounding, ROUNDING being its name: a
 * choice at run time would cost cycles in every kernel, and passing the function changed the code
 * that gcc made of the loops. */
#define JOIN_NAMES(name, rounding) name##_##rounding
#define JOIN(name, rounding) JOIN_NAMES(name, rounding)
#define STRING_OF(name) #name
#define STRING(name) STRING_OF(name)
#define NAMED(name) JOIN(name, ROUNDING)

ALWAYS_INLINE int8_t NAMED(finish)(const struct op_call *call, const struct quant_record *quant,
                                   uint32_t sum)
{
    const int32_t scaled = NAMED(requantize)((int32_t)sum, quant->multiplier, quant->shift);
    return output_byte(call, scaled);
}

RAM_CODE("plain_run_gather_" STRING(ROUNDING))
void NAMED(plain_conv_gather)(const struct op_call *call)
{
    const int32_t field_bytes = call->k_h * call->k_w * call->c_in;
    int8_t *output = call->output;
    for (int32_t row = 0; row < call->h_out; row++) {
        for (int32_t column = 0; column < call->w_out; column++) {
            const struct field field = field_of(call, row, column);
            gather_field(call, &field);
            const int8_t *weights = call->weights;
            for (int32_t channel = 0; channel < call->c_out; channel++) {
                const struct quant_record *const quant = &call->quants[channel];
                const uint32_t sum = dot((uint32_t)quant->bias, (const int8_t *)call->scratch,
                                         weights, field_bytes, call->input_zero_point);
                *output++ = NAMED(finish)(call, quant, sum);
                weights += field_bytes;
            }
        }
    }
}

RAM_CODE("plain_run_direct_" STRING(ROUNDING))
void NAMED(plain_conv_direct)(const struct op_call *call)
{
    const int32_t field_bytes = call->k_h * call->k_w * call->c_in;
    int8_t *output = call->output;
    for (int32_t row = 0; row < call->h_out; row++) {
        for (int32_t column = 0; column < call->w_out; column++) {
            const struct field field = field_of(call, row, column);
            const int8_t *weights = call->weights;
            for (int32_t channel = 0; channel < call->c_out; channel++) {
                const struct quant_record *const quant = &call->quants[channel];
                const uint32_t sum =
                    dot_in_place(call, &field, weights, (uint32_t)quant->bias);
                *output++ = NAMED(finish)(call, quant, sum);
                weights += field_bytes;
            }
        }
    }
}

#undef JOIN_NAMES
#undef JOIN
#undef STRING_OF
#undef STRING
#undef NAMED
