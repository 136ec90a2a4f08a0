/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a case: no number in them may make a kernel leave the arena or the slices. */
#include "runner/pack.h"

enum { SHIFT_MIN = -31, SHIFT_MAX = 30, OPS_MAX = 0xfffe };

static enum status bad(struct problem *problem, uint32_t index, enum bad_record what,
                       uint32_t expected, uint32_t seen)
{
    return fail(STATUS_BAD_RECORD, problem, index << 16 | what, expected, seen);
}

static enum status check_tensor(const struct pack_case *found, uint32_t index,
                                struct problem *problem)
{
    const struct tensor_record *const tensor = &found->tensors[index];
    const uint64_t bytes = (uint64_t)tensor->h * tensor->w * tensor->c;
    const uint32_t arena = found->entry->arena_bytes;
    if (bytes == 0 || bytes != tensor->bytes) {
        return bad(problem, index, BAD_TENSOR_SIZE, (uint32_t)bytes, tensor->bytes);
    }
    if (tensor->offset > arena || tensor->bytes > arena - tensor->offset) {
        return bad(problem, index, BAD_TENSOR_RANGE, arena, tensor->offset);
    }
    return STATUS_OK;
}

/* Output rows or columns; -1 for a kernel that does not fit even once. */
static int64_t output_size(uint32_t input, uint32_t before, uint32_t after, uint32_t kernel,
                           uint32_t stride, uint32_t dilation)
{
    const int64_t reach = (int64_t)dilation * (kernel - 1) + 1;
    const int64_t room = (int64_t)input + before + after - reach;
    return room < 0 ? -1 : room / stride + 1;
}

static enum status check_geometry(const struct pack_case *found, uint32_t index,
                                  struct problem *problem)
{
    const struct conv_record *const op = &found->ops[index];
    const struct tensor_record *const in = &found->tensors[op->input];
    const struct tensor_record *const out = &found->tensors[op->output];
    if (op->k_h == 0 || op->k_w == 0 || op->s_h == 0 || op->s_w == 0 || op->d_h == 0 ||
        op->d_w == 0) {
        return bad(problem, index, BAD_GEOMETRY, 1, 0);
    }
    /* Kernels compute the offsets of taps in padding, too: those have to fit 32 bits. */
    const int64_t span_h = (int64_t)in->h + op->pad_top + op->pad_bottom + op->d_h;
    const int64_t span_w = (int64_t)in->w + op->pad_left + op->pad_right + op->d_w;
    if ((span_h * in->w + span_w) * in->c > INT32_MAX) {
        return bad(problem, index, BAD_GEOMETRY, INT32_MAX, 1);
    }
    const int64_t h = output_size(in->h, op->pad_top, op->pad_bottom, op->k_h, op->s_h, op->d_h);
    const int64_t w = output_size(in->w, op->pad_left, op->pad_right, op->k_w, op->s_w, op->d_w);
    if (h != out->h || w != out->w) {
        return bad(problem, index, BAD_OUTPUT_SHAPE,
                   ((uint32_t)h & 0xffff) << 16 | ((uint32_t)w & 0xffff),
                   (uint32_t)out->h << 16 | out->w);
    }
    return STATUS_OK;
}

static enum status check_constants(const struct pack_case *found, uint32_t index,
                                   struct problem *problem)
{
    const struct conv_record *const op = &found->ops[index];
    const uint32_t c_in = found->tensors[op->input].c;
    const uint32_t c_out = found->tensors[op->output].c;
    const uint32_t taps = (uint32_t)op->k_h * op->k_w;
    const uint64_t field = (uint64_t)taps * c_in;
    if (field > found->weights_bytes || field * c_out != op->weights_bytes ||
        op->weights_offset > found->weights_bytes ||
        op->weights_bytes > found->weights_bytes - op->weights_offset) {
        return bad(problem, index, BAD_WEIGHTS_RANGE, found->weights_bytes, op->weights_bytes);
    }
    if (op->quant_first > found->quant_count || c_out > found->quant_count - op->quant_first) {
        return bad(problem, index, BAD_QUANT_RANGE, found->quant_count, op->quant_first);
    }
    for (uint32_t channel = 0; channel < c_out; channel++) {
        const struct quant_record *const quant = &found->quants[op->quant_first + channel];
        if (quant->shift < SHIFT_MIN || quant->shift > SHIFT_MAX) {
            return bad(problem, index, BAD_SHIFT, channel, (uint32_t)quant->shift);
        }
        if (quant->multiplier == INT32_MIN) {
            return bad(problem, index, BAD_MULTIPLIER, channel, (uint32_t)quant->multiplier);
        }
    }
    return STATUS_OK;
}

static enum status check_ranges(const struct pack_case *found, uint32_t index,
                                struct problem *problem)
{
    const struct conv_record *const op = &found->ops[index];
    if (op->input_zero_point < INT8_MIN || op->input_zero_point > INT8_MAX) {
        return bad(problem, index, BAD_ZERO_POINT, 0, (uint32_t)op->input_zero_point);
    }
    if (op->output_zero_point < INT8_MIN || op->output_zero_point > INT8_MAX) {
        return bad(problem, index, BAD_ZERO_POINT, 1, (uint32_t)op->output_zero_point);
    }
    if (op->activation_min < INT8_MIN || op->activation_max > INT8_MAX ||
        op->activation_min > op->activation_max) {
        return bad(problem, index, BAD_ACTIVATION, (uint32_t)op->activation_min,
                   (uint32_t)op->activation_max);
    }
    return STATUS_OK;
}

static enum status check_op(const struct pack_case *found, uint32_t index, struct problem *problem)
{
    const struct conv_record *const op = &found->ops[index];
    if (op->kind != OP_KIND_CONV) {
        return bad(problem, index, BAD_OP_KIND, OP_KIND_CONV, op->kind);
    }
    if (op->input >= found->tensor_count || op->output >= found->tensor_count) {
        return bad(problem, index, BAD_TENSOR_INDEX, found->tensor_count,
                   op->input >= found->tensor_count ? op->input : op->output);
    }
    enum status status = check_geometry(found, index, problem);
    if (status == STATUS_OK) {
        status = check_constants(found, index, problem);
    }
    if (status == STATUS_OK) {
        status = check_ranges(found, index, problem);
    }
    return status;
}

enum status pack_check_records(const struct pack_case *found, struct problem *problem)
{
    const struct case_entry *const entry = found->entry;
    if (found->op_count == 0 || found->op_count > OPS_MAX) {
        return bad(problem, 0, BAD_OP_COUNT, OPS_MAX, found->op_count);
    }
    if (entry->input_tensor >= found->tensor_count || entry->output_tensor >= found->tensor_count) {
        return bad(problem, 0, BAD_TENSOR_INDEX, found->tensor_count, entry->input_tensor);
    }
    enum status status = STATUS_OK;
    for (uint32_t index = 0; index < found->tensor_count && status == STATUS_OK; index++) {
        status = check_tensor(found, index, problem);
    }
    for (uint32_t index = 0; index < found->op_count && status == STATUS_OK; index++) {
        status = check_op(found, index, problem);
    }
    return status;
}
