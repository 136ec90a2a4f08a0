/* SPDX-License-Identifier: Apache-2.0 */
/* What each kind of op demands of its operands, its output and its constants. */
#ifndef RUNNER_SHAPES_H
#define RUNNER_SHAPES_H

#include <stdint.h>

#include "runner/pack.h"

/* BAD_OP_KIND, BAD_OPERANDS, BAD_GEOMETRY, BAD_OUTPUT_SHAPE, BAD_WEIGHTS_RANGE, BAD_QUANT_RANGE,
 * BAD_ALIGNMENT, BAD_CONSTANTS. The tensors that the op names exist and lie in the arena. */
enum status shapes_check(const struct pack_case *found, uint32_t index, struct problem *problem);

/* The same of a stage of the segment at `segment`, whose kernel reads its constants. The tensors
 * that all stages name exist. */
enum status shapes_check_stage(const struct pack_case *found, uint32_t segment, uint32_t index,
                               struct problem *problem);

#endif
