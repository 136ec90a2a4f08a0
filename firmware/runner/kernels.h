/* SPDX-License-Identifier: Apache-2.0 */
/* What a kernel is to the runner. */
#ifndef RUNNER_KERNELS_H
#define RUNNER_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

#include "ripbench_schema.h"

struct segment;

/* One op, its records turned into pointers. Everything is checked: shapes agree, every access that
 * they imply is inside the arena, the scratch and the slices. Inputs and output may overlap, to
 * whatever degree the plan says. */
struct op_call {
    const int8_t *input;                      /* the first operand */
    int8_t *output;
    const int8_t *weights;                    /* as op_record says for the kind */
    uint32_t weights_bytes;
    const struct quant_record *quants;
    uint8_t *scratch;                         /* 8-byte aligned; in the arena 4-byte */
    uint32_t scratch_bytes;                   /* of scratch in the arena; 0: it lies apart */
    int32_t h_in, w_in, c_in;                 /* of the first operand, as stored */
    int32_t h_out, w_out, c_out;
    int32_t k_h, k_w, s_h, s_w, d_h, d_w;
    int32_t pad_top, pad_left;                /* 0 where the padding is stored with the input */
    int32_t step_pixels;                      /* B, of a kernel that makes several pixels a step */
    int32_t input_zero_point, output_zero_point;
    int32_t activation_min, activation_max;
    const int8_t *inputs[OPERANDS_MAX];       /* all operands */
    const struct tensor_record *input_records[OPERANDS_MAX];
    const struct op_record *record;
    /* Of the first operand if it is stored by an order, an entry for each pixel; else NULL. */
    const uint16_t *positions;
    /* What a segment's stages, record[1] to record[record->stages], name by number and offset. */
    const struct tensor_record *tensors;
    int8_t *arena;
    const int8_t *case_weights;
    const struct quant_record *case_quants;
    /* Made of these before the window (runner/stages.h); NULL of an op that is none. */
    const struct segment *segment;
};

/* Of an op: its record, and the tensors of its case, which the record names by number. */
struct op_kernel {
    bool (*accepts)(const struct op_record *record, const struct tensor_record *tensors);
    uint64_t (*scratch_bytes)(const struct op_record *record,
                              const struct tensor_record *tensors);
    /* The least that its packed constants take; NULL: it reads int8 weights. */
    uint64_t (*weights_bytes)(const struct op_record *record,
                              const struct tensor_record *tensors);
    void (*run)(const struct op_call *call);
    uint32_t alignment;                       /* of operands and output, in bytes; 0: any */
    /* Do packed constants of record->weights_bytes bytes keep the kernel inside them and inside its
     * scratch? NULL: whatever they hold does. */
    bool (*sound)(const struct op_record *record, const struct tensor_record *tensors,
                  const int8_t *constants);
};

/* The kernel that the record asks for by its index in this build's table (generated from
 * kernels.yaml); NULL where there is none, or where it does not accept the op. */
const struct op_kernel *kernel_for(const struct op_record *record,
                                   const struct tensor_record *tensors);

#endif
