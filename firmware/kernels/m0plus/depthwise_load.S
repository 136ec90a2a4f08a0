/* SPDX-License-Identifier: Apache-2.0 */
/* Cortex-M0+: rows of one channel of the input to words of the ring (depthwise_row.S). */
    .syntax unified
    .cpu cortex-m0plus
    .thumb

/* struct row of depthwise.c */
#define ROW_PIXEL_BYTES 16
#define ROW_FROM 92
#define ROW_INPUT_BYTES 96
#define ROW_FIRST 100
#define ROW_COUNT 108
#define ROW_TO 112

/* The next scalar of a channel. zero: a register that is it. */
.macro SCALAR to, zero, step
    ldrsb \to, [r0, \zero]
    add r0, \step
.endm

/* r4: the struct row. To r0 where the next input row begins; r1 is used up. */
.macro NEXT_ROW
    ldr r0, [r4, #ROW_FROM]
    ldr r1, [r4, #ROW_INPUT_BYTES]
    adds r1, r0, r1
    str r1, [r4, #ROW_FROM]
.endm

/* The next input row to the ring's row r6; r4: the struct row. */
    .section .ram_code.m0plus_depthwise_load, "ax", %progbits
    .balign 4
    .global m0plus_depthwise_next_s1
    .thumb_func
m0plus_depthwise_next_s1:
    NEXT_ROW
    ldr r2, [r4, #ROW_FIRST]
    adds r2, r6, r2
    ldr r3, [r4, #ROW_COUNT]
    lsls r3, r3, #2
    adds r3, r2, r3
    ldr r1, [r4, #ROW_PIXEL_BYTES]

/* void m0plus_depthwise_load(const int8_t *from, int32_t step, int32_t *to, int32_t *to_end): every
 * step-th byte to words. */
    .global m0plus_depthwise_load
    .type m0plus_depthwise_load, %function
    .thumb_func
m0plus_depthwise_load:
    push {r4-r7, lr}
    mov r12, r3
    subs r3, #12
    mov r14, r3
    movs r7, #0
    b 2f
1:
    .irp to, r3, r4, r5, r6
    SCALAR \to, r7, r1
    .endr
    stmia r2!, {r3, r4, r5, r6}
2:
    cmp r2, r14
    blo 1b
    b 4f
3:
    SCALAR r3, r7, r1
    stmia r2!, {r3}
4:
    cmp r2, r12
    blo 3b
    pop {r4-r7, pc}

/* As m0plus_depthwise_next_s1. */
    .section .ram_code.m0plus_depthwise_load_2, "ax", %progbits
    .balign 4
    .global m0plus_depthwise_next_s2
    .thumb_func
m0plus_depthwise_next_s2:
    NEXT_ROW
    ldr r2, [r4, #ROW_FIRST]
    adds r2, r6, r2
    str r2, [r4, #ROW_TO]
    ldr r2, [r4, #ROW_FIRST + 4]
    adds r2, r6, r2
    str r2, [r4, #ROW_TO + 4]
    mov r2, r4
    adds r2, #ROW_TO
    ldr r3, [r4, #ROW_COUNT]
    ldr r1, [r4, #ROW_PIXEL_BYTES]

/* void m0plus_depthwise_load_2(const int8_t *from, int32_t step, int32_t *const to[2],
 * int32_t count): every step-th byte, in turn to the words at to[0] and at to[1]. */
    .global m0plus_depthwise_load_2
    .type m0plus_depthwise_load_2, %function
    .thumb_func
m0plus_depthwise_load_2:
    push {r4-r7, lr}
    mov r4, r8
    push {r4}
    mov r8, r1
    mov r12, r3
    ldmia r2!, {r4, r7}
    mov r2, r4
    movs r1, #0
    b 2f
1:
    .irp to, r3, r5, r4, r6
    SCALAR \to, r1, r8
    .endr
    stmia r2!, {r3, r4}
    stmia r7!, {r5, r6}
2:
    mov r3, r12
    subs r3, #4
    mov r12, r3
    bge 1b
    adds r3, #4
    beq 4f
    SCALAR r5, r1, r8
    str r5, [r2]
    subs r3, #1
    beq 4f
    SCALAR r5, r1, r8
    str r5, [r7]
    subs r3, #1
    beq 4f
    ldrsb r5, [r0, r1]
    str r5, [r2, #4]
4:
    pop {r4}
    mov r8, r4
    pop {r4-r7, pc}
