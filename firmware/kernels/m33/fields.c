/* SPDX-License-Identifier: Apache-2.0 */
#include "kernels/m33/fields.h"

#include "kernels/m33/simd.h"
#include "kernels/m33/sweep.h"
#include "kernels/plain/field.h"

/* Zeros in the place of groups of 4 taps, of one pixel of a pair. */
ALWAYS_INLINE uint32_t *expand_padding(uint32_t *to, int32_t groups)
{
    for (; groups > 0; groups--, to += 4) {
        to[0] = 0;
        to[2] = 0;
    }
    return to;
}

ALWAYS_INLINE uint32_t *expand(const struct gathering *g, uint32_t *to, const int8_t *from,
                               int32_t groups)
{
    m33_expand(to, from, groups, g->offset);
    return to + 4 * groups;
}

/* The bytes of a pixel or of a field, not a multiple of 4 of them. */
ALWAYS_INLINE void expand_all(const struct gathering *g, uint32_t *to, const int8_t *from,
                              int32_t count)
{
    to = expand(g, to, from, count / 4);
    if (count % 4 != 0) {
        const uint32_t rest = part_of_word(from + (count & ~3), count % 4);
        to[0] = add_even_bytes(add_even_bytes(g->offset, rest), rest);
        to[2] = add_odd_bytes(add_odd_bytes(g->offset, rest), rest);
    }
}

/* Up to 3 bytes more than asked for are written. */
ALWAYS_INLINE int8_t *copy_words(int8_t *to, const int8_t *from, int32_t count)
{
    int32_t at = 0;
    for (; at + 4 <= count; at += 4) {
        put_word(to + at, word_at(from + at));
    }
    if (at < count) {
        put_word(to + at, part_of_word(from + at, count - at));
    }
    return to + count;
}

ALWAYS_INLINE int8_t *fill_words(int8_t *to, int32_t count, uint32_t word)
{
    for (int32_t at = 0; at < count; at += 4) {
        put_word(to + at, word);
    }
    return to + count;
}

/* As real_taps, but quicker where all of them are. */
ALWAYS_INLINE struct taps taps_of(int32_t position, int32_t dilation, int32_t taps, int32_t size)
{
    const bool inside = position >= 0 && position + (taps - 1) * dilation < size;
    return inside ? (struct taps){0, taps} : real_taps(position, dilation, taps, size);
}

/* y, x: of the first tap, real or not. */
ALWAYS_INLINE struct field field_at(const struct op_call *call, int32_t y, int32_t x)
{
    const struct taps rows = taps_of(y, call->d_h, call->k_h, call->h_in);
    const struct taps columns = taps_of(x, call->d_w, call->k_w, call->w_in);
    return field_of_taps(call, y, x, rows, columns);
}

/* Channels are a multiple of 4: so is every run. */
ALWAYS_INLINE void expand_field(const struct gathering *g, uint32_t *to,
                                const struct field *field)
{
    const struct op_call *const call = g->call;
    const int32_t groups = call->c_in / 4;
    const int32_t row_step = call->d_h * call->w_in * call->c_in;
    const int32_t run_step = call->d_w * call->c_in;
    const int8_t *row = call->input + field->input;
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        if (k_y < field->rows.first || k_y >= field->rows.end) {
            to = expand_padding(to, call->k_w * groups);
            continue;
        }
        to = expand_padding(to, field->columns.first * groups);
        const int8_t *from = row;
        for (int32_t run = 0; run < field->runs; run++) {
            to = expand(g, to, from, field->run_bytes / 4);
            from += run_step;
        }
        to = expand_padding(to, (call->k_w - field->columns.end) * groups);
        row += row_step;
    }
}

/* Any channels: the bytes are put in a row first. */
ALWAYS_INLINE void stage_field(const struct gathering *g, uint32_t *to,
                               const struct field *field)
{
    const struct op_call *const call = g->call;
    const uint32_t padding = all_bytes(call->input_zero_point);
    const int32_t row_step = call->d_h * call->w_in * call->c_in;
    const int32_t run_step = call->d_w * call->c_in;
    const int8_t *row = call->input + field->input;
    int8_t *staged = g->staged;
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        if (k_y < field->rows.first || k_y >= field->rows.end) {
            staged = fill_words(staged, call->k_w * call->c_in, padding);
            continue;
        }
        staged = fill_words(staged, field->columns.first * call->c_in, padding);
        const int8_t *from = row;
        for (int32_t run = 0; run < field->runs; run++) {
            staged = copy_words(staged, from, field->run_bytes);
            from += run_step;
        }
        staged = fill_words(staged, (call->k_w - field->columns.end) * call->c_in, padding);
        row += row_step;
    }
    expand_all(g, to, g->staged, g->taps);
}

