/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of port/rp2 share: the port to RP2040 and RP2350, which differ in registers and
 * core but not in how they are put together. What is one chip's own is in its folder: chip.h, which
 * every chip has under this name, and what that declares. */
#ifndef PORT_RP2_RP2_H
#define PORT_RP2_RP2_H

#include <stdint.h>

/* Linker symbols: only their addresses mean anything. */
extern uint8_t __image_end[], __ram_code_start[], __ram_code_end[], __ram_code_load[];
extern uint8_t __data_start[], __data_end[], __data_load[], __bss_start[], __bss_end[];
extern uint8_t __pool_start[], __pool_end[], __stack_bottom[], __stack_top[];

enum { XOSC_MHZ = 12, STACK_PAINT = 0x5ac3a53c };

void clocks_start(void);                      /* clk_sys, clk_usb 48 MHz, the timer running */
uint32_t clocks_measure_clk_sys(void);        /* Hz, rounded to 1 kHz; needs the cycle counter */
void cycles_start(uint32_t clk_sys_hz);       /* measure the cost of an empty window */
void port_start(void);                        /* everything up to the USB pull-up */

void reset_handler(void);
void fault_entry(void);
void usbctrl_irq_handler(void);

#endif
