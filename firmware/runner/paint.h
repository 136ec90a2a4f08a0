/* SPDX-License-Identifier: Apache-2.0 */
/* Paint on memory, to see later what was written: a byte that differs from its paint has
 * changed.
 *
 * The pattern depends on the offset in the painted pool, so that bytes moved within it show too.
 * A byte written with the value of its paint does not show; a second run with the complement
 * finds it. */
#ifndef RUNNER_PAINT_H
#define RUNNER_PAINT_H

#include <stdbool.h>
#include <stdint.h>

/* Paint `bytes` (a multiple of 4) at `pool` (4-byte aligned). */
void paint_pool(uint8_t *pool, uint32_t bytes, bool complement);

/* In offsets [begin, end) of the pool: the first changed byte, or `end`; one past the last, or
 * `begin`; how many. */
uint32_t paint_first_changed(const uint8_t *pool, uint32_t begin, uint32_t end, bool complement);
uint32_t paint_last_changed(const uint8_t *pool, uint32_t begin, uint32_t end, bool complement);
uint32_t paint_count_changed(const uint8_t *pool, uint32_t begin, uint32_t end, bool complement);

#endif