/* The same where all taps are real and next to each other in their rows. */
ALWAYS_INLINE void stage_whole_field(const struct gathering *g, uint32_t *to, const int8_t *from)
{
    const struct op_call *const call = g->call;
    const int32_t row_step = call->d_h * call->w_in * call->c_in;
    const int32_t run_bytes = call->k_w * call->c_in;
    int8_t *staged = g->staged;
    for (int32_t k_y = call->k_h; k_y > 0; k_y--) {
        staged = copy_words(staged, from, run_bytes);
        from += row_step;
    }
    expand_all(g, to, g->staged, g->taps);
}

ALWAYS_INLINE void gather_pixel(const struct gathering *g, uint32_t *to)
{
    const struct op_call *const call = g->call;
    const int32_t y = g->row * call->s_h - call->pad_top;
    const int32_t x = g->column * call->s_w - call->pad_left;
    const bool whole_groups = call->c_in % 4 == 0;
    if (!whole_groups && call->d_w == 1 && y >= 0 && x >= 0 && x + call->k_w <= call->w_in &&
        y + (call->k_h - 1) * call->d_h < call->h_in) {
        stage_whole_field(g, to, call->input + (y * call->w_in + x) * call->c_in);
        return;
    }
    const struct field field = field_at(call, y, x);
    if (whole_groups) {
        expand_field(g, to, &field);
    } else {
        stage_field(g, to, &field);
    }
}

/* Pixels whose field is one pixel of the input, all of them real. */
ALWAYS_INLINE bool is_pointwise(const struct op_call *call)
{
    return call->k_h == 1 && call->k_w == 1 && call->pad_top == 0 && call->pad_left == 0 &&
           (call->h_out - 1) * call->s_h < call->h_in && (call->w_out - 1) * call->s_w < call->w_in;
}

/* Pixels `distance` pixels on. */
ALWAYS_INLINE void walk_on(struct gathering *g, int32_t distance)
{
    g->column += distance;
    while (g->column >= g->call->w_out) {
        g->column -= g->call->w_out;
        g->row++;
    }
}

/* Pixels that lie one behind the other in the input, of whole groups. */
ALWAYS_INLINE void gather_row(struct gathering *g, uint32_t *fields, int32_t count)
{
    const int32_t c_in = g->call->c_in;
    const int32_t pairs = count / 2;
    const int8_t *const from = g->call->input + (g->row * g->call->w_in + g->column) * c_in;
    if (pairs != 0) {
        m33_expand_pairs(fields, from, g->groups, g->offset, pairs, c_in);
    }
    if (count % 2 != 0) {
        expand(g, fields + pairs * 4 * g->groups, from + 2 * pairs * c_in, g->groups);
    }
    walk_on(g, count);
}

RAM_CODE("m33_gather")
void m33_gather(struct gathering *g, uint32_t *fields, int32_t count)
{
    const struct op_call *const call = g->call;
    const bool pointwise = is_pointwise(call);
    if (count % 2 != 0) {
        expand_padding(fields + (count >> 1) * 4 * g->groups + 1, g->groups);
    }
    if (pointwise && call->s_h == 1 && call->s_w == 1 && call->c_in % 4 == 0) {
        gather_row(g, fields, count);
        return;
    }
    for (int32_t pixel = 0; pixel < count; pixel++) {
        uint32_t *const to = fields + (pixel >> 1) * 4 * g->groups + (pixel & 1);
        if (pointwise) {
            const int32_t at = g->row * call->s_h * call->w_in + g->column * call->s_w;
            expand_all(g, to, call->input + at * call->c_in, g->taps);
        } else {
            gather_pixel(g, to);
        }
        walk_on(g, 1);
    }
}
