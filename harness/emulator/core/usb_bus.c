/* SPDX-License-Identifier: Apache-2.0 */
/* The bus side of the USB controller: what its serial interface engine answers to a host's
 * transactions, and what an idle host could notice (RP2040 data sheet 4.1.2).
 *
 * Transactions take no time. An endpoint here is a number as in BUFF_STATUS: 2n is IN of endpoint
 * n, 2n + 1 its OUT. A SETUP is always taken; it leaves the buffer control of endpoint 0 alone. */
#include "usb.h"

enum {                              /* endpoint control; of endpoint 0 the same bits of SIE_CTRL */
    EP_DOUBLE_BUFFERED = 1 << 30, EP_INT_PER_BUFFER = 1 << 29, EP_INT_PER_TWO_BUFFERS = 1 << 28,
    EP_INT_ON_STALL = 1 << 17, EP_INT_ON_NAK = 1 << 16, EP_BUFFER_ADDRESS = 0xffc0
};
#define EP_ENABLE 0x80000000u
#define EP0_SIE_CTRL_BITS (EP_DOUBLE_BUFFERED | EP_INT_PER_BUFFER | EP_INT_PER_TWO_BUFFERS)
enum {                              /* buffer control, buffer 0; buffer 1 has its 16 bits above */
    BUFFER_FULL = 1 << 15, BUFFER_DATA1 = 1 << 13, BUFFER_SELECT_RESET = 1 << 12,
    BUFFER_STALL = 1 << 11, BUFFER_AVAILABLE = 1 << 10, BUFFER_LENGTH = 0x3ff, BUFFER_BITS = 16
};

/* ---- events ---- */
void usb_notice(machine *m, uint32_t events)
{
    struct usb *u = &m->chip->usb;
    if (u->events == 0)
        u->event_cycle = m->cycles;
    u->events |= events;
    machine_usb_noticed(m);
}

uint32_t emu_usb_events(machine *m, uint64_t *cycle)
{
    struct usb *u = &m->chip->usb;
    uint32_t events = u->events;
    if (cycle)
        *cycle = events ? u->event_cycle : m->cycles;
    u->events = 0;
    return events;
}

static bool is_out(uint32_t endpoint)
{
    return endpoint & 1;
}

/* Which of both buffers the controller could use: an IN buffer has to be filled as well. */
static uint32_t ready_buffers(uint32_t endpoint, uint32_t control)
{
    uint32_t needs = is_out(endpoint) ? BUFFER_AVAILABLE : BUFFER_AVAILABLE | BUFFER_FULL;
    return ((control & needs) == needs ? 1 : 0)
           | ((control >> BUFFER_BITS & needs) == needs ? 2 : 0);
}

static uint32_t buffer_control(const struct usb *u, uint32_t endpoint)
{
    return usb_dpram_word(u, DPRAM_BUFFER_CONTROL + 4 * endpoint);
}

static void set_buffer_control(struct usb *u, uint32_t endpoint, uint32_t control)
{
    memcpy(u->dpram + DPRAM_BUFFER_CONTROL + 4 * endpoint, &control, sizeof control);
}

static bool stalls(const struct usb *u, uint32_t endpoint)
{
    bool armed = endpoint >= 2 || (u->ep_stall_arm >> endpoint & 1);
    return armed && (buffer_control(u, endpoint) & BUFFER_STALL);
}

void usb_buffer_written(machine *m, uint32_t endpoint, uint32_t old)
{
    struct usb *u = &m->chip->usb;
    uint32_t control = buffer_control(u, endpoint);
    if (control & BUFFER_SELECT_RESET)
        u->second_buffer &= ~(1u << endpoint);
    if (!u->attached)
        return;
    if (ready_buffers(endpoint, control) & ~ready_buffers(endpoint, old))
        usb_notice(m, is_out(endpoint) ? EMU_USB_OUT_READY : EMU_USB_IN_READY);
    if (!(old & BUFFER_STALL) && stalls(u, endpoint))
        usb_notice(m, EMU_USB_STALLED);
}

void usb_stall_armed(machine *m, uint32_t newly_armed)
{
    struct usb *u = &m->chip->usb;
    for (uint32_t endpoint = 0; endpoint < 2; endpoint++)
        if ((newly_armed >> endpoint & 1) && u->attached && stalls(u, endpoint))
            usb_notice(m, EMU_USB_STALLED);
}

/* ---- transactions ---- */
static uint32_t endpoint_control(const struct usb *u, uint32_t endpoint)
{
    if (endpoint < 2)
        return EP_ENABLE | (u->sie_ctrl & EP0_SIE_CTRL_BITS) | DPRAM_EP0_BUFFER;
    return usb_dpram_word(u, DPRAM_ENDPOINT_CONTROL + 4 * endpoint);
}

/* NAK and STALL before any data moves; 0: the transaction may go on. */
static int refusal(machine *m, uint32_t endpoint, uint32_t ep_control, uint32_t buffer)
{
    struct usb *u = &m->chip->usb;
    uint32_t control = buffer_control(u, endpoint);
    if (!u->attached || u->bus_reset || !(ep_control & EP_ENABLE))
        return EMU_USB_NAK;
    if (stalls(u, endpoint)) {
        if (ep_control & EP_INT_ON_STALL)
            u->ep_status_stall_nak |= 1u << endpoint;
        machine_irq_changed(m);
        return EMU_USB_STALL;
    }
    if ((u->ep_abort >> endpoint & 1) || !(ready_buffers(endpoint, control) >> buffer & 1)) {
        if (ep_control & EP_INT_ON_NAK)
            u->ep_status_stall_nak |= 1u << endpoint;
        machine_irq_changed(m);
        return EMU_USB_NAK;
    }
    return 0;
}

