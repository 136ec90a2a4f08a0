/* SPDX-License-Identifier: Apache-2.0 */
/* From bytes to the halfwords that SMLAD multiplies. Four bytes become two words, bytes 0 and 2 in
 * the first and bytes 1 and 3 in the second: fields and weights alike, so that taps still meet. */
    .syntax unified
    .cpu cortex-m33
    .thumb

/* void m33_expand(uint32_t *to, const int8_t *from, int32_t groups, uint32_t offset): groups of 4
 * bytes x, doubled, plus the offset, in words 0 and 2 of every 4 words: what lies between belongs
 * to the other pixel of a pair. The bytes may lie at any address; the groups may be none. */
    .macro group word, at
    sxtab16 r12, r3, \word
    sxtab16 lr, r3, \word, ror #8
    sxtab16 r12, r12, \word
    sxtab16 lr, lr, \word, ror #8
    str r12, [r0, #\at]
    str lr, [r0, #\at + 8]
    .endm

    .section .ram_code.m33_expand, "ax", %progbits
    .global m33_expand
    .type m33_expand, %function
    .thumb_func
    .balign 4
m33_expand:
    push {r4-r7, lr}
    subs r2, r2, #4
    blt 2f
1:
    ldr r4, [r1], #4
    ldr r5, [r1], #4
    ldr r6, [r1], #4
    ldr r7, [r1], #4
    group r4, 0
    group r5, 16
    group r6, 32
    group r7, 48
    adds r0, r0, #64
    subs r2, r2, #4
    bge 1b
2:
    adds r2, r2, #4
    beq 4f
3:
    ldr r4, [r1], #4
    group r4, 0
    adds r0, r0, #16
    subs r2, r2, #1
    bne 3b
4:
    pop {r4-r7, pc}
    .size m33_expand, . - m33_expand

/* void m33_expand_pairs(uint32_t *to, const int8_t *from, int32_t groups, uint32_t offset,
 *                       int32_t pairs, int32_t pixel_step): the same of pairs of pixels, which lie
 * pixel_step bytes apart. Groups and pairs are at least one. */
    .macro group_of_pair
    ldr r6, [r1], #4
    ldr r7, [r4], #4
    sxtab16 r8, r3, r6
    sxtab16 r12, r3, r7
    sxtab16 r8, r8, r6
    sxtab16 r12, r12, r7
    str r8, [r0], #4
    str r12, [r0], #4
    sxtab16 r8, r3, r6, ror #8
    sxtab16 r12, r3, r7, ror #8
    sxtab16 r8, r8, r6, ror #8
    sxtab16 r12, r12, r7, ror #8
    str r8, [r0], #4
    str r12, [r0], #4
    .endm

    .section .ram_code.m33_expand_pairs, "ax", %progbits
    .global m33_expand_pairs
    .type m33_expand_pairs, %function
    .thumb_func
    .balign 4
m33_expand_pairs:
    push {r4-r11, lr}
    ldr r10, [sp, #36]                        /* pairs */
    ldr r11, [sp, #40]                        /* pixel_step */
1:
    add r4, r1, r11
    add r9, r1, r11, lsl #1
    subs r5, r2, #2
    blt 3f
2:
    group_of_pair
    group_of_pair
    subs r5, r5, #2
    bge 2b
3:
    adds r5, r5, #2
    beq 4f
    group_of_pair
4:
    mov r1, r9
    subs r10, r10, #1
    bne 1b
    pop {r4-r11, pc}
    .size m33_expand_pairs, . - m33_expand_pairs

/* uint32_t *m33_widen(uint32_t *to, const int8_t *const rows[4], int32_t groups): the weights of 4
 * channels, groups of 4 taps: for each pair of taps a word of each channel. At least one group; the
 * rows may lie at any address. To the end of what was written. */
    .section .ram_code.m33_widen, "ax", %progbits
    .global m33_widen
    .type m33_widen, %function
    .thumb_func
    .balign 4
m33_widen:
    push {r4-r11, lr}
    ldm r1, {r4-r7}
1:
    ldr r8, [r4], #4
    ldr r9, [r5], #4
    ldr r10, [r6], #4
    ldr r11, [r7], #4
    sxtb16 r1, r8
    sxtb16 r3, r9
    sxtb16 r12, r10
    sxtb16 lr, r11
    stm r0!, {r1, r3, r12, lr}
    sxtb16 r8, r8, ror #8
    sxtb16 r9, r9, ror #8
    sxtb16 r10, r10, ror #8
    sxtb16 r11, r11, ror #8
    stm r0!, {r8-r11}
    subs r2, r2, #1
    bne 1b
    pop {r4-r11, pc}
    .size m33_widen, . - m33_widen
