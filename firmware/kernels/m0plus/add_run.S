/* SPDX-License-Identifier: Apache-2.0 */
/* Cortex-M0+: the loop of add.c.
 *
 * Registers: r0 a's end, r1 b's end, r2 output's end, r3 minus the scalars that are left, r4 r5
 * factors, r8 offset, r9 guard, r10 low, r11 high. */
    .syntax unified
    .cpu cortex-m0plus
    .thumb

/* struct addition of add.c */
#define ADD_PACKED 16
#define ADD_LOW 32
#define ADD_CALL 40

    .section .ram_code.m0plus_add_run, "ax", %progbits
    .balign 4
    .global m0plus_add_run
    .type m0plus_add_run, %function
    .thumb_func
m0plus_add_run:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r0, r4-r7}
    mov r7, r0
    ldmia r7!, {r0, r1, r2, r3, r4, r5, r6}
    mov r8, r6
    ldmia r7!, {r6}
    mov r9, r6
    ldmia r7!, {r6}
    mov r10, r6
    ldmia r7!, {r6}
    mov r11, r6
    b add_next

add_near:
    push {r0, r1, r2, r3}
    ldrsb r6, [r0, r3]
    ldrsb r1, [r1, r3]
    ldr r2, [sp, #16]
    ldr r2, [r2, #ADD_CALL]
    mov r0, r6
    bl m0plus_add_exact
    mov r6, r0
    pop {r0, r1, r2, r3}
    b add_store
add_low:
    mov r6, r10
    b add_store
add_high:
    mov r6, r11
    b add_store

add_next:
    ldrsb r6, [r0, r3]
    ldrsb r7, [r1, r3]
    muls r6, r4, r6
    muls r7, r5, r7
    adds r6, r6, r7
    add r6, r8
    lsls r7, r6, #12
    cmp r7, r9
    blo add_near
    asrs r6, r6, #20
    cmp r6, r10
    blt add_low
    cmp r6, r11
    bgt add_high
add_store:
    strb r6, [r2, r3]
    adds r3, #1
    bne add_next
    pop {r0, r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}
