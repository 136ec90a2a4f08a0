/* SPDX-License-Identifier: Apache-2.0 */
/* The flash functions of the boot ROMs (RP2040 data sheet 2.8.3.1.4, RP2350 data sheet 5.4), in C.
 *
 * Cycles: flash_exit_xip contains two delay loops of 2,048 turns, the others cost about what their
 * instructions would. Erase and program take the typical times of a W25Q16JV (its data sheet, 9.6):
 * 45 ms a 4 KB sector, 150 ms a block of 64 KB (other block sizes in proportion), 0.4 ms a page of
 * 256 bytes. They pass in one step, with interrupts held off as long as that. */
#include "model.h"
#include "rom.h"
#include <string.h>

enum { CONNECT_CYCLES = 100, EXIT_XIP_CYCLES = 13000, FLUSH_CYCLES = 1100,
       ENTER_CMD_XIP_CYCLES = 50 };
enum { FLASH_SECTOR = 4096, FLASH_BLOCK = 65536, FLASH_PAGE = 256 };
static const uint64_t SECTOR_ERASE_NS = 45000000, BLOCK_ERASE_NS = 150000000,
                      PAGE_PROGRAM_NS = 400000, NS_PER_SECOND = 1000000000;

enum { PADS_SCLK = 0x04, PADS_SD0 = 0x08, PADS_SD1 = 0x0c, PADS_SD2 = 0x10, PADS_SD3 = 0x14 };
enum { PAD_PUE = 1 << 3, PAD_PDE = 1 << 2, PAD_ISO = 1 << 8 };

static void spend_ns(machine *m, uint64_t ns)
{
    m->cycles += (uint64_t)((uint128)ns * chip_clk_sys_hz(m) / NS_PER_SECOND);
}

/* IF. The pads of the RP2350 come out of reset isolated. */
void rom_flash_connect(machine *m)
{
    const struct model *model = m->chip->model;
    uint32_t blocks = 1u << model->reset_io_qspi | 1u << model->reset_pads_qspi;
    chip_reset_blocks(m, blocks);
    resets_release(m, blocks);
    for (unsigned pin = 0; pin < QSPI_PINS; pin++) {
        m->chip->plain[PLAIN_IO_QSPI][(model->qspi_ctrl + 8 * pin) / 4] = 0;   /* FUNCSEL: XIP */
        if (model->pads_isolate)
            m->chip->plain[PLAIN_PADS_QSPI][PADS_SCLK / 4 + pin] &= ~(uint32_t)PAD_ISO;
    }
    model->flash_pins_changed(m);
    m->cycles += CONNECT_CYCLES;
}

/* EX */
void rom_flash_exit_xip(machine *m)
{
    uint32_t *pads = m->chip->plain[PLAIN_PADS_QSPI];
    uint32_t pulled_up = (pads[PADS_SD0 / 4] & ~(uint32_t)PAD_PDE) | PAD_PUE;
    pads[PADS_SD1 / 4] = pads[PADS_SD0 / 4];
    pads[PADS_SD2 / 4] = pads[PADS_SD3 / 4] = pulled_up;
    m->chip->spi_flash.continuous = 0;
    m->chip->model->flash_exit_xip(m);
    m->cycles += EXIT_XIP_CYCLES;
}

/* FC */
void rom_flash_flush_cache(machine *m)
{
    m->chip->model->flash_flush(m);
    m->cycles += FLUSH_CYCLES;
}

/* CX */
void rom_flash_enter_cmd_xip(machine *m)
{
    m->chip->model->flash_enter_cmd_xip(m);
    m->cycles += ENTER_CMD_XIP_CYCLES;
}

static bool range_is_wrong(machine *m, const char *what, uint32_t offset, uint32_t count,
                           uint32_t unit)
{
    if (!m->chip->model->flash_serial_ready(m))
        machine_strict(m, "%s without connect_internal_flash and flash_exit_xip before it", what);
    else if (offset % unit || count % unit || offset > m->flash_bytes
             || count > m->flash_bytes - offset)
        machine_strict(m, "%s(0x%x, %u): not whole units of %u bytes within the flash of %u", what,
                       (unsigned)offset, (unsigned)count, (unsigned)unit, (unsigned)m->flash_bytes);
    else
        return false;
    return true;
}

/* ---- a part that is broken (chip.c, options) ---- */
static bool skipped(uint32_t number, uint32_t first, uint32_t count)
{
    return number >= first && number - first < count;
}

static void keep_stuck_bits(machine *m, uint32_t offset, uint32_t count)
{
    const struct flash_defects *d = &m->chip->defects;
    if (d->stuck_bits && d->stuck_offset >= offset && d->stuck_offset - offset < count) {
        uint8_t *byte = m->flash + d->stuck_offset;
        *byte = (uint8_t)((*byte & ~d->stuck_bits) | (d->stuck_value & d->stuck_bits));
    }
}

static void forget_flash(machine *m, uint32_t offset, uint32_t count)
{
    code_changed(m, XIP_BASE + offset, count);
}

/* Block size: of what one command erases, for the parts of the range that hold a whole one. */
static uint64_t erase_ns(uint32_t offset, uint32_t count, uint32_t block_size)
{
    uint64_t ns = 0;
    for (uint32_t end = offset + count; offset < end;) {
        bool block = block_size > FLASH_SECTOR && !(offset & (block_size - 1))
                     && end - offset >= block_size;
        ns += block ? BLOCK_ERASE_NS * block_size / FLASH_BLOCK : SECTOR_ERASE_NS;
        offset += block ? block_size : FLASH_SECTOR;
    }
    return ns;
}

void rom_flash_erase(machine *m, uint32_t offset, uint32_t count, uint32_t block_size)
{
    if (range_is_wrong(m, "flash_range_erase", offset, count, FLASH_SECTOR))
        return;
    struct flash_defects *d = &m->chip->defects;
    if (!d->is_protected && !skipped(d->erases, d->skip_erase, d->skip_erases))
        memset(m->flash + offset, 0xff, count);
    d->erases++;
    keep_stuck_bits(m, offset, count);
    forget_flash(m, offset, count);
    spend_ns(m, erase_ns(offset, count, block_size));
}

void rom_flash_program(machine *m, uint32_t offset, uint32_t from, uint32_t count)
{
    if (range_is_wrong(m, "flash_range_program", offset, count, FLASH_PAGE))
        return;
    struct flash_defects *d = &m->chip->defects;
    for (uint32_t i = 0; i < count; i++) {
        if (!d->is_protected && !skipped(d->pages, d->skip_page, d->skip_pages))
            m->flash[offset + i] &= (uint8_t)bus_load(m, from + i, 1);
        d->pages += i % FLASH_PAGE == FLASH_PAGE - 1;
    }
    keep_stuck_bits(m, offset, count);
    forget_flash(m, offset, count);
    spend_ns(m, count / FLASH_PAGE * PAGE_PROGRAM_NS);
}

/* RE: offset, count, block size, and the command that erases a block */
void rom_flash_range_erase(machine *m)
{
    rom_flash_erase(m, m->r[0], m->r[1], m->r[2]);
}

/* RP: offset, source, count */
void rom_flash_range_program(machine *m)
{
    rom_flash_program(m, m->r[0], m->r[1], m->r[2]);
}
