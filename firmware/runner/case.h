/* SPDX-License-Identifier: Apache-2.0 */
/* One case on the device: verified, then run and measured any number of times. */
#ifndef RUNNER_CASE_H
#define RUNNER_CASE_H

#include <stdint.h>

#include "port/port.h"
#include "runner/pack.h"
#include "runner/status.h"

enum {
    CASE_OPS_MAX = 128,
    CASE_ALIGNMENT = 8
};

/* Where a case lies in the pool, as offsets from its start. */
struct case_memory {
    uint32_t arena, arena_end;
    uint32_t scratch, scratch_end;
    uint32_t end;
};

struct case_run {
    struct pack_case found;
    struct case_memory memory;
    struct case_verified verified;
};

/* What is running, for the fault report; 0xFFFF: nothing. */
struct position {
    uint16_t case_index;
    uint16_t op_index;
};
extern struct position runner_position;

/* Check the pack and the case, and lay it out. What was found goes to `run`. Beyond what pack.h
 * says: ARENA_TOO_SMALL with detail 0, arena, scratch and guards do not fit the pool; with
 * detail 1 + n, the case's scratch does not suffice for op n. NO_KERNEL, detail: the op. */
enum status case_prepare(struct case_run *run, uint32_t pack_address, uint32_t case_index,
                         struct problem *problem);

/* How many ops a prepared case has, a segment being one. */
uint32_t case_op_count(const struct case_run *run);

/* How many of them a run has: request->ops, or all. */
uint32_t case_ops(const struct case_run *run, const struct run_request *request);

/* Run once, request->ops being at most the case's. `cold`: flush the flash cache first. Fills `result` but for what only the caller
 * knows. */
void case_execute(const struct case_run *run, const struct run_request *request, bool cold,
                  struct run_result *result);

/* One op of the latest case_execute; `repeat` is left 0. */
const struct op_result *case_op_result(uint32_t index);

#endif
