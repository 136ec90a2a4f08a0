/* SPDX-License-Identifier: Apache-2.0 */
/* The SPI flash of a Pico: a Winbond W25QxxJV behind the SSI.
 *
 * Modelled is what boot code asks of it: identity, status registers with the quad-enable bit, plain
 * and quad reads, and continuous read mode, in which the part takes an address where it otherwise
 * takes a command. Erase and program go through the boot ROM's functions (rom_functions.c), so
 * their commands are refused here. Section numbers are those of the W25Q16JV data sheet. */
#include "chip.h"
#include <string.h>

enum command {                                  /* 8.1.2, instruction set table */
    WRITE_STATUS_1 = 0x01, READ_DATA = 0x03, WRITE_DISABLE = 0x04, READ_STATUS_1 = 0x05,
    WRITE_ENABLE = 0x06, WRITE_STATUS_2 = 0x31, READ_STATUS_2 = 0x35, READ_UNIQUE_ID = 0x4b,
    VOLATILE_WRITE_ENABLE = 0x50, READ_JEDEC_ID = 0x9f, FAST_READ_DUAL_IO = 0xbb,
    FAST_READ_QUAD_IO = 0xeb, NO_OPERATION = 0xff
};
enum { STATUS1_BUSY = 1 << 0, STATUS1_WEL = 1 << 1, STATUS1_WRITABLE = 0xfc, STATUS2_QE = 1 << 1 };
enum { ADDRESS_BYTES = 3, UNIQUE_ID_DUMMIES = 4, UNIQUE_ID_BYTES = 8 };
enum { MANUFACTURER_WINBOND = 0xef, MEMORY_TYPE_W25Q = 0x40, WRITE_STATUS_NS = 10000000 };
enum { MODE_BITS = 8, ADDRESS_BITS = 24 };

/* Parts on a Pico leave the factory with QE set. */
void spi_flash_power_on(machine *m)
{
    struct spi_flash *f = &m->chip->spi_flash;
    f->status1 = 0;
    f->busy_until_ns = 0;
    f->continuous = 0;
    f->write_enabled = false;
    f->count = 0;
}

/* Mode bits M5-4 = 10 keep a part in continuous read (8.2.9, 8.2.11); A0h has them. */
bool spi_flash_mode_is_continuous(uint8_t mode)
{
    return (mode & 0x30) == 0x20;
}

bool spi_flash_has_quad(const machine *m)
{
    return m->chip->spi_flash.status2 & STATUS2_QE;
}

static uint8_t byte_at(const machine *m, uint32_t address)
{
    return m->flash[address & (m->flash_bytes - 1)];
}

static bool busy(const machine *m)
{
    return chip_time_ns(m) < m->chip->spi_flash.busy_until_ns;
}

static uint8_t capacity_code(const machine *m)
{
    return (uint8_t)__builtin_ctz(m->flash_bytes);
}

void spi_flash_select(machine *m)
{
    struct spi_flash *f = &m->chip->spi_flash;
    f->count = 0;
    f->address = 0;
    f->all_ones = true;
}

static void write_status(machine *m)
{
    struct spi_flash *f = &m->chip->spi_flash;
    uint32_t arguments = f->count - 1;
    if (!f->write_enabled)
        return;
    if (f->command == WRITE_STATUS_2)
        f->status2 = f->argument[0];
    else
        f->status1 = f->argument[0] & STATUS1_WRITABLE;
    if (f->command == WRITE_STATUS_1 && arguments >= 2)
        f->status2 = f->argument[1];
    f->write_enabled = false;
    f->busy_until_ns = chip_time_ns(m) + WRITE_STATUS_NS;
}

/* Commands without an answer take effect when chip select rises. */
void spi_flash_deselect(machine *m)
{
    struct spi_flash *f = &m->chip->spi_flash;
    if (f->count == 0)
        return;
    if (f->continuous) {
        /* All four lines high through the mode bits end continuous read (8.2.20). */
        if (f->all_ones)
            f->continuous = 0;
    } else if (f->command == WRITE_ENABLE || f->command == VOLATILE_WRITE_ENABLE) {
        f->write_enabled = true;
    } else if (f->command == WRITE_DISABLE) {
        f->write_enabled = false;
    } else if ((f->command == WRITE_STATUS_1 || f->command == WRITE_STATUS_2) && f->count >= 2) {
        write_status(m);
    }
    f->count = 0;
}

