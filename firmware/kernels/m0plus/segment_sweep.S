/* SPDX-License-Identifier: Apache-2.0 */
/* Cortex-M0+: a row of a convolution inside a segment, channel after channel, by the groups of
 * conv_sweep.S. A stream ends with the address of the code here that stores four pixels: planes, where
 * they lie next to each other, or pixels, with all channels between them. The pixels behind the last
 * whole four go by way of four bytes.
 *
 * Registers: as conv_sweep.S; at a group's end r0 columns, r1 output, r2 r6 scratch, r3 multiplier, r4
 * offset, r5 range, r7 guard, r9 bytes from a pixel to the next. Stack: the struct channels. */
    .syntax unified
    .cpu cortex-m0plus
    .thumb

/* struct channels of segment_conv.c */
#define STREAM 0
#define START_LOW 4
#define OUTPUT 12
#define COLUMNS_END 32
#define LOW_HIGH 36
#define EXACT 40
#define EXACT_QUANT 44
#define PIXEL_STEP 60
#define COLUMNS 64
#define CHANNEL 68
#define LEFT 72
#define NEXT_OUTPUT 76
#define CHANNEL_STEP 80
#define OFFSET_BIAS 84
#define KEPT 88
#define KEPT_LEFT 92
#define KEPT_STEP 96
#define PACKED 100
#define ROOM 104
#define STREAM_END 108
#define NEXT_QUAD 112
#define QUANTS_END 116
#define REST 120
#define WHOLE_END 124
#define REST_END 128
#define STORED_STEP 132
#define LAST 136
#define REST_OUTPUT 140
#define QUANTS_KEPT 144
#define KEPT_QUANTS_END 148
#define FRAME 160
#define QUANT_BYTES 12

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

.macro PIXEL form, pixel
    SUM \pixel
    cmp r2, r5
    bhs \form\()_outside_\pixel
    muls r2, r3, r2
    adds r2, r2, r4
    lsls r6, r2, #8
    cmp r6, r7
    blo \form\()_near_\pixel
    asrs r2, r2, #24
