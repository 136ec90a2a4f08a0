/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/case.h"

#include <stdbool.h>
#include <stddef.h>

#include "runner/crc.h"
#include "runner/input.h"
#include "runner/kernels.h"
#include "runner/memory.h"
#include "runner/paint.h"
#include "runner/stages.h"

struct position runner_position = {0xffff, 0xffff};

static struct op_result op_results[CASE_OPS_MAX];

static uint64_t round_up(uint64_t value)
{
    return (value + CASE_ALIGNMENT - 1) / CASE_ALIGNMENT * CASE_ALIGNMENT;
}

static enum status lay_out(struct case_run *run, struct problem *problem)
{
    const struct case_entry *const entry = run->found.entry;
    const struct port_memory pool = port_pool();
    const uint64_t arena_end = (uint64_t)ARENA_LEAD + entry->arena_bytes;
    const uint64_t scratch = round_up(arena_end + GUARD_BYTES);
    const uint64_t scratch_end = scratch + entry->scratch_bytes;
    if (scratch_end + GUARD_BYTES > pool.bytes) {
        return fail(STATUS_ARENA_TOO_SMALL, problem, 0, pool.bytes, (uint32_t)scratch_end);
    }
    run->memory = (struct case_memory){
        .arena = ARENA_LEAD,
        .arena_end = (uint32_t)arena_end,
        .scratch = (uint32_t)scratch,
        .scratch_end = (uint32_t)scratch_end,
        .end = pool.bytes,
    };
    return STATUS_OK;
}

static enum status check_kernels(const struct case_run *run, struct problem *problem)
{
    const struct pack_case *const found = &run->found;
    if (found->op_count > CASE_OPS_MAX) {
        return fail(STATUS_BAD_RECORD, problem, BAD_OP_COUNT, CASE_OPS_MAX, found->op_count);
    }
    for (uint32_t index = 0; index < found->op_count; index += pack_records(&found->ops[index])) {
        const struct op_record *const op = &found->ops[index];
        const struct op_kernel *const kernel = kernel_for(op, found->tensors);
        if (kernel == NULL) {
            return fail(STATUS_NO_KERNEL, problem, index, op->kernel, op->kind);
        }
        const uint64_t scratch = kernel->scratch_bytes(op, found->tensors);
        const uint32_t given = op->scratch_offset == SCRATCH_APART ? found->entry->scratch_bytes
                                                                   : op->scratch_bytes;
        if (scratch > given) {
            return fail(STATUS_ARENA_TOO_SMALL, problem, 1 + index, (uint32_t)scratch, given);
        }
    }
    return STATUS_OK;
}

enum status case_prepare(struct case_run *run, uint32_t pack_address, uint32_t case_index,
                         struct problem *problem)
{
    struct pack pack;
    enum status status = pack_open(&pack, pack_address, problem);
    if (status == STATUS_OK) {
        status = pack_find_case(&pack, case_index, &run->found, problem);
    }
    if (status == STATUS_OK) {
        status = lay_out(run, problem);
    }
    if (status == STATUS_OK) {
        status = pack_check_records(&run->found, problem);
    }
    if (status == STATUS_OK) {
        status = check_kernels(run, problem);
    }
    if (status != STATUS_OK) {
        return status;
    }
    run->verified.case_index = case_index;
    run->verified.pack_header_crc = pack.header_crc;
    run->verified.entry_crc = crc32(0, run->found.entry, sizeof *run->found.entry);
    run->verified.ops_crc = run->found.slice_crc[SLICE_OPS];
    run->verified.tensors_crc = run->found.slice_crc[SLICE_TENSORS];
    run->verified.quants_crc = run->found.slice_crc[SLICE_QUANTS];
    run->verified.weights_crc = run->found.slice_crc[SLICE_WEIGHTS];
    return STATUS_OK;
}

