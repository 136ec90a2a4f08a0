/* SPDX-License-Identifier: Apache-2.0 */
/* Plain int8 convolution in every execution and rounding that conv.c has no kernel for: pixels by
 * rows, by columns, in reverse and in herringbone order; padding dense or stored with the input.
 *
 * Output bytes are written in the order of their addresses, each once, and nothing else in the
 * arena: ascending from the first, pixels in the traversal's order (conv_walk.h) and channels
 * ascending; in reverse descending from the last, with pixels and channels from last to first.
 *   gather: the receptive field of a pixel is copied to scratch, padding as the input's zero
 *           point; then its channels are computed from the copy and written.
 *   direct: each channel reads its taps from the workspace, is written, and then the next one.
 * The input is stored by rows, for column by columns, for herringbone as call->positions says. */
#include <stdbool.h>
#include <stddef.h>

#include "kernels/plain/bytes.h"
#include "kernels/plain/conv_walk.h"
#include "kernels/plain/dot.h"
#include "kernels/plain/finish.h"
#include "kernels/plain/taps.h"
#include "kernels/requantize.h"
#include "port/placement.h"
#include "runner/kernels.h"

/* A pixel's receptive field, without what padding puts outside the image. Steps count pixels as
 * they are numbered for call->positions, or in memory where there are none. Taps that are next
 * to each other in memory are read as one run. */
struct field {
    struct taps rows, columns;
    int32_t first;                            /* the first real tap; without one never read */
    int32_t row_step, run_step;
    int32_t run_taps;
};

ALWAYS_INLINE struct field field_of(const struct op_call *call, int32_t row, int32_t column)
{
    const int32_t y = row * call->s_h - call->pad_top;
    const int32_t x = column * call->s_w - call->pad_left;
    const bool by_column = call->record->traversal == TRAVERSAL_COLUMN;
    const int32_t row_step = by_column ? 1 : call->w_in;
    const int32_t column_step = by_column ? call->h_in : 1;
    const struct taps rows = real_taps(y, call->d_h, call->k_h, call->h_in);
    const struct taps columns = real_taps(x, call->d_w, call->k_w, call->w_in);
    const int32_t taps = columns.end - columns.first;
    const bool adjacent = call->positions == NULL && call->d_w * column_step == 1;
    const int32_t run_taps = adjacent ? taps : 1;
    struct field field = {
        .rows = rows,
        .columns = columns,
        .row_step = call->d_h * row_step,
        .run_step = call->d_w * column_step * run_taps,
        .run_taps = run_taps,
    };
    if (taps > 0 && rows.end > rows.first) {  /* else the product need not fit */
        field.first = (y + rows.first * call->d_h) * row_step +
                      (x + columns.first * call->d_w) * column_step;
    }
    return field;
}

ALWAYS_INLINE const int8_t *pixel_at(const struct op_call *call, int32_t number)
{
    const int32_t place = call->positions == NULL ? number : call->positions[number];
    return call->input + place * call->c_in;
}

RAM_CODE("plain_walk_gather")
static void walk_gather(const struct op_call *call, const struct field *field)
{
    const int8_t padding = (int8_t)call->input_zero_point;
    const int32_t c_in = call->c_in;
    int32_t row = field->first;
    int8_t *to = (int8_t *)call->scratch;
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        if (k_y < field->rows.first || k_y >= field->rows.end) {
            to = fill(to, call->k_w * c_in, padding);
            continue;
        }
        int32_t from = row;
        to = fill(to, field->columns.first * c_in, padding);
        for (int32_t k_x = field->columns.first; k_x < field->columns.end;
             k_x += field->run_taps) {
            to = copy(to, pixel_at(call, from), field->run_taps * c_in);
            from += field->run_step;
        }
        to = fill(to, (call->k_w - field->columns.end) * c_in, padding);
        row += field->row_step;
    }
}

/* The sum over a field where it lies, weights being one channel's. */
RAM_CODE("plain_walk_direct")
static uint32_t walk_dot(uint32_t sum, const struct op_call *call, const struct field *field,
                         const int8_t *weights)
{
    const int32_t c_in = call->c_in;
    const int32_t run_bytes = field->run_taps * c_in;
    int32_t row = field->first;
    for (int32_t k_y = field->rows.first; k_y < field->rows.end; k_y++) {
        int32_t from = row;
        const int8_t *run = weights + (k_y * call->k_w + field->columns.first) * c_in;
        for (int32_t k_x = field->columns.first; k_x < field->columns.end;
             k_x += field->run_taps) {
            sum = dot(sum, pixel_at(call, from), run, run_bytes, call->input_zero_point);
            from += field->run_step;
            run += run_bytes;
        }
        row += field->row_step;
    }
    return sum;
}

/* As plain_finish, for the rounding that it has not. */
RAM_CODE("plain_walk_truncate")
static int8_t walk_truncate(const struct op_call *call, const struct quant_record *quant,
                            uint32_t sum)
{
    return output_byte(
        call, requantize_truncate((int32_t)sum, quant->multiplier, quant->shift));
}

RAM_CODE("plain_walk_run")
void plain_conv_walk(const struct op_call *call)
{
    const bool gather = call->record->tap_order == TAP_ORDER_GATHER;
    const bool reverse = call->record->traversal == TRAVERSAL_REVERSE;
    const enum rounding rounding = (enum rounding)call->record->rounding;
    const int32_t field_bytes = call->k_h * call->k_w * call->c_in;
    const int32_t end = call->h_out * call->w_out * call->c_out;
    struct walk walk = walk_begin(call);
    for (int32_t written = 0; written < end; walk_on(&walk, call)) {
        const struct field field =
            reverse ? field_of(call, call->h_out - 1 - walk.row, call->w_out - 1 - walk.column)
                    : field_of(call, walk.row, walk.column);
        if (gather) {
            walk_gather(call, &field);
        }
        for (int32_t turn = 0; turn < call->c_out; turn++) {
            const int32_t channel = reverse ? call->c_out - 1 - turn : turn;
            const struct quant_record *const quant = &call->quants[channel];
            const int8_t *const weights = call->weights + channel * field_bytes;
            const uint32_t bias = (uint32_t)quant->bias;
            const uint32_t sum = gather ? dot(bias, (const int8_t *)call->scratch, weights,
                                              field_bytes, call->input_zero_point)
                                        : walk_dot(bias, call, &field, weights);
            call->output[reverse ? end - 1 - written : written] =
                rounding == ROUNDING_TRUNCATE ? walk_truncate(call, quant, sum)
                                              : plain_finish(call, quant, sum, rounding);
            written++;
        }
    }
}