static uint32_t next_buffer(const struct usb *u, uint32_t endpoint, uint32_t ep_control)
{
    return ep_control & EP_DOUBLE_BUFFERED ? u->second_buffer >> endpoint & 1 : 0;
}

/* Where the packet of a buffer lies, or NULL when it would leave DPRAM. */
static uint8_t *packet_at(machine *m, uint32_t ep_control, uint32_t buffer, uint32_t length)
{
    uint32_t offset = (ep_control & EP_BUFFER_ADDRESS) + buffer * USB_PACKET_BYTES;
    if (length <= USB_PACKET_BYTES && offset + length <= USB_DPRAM_BYTES)
        return m->chip->usb.dpram + offset;
    machine_strict(m, "USB buffer at DPRAM+0x%03x of %u bytes: a packet has at most 64, in 4 KB",
                   (unsigned)offset, (unsigned)length);
    return NULL;
}

static void finish(machine *m, uint32_t endpoint, uint32_t ep_control, uint32_t buffer)
{
    struct usb *u = &m->chip->usb;
    uint32_t bit = 1u << endpoint;
    bool interrupts = ep_control & EP_INT_PER_BUFFER;
    if (ep_control & EP_DOUBLE_BUFFERED) {
        uint32_t other = buffer_control(u, endpoint) >> (buffer ? 0 : BUFFER_BITS);
        u->second_buffer ^= bit;
        if (ep_control & EP_INT_PER_TWO_BUFFERS)
            interrupts = !(other & BUFFER_AVAILABLE);
    }
    u->buff_cpu_should_handle = buffer ? u->buff_cpu_should_handle | bit
                                       : u->buff_cpu_should_handle & ~bit;
    if (interrupts)
        u->buff_status |= bit;
    machine_irq_changed(m);
}

int emu_usb_in(machine *m, int number, uint8_t *to, int *data_pid)
{
    struct usb *u = &m->chip->usb;
    uint32_t endpoint = (uint32_t)(number & 15) * 2, ep_control = endpoint_control(u, endpoint);
    uint32_t buffer = next_buffer(u, endpoint, ep_control), shift = buffer * BUFFER_BITS;
    int refused = refusal(m, endpoint, ep_control, buffer);
    if (refused)
        return refused;
    uint32_t control = buffer_control(u, endpoint), length = control >> shift & BUFFER_LENGTH;
    const uint8_t *packet = packet_at(m, ep_control, buffer, length);
    if (!packet)
        return EMU_USB_NAK;
    memcpy(to, packet, length);
    *data_pid = control >> shift & BUFFER_DATA1 ? 1 : 0;
    control &= ~((uint32_t)(BUFFER_AVAILABLE | BUFFER_FULL) << shift);
    set_buffer_control(u, endpoint, control);
    finish(m, endpoint, ep_control, buffer);
    return (int)length;
}

/* A packet with the wrong data toggle is one the device has seen before: taken, and thrown away.
 * data_pid below 0: not checked. */
int emu_usb_out(machine *m, int number, const uint8_t *from, int length, int data_pid)
{
    struct usb *u = &m->chip->usb;
    uint32_t endpoint = (uint32_t)(number & 15) * 2 + 1, bytes = (uint32_t)length;
    uint32_t ep_control = endpoint_control(u, endpoint);
    uint32_t buffer = next_buffer(u, endpoint, ep_control), shift = buffer * BUFFER_BITS;
    int refused = refusal(m, endpoint, ep_control, buffer);
    if (refused)
        return refused;
    uint32_t control = buffer_control(u, endpoint);
    if (data_pid >= 0 && (control >> shift & BUFFER_DATA1 ? 1 : 0) != data_pid) {
        u->sie_status |= SIE_DATA_SEQ_ERROR;
        machine_irq_changed(m);
        return length;
    }
    uint8_t *packet = packet_at(m, ep_control, buffer, bytes);
    if (!packet)
        return EMU_USB_NAK;
    if (bytes)
        memcpy(packet, from, bytes);
    control &= ~((uint32_t)(BUFFER_AVAILABLE | BUFFER_LENGTH) << shift);
    set_buffer_control(u, endpoint, control | (bytes | BUFFER_FULL) << shift);
    finish(m, endpoint, ep_control, buffer);
    return length;
}

void emu_usb_setup(machine *m, const uint8_t packet[8])
{
    struct usb *u = &m->chip->usb;
    if (!u->attached || u->bus_reset)
        return;
    memcpy(u->dpram + DPRAM_SETUP_PACKET, packet, 8);
    u->ep_stall_arm = 0;
    u->sie_status |= SIE_SETUP_REC;
    machine_irq_changed(m);
}

void emu_usb_bus_reset(machine *m, int on)
{
    struct usb *u = &m->chip->usb;
    if (!u->attached)
        return;
    u->bus_reset = on;
    if (on)
        u->sie_status = (u->sie_status | SIE_BUS_RESET) & ~(uint32_t)SIE_CONNECTED;
    else
        u->sie_status |= SIE_CONNECTED;
    machine_irq_changed(m);
}

void emu_usb_sof(machine *m, int frame)
{
    struct usb *u = &m->chip->usb;
    if (!u->attached || u->bus_reset)
        return;
    u->sof_rd = (uint32_t)frame & 0x7ff;
    u->dev_sof = true;
    if (u->inte & USB_INT_DEV_SOF)
        machine_irq_changed(m);
}
