/* SPDX-License-Identifier: Apache-2.0 */
/* Cortex-M0+: four pixels of a row of planes to columns (conv_sweep.S). */
    .syntax unified
    .cpu cortex-m0plus
    .thumb

/* Pixels 0 and 1 to a word, then 2 and 3. r3 is 0, r1 is 2. */
.macro CHANNEL
    ldrb r4, [r0, #1]
    lsls r4, r4, #24
    asrs r4, r4, #8
    ldrsb r5, [r0, r3]
    adds r4, r4, r5
    ldrb r5, [r0, #3]
    lsls r5, r5, #24
    asrs r5, r5, #8
    ldrsb r6, [r0, r1]
    adds r5, r5, r6
    stmia r7!, {r4, r5}
    add r0, r8
.endm

/* int32_t *m0plus_segment_gather_planes(const int8_t *from, int32_t channel_step, int32_t count,
 * int32_t *to): to the end of what was written. */
    .section .ram_code.m0plus_segment_gather_planes, "ax", %progbits
    .balign 4
    .global m0plus_segment_gather_planes
    .type m0plus_segment_gather_planes, %function
    .thumb_func
m0plus_segment_gather_planes:
    push {r4-r7, lr}
    mov r4, r8
    push {r4}
    mov r8, r1
    mov r7, r3
    movs r1, #2
    movs r3, #0
1:
    CHANNEL
    subs r2, #1
    bne 1b
    mov r0, r7
    pop {r4}
    mov r8, r4
    pop {r4-r7, pc}
