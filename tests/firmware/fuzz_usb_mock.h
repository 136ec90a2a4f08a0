/* SPDX-License-Identifier: Apache-2.0 */
/* The USB controller as two arrays, a host's tokens on it, and what the host knows. */
#ifndef TESTS_FUZZ_USB_MOCK_H
#define TESTS_FUZZ_USB_MOCK_H

#include <string.h>

#include "fuzz.h"
#include "port/port.h"
#include "port/usb/descriptors.h"
#include "port/usb/device.h"
#include "port/usb/usb.h"

enum {
    TRANSMIT_RING = 1024,
    CANARY = 0xa5,
    STALL_ARMS = EP_STALL_ARM_EP0_IN | EP_STALL_ARM_EP0_OUT,
    NAK = -1, STALLED = -2
};

/* The controller. Registers are plain memory; where writing 1 clears, the mock does it. */
_Alignas(8) uint8_t mock_dpram[DPRAM_BYTES];
_Alignas(8) uint8_t mock_registers[0x4000];

static volatile struct mailbox_report report;
volatile struct mailbox_report *port_mailbox_report(void) { return &report; }

static struct {
    unsigned long long transfers, answered, acknowledged, stalled, abandoned, resets, spurious;
    unsigned long long bytes_out, bytes_in, alive;
} counts;

/* A queue of bytes. */
struct queue {
    uint8_t bytes[4096];
    uint32_t first, count;
};

/* What the host side knows of the device. */
static struct {
    uint8_t configuration;
    uint8_t line_coding[7];
    uint32_t address;
    bool halted[USB_PIPES];
    bool listening;
    bool in_flight;                           /* a packet waits in the buffer of EP2_IN */
    struct queue to_host, to_program;
} model;

static uint32_t pending;                      /* BUFF_STATUS: completions not yet served */

static void queue_put(struct queue *queue, uint8_t byte)
{
    FUZZ_CHECK(queue->count < sizeof queue->bytes, counts.transfers);
    queue->bytes[(queue->first + queue->count++) % sizeof queue->bytes] = byte;
}

static uint8_t queue_take(struct queue *queue)
{
    FUZZ_CHECK(queue->count != 0, counts.transfers);
    queue->count--;
    return queue->bytes[queue->first++ % sizeof queue->bytes];
}

/* ---- the controller's side ---- */

static uint32_t buffer_of(enum usb_pipe pipe)
{
    return pipe == EP2_IN    ? DPRAM_EP2_IN_BUFFER
           : pipe == EP2_OUT ? DPRAM_EP2_OUT_BUFFER
           : pipe == EP1_IN  ? DPRAM_EP1_IN_BUFFER
                             : DPRAM_EP0_BUFFER;
}

/* Dual-port RAM that belongs to nothing: behind the buffer controls, and around the buffers. */
static bool is_unused(uint32_t offset)
{
    const bool in_buffers = offset >= DPRAM_EP0_BUFFER && offset < DPRAM_EP2_IN_BUFFER + USB_PACKET;
    const bool in_gap = offset >= DPRAM_EP0_BUFFER + USB_PACKET && offset < DPRAM_EP1_IN_BUFFER;
    return offset >= 0xb0 && (!in_buffers || in_gap);
}

static void check_canaries(void)
{
    for (uint32_t offset = 0; offset < DPRAM_BYTES; offset++) {
        FUZZ_CHECK(!is_unused(offset) || mock_dpram[offset] == CANARY, counts.transfers);
    }
}

/* A packet that appeared in the IN buffer is the next one of what the program wrote. */
static void observe(void)
{
    const uint32_t control = *buffer_control(EP2_IN);
    if ((control & BUF_CTRL_AVAILABLE) == 0) {
        model.in_flight = false;
    } else if (!model.in_flight) {
        const uint32_t length = control & BUF_CTRL_LENGTH_MASK;
        FUZZ_CHECK(length != 0 && length <= USB_PACKET, counts.transfers);
        for (uint32_t at = 0; at < length; at++) {
            FUZZ_CHECK(dpram(DPRAM_EP2_IN_BUFFER)[at] == queue_take(&model.to_host),
                       counts.transfers);
        }
        model.in_flight = true;
    }
}

static void serve(uint32_t sie_status)
{
    USB_SIE_STATUS = sie_status;
    USB_BUFF_STATUS = pending;
    usb_service();
    /* each cause was cleared: by writing it, alone, and no other */
    FUZZ_CHECK(USB_BUFF_STATUS == pending, counts.transfers);
    pending = 0;
    observe();
}

static int32_t in_token(enum usb_pipe pipe, uint8_t *to, bool *data1)
{
    const uint32_t control = *buffer_control(pipe);
    if ((control & BUF_CTRL_STALL) != 0) {
        return STALLED;
    }
    if ((control & BUF_CTRL_AVAILABLE) == 0) {
        return NAK;
    }
    const uint32_t length = control & BUF_CTRL_LENGTH_MASK;
    FUZZ_CHECK((control & BUF_CTRL_FULL) != 0 && length <= USB_PACKET, counts.transfers);
    for (uint32_t at = 0; at < length; at++) {
        to[at] = dpram(buffer_of(pipe))[at];
    }
    *data1 = (control & BUF_CTRL_DATA1) != 0;
    *buffer_control(pipe) = control & ~(uint32_t)(BUF_CTRL_AVAILABLE | BUF_CTRL_FULL);
    pending |= 1u << pipe;
    return (int32_t)length;
}

static int32_t out_token(enum usb_pipe pipe, const uint8_t *from, uint32_t length)
{
    const uint32_t control = *buffer_control(pipe);
    if ((control & BUF_CTRL_STALL) != 0) {
        return STALLED;
    }
    if ((control & BUF_CTRL_AVAILABLE) == 0) {
        return NAK;
    }
    FUZZ_CHECK((control & BUF_CTRL_FULL) == 0, counts.transfers);
    for (uint32_t at = 0; at < length; at++) {
        dpram(buffer_of(pipe))[at] = from[at];
    }
    *buffer_control(pipe) =
        (control & ~(uint32_t)(BUF_CTRL_AVAILABLE | BUF_CTRL_LENGTH_MASK)) | BUF_CTRL_FULL | length;
    pending |= 1u << pipe;
    return (int32_t)length;
}

#endif
