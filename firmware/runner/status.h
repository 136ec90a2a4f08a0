/* SPDX-License-Identifier: Apache-2.0 */
/* How a step of the runner ended. Failures have the numbers of REFUSED on the wire. */
#ifndef RUNNER_STATUS_H
#define RUNNER_STATUS_H

#include <stdint.h>

#include "ripbench_schema.h"

enum status {
    STATUS_OK = 0,
    STATUS_PACK_MAGIC = REFUSAL_PACK_MAGIC,
    STATUS_PACK_HEADER_CRC = REFUSAL_PACK_HEADER_CRC,
    STATUS_ENTRY_CRC = REFUSAL_ENTRY_CRC,
    STATUS_CASE_INDEX = REFUSAL_CASE_INDEX,
    STATUS_SLICE_CRC = REFUSAL_SLICE_CRC,
    STATUS_ARENA_TOO_SMALL = REFUSAL_ARENA_TOO_SMALL,
    STATUS_BAD_RECORD = REFUSAL_BAD_RECORD,
    STATUS_NO_KERNEL = REFUSAL_NO_KERNEL,
    STATUS_READ_RANGE = REFUSAL_READ_RANGE,
    STATUS_IMAGE_CRC = REFUSAL_IMAGE_CRC,
    STATUS_RAM_CODE = REFUSAL_RAM_CODE,
    STATUS_BAD_REQUEST = REFUSAL_BAD_REQUEST
};

/* The rest of REFUSED: `detail` says where, `expected` and `seen` what was found wrong. */
struct problem {
    uint32_t detail;
    uint32_t expected;
    uint32_t seen;
};

static inline enum status fail(enum status status, struct problem *problem, uint32_t detail,
                               uint32_t expected, uint32_t seen)
{
    problem->detail = detail;
    problem->expected = expected;
    problem->seen = seen;
    return status;
}

#endif
