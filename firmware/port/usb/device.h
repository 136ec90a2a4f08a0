/* SPDX-License-Identifier: Apache-2.0 */
/* What device.c (controller), control.c (endpoint 0) and cdc.c (the serial port) ask of each
 * other. */
#ifndef PORT_USB_DEVICE_H
#define PORT_USB_DEVICE_H

#include <stdbool.h>
#include <stdint.h>

#include "port/usb/controller.h"

/* device.c */
/* Hand the buffer to the controller: BUF_CTRL_FULL and length, or the room for an OUT packet. */
void pipe_give(enum usb_pipe pipe, uint32_t full_and_length);
void pipe_take_back(enum usb_pipe pipe);
void pipe_stall(enum usb_pipe pipe);
void pipe_reset_toggle(enum usb_pipe pipe, bool data1);
bool pipe_busy(enum usb_pipe pipe);           /* the controller has the buffer */
uint32_t pipe_received(enum usb_pipe pipe);   /* bytes in the buffer of a finished OUT */
void usb_set_address(uint32_t address);

/* control.c */
void control_bus_reset(void);
void control_setup(void);                     /* a SETUP packet is in dual-port RAM */
void control_in_done(void);
void control_out_done(void);

/* cdc.c */
void cdc_start(void);                         /* configured: open the bulk endpoints */
void cdc_stop(void);
void cdc_line_state(bool dtr);
void cdc_received(void);
void cdc_transmit(void);                      /* give the next packet, if it can be done */
void cdc_set_halt(enum usb_pipe pipe, bool halt);

#endif
