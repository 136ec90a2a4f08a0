/* SPDX-License-Identifier: Apache-2.0 */
/* What the registers of the USB controller (usb.c) and the bus (usb_bus.c) share. */
#ifndef USB_H
#define USB_H
#include "chip.h"
#include <string.h>

/* DPRAM in device mode, data sheet 4.1.2.5.1 */
enum {
    DPRAM_SETUP_PACKET = 0x000, DPRAM_ENDPOINT_CONTROL = 0x000, DPRAM_BUFFER_CONTROL = 0x080,
    DPRAM_BUFFER_CONTROL_END = 0x100, DPRAM_EP0_BUFFER = 0x100, USB_PACKET_BYTES = 64
};
enum { SIE_RX_OVERFLOW = 1 << 26, SIE_BUS_RESET = 1 << 19, SIE_SETUP_REC = 1 << 17,
       SIE_CONNECTED = 1 << 16 };
#define SIE_DATA_SEQ_ERROR 0x80000000u
enum { USB_INT_DEV_SOF = 1 << 17 };

/* Endpoints are numbered as in BUFF_STATUS: 2n is IN of endpoint n, 2n + 1 its OUT. */
static inline uint32_t usb_dpram_word(const struct usb *u, uint32_t offset)
{
    uint32_t word;
    memcpy(&word, u->dpram + offset, sizeof word);
    return word;
}

void usb_buffer_written(machine *m, uint32_t endpoint, uint32_t old);   /* by the program */
void usb_stall_armed(machine *m, uint32_t newly_armed);
#endif
