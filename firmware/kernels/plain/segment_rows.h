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
#include "runner/stages.h"

/* What the runner has made of the records of the case; and padding is written into the rings that store
 * any. */
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
