/* SPDX-License-Identifier: Apache-2.0 */
/* Plain clamp to the activation's range: input and output have one quantisation.
 *
 * For each scalar, ascending in memory (row) or descending (reverse): it is read, then its result
 * is written. Nothing else in the arena is written. There are no taps and no scaling: tap order
 * and rounding say nothing. */
#include "kernels/plain/elementwise.h"
#include "runner/kernels.h"

RAM_CODE("plain_clamp")
void plain_clamp(const struct op_call *call)
{
    const struct walk walk = walk_over_output(call);
    const int8_t *const input = call->input;
    int8_t *const output = call->output;
    const int32_t low = call->activation_min;
    const int32_t high = call->activation_max;
    for (int32_t at = walk.first; at != walk.end; at += walk.step) {
        output[at] = (int8_t)output_stage(input[at], 0, low, high);
    }
}
