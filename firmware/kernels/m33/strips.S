/* SPDX-License-Identifier: Apache-2.0 */
/* Output rows of channels of a depthwise convolution, 3 x 3, 5 x 5 and 7 x 7, strides 1 and 2, four outputs
 * at a time, of 3 x 3 with stride 1 eight, straight from rows of bytes (strips.h has the offsets used here).
 *
 * SXTB16 makes of the bytes b0 b1 b2 b3 the pairs E0 = (b0, b2) and O0 = (b1, b3), of the next four
 * E1 and O1, and so on. An output whose first tap is b0 meets with its even taps E0, E1.., with its odd
 * ones O0, O1..; from b1 on they change places, the odd taps beginning at the top of E0; from b2 on
 * both begin at a top. So the weights of a row of taps are
 *     3: (w0, w2) (w1, -)    5: (w0, w2) (w2, w4) (w1, w3)
 *     7: (w1, w3) (w3, w5) (w0, w2) (w4, w6) (w2, w4)
 *
 * Registers: r4 to r7 the sums, r8 to r12 and lr pairs of bytes, r1 and r2 (r12) weights; r0 walks the
 * constants, r3 is what is added to the addresses of the rows. The first row of taps adds to r7, the
 * bias. */
    .syntax unified
    .cpu cortex-m33
    .thumb

