/* SPDX-License-Identifier: Apache-2.0 */
/* Plain int8 fully connected layer: all n_in = h_in * w_in * c_in scalars of the input, in the
 * order of memory, to 1 x 1 x c_out; weights [c_out, n_in].
 *
 * For each output in ascending order the whole input is read from the workspace, in ascending
 * order, and the byte is written: each once, and nothing else in the arena. Tap order is direct:
 * the input is read again for each output, and lives until the last one. Rounding is double or
 * single. */
#include "kernels/plain/dot.h"
#include "kernels/plain/finish.h"
#include "port/placement.h"
#include "runner/kernels.h"

RAM_CODE("plain_fully_connected")
static void run_fully_connected(const struct op_call *call, enum rounding rounding)
{
    const int32_t n_in = call->h_in * call->w_in * call->c_in;
    const int8_t *weights = call->weights;
    for (int32_t channel = 0; channel < call->c_out; channel++) {
        const struct quant_record *const quant = &call->quants[channel];
        const uint32_t sum =
            dot((uint32_t)quant->bias, call->input, weights, n_in, call->input_zero_point);
        call->output[channel] = plain_finish(call, quant, sum, rounding);
        weights += n_in;
    }
}

#define KERNEL(rounding, ROUNDING)                                    \
    RAM_CODE("plain_fully_connected_" #rounding)                      \
    void plain_fully_connected_##rounding(const struct op_call *call) \
    {                                                                 \
        run_fully_connected(call, ROUNDING);                          \
    }

KERNEL(double, ROUNDING_DOUBLE)
KERNEL(single, ROUNDING_SINGLE)
