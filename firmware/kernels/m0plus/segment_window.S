/* SPDX-License-Identifier: Apache-2.0 */
/* Cortex-M0+: a row of a depthwise convolution, channel after channel, four outputs at a time, from the
 * bytes of the rows of its window, for kernels of 3, 5 and 7 and strides of 1 and 2.
 *
 * The bytes are the scalars plus 128, since only unsigned ones are loaded at an offset; padding beside
 * the image lies there too. A row of the window goes once over the bytes of four outputs: each is
 * multiplied by the weight of every output that it is a tap of. Kernels of 7 go twice, with four weights
 * and with three.
 *
 * Rows of taps that are above or below the image are left out: the code is entered at one of
 * NAME_entries, the n-th of which leaves out n of the k rows.
 *
 * Outputs go to bytes, from the fourth one to the first, or, where STEP is below 0, to columns of
 * conv_sweep.S: two words, pixels 0 and 1, and 2 and 3.
 *
 * Registers: r0 row, r1 a product, r2-r6 weights, r7 a byte, r8-r11 sums, r12 bytes from the start
 * of a row of the first channel to the four outputs' taps, r14 the next row or weights. Stack: the
 * struct window. */
    .syntax unified
    .cpu cortex-m0plus
    .thumb

/* struct window of segment_depthwise.c */
#define START 0
#define WINDOW_ROWS 4
#define STEP 12
#define SCALE 16
#define OUTPUT 32
#define PARTIAL 36
#define LAST 40
#define COLUMNS 52
#define LOW_HIGH 56
#define EXACT 60
#define EXACT_QUANT 64
#define CHANNEL 80
#define PACKED 84
#define LEFT 88
#define NEXT_OUTPUT 92
#define CHANNEL_STEP 96
#define OFFSET_BIAS 100
#define BYTES_ABOVE 104
#define REAL_ROWS 108
#define TAPS_BYTES 112
#define OUTSIDE 116
#define ZERO_POINT 120
#define QUANTS_END 124
#define TILE_STEP 128
#define SPREAD_CODE 132
#define FLIP 136
#define QUANTS_KEPT 140
#define KEPT_QUANTS_END 144
#define FRAME 160
#define QUANT_BYTES 12

/* A byte times a weight, added to an output. last: is the byte needed no more? */
.macro PRODUCT weight, sum, last
    .if \last
    muls r7, r\weight, r7
    add r\sum, r7
    .else
    mov r1, r7
    muls r1, r\weight, r1
    add r\sum, r1
    .endif
.endm

