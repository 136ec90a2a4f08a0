/* SPDX-License-Identifier: Apache-2.0 */
/* From an accumulator to an output byte, for the plain kernels. */
#ifndef KERNELS_PLAIN_FINISH_H
#define KERNELS_PLAIN_FINISH_H

#include "kernels/requantize.h"
#include "port/placement.h"
#include "runner/kernels.h"

/* Of a requantised accumulator: the zero point added, clamped. */
ALWAYS_INLINE int8_t output_byte(const struct op_call *call, int32_t scaled)
{
    const int32_t zero_point = call->output_zero_point;
    return (int8_t)output_stage(scaled, zero_point, call->activation_min - zero_point,
                                call->activation_max - zero_point);
}

/* Requantises, too, for kernels that can spare a call. rounding: double or single; it is passed,
 * because the record lies in flash. In SRAM. */
int8_t plain_finish(const struct op_call *call, const struct quant_record *quant, uint32_t sum,
                    enum rounding rounding);

#endif
