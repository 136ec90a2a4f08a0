/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of this port share. */
#ifndef PORT_RP2040_RP2040_H
#define PORT_RP2040_RP2040_H

#include <stdbool.h>
#include <stdint.h>

#include "port/cortex_m/core.h"

/* Linker symbols: only their addresses mean anything. */
extern uint8_t __image_end[], __ram_code_start[], __ram_code_end[], __ram_code_load[];
extern uint8_t __data_start[], __data_end[], __data_load[], __bss_start[], __bss_end[];
extern uint8_t __pool_start[], __pool_end[], __stack_bottom[], __stack_top[];

enum { STACK_PAINT = 0x5ac3a53c };

void clocks_start(void);                      /* clk_sys 125 MHz, clk_usb 48 MHz, TIMER running */
uint32_t clocks_measure_clk_sys(void);        /* Hz, rounded to 1 kHz; needs SysTick */
void cycles_start(uint32_t clk_sys_hz);       /* measure the cost of an empty window */
void systick_start(void);
void flash_read_unique_id(uint8_t id[8]);     /* code must not be running from flash elsewhere */
void port_start(void);                        /* everything up to the USB pull-up */

void reset_handler(void);
void fault_entry(void);
void usbctrl_irq_handler(void);

#endif
