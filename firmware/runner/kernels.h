/* SPDX-License-Identifier: Apache-2.0 */
/* What a convolution kernel is to the runner. */
#ifndef RUNNER_KERNELS_H
#define RUNNER_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "ripbench_schema.h"

/* One convolution, its records turned into pointers. Everything is checked: shapes agree, every
 * access that they imply is inside the arena, the scratch and the slices. Input and output may
 * overlap, to whatever degree the plan says. */
struct conv_call {
    const int8_t *input;
    int8_t *output;
    const int8_t *weights;                    /* [c_out, k_h, k_w, c_in] */
    const struct quant_record *quants;        /* [c_out] */
    uint8_t *scratch;                         /* 8-byte aligned */
    int32_t h_in, w_in, c_in;
    int32_t h_out, w_out, c_out;
    int32_t k_h, k_w, s_h, s_w, d_h, d_w;
    int32_t pad_top, pad_left;
    int32_t input_zero_point, output_zero_point;
    int32_t activation_min, activation_max;
};

struct conv_kernel {
    bool (*accepts)(const struct conv_record *record);
    uint64_t (*scratch_bytes)(const struct conv_record *record, uint32_t c_in);
    void (*run)(const struct conv_call *call);
};

/* The kernel of this build for the record, or NULL. */
const struct conv_kernel *conv_kernel_for(const struct conv_record *record);

#endif
