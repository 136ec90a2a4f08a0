/* SPDX-License-Identifier: Apache-2.0 */
/* void m33_sweep(struct sweep *sweep): 4 channels of a run of pixel pairs, from fields to bytes
 * (sweep.h has the offsets used here).
 *
 * Registers of the loop: r4 to r11 are the sums, two pixels by four channels; r0 walks the fields,
 * r1 the weights; r2 and r3 are two taps of either pixel, r12 and lr two weights of a channel. The
 * loads stand in groups, because a load behind a load costs less.
 *
 * A sum is twice the accumulator, so that its rounded high product with m is gemmlowp's doubling
 * one. What follows it is RoundingDivideByPOT by e >= 1 and the zero point, folded into one number:
 *     (y + (sum >> 31) + 2^(e - 1) + (zero_point << e)) >> e
 * with the sum's sign in place of y's: they differ only where y = 0, and there it says nothing. */
    .syntax unified
    .cpu cortex-m33
    .thumb

#include "kernels/m33/quads.inc"

    .equ BIAS, 56
    .equ OUTPUT, 16                           /* these from the biases on */
    .equ PIXEL_STEP, 20
    .equ PAIRS, 24
    .equ WEIGHTS, 28
    .equ PAIR_BYTES, 32
    .equ FIELDS, 36

    .equ END, 0                               /* on the stack: of this pair's fields, */
    .equ ENTRY, 4                             /* where the loop is entered, */
    .equ SWEEP, 8                             /* and the argument */
    .equ UNROLLED, 8                          /* pairs of taps a round of the loop */
    .equ TAPS_BYTES, 56                       /* of code for a pair of taps */

    .macro taps
    ldr r2, [r0], #4
    ldr r3, [r0], #4
    ldr r12, [r1], #4
    ldr lr, [r1], #4
    smlad r4, r2, r12, r4
    smlad r5, r3, r12, r5
    smlad r6, r2, lr, r6
    smlad r7, r3, lr, r7
    ldr r12, [r1], #4
    ldr lr, [r1], #4
    smlad r8, r2, r12, r8
    smlad r9, r3, r12, r9
    smlad r10, r2, lr, r10
    smlad r11, r3, lr, r11
    .endm

    .macro requantize first, second
    ldm lr!, {r1, r2, r3}                     /* m, offset, e */
    add r12, r2, \first, asr #31
    smmlar \first, \first, r1, r12
    add r12, r2, \second, asr #31
    smmlar \second, \second, r1, r12
    asr \first, \first, r3
    asr \second, \second, r3
    ssat \first, #8, \first
    ssat \second, #8, \second
    .endm

    /* 2 pixels of 4 channels, pixels one after the other */
    .macro store_pixels
    pack r4, r6, r8, r10
    pack r5, r7, r9, r11
    ldm lr!, {r2, r3}                         /* low, high */
    clamp r4, r2, r3
    clamp r5, r2, r3
    ldr r1, [lr, #OUTPUT]
    ldr r2, [lr, #PIXEL_STEP]
    ldr r3, [lr, #PAIRS]
    str r4, [r1]
    str r5, [r1, r2]
    add r1, r1, r2, lsl #1
    .endm

    .section .ram_code.m33_sweep, "ax", %progbits
    .global m33_sweep
    .type m33_sweep, %function
    .thumb_func
    .balign 4
m33_sweep:
    push {r0, r4-r11, lr}
    sub sp, sp, #8
    add lr, r0, #BIAS
    ldr r0, [lr, #FIELDS]
    ldr r2, [lr, #PAIR_BYTES]
    lsrs r2, r2, #3                           /* pairs of taps, 1 to 8 of them in the first round */
    subs r2, r2, #1
    and r2, r2, #UNROLLED - 1
    adds r2, r2, #1
    movs r3, #TAPS_BYTES
    muls r2, r3, r2
    adr.w r3, 3f
    subs r3, r3, r2
    adds r3, r3, #1                           /* Thumb */
    str r3, [sp, #ENTRY]
1:                                            /* a pair of pixels; lr: the biases */
    ldm lr, {r4, r6, r8, r10}
    ldr r1, [lr, #WEIGHTS]
    ldr r2, [lr, #PAIR_BYTES]
    add r2, r2, r0
    str r2, [sp, #END]
    mov r5, r4
    mov r7, r6
    mov r9, r8
    mov r11, r10
    ldr pc, [sp, #ENTRY]
    .balign 4
2:
    .rept UNROLLED
    taps
    .endr
3:
    ldr r2, [sp, #END]
    cmp r0, r2
    bne 2b
    ldr lr, [sp, #SWEEP]
    requantize r4, r5
    requantize r6, r7
    requantize r8, r9
    requantize r10, r11
    store_pixels
    subs r3, r3, #1
    str r1, [lr, #OUTPUT]
    str r3, [lr, #PAIRS]
    bne 1b
    add sp, sp, #12
    pop {r4-r11, pc}
    .if (3b - 2b) - UNROLLED * TAPS_BYTES
    .error "a pair of taps is not TAPS_BYTES long"
    .endif
    .size m33_sweep, . - m33_sweep
