/* SPDX-License-Identifier: Apache-2.0 */
/* The serial port: a ring for each direction between the bulk endpoint and the program.
 *
 * The rings' positions count bytes and are never reduced; each is written on one side only. The
 * program's side masks interrupts where it touches the endpoints. When the program does not read,
 * the OUT buffer is not given back and the host has to wait. */
#include "port/cortex_m/core.h"
#include "port/port.h"
#include "port/usb/device.h"
#include "port/usb/usb.h"

enum { RECEIVE_RING = 256, TRANSMIT_RING = 1024 };

static struct {
    uint8_t receive[RECEIVE_RING];
    uint8_t transmit[TRANSMIT_RING];
    volatile uint32_t received, read;
    volatile uint32_t written, sent;
    volatile bool open;                       /* configured */
    volatile bool listening;                  /* the host has the port open */
    bool receiving;                           /* the OUT buffer is with the controller */
    bool halted_in, halted_out;
} cdc;

RAM_CODE("cdc_receive_more")
static void cdc_receive_more(void)
{
    const uint32_t used = cdc.received - cdc.read;
    if (cdc.open && !cdc.halted_out && !cdc.receiving && RECEIVE_RING - used >= USB_PACKET) {
        cdc.receiving = true;
        pipe_give(EP2_OUT, USB_PACKET);
    }
}

void cdc_start(void)
{
    pipe_reset_toggle(EP2_IN, false);
    pipe_reset_toggle(EP2_OUT, false);
    cdc.open = true;
    cdc_receive_more();
}

void cdc_stop(void)
{
    pipe_take_back(EP2_IN);
    pipe_take_back(EP2_OUT);
    cdc.open = false;
    cdc.listening = false;
    cdc.receiving = false;
    cdc.halted_in = false;
    cdc.halted_out = false;
    cdc.received = cdc.read;
    cdc.sent = cdc.written;
}

/* What waits for a host that closed the port is not for the next one that opens it. */
void cdc_line_state(bool dtr)
{
    cdc.listening = dtr;
    if (!dtr) {
        cdc.sent = cdc.written;
    }
}

void cdc_set_halt(enum usb_pipe pipe, bool halt)
{
    pipe_take_back(pipe);
    pipe_reset_toggle(pipe, false);
    if (halt) {
        pipe_stall(pipe);
    }
    if (pipe == EP2_IN) {
        cdc.halted_in = halt;
    }
    if (pipe == EP2_OUT) {
        cdc.halted_out = halt;
        cdc.receiving = false;
        cdc_receive_more();
    }
}

RAM_CODE("cdc_received")
void cdc_received(void)
{
    const uint32_t length = pipe_received(EP2_OUT);
    uint32_t position = cdc.received;
    if (!cdc.receiving || length > USB_PACKET) {
        return;
    }
    for (uint32_t byte = 0; byte < length; byte++) {
        cdc.receive[position++ % RECEIVE_RING] = dpram(DPRAM_EP2_OUT_BUFFER)[byte];
    }
    cdc.received = position;
    cdc.receiving = false;
    cdc.listening = true;                     /* whoever writes also reads, DTR or not */
    cdc_receive_more();
}

/* Whether the IN buffer is free is asked of the controller, so that no lost completion can stop the
 * stream for good. */
RAM_CODE("cdc_transmit")
void cdc_transmit(void)
{
    uint32_t position = cdc.sent;
    uint32_t length = cdc.written - position;
    if (length == 0 || !cdc.open || cdc.halted_in || pipe_busy(EP2_IN)) {
        return;
    }
    if (length > USB_PACKET) {
        length = USB_PACKET;
    }
    for (uint32_t byte = 0; byte < length; byte++) {
        dpram(DPRAM_EP2_IN_BUFFER)[byte] = cdc.transmit[position++ % TRANSMIT_RING];
    }
    cdc.sent = position;
    pipe_give(EP2_IN, BUF_CTRL_FULL | length);
}

uint32_t usb_read(uint8_t *to, uint32_t bytes)
{
    const uint32_t primask = interrupts_disable();
    uint32_t position = cdc.read;
    const uint32_t there = cdc.received - position;
    const uint32_t count = bytes < there ? bytes : there;
    for (uint32_t byte = 0; byte < count; byte++) {
        to[byte] = cdc.receive[position++ % RECEIVE_RING];
    }
    cdc.read = position;
    cdc_receive_more();
    interrupts_restore(primask);
    return count;
}

uint32_t usb_write(const uint8_t *from, uint32_t bytes)
{
    const uint32_t primask = interrupts_disable();
    uint32_t count = bytes;
    if (cdc.open && cdc.listening) {
        uint32_t position = cdc.written;
        const uint32_t room = TRANSMIT_RING - (position - cdc.sent);
        count = bytes < room ? bytes : room;
        for (uint32_t byte = 0; byte < count; byte++) {
            cdc.transmit[position++ % TRANSMIT_RING] = from[byte];
        }
        cdc.written = position;
        cdc_transmit();
    }
    interrupts_restore(primask);
    return count;
}

bool usb_readable(void)
{
    return cdc.received != cdc.read;
}

bool usb_writable(void)
{
    return !cdc.open || !cdc.listening || cdc.written - cdc.sent != TRANSMIT_RING;
}

bool usb_write_idle(void)
{
    return !cdc.open || !cdc.listening || (cdc.written == cdc.sent && !pipe_busy(EP2_IN));
}
