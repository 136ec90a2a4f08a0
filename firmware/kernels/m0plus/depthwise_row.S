/* SPDX-License-Identifier: Apache-2.0 */
/* Cortex-M0+: rows of one channel's depthwise outputs, four at a time, for kernels of 3, 5 and 7.
 *
 * Input rows lie in a ring, a word a scalar. At stride 1 output c has its taps at words c, c + 1,
 * ... of each row. At stride 2 a row has two phases, the even columns and then the odd ones, and
 * the taps of output c are at words c, c + 1, ... of each phase, even taps first. So four words
 * that follow each other are always a tap of four outputs. The weights of a row come in the order
 * of TAPS_BY_FOUR, or even ones first: depthwise.c has the same orders.
 *
 * Rows of taps that fall on padding are left out: the sums begin with what they add, and the code
 * is entered at one of NAME_entries, the n-th of which leaves out the first n rows; the others are
 * the last ones of the k rows that struct row has.
 *
 * Registers: r0 row, r1 weights, r2 r3 two of them, r4-r7 taps, r8-r11 sums, r12 bytes from a row's
 * start to the four outputs, r14 bytes from the last even tap's end to the first odd one.
 * Stack: the k rows, then the struct row. */
    .syntax unified
    .cpu cortex-m0plus
    .thumb

/* struct row of depthwise.c */
#define ROW_PIXEL_BYTES 16
#define ROW_OUTPUT 36
#define ROW_PARTIAL 40
#define ROW_LAST 44
#define ROW_COLUMNS 48
#define ROW_LOW 52
#define ROW_HIGH 56
#define ROW_EXACT 60
#define ROW_LIST 80
#define ROW_LEFT 84
#define ROW_OUTPUT_STEP 88

.macro MULTIPLY weight
    ldmia r0!, {r4, r5, r6, r7}
    muls r4, \weight, r4
    muls r5, \weight, r5
    muls r6, \weight, r6
    muls r7, \weight, r7
    add r8, r4
    add r9, r5
    add r10, r6
    add r11, r7
.endm

/* The next weight: two are loaded while there are two. */
.macro TAP
    .if .Lspare
    .set .Lspare, 0
    MULTIPLY r3
    .elseif .Lleft > 1
    .set .Lspare, 1
    ldmia r1!, {r2, r3}
    MULTIPLY r2
    .else
    ldmia r1!, {r2}
    MULTIPLY r2
    .endif
    .set .Lleft, .Lleft - 1
.endm

/* In their order. */
.macro TAPS count
    TAP
    .rept \count - 1
    subs r0, #12
    TAP
    .endr
.endm

/* 0 and 4, 1 and 5, and so on: the fifth tap from one is where its loads end. */
.macro TAPS_BY_FOUR k
    .if \k == 3
    TAPS 3
    .elseif \k == 5
    TAP
    TAP
    subs r0, #28
    TAPS 3
    .else
    .rept 3
    TAP
    TAP
    subs r0, #28
    .endr
    TAP
    .endif
.endm

/* Site n stores output n and goes on to n - 1. r1: bytes from a pixel to the next one. */
.macro SITE name, register, number
\name\()_\number:
    mov r2, \register
    cmp r2, r5
    bhs \name\()_outside_\number
    muls r2, r3, r2
    adds r2, r2, r4
    lsls r0, r2, #8
    cmp r0, r6
    blo \name\()_near_\number
    asrs r2, r2, #24
\name\()_store_\number:
    strb r2, [r7]
    subs r7, r7, r1
.endm

