/* SPDX-License-Identifier: Apache-2.0 */
/* A chip as its core sees it: dispatch to the blocks of its address map, the atomic aliases and
 * narrow writes (data sheet 2.1), reset, interrupt lines and what happens next by time alone.
 *
 * An access to a register that nobody modelled stops the emulator: it would answer with a guess.
 * An address where the chip has nothing is a bus fault. */
#include "model.h"
#include "rom.h"
#include <stdlib.h>
#include <string.h>

/* ---- accesses ---- */
static uint32_t bytes_of(const block *b)
{
    return b->bytes ? b->bytes : ALIASES_BYTES;
}

/* The block at an address, and how far into it the address is. */
static const block *find(const struct model *model, uint32_t address, uint32_t *offset)
{
    uint32_t slot = (address - APB_BASE) >> model->apb_shift;
    if (address >= APB_BASE && slot < model->apb_blocks) {
        const block *b = &model->apb[slot];
        *offset = address & ((1u << model->apb_shift) - 1);
        return b->name ? b : NULL;
    }
    for (const block *b = model->others; b->name; b++) {
        *offset = address - b->base;
        if (*offset < bytes_of(b))
            return b;
    }
    return NULL;
}

void chip_not_modelled(machine *m, const char *access, const char *name, uint32_t address)
{
    machine_strict(m, "%s 0x%08x: %s+0x%03x is not modelled", access, (unsigned)address, name,
                   (unsigned)(address & (REGISTERS_BYTES - 1)));
}

/* A program that runs from flash while nothing would feed it from there shows itself here, at its
 * first access to a peripheral: the path of ordinary loads and fetches pays nothing for it. */
static void check_code_is_readable(machine *m)
{
    const char *problem = m->chip->xip_problem;
    if (problem && m->r[PC_REGISTER] >> 24 == XIP_BASE >> 24 && !m->halted)
        machine_strict(m, "the program runs from flash, but the %s is not set up for XIP: %s",
                       m->chip->model->flash_interface, problem);
}

static uint32_t narrowed(uint32_t word, uint32_t address, int size)
{
    word >>= 8 * (address & 3);
    return size == 1 ? word & 0xff : size == 2 ? word & 0xffff : word;
}

/* Registers are 32 bits wide: a byte or halfword appears on all lanes of the bus (2.1.4). */
static uint32_t replicated(uint32_t value, int size)
{
    return size == 1 ? (value & 0xff) * 0x01010101u : size == 2 ? (value & 0xffff) * 0x00010001u
                                                                : value;
}

bool chip_read(machine *m, uint32_t address, int size, uint32_t *value)
{
    uint32_t offset, word = 0;
    const block *b = find(m->chip->model, address, &offset);
    if (!b)
        return false;
    check_code_is_readable(m);
    if (b->memory && offset < b->memory->bytes)
        return b->memory->read(m, offset, size, value);
    if (!b->read || offset >= ALIASES_BYTES || !b->read(m, b, offset & WORD_OFFSET, &word))
        chip_not_modelled(m, "read of", b->name, address);
    *value = narrowed(word, address, size);
    return true;
}

bool chip_write(machine *m, uint32_t address, int size, uint32_t value)
{
    uint32_t offset;
    const block *b = find(m->chip->model, address, &offset);
    if (!b)
        return false;
    check_code_is_readable(m);
    if (resets_held(m, b->reset_bit)) {
        m->dropped_writes++;
        return true;
    }
    if (b->memory && offset < b->memory->bytes)
        return b->memory->write(m, offset, size, value);
    enum alias alias = offset >> 12 & 3;
    if (!b->write || offset >= ALIASES_BYTES
        || !b->write(m, b, offset & WORD_OFFSET, replicated(value, size), alias))
        chip_not_modelled(m, "write to", b->name, address);
    return true;
}

bool chip_coprocessor(machine *m, uint32_t instruction)
{
    return m->chip->model->coprocessor && m->chip->model->coprocessor(m, instruction);
}

/* ---- reset ---- */
static bool is_reset_by(const block *b, uint32_t reset_bits)
{
    return b->reset && b->reset_bit != NO_RESET && (reset_bits >> b->reset_bit & 1);
}

void chip_reset_blocks(machine *m, uint32_t reset_bits)
{
    const struct model *model = m->chip->model;
    for (const block *b = model->apb; b < model->apb + model->apb_blocks; b++)
        if (is_reset_by(b, reset_bits))
            b->reset(m, b);
    for (const block *b = model->others; b->name; b++)
        if (is_reset_by(b, reset_bits))
            b->reset(m, b);
}

static void reset_blocks_without_reset_bit(machine *m)
{
    const struct model *model = m->chip->model;
    for (const block *b = model->apb; b < model->apb + model->apb_blocks; b++)
        if (b->reset && b->reset_bit == NO_RESET)
            b->reset(m, b);
    for (const block *b = model->others; b->name; b++)
        if (b->reset && b->reset_bit == NO_RESET)
            b->reset(m, b);
}

