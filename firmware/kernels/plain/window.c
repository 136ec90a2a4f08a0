/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/plain/window.h"

#include "port/placement.h"

RAM_CODE("plain_real_taps")
struct taps plain_real_taps(int32_t position, int32_t dilation, int32_t taps, int32_t size)
{
    return real_taps(position, dilation, taps, size);
}

RAM_CODE("plain_find_window")
void plain_find_window(const struct op_call *call, int32_t row, int32_t column,
                       struct window *window)
{
    const int32_t top = row * call->s_h - call->pad_top;
    const int32_t left = column * call->s_w - call->pad_left;
    window->rows = real_taps(top, call->d_h, call->k_h, call->h_in);
    window->columns = real_taps(left, call->d_w, call->k_w, call->w_in);
    window->y = top + window->rows.first * call->d_h;
    window->x = left + window->columns.first * call->d_w;
    window->input = (window->y * call->w_in + window->x) * call->c_in;
}
