/* SPDX-License-Identifier: Apache-2.0 */
/* Frames on the serial port: header, payload, CRC-32 of both, all COBS-encoded and ended by a zero.
 *
 * Both directions count their frames; the device's count restarts with each HELLO. */
#ifndef RUNNER_WIRE_H
#define RUNNER_WIRE_H

#include <stdbool.h>
#include <stdint.h>

#include "ripbench_schema.h"

enum {
    WIRE_REQUEST_MAX = 64,                    /* bytes of a decoded request, CRC included */
    COBS_BLOCK = 254                          /* non-zero bytes that one code byte can announce */
};

/* Bytes to frames, one byte at a time. */
struct wire_receiver {
    _Alignas(8) uint8_t frame[WIRE_REQUEST_MAX];
    uint32_t length;                          /* decoded bytes so far */
    uint32_t block_left;                      /* bytes until the next code byte */
    bool zero_due;                            /* after this block, unless it is the last */
    bool started, broken;
    uint32_t dropped;                         /* frames with a wrong code, length or CRC */
};

struct wire_request {
    struct frame_header header;
    const uint8_t *payload;                   /* in the receiver: valid until its next byte */
    uint32_t payload_bytes;
};

/* True when `byte` completes a whole frame. */
bool wire_receive(struct wire_receiver *receiver, uint8_t byte, struct wire_request *request);

/* Frames to bytes, which go to `emit` in pieces of at most 255. */
struct wire_sender {
    void (*emit)(const uint8_t *bytes, uint32_t count);
    uint16_t sequence;                        /* of the next frame */
    uint32_t crc;
    uint32_t fill;                            /* bytes in block, the code byte included */
    bool full_block_before;                   /* and nothing since: no code need follow */
    uint8_t block[1 + COBS_BLOCK];
};

void wire_begin(struct wire_sender *sender, enum frame_type type, uint32_t nonce);
void wire_put(struct wire_sender *sender, const void *bytes, uint32_t count);
void wire_end(struct wire_sender *sender);
void wire_send(struct wire_sender *sender, enum frame_type type, uint32_t nonce,
               const void *payload, uint32_t payload_bytes);
void wire_break(struct wire_sender *sender);  /* end whatever was being sent, as a broken frame */

#endif
