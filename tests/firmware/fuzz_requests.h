/* SPDX-License-Identifier: Apache-2.0 */
/* Requests as a host would send them and as nobody would, and damage to their frames. */
#ifndef TESTS_FUZZ_REQUESTS_H
#define TESTS_FUZZ_REQUESTS_H

#include <string.h>

#include "fuzz.h"
#include "ripbench_schema.h"
#include "runner/wire.h"

enum {
    NONCE = 0x5eed1e55,
    PACK_MAX = 1 << 20,
    PAYLOAD_MAX = WIRE_REQUEST_MAX - 12,
    REQUESTS_MAX = 64,                        /* that one stream can hold */
    REPEATS_MAX = 100,                        /* of one RUN */
    LONG_ONE_IN = 400                         /* how seldom a RUN asks for 100 repeats */
};

/* A decoded frame without its CRC. */
struct request {
    uint8_t bytes[WIRE_REQUEST_MAX];
    uint32_t length;
    uint32_t end;                             /* where its delimiter is in the stream */
};

struct requests {
    struct request all[REQUESTS_MAX];
    uint32_t count;
};

static struct {
    unsigned long long frames, damaged, delivered, intact, dropped, collisions, runs, results, data;
    unsigned long long refused[16];
} counts;

static struct {
    const struct pack_header *header;
    const struct case_entry *entries;
    uint32_t ops[8];
} pack;

static struct requests sent;                  /* whole frames that went into the stream */
static unsigned long long stream_number;

/* ---- requests ---- */

static uint32_t extreme(void)
{
    static const uint32_t values[] = {0,      1,      2,          3,          0x7f,       0x80,
                                      0xff,   0x100,  0x7fff,     0x8000,     0xffff,     0x10000,
                                      0x3ff,  0x400,  0x7fffffff, 0x80000000, 0xfffffffe,
                                      0xffffffff};
    const uint32_t choice = fuzz_below(4);
    const uint32_t arena = pack.entries[0].arena_bytes;
    return choice == 0   ? (uint32_t)fuzz_next()
           : choice == 1 ? arena - 2 + fuzz_below(5)
           : choice == 2 ? fuzz_below(arena)
                         : fuzz_of(values, sizeof values / sizeof values[0]);
}

static uint32_t draw_repeats(void)
{
    static const uint32_t values[] = {1, 1, 1, 1, 2, 0, 101, 255, 256, 0x7fff, 0x8000, 0xffff};
    return fuzz_below(LONG_ONE_IN) == 0 ? REPEATS_MAX
                                        : fuzz_of(values, sizeof values / sizeof values[0]);
}

static void put_payload(struct fuzz_bytes *to, uint32_t type)
{
    if (type == FRAME_TYPE_RUN && fuzz_below(4) != 0) {
        const struct run_request run = {
            .case_index = fuzz_below(2) == 0 ? fuzz_below(pack.header->case_count) : extreme(),
            .seed = extreme(),
            .repeats = (uint16_t)draw_repeats(),
            .paint = (uint8_t)(fuzz_below(8) == 0 ? extreme() : fuzz_below(2)),
            .keep_interrupts = (uint8_t)(fuzz_below(8) == 0 ? extreme() : fuzz_below(2)),
            .ops = (uint16_t)(fuzz_below(8) == 0 ? extreme() : fuzz_below(2)),
        };
        fuzz_put(to, &run, sizeof run);
    } else if (type == FRAME_TYPE_READ && fuzz_below(4) != 0) {
        const struct read_request read = {.offset = extreme(), .length = extreme()};
        fuzz_put(to, &read, sizeof read);
    } else if (type != FRAME_TYPE_ASK_HELLO || fuzz_below(4) == 0) {
        /* a length of its own, now and then more than the receiver holds */
        const uint32_t length = fuzz_below(fuzz_below(4) == 0 ? 300 : PAYLOAD_MAX + 1);
        const bool zeros = fuzz_below(2) == 0;
        for (uint32_t at = 0; at < length; at++) {
            fuzz_put_byte(to, zeros ? fuzz_below(2) : fuzz_below(256));
        }
    }
}