static struct op_call call_of(const struct case_run *run, const struct op_record *op)
{
    const struct pack_case *const found = &run->found;
    const struct tensor_record *const in = &found->tensors[op->inputs[0]];
    const struct tensor_record *const out = &found->tensors[op->output];
    uint8_t *const pool = port_pool().base;
    int8_t *const arena = (int8_t *)pool + run->memory.arena;
    const bool stored = op->layout == LAYOUT_PADDED;
    const bool apart = op->scratch_offset == SCRATCH_APART;
    struct op_call call = {
        .input = arena + in->offset,
        .output = arena + out->offset,
        .weights = found->weights + op->weights_offset,
        .weights_bytes = op->weights_bytes,
        .quants = found->quants + op->quant_first,
        .scratch = apart ? pool + run->memory.scratch : (uint8_t *)arena + op->scratch_offset,
        .scratch_bytes = apart ? 0 : op->scratch_bytes,
        .h_in = in->h, .w_in = in->w, .c_in = in->c,
        .h_out = out->h, .w_out = out->w, .c_out = out->c,
        .k_h = op->k_h, .k_w = op->k_w,
        .s_h = op->s_h, .s_w = op->s_w,
        .d_h = op->d_h, .d_w = op->d_w,
        .pad_top = stored ? 0 : op->pad_top, .pad_left = stored ? 0 : op->pad_left,
        .step_pixels = (int32_t)op->step_pixels,
        .input_zero_point = op->input_zero_points[0],
        .output_zero_point = op->output_zero_point,
        .activation_min = op->activation_min,
        .activation_max = op->activation_max,
        .record = op,
        .positions = in->stored_by == STORED_BY_ORDER ? pack_positions(found, in) : NULL,
        .tensors = found->tensors,
        .arena = arena,
        .case_weights = found->weights,
        .case_quants = found->quants,
    };
    for (uint32_t number = 0; number < op->input_count; number++) {
        call.input_records[number] = &found->tensors[op->inputs[number]];
        call.inputs[number] = arena + call.input_records[number]->offset;
    }
    return call;
}

/* How an op is run. cold: nothing is in the flash cache. Otherwise the op's weights, its records of quantisation and the
 * positions of its input, where there are any, have been read through once; its own record has
 * not. */
static struct port_conditions conditions_of(const struct op_record *op,
                                            const struct op_call *call, bool keep_interrupts,
                                            bool cold)
{
    const uint32_t pixels = (uint32_t)(call->h_in * call->w_in);
    const uint32_t ranges = call->positions == NULL ? 2 : 3;
    return (struct port_conditions){
        .keep_interrupts = keep_interrupts,
        .warm = {{call->weights, op->weights_bytes},
                 {call->quants, op->quant_count * (uint32_t)sizeof *call->quants},
                 {call->positions, pixels * (uint32_t)sizeof *call->positions}},
        .warm_ranges = cold ? 0 : ranges,
    };
}

static void add_op(uint32_t index, const struct op_record *op, const struct port_window *window,
                   struct run_result *result)
{
    result->cycles += window->cycles;
    result->microseconds += window->microseconds;
    result->interrupt_cycles += window->interrupt_cycles;
    result->interrupts += window->interrupts;
    op_results[index] = (struct op_result){
        .cycles = window->cycles,
        .interrupt_cycles = window->interrupt_cycles,
        .xip_accesses = window->xip_accesses,
        .xip_hits = window->xip_hits,
        .op_index = (uint16_t)index,
        .kernel = op->kernel,
        .breaches = (uint16_t)window->breaches,
    };
}

static void run_in_window(void (*run)(const struct op_call *), struct op_call *call,
                          const struct port_conditions *conditions, struct port_window *window)
{
    if (call->record->kind == OP_KIND_SEGMENT) {
        stages_run_in_window(run, call, conditions, window);
    } else {
        port_run_in_window(run, call, conditions, window);
    }
}

