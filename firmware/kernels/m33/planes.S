/* SPDX-License-Identifier: Apache-2.0 */
/* Four channels of a row of pixels, from bytes next to each other to a plane of halfwords each. */
    .syntax unified
    .cpu cortex-m33
    .thumb

    /* two pixels, r1 and r1 + r3, to a word of each plane */
    .macro pair at
    ldr r7, [r1]
    ldr r8, [r1, r3]
    add r1, r1, r3, lsl #1
    sxtab16 r9, r5, r7
    sxtab16 r7, r5, r7, ror #8
    sxtab16 r10, r5, r8
    sxtab16 r8, r5, r8, ror #8
    pkhbt r11, r9, r10, lsl #16
    pkhtb r10, r10, r9, asr #16
    pkhbt r12, r7, r8, lsl #16
    pkhtb r8, r8, r7, asr #16
    str r11, [r0]
    str r12, [r0, r4]
    str r10, [r0, r4, lsl #1]
    str r8, [r0, r6]
    add r0, r0, #4
    .endm

/* void m33_split(uint32_t *to, const int8_t *from, int32_t pairs, const struct split *split): pairs
 * of pixels, x plus the offset; at least one pair. The bytes may lie at any address. */
    .section .ram_code.m33_split, "ax", %progbits
    .global m33_split
    .type m33_split, %function
    .thumb_func
    .balign 4
m33_split:
    push {r4-r11, lr}
    ldm r3, {r3-r5}                           /* pixel_step, plane_bytes, offset */
    add r6, r4, r4, lsl #1
    subs r2, r2, #2
    blt 2f
1:
    pair
    pair
    subs r2, r2, #2
    bge 1b
2:
    adds r2, r2, #2
    beq 3f
    pair
3:
    pop {r4-r11, pc}
    .size m33_split, . - m33_split

/* void m33_move_down(uint32_t *to, const uint32_t *from, int32_t words): to a lower address. */
    .section .ram_code.m33_move_down, "ax", %progbits
    .global m33_move_down
    .type m33_move_down, %function
    .thumb_func
    .balign 4
m33_move_down:
    push {r4-r8, lr}
    subs r2, r2, #6
    blt 2f
1:
    ldm r1!, {r3-r8}
    stm r0!, {r3-r8}
    subs r2, r2, #6
    bge 1b
2:
    adds r2, r2, #6
    beq 4f
3:
    ldr r3, [r1], #4
    str r3, [r0], #4
    subs r2, r2, #1
    bne 3b
4:
    pop {r4-r8, pc}
    .size m33_move_down, . - m33_move_down
