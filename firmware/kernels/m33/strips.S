/* SPDX-License-Identifier: Apache-2.0 */
/* An output row of one channel of a depthwise convolution, 3 x 3, 5 x 5 and 7 x 7, strides 1 and 2, four
 * outputs at a time, straight from rows of bytes (strips.h has the offsets used here).
 *
 * SXTB16 makes of the bytes b0 b1 b2 b3 the pairs E0 = (b0, b2) and O0 = (b1, b3), of the next four
 * E1 and O1, and so on. An output whose first tap is b0 meets with its even taps E0, E1.., with its odd
 * ones O0, O1..; from b1 on they change places, the odd taps beginning at the top of E0; from b2 on
 * both begin at a top. So the constants of a row are, with its address,
 *     3: (w0, w2) (w1, -) address    5: (w0, w2) (w2, w4) (w1, w3) address
 *     7: (w1, w3) (w3, w5) address (w0, w2) (w4, w6) (w2, w4)
 *
 * Registers: r4 to r7 the sums, r8 to r12 and lr pairs of bytes, r1 and r2 (r12) weights; r0 walks the
 * constants, r3 is what is added to the addresses. */
    .syntax unified
    .cpu cortex-m33
    .thumb

#include "kernels/m33/quads.inc"

    .equ CHANNEL, 8
    .equ OFFSET, 36
    .equ LAST, 12                             /* from the output on */
    .equ FIRST, 16

    /* the bytes at lr: E0 r8, O0 r9, E1 r10, O1 r11 */
    .macro eight
    ldr r8, [lr]
    ldr r10, [lr, #4]
    sxtb16 r9, r8, ror #8
    sxtb16 r8, r8
    sxtb16 r11, r10, ror #8
    sxtb16 r10, r10
    .endm

    .macro taps_3_1
    ldm r0!, {r1, r2, lr}
    add lr, lr, r3
    eight
    smlad r4, r8, r1, r4
    smlad r5, r9, r1, r5
    smlatb r6, r8, r1, r6
    smlatb r7, r9, r1, r7
    smlabt r6, r10, r1, r6
    smlabt r7, r11, r1, r7
    smlabb r4, r9, r2, r4
    smlatb r5, r8, r2, r5
    smlatb r6, r9, r2, r6
    smlabb r7, r10, r2, r7
    .endm

    .macro taps_3_2
    ldm r0!, {r1, r2, lr}
    add lr, lr, r3
    ldrsb r12, [lr, #8]
    eight
    smlad r4, r8, r1, r4
    smlatb r5, r8, r1, r5
    smlabt r5, r10, r1, r5
    smlad r6, r10, r1, r6
    smlatb r7, r10, r1, r7
    smlabt r7, r12, r1, r7
    smlabb r4, r9, r2, r4
    smlatb r5, r9, r2, r5
    smlabb r6, r11, r2, r6
    smlatb r7, r11, r2, r7
    .endm

    /* r1 (w0, w2), r2 (w2, w4), r12 (w1, w3) */
    .macro taps_5_1
    ldm r0!, {r1, r2, r12, lr}
    add lr, lr, r3
    eight
    smlad r4, r8, r1, r4
    smlad r5, r9, r1, r5
    smlatb r6, r8, r1, r6
    smlatb r7, r9, r1, r7
    smlabt r4, r10, r2, r4
    smlabt r5, r11, r2, r5
    smlad r6, r10, r2, r6
    smlad r7, r11, r2, r7
    smlad r4, r9, r12, r4
    smlatb r5, r8, r12, r5
    smlabt r5, r10, r12, r5
    smlatb r6, r9, r12, r6
    smlabt r6, r11, r12, r6
    smlad r7, r10, r12, r7
    .endm

    .macro taps_5_2
    ldm r0!, {r1, r2, r12, lr}
    add lr, lr, r3
    eight
    smlad r4, r8, r1, r4
    smlabt r4, r10, r2, r4
    smlad r4, r9, r12, r4
    smlatb r5, r8, r1, r5
    smlad r5, r10, r2, r5
    smlatb r5, r9, r12, r5
    smlabt r5, r11, r12, r5
    ldr r9, [lr, #8]
    sxtb16 r8, r9                             /* E2 */
    sxtb16 r9, r9, ror #8                     /* O2 */
    smlad r6, r10, r1, r6
    smlabt r6, r8, r2, r6
    smlad r6, r11, r12, r6
    smlatb r7, r10, r1, r7
    smlad r7, r8, r2, r7
    smlatb r7, r11, r12, r7
    smlabt r7, r9, r12, r7
    .endm

    .macro taps_7_1
    ldm r0!, {r1, r2, lr}                     /* (w1, w3) (w3, w5) */
    add lr, lr, r3
    eight
    ldr lr, [lr, #8]
    sxtb16 r12, lr                            /* E2 */
    sxtb16 lr, lr, ror #8                     /* O2 */
    smlad r4, r9, r1, r4
    smlatb r5, r8, r1, r5
    smlatb r6, r9, r1, r6
    smlad r7, r10, r1, r7
    smlabt r4, r11, r2, r4
    smlad r5, r10, r2, r5
    smlad r6, r11, r2, r6
    smlabt r7, r12, r2, r7
    ldm r0!, {r1, r2}                         /* (w0, w2) (w4, w6) */
    smlad r4, r8, r1, r4
    smlad r5, r9, r1, r5
    smlatb r6, r8, r1, r6
    smlatb r7, r9, r1, r7
    smlad r4, r10, r2, r4
    smlad r5, r11, r2, r5
    smlabt r6, r12, r2, r6
    smlabt r7, lr, r2, r7
    ldr r1, [r0], #4                          /* (w2, w4) */
    smlad r6, r10, r1, r6
    smlad r7, r11, r1, r7
    .endm

    .macro taps_7_2
    ldm r0!, {r1, r2, lr}                     /* (w1, w3) (w3, w5) */
    add lr, lr, r3
    eight
    ldr r12, [lr, #8]
    sxtb16 r12, r12, ror #8                   /* O2 */
    smlad r4, r9, r1, r4
    smlatb r5, r9, r1, r5
    smlad r6, r11, r1, r6
    smlatb r7, r11, r1, r7
    smlabt r4, r11, r2, r4
    smlad r5, r11, r2, r5
    smlabt r6, r12, r2, r6
    smlad r7, r12, r2, r7
    ldr r12, [lr, #8]
    ldrsb r11, [lr, #12]                      /* E3 */
    sxtb16 r12, r12                           /* E2 */
    ldm r0!, {r1, r2, r9}                     /* (w0, w2) (w4, w6) (w2, w4) */
    smlad r4, r8, r1, r4
    smlatb r5, r8, r1, r5
    smlad r6, r10, r1, r6
    smlatb r7, r10, r1, r7
    smlad r4, r10, r2, r4
    smlabt r5, r12, r2, r5
    smlad r6, r12, r2, r6
    smlabt r7, r11, r2, r7
    smlad r5, r10, r9, r5
    smlad r7, r12, r9, r7
    .endm

    .macro requantize sum
    add r12, r2, \sum, asr #31
    smmlar \sum, \sum, r1, r12
    asr \sum, \sum, lr
    ssat \sum, #8, \sum
    .endm

    .macro strip k, s
    .section .ram_code.m33_strip_\k\()_\s, "ax", %progbits
    .global m33_strip_\k\()_\s
    .type m33_strip_\k\()_\s, %function
    .thumb_func
    .balign 4
m33_strip_\k\()_\s:
    push {r0, r4-r11, lr}
    ldr r3, [r0, #OFFSET]
1:                                            /* four outputs; r0: the argument */
    ldm r0, {r0, r4}                          /* constants, doubled_bias */
    mov r5, r4
    mov r6, r4
    mov r7, r4
    .rept \k
    taps_\k\()_\s
    .endr
    ldr r0, [sp]
    add r0, r0, #CHANNEL
    ldm r0!, {r1, r2, r8-r10}                 /* m, offset, e, low, high */
    mov lr, r8
    .irp sum, r4, r5, r6, r7
    requantize \sum
    .endr
    pack r4, r5, r6, r7
    clamp r4, r9, r10
    ldm r0, {r1, r2}                          /* output, quads */
    ldr r5, [r0, #LAST]                       /* the quad before */
    str r4, [r0, #LAST]
    ldr r4, [r0, #FIRST]
    cmp r2, r4
    it ne
    strne r5, [r1], #4
    subs r2, r2, #1
    stm r0, {r1, r2}
    ldr r0, [sp]
    add r3, r3, #4 * \s
    bne 1b
    pop {r0, r4-r11, pc}
    .size m33_strip_\k\()_\s, . - m33_strip_\k\()_\s
    .endm

    strip 3, 1
    strip 5, 1
    strip 7, 1
    strip 3, 2
    strip 5, 2
    strip 7, 2
