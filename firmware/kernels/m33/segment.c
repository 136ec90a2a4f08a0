/* SPDX-License-Identifier: Apache-2.0 */
/* A segment for the Cortex-M33's SIMD: rows pulled through convolutions, depthwise ones of 3 x 3, 5 x 5
 * and 7 x 7 and strides 1 and 2, and adds (plain/segment_rows.h), double rounding, planar rings. See
 * segment_conv.c, segment_depthwise.c and segment_add.c.
 *
 * Scratch: what the stages share, one after the other; behind it constants of channels, widened, that last
 * from row to row, as many as there is room for. Shorter steps of the convolutions leave more of it, so how
 * long they are is weighed against what is prepared anew with each. */
#include "kernels/m33/add.h"
#include "kernels/m33/segment.h"

enum {
    CHANNELS = 4,                             /* in a group */
    MOST_STEPS = 4,                           /* of a row */
    STEP_CYCLES = 150,                        /* of a group of a convolution in a step, about */
};

/* A stage, and how it would run. bytes: of a group's constants. */
struct weighed {
    const struct stage *stage;
    int32_t groups, bytes;
    int32_t prepared;                         /* cycles of a group's constants, about */
};

ALWAYS_INLINE int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* Pixels of a step, of which there are so many a row: pairs; of planes, which are read four pixels at a time,
 * as many as that. Of more than 4 pixels the four steps still fit where two of pairs would. */
ALWAYS_INLINE int32_t pixels_of(const struct stage *stage, int32_t steps)
{
    const int32_t pairs = ((stage->w_out + steps - 1) / steps + 1) & ~1;
    const bool planes = stage[-1].output.channel_step != 1;
    return planes && pairs > 4 ? (pairs + 3) & ~3 : pairs;
}

/* Bytes that a stage shares with the others. */
RAM_CODE("m33_segment_shared_by")
static int32_t shared_by(const struct stage *stage, int32_t steps)
{
    switch (stage->kind) {
    case OP_KIND_CONV:
        return m33_segment_conv_scratch(stage, pixels_of(stage, steps));
    case OP_KIND_DEPTHWISE:
        return m33_segment_depthwise_scratch(stage);
    default:
        return 0;
    }
}

RAM_CODE("m33_segment_weighed")
static struct weighed weighed_of(const struct stage *stage)
{
    const int32_t groups = (stage->c_out + CHANNELS - 1) / CHANNELS;
    const int32_t word = (int32_t)sizeof(uint32_t);
    const int32_t window = stage->k_h * stage->k_w;
    switch (stage->kind) {
    case OP_KIND_CONV:
        return (struct weighed){stage, groups, word * m33_segment_conv_words(stage),
                                270 + 10 * window * stage->c_in};
    case OP_KIND_DEPTHWISE:
        return (struct weighed){stage, groups, word * m33_segment_depthwise_words(stage),
                                300 + 22 * window};
    default:                                  /* tables: what a row takes without them */
        return (struct weighed){stage, 1, ADD_TABLES_BYTES, 40 * stage->w_out * stage->c_out};
    }
}

/* Steps of a row with which a stage shares no more than that. */
ALWAYS_INLINE int32_t steps_within(const struct stage *stage, int32_t shared)
{
    int32_t steps = 1;
    while (stage->kind == OP_KIND_CONV && steps < MOST_STEPS && shared_by(stage, steps) > shared) {
        steps++;
    }
    return steps;
}

/* Groups whose constants have room in so many bytes. */
ALWAYS_INLINE int32_t kept_within(const struct weighed *one, int32_t room)
{
    return room < 0 ? 0 : least(one->groups, room / one->bytes);
}

/* What a stage's constants cost in all of its rows, 16 times, for each of their bytes. */
ALWAYS_INLINE int32_t worth_of(const struct stage *stage, int32_t shared)
{
    const struct weighed one = weighed_of(stage);
    return 16 * one.prepared / one.bytes * steps_within(stage, shared) * stage->h_out;
}

/* Room for what the stages keep, which is filled with their first rows, where the largest field of a
 * convolution is cut into so many steps: first to those whose bytes are worth most. given: bytes of scratch.
 * To about what is not kept costs, in cycles. */
