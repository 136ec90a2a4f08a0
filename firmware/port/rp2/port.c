/* SPDX-License-Identifier: Apache-2.0 */
/* port.h, but for the measured windows: identity, memories, sleeping. */
#include "port/port.h"

#include "chip.h"
#include "port/rp2/rp2.h"
#include "port/usb/usb.h"

/* The harness writes the request over SWD while the core is halted after reset; start-up clears
 * neither part. */
static struct {
    struct mailbox_request request;
    volatile struct mailbox_report report;
} mailbox __attribute__((section(".mailbox")));
_Static_assert(sizeof mailbox <= MAILBOX_BYTES, "mailbox");

/* image_bytes and build_id are filled in after linking, behind the compiler's back. */
static const volatile struct image_info image_info __attribute__((section(".image_info"), used)) = {
    .magic = IMAGE_MAGIC,
    .version = PROTOCOL_VERSION,
    .chip = THIS_CHIP,
};

static struct port_identity identity = {.chip = THIS_CHIP};

const struct port_identity *port_identity(void)
{
    return &identity;
}

const struct mailbox_request *port_mailbox_request(void)
{
    return &mailbox.request;
}

volatile struct mailbox_report *port_mailbox_report(void)
{
    return &mailbox.report;
}

void port_start(void)
{
    volatile struct mailbox_report *const report = port_mailbox_report();
    for (uint32_t byte = 0; byte < sizeof *report; byte++) {
        ((volatile uint8_t *)report)[byte] = 0;
    }
    report->stage = BOOT_STAGE_MAIN;
    identity.reset_reason = (CHIP_RESET & CHIP_RESET_HAD_MASK) |
                            (WATCHDOG_REASON & WATCHDOG_REASON_MASK);
    for (uint32_t byte = 0; byte < sizeof identity.build_id; byte++) {
        identity.build_id[byte] = image_info.build_id[byte];
    }

    clocks_start();
    cycle_counter_start();
    identity.clk_sys_hz = clocks_measure_clk_sys();
    cycles_start(identity.clk_sys_hz);
    read_unique_id(identity.unique_id);
    report->clk_sys_hz = identity.clk_sys_hz;
    for (uint32_t byte = 0; byte < sizeof identity.unique_id; byte++) {
        report->unique_id[byte] = identity.unique_id[byte];
    }
    report->stage = BOOT_STAGE_CLOCKS;

    SET_BITS(RESETS_RESET) = RESETS_USBCTRL;
    CLEAR_BITS(RESETS_RESET) = RESETS_USBCTRL;
    while ((RESETS_RESET_DONE & RESETS_USBCTRL) == 0) {
    }
    NVIC_ICPR = 1u << USBCTRL_IRQ;
    NVIC_ISER = 1u << USBCTRL_IRQ;
    report->stage = BOOT_STAGE_USB;
    usb_start(identity.unique_id);
}

static struct port_memory memory(uint8_t *start, const uint8_t *end)
{
    const struct port_memory range = {.base = start,
                                      .address = (uint32_t)(uintptr_t)start,
                                      .bytes = (uint32_t)(end - start)};
    return range;
}

struct port_memory port_pool(void)
{
    return memory(__pool_start, __pool_end);
}

struct port_memory port_image(void)
{
    return memory((uint8_t *)XIP_BASE, __image_end);
}

struct port_memory port_ram_code(void)
{
    return memory(__ram_code_start, __ram_code_end);
}

const uint8_t *port_ram_code_load(void)
{
    return __ram_code_load;
}

/* Any address of the flash's XIP window may be read: beyond the flash's end its contents repeat. */
const uint8_t *port_flash(uint32_t address, uint32_t bytes)
{
    const uint32_t image_end = (uint32_t)(uintptr_t)__image_end;
    const uint32_t flash_end = XIP_BASE + XIP_BYTES;
    if (address < image_end || address > flash_end || bytes > flash_end - address) {
        return NULL;
    }
    return (const uint8_t *)(uintptr_t)address;
}

uint32_t port_stack_bytes(void)
{
    return (uint32_t)(__stack_top - __stack_bottom);
}

uint32_t port_stack_peak(void)
{
    const uint32_t *word = (const uint32_t *)(const void *)__stack_bottom;
    while (*word == STACK_PAINT) {
        word++;
    }
    return (uint32_t)(__stack_top - (const uint8_t *)word);
}

uint32_t port_read(uint8_t *to, uint32_t bytes)
{
    return usb_read(to, bytes);
}

uint32_t port_write(const uint8_t *from, uint32_t bytes)
{
    return usb_write(from, bytes);
}

/* Asking and sleeping with interrupts masked leaves no moment between them for the interrupt to
 * pass unseen: WFI also ends for a pending interrupt that PRIMASK keeps from being taken. */
static void sleep_unless(bool (*ready)(void))
{
    if (exception_number() != 0) {
        usb_service();                        /* the fault report: there are no interrupts */
        return;
    }
    const uint32_t primask = interrupts_disable();
    if (!ready()) {
        __asm volatile("wfi" ::: "memory");
    }
    interrupts_restore(primask);
}

void port_wait_readable(void)
{
    sleep_unless(usb_readable);
}

void port_wait_writable(void)
{
    sleep_unless(usb_writable);
}

void port_wait_written(void)
{
    while (!usb_write_idle()) {
        sleep_unless(usb_write_idle);
    }
}
