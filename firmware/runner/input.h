/* SPDX-License-Identifier: Apache-2.0 */
/* A tensor's contents from a seed: int8 values that the host generates in the same way. */
#ifndef RUNNER_INPUT_H
#define RUNNER_INPUT_H

#include <stdint.h>

#include "ripbench_schema.h"

/* Fills `to`, the tensor's bytes. The values belong to pixels: however a tensor is stored, pixel
 * (y, x) holds the same, and its stored padding holds `fill`. positions: of StoredBy.ORDER. */
void input_load(uint8_t *to, const struct tensor_record *tensor, const uint16_t *positions,
                uint32_t seed);

#endif
