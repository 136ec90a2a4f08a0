/* SPDX-License-Identifier: Apache-2.0 */
/* uint32_t m33_plan_group(const struct channels *all, const struct quant_record *quants,
 *                         struct channel *channels, int32_t *doubled_bias, int32_t channel_step,
 *                         int32_t bias_step): plan_channel (channel.h) of 4 channels, up to the first
 * that is not usual. */
    .syntax unified
    .cpu cortex-m33
    .thumb

    .equ BIAS_ROOM, 4                         /* in struct channels */
    .equ LEAST_SHIFT, 1
    .equ MOST_SHIFT, 22

    .section .ram_code.m33_plan_group, "ax", %progbits
    .global m33_plan_group
    .type m33_plan_group, %function
    .thumb_func
    .balign 4
m33_plan_group:
    push {r4-r11, lr}
    ldrd r4, r5, [sp, #36]                    /* channel_step, bias_step */
    ldrd r6, r7, [r0, #BIAS_ROOM]             /* and 2 zero_point + 1 */
    lsls r0, r6, #1
    mov lr, #4
1:
    ldm r1!, {r8, r9, r10}                    /* bias, multiplier, -shift */
    rsb r11, r10, #0
    sub r10, r11, #LEAST_SHIFT
    add r12, r8, r6
    cmp r10, #MOST_SHIFT - LEAST_SHIFT
    bhi 2f
    cmp r9, #1
    blt 2f
    cmp r12, r0
    bhs 2f
    lsl r10, r7, r10
    stm r2, {r9, r10, r11}                    /* multiplier, offset, shift */
    add r2, r2, r4
    lsl r8, r8, #1
    str r8, [r3]
    add r3, r3, r5
    subs lr, lr, #1
    bne 1b
2:
    mov r0, lr
    pop {r4-r11, pc}
    .size m33_plan_group, . - m33_plan_group
