/* SPDX-License-Identifier: Apache-2.0 */
/* The input tensor's contents, from a seed: int8 values that the host generates in the same way. */
#ifndef RUNNER_INPUT_H
#define RUNNER_INPUT_H

#include <stdint.h>

void input_fill(uint8_t *to, uint32_t bytes, uint32_t seed);

#endif
