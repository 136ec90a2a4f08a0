/* SPDX-License-Identifier: Apache-2.0 */
/* A call in a window that tells whether the callee keeps r4 to r11, as every function has to.
 *
 * What the caller of the window plants in them stays there while port_window_begin and
 * port_window_end run, which keep them too: so they are planted before the one and looked at after
 * the other, and the window holds the call alone. Only its argument and its address are moved to
 * where a call has them, from r4 and r5, where they are planted.
 *
 * void call_in_window(struct planted_call *call): r0. From SRAM. */
    .syntax unified
    .thumb

/* struct planted_call of call.c */
#define CALL_CONDITIONS 0
#define CALL_WINDOW 4
#define CALL_PLANTED 8
#define CALL_FOUND 40

    .section .ram_code.call_in_window, "ax", %progbits
    .balign 4
    .global call_in_window
    .type call_in_window, %function
    .thumb_func
call_in_window:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    ldr r3, [r0, #CALL_WINDOW]
    push {r3-r7}                        /* at the top the window, for its end, */
    push {r0, r1}                       /* and the call; r1 keeps the stack on 8 bytes */

    movs r1, #(CALL_PLANTED + 16)
    adds r1, r0, r1
    ldmia r1!, {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    movs r1, #CALL_PLANTED
    adds r1, r0, r1
    ldmia r1!, {r4-r7}

    ldr r0, [r0, #CALL_CONDITIONS]
    bl port_window_begin
    mov r0, r4
    blx r5
    ldr r0, [sp, #8]
    bl port_window_end

    ldr r0, [sp]
    movs r1, #CALL_FOUND
    adds r0, r0, r1
    stmia r0!, {r4-r7}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    stmia r0!, {r4-r7}

    add sp, #12
    pop {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}
    .size call_in_window, . - call_in_window
