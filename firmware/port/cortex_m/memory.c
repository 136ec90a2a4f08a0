/* SPDX-License-Identifier: Apache-2.0 */
/* What gcc may call without a C library (GCC manual, "Standards"). In SRAM, since timed code
 * may. */
#include "runner/memory.h"

#include <stdint.h>

#include "port/placement.h"

RAM_CODE("memcpy")
void *memcpy(void *to, const void *from, size_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    while (bytes-- != 0) {
        *target++ = *source++;
    }
    return to;
}

RAM_CODE("memmove")
void *memmove(void *to, const void *from, size_t bytes)
{
    uint8_t *target = to;
    const uint8_t *source = from;
    if ((uintptr_t)target <= (uintptr_t)source) {
        return memcpy(to, from, bytes);
    }
    while (bytes-- != 0) {
        target[bytes] = source[bytes];
    }
    return to;
}

RAM_CODE("memset")
void *memset(void *to, int value, size_t bytes)
{
    uint8_t *target = to;
    while (bytes-- != 0) {
        *target++ = (uint8_t)value;
    }
    return to;
}

RAM_CODE("memcmp")
int memcmp(const void *left, const void *right, size_t bytes)
{
    const uint8_t *one = left;
    const uint8_t *other = right;
    for (; bytes != 0; bytes--, one++, other++) {
        if (*one != *other) {
            return *one - *other;
        }
    }
    return 0;
}
