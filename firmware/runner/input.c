/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/input.h"

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
void input_fill(uint8_t *to, uint32_t bytes, uint32_t seed)
{
    uint32_t word = 0;
    for (uint32_t byte = 0; byte < bytes; byte++) {
        word = (byte & 3) == 0 ? input_word(seed, byte >> 2) : word >> 8;
        to[byte] = (uint8_t)word;
    }
}
