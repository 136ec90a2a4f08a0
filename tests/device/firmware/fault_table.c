/* SPDX-License-Identifier: Apache-2.0 */
/* A table with one kernel that commits a fault: it calls the function whose address is
 * quants[0].bias, if that is one of these. Each does one thing that the core, or the bus, must not
 * let pass, at its first instruction or right behind the load of its operands. */
#include <stddef.h>

#include "port/placement.h"
#include "ripbench_schema.h"
#include "runner/kernels.h"

#define FAULT(name) __attribute__((naked, noinline)) static void name(void)
#define CODE(...) __asm volatile(".syntax unified\n" __VA_ARGS__)

/* Nothing answers here; peripherals and the flash answer there. */
#if defined(__ARM_ARCH_6M__)
#define HOLE "0x20050000"
#define TIMER "0x40054000"
#else
#define HOLE "0x20090000"
#define TIMER "0x400b0000"
#endif
#define LOAD_ADDRESS(register, address) "ldr " #register ", =" address "\n"
#define RETURN "bx lr\n .ltorg\n"

/* ---- access ---- */

FAULT(fault_load_word_unaligned)
{
    CODE(LOAD_ADDRESS(r1, "0x20000102") "movs r2, #4\n ldr r0, [r1, r2]\n" RETURN);
}

FAULT(fault_store_half_unaligned)
{
    CODE(LOAD_ADDRESS(r1, "0x20041001") "strh r0, [r1, #2]\n" RETURN);
}

FAULT(fault_load_multiple_unaligned)
{
    CODE(LOAD_ADDRESS(r1, "0x20000102") "ldmia r1!, {r0, r2}\n" RETURN);
}

FAULT(fault_store_multiple_unaligned)
{
    CODE(LOAD_ADDRESS(r1, "0x20041002") "stmia r1!, {r0, r2}\n" RETURN);
}

FAULT(fault_load_from_hole)
{
    CODE(LOAD_ADDRESS(r1, HOLE) "ldr r0, [r1]\n" RETURN);
}

FAULT(fault_store_to_hole)
{
    CODE(LOAD_ADDRESS(r1, HOLE) "strb r0, [r1, #4]\n" RETURN);
}

/* Both chips drop it: on the RP2040 it only frees the cache line, on the RP2350 it is a read. */
FAULT(store_to_flash)
{
    CODE(LOAD_ADDRESS(r1, "0x10000000") "str r1, [r1, #64]\n" RETURN);
}

/* ---- execution ---- */

FAULT(fault_undefined)
{
    CODE(".inst.n 0xde00\n");
}

RAM_CODE("fault_undefined_in_sram")
FAULT(fault_undefined_in_sram)
{
    CODE(".inst.n 0xde00\n");
}

FAULT(fault_execute_peripheral)
{
    CODE(LOAD_ADDRESS(r1, TIMER " + 1") "blx r1\n" RETURN);
}

FAULT(fault_execute_hole)
{
    CODE(LOAD_ADDRESS(r1, HOLE " + 1") "blx r1\n" RETURN);
}

FAULT(fault_no_thumb_bit)
{
    CODE("adr r1, 1f\n blx r1\n .balign 4\n 1: bx lr\n");
}

/* A second fault, in what should handle the first. */
__attribute__((naked)) static void faulty_handler(void)
{
    CODE(".inst.n 0xde00\n");
}

static const void *faulty_vectors[64] __attribute__((aligned(256))) = {
    [2 ... 6] = (const void *)faulty_handler,       /* NMI to UsageFault */
};

FAULT(fault_in_handler)
{
    CODE(LOAD_ADDRESS(r1, "0xe000ed08") "ldr r2, =%c0\n str r2, [r1]\n"
                   ".inst.n 0xde00\n .ltorg\n" ::"i"(faulty_vectors));
}

/* ---- the stack ---- */

FAULT(fault_endless_recursion)
{
    CODE("push {r4, lr}\n bl fault_endless_recursion\n pop {r4, pc}\n");
}

/* 4352 bytes of a stack of 4096, and back. */
FAULT(overflow_stack)
{
    CODE("mov r3, lr\n movs r0, #136\n"
                   "1: push {r0-r7}\n subs r0, r0, #1\n bne 1b\n"
                   "movs r0, #136\n"
                   "1: add sp, #32\n subs r0, r0, #1\n bne 1b\n"
                   "bx r3\n");
}

/* ---- what only one of the two cores knows ---- */

#if defined(__ARM_ARCH_6M__)
FAULT(fault_v8_divide)
{
    CODE(".inst.n 0xfb91, 0xf0f2\n");     /* sdiv r0, r1, r2 */
}

FAULT(fault_v8_compare_branch)
{
    CODE(".inst.n 0xb100\n");             /* cbz r0, . + 4 */
}

FAULT(fault_v8_if_then)
{
    CODE(".inst.n 0xbf08\n");             /* it eq */
}

FAULT(fault_v8_move_wide)
{
    CODE(".inst.n 0xf240, 0x0001\n");     /* movw r0, #1 */
}
#else
FAULT(fault_load_double_unaligned)
{
    CODE(LOAD_ADDRESS(r1, "0x20000102") "ldrd r2, r3, [r1]\n" RETURN);
}

FAULT(load_word_unaligned)
{
    CODE(LOAD_ADDRESS(r1, "0x20000102") "ldr r0, [r1]\n" RETURN);
}

FAULT(fault_fpu_off)
{
    CODE(".inst.w 0xee300a00\n");         /* vadd.f32 s0, s0, s0 */
}

FAULT(fault_divide_by_zero)
{
    CODE("movs r1, #0\n sdiv r0, r1, r1\n" RETURN);
}

FAULT(fault_large_frame)
{
    CODE("sub.w sp, sp, #8192\n add.w sp, sp, #8192\n" RETURN);
}
#endif

static void (*const faults[])(void) = {
    fault_load_word_unaligned,
    fault_store_half_unaligned,
    fault_load_multiple_unaligned,
    fault_store_multiple_unaligned,
    fault_load_from_hole,
    fault_store_to_hole,
    store_to_flash,
    fault_undefined,
    fault_undefined_in_sram,
    fault_execute_peripheral,
    fault_execute_hole,
    fault_no_thumb_bit,
    fault_in_handler,
    fault_endless_recursion,
    overflow_stack,
#if defined(__ARM_ARCH_6M__)
    fault_v8_divide,
    fault_v8_compare_branch,
    fault_v8_if_then,
    fault_v8_move_wide,
#else
    fault_load_double_unaligned,
    load_word_unaligned,
    fault_fpu_off,
    fault_divide_by_zero,
    fault_large_frame,
#endif
};

static void run(const struct op_call *call)
{
    const uintptr_t wanted = (uintptr_t)call->quants[0].bias;
    for (size_t index = 0; index < sizeof faults / sizeof faults[0]; index++) {
        if ((uintptr_t)faults[index] == wanted) {
            faults[index]();
        }
    }
    call->output[0] = 0;
}

static bool accepts(const struct op_record *record, const struct tensor_record *tensors)
{
    (void)tensors;
    return record->kind == OP_KIND_CONV;
}

static uint64_t scratch_bytes(const struct op_record *record, const struct tensor_record *tensors)
{
    (void)record, (void)tensors;
    return 0;
}

static const struct op_kernel faulty = {
    .accepts = accepts, .scratch_bytes = scratch_bytes, .run = run};

const struct op_kernel *kernel_for(const struct op_record *record,
                                   const struct tensor_record *tensors)
{
    return faulty.accepts(record, tensors) ? &faulty : NULL;
}
