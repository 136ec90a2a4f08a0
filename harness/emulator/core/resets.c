/* SPDX-License-Identifier: Apache-2.0 */
/* RESETS, the subsystem reset controller (RP2040 data sheet 2.14, RP2350 data sheet 7.5). */
#include "model.h"

enum { RESET = 0x00, WDSEL = 0x04, RESET_DONE = 0x08 };

/* Out of reset, as RESET_DONE sees it: a block that lives on a peripheral clock needs that clock's
 * edges to leave reset, and never reports done without it. */
static uint32_t done(const machine *m)
{
    const struct model *model = m->chip->model;
    uint32_t bits = model->reset_bits_all & ~m->chip->resets.reset;
    for (const struct clocked *c = model->clocked; c->reset_bits; c++)
        if (clocks_hz(m, c->clock) == 0)
            bits &= ~c->reset_bits;
    return bits;
}

static void set_reset(machine *m, uint32_t value)
{
    struct resets *r = &m->chip->resets;
    uint32_t edges = r->reset ^ value;
    r->reset = value;
    /* On both edges: a block held in reset takes no writes, but time may have passed for it. */
    chip_reset_blocks(m, edges);
    m->chip->model->flash_pins_changed(m);
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
    uint32_t writable = m->chip->model->reset_bits_all;
    (void)b;
    switch (offset) {
    case RESET:
        set_reset(m, register_write(r->reset, value, alias, writable));
        return true;
    case WDSEL:
        r->wdsel = register_write(r->wdsel, value, alias, writable);
        return true;
    case RESET_DONE:                /* read only */
        return true;
    default:
        return false;
    }
}

void resets_reset(machine *m)
{
    m->chip->resets = (struct resets){.reset = m->chip->model->reset_bits_all};
}

bool resets_held(const machine *m, int reset_bit)
{
    return reset_bit != NO_RESET && (m->chip->resets.reset >> reset_bit & 1);
}

void resets_release(machine *m, uint32_t reset_bits)
{
    set_reset(m, m->chip->resets.reset & ~reset_bits);
}
