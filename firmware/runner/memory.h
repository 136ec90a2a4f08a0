/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that a compiler may call on its own, and so the only ones of a C library to be had
 * on every port. <string.h> does not come with a freestanding compiler. */
#ifndef RUNNER_MEMORY_H
#define RUNNER_MEMORY_H

#include <stddef.h>

void *memcpy(void *to, const void *from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *left, const void *right, size_t bytes);

#endif
