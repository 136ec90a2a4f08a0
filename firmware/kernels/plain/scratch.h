/* SPDX-License-Identifier: Apache-2.0 */
/* How much scratch the plain kernels ask for. */
#ifndef KERNELS_PLAIN_SCRATCH_H
#define KERNELS_PLAIN_SCRATCH_H

#include "runner/kernels.h"

static inline uint64_t no_scratch(const struct op_record *record,
                                  const struct tensor_record *input,
                                  const struct tensor_record *output)
{
    (void)record;
    (void)input;
    (void)output;
    return 0;
}

/* All channels of an output pixel. */
static inline uint64_t pixel_of_scratch(const struct op_record *record,
                                        const struct tensor_record *input,
                                        const struct tensor_record *output)
{
    (void)record;
    (void)input;
    return output->c;
}

/* All channels of a pixel's receptive field. */
static inline uint64_t field_of_scratch(const struct op_record *record,
                                        const struct tensor_record *input,
                                        const struct tensor_record *output)
{
    (void)output;
    return (uint64_t)record->k_h * record->k_w * input->c;
}

#endif
