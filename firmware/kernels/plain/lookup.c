/* SPDX-License-Identifier: Apache-2.0 */
/* Plain table: y = table[x + 128], 256 int8 in the weights.
 *
 * For each scalar, ascending in memory (row) or descending (reverse): it is read, then its result
 * is written. Nothing else in the arena is written. There are no taps and no arithmetic: tap order
 * and rounding say nothing. */
#include "kernels/plain/elementwise.h"
#include "kernels/plain/plain.h"

RAM_CODE("plain_lookup")
static void run_lookup(const struct op_call *call)
{
    const struct walk walk = walk_over_output(call);
    const int8_t *const input = call->input;
    int8_t *const output = call->output;
    const int8_t *const middle = call->weights - INT8_MIN;    /* the entry of 0 */
    for (int32_t at = walk.first; at != walk.end; at += walk.step) {
        output[at] = middle[input[at]];
    }
}

static bool accepts_lookup(const struct op_record *record)
{
    return goes_straight(record, OP_KIND_TABLE);
}

const struct op_kernel plain_lookup = {accepts_lookup, no_scratch, run_lookup};
