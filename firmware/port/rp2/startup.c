/* SPDX-License-Identifier: Apache-2.0 */
/* From the reset vector to the runner.
 *
 * The boot ROM has made flash readable; core 1 sleeps in the ROM. The mailbox at the start of SRAM
 * belongs to the harness, which wrote it while the core was halted: nothing here clears it. */
#include "chip.h"
#include "port/rp2/rp2.h"
#include "runner/runner.h"

enum { EXCEPTIONS = 16 };

static void copy_words(uint8_t *to, const uint8_t *to_end, const uint8_t *from)
{
    uint32_t *word = (uint32_t *)(void *)to;
    const uint32_t *source = (const uint32_t *)(const void *)from;
    while (word < (const uint32_t *)(const void *)to_end) {
        *word++ = *source++;
    }
}

__attribute__((used)) static void start(void)
{
    core_start(__stack_bottom);
    copy_words(__ram_code_start, __ram_code_end, __ram_code_load);
    copy_words(__data_start, __data_end, __data_load);
    for (uint32_t *word = (uint32_t *)(void *)__bss_start; word < (uint32_t *)(void *)__bss_end;) {
        *word++ = 0;
    }
    port_start();
    runner_main();
}

/* Paints the stack, but for the last 64 bytes below the stack pointer, and goes on in start(). */
__attribute__((naked)) void reset_handler(void)
{
    __asm volatile("    .syntax unified\n"
                   "    ldr r0, =__stack_bottom\n"
                   "    mov r1, sp\n"
                   "    subs r1, #64\n"
                   "    ldr r2, =%c0\n"
                   "1:  stmia r0!, {r2}\n"
                   "    cmp r0, r1\n"
                   "    blo 1b\n"
                   "    bl %c1\n"
                   "    b .\n"
                   "    .ltorg\n" ::"i"(STACK_PAINT),
                   "i"(start));
}

typedef void (*vector)(void);
__attribute__((section(".vectors"), used)) const vector vectors[EXCEPTIONS + IRQS] = {
    [0] = (vector)(uintptr_t)__stack_top,
    [1] = reset_handler,
    [2 ... EXCEPTIONS + USBCTRL_IRQ - 1] = fault_entry,
    [EXCEPTIONS + USBCTRL_IRQ] = usbctrl_irq_handler,
    [EXCEPTIONS + USBCTRL_IRQ + 1 ... EXCEPTIONS + IRQS - 1] = fault_entry,
};