/* Header, payload and the right CRC. */
static void draw_frame(struct fuzz_bytes *frame)
{
    static const uint32_t types[] = {FRAME_TYPE_ASK_HELLO, FRAME_TYPE_RUN, FRAME_TYPE_READ,
                                     FRAME_TYPE_READ,      FRAME_TYPE_READ};
    const bool usual = fuzz_below(8) != 0;
    const struct frame_header header = {
        .type = (uint8_t)(usual ? fuzz_of(types, 5) : fuzz_below(256)),
        .reserved = (uint8_t)(usual ? 0 : fuzz_below(256)),
        .sequence = (uint16_t)fuzz_next(),
        .nonce = fuzz_below(16) == 0 ? extreme() : NONCE,
    };
    frame->length = 0;
    fuzz_put(frame, &header, sizeof header);
    put_payload(frame, header.type);
    const uint32_t crc = fuzz_crc(frame->data, frame->length);
    if (frame->length + 4 <= WIRE_REQUEST_MAX) {
        struct request *const own = &sent.all[sent.count++];
        memcpy(own->bytes, frame->data, frame->length);
        own->length = frame->length;
    }
    fuzz_put(frame, &crc, sizeof crc);
}

/* ---- damage ---- */

static void draw_bytes(struct fuzz_bytes *to, uint32_t count)
{
    for (uint32_t at = 0; at < count; at++) {
        fuzz_put_byte(to, fuzz_below(256));
    }
}

static void flip_bits(struct fuzz_bytes *bytes, uint32_t count)
{
    for (; count != 0; count--) {
        bytes->data[fuzz_below(bytes->length)] ^= (uint8_t)(1u << fuzz_below(8));
    }
}

static void replace_range(struct fuzz_bytes *bytes, uint32_t removed, uint32_t inserted)
{
    static struct fuzz_bytes old;
    old = *bytes;
    const uint32_t at = fuzz_below(old.length + 1);
    const uint32_t after = removed < old.length - at ? at + removed : old.length;
    bytes->length = at;
    draw_bytes(bytes, inserted);
    fuzz_put(bytes, old.data + after, old.length - after);
}

static void burst(struct fuzz_bytes *bytes)
{
    const uint32_t at = fuzz_below(bytes->length);
    for (uint32_t next = at; next < bytes->length && next < at + 4; next++) {
        bytes->data[next] ^= (uint8_t)fuzz_next();
    }
}

static void swap_bytes(struct fuzz_bytes *bytes)
{
    const uint32_t one = fuzz_below(bytes->length), other = fuzz_below(bytes->length);
    const uint8_t kept = bytes->data[one];
    bytes->data[one] = bytes->data[other];
    bytes->data[other] = kept;
}

/* One frame of a stream: encoded, delimited, and damaged or not. */
static void put_frame(struct fuzz_bytes *stream)
{
    static struct fuzz_bytes frame, encoded;
    draw_frame(&frame);
    const uint32_t how = fuzz_below(12);
    counts.frames++;
    counts.damaged += how < 9;
    if (how == 0) {
        flip_bits(&frame, 1 + fuzz_below(8)); /* under the encoding: COBS alone notices nothing */
    }
    if (how == 1) {
        frame.length = fuzz_below(frame.length + 1);
    }
    encoded.length = 0;
    fuzz_cobs(&encoded, &frame);
    fuzz_put_byte(&encoded, 0);
    switch (how) {
    case 2:
        flip_bits(&encoded, 1 + fuzz_below(8));
        break;
    case 3:
        replace_range(&encoded, 1 + fuzz_below(16), 0);
        break;
    case 4:
        replace_range(&encoded, 0, 1 + fuzz_below(16));
        break;
    case 5:
        replace_range(&encoded, 1 + fuzz_below(16), 1 + fuzz_below(16));
        break;
    case 6:
        burst(&encoded);
        break;
    case 7:
        swap_bytes(&encoded);
        break;
    case 8:
        encoded.length = 0;
        draw_bytes(&encoded, fuzz_below(300));
        break;
    default:
        break;
    }
    fuzz_put(stream, encoded.data, encoded.length);
}

#endif