RAM_CODE("m33_segment_share_out")
static uint32_t share_out(const struct segment *segment, uint8_t *scratch, int32_t given,
                          int32_t most_steps, struct kept kept[])
{
    int32_t shared = 0;
    for (int32_t number = 1; number <= segment->last; number++) {
        const int32_t own = shared_by(&segment->stages[number], most_steps);
        shared = own > shared ? own : shared;
        kept[number].words = 0;
    }
    shared = (shared + 3) & ~3;
    int32_t room = given - shared;
    if (room < 0 && most_steps < MOST_STEPS) {
        return UINT32_MAX;
    }
    uint32_t cycles = 0;
    for (int32_t left = segment->last; left > 0; left--) {
        int32_t best = segment->last, best_worth = -1;
        for (int32_t number = segment->last; number >= 1; number--) {
            const int32_t worth = worth_of(&segment->stages[number], shared);
            if (kept[number].words == 0 && worth > best_worth) {
                best = number;
                best_worth = worth;
            }
        }
        const struct weighed one = weighed_of(&segment->stages[best]);
        const int32_t steps = steps_within(one.stage, shared);
        struct kept *const own = &kept[best];
        own->first = (uint32_t *)(void *)(scratch + given - room);
        own->groups = 0;
        own->most = kept_within(&one, room);
        own->words = one.bytes / (int32_t)sizeof(uint32_t);
        own->pixels = pixels_of(one.stage, steps);
        room -= own->most * one.bytes;
        const int32_t each = (one.groups - own->most) * one.prepared + one.groups * STEP_CYCLES;
        cycles += (uint32_t)(one.stage->h_out * steps * each);
    }
    return cycles;
}

RAM_CODE("m33_segment_keep")
static void keep_all(const struct segment *segment, const struct op_call *call, struct kept kept[])
{
    const int32_t given = (int32_t)call->scratch_bytes;
    uint32_t best_cycles = UINT32_MAX;
    int32_t best = MOST_STEPS;
    for (int32_t steps = 1; steps <= MOST_STEPS; steps++) {
        const uint32_t cycles = share_out(segment, call->scratch, given, steps, kept);
        if (cycles < best_cycles) {
            best_cycles = cycles;
            best = steps;
        }
    }
    share_out(segment, call->scratch, given, best, kept);
}

/* The padding beside the row of planes that a stage makes next, where a parked row has been over it. */
ALWAYS_INLINE void restore_padding(const struct segment *segment, int32_t number)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const rows = &stage->output;
    const int32_t place = rows->made - rows->slots + stage[1].pad_top; /* of a parked row, times s_h */
    if (place < 0 || place % stage[1].s_h != 0 || rows->slots > stage->h_out) {
        return;
    }
    const int8_t value = (int8_t)stage[1].input_zero_point;
    int8_t *const row = plain_segment_row(segment, number, rows->made);
    for (int32_t x = -rows->before; x < 0; x++) {
        int8_t *to = row + x;
        for (int32_t left = stage->c_out; left > 0; left--) {
            *to = value;
            to += rows->channel_step;
        }
    }
}

RAM_CODE("m33_segment_call")
void m33_segment_call(struct op_call *call, const struct op_call *segment,
                      const struct stage *stage)
{
    call->record = stage->record;
    call->weights = stage->weights;
    call->quants = stage->quants;
    call->scratch = segment->scratch;
    call->h_in = stage->h_in;
    call->w_in = stage->w_in;
    call->c_in = stage->c_in;
    call->h_out = stage->h_out;
    call->w_out = stage->w_out;
    call->c_out = stage->c_out;
    call->k_h = stage->k_h;
    call->k_w = stage->k_w;
    call->s_h = stage->s_h;
    call->s_w = stage->s_w;
    call->d_h = 1;
    call->d_w = 1;
    call->pad_top = stage->pad_top;
    call->pad_left = stage->pad_left;
    call->input_zero_point = stage->input_zero_point;
    call->output_zero_point = stage->output_zero_point;
    call->activation_min = stage->low + stage->output_zero_point;
    call->activation_max = stage->high + stage->output_zero_point;
}

RAM_CODE("m33_segment_row")
int8_t *m33_segment_row(const struct segment *segment, int32_t number, int32_t y)
{
    const struct stage *const stage = &segment->stages[number];
    int8_t *const row = plain_segment_row(segment, number, y);
    return stage->parked ? row - segment->stages[number - 1].output.before : row;
}

RAM_CODE("m33_segment")
void m33_segment(const struct op_call *call)
{
    struct segment segment;
    struct kept kept[1 + STAGES_MAX];
    plain_segment_begin(&segment, call);
    keep_all(&segment, call, kept);
    int32_t number = plain_segment_next(&segment, 0);
    while (number != 0) {
        if (number < segment.last && segment.stages[number + 1].parked) {
            restore_padding(&segment, number);
        }
        if (segment.stages[number].kind == OP_KIND_CONV) {
            m33_segment_conv(&segment, number, call, &kept[number]);
        } else if (segment.stages[number].kind == OP_KIND_DEPTHWISE) {
            m33_segment_depthwise(&segment, number, call, &kept[number]);
        } else {
            m33_segment_add(&segment, number, call, &kept[number]);
        }
        plain_segment_made(&segment, number);
        number = plain_segment_next(&segment, number);
    }
}