#include "kernels/m33/quads.inc"

    .equ LOW, 0                               /* on the stack */
    .equ HIGH, 4
    .equ LIMIT, 8
    .equ OUTPUT, 12
    .equ LIMIT_STEP, 16
    .equ OUTPUT_STEP, 20
    .equ PIXEL_STEP, 24
    .equ END, 28
    .equ WIDTH, 32
    .equ CHANNEL_STEP, 36
    .equ CHANNELS, 40
    .equ LEFT, 44
    .equ ROWS, 48
    .equ FRAME, 48 + 4 * 7

    /* the address of row `y` of the taps, and of the first the bias, `bias` bytes from r0 */
    .macro row y, bias
    .ifc \y, 0
    ldr r7, [r0, #\bias]
    .endif
    ldr lr, [sp, #ROWS + 4 * \y]
    add lr, lr, r3
    .endm

    /* the bytes at lr: E0 r8, O0 r9, E1 r10, O1 r11 */
    .macro eight
    ldr r8, [lr]
    ldr r10, [lr, #4]
    sxtb16 r9, r8, ror #8
    sxtb16 r8, r8
    sxtb16 r11, r10, ror #8
    sxtb16 r10, r10
    .endm

    /* Rows of taps; a to c: what the first three sums were before, themselves or the bias. */
    .macro taps_3_2 y, a, b, c
    ldm r0!, {r1, r2}
    row \y, (BLOCK_3 - 4 - 8)
    ldrsb r12, [lr, #8]
    eight
    smlad r4, r8, r1, \a
    smlatb r5, r8, r1, \b
    smlabt r5, r10, r1, r5
    smlad r6, r10, r1, \c
    smlatb r7, r10, r1, r7
    smlabt r7, r12, r1, r7
    smlabb r4, r9, r2, r4
    smlatb r5, r9, r2, r5
    smlabb r6, r11, r2, r6
    smlatb r7, r11, r2, r7
    .endm

    /* r1 (w0, w2), r2 (w2, w4), r12 (w1, w3) */
    .macro taps_5_1 y, a, b, c
    ldm r0!, {r1, r2, r12}
    row \y, (BLOCK_5 - 4 - 12)
    eight
    smlad r4, r8, r1, \a
    smlad r5, r9, r1, \b
    smlatb r6, r8, r1, \c
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

    .macro taps_5_2 y, a, b, c
    ldm r0!, {r1, r2, r12}
    row \y, (BLOCK_5 - 4 - 12)
    eight
    smlad r4, r8, r1, \a
    smlabt r4, r10, r2, r4
    smlad r4, r9, r12, r4
    smlatb r5, r8, r1, \b
    smlad r5, r10, r2, r5
    smlatb r5, r9, r12, r5
    smlabt r5, r11, r12, r5
    ldr r9, [lr, #8]
    sxtb16 r8, r9                             /* E2 */
    sxtb16 r9, r9, ror #8                     /* O2 */
    smlad r6, r10, r1, \c
    smlabt r6, r8, r2, r6
    smlad r6, r11, r12, r6
    smlatb r7, r10, r1, r7
    smlad r7, r8, r2, r7
    smlatb r7, r11, r12, r7
    smlabt r7, r9, r12, r7
    .endm

    .macro taps_7_1 y, a, b, c
    ldm r0!, {r1, r2}                         /* (w1, w3) (w3, w5) */
    row \y, (BLOCK_7 - 4 - 8)
    ldr r8, [lr]
    ldr r10, [lr, #4]
    ldr r12, [lr, #8]
    sxtb16 r9, r8, ror #8
    sxtb16 r8, r8
    sxtb16 r11, r10, ror #8
    sxtb16 r10, r10
    sxtb16 lr, r12, ror #8                    /* O2 */
    sxtb16 r12, r12                           /* E2 */
    smlad r4, r9, r1, \a
    smlatb r5, r8, r1, \b
    smlatb r6, r9, r1, \c
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

    .macro taps_7_2 y, a, b, c
    ldm r0!, {r1, r2}                         /* (w1, w3) (w3, w5) */
    row \y, (BLOCK_7 - 4 - 8)
    ldr r8, [lr]
    ldr r10, [lr, #4]
    ldr r12, [lr, #8]
    sxtb16 r9, r8, ror #8
    sxtb16 r8, r8
    sxtb16 r11, r10, ror #8
    sxtb16 r10, r10
    smlad r4, r9, r1, \a
    smlatb r5, r9, r1, \b
    sxtb16 r9, r12, ror #8                    /* O2 */
    smlad r6, r11, r1, \c
    smlatb r7, r11, r1, r7
    smlabt r4, r11, r2, r4
    smlad r5, r11, r2, r5
    smlabt r6, r9, r2, r6
    smlad r7, r9, r2, r7
    sxtb16 r12, r12                           /* E2 */
    ldrsb r11, [lr, #12]                      /* E3 */
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

    /* constants of a channel */
    .equ BLOCK_3, 4 * (3 * 2 + 4)
    .equ BLOCK_5, 4 * (5 * 3 + 4)
    .equ BLOCK_7, 4 * (7 * 5 + 4)

    .macro strips k, s
    .section .ram_code.m33_strips_\k\()_\s, "ax", %progbits
    .global m33_strips_\k\()_\s
    .type m33_strips_\k\()_\s, %function
    .thumb_func
    .balign 4
m33_strips_\k\()_\s:
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    mov r1, sp
    ldr r2, [r0], #4                          /* constants */
    ldr r3, [r0], #4                          /* of the first channel */
    ldm r0!, {r4-r11}
    stm r1!, {r4-r11}
    ldm r0!, {r4-r11}
    stm r1!, {r4-r11}
    ldm r0, {r4-r6}
    stm r1, {r4-r6}
    mov r0, r2
1:                                            /* four outputs */
    taps_\k\()_\s 0, r7, r7, r7
    .set taps_row, 1
    .rept \k - 1
    taps_of_row taps_\k\()_\s, %taps_row
    .set taps_row, taps_row + 1
    .endr
    ldm r0!, {r1, r2, lr}                     /* m, offset, e */
    .irp sum, r4, r5, r6, r7
    requantize \sum
    .endr
    pack r4, r5, r6, r7
    ldm sp, {r8, r9, r10, lr}                 /* low, high, limit, output */
    clamp r4, r8, r9
    cmp r3, r10
    bhs 2f
    str r4, [lr], #4
    str lr, [sp, #OUTPUT]
    add r3, r3, #4 * \s
    sub r0, r0, #BLOCK_\k - 4
    b 1b
2:                                            /* the last outputs of a channel, or pixels */
    ldr r1, [sp, #PIXEL_STEP]
    ldr r2, [sp, #END]
    add r3, r3, #4 * \s
    cmp r3, r2
    beq 3f
    strb r4, [lr]
    lsr r5, r4, #8
    strb r5, [lr, r1]
    add lr, lr, r1, lsl #1
    lsr r6, r4, #16
    strb r6, [lr]
    lsr r7, r4, #24
    strb r7, [lr, r1]
    add lr, lr, r1, lsl #1
    str lr, [sp, #OUTPUT]
    sub r0, r0, #BLOCK_\k - 4
    b 1b
3:
    mov r5, lr
    bl next_channel
    bne 1b
    add sp, sp, #FRAME
    pop {r4-r11, pc}
    .size m33_strips_\k\()_\s, . - m33_strips_\k\()_\s
    .endm

    /* The last outputs of a channel, r4 to r5, and on to the next one; equal: there is none. */
    .section .ram_code.m33_strips_next, "ax", %progbits
    .thumb_func
    .balign 4
next_channel:
    ldr r2, [sp, #LEFT]
next_left:                                    /* r2 of them */
    cmp r2, #4
    bne 1f
    cmp r1, #1
    it eq
    streq r4, [r5], #4
    beq 2f
    strb r4, [r5]
    lsr r6, r4, #8
    strb r6, [r5, r1]
    add r5, r5, r1, lsl #1
    lsr r6, r4, #16
    strb r6, [r5]
    lsr r6, r4, #24
    strb r6, [r5, r1]
    add r5, r5, r1, lsl #1
    b 2f
1:
    strb r4, [r5]
    add r5, r5, r1
    lsr r4, r4, #8
    subs r2, r2, #1
    bne 1b
2:
    ldr r4, [sp, #CHANNELS]
    ldr r6, [sp, #OUTPUT_STEP]
    ldr r7, [sp, #LIMIT_STEP]
    ldr r8, [sp, #CHANNEL_STEP]
    ldr r9, [sp, #WIDTH]
    add r5, r5, r6
    add r10, r10, r7
    add r3, r3, r8
    add r9, r9, r3
    add r0, r0, #4
    subs r4, r4, #1
    str r4, [sp, #CHANNELS]
    str r9, [sp, #END]
    str r10, [sp, #LIMIT]
    str r5, [sp, #OUTPUT]
    bx lr

    .altmacro
    .macro taps_of_row taps, y
    \taps \y, r4, r5, r6
    .endm

    strips 5, 1
    strips 7, 1
    strips 3, 2
    strips 5, 2
    strips 7, 2

    /* 3 x 3, stride 1: eight outputs at a time, r4 to r11, so that no register is left for what is added to
     * the addresses: it is on the stack. Words are taken apart one after the other: E in r3, O in r12. */
    .equ ADDED, ROWS + 4 * 3

    /* a to g: what the first sums were before, themselves or the bias, r11 */
    .macro taps_3 y, a, b, c, d, e, f, g
    ldm r0!, {r1, r2}                         /* (w0, w2) (w1, -) */
    .ifc \y, 0
    ldr r11, [r0, #BLOCK_3 - 4 - 8]
    .endif
    ldr lr, [sp, #ROWS + 4 * \y]
    ldr r3, [sp, #ADDED]
    add lr, lr, r3
    ldr r12, [lr]
    sxtb16 r3, r12
    sxtb16 r12, r12, ror #8
    smlad r4, r3, r1, \a
    smlatb r6, r3, r1, \c
    smlatb r5, r3, r2, \b
    smlad r5, r12, r1, r5
    smlabb r4, r12, r2, r4
    smlatb r6, r12, r2, r6
    smlatb r7, r12, r1, \d
    ldr r12, [lr, #4]
    ldr lr, [lr, #8]
    sxtb16 r3, r12
    sxtb16 r12, r12, ror #8
    smlabt r6, r3, r1, r6
    smlabb r7, r3, r2, r7
    smlad r8, r3, r1, \e
    smlatb r9, r3, r2, \f
    smlatb r10, r3, r1, \g
    smlabt r7, r12, r1, r7
    smlabb r8, r12, r2, r8
    smlad r9, r12, r1, r9
    smlatb r10, r12, r2, r10
    smlatb r11, r12, r1, r11
    sxtb16 r3, lr
    sxtb16 lr, lr, ror #8
    smlabt r10, r3, r1, r10
    smlabb r11, r3, r2, r11
    smlabt r11, lr, r1, r11
    .endm

    .section .ram_code.m33_strips_3_1, "ax", %progbits
    .global m33_strips_3_1
    .type m33_strips_3_1, %function
    .thumb_func
    .balign 4
m33_strips_3_1:
    push {r4-r11, lr}
    sub sp, sp, #FRAME
    mov r1, sp
    ldr r2, [r0], #4                          /* constants */
    ldr r3, [r0], #4                          /* of the first channel */
    ldm r0!, {r4-r11}
    stm r1!, {r4-r11}
    ldm r0, {r4-r10}
    stm r1, {r4-r10}
    str r3, [sp, #ADDED]
    mov r0, r2
1:
    taps_3 0, r11, r11, r11, r11, r11, r11, r11
    taps_3 1, r4, r5, r6, r7, r8, r9, r10
    taps_3 2, r4, r5, r6, r7, r8, r9, r10
    ldm r0!, {r1, r2, lr}                     /* m, offset, e */
    .irp sum, r4, r5, r6, r7, r8, r9, r10, r11
    requantize \sum
    .endr
    pack r4, r5, r6, r7
    pack r8, r9, r10, r11
    ldm sp, {r1, r2, r10, lr}                 /* low, high, limit, output */
    clamp r4, r1, r2
    clamp r8, r1, r2
    ldr r3, [sp, #ADDED]
    cmp r3, r10
    bhs 2f
    str r4, [lr], #4
    str r8, [lr], #4
    str lr, [sp, #OUTPUT]
    add r3, r3, #8
    str r3, [sp, #ADDED]
    sub r0, r0, #BLOCK_3 - 4
    b 1b
2:                                            /* the last outputs of a channel, or pixels */
    ldr r1, [sp, #PIXEL_STEP]
    ldr r7, [sp, #END]
    add r3, r3, #8
    mov r5, lr
    mov r2, #8
    cmp r3, r7
    it eq
    ldreq r2, [sp, #LEFT]
    cmp r2, #4
    ble 5f
    subs r2, r2, #4
    cmp r1, #1
    itt eq
    streq r4, [r5], #4
    beq 4f
    mov r6, #4
3:
    strb r4, [r5]
    add r5, r5, r1
    lsr r4, r4, #8
    subs r6, r6, #1
    bne 3b
4:
    mov r4, r8
5:
    cmp r3, r7
    bne 6f
    bl next_left
    str r3, [sp, #ADDED]
    bne 1b
    add sp, sp, #FRAME
    pop {r4-r11, pc}
6:
    strb r4, [r5]
    add r5, r5, r1
    lsr r4, r4, #8
    subs r2, r2, #1
    bne 6b
    str r5, [sp, #OUTPUT]
    str r3, [sp, #ADDED]
    sub r0, r0, #BLOCK_3 - 4
    b 1b
    .size m33_strips_3_1, . - m33_strips_3_1
