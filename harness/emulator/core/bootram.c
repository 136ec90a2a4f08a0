/* SPDX-License-Identifier: Apache-2.0 */
/* BOOTRAM: 1 KB of memory and eight boot locks for the boot ROM (RP2350 data sheet 4.3). The memory
 * outlives every reset but power-on; the locks and the write-once words don't. */
#include "chip.h"
#include <string.h>

enum {
    WRITE_ONCE0 = 0x800, WRITE_ONCE1 = 0x804, BOOTLOCK_STAT = 0x808, BOOTLOCK0 = 0x80c,
    BOOTLOCK7 = 0x828, BOOTLOCKS = 0xff
};

static bool memory_read(machine *m, uint32_t offset, int size, uint32_t *value)
{
    *value = 0;
    memcpy(value, m->chip->bootram.bytes + offset, (size_t)size);
    return true;
}

static bool memory_write(machine *m, uint32_t offset, int size, uint32_t value)
{
    memcpy(m->chip->bootram.bytes + offset, &value, (size_t)size);
    return true;
}

const struct memory BOOTRAM = {BOOTRAM_BYTES, memory_read, memory_write};

/* Locks work as the spin locks of the SIO: reading claims one, 0 says that it is taken. */
bool bootram_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    struct bootram *r = &m->chip->bootram;
    (void)b;
    if (offset >= BOOTLOCK0 && offset <= BOOTLOCK7) {
        uint32_t bit = 1u << (offset - BOOTLOCK0) / 4;
        *value = r->locks & bit ? 0 : bit;
        r->locks |= bit;
        return true;
    }
    switch (offset) {
    case WRITE_ONCE0: case WRITE_ONCE1:
        *value = r->write_once[(offset - WRITE_ONCE0) / 4];
        return true;
    case BOOTLOCK_STAT:                 /* 1: unclaimed */
        *value = ~r->locks & BOOTLOCKS;
        return true;
    default:
        return false;
    }
}

bool bootram_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct bootram *r = &m->chip->bootram;
    (void)b;
    if (offset >= BOOTLOCK0 && offset <= BOOTLOCK7) {
        r->locks &= ~(1u << (offset - BOOTLOCK0) / 4);
        return true;
    }
    switch (offset) {
    case WRITE_ONCE0: case WRITE_ONCE1: {
        uint32_t *word = &r->write_once[(offset - WRITE_ONCE0) / 4];
        *word |= register_write(*word, value, alias, 0xffffffff);
        return true;
    }
    case BOOTLOCK_STAT:
        r->locks = ~register_write(~r->locks & BOOTLOCKS, value, alias, BOOTLOCKS) & BOOTLOCKS;
        return true;
    default:
        return false;
    }
}

void bootram_reset(machine *m, const block *b)
{
    struct bootram *r = &m->chip->bootram;
    (void)b;
    r->write_once[0] = r->write_once[1] = r->locks = 0;
}
