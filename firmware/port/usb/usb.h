/* SPDX-License-Identifier: Apache-2.0 */
/* A USB CDC-ACM serial device on the controller of RP2040 and RP2350 (data sheet 4.1).
 *
 * Endpoint 0 for control, 1 IN (interrupt, never used: CDC demands it), 2 OUT and 2 IN (bulk).
 * All work is done in usb_service(), which the chip's port calls from the USB interrupt; where
 * there are no interrupts it may be called in a loop instead. */
#ifndef PORT_USB_USB_H
#define PORT_USB_USB_H

#include <stdbool.h>
#include <stdint.h>

/* The block is out of reset, clk_usb runs at 48 MHz. The id becomes the serial number. */
void usb_start(const uint8_t unique_id[8]);
void usb_service(void);

uint32_t usb_read(uint8_t *to, uint32_t bytes);
uint32_t usb_write(const uint8_t *from, uint32_t bytes);
bool usb_readable(void);
bool usb_writable(void);
bool usb_write_idle(void);

#endif
