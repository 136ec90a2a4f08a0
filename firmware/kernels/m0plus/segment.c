/* SPDX-License-Identifier: Apache-2.0 */
/* A segment for the Cortex-M0+: row after row (plain/segment_rows.h), with the row kernels of this set.
 * The constants of its stages are those of m0plus_conv, m0plus_depthwise and m0plus_add.
 *
 *   convolution: the fields of a row are copied to columns, or of as many pixels as there is room for,
 *                then channel after channel is written.
 *   depthwise:   channel after channel is read and written, from left to right; to the columns of the
 *                convolution that follows, if its whole row has room there, else to where it is parked.
 *   add:         both scalars are read, then the sum is written; ascending. */
#include <stddef.h>

#include "kernels/m0plus/segment.h"

#include "kernels/m0plus/m0plus.h"

enum { PACKED_ADD_BYTES = 16 };

/* The least that a stage's packed constants take; 0: there are none for it. */
static uint64_t least_bytes(const struct op_record *stage, const struct tensor_record *tensors)
{
    const uint64_t channels = tensors[stage->output].c;
    const uint64_t taps = (uint64_t)stage->k_h * stage->k_w;
    switch (stage->kind) {
    case OP_KIND_CONV:
        return channels * sizeof(struct packed_channel);
    case OP_KIND_DEPTHWISE:
        return channels * (sizeof(struct packed_channel) + taps);
    case OP_KIND_ADD:
        return PACKED_ADD_BYTES;
    default:
        return 0;
    }
}

bool m0plus_segment_sound(const struct op_record *record, const struct tensor_record *tensors,
                          const int8_t *constants)
{
    for (uint32_t number = 1; number <= record->stages; number++) {
        const struct op_record *const stage = &record[number];
        const uint64_t least = least_bytes(stage, tensors);
        if (least == 0 || stage->weights_bytes < least ||
            stage->weights_offset < record->weights_offset ||
            stage->weights_offset % sizeof(uint32_t) != 0) {
            return false;
        }
        const uint32_t offset = stage->weights_offset - record->weights_offset;
        if (stage->kind == OP_KIND_CONV && !m0plus_conv_sound(stage, tensors, constants + offset)) {
            return false;
        }
    }
    return true;
}

#ifdef __arm__

enum { CACHE_WAY_BYTES = 8192 };

/* Padding beside the rows of planes, as plain_segment_begin has written it. */
ALWAYS_INLINE void bias_padding(struct segment *segment)
{
    for (int32_t number = 1; number < segment->last; number++) {
        const struct stage *const stage = &segment->stages[number];
        const struct rows *const rows = &stage->output;
        int8_t *row = rows->first;
        if (output_bias(stage) == 0) {
            continue;
        }
        for (int32_t left = stage->c_out * rows->slots; left > 0; left--) {
            for (int32_t x = -rows->before; x < 0; x++) {
                row[x] = (int8_t)(row[x] ^ INT8_MIN);
            }
            for (int32_t x = stage->w_out; x < stage->w_out + rows->after; x++) {
                row[x] = (int8_t)(row[x] ^ INT8_MIN);
            }
            row += rows->row_step;
        }
    }
}

/* Does a stage write its row to the columns of the next one? */
ALWAYS_INLINE bool has_columns(const struct segment *segment, const struct constants constants[],
                               int32_t number)
{
    return number < segment->last && constants[number + 1].gathered;
}

/* Are rows parked among those that a stage makes? */
ALWAYS_INLINE bool has_guests(const struct segment *segment, const struct constants constants[],
                              int32_t number)
{
    return output_bias(&segment->stages[number]) != 0 && segment->stages[number + 1].parked &&
           !has_columns(segment, constants, number + 1);
}

/* The padding left of the next row of planes, over which a parked row may have been. */
ALWAYS_INLINE void restore_padding(const struct segment *segment, int32_t number)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const rows = &stage->output;
    const int32_t value = stage[1].input_zero_point + PLANE_BIAS;
    int8_t *row = plain_segment_row(segment, number, rows->made);
    for (int32_t left = stage->c_out; left > 0; left--) {
        for (int32_t x = -rows->before; x < 0; x++) {
            row[x] = (int8_t)value;
        }
        row += rows->channel_step;
    }
}

