/* SPDX-License-Identifier: Apache-2.0 */
/* What the fuzzing programs share: drawn numbers, and the wire a second time, by definition. */
#ifndef TESTS_FUZZ_H
#define TESTS_FUZZ_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { FUZZ_BYTES_MAX = 4096 };

/* Bytes that are built up; what does not fit ends the program. */
struct fuzz_bytes {
    uint8_t data[FUZZ_BYTES_MAX];
    uint32_t length;
};

static uint64_t fuzz_state;

/* A drawn 64-bit number (xorshift64*), the same ones for the same seed. */
static inline uint64_t fuzz_next(void)
{
    fuzz_state ^= fuzz_state >> 12;
    fuzz_state ^= fuzz_state << 25;
    fuzz_state ^= fuzz_state >> 27;
    return fuzz_state * 0x2545f4914f6cdd1du;
}

static inline void fuzz_seed(uint64_t seed)
{
    fuzz_state = (seed + 1) * 0x9e3779b97f4a7c15u;
    (void)fuzz_next();
}

/* Drawn, below `end`. */
static inline uint32_t fuzz_below(uint32_t end)
{
    return (uint32_t)((fuzz_next() >> 32) * end >> 32);
}

static inline uint32_t fuzz_of(const uint32_t *values, uint32_t count)
{
    return values[fuzz_below(count)];
}

/* Ends the program with the number of the stream, from which it can be run again. */
#define FUZZ_CHECK(condition, at)                                                             \
    do {                                                                                      \
        if (!(condition)) {                                                                   \
            fprintf(stderr, "%s:%d: not so at %llu: %s\n", __FILE__, __LINE__,                \
                    (unsigned long long)(at), #condition);                                    \
            exit(1);                                                                          \
        }                                                                                     \
    } while (0)

static inline void fuzz_put(struct fuzz_bytes *to, const void *bytes, uint32_t count)
{
    const uint8_t *const from = bytes;
    FUZZ_CHECK(count <= FUZZ_BYTES_MAX - to->length, to->length);
    for (uint32_t at = 0; at < count; at++) {
        to->data[to->length++] = from[at];
    }
}

static inline void fuzz_put_byte(struct fuzz_bytes *to, uint32_t byte)
{
    const uint8_t value = (uint8_t)byte;
    fuzz_put(to, &value, 1);
}

/* CRC-32 a bit at a time, with a table of its own results. */
static inline uint32_t fuzz_crc(const uint8_t *bytes, uint32_t count)
{
    static uint32_t table[256];
    uint32_t crc = 0xffffffffu;
    if (table[1] == 0) {
        for (uint32_t value = 0; value < 256; value++) {
            uint32_t rest = value;
            for (uint32_t bit = 0; bit < 8; bit++) {
                rest = (rest & 1) != 0 ? rest >> 1 ^ 0xedb88320u : rest >> 1;
            }
            table[value] = rest;
        }
    }
    for (uint32_t at = 0; at < count; at++) {
        crc = crc >> 8 ^ table[(crc ^ bytes[at]) & 0xff];
    }
    return ~crc;
}

/* COBS of `from`, without a delimiter: each zero becomes the distance to the next one. */
static inline void fuzz_cobs(struct fuzz_bytes *to, const struct fuzz_bytes *from)
{
    uint32_t begin = 0;
    for (;;) {
        uint32_t end = begin;
        while (end < from->length && from->data[end] != 0 && end - begin < 254) {
            end++;
        }
        fuzz_put_byte(to, end - begin + 1);
        fuzz_put(to, from->data + begin, end - begin);
        if (end == from->length) {
            return;
        }
        begin = end - begin == 254 ? end : end + 1;
    }
}

/* The other way; false when the distances do not come out at the end. */
static inline bool fuzz_uncobs(struct fuzz_bytes *to, const uint8_t *bytes, uint32_t count)
{
    uint32_t at = 0;
    to->length = 0;
    while (at < count) {
        const uint32_t code = bytes[at];
        if (code == 0 || code > count - at) {
            return false;
        }
        fuzz_put(to, bytes + at + 1, code - 1);
        at += code;
        if (code != 255 && at < count) {
            fuzz_put_byte(to, 0);
        }
    }
    return true;
}

/* Content and its CRC: a decoded frame, at least header and CRC long. */
static inline bool fuzz_is_whole(const struct fuzz_bytes *frame)
{
    if (frame->length < 12) {
        return false;
    }
    const uint8_t *const stated = frame->data + frame->length - 4;
    const uint32_t crc = (uint32_t)stated[0] | (uint32_t)stated[1] << 8 |
                         (uint32_t)stated[2] << 16 | (uint32_t)stated[3] << 24;
    return fuzz_crc(frame->data, frame->length - 4) == crc;
}

#endif
