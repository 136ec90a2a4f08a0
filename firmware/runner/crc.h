/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 as zlib computes it (reflected 04C11DB7, initial and final value inverted). */
#ifndef RUNNER_CRC_H
#define RUNNER_CRC_H

#include <stdint.h>

/* Continue `crc`, 0 to begin: crc32(crc32(0, a), b) is the CRC of a followed by b. */
uint32_t crc32(uint32_t crc, const void *bytes, uint32_t count);

#endif
