/* SPDX-License-Identifier: Apache-2.0 */
/* From the reset vector to the runner, and from any unexpected exception to the fault report.
 *
 * The boot ROM has run boot2; core 1 sleeps in the ROM. The mailbox at the start of SRAM belongs to
 * the harness, which wrote it while the core was halted: nothing here clears it. */
#include "port/port.h"
#include "port/rp2040/registers.h"
#include "port/rp2040/rp2040.h"
#include "port/usb/usb.h"
#include "runner/runner.h"

enum { EXCEPTIONS = 16, IRQS = 32, EMERGENCY_STACK_WORDS = 192 };

/* What the core does not stack by itself, saved by fault_entry. */
struct fault_context {
    uint32_t r4_r11[8];
    uint32_t sp;
    uint32_t exc_return;
};
struct fault_context fault_context;
uint64_t emergency_stack[EMERGENCY_STACK_WORDS / 2];

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

/* Every exception that is not expected. The stack pointer may be anything: the rest of the
 * registers go to fault_context and the report runs on a stack of its own. lr is EXC_RETURN. */
__attribute__((naked)) void fault_entry(void)
{
    __asm volatile("    .syntax unified\n"
                   "    ldr r0, =fault_context\n"
                   "    stmia r0!, {r4-r7}\n"
                   "    mov r4, r8\n"
                   "    mov r5, r9\n"
                   "    mov r6, r10\n"
                   "    mov r7, r11\n"
                   "    stmia r0!, {r4-r7}\n"
                   "    mov r4, sp\n"
                   "    mov r5, lr\n"
                   "    stmia r0!, {r4, r5}\n"
                   "    ldr r0, =emergency_stack + %c0\n"
                   "    msr msp, r0\n"
                   "    bl fault_report\n"
                   "    b .\n"
                   "    .ltorg\n" ::"i"(sizeof emergency_stack));
}

/* The frame the core stacked (ARMv6-M B1.5.6), if the stack pointer leads to memory at all. */
static const uint32_t *stacked_frame(uint32_t sp)
{
    enum { FRAME_BYTES = 32 };
    const uint32_t sram = MAILBOX_ADDRESS;
    const uint32_t sram_end = (uint32_t)(uintptr_t)__stack_top;
    const bool readable = sp % 4 == 0 && sp >= sram && sp <= sram_end - FRAME_BYTES;
    return readable ? (const uint32_t *)(uintptr_t)sp : NULL;
}

/* HardFault and NMI outrank the USB interrupt, so the report is sent by polling, and the controller
 * is served by polling for ever after. */
__attribute__((used, noreturn)) void fault_report(void)
{
    volatile struct mailbox_report *const report = port_mailbox_report();
    volatile struct fault_record *const fault = &report->fault;
    const bool usb_is_up = (NVIC_ISER & 1u << USBCTRL_IRQ) != 0;
    NVIC_ICER = 1u << USBCTRL_IRQ;
    const uint32_t *const frame = stacked_frame(fault_context.sp);
    if (frame != NULL) {
        fault->r0 = frame[0];
        fault->r1 = frame[1];
        fault->r2 = frame[2];
        fault->r3 = frame[3];
        fault->r12 = frame[4];
        fault->lr = frame[5];
        fault->pc = frame[6];
        fault->xpsr = frame[7];
    }
    for (uint32_t index = 0; index < 8; index++) {
        fault->r4_r11[index] = fault_context.r4_r11[index];
    }
    fault->sp = fault_context.sp;
    fault->exc_return = fault_context.exc_return;
    fault->case_index = runner_position.case_index;
    fault->op_index = runner_position.op_index;
    fault->kind = exception_number();
    report->stage = BOOT_STAGE_FAULTED;
    while (!usb_is_up) {                      /* too early: the mailbox has to do */
    }
    runner_send_fault((const struct fault_record *)fault);
    for (;;) {
        usb_service();
    }
}

typedef void (*vector)(void);
__attribute__((section(".vectors"), used)) const vector vectors[EXCEPTIONS + IRQS] = {
    [0] = (vector)(uintptr_t)__stack_top,
    [1] = reset_handler,
    [2 ... EXCEPTIONS + USBCTRL_IRQ - 1] = fault_entry,
    [EXCEPTIONS + USBCTRL_IRQ] = usbctrl_irq_handler,
    [EXCEPTIONS + USBCTRL_IRQ + 1 ... EXCEPTIONS + IRQS - 1] = fault_entry,
};
