/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/plain/segment_rows.h"

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

RAM_CODE("plain_segment_begin")
void plain_segment_begin(struct segment *segment, const struct op_call *call)
{
    *segment = *call->segment;
    for (int32_t number = 1; number < segment->last; number++) {
        const struct stage *const stage = &segment->stages[number];
        const int8_t value = (int8_t)stage[1].input_zero_point;
        if (stage->output.before + stage->output.after != 0) {
            pad(&stage->output, stage->c_out, stage->w_out, value);
        }
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
