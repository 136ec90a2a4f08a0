/* SPDX-License-Identifier: Apache-2.0 */
/* From any unexpected exception to the report: in the mailbox for a probe, and on the wire. */
#include "chip.h"
#include "port/port.h"
#include "port/rp2/rp2.h"
#include "port/usb/usb.h"
#include "runner/runner.h"

enum { EMERGENCY_STACK_WORDS = 192 };

/* What the core does not stack by itself, saved by fault_entry. */
struct fault_context {
    uint32_t r4_r11[8];
    uint32_t sp;
    uint32_t exc_return;
};
struct fault_context fault_context;
uint64_t emergency_stack[EMERGENCY_STACK_WORDS / 2];

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
                   LIFT_STACK_LIMIT
                   "    ldr r0, =emergency_stack + %c0\n"
                   "    msr msp, r0\n"
                   "    bl fault_report\n"
                   "    b .\n"
                   "    .ltorg\n" ::"i"(sizeof emergency_stack));
}

/* The frame the core stacked (ARMv6-M B1.5.6, ARMv8-M B3.19), if it did and the stack pointer leads
 * to memory at all. */
static const uint32_t *stacked_frame(uint32_t sp)
{
    enum { FRAME_BYTES = 32 };
    const uint32_t sram = MAILBOX_ADDRESS;
    const uint32_t sram_end = (uint32_t)(uintptr_t)__stack_top;
    const bool readable = sp % 4 == 0 && sp >= sram && sp <= sram_end - FRAME_BYTES;
    return readable && !frame_is_lost(sp, __stack_bottom) ? (const uint32_t *)(uintptr_t)sp : NULL;
}

static bool is_thumb_code(uint32_t value)
{
    const struct port_memory image = port_image();
    const struct port_memory ram_code = port_ram_code();
    return (value & 1) != 0 && (value - image.address < image.bytes ||
                                value - ram_code.address < ram_code.bytes);
}

/* Without a frame, who was running is only told by the stack: the newest word on it that can be a
 * return address. 0: none. */
static uint32_t newest_return_address(uint32_t sp)
{
    const uint32_t bottom = (uint32_t)(uintptr_t)__stack_bottom;
    const uint32_t top = (uint32_t)(uintptr_t)__stack_top;
    for (uint32_t address = sp < bottom ? bottom : sp & ~3u; address < top; address += 4) {
        const uint32_t value = *(const uint32_t *)(uintptr_t)address;
        if (is_thumb_code(value)) {
            return value;
        }
    }
    return 0;
}

static void save_frame(volatile struct fault_record *fault, uint32_t sp)
{
    const uint32_t *const frame = stacked_frame(sp);
    if (frame == NULL) {
        fault->pc = PC_NOT_SAVED;
        fault->lr = newest_return_address(sp);
        return;
    }
    fault->r0 = frame[0];
    fault->r1 = frame[1];
    fault->r2 = frame[2];
    fault->r3 = frame[3];
    fault->r12 = frame[4];
    fault->lr = frame[5];
    fault->pc = frame[6];
    fault->xpsr = frame[7];
}

/* Faults outrank the USB interrupt, so the report is sent by polling, and the controller is served
 * by polling for ever after. A fault in here must not hide the one that is being reported. */
__attribute__((used, noreturn)) void fault_report(void)
{
    volatile struct mailbox_report *const report = port_mailbox_report();
    volatile struct fault_record *const fault = &report->fault;
    const bool usb_is_up = (NVIC_ISER & 1u << USBCTRL_IRQ) != 0;
    NVIC_ICER = 1u << USBCTRL_IRQ;
    while (report->stage == BOOT_STAGE_FAULTED) {
    }
    save_frame(fault, fault_context.sp);
    for (uint32_t index = 0; index < 8; index++) {
        fault->r4_r11[index] = fault_context.r4_r11[index];
    }
    fault->sp = fault_context.sp;
    fault->exc_return = fault_context.exc_return;
    save_fault_status(fault);
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