\form\()_store_\pixel:
    .ifc \form, planes
    strb r2, [r1, #\pixel]
    .else
    strb r2, [r1]
    add r1, r9
    .endif
.endm

/* Only the lowest byte of r2 is stored. PLANE_BIAS is 128. */
.macro ASIDE form, pixel
\form\()_outside_\pixel:
    cmp r2, #0
    ldr r2, [sp, #LOW_HIGH]
    blt 1f
    lsrs r2, r2, #8
1:
    .ifc \form, planes
    adds r2, #128
    .endif
    b \form\()_store_\pixel
\form\()_near_\pixel:
    SUM \pixel
    mov r6, lr
    bl near_boundary
    mov lr, r6
    b \form\()_store_\pixel
.endm

/* m0plus_segment_planes_end, m0plus_segment_pixels_end, and where the next four pixels begin. */
.macro QUADS form
    .balign 4
    .global m0plus_segment_\form\()_next
    .thumb_func
m0plus_segment_\form\()_next:
\form\()_next:
    mov r7, sp
    ldmia r7!, {r1, r2, r3}
    mov r10, r2
    mov r12, r2
    mov r11, r3
    mov r14, r3
    ldmia r1!, {r2}
    mov pc, r2

    ASIDE \form, 0
    ASIDE \form, 1

    .global m0plus_segment_\form\()_end
    .thumb_func
m0plus_segment_\form\()_end:
    .ifc \form, pixels
    ldr r2, [sp, #PIXEL_STEP]
    mov r9, r2
    .endif
    add r7, sp, #OUTPUT
    ldmia r7, {r1, r3, r4, r5, r7}
    PIXEL \form, 0
    PIXEL \form, 1
    PIXEL \form, 2
    PIXEL \form, 3
    .ifc \form, planes
    adds r1, #4
    .endif
    str r1, [sp, #OUTPUT]
    ldr r2, [sp, #COLUMNS_END]
    cmp r0, r2
    bne \form\()_next
    b quads_made

    ASIDE \form, 2
    ASIDE \form, 3
.endm

    .section .ram_code.m0plus_segment_sweep, "ax", %progbits
    .balign 4
    QUADS planes
    QUADS pixels

/* void m0plus_segment_sweep(const struct part *): what m0plus_segment_set_channels makes of it. */
    .global m0plus_segment_sweep
    .type m0plus_segment_sweep, %function
    .thumb_func
m0plus_segment_sweep:
    push {r4-r7, lr}
    mov r4, r8
    mov r5, r9
    mov r6, r10
    mov r7, r11
    push {r4-r7}
    sub sp, #FRAME
    mov r1, r0
    mov r0, sp
    bl m0plus_segment_set_channels
next_channel:
    ldr r0, [sp, #KEPT_LEFT]
    subs r0, #1
    blo 1f
    str r0, [sp, #KEPT_LEFT]
    ldr r1, [sp, #KEPT]
    str r1, [sp, #STREAM]
    ldr r0, [sp, #KEPT_STEP]
    adds r0, r0, r1
    str r0, [sp, #KEPT]
    b 2f
1:
    ldr r0, [sp, #PACKED]
    ldr r1, [sp, #ROOM]
    str r1, [sp, #STREAM]
    bl m0plus_conv_expand
    str r0, [sp, #PACKED]
    subs r1, #4
    ldr r2, [sp, #STREAM_END]
    str r2, [r1]
2:
    ldr r7, [sp, #CHANNEL]
    ldmia r7!, {r1, r2, r3, r4, r5, r6}
    str r2, [sp, #EXACT]
    ldmia r7!, {r2}
    str r7, [sp, #CHANNEL]
    str r2, [sp, #LOW_HIGH]
    ldr r0, [sp, #OFFSET_BIAS]
    adds r4, r4, r0
    ldr r2, [sp, #NEXT_OUTPUT]
    ldr r0, [sp, #CHANNEL_STEP]
    adds r0, r0, r2
    str r0, [sp, #NEXT_OUTPUT]
    lsls r0, r1, #16
    adds r0, r0, r1
    add r7, sp, #START_LOW
    stmia r7!, {r0-r6}
    ldr r0, [sp, #COLUMNS]
    ldr r2, [sp, #COLUMNS_END]
    cmp r0, r2
    beq quads_made
    ldr r2, [sp, #NEXT_QUAD]
    mov pc, r2

/* r0: where the columns end that have been read, the whole fours' or the rest's. */
quads_made:
    ldr r2, [sp, #REST]
    cmp r2, #0
    bne rest
channel_made:
    ldr r0, [sp, #LEFT]
    subs r0, #1
    str r0, [sp, #LEFT]
    bne next_channel
    add sp, #FRAME
    pop {r4-r7}
    mov r8, r4
    mov r9, r5
    mov r10, r6
    mov r11, r7
    pop {r4-r7, pc}

rest:
    ldr r3, [sp, #REST_END]
    cmp r0, r3
    beq 1f
    str r3, [sp, #COLUMNS_END]
    ldr r1, [sp, #OUTPUT]
    str r1, [sp, #REST_OUTPUT]
    add r1, sp, #LAST
    str r1, [sp, #OUTPUT]
    movs r1, #1
    str r1, [sp, #PIXEL_STEP]
    ldr r3, [sp, #NEXT_QUAD]
    mov pc, r3
1:
    ldr r1, [sp, #WHOLE_END]
    str r1, [sp, #COLUMNS_END]
    ldr r3, [sp, #STORED_STEP]
    str r3, [sp, #PIXEL_STEP]
    ldr r4, [sp, #REST_OUTPUT]
    ldr r5, [sp, #LAST]
1:
    strb r5, [r4]
    lsrs r5, r5, #8
    adds r4, r4, r3
    subs r2, #1
    bne 1b
    b channel_made

/* r2: the sum less the lowest; to r2 the output. Of the others only lr is not kept. */
    .thumb_func
near_boundary:
    push {r0, r1, r3, lr}
    mov r0, r12
    push {r0, r1}
    ldr r0, [sp, #24 + LEFT]
    ldr r1, [sp, #24 + QUANTS_KEPT]
    cmp r0, r1
    bls 1f
    movs r1, #QUANT_BYTES
    muls r0, r1, r0
    ldr r1, [sp, #24 + QUANTS_END]
    b 2f
1:
    lsls r0, r0, #3
    ldr r1, [sp, #24 + KEPT_QUANTS_END]
2:
    subs r1, r1, r0
    str r1, [sp, #24 + EXACT_QUANT]
    add r1, sp, #24 + EXACT
    mov r0, r2
    bl m0plus_exact
    mov r2, r0
    pop {r0, r1}
    mov r12, r0
    pop {r0, r1, r3, pc}

/* const int8_t *m0plus_segment_expand(const int8_t *packed, uint32_t *stream, uint32_t end): a channel's
 * groups to a stream that ends with that address; to the next channel's. */
    .section .ram_code.m0plus_segment_expand, "ax", %progbits
    .balign 4
    .global m0plus_segment_expand
    .type m0plus_segment_expand, %function
    .thumb_func
m0plus_segment_expand:
    push {r2, r4, lr}
    bl m0plus_conv_expand
    pop {r2}
    subs r1, #4
    str r2, [r1]
    pop {r4, pc}
