/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/segments.h"

#include <stddef.h>

#include "runner/kernels.h"

/* A segment; stages are numbered from 1. */
struct view {
    const struct pack_case *found;
    const struct op_record *op;
    uint32_t index;
};

static const struct op_record *stage_of(const struct view *segment, uint32_t number)
{
    return segment->op + number;
}

static const struct tensor_record *tensor_of(const struct view *segment, uint32_t tensor)
{
    return &segment->found->tensors[tensor];
}

static enum status bad(struct problem *problem, uint32_t index, enum bad_record what,
                       uint32_t expected, uint32_t seen)
{
    return fail(STATUS_BAD_RECORD, problem, index << 16 | what, expected, seen);
}

static bool has_input(const struct op_record *op, uint32_t tensor)
{
    for (uint32_t number = 0; number < op->input_count; number++) {
        if (op->inputs[number] == tensor) {
            return true;
        }
    }
    return false;
}

/* Does the segment read it from outside, or has an earlier stage made it? */
static bool is_known(const struct view *segment, uint32_t tensor, uint32_t number)
{
    for (uint32_t earlier = 1; earlier < number; earlier++) {
        if (stage_of(segment, earlier)->output == tensor) {
            return true;
        }
    }
    return has_input(segment->op, tensor);
}

static bool stage_is_sound(const struct view *segment, uint32_t number)
{
    const struct op_record *const stage = stage_of(segment, number);
    const uint32_t source =
        number == 1 ? segment->op->inputs[0] : stage_of(segment, number - 1)->output;
    if ((stage->kind != OP_KIND_CONV && stage->kind != OP_KIND_DEPTHWISE &&
         stage->kind != OP_KIND_ADD) ||
        stage->layout != LAYOUT_DENSE || !has_input(stage, source)) {
        return false;
    }
    const struct tensor_record *const out = tensor_of(segment, stage->output);
    for (uint32_t input = 0; input < stage->input_count; input++) {
        const struct tensor_record *const in = tensor_of(segment, stage->inputs[input]);
        const bool same = in->h == out->h && in->w == out->w;
        if (!is_known(segment, stage->inputs[input], number) ||
            (stage->kind == OP_KIND_ADD && !same)) {
            return false;
        }
    }
    return number < segment->op->stages ? segments_ring(out)
                                        : stage->output == segment->op->output;
}

/* The rows that stage `number` makes, for the next one. A parked row takes the place of a row of
 * its source, over the same pixels of the same channels. */
static bool ring_is_sound(const struct view *segment, uint32_t number)
{
    const struct op_record *const stage = stage_of(segment, number);
    const struct op_record *const reader = stage_of(segment, number + 1);
    const struct tensor_record *const ring = tensor_of(segment, stage->output);
    const struct tensor_record *const source = tensor_of(segment, stage->inputs[0]);
    uint64_t width = ring->w;
    switch (ring->stored_by) {
    case STORED_BY_PARKED:
        return stage->kind == OP_KIND_DEPTHWISE &&
               (source->stored_by == STORED_BY_RING || source->stored_by == STORED_BY_PLANES) &&
               source->offset == ring->offset && source->bytes == ring->bytes &&
               source->rows == ring->rows && source->c == ring->c && ring->w <= source->w;
    case STORED_BY_PLANES:
        if (reader->kind != OP_KIND_DEPTHWISE) {
            return false;
        }
        width += (uint64_t)reader->pad_left + reader->pad_right;
        break;
    default:
        break;
    }
    return ring->rows != 0 && (uint64_t)ring->rows * ring->c <= UINT32_MAX &&
           ring->rows * ring->c * width == ring->bytes;
}

/* The segment's constants are what is read of flash before it: those of its stages, all in the
 * case's slices. */
static enum status check_constants(const struct view *segment, struct problem *problem)
{
    const struct op_record *const op = segment->op;
    const struct pack_case *const found = segment->found;
    if (op->weights_offset > found->weights_bytes ||
        op->weights_bytes > found->weights_bytes - op->weights_offset) {
        return bad(problem, segment->index, BAD_WEIGHTS_RANGE, found->weights_bytes,
                   op->weights_offset);
    }
    if (op->quant_first > found->quant_count ||
        op->quant_count > found->quant_count - op->quant_first) {
        return bad(problem, segment->index, BAD_QUANT_RANGE, found->quant_count,
                   op->quant_first);
    }
    return STATUS_OK;
}

static enum status check_alignment(const struct view *segment, struct problem *problem)
{
    const struct op_record *const op = segment->op;
    const struct op_kernel *const kernel = kernel_for(op, segment->found->tensors);
    if (kernel == NULL || kernel->alignment == 0) {
        return STATUS_OK;
    }
    for (uint32_t number = 0; number < op->stages + op->input_count; number++) {
        const uint32_t tensor = number < op->stages ? stage_of(segment, number + 1)->output
                                                    : op->inputs[number - op->stages];
        const uint32_t offset = tensor_of(segment, tensor)->offset;
        if (offset % kernel->alignment != 0) {
            return bad(problem, segment->index, BAD_ALIGNMENT, kernel->alignment, offset);
        }
    }
    return STATUS_OK;
}

/* What the kernel finds in its stages' packed constants; their extent is checked. */
static enum status check_packed(const struct view *segment, struct problem *problem)
{
    const struct op_record *const op = segment->op;
    const struct pack_case *const found = segment->found;
    const struct op_kernel *const kernel = kernel_for(op, found->tensors);
    if (kernel == NULL || kernel->sound == NULL ||
        kernel->sound(op, found->tensors, found->weights + op->weights_offset)) {
        return STATUS_OK;
    }
    return bad(problem, segment->index, BAD_CONSTANTS, op->kernel, op->weights_offset);
}

enum status segments_check(const struct pack_case *found, uint32_t index,
                           struct problem *problem)
{
    const struct view segment = {.found = found, .op = &found->ops[index], .index = index};
    for (uint32_t number = 1; number <= segment.op->stages; number++) {
        if (!stage_is_sound(&segment, number)) {
            return bad(problem, index, BAD_STAGE, number, stage_of(&segment, number)->kind);
        }
        if (number < segment.op->stages && !ring_is_sound(&segment, number)) {
            return bad(problem, index, BAD_RING, number, stage_of(&segment, number)->output);
        }
    }
    enum status status = check_constants(&segment, problem);
    if (status == STATUS_OK) {
        status = check_alignment(&segment, problem);
    }
    return status == STATUS_OK ? check_packed(&segment, problem) : status;
}
