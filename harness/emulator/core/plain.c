/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that are plain storage here: what is written is read back, and no more happens, save for
 * the pins of the flash, which SSI and QMI look at. Their registers are in plain_rp2040.c and
 * plain_rp2350.c. */
#include "model.h"
#include <string.h>

enum { PSM_FRCE_OFF = 0x04, PSM_DONE = 0x0c };

static uint32_t stride(const struct registers *r)
{
    return r->stride ? r->stride : 4;
}

static const struct registers *table_of(const machine *m, const block *b)
{
    return m->chip->model->plain[b->instance];
}

static const struct registers *find(const machine *m, const block *b, uint32_t offset)
{
    for (const struct registers *r = table_of(m, b); r->count; r++)
        if (offset >= r->first && (offset - r->first) % stride(r) == 0
            && (offset - r->first) / stride(r) < r->count)
            return r;
    return NULL;
}

bool plain_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    const uint32_t *words = m->chip->plain[b->instance];
    const struct registers *r = find(m, b, offset);
    if (!r)
        return false;
    *value = words[offset / 4] | r->ones;
    if (b->instance == PLAIN_PSM && offset == PSM_DONE)
        *value &= ~words[PSM_FRCE_OFF / 4];
    return true;
}

bool plain_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    const struct registers *r = find(m, b, offset);
    if (!r)
        return false;
    uint32_t *word = &m->chip->plain[b->instance][offset / 4];
    *word = register_write(*word, value, alias, r->writable);
    if (b->instance == PLAIN_IO_QSPI
        || (b->instance == PLAIN_PADS_QSPI && m->chip->model->pads_isolate))
        m->chip->model->flash_pins_changed(m);
    if (b->instance == PLAIN_ROSC)
        clocks_changed(m);
    return true;
}

void plain_reset(machine *m, const block *b)
{
    uint32_t *words = m->chip->plain[b->instance];
    memset(words, 0, sizeof m->chip->plain[0]);
    for (const struct registers *r = table_of(m, b); r->count; r++)
        for (uint32_t i = 0; i < r->count; i++)
            words[(r->first + i * stride(r)) / 4] = r->reset;
}
