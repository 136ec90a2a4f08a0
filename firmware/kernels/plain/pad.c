/* SPDX-License-Identifier: Apache-2.0 */
/* Plain padding: a border of the output's zero point around the input.
 *
 * For each pixel of the output, the first one first (row) or the last one first (reverse): all
 * channels of its source are read to scratch, in the border nothing is; then the pixel is written,
 * ascending (row) or descending (reverse). Nothing else in the arena is written. Nothing is
 * computed: rounding says nothing. */
#include "kernels/plain/elementwise.h"
#include "runner/kernels.h"

ALWAYS_INLINE void write_border(int8_t *to, int8_t value, int32_t count, int32_t step)
{
    int32_t at = step < 0 ? count - 1 : 0;
    for (int32_t left = count; left > 0; left--) {
        to[at] = value;
        at += step;
    }
}

RAM_CODE("plain_pad")
void plain_pad(const struct op_call *call)
{
    const int32_t c = call->c_in;
    const struct walk rows = walk_over(call, call->h_out);
    const struct walk columns = walk_over(call, call->w_out);
    int8_t *const pixel = (int8_t *)call->scratch;
    for (int32_t row = rows.first; row != rows.end; row += rows.step) {
        const int32_t y = row - call->pad_top;
        const bool in_rows = y >= 0 && y < call->h_in;
        for (int32_t column = columns.first; column != columns.end; column += columns.step) {
            const int32_t x = column - call->pad_left;
            int8_t *const to = call->output + (row * call->w_out + column) * c;
            if (in_rows && x >= 0 && x < call->w_in) {
                copy(pixel, call->input + (y * call->w_in + x) * c, c);
                write_pixel(to, pixel, c, rows.step);
            } else {
                write_border(to, (int8_t)call->output_zero_point, c, rows.step);
            }
        }
    }
}
