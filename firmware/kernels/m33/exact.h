/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNELS_M33_EXACT_H
#define KERNELS_M33_EXACT_H

#include "kernels/m33/channel.h"

/* A channel of a convolution by the exact code, from the fields of `count` pixels, as sweep.h has them. output:
 * of the first one, pixel_step bytes apart. In SRAM. */
void m33_exact_channel(const struct channels *all, const uint32_t *fields, int32_t count,
                       int32_t channel, int8_t *output, int32_t pixel_step);

#endif
