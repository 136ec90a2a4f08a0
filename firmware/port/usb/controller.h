/* SPDX-License-Identifier: Apache-2.0 */
/* Registers and dual-port RAM of the USB controller (RP2040 data sheet 4.1.3, 4.1.4; RP2350
 * data sheet 12.7, the same block at the same addresses), device mode. */
#ifndef PORT_USB_CONTROLLER_H
#define PORT_USB_CONTROLLER_H

#include <stdint.h>

#include "port/placement.h"

#define USB_DPRAM_BASE 0x50100000u
#define USB_REGS_BASE 0x50110000u
#define USB_REGISTER(offset) (*(volatile uint32_t *)(USB_REGS_BASE + (offset)))
#define USB_SET_BITS(offset) (*(volatile uint32_t *)(USB_REGS_BASE + 0x2000u + (offset)))

#define USB_ADDR_ENDP USB_REGISTER(0x00u)
#define USB_MAIN_CTRL USB_REGISTER(0x40u)
#define USB_SIE_CTRL USB_REGISTER(0x4cu)
#define USB_SIE_STATUS USB_REGISTER(0x50u)
#define USB_BUFF_STATUS USB_REGISTER(0x58u)
#define USB_EP_STALL_ARM_SET USB_SET_BITS(0x68u)
#define USB_USB_MUXING USB_REGISTER(0x74u)
#define USB_USB_PWR USB_REGISTER(0x78u)
#define USB_INTE USB_REGISTER(0x90u)

enum {
    MAIN_CTRL_CONTROLLER_EN = 1u << 0,
    SIE_CTRL_PULLUP_EN = 1u << 16,
    SIE_CTRL_EP0_INT_1BUF = 1u << 29,
    SIE_STATUS_SETUP_REC = 1u << 17,
    SIE_STATUS_BUS_RESET = 1u << 19,
    EP_STALL_ARM_EP0_IN = 1u << 0,
    EP_STALL_ARM_EP0_OUT = 1u << 1,
    USB_MUXING_TO_PHY = 1u << 0,
    USB_MUXING_SOFTCON = 1u << 3,
    USB_PWR_VBUS_DETECT = 1u << 2,
    USB_PWR_VBUS_DETECT_OVERRIDE_EN = 1u << 3,
    INTE_BUFF_STATUS = 1u << 4,
    INTE_BUS_RESET = 1u << 12,
    INTE_SETUP_REQ = 1u << 16
};

/* Endpoint control and buffer control, in dual-port RAM. Endpoint 0 has no endpoint control. */
#define EP_CTRL_ENABLE (1u << 31)
enum {
    EP_CTRL_INT_EVERY_BUFFER = 1u << 29,
    EP_CTRL_TYPE_BULK = 2u << 26,
    EP_CTRL_TYPE_INTERRUPT = 3u << 26,
    BUF_CTRL_FULL = 1u << 15,
    BUF_CTRL_DATA1 = 1u << 13,
    BUF_CTRL_STALL = 1u << 11,
    BUF_CTRL_AVAILABLE = 1u << 10,
    BUF_CTRL_LENGTH_MASK = 0x3ff
};

/* Offsets in dual-port RAM. The controller fixes the first two; the other buffers are our
 * choice. */
enum {
    DPRAM_BYTES = 4096,
    DPRAM_SETUP = 0x000,
    DPRAM_EP0_BUFFER = 0x100,
    DPRAM_EP1_IN_BUFFER = 0x180,
    DPRAM_EP2_OUT_BUFFER = 0x1c0,
    DPRAM_EP2_IN_BUFFER = 0x200
};

enum { USB_PACKET = 64 };

/* One direction of an endpoint, numbered as the bits of BUFF_STATUS. */
enum usb_pipe { EP0_IN = 0, EP0_OUT = 1, EP1_IN = 2, EP2_IN = 4, EP2_OUT = 5, USB_PIPES = 6 };

ALWAYS_INLINE volatile uint32_t *endpoint_control(enum usb_pipe pipe)
{
    return (volatile uint32_t *)(USB_DPRAM_BASE + 4u * pipe);
}

ALWAYS_INLINE volatile uint32_t *buffer_control(enum usb_pipe pipe)
{
    return (volatile uint32_t *)(USB_DPRAM_BASE + 0x80u + 4u * pipe);
}

ALWAYS_INLINE volatile uint8_t *dpram(uint32_t offset)
{
    return (volatile uint8_t *)(USB_DPRAM_BASE + offset);
}

#endif
