/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/stages.h"

#include <stddef.h>

/* Stages, and operands of adds from outside. */
struct storage {
    struct stage stages[1 + STAGES_MAX];
    struct rows outside[OPERANDS_MAX];
};

/* A function of its own: its frame is none of the kernel's. */
#define APART static __attribute__((noinline))

APART void set_whole(struct rows *rows, const struct op_call *call, uint32_t tensor)
{
    const struct tensor_record *const record = &call->tensors[tensor];
    rows->first = call->arena + record->offset;
    rows->slots = record->h;
    rows->row_step = record->w * record->c;
    rows->pixel_step = record->c;
    rows->channel_step = 1;
    rows->before = 0;
    rows->after = 0;
    rows->made = record->h;
    rows->slot = 0;
}

/* Rows of a tensor inside the segment, which `reader` reads next. */
static void set_ring(struct rows *rows, const struct op_call *call, uint32_t tensor,
                     const struct op_record *reader)
{
    const struct tensor_record *const record = &call->tensors[tensor];
    set_whole(rows, call, tensor);
    rows->slots = (int32_t)record->rows;
    if (record->stored_by == STORED_BY_PLANES) {
        rows->before = reader->pad_left;
        rows->after = reader->pad_right;
        rows->row_step = rows->before + record->w + rows->after;
        rows->pixel_step = 1;
        rows->channel_step = rows->slots * rows->row_step;
        rows->first += rows->before;
    }
}

/* Where the rows of a stage go; of the stage before it that is known. */
static void set_output(struct stage *stage, const struct op_call *call, bool last)
{
    const struct op_record *const record = stage->record;
    if (last) {
        set_whole(&stage->output, call, record->output);
    } else if (stage->parked) {
        stage->output = stage[-1].output;
        stage->output.before = 0;             /* what lies beside it is padding of the host */
        stage->output.after = 0;
    } else {
        set_ring(&stage->output, call, record->output, record + 1);
    }
    stage->output.made = 0;
}

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
static const struct rows *other_of(struct storage *storage, const struct op_call *call,
                                   uint32_t tensor)
{
    for (uint32_t number = 1; number <= call->record->stages; number++) {
        if (call->record[number].output == tensor) {
            return &storage->stages[number].output;
        }
    }
    for (uint32_t number = 0; number < call->record->input_count; number++) {
        if (call->record->inputs[number] == tensor) {
            set_whole(&storage->outside[number], call, tensor);
            return &storage->outside[number];
        }
    }
    return NULL;                              /* segments_check has refused it */
}

APART void prepare(struct storage *storage, const struct op_call *call)
{
    const struct op_record *const record = call->record;
    uint32_t source = record->inputs[0];
    set_whole(&storage->stages[0].output, call, source);
    storage->stages[0].parked = false;
    for (uint32_t number = 1; number <= record->stages; number++) {
        struct stage *const stage = &storage->stages[number];
        const struct op_record *const own = &record[number];
        set_stage(stage, call, own);
        set_output(stage, call, number == record->stages);
        if (own->kind == OP_KIND_ADD) {
            stage->other_first = own->inputs[0] != source;
            stage->other = other_of(storage, call, own->inputs[stage->other_first ? 0 : 1]);
        }
        source = own->output;
    }
}

void stages_run_in_window(void (*run)(const struct op_call *), struct op_call *call,
                          const struct port_conditions *conditions, struct port_window *window)
{
    struct storage storage;
    const struct segment segment = {storage.stages, (int32_t)call->record->stages};
    prepare(&storage, call);
    call->segment = &segment;
    port_run_in_window(run, call, conditions, window);
    call->segment = NULL;
}
