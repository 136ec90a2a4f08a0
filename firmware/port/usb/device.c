/* SPDX-License-Identifier: Apache-2.0 */
/* The USB controller in device mode (RP2040 data sheet 4.1.2): buffers handed over and taken
 * back, and the events of the bus.
 *
 * Not worked around: RP2040-E15, a corrupted handshake of an IN packet at the very end of a
 * frame hangs the controller until its block is reset. The harness then sees silence and resets
 * the board. */
#include "port/port.h"
#include "port/usb/descriptors.h"
#include "port/usb/device.h"
#include "port/usb/usb.h"

static bool next_is_data1[USB_PIPES];

/* The controller reads the other bits of buffer control across a clock boundary: AVAILABLE has to
 * follow them by more than a cycle of 48 MHz (4.1.2.5.1). 24 cycles suffice up to 400 MHz. */
ALWAYS_INLINE void wait_for_clk_usb(void)
{
    for (uint32_t loop = 0; loop < 8; loop++) {
        __asm volatile("");                   /* a turn takes three cycles */
    }
}

RAM_CODE("pipe_give")
void pipe_give(enum usb_pipe pipe, uint32_t full_and_length)
{
    const uint32_t control = full_and_length | (next_is_data1[pipe] ? BUF_CTRL_DATA1 : 0u);
    next_is_data1[pipe] = !next_is_data1[pipe];
    *buffer_control(pipe) = control;
    wait_for_clk_usb();
    *buffer_control(pipe) = control | BUF_CTRL_AVAILABLE;
}

void pipe_take_back(enum usb_pipe pipe)
{
    *buffer_control(pipe) = 0;
}

void pipe_stall(enum usb_pipe pipe)
{
    *buffer_control(pipe) = BUF_CTRL_STALL;
}

void pipe_reset_toggle(enum usb_pipe pipe, bool data1)
{
    next_is_data1[pipe] = data1;
}

RAM_CODE("pipe_busy")
bool pipe_busy(enum usb_pipe pipe)
{
    return (*buffer_control(pipe) & BUF_CTRL_AVAILABLE) != 0;
}

RAM_CODE("pipe_received")
uint32_t pipe_received(enum usb_pipe pipe)
{
    return *buffer_control(pipe) & BUF_CTRL_LENGTH_MASK;
}

void usb_set_address(uint32_t address)
{
    USB_ADDR_ENDP = address;
}

static void open_endpoint(enum usb_pipe pipe, uint32_t type, uint32_t buffer)
{
    *endpoint_control(pipe) = EP_CTRL_ENABLE | EP_CTRL_INT_EVERY_BUFFER | type | buffer;
}

void usb_start(const uint8_t unique_id[8])
{
    descriptor_set_serial_number(unique_id);
    for (uint32_t offset = 0; offset < DPRAM_BYTES; offset += 4) {
        *(volatile uint32_t *)(USB_DPRAM_BASE + offset) = 0;
    }
    USB_USB_MUXING = USB_MUXING_TO_PHY | USB_MUXING_SOFTCON;
    USB_USB_PWR = USB_PWR_VBUS_DETECT | USB_PWR_VBUS_DETECT_OVERRIDE_EN;
    USB_MAIN_CTRL = MAIN_CTRL_CONTROLLER_EN;  /* and the RP2350's PHY_ISO, set by reset, is clear */
    USB_SIE_CTRL = SIE_CTRL_EP0_INT_1BUF;
    open_endpoint(EP1_IN, EP_CTRL_TYPE_INTERRUPT, DPRAM_EP1_IN_BUFFER);
    open_endpoint(EP2_IN, EP_CTRL_TYPE_BULK, DPRAM_EP2_IN_BUFFER);
    open_endpoint(EP2_OUT, EP_CTRL_TYPE_BULK, DPRAM_EP2_OUT_BUFFER);
    USB_INTE = INTE_BUFF_STATUS | INTE_BUS_RESET | INTE_SETUP_REQ;
    USB_SIE_CTRL = SIE_CTRL_EP0_INT_1BUF | SIE_CTRL_PULLUP_EN;
}

static void bus_reset(void)
{
    USB_SIE_STATUS = SIE_STATUS_BUS_RESET;    /* write 1 to clear */
    usb_set_address(0);
    control_bus_reset();
    cdc_stop();
}

/* Finished buffers come before a SETUP: a stale completion of endpoint 0 must not be taken for one
 * of the new transfer. */
RAM_CODE("usb_service")
void usb_service(void)
{
    const uint32_t status = USB_SIE_STATUS;
    if ((status & SIE_STATUS_BUS_RESET) != 0) {
        bus_reset();
    }
    const uint32_t finished = USB_BUFF_STATUS;
    if (finished != 0) {
        USB_BUFF_STATUS = finished;           /* write 1 to clear */
        /* Registers and dual-port RAM are different slaves of the bus: without the barrier a buffer
           given again could finish before the bit is cleared, and its completion would be lost. */
        __asm volatile("dmb" ::: "memory");
        if ((finished & 1u << EP0_IN) != 0) {
            control_in_done();
        }
        if ((finished & 1u << EP0_OUT) != 0) {
            control_out_done();
        }
        if ((finished & 1u << EP2_OUT) != 0) {
            cdc_received();
        }
    }
    if ((status & SIE_STATUS_SETUP_REC) != 0) {
        USB_SIE_STATUS = SIE_STATUS_SETUP_REC;
        control_setup();
    }
    cdc_transmit();
}
