/* SPDX-License-Identifier: Apache-2.0 */
/* RESETS, the subsystem reset controller (RP2040 data sheet 2.14). */
#include "chip.h"

enum { RESET = 0x00, WDSEL = 0x04, RESET_DONE = 0x08 };

/* Out of reset, as RESET_DONE sees it: a block that lives on a peripheral clock needs that clock's
 * edges to leave reset, and never reports done without it. */
static uint32_t done(const machine *m)
{
    static const struct { enum clock clock; uint32_t blocks; } clocked[] = {
        {CLK_ADC, 1u << RESET_ADC},
        {CLK_RTC, 1u << RESET_RTC},
        {CLK_USB, 1u << RESET_USBCTRL},
        {CLK_PERI, 1u << RESET_SPI0 | 1u << RESET_SPI1 | 1u << RESET_UART0 | 1u << RESET_UART1},
    };
    uint32_t bits = RESET_BITS_ALL & ~m->chip->resets.reset;
    for (size_t i = 0; i < sizeof clocked / sizeof clocked[0]; i++)
        if (clocks_hz(m, clocked[i].clock) == 0)
            bits &= ~clocked[i].blocks;
    return bits;
}

static void set_reset(machine *m, uint32_t value)
{
    struct resets *r = &m->chip->resets;
    uint32_t edges = r->reset ^ value;
    r->reset = value;
    /* On both edges: a block held in reset takes no writes, but time may have passed for it. */
    rp2040_reset_blocks(m, edges);
    ssi_pins_changed(m);
    clocks_changed(m);
    machine_irq_changed(m);
}

bool resets_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    (void)b;
    switch (offset) {
    case RESET:
        *value = m->chip->resets.reset;
        return true;
    case WDSEL:
        *value = m->chip->resets.wdsel;
        return true;
    case RESET_DONE:
        *value = done(m);
        return true;
    default:
        return false;
    }
}

bool resets_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct resets *r = &m->chip->resets;
    (void)b;
    switch (offset) {
    case RESET:
        set_reset(m, register_write(r->reset, value, alias, RESET_BITS_ALL));
        return true;
    case WDSEL:
        r->wdsel = register_write(r->wdsel, value, alias, RESET_BITS_ALL);
        return true;
    case RESET_DONE:                /* read only */
        return true;
    default:
        return false;
    }
}

void resets_reset(machine *m)
{
    m->chip->resets = (struct resets){.reset = RESET_BITS_ALL};
}

bool resets_held(const machine *m, int reset_bit)
{
    return reset_bit != NO_RESET && (m->chip->resets.reset >> reset_bit & 1);
}

void resets_release(machine *m, uint32_t reset_bits)
{
    set_reset(m, m->chip->resets.reset & ~reset_bits);
}
