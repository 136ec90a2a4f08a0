/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/pack.h"

#include <stddef.h>

#include "port/port.h"
#include "runner/crc.h"

enum status pack_open(struct pack *pack, uint32_t address, struct problem *problem)
{
    const uint32_t covered = offsetof(struct pack_header, header_crc);
    const uint8_t *const base = port_flash(address, sizeof(struct pack_header));
    if (base == NULL || address % SLICE_ALIGNMENT != 0) {
        return fail(STATUS_PACK_MAGIC, problem, 0, PACK_MAGIC, address);
    }
    const struct pack_header *const header = (const struct pack_header *)(const void *)base;
    if (header->magic != PACK_MAGIC) {
        return fail(STATUS_PACK_MAGIC, problem, 1, PACK_MAGIC, header->magic);
    }
    if (header->version != PACK_VERSION) {
        return fail(STATUS_PACK_MAGIC, problem, 2, PACK_VERSION, header->version);
    }
    const uint32_t crc = crc32(0, header, covered);
    if (crc != header->header_crc) {
        return fail(STATUS_PACK_HEADER_CRC, problem, 0, header->header_crc, crc);
    }
    if (port_flash(address, header->pack_bytes) == NULL) {
        return fail(STATUS_PACK_MAGIC, problem, 0, PACK_MAGIC, address);
    }
    pack->base = base;
    pack->header = header;
    pack->header_crc = crc;
    return STATUS_OK;
}

/* [offset, offset + bytes) of the pack; NULL if it is not all inside. */
static const void *part(const struct pack *pack, uint64_t offset, uint64_t bytes)
{
    if (offset % SLICE_ALIGNMENT != 0 || offset + bytes > pack->header->pack_bytes) {
        return NULL;
    }
    return pack->base + offset;
}

static enum status find_entry(const struct pack *pack, uint32_t index,
                              const struct case_entry **found, struct problem *problem)
{
    const struct pack_header *const header = pack->header;
    if (index >= header->case_count) {
        return fail(STATUS_CASE_INDEX, problem, 0, header->case_count, index);
    }
    const uint64_t offset = (uint64_t)index * sizeof(struct case_entry);
    const void *const bytes =
        part(pack, header->directory_offset + offset, sizeof(struct case_entry));
    if (bytes == NULL) {
        return fail(STATUS_BAD_RECORD, problem, BAD_PACK_LAYOUT, header->pack_bytes,
                    header->directory_offset);
    }
    const struct case_entry *const entry = bytes;
    const uint32_t crc = crc32(0, entry, offsetof(struct case_entry, entry_crc));
    if (crc != entry->entry_crc) {
        return fail(STATUS_ENTRY_CRC, problem, 0, entry->entry_crc, crc);
    }
    *found = entry;
    return STATUS_OK;
}

struct slice_place {
    const struct slice *slice;
    uint32_t section_offset;
    uint32_t record_bytes;
};

static enum status check_slice(const struct pack *pack, const struct slice_place *place,
                               uint32_t number, const void **start, uint32_t *crc,
                               struct problem *problem)
{
    const struct slice *const slice = place->slice;
    *start = part(pack, (uint64_t)place->section_offset + slice->offset, slice->bytes);
    if (*start == NULL) {
        return fail(STATUS_BAD_RECORD, problem, number << 16 | BAD_PACK_LAYOUT,
                    pack->header->pack_bytes, slice->offset);
    }
    if (slice->bytes % place->record_bytes != 0) {
        return fail(STATUS_BAD_RECORD, problem, number << 16 | BAD_SLICE_LENGTH,
                    place->record_bytes, slice->bytes);
    }
    *crc = crc32(0, *start, slice->bytes);
    if (*crc != slice->crc) {
        return fail(STATUS_SLICE_CRC, problem, number, slice->crc, *crc);
    }
    return STATUS_OK;
}

enum status pack_find_case(const struct pack *pack, uint32_t index, struct pack_case *found,
                           struct problem *problem)
{
    const struct pack_header *const header = pack->header;
    const struct case_entry *entry;
    const enum status status = find_entry(pack, index, &entry, problem);
    if (status != STATUS_OK) {
        return status;
    }
    const struct slice_place places[SLICES] = {
        [SLICE_OPS] = {&entry->ops, header->ops_offset, sizeof(struct op_record)},
        [SLICE_TENSORS] = {&entry->tensors, header->tensors_offset, sizeof(struct tensor_record)},
        [SLICE_QUANTS] = {&entry->quants, header->quants_offset, sizeof(struct quant_record)},
        [SLICE_WEIGHTS] = {&entry->weights, header->weights_offset, 1},
    };
    const void *start[SLICES];
    for (uint32_t number = 0; number < SLICES; number++) {
        const enum status slice = check_slice(pack, &places[number], number, &start[number],
                                              &found->slice_crc[number], problem);
        if (slice != STATUS_OK) {
            return slice;
        }
    }
    found->entry = entry;
    found->ops = start[SLICE_OPS];
    found->tensors = start[SLICE_TENSORS];
    found->quants = start[SLICE_QUANTS];
    found->weights = start[SLICE_WEIGHTS];
    found->op_count = entry->ops.bytes / (uint32_t)sizeof(struct op_record);
    found->tensor_count = entry->tensors.bytes / (uint32_t)sizeof(struct tensor_record);
    found->quant_count = entry->quants.bytes / (uint32_t)sizeof(struct quant_record);
    found->weights_bytes = entry->weights.bytes;
    return STATUS_OK;
}

const uint16_t *pack_positions(const struct pack_case *found, const struct tensor_record *tensor)
{
    return (const uint16_t *)(const void *)(found->weights + tensor->positions_offset);
}
