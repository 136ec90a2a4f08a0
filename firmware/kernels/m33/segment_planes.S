/* SPDX-License-Identifier: Apache-2.0 */
/* From planes, in which a channel's pixels lie next to each other, to the fields of spread.S, and from
 * depthwise weights to the words of strips.S. */
    .syntax unified
    .cpu cortex-m33
    .thumb

/* void m33_segment_expand_planes(uint32_t *to, const int8_t *from, struct planes *planes): groups of 4
 * channels: squares of 4 by 4 bytes to the fields of two pairs of pixels each, as m33_expand has them, and
 * one pair more if there is one: a square whose second pair is written over by the first. What lies at
 * `planes` is in segment_planes.h. */
    .macro half_square first, second, at      /* channels 0 and 2, or 1 and 3 */
    ldr r8, [\first], #4
    ldr r10, [\second], #4
    sxtab16 r9, r2, r8
    sxtab16 r9, r9, r8
    sxtab16 r11, r2, r10
    sxtab16 r11, r11, r10
    sxtab16 r12, r2, r8, ror #8
    sxtab16 r12, r12, r8, ror #8
    sxtab16 lr, r2, r10, ror #8
    sxtab16 lr, lr, r10, ror #8
    pkhtb r8, r11, r9, asr #16
    pkhtb r10, lr, r12, asr #16
    pkhbt r9, r9, r11, lsl #16
    pkhbt r12, r12, lr, lsl #16
    add lr, r0, r1
    str r8, [lr, #\at]
    str r10, [lr, #\at + 4]
    str r9, [r0, #\at]
    str r12, [r0, #\at + 4]
    .endm

    .equ PLANES, 8                            /* on the stack */
    .equ FRAME, 12
    .equ PAIR_MORE, 28                        /* in struct planes */
    .equ GROUPS, 32

    .section .ram_code.m33_segment_expand_planes, "ax", %progbits
    .global m33_segment_expand_planes
    .type m33_segment_expand_planes, %function
    .thumb_func
    .balign 4
m33_segment_expand_planes:
    push {r0-r2, r4-r11, lr}
1:
    ldm sp, {r0, r4, r8}                      /* to, from, planes */
    ldm r8, {r1-r3, r5-r7, r9}                /* pair_bytes, offset, squares, next, group_step */
    add r9, r9, r4
    add r10, r0, #16
    strd r10, r9, [sp]
    add r5, r5, r4
    add r6, r6, r4
    add r7, r7, r4
    cmp r3, #0
    beq 3f
2:
    half_square r4, r6, 0
    half_square r5, r7, 8
    add r0, r0, r1, lsl #1
    subs r3, r3, #1
    bne 2b
    cbz r1, 4f
3:
    ldr r8, [sp, #PLANES]
    ldr r3, [r8, #PAIR_MORE]
    mov r1, #0
    cmp r3, #0
    bne 2b
4:
    ldr r8, [sp, #PLANES]
    ldr r9, [r8, #GROUPS]
    subs r9, r9, #1
    str r9, [r8, #GROUPS]
    bne 1b
    add sp, sp, #FRAME
    pop {r4-r11, pc}
    .size m33_segment_expand_planes, . - m33_segment_expand_planes

/* uint64_t m33_segment_spread(uint32_t *to, const int8_t *from, int32_t step, int32_t channel_bytes, int32_t k):
 * the weights of 4 channels, k x k taps, doubled, to the words of strips.S. from: the first channel's first
 * tap, from which the next one lies `step` bytes. to: the first channel's words, from which the next one's
 * lie channel_bytes. To the sums of the doubled weights as halfwords: of channels 0 and 2, above them of 1
 * and 3.
 *
 * r0, [r0, r6], [r0, r6, lsl #1] and [r0, r7] are the words of the channels, r1 is a row's first tap, r4 and
 * r5 are one step and three, r2 and r3 the sums; lr counts rows. */
    .macro tap even, odd, at:vararg           /* channels 0 and 2, and 1 and 3 */
    ldr r12, [\at]
    sxtb16 \even, r12
    sxtb16 \odd, r12, ror #8
    sadd16 \even, \even, \even
    sadd16 \odd, \odd, \odd
    sadd16 r2, r2, \even
    sadd16 r3, r3, \odd
    .endm

    .macro word even, odd, second_even, second_odd
    pkhbt r12, \odd, \second_odd, lsl #16
    str r12, [r0, r6]
    pkhtb r12, \second_odd, \odd, asr #16
    str r12, [r0, r7]
    pkhtb r12, \second_even, \even, asr #16
    str r12, [r0, r6, lsl #1]
    pkhbt r12, \even, \second_even, lsl #16
    str r12, [r0], #4
    .endm

    .macro row_3                              /* (0, 2) (1, -) */
    tap r8, r9, r1
    tap r10, r11, r1, r4, lsl #1
    word r8, r9, r10, r11
    tap r8, r9, r1, r4
    word r8, r9, r10, r11
    add r1, r1, r5
    .endm

    .macro row_5                              /* (0, 2) (2, 4) (1, 3) */
    tap r8, r9, r1
    tap r10, r11, r1, r4, lsl #1
    word r8, r9, r10, r11
    tap r8, r9, r1, r4, lsl #2
    word r10, r11, r8, r9
    tap r8, r9, r1, r4
    tap r10, r11, r1, r5
    word r8, r9, r10, r11
    add r1, r1, r4
    add r1, r1, r4, lsl #2
    .endm

    .macro row_7                              /* (1, 3) (3, 5) (0, 2) (4, 6) (2, 4) */
    add r1, r1, r4
    tap r8, r9, r1
    tap r10, r11, r1, r4, lsl #1
    word r8, r9, r10, r11
    tap r8, r9, r1, r4, lsl #2
    word r10, r11, r8, r9
    sub r1, r1, r4
    tap r8, r9, r1
    tap r10, r11, r1, r4, lsl #1
    word r8, r9, r10, r11
    tap r8, r9, r1, r4, lsl #2
    add r0, r0, #4
    word r10, r11, r8, r9
    sub r0, r0, #8
    tap r10, r11, r1, r5, lsl #1
    word r8, r9, r10, r11
    add r0, r0, #4
    add r1, r1, r4
    add r1, r1, r5, lsl #1
    .endm

    .section .ram_code.m33_segment_spread, "ax", %progbits
    .global m33_segment_spread
    .type m33_segment_spread, %function
    .thumb_func
    .balign 4
m33_segment_spread:
    push {r4-r11, lr}
    ldr lr, [sp, #36]                         /* k */
    mov r4, r2
    add r5, r2, r2, lsl #1
    mov r6, r3
    add r7, r3, r3, lsl #1
    movs r2, #0
    movs r3, #0
    cmp lr, #5
    blt 3f
    beq 5f
7:
    row_7
    subs lr, lr, #1
    bne 7b
    b 8f
5:
    row_5
    subs lr, lr, #1
    bne 5b
    b 8f
3:
    row_3
    subs lr, lr, #1
    bne 3b
8:
    mov r0, r2
    mov r1, r3
    pop {r4-r11, pc}
    .size m33_segment_spread, . - m33_segment_spread
