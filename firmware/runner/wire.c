/* SPDX-License-Identifier: Apache-2.0 */
/* COBS: Cheshire and Baker, "Consistent Overhead Byte Stuffing", IEEE/ACM ToN 7(2), 1999. */
#include "runner/wire.h"

#include "runner/crc.h"
#include "runner/memory.h"

enum { CRC_BYTES = 4, CODE_FULL = 1 + COBS_BLOCK };

static void keep(struct wire_receiver *receiver, uint8_t byte)
{
    if (receiver->length == WIRE_REQUEST_MAX) {
        receiver->broken = true;
        return;
    }
    receiver->frame[receiver->length++] = byte;
}

static bool frame_is_whole(const struct wire_receiver *receiver)
{
    if (receiver->broken || receiver->block_left != 0 ||
        receiver->length < sizeof(struct frame_header) + CRC_BYTES) {
        return false;
    }
    const uint32_t covered = receiver->length - CRC_BYTES;
    uint32_t stated;
    memcpy(&stated, receiver->frame + covered, CRC_BYTES);
    return crc32(0, receiver->frame, covered) == stated;
}

static bool end_of_frame(struct wire_receiver *receiver, struct wire_request *request)
{
    const bool whole = frame_is_whole(receiver);
    if (whole) {
        memcpy(&request->header, receiver->frame, sizeof request->header);
        request->payload = receiver->frame + sizeof request->header;
        request->payload_bytes = receiver->length - (uint32_t)sizeof request->header - CRC_BYTES;
    } else if (receiver->started) {
        receiver->dropped++;
    }
    receiver->length = 0;
    receiver->block_left = 0;
    receiver->zero_due = false;
    receiver->started = false;
    receiver->broken = false;
    return whole;
}

bool wire_receive(struct wire_receiver *receiver, uint8_t byte, struct wire_request *request)
{
    if (byte == 0) {
        return end_of_frame(receiver, request);
    }
    receiver->started = true;
    if (receiver->block_left != 0) {
        receiver->block_left--;
        keep(receiver, byte);
        return false;
    }
    if (receiver->zero_due) {
        keep(receiver, 0);
    }
    receiver->block_left = byte - 1u;
    receiver->zero_due = byte != CODE_FULL;
    return false;
}

static void flush_block(struct wire_sender *sender)
{
    sender->block[0] = (uint8_t)sender->fill;
    sender->emit(sender->block, sender->fill);
    sender->full_block_before = sender->fill == CODE_FULL;
    sender->fill = 1;
}

static void encode(struct wire_sender *sender, const uint8_t *bytes, uint32_t count)
{
    for (; count != 0; count--, bytes++) {
        sender->full_block_before = false;
        if (*bytes != 0) {
            sender->block[sender->fill++] = *bytes;
        }
        if (*bytes == 0 || sender->fill == CODE_FULL) {
            flush_block(sender);
            sender->full_block_before = *bytes != 0;
        }
    }
}

void wire_put(struct wire_sender *sender, const void *bytes, uint32_t count)
{
    sender->crc = crc32(sender->crc, bytes, count);
    encode(sender, bytes, count);
}

void wire_begin(struct wire_sender *sender, enum frame_type type, uint32_t nonce)
{
    const struct frame_header header = {
        .type = (uint8_t)type, .sequence = sender->sequence++, .nonce = nonce};
    sender->crc = 0;
    sender->fill = 1;
    sender->full_block_before = false;
    wire_put(sender, &header, sizeof header);
}

void wire_end(struct wire_sender *sender)
{
    const uint32_t crc = sender->crc;
    encode(sender, (const uint8_t *)&crc, CRC_BYTES);
    if (sender->fill > 1 || !sender->full_block_before) {
        flush_block(sender);
    }
    wire_break(sender);
}

void wire_send(struct wire_sender *sender, enum frame_type type, uint32_t nonce,
               const void *payload, uint32_t payload_bytes)
{
    wire_begin(sender, type, nonce);
    wire_put(sender, payload, payload_bytes);
    wire_end(sender);
}

void wire_break(struct wire_sender *sender)
{
    static const uint8_t delimiter = 0;
    sender->emit(&delimiter, 1);
}
