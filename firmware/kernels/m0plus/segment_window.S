/* SPDX-License-Identifier: Apache-2.0 */
/* Cortex-M0+: a row of a depthwise convolution of one channel, four outputs at a time, from the bytes
 * of the rows of its window, for kernels of 3, 5 and 7 and strides of 1 and 2.
 *
 * The bytes are the scalars plus 128, since only unsigned ones are loaded at an offset; padding beside
 * the image lies there too. A row of the window goes once over the bytes of four outputs: each is
 * multiplied by the weight of every output that it is a tap of. Kernels of 7 go twice, with four weights
 * and with three.
 *
 * Rows of taps that are above or below the image are left out: the code is entered at one of
 * NAME_entries, the n-th of which leaves out n of the k rows.
 *
 * Registers: r0 row, r1 a product, r2-r6 weights, r7 a byte, r8-r11 sums, r12 bytes from the start
 * of a row of the first channel to the four outputs' taps, r14 the next row or weights. Stack: the
 * struct window_row. */
    .syntax unified
    .cpu cortex-m0plus
    .thumb

/* struct window_row of segment_depthwise.c */
#define ROW_SCALE 12
#define ROW_PARTIAL 36
#define ROW_OUTPUT 32
#define ROW_LAST 40
#define ROW_COLUMNS 44
#define ROW_LOW 48
#define ROW_HIGH 52
#define ROW_EXACT 56
#define ROW_FIRST 76

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

.macro ASIDE name, register, number
\name\()_outside_\number:
    ldr r0, [sp]
    cmp r2, #0
    blt 1f
    ldr r2, [r0, #ROW_HIGH]
    b \name\()_store_\number
1:
    ldr r2, [r0, #ROW_LOW]
    b \name\()_store_\number
\name\()_near_\number:
    mov r2, \register
    ldr r0, [sp]
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
    .noaltmacro
.endm

/* Two rows again and again, the address 0 being their end: from row_0 on an even number of them, from
 * row_1 on an odd one. */
.macro TWO_ROWS name, stride
    .altmacro
\name\()_last:
    b \name\()_sums
    LABEL \name, 0
    TAPS 0, 4, \stride, \name\()_last
    TAPS 4, 3, \stride
    LABEL \name, 1
    TAPS 0, 4, \stride
    TAPS 4, 3, \stride
    b \name\()_row_0
    .noaltmacro
\name\()_sums:
.endm

/* void NAME(struct window_row *) */
.macro WINDOW name, k, stride
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
    ldr r1, [r0, #ROW_FIRST]
    mov r12, r1
\name\()_tile:
    ldmia r0!, {r2, r3, r5}
    mov r8, r2
    mov r9, r2
    mov r10, r2
    mov r11, r2
    mov r14, r3
    mov pc, r5
    .if \k == 7
    TWO_ROWS \name, \stride
    .else
    ROWS \name, \k, \stride
    .endif
    ldr r2, [sp]
    adds r2, #ROW_SCALE
    ldmia r2!, {r1, r3, r4, r5, r6, r7}
    ldr r0, [r2]
    cmp r12, r0
    beq \name\()_partial
    SITE \name, r11, 3
    SITE \name, r10, 2
    SITE \name, r9, 1
    SITE \name, r8, 0
    ldr r0, [sp]
    lsls r1, r1, #3
    adds r7, r7, r1
    str r7, [r0, #ROW_OUTPUT]
    ldr r2, [r0, #ROW_LAST]
    cmp r12, r2
    beq \name\()_end
    movs r2, #4 * \stride
    add r12, r2
    b \name\()_tile

    ASIDE \name, r11, 3
    ASIDE \name, r10, 2
    ASIDE \name, r9, 1
    ASIDE \name, r8, 0

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
    .if \k == 7
    ENTRY \name, %((\k - .Lnumber) & 1)
    .else
    ENTRY \name, %.Lnumber
    .endif
    .set .Lnumber, .Lnumber + 1
    .endr
    .noaltmacro
.endm

    WINDOW m0plus_segment_k3_s1, 3, 1
    WINDOW m0plus_segment_k5_s1, 5, 1
    WINDOW m0plus_segment_k7_s1, 7, 1
    WINDOW m0plus_segment_k3_s2, 3, 2
    WINDOW m0plus_segment_k5_s2, 5, 2
    WINDOW m0plus_segment_k7_s2, 7, 2

/* r2: the sum less the lowest, r0: the struct window_row; to r2 the output. r0 is not kept. */
    .section .ram_code.m0plus_segment_near, "ax", %progbits
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

/* int32_t m0plus_segment_spread(const int8_t *from, int32_t k, int32_t rows, int32_t *to): of each row k
 * weights to words, behind a word that stays; the sum of all. */
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
    .set .Lat, 0
    adds r3, #4
    SPREAD r4, r5, r6
    .if \k > 3
    SPREAD r4, r5
    .endif
    .if \k > 5
    SPREAD r4, r5
    .endif
    adds r0, #\k
    subs r2, #1
    bhi spread_\k
    b 2f
.endm

    .section .ram_code.m0plus_segment_spread, "ax", %progbits
    .balign 4
    .global m0plus_segment_spread
    .type m0plus_segment_spread, %function
    .thumb_func
m0plus_segment_spread:
    push {r4-r6, lr}
    mov r4, r1
    movs r1, #0
    cmp r2, #0
    beq 2f
    cmp r4, #5
    blo spread_3
    bhi spread_7
spread_5:
    SPREAD_ROWS 5
spread_3:
    SPREAD_ROWS 3
spread_7:
    SPREAD_ROWS 7
2:
    mov r0, r1
    pop {r4-r6, pc}
