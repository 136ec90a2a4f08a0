/* SPDX-License-Identifier: Apache-2.0 */
/* Second stage of the RP2040's boot: the first 256 bytes of flash.
 *
 * The boot ROM copies them to 0x20041F00, checks the CRC-32 in the last word (put there after
 * linking) and calls them with lr = 0 (RP2040 data sheet 2.8.1). They set the flash up for quad
 * continuous read, EBh with mode byte A0h, and enter the program through its vector table.
 * flash_id.c calls a copy of them with lr != 0; then they return. */
    .syntax unified
    .cpu    cortex-m0plus
    .thumb

    .equ    PADS_QSPI_BASE, 0x40020000
    .equ    GPIO_QSPI_SCLK, 0x04
    .equ    GPIO_QSPI_SD0, 0x08
    .equ    GPIO_QSPI_SD1, 0x0c
    .equ    GPIO_QSPI_SD2, 0x10
    .equ    GPIO_QSPI_SD3, 0x14
    .equ    PAD_8MA_SLEWFAST, 0x21
    .equ    PAD_SCHMITT, 0x02

    .equ    XIP_SSI_BASE, 0x18000000
    .equ    CTRLR0, 0x00
    .equ    CTRLR1, 0x04
    .equ    SSIENR, 0x08
    .equ    BAUDR, 0x14
    .equ    SR, 0x28
    .equ    DR0, 0x60
    .equ    RX_SAMPLE_DLY, 0xf0
    .equ    SPI_CTRLR0, 0xf4
    .equ    SR_BUSY, 1
    .equ    SR_TFE, 4
    .equ    CTRLR0_STANDARD, 7 << 16                        /* 8-bit frames, transmit and receive */
    .equ    CTRLR0_QUAD, (2 << 21) | (31 << 16) | (3 << 8)  /* 32-bit frames, EEPROM read */
    /* 32 bits of address and mode on four lines, 4 wait cycles; the first read sends an 8-bit
       instruction on one line, all later ones none: the mode byte A0h keeps the flash in it */
    .equ    SPI_CTRLR0_FIRST, (4 << 11) | (2 << 8) | (8 << 2) | 1
    .equ    SPI_CTRLR0_CONTINUOUS, (0xa0 << 24) | (4 << 11) | (0 << 8) | (8 << 2) | 2

    .equ    FLASH_WRITE_STATUS, 0x01
    .equ    FLASH_READ_STATUS_1, 0x05
    .equ    FLASH_WRITE_ENABLE, 0x06
    .equ    FLASH_READ_STATUS_2, 0x35
    .equ    FLASH_QUAD_READ, 0xeb
    .equ    STATUS_1_WIP, 1
    .equ    STATUS_2_QE, 2

    .equ    VTOR, 0xe000ed08
    .equ    VECTORS, 0x10000100

    .section .boot2, "ax"
    .global boot2
    .type   boot2, %function
    .thumb_func
boot2:
    push    {lr}
    ldr     r3, =PADS_QSPI_BASE
    movs    r0, #PAD_8MA_SLEWFAST
    str     r0, [r3, #GPIO_QSPI_SCLK]
    ldr     r0, [r3, #GPIO_QSPI_SD0]
    movs    r1, #PAD_SCHMITT            /* without the hysteresis data arrives earlier */
    bics    r0, r1
    str     r0, [r3, #GPIO_QSPI_SD0]
    str     r0, [r3, #GPIO_QSPI_SD1]
    str     r0, [r3, #GPIO_QSPI_SD2]
    str     r0, [r3, #GPIO_QSPI_SD3]

    ldr     r3, =XIP_SSI_BASE           /* r3 stays here */
    movs    r1, #0
    str     r1, [r3, #SSIENR]           /* the other registers may only change while disabled */
    movs    r1, #2
    str     r1, [r3, #BAUDR]            /* SCK = clk_sys / 2 */
    movs    r1, #1
    movs    r2, #RX_SAMPLE_DLY
    str     r1, [r3, r2]                /* sample one clk_sys later than nominal */
    ldr     r1, =CTRLR0_STANDARD
    str     r1, [r3, #CTRLR0]
    movs    r1, #1
    str     r1, [r3, #SSIENR]

    movs    r0, #FLASH_READ_STATUS_2
    bl      read_status
    movs    r1, #STATUS_2_QE
    tst     r0, r1
    bne     quad_enabled
    movs    r0, #FLASH_WRITE_ENABLE
    str     r0, [r3, #DR0]
    bl      wait_idle
    ldr     r0, [r3, #DR0]              /* every byte sent brings one back */
    movs    r0, #FLASH_WRITE_STATUS
    str     r0, [r3, #DR0]
    movs    r0, #0
    str     r0, [r3, #DR0]
    movs    r0, #STATUS_2_QE
    str     r0, [r3, #DR0]
    bl      wait_idle
    ldr     r0, [r3, #DR0]
    ldr     r0, [r3, #DR0]
    ldr     r0, [r3, #DR0]
write_in_progress:
    movs    r0, #FLASH_READ_STATUS_1
    bl      read_status
    movs    r1, #STATUS_1_WIP
    tst     r0, r1
    bne     write_in_progress

quad_enabled:
    movs    r1, #0
    str     r1, [r3, #SSIENR]
    ldr     r1, =CTRLR0_QUAD
    str     r1, [r3, #CTRLR0]
    movs    r1, #0
    str     r1, [r3, #CTRLR1]           /* one frame of data a read */
    ldr     r1, =SPI_CTRLR0_FIRST
    movs    r2, #SPI_CTRLR0
    str     r1, [r3, r2]
    movs    r1, #1
    str     r1, [r3, #SSIENR]
    movs    r1, #FLASH_QUAD_READ
    str     r1, [r3, #DR0]
    movs    r1, #0xa0                   /* address 0, mode A0h */
    str     r1, [r3, #DR0]
    bl      wait_idle
    movs    r1, #0
    str     r1, [r3, #SSIENR]           /* also drops the data of that read */
    ldr     r1, =SPI_CTRLR0_CONTINUOUS
    str     r1, [r3, r2]
    movs    r1, #1
    str     r1, [r3, #SSIENR]

    pop     {r0}
    cmp     r0, #0
    beq     enter_program
    bx      r0
enter_program:
    ldr     r0, =VECTORS
    ldr     r1, =VTOR
    str     r0, [r1]
    ldmia   r0, {r0, r1}
    msr     msp, r0
    bx      r1

/* r0: command. Returns the one byte of answer in r0. Keeps r2, r3. */
    .thumb_func
read_status:
    push    {lr}
    str     r0, [r3, #DR0]
    str     r0, [r3, #DR0]
    bl      wait_idle
    ldr     r0, [r3, #DR0]
    ldr     r0, [r3, #DR0]
    pop     {pc}

/* Until everything written to DR0 is on the wire. TFE first: BUSY rises late. Keeps r2, r3. */
    .thumb_func
wait_idle:
    push    {r0}
1:  ldr     r1, [r3, #SR]
    movs    r0, #SR_TFE
    tst     r1, r0
    beq     1b
    movs    r0, #SR_BUSY
    tst     r1, r0
    bne     1b
    pop     {r0}
    bx      lr

    .ltorg
