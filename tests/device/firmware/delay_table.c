/* SPDX-License-Identifier: Apache-2.0 */
/* A table with one kernel that only takes time: 64 cycles for each of quants[0].bias rounds, and one
 * for each of quants[0].multiplier (0 to 63). It lies in flash, where the M0+'s breakpoint unit
 * reaches. */
#include <stddef.h>

#include "runner/kernels.h"

/* A round is 8 x (MOV 1 + LDM 6) + NOPs + SUBS 1 + BNE: 2 cycles on the M0+, 3 in the emulator's
 * conservative model of the M33. */
#if defined(__ARM_ARCH_6M__)
#define ROUND_NOPS "5"
#else
#define ROUND_NOPS "4"
#endif

void delay_cycles(uint32_t rounds, uint32_t rest, const void *words);
void delay_measured(uint32_t rounds, uint32_t rest, const void *words);

/* The entry that is measured: by the time it is called, all of delay_cycles is in the XIP cache. */
__attribute__((naked, noinline, aligned(8))) void delay_measured(uint32_t rounds, uint32_t rest,
                                                                 const void *words)
{
    (void)rounds, (void)rest, (void)words;
    __asm volatile("b delay_cycles\n");
}

__attribute__((naked, noinline)) void delay_cycles(uint32_t rounds, uint32_t rest, const void *words)
{
    (void)rounds, (void)rest, (void)words;
    __asm volatile(
        ".syntax unified\n"
        "push {r4-r7, lr}\n"
        "mov r12, r2\n"
        "movs r3, #63\n"
        "subs r3, r3, r1\n"
        "lsls r3, r3, #1\n"
        "adr r1, delay_rest\n"
        "adds r1, r1, r3\n"
        "adds r1, #1\n"
        "bx r1\n"
        ".balign 4\n"
        "delay_rest:\n"
        ".rept 63\n nop\n .endr\n"
        "delay_round:\n"
        ".rept 8\n mov r2, r12\n ldm r2!, {r3-r7}\n .endr\n"
        ".rept " ROUND_NOPS "\n nop\n .endr\n"
        "subs r0, r0, #1\n"
        "bne delay_round\n"
        "pop {r4-r7, pc}\n");
}

static void run(const struct op_call *call)
{
    static const uint32_t words[5];
    delay_cycles(1, 63, words);
    delay_measured((uint32_t)call->quants[0].bias,
                   (uint32_t)call->quants[0].multiplier, words);
    for (int32_t i = 0; i < call->h_out * call->w_out * call->c_out; i++) {
        call->output[i] = 0;
    }
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

static const struct op_kernel delay = {
    .accepts = accepts, .scratch_bytes = scratch_bytes, .run = run};

const struct op_kernel *kernel_for(const struct op_record *record,
                                   const struct tensor_record *tensors)
{
    return delay.accepts(record, tensors) ? &delay : NULL;
}
