/* SPDX-License-Identifier: Apache-2.0 */
/* Plain table: y = table[x + 128], 256 int8 in the weights.
 *
 * For each scalar, ascending in memory (row) or descending (reverse): it is read, then its result
 * is written. Nothing else in the arena is written. There are no taps and no arithmetic: tap order
 * and rounding say nothing. */
#include "kernels/plain/elementwise.h"
#include "runner/kernels.h"

RAM_CODE("plain_lookup")
void plain_lookup(const struct op_call *call)
{
    const struct walk walk = walk_over_output(call);
    const int8_t *const input = call->input;
    int8_t *const output = call->output;
    const int8_t *const middle = call->weights - INT8_MIN;    /* the entry of 0 */
    for (int32_t at = walk.first; at != walk.end; at += walk.step) {
        output[at] = middle[input[at]];
    }
}
