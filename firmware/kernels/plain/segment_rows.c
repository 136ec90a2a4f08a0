/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/plain/segment_rows.h"

RAM_CODE("plain_segment_whole")
static struct rows whole(const struct op_call *call, uint32_t tensor)
{
    const struct tensor_record *const record = &call->tensors[tensor];
    const int32_t row = record->w * record->c;
    return (struct rows){
        .first = call->arena + record->offset,
        .slots = record->h,
        .row_step = row,
        .pixel_step = record->c,
        .channel_step = 1,
        .made = record->h,
    };
}

/* Rows of a tensor inside the segment, which `reader` reads next. */
RAM_CODE("plain_segment_ring")
static struct rows ring(const struct op_call *call, uint32_t tensor,
                        const struct op_record *reader)
{
    const struct tensor_record *const record = &call->tensors[tensor];
    struct rows rows = whole(call, tensor);
    rows.slots = (int32_t)record->rows;
    rows.made = 0;
    if (record->stored_by == STORED_BY_PLANES) {
        rows.before = reader->pad_left;
        rows.after = reader->pad_right;
        rows.row_step = rows.before + record->w + rows.after;
        rows.pixel_step = 1;
        rows.channel_step = rows.slots * rows.row_step;
        rows.first += rows.before;
    }
    return rows;
}

/* What a planar ring stores of padding, once: the input's zero point of the stage that reads it. */
RAM_CODE("plain_segment_pad")
static void pad(const struct rows *rows, int32_t channels, int32_t pixels, int8_t value)
{
    int8_t *row = rows->first;
    for (int32_t number = channels * rows->slots; number > 0; number--) {
        for (int32_t x = -rows->before; x < 0; x++) {
            row[x] = value;
        }
        for (int32_t x = 0; x < rows->after; x++) {
            row[pixels + x] = value;
        }
        row += rows->row_step;
    }
}

RAM_CODE("plain_segment_set_stage")
static void set_stage(struct stage *stage, const struct op_call *call,
                      const struct op_record *record)
{
    const struct tensor_record *const in = &call->tensors[record->inputs[0]];
    const struct tensor_record *const out = &call->tensors[record->output];
    stage->record = record;
    stage->weights = call->case_weights + record->weights_offset;
    stage->quants = call->case_quants + record->quant_first;
    stage->other = NULL;
    stage->h_in = in->h;
    stage->w_in = in->w;
    stage->c_in = in->c;
    stage->h_out = out->h;
    stage->w_out = out->w;
    stage->c_out = out->c;
    stage->k_h = record->k_h;
    stage->k_w = record->k_w;
    stage->s_h = record->s_h;
    stage->s_w = record->s_w;
    stage->pad_top = record->pad_top;
    stage->pad_left = record->pad_left;
    stage->pad_right = record->pad_right;
    stage->input_zero_point = record->input_zero_points[0];
    stage->output_zero_point = record->output_zero_point;
    stage->low = record->activation_min - record->output_zero_point;
    stage->high = record->activation_max - record->output_zero_point;
    stage->kind = (enum op_kind)record->kind;
    stage->rounding = (enum rounding)record->rounding;
    stage->parked = out->stored_by == STORED_BY_PARKED;
    stage->other_first = false;
}

/* The operand of an add that is not its source: a tensor from outside, or of an earlier stage. */
RAM_CODE("plain_segment_other_of")
static const struct rows *other_of(struct segment *segment, const struct op_call *call,
                                   uint32_t tensor)
{
    for (uint32_t number = 1; number <= call->record->stages; number++) {
        if (call->record[number].output == tensor) {
            return &segment->stages[number].output;
        }
    }
    for (uint32_t number = 0; number < call->record->input_count; number++) {
        if (call->record->inputs[number] == tensor) {
            segment->outside[number] = whole(call, tensor);
            return &segment->outside[number];
        }
    }
    return NULL;                              /* the runner has refused it */
}

