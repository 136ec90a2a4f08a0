/* SPDX-License-Identifier: Apache-2.0 */
/* void m33_dot(struct dot *dot): 4 channels of one pixel, the weights straight from bytes (sweep.h):
 * widening them in memory would not pay for a single pixel.
 *
 * r4 to r7 are the sums; r0 walks the field, r1 the first channel's weights, r2 is the way to the
 * next channel's, r3 to the last one's; r8 and r9 are 4 taps, r10 to lr weights. */
    .syntax unified
    .cpu cortex-m33
    .thumb

    .macro taps sum, weights, spare
    sxtb16 \spare, \weights
    sxtb16 \weights, \weights, ror #8
    smlad \sum, r8, \spare, \sum
    smlad \sum, r9, \weights, \sum
    .endm

    .section .ram_code.m33_dot, "ax", %progbits
    .global m33_dot
    .type m33_dot, %function
    .thumb_func
    .balign 4
m33_dot:
    push {r0, r4-r11, lr}
    ldm r0, {r4-r7}                           /* the sums */
    ldr r1, [r0, #20]
    ldr r2, [r0, #24]
    ldr r12, [r0, #28]
    ldr r0, [r0, #16]
    push {r12, lr}                            /* groups of 4 taps; lr keeps 8 bytes aligned */
    add r3, r2, r2, lsl #1
1:
    ldr r8, [r0]
    ldr r9, [r0, #8]
    ldr r10, [r1]
    ldr r11, [r1, r2]
    taps r4, r10, lr
    taps r5, r11, lr
    ldr r10, [r1, r2, lsl #1]
    ldr r11, [r1, r3]
    ldr r12, [sp]
    taps r6, r10, lr
    taps r7, r11, lr
    adds r0, r0, #16
    adds r1, r1, #4
    subs r12, r12, #1
    str r12, [sp]
    bne 1b
    add sp, sp, #8
    ldr r0, [sp]
    stm r0, {r4-r7}
    pop {r0, r4-r11, pc}
    .size m33_dot, . - m33_dot
