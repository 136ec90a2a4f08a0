/* SPDX-License-Identifier: Apache-2.0 */
/* Plain concatenation of up to OPERANDS_MAX operands along the channels.
 *
 * For each pixel, the first one first (row) or the last one first (reverse): the pixel of every
 * operand is read to scratch, then all of its channels are written, ascending (row) or descending
 * (reverse). Nothing else in the arena is written. Nothing is computed: rounding says nothing. */
#include "kernels/plain/elementwise.h"
#include "runner/kernels.h"

RAM_CODE("plain_concat")
void plain_concat(const struct op_call *call)
{
    const struct walk pixels = walk_over(call, call->h_out * call->w_out);
    const int32_t operands = call->record->input_count;
    for (int32_t pixel = pixels.first; pixel != pixels.end; pixel += pixels.step) {
        int8_t *to = (int8_t *)call->scratch;
        for (int32_t operand = 0; operand < operands; operand++) {
            const int32_t c = call->input_records[operand]->c;
            to = copy(to, call->inputs[operand] + pixel * c, c);
        }
        write_pixel(call->output + pixel * call->c_out, (const int8_t *)call->scratch,
                    call->c_out, pixels.step);
    }
}
