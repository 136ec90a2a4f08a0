/* SPDX-License-Identifier: Apache-2.0 */
/* What a segment demands of its stages, beyond what each of them does as an op. */
#ifndef RUNNER_SEGMENTS_H
#define RUNNER_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "runner/pack.h"

/* Is it a tensor inside a segment, of which memory has rows alone? */
static inline bool segments_ring(const struct tensor_record *tensor)
{
    return tensor->stored_by > STORED_BY_ORDER;
}

/* BAD_STAGE, BAD_RING, BAD_ALIGNMENT, BAD_WEIGHTS_RANGE, BAD_QUANT_RANGE, BAD_CONSTANTS: no stage may
 * read or write beyond the tensors that it names. The segment's record and those of its stages exist,
 * and each stage is sound as an op; rings have their places in the arena, and their sizes are checked
 * here. */
enum status segments_check(const struct pack_case *found, uint32_t index,
                           struct problem *problem);

#endif
