/* SPDX-License-Identifier: Apache-2.0 */
/* The RP2040 as its core sees it: address map (data sheet 2.2), dispatch to the blocks, the atomic
 * aliases and narrow writes (2.1), reset, interrupt lines and what happens next by time alone.
 *
 * An access to a register that nobody modelled stops the emulator: it would answer with a guess.
 * An address where the chip has nothing is a bus fault. */
#include "chip.h"
#include <stdlib.h>
#include <string.h>

#define PLAIN(name) {0, #name, RESET_##name, PLAIN_##name, plain_read, plain_write, plain_reset}
#define PLAIN_NO_RESET(name) \
    {0, #name, NO_RESET, PLAIN_##name, plain_read, plain_write, plain_reset}
#define NOT_MODELLED(name) {0, #name, RESET_##name, 0, NULL, NULL, NULL}

/* APB: 16 KB each from 0x40000000 in this order. */
enum { APB_BLOCK_SHIFT = 14, APB_BLOCKS = 28 };
static const block APB[APB_BLOCKS] = {
    PLAIN(SYSINFO),
    PLAIN(SYSCFG),
    {0, "CLOCKS", NO_RESET, 0, clocks_read, clocks_write, NULL},
    {0, "RESETS", NO_RESET, 0, resets_read, resets_write, NULL},
    PLAIN_NO_RESET(PSM),
    PLAIN(IO_BANK0),
    PLAIN(IO_QSPI),
    PLAIN(PADS_BANK0),
    PLAIN(PADS_QSPI),
    {0, "XOSC", NO_RESET, 0, xosc_read, xosc_write, NULL},
    {0, "PLL_SYS", RESET_PLL_SYS, PLL_SYS, pll_read, pll_write, pll_reset},
    {0, "PLL_USB", RESET_PLL_USB, PLL_USB, pll_read, pll_write, pll_reset},
    PLAIN(BUSCTRL),
    NOT_MODELLED(UART0),
    NOT_MODELLED(UART1),
    NOT_MODELLED(SPI0),
    NOT_MODELLED(SPI1),
    NOT_MODELLED(I2C0),
    NOT_MODELLED(I2C1),
    NOT_MODELLED(ADC),
    NOT_MODELLED(PWM),
    {0, "TIMER", RESET_TIMER, 0, timer_read, timer_write, timer_reset},
    {0, "WATCHDOG", NO_RESET, 0, watchdog_read, watchdog_write, NULL},
    NOT_MODELLED(RTC),
    PLAIN_NO_RESET(ROSC),
    PLAIN_NO_RESET(VREG_AND_CHIP_RESET),
    {0, NULL, NO_RESET, 0, NULL, NULL, NULL},               /* 0x40068000: nothing there */
    PLAIN(TBMAN),
};
static const block AHB[] = {
    {0x14000000, "XIP_CTRL", NO_RESET, 0, xip_ctrl_read, xip_ctrl_write, NULL},
    {0x18000000, "XIP_SSI", NO_RESET, 0, ssi_read, ssi_write, NULL},
    {0x50000000, "DMA", RESET_DMA, 0, NULL, NULL, NULL},
    {0x50110000, "USBCTRL_REGS", RESET_USBCTRL, 0, usb_read, usb_write, usb_reset},
    {0x50200000, "PIO0", RESET_PIO0, 0, NULL, NULL, NULL},
    {0x50300000, "PIO1", RESET_PIO1, 0, NULL, NULL, NULL},
    {0x50400000, "XIP_AUX", NO_RESET, 0, NULL, NULL, NULL},
    {0xd0000000, "SIO", NO_RESET, 0, sio_read, sio_write, NULL},
};
static const block XIP_SRAM = {0x15000000, "XIP_SRAM", NO_RESET, 0, NULL, NULL, NULL};
static const block SRAM_BANKS = {0x21000000, "SRAM0-3 without striping", NO_RESET, 0, NULL, NULL,
                                 NULL};
static const block DPRAM = {0x50100000, "USBCTRL_DPRAM", RESET_USBCTRL, 0, NULL, NULL, NULL};

enum { REGISTERS_BYTES = 0x1000, ALIASES_BYTES = 4 * REGISTERS_BYTES, WORD_OFFSET = 0xffc };
enum { APB_BASE = 0x40000000, SRAM_BANKS_BYTES = 0x40000, XIP_SRAM_BYTES = 0x4000 };

static bool within(uint32_t address, const block *b, uint32_t bytes)
{
    return address - b->base < bytes;
}

static const block *find(uint32_t address)
{
    if (address - APB_BASE < APB_BLOCKS << APB_BLOCK_SHIFT) {
        const block *b = &APB[(address - APB_BASE) >> APB_BLOCK_SHIFT];
        return b->name ? b : NULL;
    }
    for (size_t i = 0; i < sizeof AHB / sizeof AHB[0]; i++)
        if (within(address, &AHB[i], ALIASES_BYTES))
            return &AHB[i];
    if (within(address, &DPRAM, ALIASES_BYTES))
        return &DPRAM;
    if (within(address, &XIP_SRAM, XIP_SRAM_BYTES))
        return &XIP_SRAM;
    return within(address, &SRAM_BANKS, SRAM_BANKS_BYTES) ? &SRAM_BANKS : NULL;
}

static void not_modelled(machine *m, const char *access, const block *b, uint32_t address)
{
    machine_strict(m, "%s 0x%08x: %s+0x%03x is not modelled", access, (unsigned)address, b->name,
                   (unsigned)(address & (REGISTERS_BYTES - 1)));
}

/* A program that runs from flash while nothing would feed it from there shows itself here, at its
 * first access to a peripheral: the path of ordinary loads and fetches pays nothing for it. */
static void check_code_is_readable(machine *m)
{
    const char *problem = m->chip->ssi.xip_problem;
    if (problem && m->r[15] >> 24 == XIP_BASE >> 24 && !m->halted)
        machine_strict(m, "the program runs from flash, but the SSI is not set up for XIP: %s",
                       problem);
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
    const block *b = find(address);
    uint32_t word = 0;
    if (!b)
        return false;
    check_code_is_readable(m);
    if (b == &DPRAM && address - DPRAM.base < USB_DPRAM_BYTES)
        return usb_dpram_read(m, address - DPRAM.base, size, value);
    if (!b->read || !b->read(m, b, address & WORD_OFFSET, &word))
        not_modelled(m, "read of", b, address);
    *value = narrowed(word, address, size);
    return true;
}

bool chip_write(machine *m, uint32_t address, int size, uint32_t value)
{
    const block *b = find(address);
    if (!b)
        return false;
    check_code_is_readable(m);
    if (resets_held(m, b->reset_bit)) {
        m->dropped_writes++;
        return true;
    }
    if (b == &DPRAM && address - DPRAM.base < USB_DPRAM_BYTES)
        return usb_dpram_write(m, address - DPRAM.base, size, value);
    enum alias alias = address >> 12 & 3;
    if (!b->write || !b->write(m, b, address & WORD_OFFSET, replicated(value, size), alias))
        not_modelled(m, "write to", b, address);
    return true;
}

/* ---- reset ---- */
void rp2040_reset_blocks(machine *m, uint32_t reset_bits)
{
    for (size_t i = 0; i < APB_BLOCKS; i++)
        if (APB[i].reset && APB[i].reset_bit != NO_RESET && (reset_bits >> APB[i].reset_bit & 1))
            APB[i].reset(m, &APB[i]);
    for (size_t i = 0; i < sizeof AHB / sizeof AHB[0]; i++)
        if (AHB[i].reset && AHB[i].reset_bit != NO_RESET && (reset_bits >> AHB[i].reset_bit & 1))
            AHB[i].reset(m, &AHB[i]);
}

static void reset_blocks_without_reset_bit(machine *m)
{
    for (size_t i = 0; i < APB_BLOCKS; i++)
        if (APB[i].reset && APB[i].reset_bit == NO_RESET)
            APB[i].reset(m, &APB[i]);
    xosc_reset(m);
    clocks_reset(m);
    watchdog_reset(m);
    sio_reset(m);
    xip_ctrl_reset(m);
}

void chip_reset(machine *m)
{
    resets_reset(m);
    reset_blocks_without_reset_bit(m);
    rp2040_reset_blocks(m, RESET_BITS_ALL);
    ssi_reset(m);                       /* after IO_QSPI, whose pins it looks at */
    clocks_changed(m);
    xip_flush(m);
    rom_reset_vector(m);
    machine_irq_changed(m);
}

struct chip *chip_new(machine *m)
{
    static const uint8_t unique_id[8] = {0xe6, 0x60, 0x58, 0x38, 0x83, 0x12, 0x34, 0x56};
    struct chip *c = calloc(1, sizeof *c);
    (void)m;
    if (c) {
        memcpy(c->spi_flash.unique_id, unique_id, sizeof unique_id);
        c->spi_flash.status2 = 1 << 1;  /* QE, as the part leaves its factory */
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
    c->clocks.ref_hz = c->clocks.sys_hz = ROSC_HZ;
    timebase_start(&c->time, m->cycles, ROSC_HZ, ROSC_HZ);
    watchdog_power_on(m);
    spi_flash_power_on(m);
    rom_build(m);
    chip_reset(m);
}

/* ---- time and interrupts ---- */
uint32_t chip_irq_lines(machine *m)
{
    watchdog_update(m);
    return timer_irq_lines(m) << IRQ_TIMER_0 | (uint32_t)usb_irq_line(m) << IRQ_USBCTRL;
}

uint64_t chip_next_event(machine *m)
{
    uint64_t alarm = timer_next_event(m), watchdog = watchdog_next_event(m);
    return alarm < watchdog ? alarm : watchdog;
}

/* ---- options ----
 * xip_miss_cycles: what a finished XIP set-up of the program has to cost; 0: anything.
 * flash_quad_enable: QE in the flash's status register 2; 1 unless said otherwise. */
void emu_set_unique_id(machine *m, const uint8_t id[8])
{
    memcpy(m->chip->spi_flash.unique_id, id, sizeof m->chip->spi_flash.unique_id);
}

void emu_set_switch(machine *m, const char *name, uint32_t value)
{
    if (strcmp(name, "xip_miss_cycles") == 0)
        m->chip->xip_miss_cycles_expected = value;
    else if (strcmp(name, "flash_quad_enable") == 0)
        m->chip->spi_flash.status2 = value ? 1 << 1 : 0;
    else
        machine_strict(m, "there is no switch named %s", name);
}