RAM_CODE("plain_segment_set_output")
static void set_output(struct segment *segment, const struct op_call *call, int32_t number)
{
    struct stage *const stage = &segment->stages[number];
    const struct op_record *const record = stage->record;
    if (number == segment->last) {
        stage->output = whole(call, record->output);
        stage->output.made = 0;
    } else if (stage->parked) {
        stage->output = segment->stages[number - 1].output;
        stage->output.before = 0;             /* what lies beside it is padding of the host */
        stage->output.after = 0;
        stage->output.made = 0;
    } else {
        const struct op_record *const reader = record + 1;
        stage->output = ring(call, record->output, reader);
        pad(&stage->output, stage->c_out, stage->w_out, (int8_t)reader->input_zero_points[0]);
    }
    stage->output.slot = 0;
}

RAM_CODE("plain_segment_begin")
void plain_segment_begin(struct segment *segment, const struct op_call *call)
{
    const struct op_record *const record = call->record;
    uint32_t source = record->inputs[0];
    segment->last = (int32_t)record->stages;
    segment->stages[0].output = whole(call, source);
    segment->stages[0].output.slot = 0;
    segment->stages[0].parked = false;
    for (int32_t number = 1; number <= segment->last; number++) {
        struct stage *const stage = &segment->stages[number];
        const struct op_record *const own = record + number;
        set_stage(stage, call, own);
        set_output(segment, call, number);
        if (own->kind == OP_KIND_ADD) {
            stage->other_first = own->inputs[0] != source;
            stage->other = other_of(segment, call, own->inputs[stage->other_first ? 0 : 1]);
        }
        source = own->output;
    }
}

RAM_CODE("plain_segment_next")
int32_t plain_segment_next(struct segment *segment, int32_t now)
{
    int32_t number = now == 0 || now == segment->last ? segment->last : now + 1;
    if (segment->stages[segment->last].output.made == segment->stages[segment->last].h_out) {
        return 0;
    }
    for (; number > 1; number--) {
        const struct stage *const stage = &segment->stages[number];
        const int32_t end = stage->output.made * stage->s_h - stage->pad_top + stage->k_h;
        const int32_t needed = end < stage->h_in ? end : stage->h_in;
        if (segment->stages[number - 1].output.made >= needed) {
            break;
        }
    }
    return number;
}

RAM_CODE("plain_segment_made")
void plain_segment_made(struct segment *segment, int32_t stage)
{
    struct rows *const rows = &segment->stages[stage].output;
    rows->made++;
    rows->slot = rows->slot + 1 == rows->slots ? 0 : rows->slot + 1;
}

/* In the ring of `rows`, whether row y exists or not. */
ALWAYS_INLINE int8_t *slot_of(const struct rows *rows, int32_t y)
{
    int32_t slot = rows->slot - (rows->made - y);
    while (slot < 0) {
        slot += rows->slots;
    }
    while (slot >= rows->slots) {
        slot -= rows->slots;
    }
    return rows->first + slot * rows->row_step;
}

/* Of a parked stage where the topmost row of its window lies, which no later row reads, or in the slot
 * that its source's ring has beyond the last row. */
RAM_CODE("plain_segment_parking")
static int8_t *parking(const struct segment *segment, int32_t number, int32_t row)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const source = &segment->stages[number - 1].output;
    if (source->slots > stage->h_in) {
        return source->first + stage->h_in * source->row_step;
    }
    return slot_of(source, row * stage->s_h - stage->pad_top);
}

RAM_CODE("plain_segment_row")
int8_t *plain_segment_row(const struct segment *segment, int32_t number, int32_t y)
{
    const struct stage *const stage = &segment->stages[number];
    return stage->parked ? parking(segment, number, y) : slot_of(&stage->output, y);
}

RAM_CODE("plain_segment_other")
int8_t *plain_segment_other(const struct rows *rows, int32_t y)
{
    return slot_of(rows, y);
}
