/* SPDX-License-Identifier: Apache-2.0 */
/* Takes the runner's place on the runner's own port: sends back what it receives, but for bytes below
 * 0x20 (all but newline), which are orders. Built by echo_firmware.py. */
#include "chip.h"
#include "port/port.h"
#include "port/usb/controller.h"
#include "runner/runner.h"

enum order {
    ORDER_RESET = 1,          /* system reset */
    ORDER_DEAF = 2,           /* never read again */
    ORDER_STRICT = 3,         /* what silicon would let pass: AUXSRC of a running clock changes */
    ORDER_REPLUG = 4,         /* pull-up off, and on again */
    ORDER_SEND = 5,           /* SENT_BYTES bytes: 0, 1, 2 ... 250, 0, 1 ... */
    ORDER_UNPLUG = 6          /* pull-up off */
};
enum { SENT_BYTES = 10000, PATTERN = 251, AIRCR_SYSRESETREQ = 0x05fa0004 };
enum { CLK_SYS_CTRL_AUXSRC_ROSC = 2u << 5 };
#define AIRCR (*(volatile uint32_t *)0xe000ed0cu)

struct position runner_position;
void runner_send_fault(const struct fault_record *fault) { (void)fault; }

static void send(const uint8_t *bytes, uint32_t count)
{
    while (count > 0) {
        const uint32_t taken = port_write(bytes, count);
        bytes += taken;
        count -= taken;
        if (count > 0) {
            port_wait_writable();
        }
    }
}

static void send_pattern(void)
{
    for (uint32_t k = 0; k < SENT_BYTES; k++) {
        const uint8_t byte = (uint8_t)(k % PATTERN);
        send(&byte, 1);
    }
}

static void obey(uint8_t order)
{
    switch (order) {
    case ORDER_RESET:
        port_wait_written();
        AIRCR = AIRCR_SYSRESETREQ;
        break;
    case ORDER_DEAF:
        for (;;) {
            __asm volatile("wfi");
        }
    case ORDER_STRICT:
        SET_BITS(CLOCKS_CLK_SYS_CTRL) = CLK_SYS_CTRL_AUXSRC_ROSC;
        break;
    case ORDER_REPLUG:
        USB_SIE_CTRL &= ~(uint32_t)SIE_CTRL_PULLUP_EN;
        USB_SIE_CTRL |= SIE_CTRL_PULLUP_EN;
        break;
    case ORDER_SEND:
        send_pattern();
        break;
    case ORDER_UNPLUG:
        USB_SIE_CTRL &= ~(uint32_t)SIE_CTRL_PULLUP_EN;
        break;
    default:
        send(&order, 1);
    }
}

void runner_main(void)
{
    for (;;) {
        uint8_t byte;
        if (port_read(&byte, 1) == 1) {
            obey(byte);
        } else {
            port_wait_readable();
        }
    }
}
