/* SPDX-License-Identifier: Apache-2.0 */
/* Plain int8 mean over all pixels, to 1 x 1 x c.
 *
 * The input is read once, pixels in the order of memory, channels ascending, into one int32 sum a
 * channel in scratch. Only then are the outputs written, channels ascending, each byte once and
 * nothing else in the arena: tap order gather. An output may lie anywhere on its input.
 *
 *     y = zp_out + requantize(sum(x) - pixels zp_in, m, shift), clamped
 *
 * The division by the number of pixels is in m and shift, of the op's one record of quantisation,
 * whose bias is not read. Rounding is double or single. */
#include "kernels/plain/finish.h"
#include "port/placement.h"
#include "runner/kernels.h"

/* Scratch is declared as bytes. No sum overflows: SRAM holds far less than 2^31 / 255 pixels. */
typedef int32_t __attribute__((may_alias)) sum_word;

RAM_CODE("plain_mean")
static void run_mean(const struct op_call *call, enum rounding rounding)
{
    sum_word *const sums = (sum_word *)(void *)call->scratch;
    const int32_t pixels = call->h_in * call->w_in;
    const int8_t *x = call->input;
    for (int32_t channel = 0; channel < call->c_in; channel++) {
        sums[channel] = -pixels * call->input_zero_point;
    }
    for (int32_t pixel = 0; pixel < pixels; pixel++) {
        for (int32_t channel = 0; channel < call->c_in; channel++) {
            sums[channel] += x[channel];
        }
        x += call->c_in;
    }
    for (int32_t channel = 0; channel < call->c_out; channel++) {
        call->output[channel] = plain_finish(call, call->quants, (uint32_t)sums[channel], rounding);
    }
}

#define KERNEL(rounding, ROUNDING)                         \
    RAM_CODE("plain_mean_" #rounding)                      \
    void plain_mean_##rounding(const struct op_call *call) \
    {                                                      \
        run_mean(call, ROUNDING);                          \
    }

KERNEL(double, ROUNDING_DOUBLE)
KERNEL(single, ROUNDING_SINGLE)