.macro BYTE at
    ldrb r7, [r0, #\at]
.endm

/* Taps \first to \first + \count - 1 of a row, with their weights from r2 on. The first ones come
 * behind the row's address. last: where to go if it is 0. */
.macro TAPS first, count, stride, last
    mov r1, r14
    .if \first
    ldmia r1!, {r2, r3, r4}
    .elseif \count == 3
    ldmia r1!, {r0, r2, r3, r4}
    .elseif \count == 4
    ldmia r1!, {r0, r2, r3, r4, r5}
    .else
    ldmia r1!, {r0, r2, r3, r4, r5, r6}
    .endif
    mov r14, r1
    .ifnb \last
    cmp r0, #0
    beq \last
    .endif
    .if \first == 0
    add r0, r12
    .endif
    .set .Lat, 0
    .rept 3 * \stride + \count
    .set .Lleft, 0
    .set .Lsum, 0
    .rept 4
    .set .Ltap, .Lat - .Lsum * \stride
    .if (.Ltap >= 0) && (.Ltap < \count)
    .set .Lleft, .Lleft + 1
    .endif
    .set .Lsum, .Lsum + 1
    .endr
    BYTE %(.Lat + \first)
    .set .Lsum, 0
    .rept 4
    .set .Ltap, .Lat - .Lsum * \stride
    .if (.Ltap >= 0) && (.Ltap < \count)
    .set .Lleft, .Lleft - 1
    PRODUCT %(2 + .Ltap), %(8 + .Lsum), %(.Lleft == 0)
    .endif
    .set .Lsum, .Lsum + 1
    .endr
    .set .Lat, .Lat + 1
    .endr
.endm

/* To r2 output n: PIXELs store it and go on to n - 1, r1 bytes before it; COLUMNs gather two in r1. */
.macro VALUE name, register, number
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
.endm

.macro PIXEL name, register, number
\name\()_\number:
    VALUE \name, \register, \number
    strb r2, [r7]
    subs r7, r7, r1
.endm

.macro COLUMN name, register, number
    VALUE \name, \register, \number
    .if \number & 1
    lsls r1, r2, #16
    .else
    adds r1, r1, r2
    str r1, [r7, #2 * \number]
    .endif
.endm

.macro ASIDE name, register, number
\name\()_outside_\number:
    cmp r2, #0
    ldr r2, [sp, #LOW_HIGH]
    blt 1f
    lsrs r2, r2, #8
1:
    sxtb r2, r2
    b \name\()_store_\number
\name\()_near_\number:
    mov r2, \register
    bl near_boundary
    b \name\()_store_\number
.endm

.macro LABEL name, number
    .thumb_func
\name\()_row_\number:
.endm

.macro ENTRY name, number
    .word \name\()_row_\number
.endm

/* All k rows, from row_0 on; row_k is their end. */
.macro ROWS name, k, stride
    .set .Lnumber, 0
    .altmacro
    .rept \k
    LABEL \name, %.Lnumber
    TAPS 0, \k, \stride
    .set .Lnumber, .Lnumber + 1
    .endr
    LABEL \name, \k
    b sums
    .noaltmacro
.endm

/* Two rows again and again, the address 0 being their end: from row_0 on an even number of them, from
 * row_1 on an odd one. */
.macro TWO_ROWS name, stride
    .altmacro
\name\()_last:
    b sums
    LABEL \name, 0
    TAPS 0, 4, \stride, \name\()_last
    TAPS 4, 3, \stride
    LABEL \name, 1
    TAPS 0, 4, \stride
    TAPS 4, 3, \stride
    b \name\()_row_0
    .noaltmacro
.endm

/* Of each row k weights to words, behind a word that stays. r0: from, r1: the sum of all, r2: rows,
 * r3: to. */
.macro SPREAD registers:vararg
    .irp register, \registers
    ldrb \register, [r0, #.Lat]
    sxtb \register, \register
    adds r1, r1, \register
    .set .Lat, .Lat + 1
    .endr
    stmia r3!, {\registers}
.endm

.macro SPREAD_ROWS k
    .balign 4
    .global m0plus_segment_spread_\k
    .thumb_func
m0plus_segment_spread_\k:
1:
    .set .Lat, 0
    adds r3, #4
    .if \k == 3
    SPREAD r4, r5, r6
    .elseif \k == 5
    SPREAD r4, r5, r6, r7
    SPREAD r4
    .else
    SPREAD r4, r5, r6, r7
    SPREAD r4, r5, r6
    .endif
    adds r0, #\k
    subs r2, #1
    bhi 1b
    b spread
.endm

/* The taps of four outputs; NAME_entries: where it is entered. All in one section, within reach of a B
 * to what follows them. */
.macro WINDOW name, k, stride
    .balign 4
    .global \name\()_entries
\name\()_entries:
    .set .Lnumber, 0
    .altmacro
    .rept \k + 1
    .if \k == 7
    ENTRY \name, %((\k - .Lnumber) & 1)
    .else
    ENTRY \name, %.Lnumber
    .endif
    .set .Lnumber, .Lnumber + 1
    .endr
    .noaltmacro
    .if \k == 7
    TWO_ROWS \name, \stride
    .else
    ROWS \name, \k, \stride
    .endif
.endm

    .section .ram_code.m0plus_segment_window, "ax", %progbits
    .balign 4
    WINDOW m0plus_segment_k3_s1, 3, 1
    WINDOW m0plus_segment_k3_s2, 3, 2
    WINDOW m0plus_segment_k5_s1, 5, 1
    SPREAD_ROWS 3
    SPREAD_ROWS 5
    SPREAD_ROWS 7

/* void m0plus_segment_window(const struct row *): what m0plus_segment_set_window makes of it. */
    .global m0plus_segment_window
    .type m0plus_segment_window, %function
    .thumb_func
m0plus_segment_window:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r4-r7}
    sub sp, #FRAME
    mov r1, r0
    mov r0, sp
    bl m0plus_segment_set_window
next_channel:
    ldr r0, [sp, #PACKED]
    ldr r2, [sp, #TAPS_BYTES]
    adds r2, r2, r0
    str r2, [sp, #PACKED]
    ldr r3, [sp, #BYTES_ABOVE]
    adds r0, r0, r3
    ldr r3, [sp, #WINDOW_ROWS]
    movs r1, #0
    ldr r2, [sp, #REAL_ROWS]
    ldr r4, [sp, #SPREAD_CODE]
    mov pc, r4

/* Rows of taps that fall on padding add their weights times the zero point. */
outside:
    ldr r3, [sp, #TAPS_BYTES]
    ldr r4, [sp, #PACKED]
    subs r4, r4, r3
    movs r5, #0
1:
    subs r3, #1
    ldrsb r6, [r4, r3]
    adds r5, r5, r6
    cmp r3, #0
    bne 1b
    subs r5, r5, r1
    ldr r6, [sp, #ZERO_POINT]
    muls r5, r6, r5
    lsls r1, r1, #7
    subs r1, r1, r5
    b 1f

    .balign 4
    .global m0plus_segment_spread_0
    .thumb_func
m0plus_segment_spread_0:
spread:
    ldr r2, [sp, #OUTSIDE]
    cmp r2, #0
    bne outside
    lsls r1, r1, #7
1:
    ldr r0, [sp, #CHANNEL]
    ldmia r0!, {r2, r3}
    str r3, [sp, #EXACT]
    subs r2, r2, r1
    str r2, [sp, #START]
    ldmia r0!, {r2, r3, r4, r5, r6}
    str r0, [sp, #CHANNEL]
    ldr r1, [sp, #FLIP]
    eors r6, r1
    str r6, [sp, #LOW_HIGH]
    ldr r1, [sp, #OFFSET_BIAS]
    adds r3, r3, r1
    ldr r6, [sp, #NEXT_OUTPUT]
    ldr r1, [sp, #CHANNEL_STEP]
    adds r1, r1, r6
    str r1, [sp, #NEXT_OUTPUT]
    add r7, sp, #SCALE
    stmia r7!, {r2, r3, r4, r5, r6}
    ldmia r7!, {r1, r2, r3, r4}
    subs r7, #16
    adds r1, r1, r4
    adds r2, r2, r4
    adds r3, r3, r4
    stmia r7!, {r1, r2, r3}
    mov r12, r3
tile:
    mov r0, sp
    ldmia r0!, {r2, r3, r5}
    mov r8, r2
    mov r9, r2
    mov r10, r2
    mov r11, r2
    mov r14, r3
    mov pc, r5

sums:
    add r2, sp, #STEP
    ldmia r2!, {r1, r3, r4, r5, r6, r7}
    cmp r1, #0
    bge pixels
    COLUMN columns, r11, 3
    COLUMN columns, r10, 2
    COLUMN columns, r9, 1
    COLUMN columns, r8, 0
    ldr r1, [sp, #STEP]
    subs r7, r7, r1
next_tile:
    str r7, [sp, #OUTPUT]
    ldr r0, [sp, #LAST]
    cmp r12, r0
    beq window_made
    ldr r2, [sp, #TILE_STEP]
    add r12, r2
    b tile

    ASIDE columns, r11, 3
    ASIDE columns, r10, 2
    ASIDE columns, r9, 1
    ASIDE columns, r8, 0

window_made:
    ldr r0, [sp, #LEFT]
    subs r0, #1
    str r0, [sp, #LEFT]
    beq 1f
    b next_channel
1:
    add sp, #FRAME
    pop {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}

pixels:
    ldr r0, [r2]
    cmp r12, r0
    beq partial
    PIXEL pixels, r11, 3
    PIXEL pixels, r10, 2
    PIXEL pixels, r9, 1
    PIXEL pixels, r8, 0
    lsls r1, r1, #3
    adds r7, r7, r1
    b next_tile

    ASIDE pixels, r11, 3
    ASIDE pixels, r10, 2
    ASIDE pixels, r9, 1
    ASIDE pixels, r8, 0

/* The outputs that are left are the last tile's first ones. */
partial:
    ldr r2, [sp, #COLUMNS]
    lsls r0, r1, #2
    subs r7, r7, r0
    mov r0, r2
1:
    adds r7, r7, r1
    subs r0, #1
    bne 1b
    cmp r2, #2
    beq pixels_1
    bgt pixels_2
    b pixels_0

    WINDOW m0plus_segment_k5_s2, 5, 2
    WINDOW m0plus_segment_k7_s1, 7, 1
    WINDOW m0plus_segment_k7_s2, 7, 2

/* r2: the sum less the lowest; to r2 the output. r0 is not kept. */
    .thumb_func
near_boundary:
    push {r1, r3, lr}
    mov r1, r12
    push {r1}
    ldr r0, [sp, #16 + LEFT]
    ldr r1, [sp, #16 + QUANTS_KEPT]
    cmp r0, r1
    bls 1f
    movs r1, #QUANT_BYTES
    muls r0, r1, r0
    ldr r1, [sp, #16 + QUANTS_END]
    b 2f
1:
    lsls r0, r0, #3
    ldr r1, [sp, #16 + KEPT_QUANTS_END]
2:
    subs r1, r1, r0
    str r1, [sp, #16 + EXACT_QUANT]
    add r1, sp, #16 + EXACT
    mov r0, r2
    bl m0plus_exact
    mov r2, r0
    pop {r1}
    mov r12, r1
    pop {r1, r3, pc}
