/* SPDX-License-Identifier: Apache-2.0 */
/* Cortex-M0+: one output channel over many pixels, four at a time, two to a register.
 *
 * A word of the columns holds the taps of two pixels, x0 + x1 * 2^16: a product with a weight,
 * added up, makes two MACs of one MULS and one ADD. The sum of a group of taps is S = s0 + s1 *
 * 2^16 with both s in 16 signed bits, which the packer proves (sum of |w| <= 255). At its end
 *     low += S,  high += (S + 2^15) >> 16        (the shift's carry is the rounding)
 * so that at last s1 = high and s0 = low - high * 2^16, modulo 2^32.
 *
 * The stream of a channel: for each group the address of the code for its size, then its weights as
 * words; at last the address of group_end. Columns: for each tap the word of pixels 0 and 1, then
 * that of pixels 2 and 3; quads of pixels follow each other.
 *
 * Registers: r0 columns, r1 stream, r2 r3 weights, r4-r7 taps, r8 r9 sums of the group, r10 low and
 * r11 high of pixels 0 and 1, r12 low and r14 high of pixels 2 and 3. */
    .syntax unified
    .cpu cortex-m0plus
    .thumb
/* Taps of the largest group: GROUP_MAX of harness/kernels/packers/m0plus.py. */
#define GROUP_MAX 16

/* struct sweep of conv.c */
#define SWEEP_COLUMN 36
#define SWEEP_OUTPUT 12

.macro ONE operation
    ldmia r1!, {r2}
    ldmia r0!, {r4, r5}
    muls r4, r2, r4
    muls r5, r2, r5
    \operation r8, r4
    \operation r9, r5
.endm

.macro TWO operation
    ldmia r1!, {r2, r3}
    ldmia r0!, {r4, r5, r6, r7}
    muls r4, r2, r4
    muls r5, r2, r5
    muls r6, r3, r6
    muls r7, r3, r7
    \operation r8, r4
    \operation r9, r5
    add r8, r6
    add r9, r7
.endm

.macro GROUP size
    .thumb_func
group_\size:
    .if \size - \size / 2 * 2
    ONE mov
    .else
    TWO mov
    .endif
    .rept (\size - 1) / 2
    TWO add
    .endr
    add r10, r8
    mov r3, r8
    movs r2, #0
    asrs r3, r3, #16
    adcs r3, r2
    add r11, r3
    add r12, r9
    mov r3, r9
    asrs r3, r3, #16
    adcs r3, r2
    add r14, r3
    ldmia r1!, {r2}
    mov pc, r2
.endm

/* The sum of one pixel less the channel's lowest unsaturated one, to r2. */
.macro SUM pixel
    .if \pixel == 0
    mov r6, r11
    lsls r2, r6, #16
    mov r6, r10
    subs r2, r6, r2
    .elseif \pixel == 1
    mov r2, r11
    .elseif \pixel == 2
    mov r6, r14
    lsls r2, r6, #16
    mov r6, r12
    subs r2, r6, r2
    .else
    mov r2, r14
    .endif
.endm

/* r0 output, r1 multiplier, r3 offset, r4 range, r5 guard, r8 bytes from a pixel to the next */
.macro PIXEL pixel
    SUM \pixel
    cmp r2, r4
    bhs outside_\pixel
    muls r2, r1, r2
    adds r2, r2, r3
    lsls r6, r2, #8
    cmp r6, r5
    blo near_\pixel
    asrs r2, r2, #24
store_\pixel:
    strb r2, [r0]
    add r0, r8
.endm

