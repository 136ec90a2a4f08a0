/* SPDX-License-Identifier: Apache-2.0 */
/* The 36 parallel additions and subtractions of the DSP extension, SADD16 to UHSUB8 (Armv8-M ARM
 * C2.3.6): six ways to combine the lanes, each in six kinds of arithmetic. */
#include "dsp.h"
#include <stdbool.h>

enum operation { ADD8 = 0, ADD16 = 1, ASX = 2, SUB8 = 4, SUB16 = 5, SAX = 6 };
enum { SATURATES = 1, HALVES = 2, KIND = 3, UNSIGNED = 4 };

static int32_t lane(uint32_t x, uint32_t at, uint32_t width, bool is_unsigned)
{
    const uint32_t shifted = x << (32 - width - at);

    return is_unsigned ? (int32_t)(shifted >> (32 - width)) : (int32_t)shifted >> (32 - width);
}

/* ASX adds the top and subtracts the bottom, SAX the other way round. */
static bool lane_subtracts(uint32_t operation, uint32_t at)
{
    switch (operation) {
    case SUB8: case SUB16: return true;
    case ASX: return at == 0;
    case SAX: return at != 0;
    default: return false;
    }
}

static int32_t saturated(int32_t value, uint32_t width, bool is_unsigned)
{
    const int32_t highest = is_unsigned ? (1 << width) - 1 : (1 << (width - 1)) - 1;
    const int32_t lowest = is_unsigned ? 0 : -highest - 1;

    return value > highest ? highest : value < lowest ? lowest : value;
}

/* GE of a lane: no borrow or not negative; of an unsigned addition, the carry. */
static bool is_ge(int32_t value, uint32_t width, bool is_unsigned, bool subtracts)
{
    return is_unsigned && !subtracts ? value >> width & 1 : value >= 0;
}

uint32_t parallel_add_subtract(uint32_t operation, uint32_t variant, uint32_t x, uint32_t y,
                               uint32_t *ge)
{
    const uint32_t width = operation == ADD8 || operation == SUB8 ? 8 : 16;
    const bool is_unsigned = variant & UNSIGNED, exchanges = operation == ASX || operation == SAX;
    uint32_t result = 0, flags = 0;

    for (uint32_t at = 0; at < 32; at += width) {
        const bool subtracts = lane_subtracts(operation, at);
        const int32_t a = lane(x, at, width, is_unsigned);
        const int32_t b = lane(y, exchanges ? 16 - at : at, width, is_unsigned);
        int32_t value = subtracts ? a - b : a + b;

        if (is_ge(value, width, is_unsigned, subtracts))
            flags |= ((1u << width / 8) - 1) << at / 8;
        if ((variant & KIND) == SATURATES)
            value = saturated(value, width, is_unsigned);
        else if ((variant & KIND) == HALVES)
            value >>= 1;
        result |= ((uint32_t)value & ((1u << width) - 1)) << at;
    }
    if ((variant & KIND) == 0)
        *ge = flags;
    return result;
}