/* Scratch beyond what the stages share. */
struct room {
    uint8_t *at;
    const uint8_t *end;
};

ALWAYS_INLINE struct room spare_room(const struct segment *segment, const struct op_call *call)
{
    const uint32_t given = call->scratch_bytes;
    uint32_t shared = 0;
    for (int32_t number = 1; number <= segment->last; number++) {
        const struct stage *const stage = &segment->stages[number];
        const uint32_t own = stage->kind == OP_KIND_CONV ? m0plus_segment_scratch(stage) : 0;
        shared = own > shared ? own : shared;
    }
    return (struct room){
        .at = call->scratch + shared,
        .end = call->scratch + (given > shared ? given : shared),
    };
}

/* The flash cache has two ways. Every row reads the stages' packed constants, which follow each other,
 * and some of their quantisations, which do so elsewhere: does a place in a way hold two lines of the
 * former and one of the latter? Then each row would fetch all three again. */
ALWAYS_INLINE bool quants_collide(const struct segment *segment, const struct op_call *call)
{
    const struct stage *const last = &segment->stages[segment->last];
    const uintptr_t start = (uintptr_t)call->weights;
    const uint32_t bytes = call->weights_bytes;
    const uint32_t from = ((uintptr_t)call->quants - start) % CACHE_WAY_BYTES;
    const uint32_t size = (uintptr_t)(last->quants + last->c_out) - (uintptr_t)call->quants;
    return bytes > CACHE_WAY_BYTES &&
           (from < bytes - CACHE_WAY_BYTES || from + size > CACHE_WAY_BYTES);
}

/* Of as many channels as there is room for. */
ALWAYS_INLINE void keep_quants(const struct stage *stage, struct constants *constants,
                               struct room *room)
{
    const int32_t most = (room->end - room->at) / (KEPT_QUANT_WORDS * (int32_t)sizeof(word));
    const struct quant_record *const end = stage->quants + stage->c_out;
    constants->quants_kept = (uint16_t)(most < stage->c_out ? most : stage->c_out);
    word *to = constants->quants;
    for (const struct quant_record *quant = end - constants->quants_kept; quant != end; quant++) {
        *to++ = quant->multiplier;
        *to++ = quant->shift;
    }
    room->at = (uint8_t *)to;
}

/* Streams take what room is left. Early stages make the more rows. */
RAM_CODE("m0plus_segment_keep")
static void keep_constants(const struct segment *segment, const struct op_call *call,
                           struct constants constants[])
{
    struct room room = spare_room(segment, call);
    const bool collide = quants_collide(segment, call);
    for (int32_t number = 1; number <= segment->last; number++) {
        const struct stage *const stage = &segment->stages[number];
        constants[number].quants_kept = 0;
        constants[number].quants = (word *)(void *)room.at;
        constants[number].gathered = false;
        if (collide && stage->kind != OP_KIND_ADD) {
            keep_quants(stage, &constants[number], &room);
        }
    }
    for (int32_t number = 1; number <= segment->last; number++) {
        if (segment->stages[number].kind == OP_KIND_CONV) {
            room.at = m0plus_segment_streams(segment, number, &constants[number], room.at, room.end);
        }
    }
}

RAM_CODE("m0plus_segment")
void m0plus_segment(const struct op_call *call)
{
    struct segment segment;
    struct constants constants[1 + STAGES_MAX];
    plain_segment_begin(&segment, call);
    bias_padding(&segment);
    keep_constants(&segment, call, constants);
    int32_t number = plain_segment_next(&segment, 0);
    while (number != 0) {
        if (has_guests(&segment, constants, number)) {
            restore_padding(&segment, number);
        }
        switch (segment.stages[number].kind) {
        case OP_KIND_CONV:
            m0plus_segment_conv(&segment, number, call->scratch, &constants[number]);
            break;
        case OP_KIND_DEPTHWISE:
            m0plus_segment_depthwise(
                &segment, number, &constants[number],
                has_columns(&segment, constants, number) ? call->scratch : NULL);
            break;
        default:
            m0plus_segment_add(&segment, number);
            break;
        }
        plain_segment_made(&segment, number);
        number = plain_segment_next(&segment, number);
    }
}

#endif
