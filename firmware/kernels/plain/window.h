/* SPDX-License-Identifier: Apache-2.0 */
/* Which taps of a pixel fall on the stored input, for kernels that take each channel apart. Padding
 * that is stored with the input is input. */
#ifndef KERNELS_PLAIN_WINDOW_H
#define KERNELS_PLAIN_WINDOW_H

#include "kernels/plain/taps.h"
#include "runner/kernels.h"

struct window {
    struct taps rows, columns;
    int32_t y, x;                             /* of the first real tap; no tap: any number */
    int32_t input;                            /* its offset in the input, at channel 0 */
};

/* Both in SRAM. plain_real_taps: real_taps, for kernels that can spare a call. */
struct taps plain_real_taps(int32_t position, int32_t dilation, int32_t taps, int32_t size);
void plain_find_window(const struct op_call *call, int32_t row, int32_t column,
                       struct window *window);

#endif
