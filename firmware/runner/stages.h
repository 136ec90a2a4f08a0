/* SPDX-License-Identifier: Apache-2.0 */
/* A segment's records, turned into what its kernel goes by, as struct op_call is of one op: before the
 * window, so that a stage's record is read no more inside it than that of an op by itself. */
#ifndef RUNNER_STAGES_H
#define RUNNER_STAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "port/port.h"
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
    const struct op_record *record;           /* in flash */
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

/* stages[0] stands for the first operand, stages[l] for stage l. Its kernel may change them while it
 * runs. */
struct segment {
    struct stage *stages;
    int32_t last;
};

/* Runs a segment's kernel in a window, with call->segment made before that. No row is made yet, and no
 * padding written. */
void stages_run_in_window(void (*run)(const struct op_call *), struct op_call *call,
                          const struct port_conditions *conditions, struct port_window *window);

#endif