.macro ASIDE name, k, register, number
\name\()_outside_\number:
    ldr r0, [sp, #4 * \k]
    cmp r2, #0
    blt 1f
    ldr r2, [r0, #ROW_HIGH]
    b \name\()_store_\number
1:
    ldr r2, [r0, #ROW_LOW]
    b \name\()_store_\number
\name\()_near_\number:
    mov r2, \register
    ldr r0, [sp, #4 * \k]
    bl near_boundary
    b \name\()_store_\number
.endm

/* The k rows move up by one; r6 is the first of them, which is now the last. r4: the struct row. */
.macro ROTATE k
    mov r7, sp
    .if \k == 3
    ldmia r7!, {r0, r1, r2}
    mov r6, r0
    mov r7, sp
    stmia r7!, {r1, r2, r6}
    .elseif \k == 5
    ldmia r7!, {r0, r1, r2, r3, r5}
    mov r6, r0
    mov r7, sp
    stmia r7!, {r1, r2, r3, r5, r6}
    .else
    ldmia r7!, {r0, r1, r2, r3, r5, r6}
    ldr r7, [r7]
    mov r4, sp
    stmia r4!, {r1, r2, r3, r5, r6, r7}
    str r0, [r4]
    ldr r4, [sp, #4 * \k]
    mov r6, r0
    .endif
.endm

.macro LABEL name, number
    .thumb_func
\name\()_row_\number:
.endm

.macro ENTRY name, number
    .word \name\()_row_\number
.endm

/* void NAME(struct row *) */
.macro DEPTHWISE name, k, stride
    .section .ram_code.\name, "ax", %progbits
    .balign 4
    .global \name
    .type \name, %function
    .thumb_func
\name:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r0, r4-r7}
    mov r1, r0
    adds r1, #ROW_LIST
    ldr r1, [r1]
    sub sp, #4 * \k
    mov r0, sp
    ldmia r1!, {r2, r3, r4}
    stmia r0!, {r2, r3, r4}
    .if \k > 3
    ldmia r1!, {r2, r3}
    stmia r0!, {r2, r3}
    .endif
    .if \k > 5
    ldmia r1!, {r2, r3}
    stmia r0!, {r2, r3}
    .endif
    movs r0, #0
    mov r12, r0
\name\()_tile:
    ldr r1, [sp, #4 * \k]
    ldmia r1!, {r2, r3, r4, r5}
    .if \stride == 2
    mov r14, r4
    .endif
    mov r8, r2
    mov r9, r2
    mov r10, r2
    mov r11, r2
    mov r1, r3
    mov pc, r5
    .set .Lnumber, 0
    .altmacro
    .rept \k
    LABEL \name, %.Lnumber
    .set .Lleft, \k
    .set .Lspare, 0
    ldr r0, [sp, #4 * .Lnumber]
    add r0, r12
    .if \stride == 1
    TAPS_BY_FOUR \k
    .else
    TAPS (\k + 1) / 2
    add r0, r14
    TAPS \k / 2
    .endif
    .set .Lnumber, .Lnumber + 1
    .endr
    LABEL \name, \k
    .noaltmacro
    ldr r2, [sp, #4 * \k]
    adds r2, #ROW_PIXEL_BYTES
    ldmia r2!, {r1, r3, r4, r5, r6, r7}
    ldr r0, [r2]
    cmp r12, r0
    beq \name\()_partial
    SITE \name, r11, 3
    SITE \name, r10, 2
    SITE \name, r9, 1
    SITE \name, r8, 0
    ldr r2, [sp, #4 * \k]
    lsls r1, r1, #3
    adds r7, r7, r1
    str r7, [r2, #ROW_OUTPUT]
    ldr r0, [r2, #ROW_LAST]
    cmp r12, r0
    beq \name\()_end
    movs r0, #16
    add r12, r0
    b \name\()_tile

    ASIDE \name, \k, r11, 3
    ASIDE \name, \k, r10, 2
    ASIDE \name, \k, r9, 1
    ASIDE \name, \k, r8, 0

/* The outputs that are left are the last tile's first ones. */
\name\()_partial:
    ldr r2, [r2, #ROW_COLUMNS - ROW_PARTIAL]
    lsls r0, r1, #2
    subs r7, r7, r0
    mov r0, r2
1:
    adds r7, r7, r1
    subs r0, #1
    bne 1b
    cmp r2, #2
    beq \name\()_1
    bgt \name\()_2
    b \name\()_0

\name\()_end:
    mov r4, r2
    ldr r0, [r4, #ROW_LEFT]
    subs r0, #1
    beq \name\()_return
    str r0, [r4, #ROW_LEFT]
    ldr r0, [r4, #ROW_OUTPUT_STEP]
    adds r7, r7, r0
    str r7, [r4, #ROW_OUTPUT]
    .rept \stride
    ROTATE \k
    bl m0plus_depthwise_next_s\stride
    .endr
    movs r0, #0
    mov r12, r0
    b \name\()_tile
\name\()_return:
    add sp, #4 * \k
    pop {r0, r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}

    .balign 4
    .global \name\()_entries
\name\()_entries:
    .set .Lnumber, 0
    .altmacro
    .rept \k + 1
    ENTRY \name, %.Lnumber
    .set .Lnumber, .Lnumber + 1
    .endr
    .noaltmacro
.endm

    DEPTHWISE m0plus_depthwise_k3_s1, 3, 1
    DEPTHWISE m0plus_depthwise_k5_s1, 5, 1
    DEPTHWISE m0plus_depthwise_k7_s1, 7, 1
    DEPTHWISE m0plus_depthwise_k3_s2, 3, 2
    DEPTHWISE m0plus_depthwise_k5_s2, 5, 2
    DEPTHWISE m0plus_depthwise_k7_s2, 7, 2

/* r2: the sum less the lowest, r0: the struct row; to r2 the output. r0 is not kept. */
    .section .ram_code.m0plus_depthwise_near, "ax", %progbits
    .balign 4
    .thumb_func
near_boundary:
    push {r1, r3, r4, lr}
    mov r1, r12
    push {r1, r4}
    mov r1, r0
    adds r1, #ROW_EXACT
    mov r0, r2
    bl m0plus_exact
    mov r2, r0
    pop {r1, r4}
    mov r12, r1
    pop {r1, r3, r4, pc}
