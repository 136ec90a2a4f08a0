/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/plain/finish.h"

RAM_CODE("plain_finish")
int8_t plain_finish(const struct op_call *call, const struct quant_record *quant, uint32_t sum,
                    enum rounding rounding)
{
    return output_byte(
        call, requantize(rounding, (int32_t)sum, quant->multiplier, quant->shift));
}
