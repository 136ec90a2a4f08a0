/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNELS_M33_CONV_H
#define KERNELS_M33_CONV_H

#include <stdint.h>

#include "kernels/m33/channel.h"
#include "runner/kernels.h"

/* Of one op, or of a stage of a segment. taps: of a field; filled: rounded up to a multiple of 4.
 * channel_step: 1, or planes whose pixels lie next to each other. */
struct conv {
    const struct op_call *call;
    struct channels channels;
    int32_t taps, filled;
    uint32_t *weights;                        /* of 4 channels, widened: 2 filled words */
    uint32_t *fields;
    int8_t *staged, *spare;
    int32_t pixel_step, channel_step;         /* of the output, in bytes */
};

/* Pixels whose fields are gathered. output: of the first one. */
struct step {
    int8_t *output;
    int32_t count;
};

/* See conv.c. In SRAM. */
void m33_conv(const struct op_call *call);

/* All channels of a step, ascending. */
void m33_conv_step(const struct conv *conv, const struct step *step);

#endif
