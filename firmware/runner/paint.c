/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/paint.h"

#include "port/placement.h"

enum { STEP = (int)0x9e3779b1, START = 0x7f4a7c15 };

ALWAYS_INLINE uint32_t paint_word(uint32_t offset, bool complement)
{
    const uint32_t word = (offset >> 2) * (uint32_t)STEP + START;
    return complement ? ~word : word;
}

ALWAYS_INLINE bool changed(const uint8_t *pool, uint32_t offset, bool complement)
{
    return pool[offset] != (uint8_t)(paint_word(offset, complement) >> (offset & 3) * 8);
}

ALWAYS_INLINE uint32_t load_word(const uint8_t *pool, uint32_t offset)
{
    return *(const uint32_t *)(const void *)(pool + offset);
}

/* ~word = -word - 1: the complement of the sequence is a sequence with the step turned round. */
RAM_CODE("paint_pool")
void paint_pool(uint8_t *pool, uint32_t bytes, bool complement)
{
    uint32_t *word = (uint32_t *)(void *)pool;
    const uint32_t *const end = word + bytes / 4;
    const uint32_t step = complement ? -(uint32_t)STEP : (uint32_t)STEP;
    uint32_t value = paint_word(0, complement);
    for (; word != end; word++) {
        *word = value;
        value += step;
    }
}

RAM_CODE("paint_first_changed")
uint32_t paint_first_changed(const uint8_t *pool, uint32_t begin, uint32_t end, bool complement)
{
    uint32_t offset = begin;
    while (offset < end && (offset & 3) != 0 && !changed(pool, offset, complement)) {
        offset++;
    }
    if ((offset & 3) == 0) {
        const uint32_t step = complement ? -(uint32_t)STEP : (uint32_t)STEP;
        uint32_t value = paint_word(offset, complement);
        while (offset + 4 <= end && load_word(pool, offset) == value) {
            offset += 4;
            value += step;
        }
    }
    while (offset < end && !changed(pool, offset, complement)) {
        offset++;
    }
    return offset;
}

RAM_CODE("paint_last_changed")
uint32_t paint_last_changed(const uint8_t *pool, uint32_t begin, uint32_t end, bool complement)
{
    uint32_t offset = end;
    while (offset > begin && (offset & 3) != 0 && !changed(pool, offset - 1, complement)) {
        offset--;
    }
    if ((offset & 3) == 0) {
        const uint32_t step = complement ? -(uint32_t)STEP : (uint32_t)STEP;
        uint32_t value = paint_word(offset, complement) - step;
        while (offset >= begin + 4 && load_word(pool, offset - 4) == value) {
            offset -= 4;
            value -= step;
        }
    }
    while (offset > begin && !changed(pool, offset - 1, complement)) {
        offset--;
    }
    return offset;
}

RAM_CODE("paint_count_changed")
uint32_t paint_count_changed(const uint8_t *pool, uint32_t begin, uint32_t end, bool complement)
{
    uint32_t count = 0;
    uint32_t offset = paint_first_changed(pool, begin, end, complement);
    for (; offset < end; offset = paint_first_changed(pool, offset + 1, end, complement)) {
        count++;
    }
    return count;
}