static void run_ops(const struct case_run *run, const struct run_request *request, bool cold,
                    struct run_result *result)
{
    const bool keep_interrupts = request->keep_interrupts != 0;
    const uint32_t count = case_ops(run, request);
    const struct op_record *op = run->found.ops;
    for (uint32_t index = 0; index < count; index++, op += pack_records(op)) {
        struct op_call call = call_of(run, op);
        const struct port_conditions conditions =
            conditions_of(op, &call, keep_interrupts, cold);
        struct port_window window;
        runner_position.op_index = (uint16_t)index;
        run_in_window(kernel_for(op, run->found.tensors)->run, &call, &conditions, &window);
        add_op(index, op, &window, result);
    }
}

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t most(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static const struct tensor_record *input_of(const struct case_run *run, uint32_t number)
{
    return &run->found.tensors[run->found.entry->inputs[number]];
}

/* What the run touched, by the paint. Input bytes count as touched: they were loaded. */
static void find_touched(const struct case_run *run, bool complement, struct run_result *result)
{
    const struct case_memory *const m = &run->memory;
    const uint8_t *const pool = port_pool().base;
    /* everything but scratch, in order */
    const struct {
        uint32_t begin, end;
        bool outside;
    } parts[] = {
        {0, m->arena, true},
        {m->arena, m->arena_end, false},
        {m->arena_end, m->scratch, true},
        {m->scratch_end, m->end, true},
    };
    uint32_t low = m->arena_end;
    uint32_t high = m->arena;
    for (uint32_t number = 0; number < run->found.entry->input_count; number++) {
        const struct tensor_record *const input = input_of(run, number);
        low = least(low, m->arena + input->offset);
        high = most(high, m->arena + input->offset + input->bytes);
    }
    uint32_t outside_first = m->end;
    for (uint32_t part = 0; part < sizeof parts / sizeof parts[0]; part++) {
        const uint32_t begin = parts[part].begin;
        const uint32_t end = parts[part].end;
        const uint32_t first = paint_first_changed(pool, begin, end, complement);
        if (first == end) {
            continue;
        }
        low = least(low, first);
        high = most(high, paint_last_changed(pool, begin, end, complement));
        if (parts[part].outside) {
            outside_first = least(outside_first, first);
            result->outside_count += paint_count_changed(pool, first, end, complement);
        }
    }
    result->low_water = (int32_t)(low - m->arena);
    result->high_water = (int32_t)(high - m->arena);
    if (result->outside_count != 0) {
        result->outside_first = (int32_t)(outside_first - m->arena);
    }
    result->scratch_used =
        paint_last_changed(pool, m->scratch, m->scratch_end, complement) - m->scratch;
}

/* The n-th operand's values come from the n-th seed after the run's, unless the pack gives them. */
static void load_inputs(const struct case_run *run, uint8_t *arena, uint32_t seed,
                        struct run_result *result)
{
    const uint32_t given_bytes = run->found.entry->given_bytes;
    const int8_t *given = run->found.weights + (run->found.weights_bytes - given_bytes);
    for (uint32_t number = 0; number < run->found.entry->input_count; number++) {
        const struct tensor_record *const input = input_of(run, number);
        const uint16_t *const positions =
            input->stored_by == STORED_BY_ORDER ? pack_positions(&run->found, input) : NULL;
        if (given_bytes == 0) {
            input_load(arena + input->offset, input, positions, seed + number);
        } else {
            memcpy(arena + input->offset, given, input->bytes);
            given += input->bytes;
        }
        result->input_crc = crc32(result->input_crc, arena + input->offset, input->bytes);
    }
}

/* The record of the op behind which a run of so many ops ends. */
static const struct op_record *last_of(const struct case_run *run, uint32_t ops)
{
    const struct op_record *op = run->found.ops;
    for (uint32_t number = 1; number < ops; number++) {
        op += pack_records(op);
    }
    return op;
}

static uint32_t crc_of_tensor(const struct case_run *run, const uint8_t *arena, uint32_t index,
                              uint32_t crc)
{
    const struct tensor_record *const tensor = &run->found.tensors[index];
    return crc32(crc, arena + tensor->offset, tensor->bytes);
}

/* Of a case that was stopped early, what its last op made. */
static uint32_t crc_of_outputs(const struct case_run *run, const struct run_request *request,
                               const uint8_t *arena)
{
    const struct case_entry *const entry = run->found.entry;
    if (request->ops != 0) {
        return crc_of_tensor(run, arena, last_of(run, request->ops)->output, 0);
    }
    uint32_t crc = 0;
    for (uint32_t number = 0; number < entry->output_count; number++) {
        crc = crc_of_tensor(run, arena, entry->outputs[number], crc);
    }
    return crc;
}

uint32_t case_op_count(const struct case_run *run)
{
    uint32_t count = 0;
    for (uint32_t record = 0; record < run->found.op_count; count++) {
        record += pack_records(&run->found.ops[record]);
    }
    return count;
}

uint32_t case_ops(const struct case_run *run, const struct run_request *request)
{
    return request->ops == 0 ? case_op_count(run) : request->ops;
}

void case_execute(const struct case_run *run, const struct run_request *request, bool cold,
                  struct run_result *result)
{
    const struct port_memory pool = port_pool();
    uint8_t *const arena = pool.base + run->memory.arena;
    const bool complement = request->paint != 0;

    *result = (struct run_result){.interrupts_on = request->keep_interrupts != 0};
    paint_pool(pool.base, pool.bytes, complement);
    load_inputs(run, arena, request->seed, result);
    run_ops(run, request, cold, result);
    result->output_crc = crc_of_outputs(run, request, arena);
    find_touched(run, complement, result);
    result->stack_peak = port_stack_peak();
}

const struct op_result *case_op_result(uint32_t index)
{
    return &op_results[index];
}
