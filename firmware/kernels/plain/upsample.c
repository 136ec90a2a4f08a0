/* SPDX-License-Identifier: Apache-2.0 */
/* Plain upsampling to the nearest neighbour by the whole factors s_h and s_w.
 *
 * For each pixel of the output, the first one first (row) or the last one first (reverse): all
 * channels of its source are read to scratch, then they are written, ascending (row) or descending
 * (reverse). Nothing else in the arena is written. Nothing is computed: rounding says nothing. */
#include "kernels/plain/elementwise.h"
#include "runner/kernels.h"

RAM_CODE("plain_upsample")
void plain_upsample(const struct op_call *call)
{
    const int32_t c = call->c_in;
    const struct walk rows = walk_over(call, call->h_in);
    const struct walk columns = walk_over(call, call->w_in);
    int8_t *const pixel = (int8_t *)call->scratch;
    int32_t to = walk_over(call, call->h_out * call->w_out).first * c;
    for (int32_t row = rows.first; row != rows.end; row += rows.step) {
        for (int32_t row_again = 0; row_again < call->s_h; row_again++) {
            for (int32_t column = columns.first; column != columns.end; column += columns.step) {
                const int8_t *const from = call->input + (row * call->w_in + column) * c;
                for (int32_t again = 0; again < call->s_w; again++) {
                    copy(pixel, from, c);
                    write_pixel(call->output + to, pixel, c, rows.step);
                    to += rows.step * c;
                }
            }
        }
    }
}
