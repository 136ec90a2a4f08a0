/* SPDX-License-Identifier: Apache-2.0 */
/* The arithmetic of kernels.yaml's formulas: whole numbers from 0 to FORMULA_MAX. What would be more
 * is FORMULA_MAX, and so is a division by 0; what would be less than 0 is 0. No product or sum of two
 * such numbers overflows. harness/kernels/formula.py computes the same. */
#ifndef KERNELS_FORMULA_H
#define KERNELS_FORMULA_H

#include "runner/kernels.h"

#define FORMULA_MAX 0x7fffffffull

/* What formulas may name, of one op. h_in, w_in: of the first operand, as stored. */
struct formula_names {
    uint64_t h_in, w_in, c_in, h_out, w_out, c_out;
    uint64_t k_h, k_w, s_h, s_w, d_h, d_w;
    uint64_t pad_top, pad_left, pad_bottom, pad_right;
    uint64_t operands, broadcast;
    uint64_t b;
    uint64_t conv, depthwise;                 /* is it one? */
    uint64_t stage;                           /* of a segment, from 1; else 0 */
};

static inline uint64_t formula_cap(uint64_t a)
{
    return a < FORMULA_MAX ? a : FORMULA_MAX;
}

static inline uint64_t formula_add(uint64_t a, uint64_t b)
{
    return formula_cap(a + b);
}

static inline uint64_t formula_sub(uint64_t a, uint64_t b)
{
    return a < b ? 0 : a - b;
}

static inline uint64_t formula_mul(uint64_t a, uint64_t b)
{
    return formula_cap(a * b);
}

static inline uint64_t formula_div(uint64_t a, uint64_t b)
{
    return b == 0 ? FORMULA_MAX : a / b;
}

static inline uint64_t formula_mod(uint64_t a, uint64_t b)
{
    return b == 0 ? FORMULA_MAX : a % b;
}

static inline uint64_t formula_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline uint64_t formula_max(uint64_t a, uint64_t b)
{
    return a < b ? b : a;
}

static inline uint64_t formula_and(uint64_t a, uint64_t b)
{
    return a != 0 && b != 0;
}

static inline uint64_t formula_or(uint64_t a, uint64_t b)
{
    return a != 0 || b != 0;
}

static inline uint64_t formula_eq(uint64_t a, uint64_t b)
{
    return a == b;
}

static inline uint64_t formula_ne(uint64_t a, uint64_t b)
{
    return a != b;
}

static inline uint64_t formula_lt(uint64_t a, uint64_t b)
{
    return a < b;
}

static inline uint64_t formula_le(uint64_t a, uint64_t b)
{
    return a <= b;
}

static inline uint64_t formula_gt(uint64_t a, uint64_t b)
{
    return a > b;
}

static inline uint64_t formula_ge(uint64_t a, uint64_t b)
{
    return a >= b;
}

static inline struct formula_names formula_names_of(const struct op_record *record,
                                                    const struct tensor_record *tensors)
{
    const struct tensor_record *const in = &tensors[record->inputs[0]];
    const struct tensor_record *const out = &tensors[record->output];
    const struct tensor_record *const second =
        &tensors[record->inputs[record->input_count == 2 ? 1 : 0]];
    return (struct formula_names){
        .h_in = in->h, .w_in = in->w, .c_in = in->c,
        .h_out = out->h, .w_out = out->w, .c_out = out->c,
        .k_h = record->k_h, .k_w = record->k_w,
        .s_h = record->s_h, .s_w = record->s_w,
        .d_h = record->d_h, .d_w = record->d_w,
        .pad_top = record->pad_top, .pad_left = record->pad_left,
        .pad_bottom = record->pad_bottom, .pad_right = record->pad_right,
        .operands = record->input_count,
        .broadcast = second->h != in->h || second->w != in->w,
        .b = formula_cap(record->step_pixels),
        .conv = record->kind == OP_KIND_CONV,
        .depthwise = record->kind == OP_KIND_DEPTHWISE,
    };
}

/* Of a segment's stage, from 1. */
static inline struct formula_names formula_names_of_stage(const struct op_record *segment,
                                                          uint32_t stage,
                                                          const struct tensor_record *tensors)
{
    struct formula_names names = formula_names_of(segment + stage, tensors);
    names.stage = stage;
    return names;
}

#endif
