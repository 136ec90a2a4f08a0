/* SPDX-License-Identifier: Apache-2.0 */
/* The records of a case: no number in them may make a kernel leave the arena or the slices. */
#include "runner/pack.h"
#include "runner/segments.h"
#include "runner/shapes.h"

enum { SHIFT_MIN = -31, SHIFT_MAX = 30, OPS_MAX = 0xfffe };

static enum status bad(struct problem *problem, uint32_t index, enum bad_record what,
                       uint32_t expected, uint32_t seen)
{
    return fail(STATUS_BAD_RECORD, problem, index << 16 | what, expected, seen);
}

/* A table of positions lies in the weights and sends no pixel out of its tensor. */
static enum status check_positions(const struct pack_case *found, uint32_t index,
                                   struct problem *problem)
{
    const struct tensor_record *const tensor = &found->tensors[index];
    const uint32_t pixels = (uint32_t)tensor->h * tensor->w;
    const uint64_t end = (uint64_t)tensor->positions_offset + (uint64_t)pixels * sizeof(uint16_t);
    if (end > found->weights_bytes || tensor->positions_offset % sizeof(uint16_t) != 0) {
        return bad(problem, index, BAD_POSITIONS, found->weights_bytes, tensor->positions_offset);
    }
    const uint16_t *const positions = pack_positions(found, tensor);
    for (uint32_t pixel = 0; pixel < pixels; pixel++) {
        if (positions[pixel] >= pixels) {
            return bad(problem, index, BAD_POSITIONS, pixels, positions[pixel]);
        }
    }
    return STATUS_OK;
}

static enum status check_tensor(const struct pack_case *found, uint32_t index,
                                struct problem *problem)
{
    const struct tensor_record *const tensor = &found->tensors[index];
    const uint64_t bytes = (uint64_t)tensor->h * tensor->w * tensor->c;
    const uint32_t arena = found->entry->arena_bytes;
    const bool ring = segments_ring(tensor);  /* its bytes depend on the segment */
    if (bytes == 0 || (!ring && bytes != tensor->bytes)) {
        return bad(problem, index, BAD_TENSOR_SIZE, (uint32_t)bytes, tensor->bytes);
    }
    if (tensor->offset > arena || tensor->bytes > arena - tensor->offset) {
        return bad(problem, index, BAD_TENSOR_RANGE, arena, tensor->offset);
    }
    if ((uint32_t)tensor->pad_top + tensor->pad_bottom >= tensor->h ||
        (uint32_t)tensor->pad_left + tensor->pad_right >= tensor->w ||
        tensor->stored_by > STORED_BY_PARKED) {
        return bad(problem, index, BAD_TENSOR_SIZE, STORED_BY_PARKED, tensor->stored_by);
    }
    return tensor->stored_by == STORED_BY_ORDER ? check_positions(found, index, problem)
                                                : STATUS_OK;
}

static enum status check_quants(const struct pack_case *found, uint32_t index,
                                struct problem *problem)
{
    const struct op_record *const op = &found->ops[index];
    for (uint32_t number = 0; number < op->quant_count; number++) {
        const struct quant_record *const quant = &found->quants[op->quant_first + number];
        if (quant->shift < SHIFT_MIN || quant->shift > SHIFT_MAX) {
            return bad(problem, index, BAD_SHIFT, number, (uint32_t)quant->shift);
        }
        if (quant->multiplier == INT32_MIN) {
            return bad(problem, index, BAD_MULTIPLIER, number, (uint32_t)quant->multiplier);
        }
    }
    return STATUS_OK;
}

static enum status check_zero_point(int32_t zero_point, uint32_t index, uint32_t which,
                                    struct problem *problem)
{
    return zero_point >= INT8_MIN && zero_point <= INT8_MAX
               ? STATUS_OK
               : bad(problem, index, BAD_ZERO_POINT, which, (uint32_t)zero_point);
}

static enum status check_ranges(const struct pack_case *found, uint32_t index,
                                struct problem *problem)
{
    const struct op_record *const op = &found->ops[index];
    const int32_t zero_points[] = {op->input_zero_points[0], op->input_zero_points[1],
                                   op->output_zero_point};
    for (uint32_t which = 0; which < sizeof zero_points / sizeof zero_points[0]; which++) {
        const enum status status = check_zero_point(zero_points[which], index, which, problem);
        if (status != STATUS_OK) {
            return status;
        }
    }
    if (op->activation_min < INT8_MIN || op->activation_max > INT8_MAX ||
        op->activation_min > op->activation_max) {
        return bad(problem, index, BAD_ACTIVATION, (uint32_t)op->activation_min,
                   (uint32_t)op->activation_max);
    }
    return STATUS_OK;
}

static enum status check_tensors_of(const struct pack_case *found, uint32_t index,
                                    struct problem *problem)
{
    const struct op_record *const op = &found->ops[index];
    if (op->output >= found->tensor_count) {
        return bad(problem, index, BAD_TENSOR_INDEX, found->tensor_count, op->output);
    }
    if (op->input_count == 0 || op->input_count > OPERANDS_MAX) {
        return bad(problem, index, BAD_OPERANDS, OPERANDS_MAX, op->input_count);
    }
    for (uint32_t number = 0; number < op->input_count; number++) {
        if (op->inputs[number] >= found->tensor_count) {
            return bad(problem, index, BAD_TENSOR_INDEX, found->tensor_count, op->inputs[number]);
        }
    }
    return STATUS_OK;
}

