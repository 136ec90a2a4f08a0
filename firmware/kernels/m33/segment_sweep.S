/* SPDX-License-Identifier: Apache-2.0 */
/* void m33_segment_sweep(const struct segment_sweep *sweep): 4 channels of a run of pixel pairs, from fields to
 * bytes (segment_sweep.h has the offsets used here), as sweep.S does it, and also to planes.
 *
 * Registers of the loop: r4 to r11 are the sums, two pixels by four channels; r0 walks the fields,
 * r1 the weights; r2 and r3 are two taps of either pixel, r12 and lr two weights of a channel. The first
 * pair of taps adds to the biases. */
    .syntax unified
    .cpu cortex-m33
    .thumb

#include "kernels/m33/quads.inc"

    .equ LOW, 0                               /* on the stack */
    .equ HIGH, 4
    .equ OUTPUT, 8
    .equ OUTPUT_END, 16
    .equ PIXEL_STEP, 20
    .equ WEIGHTS, 24
    .equ WEIGHTS_END, 28
    .equ NUMBERS, 32
    .equ ENTRY, 36                            /* where the loop is entered */
    .equ FRAME, 44
    .equ BIASES, 48                           /* behind the numbers */
    .equ GROUPS, 40                           /* in the struct */
    .equ UNROLLED, 8                          /* pairs of taps a round of the loop */
    .equ TAPS_BYTES, 56                       /* of code for a pair of taps */

    .macro taps a, b, c, d                    /* sums before, of the first pixel */
    ldr r2, [r0], #4
    ldr r3, [r0], #4
    ldr r12, [r1], #4
    ldr lr, [r1], #4
    smlad r5, r3, r12, \a
    smlad r4, r2, r12, r4
    smlad r7, r3, lr, \b
    smlad r6, r2, lr, r6
    ldr r12, [r1], #4
    ldr lr, [r1], #4
    smlad r9, r3, r12, \c
    smlad r8, r2, r12, r8
    smlad r11, r3, lr, \d
    smlad r10, r2, lr, r10
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

    .section .ram_code.m33_segment_sweep, "ax", %progbits
    .global m33_segment_sweep
    .type m33_segment_sweep, %function
    .thumb_func
    .balign 4
m33_segment_sweep:
    push {r0, r4-r11, lr}
    sub sp, sp, #FRAME
    ldm r0, {r0-r8, lr}                       /* fields, low ... weights, weights_end, numbers */
    sub r9, r8, r7
    lsr r9, r9, #4                            /* pairs of taps; behind the first one */
    sub r9, r9, #2                            /* 1 to UNROLLED of them in the first round */
    and r9, r9, #UNROLLED - 1
    add r9, r9, #1
    mov r10, #TAPS_BYTES
    mul r9, r9, r10
    adr.w r10, 3f
    sub r9, r10, r9
    add r9, r9, #1                            /* Thumb */
    str lr, [sp, #NUMBERS]
    str r9, [sp, #ENTRY]
    stm sp, {r1-r8}
    add lr, lr, #BIASES
1:                                            /* a pair of pixels; lr: the biases */
    ldm lr, {r4, r6, r8, r10}
    ldr r1, [sp, #WEIGHTS]
    taps r4, r6, r8, r10
    ldr pc, [sp, #ENTRY]
    .balign 4
2:
    .rept UNROLLED
    taps r5, r7, r9, r11
    .endr
3:
    ldr r2, [sp, #WEIGHTS_END]
    cmp r1, r2
    bne 2b
    ldr lr, [sp, #NUMBERS]
    requantize r4, r5
    requantize r6, r7
    requantize r8, r9
    requantize r10, r11
    ldr r3, [sp, #PIXEL_STEP]
    cbnz r3, 4f
    pack r4, r5, r6, r7
    pack r8, r9, r10, r11
    ldm sp, {r1, r2, r3, r5, r6}              /* low, high, output, plane_step, output_end */
    clamp r4, r1, r2
    clamp r8, r1, r2
    strh r4, [r3]
    lsr r4, r4, #16
    strh r4, [r3, r5]
    add r7, r3, r5, lsl #1
    strh r8, [r7]
    lsr r8, r8, #16
    strh r8, [r7, r5]
    add r3, r3, #2
    str r3, [sp, #OUTPUT]
    cmp r3, r6
    bne 1b
    b 5f
4:                                            /* pixel by pixel */
    pack r4, r6, r8, r10
    pack r5, r7, r9, r11
    mov r9, r3
    ldm sp, {r1, r2, r3, r6, r7}
    clamp r4, r1, r2
    clamp r5, r1, r2
    str r4, [r3]
    str r5, [r3, r9]
    add r3, r3, r9, lsl #1
    str r3, [sp, #OUTPUT]
    cmp r3, r7
    bne 1b
5:                                            /* the next 4 channels */
    ldr r0, [sp, #FRAME]
    add r1, r0, #GROUPS
    ldm r1, {r4-r7}                           /* groups, output_step, end_step, block_step */
    subs r4, r4, #1
    beq 6f
    str r4, [r1]
    ldr r0, [r0]                              /* fields */
    ldr r8, [sp, #OUTPUT_END]
    add r3, r3, r5
    add r8, r8, r6
    str r3, [sp, #OUTPUT]
    str r8, [sp, #OUTPUT_END]
    add r1, sp, #WEIGHTS
    ldm r1, {r8, r9, lr}                      /* weights, weights_end, numbers */
    add r8, r8, r7
    add r9, r9, r7
    add lr, lr, r7
    stm r1, {r8, r9, lr}
    add lr, lr, #BIASES
    b 1b
6:
    add sp, sp, #FRAME + 4
    pop {r4-r11, pc}
    .if (3b - 2b) - UNROLLED * TAPS_BYTES
    .error "a pair of taps is not TAPS_BYTES long"
    .endif
    .size m33_segment_sweep, . - m33_segment_sweep