/* Byte n of an answer, the command being byte 0. */
static uint8_t answer(machine *m, uint32_t n, uint8_t out)
{
    struct spi_flash *f = &m->chip->spi_flash;
    switch (f->command) {
    case READ_STATUS_1:
        return (uint8_t)(f->status1 | (busy(m) ? STATUS1_BUSY : 0)
                         | (f->write_enabled ? STATUS1_WEL : 0));
    case READ_STATUS_2:
        return f->status2;
    case READ_JEDEC_ID:
        return n == 1   ? MANUFACTURER_WINBOND
               : n == 2 ? MEMORY_TYPE_W25Q
               : n == 3 ? capacity_code(m)
                        : 0;
    case READ_UNIQUE_ID:
        n -= 1 + UNIQUE_ID_DUMMIES;             /* wraps to a large number during the dummies */
        return n < UNIQUE_ID_BYTES ? f->unique_id[n] : 0;
    case READ_DATA:
        if (n <= ADDRESS_BYTES) {
            f->address = f->address << 8 | out;
            return 0;
        }
        return byte_at(m, f->address++);
    case WRITE_STATUS_1: case WRITE_STATUS_2:
        if (n <= sizeof f->argument)
            f->argument[n - 1] = out;
        return 0;
    default:
        return 0;
    }
}

static bool known(uint8_t command)
{
    static const uint8_t commands[] = {
        WRITE_STATUS_1, READ_DATA, WRITE_DISABLE, READ_STATUS_1, WRITE_ENABLE, WRITE_STATUS_2,
        READ_STATUS_2, READ_UNIQUE_ID, VOLATILE_WRITE_ENABLE, READ_JEDEC_ID, NO_OPERATION};
    return memchr(commands, command, sizeof commands) != NULL;
}

uint8_t spi_flash_exchange(machine *m, uint8_t out)
{
    struct spi_flash *f = &m->chip->spi_flash;
    uint32_t n = f->count++;
    f->all_ones &= out == 0xff;
    if (f->continuous) {
        if (!f->all_ones)
            machine_strict(m, "SPI byte %02Xh while the flash is in continuous read mode: it takes "
                              "it for an address; send FFh first", out);
        return 0xff;
    }
    if (n == 0) {
        f->command = out;
        if (!known(out))
            machine_strict(m, "SPI flash command %02Xh is not modelled", out);
        else if (busy(m) && out != READ_STATUS_1 && out != READ_STATUS_2)
            machine_strict(m, "SPI flash command %02Xh while a status register is being written",
                           out);
        return 0xff;
    }
    return answer(m, n, out);
}

/* A read with address and data on two or four lines; `address_bits` counts the mode bits too.
 * Instruction 0: none was sent, the part has to be in continuous mode. */
void spi_flash_fast_read(machine *m, uint8_t instruction, uint32_t address_and_mode,
                         unsigned address_bits, uint8_t *to, uint32_t length)
{
    struct spi_flash *f = &m->chip->spi_flash;
    memset(to, 0xff, length);
    if (instruction && f->continuous) {
        machine_strict(m, "read command %02Xh while the flash is in continuous read mode",
                       instruction);
        return;
    }
    if (!instruction && !f->continuous) {
        machine_strict(m, "read without a command, but the flash is not in continuous read mode");
        return;
    }
    uint8_t command = instruction ? instruction : f->continuous;
    if (command != FAST_READ_QUAD_IO && command != FAST_READ_DUAL_IO) {
        machine_strict(m, "SPI flash read command %02Xh is not modelled", command);
        return;
    }
    if (command == FAST_READ_QUAD_IO && !spi_flash_has_quad(m)) {
        machine_strict(m, "quad read EBh while QE in status register 2 is 0");
        return;
    }
    bool has_mode = address_bits == ADDRESS_BITS + MODE_BITS;
    uint32_t address = has_mode ? address_and_mode >> MODE_BITS : address_and_mode;
    bool stays = has_mode && spi_flash_mode_is_continuous((uint8_t)address_and_mode);
    f->continuous = stays ? command : 0;
    for (uint32_t i = 0; i < length; i++)
        to[i] = byte_at(m, address + i);
}