void chip_reset(machine *m)
{
    const struct model *model = m->chip->model;
    m->chip->dcp = (struct dcp){0};
    m->chip->rcp = (struct rcp){0};
    resets_reset(m);
    reset_blocks_without_reset_bit(m);
    chip_reset_blocks(m, model->reset_bits_all);
    model->flash_interface_reset(m);    /* after IO_QSPI, whose pins it looks at */
    clocks_changed(m);
    xip_flush(m);
    rom_reset_vector(m);
    machine_irq_changed(m);
}

struct chip *chip_new(machine *m)
{
    struct chip *c = calloc(1, sizeof *c);
    if (c) {
        c->model = m->architecture == ARMV8M ? &RP2350 : &RP2040;
        memcpy(c->spi_flash.unique_id, c->model->unique_id, sizeof c->spi_flash.unique_id);
        c->spi_flash.status2 = 1 << 1;  /* QE, as the part leaves its factory */
        c->xosc_hz = XOSC_HZ;
    }
    return c;
}

void chip_free(struct chip *c)
{
    free(c);
}

void chip_power_on(machine *m)
{
    struct chip *c = m->chip;
    memset(c->usb.dpram, 0, sizeof c->usb.dpram);
    memset(&c->bootram, 0, sizeof c->bootram);
    c->clocks.ref_hz = c->clocks.sys_hz = c->model->rosc_hz;
    timebase_start(&c->time, m->cycles, c->model->rosc_hz, c->model->rosc_hz);
    watchdog_power_on(m);
    spi_flash_power_on(m);
    c->model->rom_build(m);
    chip_reset(m);
}

/* ---- time and interrupts ---- */
uint64_t chip_irq_lines(machine *m)
{
    const struct model *model = m->chip->model;
    uint64_t lines = (uint64_t)usb_irq_line(m) << model->irq_usbctrl;
    watchdog_update(m);
    for (unsigned i = 0; i < model->timers; i++)
        lines |= (uint64_t)timer_irq_lines(m, i) << TIMER_IRQS * i;
    return lines;
}

uint64_t chip_next_event(machine *m)
{
    uint64_t next = watchdog_next_event(m);
    for (unsigned i = 0; i < m->chip->model->timers; i++) {
        uint64_t alarm = timer_next_event(m, i);
        next = alarm < next ? alarm : next;
    }
    return next;
}

/* ---- options ----
 * xip_miss_cycles: what a finished XIP set-up of the program has to cost; 0: anything.
 * flash_quad_enable: QE in the flash's status register 2; 1 unless said otherwise.
 * The rest is what may be broken. xosc_ppm, pll_sys_ppm: the crystal, or PLL_SYS alone, is too fast by so
 * much. flash_protected: no erase or program does anything. flash_skip_page, _pages: the first page of 256
 * bytes, counted from power-on, that is not programmed, and how many; flash_skip_erase, _erases likewise.
 * flash_stuck_offset, _bits, _value: bits of a byte of flash that have this value for ever. */
void emu_set_unique_id(machine *m, const uint8_t id[8])
{
    memcpy(m->chip->spi_flash.unique_id, id, sizeof m->chip->spi_flash.unique_id);
}

static bool set_defect(machine *m, const char *name, uint32_t value)
{
    struct flash_defects *d = &m->chip->defects;
    const struct {
        const char *name;
        uint32_t *field;
    } fields[] = {
        {"flash_skip_page", &d->skip_page},     {"flash_skip_pages", &d->skip_pages},
        {"flash_skip_erase", &d->skip_erase},   {"flash_skip_erases", &d->skip_erases},
        {"flash_stuck_offset", &d->stuck_offset}, {"flash_stuck_bits", &d->stuck_bits},
        {"flash_stuck_value", &d->stuck_value},
    };
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (strcmp(name, fields[i].name) == 0) {
            *fields[i].field = value;
            return true;
        }
    if (strcmp(name, "flash_protected") != 0)
        return false;
    d->is_protected = value;
    return true;
}

uint32_t chip_flash_pages(const machine *m) { return m->chip->defects.pages; }
uint32_t chip_flash_erases(const machine *m) { return m->chip->defects.erases; }

bool chip_set_switch(machine *m, const char *name, uint32_t value)
{
    if (strcmp(name, "xip_miss_cycles") == 0)
        m->chip->xip_miss_cycles_expected = value;
    else if (strcmp(name, "flash_quad_enable") == 0)
        m->chip->spi_flash.status2 = value ? 1 << 1 : 0;
    else if (strcmp(name, "xosc_ppm") == 0)
        m->chip->xosc_hz = XOSC_HZ + (uint64_t)XOSC_HZ * value / 1000000;
    else if (strcmp(name, "pll_sys_ppm") == 0)
        m->chip->pll_sys_ppm = value;
    else
        return set_defect(m, name, value);
    return true;
}
