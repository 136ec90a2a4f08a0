/* SPDX-License-Identifier: Apache-2.0 */
/* A segment while it runs: its stages, where the rows of its tensors lie, and which row is next.
 *
 * Row pull (harness/geometry/segment.py): to make a row a stage first pulls, of its source, all rows up
 * to the end of its window that are not made yet; each is made once. Only inputs and the output are
 * whole; of the rest there is a ring of rows, row y in slot y mod rows. */
#ifndef KERNELS_PLAIN_SEGMENT_ROWS_H
#define KERNELS_PLAIN_SEGMENT_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "port/placement.h"
#include "runner/kernels.h"

/* Rows of a tensor. The first byte of pixel x, channel c in slot s is first[s * row_step + x *
 * pixel_step + c * channel_step]. */
struct rows {
    int8_t *first;
    int32_t slots;                            /* of a whole tensor its rows */
    int32_t row_step, pixel_step, channel_step;
    int32_t before, after;                    /* stored columns of padding beside each row */
    int32_t made, slot;                       /* rows so far, and where the next one goes */
};

/* One op of the segment. The next stage's source is this one's output. */
struct stage {
    const struct op_record *record;
    const int8_t *weights;
    const struct quant_record *quants;
    struct rows output;                       /* parked: in slots of the source's ring */
    const struct rows *other;                 /* of an add, the operand that is not its source */
    int32_t h_in, w_in, c_in, h_out, w_out, c_out;
    int32_t k_h, k_w, s_h, s_w, pad_top, pad_left, pad_right;
    int32_t input_zero_point, output_zero_point;
    int32_t low, high;                        /* the activation's range, minus the zero point */
    enum op_kind kind;
    enum rounding rounding;
    bool parked;
    bool other_first;                         /* of an add: is the other its first operand? */
};

/* stages[0] stands for the first operand, stages[l] for stage l; outside: operands of adds. */
struct segment {
    struct stage stages[1 + STAGES_MAX];
    struct rows outside[OPERANDS_MAX];
    int32_t last;
};

/* From the records of the case. */
void plain_segment_begin(struct segment *segment, const struct op_call *call);

/* The stage that makes its next row, from 1, with all rows that it reads made; 0: Y is whole. `now`: what
 * it said before, 0 at first. */
int32_t plain_segment_next(struct segment *segment, int32_t now);

/* That stage's row is made. */
void plain_segment_made(struct segment *segment, int32_t stage);

/* Row y of what a stage makes (0: of the first operand): one of the latest, or the next one. */
int8_t *plain_segment_row(const struct segment *segment, int32_t stage, int32_t y);

/* Row y of stage->other. */
int8_t *plain_segment_other(const struct rows *rows, int32_t y);

#endif
