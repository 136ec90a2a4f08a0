/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of one channel of a depthwise convolution, 3 x 3, 5 x 5 and 7 x 7, strides 1 and 2, four
 * outputs at a time, from a plane of halfwords x - zero_point (rows.h has the offsets used here).
 *
 * SMLAD multiplies two neighbours in a row, of which the first has an even place. With h = (k - 1) / 2
 * the words of a row of weights are
 *     A_j = (w_2j, w_2j+1),   B_j = (w_2j+1, w_2j+2),   j < h:
 * an output at an even place takes all A and the last tap alone, the top of the last B; one at an odd
 * place the first tap alone, the bottom of A_0, and all B. With stride 2 all places are even.
 *
 * Registers: r4 to r7 the sums, r8 to r12 words of the plane, r1 and r2 weights; r0 walks the
 * weights, lr the rows, r3 bytes apart. What is made beyond the row's end is not written. */
    .syntax unified
    .cpu cortex-m33
    .thumb

#include "kernels/m33/quads.inc"

    .equ TILE, 12
    .equ CHANNEL, 16
    .equ OUTPUT, 36                           /* these from the output on */
    .equ LEFT, 8
    .equ ROWS, 12
    .equ ROW_START, 16
    .equ WIDTH, 20
    .equ ROW_ADVANCE, 24

    /* outputs at even and odd places: sum += words of the plane * weights */
    .macro even first, second, weights
    smlad r4, \first, \weights, r4
    smlad r6, \second, \weights, r6
    .endm
    .macro odd first, second, weights
    smlad r5, \first, \weights, r5
    smlad r7, \second, \weights, r7
    .endm
    .macro odd_first first, second, weights
    smlatb r5, \first, \weights, r5
    smlatb r7, \second, \weights, r7
    .endm
    .macro even_last first, second, weights
    smlabt r4, \first, \weights, r4
    smlabt r6, \second, \weights, r6
    .endm
    /* stride 2 */
    .macro all first, second, third, fourth, weights
    smlad r4, \first, \weights, r4
    smlad r5, \second, \weights, r5
    smlad r6, \third, \weights, r6
    smlad r7, \fourth, \weights, r7
    .endm
    .macro all_last first, second, third, fourth, weights
    smlabt r4, \first, \weights, r4
    smlabt r5, \second, \weights, r5
    smlabt r6, \third, \weights, r6
    smlabt r7, \fourth, \weights, r7
    .endm

    .macro taps_3_1
    ldm r0!, {r1, r2}                         /* A0 B0 */
    ldm lr, {r8-r10}
    even r8, r9, r1
    odd_first r8, r9, r1
    odd r9, r10, r2
    even_last r9, r10, r2
    .endm

    .macro taps_5_1
    ldm r0!, {r1, r2}                         /* A0 A1 */
    ldm lr, {r8-r11}
    even r8, r9, r1
    odd_first r8, r9, r1
    even r9, r10, r2
    ldm r0!, {r1, r2}                         /* B0 B1 */
    odd r9, r10, r1
    odd r10, r11, r2
    even_last r10, r11, r2
    .endm

    .macro taps_7_1
    ldm r0!, {r1, r2}                         /* A0 A1 */
    ldm lr, {r8-r12}
    even r8, r9, r1
    odd_first r8, r9, r1
    even r9, r10, r2
    ldm r0!, {r1, r2}                         /* A2 B0 */
    even r10, r11, r1
    odd r9, r10, r2
    ldm r0!, {r1, r2}                         /* B1 B2 */
    odd r10, r11, r1
    odd r11, r12, r2
    even_last r11, r12, r2
    .endm

    .macro taps_3_2
    ldm r0!, {r1, r2}                         /* A0 B0 */
    ldm lr, {r8-r12}
    all r8, r9, r10, r11, r1
    all_last r9, r10, r11, r12, r2
    .endm

    .macro taps_5_2
    ldm r0!, {r1, r2}                         /* A0 A1 */
    ldm lr, {r8-r12}
    all r8, r9, r10, r11, r1
    all r9, r10, r11, r12, r2
    ldr r8, [lr, #20]
    ldr r1, [r0], #4                          /* B1 */
    all_last r10, r11, r12, r8, r1
    .endm

    .macro taps_7_2
    ldm r0!, {r1, r2}                         /* A0 A1 */
    ldm lr, {r8-r12}
    all r8, r9, r10, r11, r1
    all r9, r10, r11, r12, r2
    ldr r8, [lr, #20]
    ldr r9, [lr, #24]
    ldr r1, [r0], #4                          /* A2 */
    ldr r2, [r0], #4                          /* B2 */
    all r10, r11, r12, r8, r1
    all_last r11, r12, r8, r9, r2
    .endm

    .macro requantize sum
    add r12, r2, \sum, asr #31
    smmlar \sum, \sum, r1, r12
    asr \sum, \sum, r3
    ssat \sum, #8, \sum
    .endm

    .macro rows k, s
    .section .ram_code.m33_rows_\k\()_\s, "ax", %progbits
    .global m33_rows_\k\()_\s
    .type m33_rows_\k\()_\s, %function
    .thumb_func
    .balign 4
m33_rows_\k\()_\s:
    push {r0, r4-r11, lr}
1:                                            /* four outputs; r0: the argument */
    ldm r0, {r0, r3, r4, lr}                  /* weights, row_bytes, doubled_bias, tile */
    mov r5, r4
    mov r6, r4
    mov r7, r4
    taps_\k\()_\s
    .rept \k - 1
    add lr, lr, r3
    taps_\k\()_\s
    .endr
    ldr r0, [sp]
    add r0, r0, #CHANNEL
    ldm r0!, {r1, r2, r3, r8, r9}             /* m, offset, e, low, high */
    .irp sum, r4, r5, r6, r7
    requantize \sum
    .endr
    pack r4, r5, r6, r7
    clamp r4, r8, r9
    ldm r0, {r8, r9, r10}                     /* output, pixel_step, left */
    subs r10, r10, #4
    blt 2f
    strb r4, [r8]
    lsr r5, r4, #8
    strb r5, [r8, r9]
    lsr r5, r4, #16
    add r8, r8, r9, lsl #1
    strb r5, [r8]
    lsr r5, r4, #24
    strb r5, [r8, r9]
    add r8, r8, r9, lsl #1
    str r8, [r0]
    str r10, [r0, #LEFT]
    ldr r0, [sp]
    ldr r1, [r0, #TILE]
    add r1, r1, #8 * \s
    str r1, [r0, #TILE]
    bgt 1b
    b 4f
2:                                            /* the row ends within the four: 1 to 3 are left */
    add r10, r10, #4
3:
    strb r4, [r8]
    add r8, r8, r9
    lsr r4, r4, #8
    subs r10, r10, #1
    bne 3b
    str r8, [r0]
    ldr r0, [sp]
4:                                            /* the next row */
    add r1, r0, #OUTPUT
    ldr r2, [r1, #ROWS]
    ldr r3, [r1, #ROW_START]
    ldr r4, [r1, #WIDTH]
    ldr r5, [r1, #ROW_ADVANCE]
    add r3, r3, r5
    str r3, [r1, #ROW_START]
    str r3, [r0, #TILE]
    str r4, [r1, #LEFT]
    subs r2, r2, #1
    str r2, [r1, #ROWS]
    bne 1b
    pop {r0, r4-r11, pc}
    .size m33_rows_\k\()_\s, . - m33_rows_\k\()_\s
    .endm

    rows 3, 1
    rows 5, 1
    rows 7, 1
    rows 3, 2
    rows 5, 2
    rows 7, 2