/* Scratch of its own in the arena, where kernels store words. */
static enum status check_scratch(const struct pack_case *found, uint32_t index,
                                 struct problem *problem)
{
    const struct op_record *const op = &found->ops[index];
    const uint32_t arena = found->entry->arena_bytes;
    if (op->scratch_offset != SCRATCH_APART &&
        (op->scratch_offset % sizeof(uint32_t) != 0 || op->scratch_offset > arena ||
         op->scratch_bytes > arena - op->scratch_offset)) {
        return bad(problem, index, BAD_SCRATCH, arena, op->scratch_offset);
    }
    return STATUS_OK;
}

/* segment: of a stage its segment's index, else the op's own. */
static enum status check_op(const struct pack_case *found, uint32_t segment, uint32_t index,
                            struct problem *problem)
{
    enum status status = check_scratch(found, index, problem);
    if (status == STATUS_OK) {
        status = shapes_check_stage(found, segment, index, problem);
    }
    if (status == STATUS_OK) {
        status = check_quants(found, index, problem);
    }
    if (status == STATUS_OK) {
        status = check_ranges(found, index, problem);
    }
    return status;
}

/* Only a stage of a segment may name a tensor that is not whole. */
static enum status check_whole(const struct pack_case *found, uint32_t index,
                               struct problem *problem)
{
    const struct op_record *const op = &found->ops[index];
    for (uint32_t number = 0; number <= op->input_count; number++) {
        const uint32_t tensor = number < op->input_count ? op->inputs[number] : op->output;
        if (segments_ring(&found->tensors[tensor])) {
            return bad(problem, index, BAD_RING, 0, tensor);
        }
    }
    return STATUS_OK;
}

static enum status check_segment(const struct pack_case *found, uint32_t index,
                                 struct problem *problem)
{
    const struct op_record *const op = &found->ops[index];
    if (op->stages == 0 || op->stages > STAGES_MAX || op->stages >= found->op_count - index) {
        return bad(problem, index, BAD_STAGE, STAGES_MAX, op->stages);
    }
    enum status status = STATUS_OK;
    for (uint32_t number = 0; number <= op->stages && status == STATUS_OK; number++) {
        status = check_tensors_of(found, index + number, problem);
    }
    if (status == STATUS_OK) {
        status = check_scratch(found, index, problem);
    }
    for (uint32_t number = 1; number <= op->stages && status == STATUS_OK; number++) {
        status = check_op(found, index, index + number, problem);
    }
    return status == STATUS_OK ? segments_check(found, index, problem) : status;
}

/* An op, or a segment with its stages. */
static enum status check_step(const struct pack_case *found, uint32_t index,
                              struct problem *problem)
{
    enum status status;
    if (found->ops[index].kind == OP_KIND_SEGMENT) {
        status = check_segment(found, index, problem);
    } else {
        status = check_tensors_of(found, index, problem);
        if (status == STATUS_OK) {
            status = check_op(found, index, index, problem);
        }
    }
    return status == STATUS_OK ? check_whole(found, index, problem) : status;
}

/* Of the case's inputs or outputs: `tensors` of the entry, one to OPERANDS_MAX of them. */
static enum status check_list(const struct pack_case *found, const uint16_t *tensors,
                              uint32_t count, struct problem *problem)
{
    if (count == 0 || count > OPERANDS_MAX) {
        return bad(problem, 0, BAD_OPERANDS, OPERANDS_MAX, count);
    }
    for (uint32_t number = 0; number < count; number++) {
        if (tensors[number] >= found->tensor_count) {
            return bad(problem, 0, BAD_TENSOR_INDEX, found->tensor_count, tensors[number]);
        }
        if (segments_ring(&found->tensors[tensors[number]])) {
            return bad(problem, 0, BAD_RING, 0, tensors[number]);
        }
    }
    return STATUS_OK;
}

static enum status check_entry(const struct pack_case *found, struct problem *problem)
{
    const struct case_entry *const entry = found->entry;
    if (found->op_count == 0 || found->op_count > OPS_MAX) {
        return bad(problem, 0, BAD_OP_COUNT, OPS_MAX, found->op_count);
    }
    const enum status status =
        check_list(found, entry->inputs, entry->input_count, problem);
    return status == STATUS_OK ? check_list(found, entry->outputs, entry->output_count, problem)
                               : status;
}

/* The values of the inputs lie in the weights slice, and there are as many as the tensors take. */
static enum status check_given(const struct pack_case *found, struct problem *problem)
{
    const struct case_entry *const entry = found->entry;
    uint64_t bytes = 0;
    for (uint32_t number = 0; number < entry->input_count; number++) {
        bytes += found->tensors[entry->inputs[number]].bytes;
    }
    const uint32_t given = entry->given_bytes;
    return given == 0 || (given == bytes && given <= found->weights_bytes)
               ? STATUS_OK
               : bad(problem, 0, BAD_GIVEN, (uint32_t)bytes, given);
}

enum status pack_check_records(const struct pack_case *found, struct problem *problem)
{
    enum status status = check_entry(found, problem);
    for (uint32_t index = 0; index < found->tensor_count && status == STATUS_OK; index++) {
        status = check_tensor(found, index, problem);
    }
    for (uint32_t index = 0; index < found->op_count && status == STATUS_OK;
         index += pack_records(&found->ops[index])) {
        status = check_step(found, index, problem);
    }
    return status == STATUS_OK ? check_given(found, problem) : status;
}
