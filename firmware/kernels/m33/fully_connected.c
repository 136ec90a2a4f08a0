/* SPDX-License-Identifier: Apache-2.0 */
/* int8 fully connected layer for the Cortex-M33, double rounding: a convolution of one pixel with
 * all scalars of the input as its channels. The input is copied to scratch before the first output
 * is written; conv.c has the rest, scratch included. */
#include "kernels/m33/conv.h"
#include "port/placement.h"

RAM_CODE("m33_fully_connected")
void m33_fully_connected(const struct op_call *call)
{
    struct op_call pixel = *call;
    pixel.c_in = call->h_in * call->w_in * call->c_in;
    pixel.h_in = pixel.w_in = 1;
    pixel.k_h = pixel.k_w = pixel.s_h = pixel.s_w = pixel.d_h = pixel.d_w = 1;
    pixel.pad_top = pixel.pad_left = 0;
    pixel.step_pixels = 1;
    m33_conv(&pixel);
}
