/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/input.h"

#include <stdbool.h>

#include "port/placement.h"

/* Four bytes from a word's index: murmur3's finaliser over a Weyl sequence. */
ALWAYS_INLINE uint32_t input_word(uint32_t seed, uint32_t index)
{
    uint32_t h = seed ^ index * 0x9e3779b1u;
    h ^= h >> 16;
    h *= 0x85ebca6bu;
    h ^= h >> 13;
    h *= 0xc2b2ae35u;
    h ^= h >> 16;
    return h;
}

RAM_CODE("input_fill")
static void fill_in_order(uint8_t *to, uint32_t bytes, uint32_t seed)
{
    uint32_t word = 0;
    for (uint32_t byte = 0; byte < bytes; byte++) {
        word = (byte & 3) == 0 ? input_word(seed, byte >> 2) : word >> 8;
        to[byte] = (uint8_t)word;
    }
}

ALWAYS_INLINE uint32_t position_of(const struct tensor_record *tensor, const uint16_t *positions,
                                   uint32_t y, uint32_t x)
{
    switch (tensor->stored_by) {
    case STORED_BY_COLUMN:
        return x * tensor->h + y;
    case STORED_BY_ORDER:
        return positions[y * tensor->w + x];
    default:
        return y * tensor->w + x;
    }
}

RAM_CODE("input_pixels")
static void fill_by_pixel(uint8_t *to, const struct tensor_record *tensor,
                          const uint16_t *positions, uint32_t seed)
{
    const uint32_t bottom = (uint32_t)tensor->h - tensor->pad_bottom;
    const uint32_t right = (uint32_t)tensor->w - tensor->pad_right;
    uint32_t index = 0;
    for (uint32_t y = 0; y < tensor->h; y++) {
        for (uint32_t x = 0; x < tensor->w; x++) {
            uint8_t *const pixel = to + position_of(tensor, positions, y, x) * tensor->c;
            const bool real =
                y >= tensor->pad_top && y < bottom && x >= tensor->pad_left && x < right;
            for (uint32_t channel = 0; channel < tensor->c; channel++) {
                pixel[channel] = (uint8_t)tensor->fill;
                if (real) {
                    pixel[channel] = (uint8_t)(input_word(seed, index >> 2) >> 8 * (index & 3));
                    index++;
                }
            }
        }
    }
}

void input_load(uint8_t *to, const struct tensor_record *tensor, const uint16_t *positions,
                uint32_t seed)
{
    const bool padded = (tensor->pad_top | tensor->pad_left | tensor->pad_bottom |
                         tensor->pad_right) != 0;
    if (tensor->stored_by == STORED_BY_ROW && !padded) {
        fill_in_order(to, tensor->bytes, seed);
    } else {
        fill_by_pixel(to, tensor, positions, seed);
    }
}
