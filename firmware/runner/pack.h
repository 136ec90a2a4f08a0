/* SPDX-License-Identifier: Apache-2.0 */
/* A pack of cases in flash, checked before anything in it is believed: header, directory, the
 * slices of the case that will run, and every number in its records. */
#ifndef RUNNER_PACK_H
#define RUNNER_PACK_H

#include <stdint.h>

#include "runner/status.h"

struct pack {
    const uint8_t *base;
    const struct pack_header *header;
    uint32_t header_crc;                      /* of the bytes that the header's own CRC covers */
};

enum case_slice { SLICE_OPS, SLICE_TENSORS, SLICE_QUANTS, SLICE_WEIGHTS, SLICES };

/* One case, found in its pack. */
struct pack_case {
    const struct case_entry *entry;
    const struct op_record *ops;
    const struct tensor_record *tensors;
    const struct quant_record *quants;
    const int8_t *weights;
    uint32_t op_count, tensor_count, quant_count, weights_bytes;
    uint32_t slice_crc[SLICES];               /* as computed here */
};

/* Header only: PACK_MAGIC (detail 0: no flash there, 1: magic, 2: version), PACK_HEADER_CRC. */
enum status pack_open(struct pack *pack, uint32_t address, struct problem *problem);

/* Entry and slices: CASE_INDEX, ENTRY_CRC, BAD_RECORD, SLICE_CRC (detail: the slice). The rest of
 * the directory is not read: with thousands of cases that would take longer than most of them. */
enum status pack_find_case(const struct pack *pack, uint32_t index, struct pack_case *found,
                           struct problem *problem);

/* How many records an op takes: a segment's stages follow it. */
static inline uint32_t pack_records(const struct op_record *op)
{
    return op->kind == OP_KIND_SEGMENT ? 1 + op->stages : 1;
}

/* Of a tensor that is StoredBy.ORDER. */
const uint16_t *pack_positions(const struct pack_case *found, const struct tensor_record *tensor);

/* Tensors and ops against the arena and the slices: BAD_RECORD. `detail` of it is the index of the
 * tensor or op in the upper half, and one of these in the lower. */
enum bad_record {
    BAD_PACK_LAYOUT = 1,                      /* a part of the pack outside it, or misaligned */
    BAD_SLICE_LENGTH = 2,
    BAD_TENSOR_SIZE = 3,                      /* bytes is not h * w * c, or 0 */
    BAD_TENSOR_RANGE = 4,                     /* outside the arena */
    BAD_TENSOR_INDEX = 5,
    BAD_OP_KIND = 6,
    BAD_GEOMETRY = 7,
    BAD_OUTPUT_SHAPE = 8,
    BAD_WEIGHTS_RANGE = 9,
    BAD_QUANT_RANGE = 10,
    BAD_ZERO_POINT = 11,
    BAD_ACTIVATION = 12,
    BAD_SHIFT = 13,
    BAD_MULTIPLIER = 14,
    BAD_OP_COUNT = 15,
    BAD_OPERANDS = 16,
    BAD_POSITIONS = 17,
    BAD_ALIGNMENT = 18,                       /* of an operand or output, for the kernel */
    BAD_CONSTANTS = 19,                       /* packed ones that lead the kernel astray */
    BAD_GIVEN = 20,                           /* inputs of the pack not of the tensors' size */
    BAD_RING = 21,                            /* a tensor inside a segment: rows or place */
    BAD_STAGE = 22,                           /* an op that its segment does not make or reach */
    BAD_SCRATCH = 23                          /* scratch in the arena that is not all in it */
};
enum status pack_check_records(const struct pack_case *found, struct problem *problem);

#endif
