/* SPDX-License-Identifier: Apache-2.0 */
/* The flash chip's 64-bit unique id (command 4Bh), which is the board's identity.
 *
 * While the SSI talks to the flash directly nothing can be fetched from it: this file's code and
 * its constants are in SRAM, interrupts are off, and a copy of boot2 restores the quad
 * continuous read. Every frame sent is read back by count; a receive FIFO is never drained
 * "until empty". */
#include "chip.h"

enum {
    FLASH_READ_UNIQUE_ID = 0x4b,
    DUMMY_BYTES = 4,
    ID_BYTES = 8,
    MODE_NOT_CONTINUOUS = 0xff,               /* address 0, M5-4 = 11: a command comes next */
    BOOT2_WORDS = 64,
    SSI_BAUDR_SLOW = 6
};

ALWAYS_INLINE void ssi_configure(uint32_t ctrlr0, uint32_t spi_ctrlr0)
{
    SSI_SSIENR = 0;                           /* also empties both FIFOs */
    SSI_BAUDR = SSI_BAUDR_SLOW;
    SSI_CTRLR0 = ctrlr0;
    SSI_CTRLR1 = 0;
    SSI_SPI_CTRLR0 = spi_ctrlr0;
    SSI_SSIENR = 1;
}

ALWAYS_INLINE void ssi_wait_sent(void)
{
    while ((SSI_SR & SSI_SR_TFE) == 0) {
    }
    while ((SSI_SR & SSI_SR_BUSY) != 0) {
    }
}

/* Chip select follows the transmit FIFO, and would rise whenever software is late. */
ALWAYS_INLINE void chip_select_override(uint32_t outover)
{
    IO_QSPI_GPIO_QSPI_SS_CTRL =
        (IO_QSPI_GPIO_QSPI_SS_CTRL & ~(uint32_t)GPIO_CTRL_OUTOVER_MASK) | outover;
}

ALWAYS_INLINE uint8_t ssi_exchange(uint8_t byte)
{
    SSI_DR0 = byte;
    while ((SSI_SR & SSI_SR_RFNE) == 0) {
    }
    return (uint8_t)SSI_DR0;
}

RAM_CODE("read_unique_id")
void read_unique_id(uint8_t id[8])
{
    uint32_t boot2_copy[BOOT2_WORDS];
    const volatile uint32_t *const boot2 = (const volatile uint32_t *)XIP_BASE;
    for (uint32_t word = 0; word < BOOT2_WORDS; word++) {
        boot2_copy[word] = boot2[word];
    }
    const uint32_t primask = interrupts_disable();

    /* One more quad read without an instruction, its mode byte ending the continuous mode. */
    ssi_configure(SSI_CTRLR0_SPI_FRF_QUAD | SSI_CTRLR0_TMOD_EEPROM_READ |
                      31u << SSI_CTRLR0_DFS_32_LSB,
                  SSI_SPI_CTRLR0_TRANS_TYPE_2C2A | SSI_SPI_CTRLR0_ADDR_L_32 |
                      4u << SSI_SPI_CTRLR0_WAIT_CYCLES_LSB);
    SSI_DR0 = MODE_NOT_CONTINUOUS;
    ssi_wait_sent();

    ssi_configure(7u << SSI_CTRLR0_DFS_32_LSB, 0);
    chip_select_override(GPIO_CTRL_OUTOVER_LOW);
    ssi_exchange(FLASH_READ_UNIQUE_ID);
    for (uint32_t byte = 0; byte < DUMMY_BYTES; byte++) {
        ssi_exchange(0);
    }
    for (uint32_t byte = 0; byte < ID_BYTES; byte++) {
        id[byte] = ssi_exchange(0);
    }
    chip_select_override(GPIO_CTRL_OUTOVER_HIGH);
    chip_select_override(0);

    __asm volatile("dsb\n isb" ::: "memory");
    const uintptr_t boot2_entry = (uintptr_t)boot2_copy | 1u;
    ((void (*)(void))boot2_entry)();
    interrupts_restore(primask);
}
