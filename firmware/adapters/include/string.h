/* SPDX-License-Identifier: Apache-2.0 */
/* What the library takes of the C library, which a cross compiler need not bring. The runner has
 * the functions (firmware/port/cortex_m/memory.c). */
#ifndef ADAPTER_STRING_H
#define ADAPTER_STRING_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);

#endif