/* Off the straight way: r7 points at sweep.column. */
.macro ASIDE pixel
outside_\pixel:
    cmp r2, #0
    blt 1f
    ldr r2, [r7, #12]
    b store_\pixel
1:
    ldr r2, [r7, #8]
    b store_\pixel
near_\pixel:
    SUM \pixel
    mov r6, lr
    bl near_boundary
    mov lr, r6
    b store_\pixel
.endm

    .section .ram_code.m0plus_conv_sweep, "ax", %progbits
    .balign 4

/* void m0plus_conv_sweep(struct sweep *) */
    .global m0plus_conv_sweep
    .type m0plus_conv_sweep, %function
    .thumb_func
m0plus_conv_sweep:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r0, r4-r7}
    ldr r0, [r0, #SWEEP_COLUMN]
next_quad:
    ldr r7, [sp]
    ldmia r7!, {r1, r2, r3}
    mov r10, r2
    mov r12, r2
    mov r11, r3
    mov r14, r3
    ldmia r1!, {r2}
    mov pc, r2

    ASIDE 0
    ASIDE 1

    .thumb_func
group_end:
    mov r9, r0
    ldr r7, [sp]
    adds r7, #SWEEP_OUTPUT
    ldmia r7!, {r0, r1, r3, r4, r5, r6}
    mov r8, r6
    PIXEL 0
    PIXEL 1
    PIXEL 2
    PIXEL 3
    subs r7, #SWEEP_COLUMN - SWEEP_OUTPUT
    str r0, [r7]
    ldr r2, [r7, #28]
    mov r0, r9
    cmp r0, r2
    beq 1f
    b next_quad
1:
    pop {r0, r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}

    ASIDE 2
    ASIDE 3

/* r2: the sum less the lowest; to r2 the output. Of the others only lr, and r6 has the caller's. */
    .thumb_func
near_boundary:
    push {r0, r1, r3, lr}
    mov r0, r12
    push {r0, r1}
    ldr r1, [sp, #24]
    adds r1, #52
    mov r0, r2
    bl m0plus_exact
    mov r2, r0
    pop {r0, r1}
    mov r12, r0
    pop {r0, r1, r3, pc}

    .altmacro
    .set .Lnumber, 1
    .rept GROUP_MAX
    GROUP %.Lnumber
    .set .Lnumber, .Lnumber + 1
    .endr
    .noaltmacro

/* (An ampersand would join names here: .altmacro.)
 *
 * const int8_t *m0plus_conv_expand(const int8_t *packed, uint32_t *stream): a channel's groups,
 * each its size and its weights as bytes, ended by a size of 0, to a stream; to the next channel's.
 * */
.macro FOUR
    movs r2, #0
    ldrsb r2, [r0, r2]
    movs r3, #1
    ldrsb r3, [r0, r3]
    movs r4, #2
    ldrsb r4, [r0, r4]
    movs r5, #3
    ldrsb r5, [r0, r5]
    stmia r1!, {r2-r5}
    adds r0, #4
.endm

.macro EXPAND size
    .thumb_func
expand_\size:
    .set .Lrest, \size - \size / 4 * 4
    .if .Lrest == 0
    FOUR
    .else
    movs r2, #0
    ldrsb r2, [r0, r2]
    .if .Lrest > 1
    movs r3, #1
    ldrsb r3, [r0, r3]
    .endif
    .if .Lrest > 2
    movs r4, #2
    ldrsb r4, [r0, r4]
    .endif
    .if .Lrest == 1
    stmia r1!, {r2}
    .elseif .Lrest == 2
    stmia r1!, {r2, r3}
    .else
    stmia r1!, {r2, r3, r4}
    .endif
    adds r0, #.Lrest
    .endif
    JUMP_BELOW %((\size - 1) / 4 * 4)
.endm

.macro JUMP_BELOW size
    .if \size == 0
    b expand_next
    .else
    b expand_\size
    .endif
.endm

.macro ENTRY size
    .word group_\size
    .word expand_\size
.endm

    .section .ram_code.m0plus_conv_expand, "ax", %progbits
    .balign 4
    .global m0plus_conv_expand
    .type m0plus_conv_expand, %function
    .thumb_func
m0plus_conv_expand:
    push {r4-r6, lr}
    ldr r6, =group_table
expand_next:
    ldrb r2, [r0]
    adds r0, #1
    lsls r2, r2, #3
    adds r2, r2, r6
    ldmia r2!, {r3, r4}
    stmia r1!, {r3}
    mov pc, r4
    .thumb_func
expand_end:
    pop {r4-r6, pc}

    .altmacro
    .set .Lnumber, 1
    .rept GROUP_MAX
    EXPAND %.Lnumber
    .set .Lnumber, .Lnumber + 1
    .endr
    .pool
    .balign 4
group_table:
    .word group_end
    .word expand_end
    .set .Lnumber, 1
    .rept GROUP_MAX
    ENTRY %.Lnumber
    .set .Lnumber, .Lnumber + 1
    .endr
    .noaltmacro

/* int32_t *m0plus_conv_gather(const int8_t *const taps[4], int32_t count, int32_t *to): as many
 * taps of four pixels, which lie next to each other, to columns; to the end of what was written. */
.macro TAP
    ldrsb r5, [r1, r4]
    lsls r5, r5, #16
    ldrsb r6, [r0, r4]
    adds r5, r5, r6
    stmia r7!, {r5}
    ldrsb r5, [r3, r4]
    lsls r5, r5, #16
    ldrsb r6, [r2, r4]
    adds r5, r5, r6
    stmia r7!, {r5}
    adds r4, #1
.endm

    .section .ram_code.m0plus_conv_gather, "ax", %progbits
    .balign 4
    .global m0plus_conv_gather
    .type m0plus_conv_gather, %function
    .thumb_func
m0plus_conv_gather:
    push {r4-r7, lr}
    mov r4, r8
    push {r4}
    mov r8, r1
    mov r7, r2
    ldmia r0!, {r4, r5, r6}
    ldr r3, [r0]
    mov r0, r4
    mov r1, r5
    mov r2, r6
    movs r4, #0
    mov r5, r8
    subs r5, #3
    bls 2f
    mov r12, r5
1:
    TAP
    TAP
    TAP
    TAP
    cmp r4, r12
    blo 1b
2:
    cmp r4, r8
    bhs 4f
3:
    TAP
    cmp r4, r8
    blo 3b
4:
    mov r0, r7
    pop {r4}
    mov r8, r4
    pop {r4-r7, pc}
