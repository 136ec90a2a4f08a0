/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks that are plain storage here: what is written is read back, and no more happens, save for
 * the QSPI pins, which the SSI looks at. Reset values and widths from the RP2040 data sheet. */
#include "chip.h"
#include <string.h>

struct registers {
    uint32_t first, count;          /* byte offset of the first, how many words */
    uint32_t writable, reset;
    uint32_t ones;                  /* read as 1 whatever was written */
    uint32_t stride;                /* bytes from one to the next; 0: 4 */
};

#define END {0, 0, 0, 0, 0, 0}
static const struct registers SYSINFO[] = {                 /* 2.20 */
    {0x00, 1, 0, 2u << 28 | 2u << 12 | 0x927, 0, 0},        /* CHIP_ID: B2, RP2040, Raspberry Pi */
    {0x04, 1, 0, 2, 0, 0},                                  /* PLATFORM: ASIC */
    {0x10, 1, 0, 0, 0, 0},                                  /* GITREF_RP2040 */
    END};
static const struct registers SYSCFG[] = {                  /* 2.21 */
    {0x00, 2, 0xffffffff, 0, 0, 0},                         /* PROC0_NMI_MASK, PROC1_NMI_MASK */
    {0x08, 1, 0xff000000, 0x10000000, 0, 0},                /* PROC_CONFIG */
    {0x0c, 1, 0x3fffffff, 0, 0, 0},                         /* PROC_IN_SYNC_BYPASS */
    {0x10, 1, 0x3f, 0, 0, 0},                               /* PROC_IN_SYNC_BYPASS_HI */
    {0x14, 1, 0xff, 0x66, 0, 0},                            /* DBGFORCE */
    {0x18, 1, 0xff, 0, 0, 0},                               /* MEMPOWERDOWN */
    END};
static const struct registers PSM[] = {                     /* 2.13.5 */
    {0x00, 3, 0x1ffff, 0, 0, 0},                            /* FRCE_ON, FRCE_OFF, WDSEL */
    {0x0c, 1, 0, 0x1ffff, 0, 0},                            /* DONE */
    END};
static const struct registers IO_BANK0[] = {                /* 2.19.6.1 */
    {0x00, 30, 0, 0, 0, 8},                                 /* GPIOn_STATUS */
    {0x04, 30, 0x3003331f, 0x1f, 0, 8},                     /* GPIOn_CTRL */
    {0xf0, 4, 0, 0, 0, 0},                                  /* INTR0 to INTR3 */
    {0x100, 8, 0xffffffff, 0, 0, 0},                        /* PROC0_INTE, PROC0_INTF */
    {0x120, 4, 0, 0, 0, 0},                                 /* PROC0_INTS */
    {0x130, 8, 0xffffffff, 0, 0, 0},                        /* PROC1_INTE, PROC1_INTF */
    {0x150, 4, 0, 0, 0, 0},                                 /* PROC1_INTS */
    {0x160, 8, 0xffffffff, 0, 0, 0},                        /* DORMANT_WAKE_INTE, _INTF */
    {0x180, 4, 0, 0, 0, 0},                                 /* DORMANT_WAKE_INTS */
    END};
static const struct registers IO_QSPI[] = {                 /* 2.19.6.2 */
    {0x00, 6, 0, 0, 0, 8},                                  /* GPIO_QSPI_x_STATUS */
    {0x04, 6, 0x3003331f, 0x1f, 0, 8},                      /* GPIO_QSPI_x_CTRL: SCLK SS SD0-SD3 */
    {0x30, 1, 0, 0, 0, 0},                                  /* INTR */
    {0x34, 2, 0x00ffffff, 0, 0, 0},                         /* PROC0_INTE, _INTF */
    {0x3c, 1, 0, 0, 0, 0},                                  /* PROC0_INTS */
    {0x40, 2, 0x00ffffff, 0, 0, 0},                         /* PROC1_INTE, _INTF */
    {0x48, 1, 0, 0, 0, 0},                                  /* PROC1_INTS */
    {0x4c, 2, 0x00ffffff, 0, 0, 0},                         /* DORMANT_WAKE_INTE, _INTF */
    {0x54, 1, 0, 0, 0, 0},                                  /* DORMANT_WAKE_INTS */
    END};
static const struct registers PADS_BANK0[] = {              /* 2.19.6.3 */
    {0x00, 1, 1, 0, 0, 0},                                  /* VOLTAGE_SELECT */
    {0x04, 30, 0xff, 0x56, 0, 0},                           /* GPIO0 to GPIO29 */
    {0x7c, 1, 0xff, 0xda, 0, 0},                            /* SWCLK */
    {0x80, 1, 0xff, 0x5a, 0, 0},                            /* SWD */
    END};
static const struct registers PADS_QSPI[] = {               /* 2.19.6.4 */
    {0x00, 1, 1, 0, 0, 0},                                  /* VOLTAGE_SELECT */
    {0x04, 1, 0xff, 0x56, 0, 0},                            /* GPIO_QSPI_SCLK */
    {0x08, 4, 0xff, 0x52, 0, 0},                            /* GPIO_QSPI_SD0 to SD3 */
    {0x18, 1, 0xff, 0x5a, 0, 0},                            /* GPIO_QSPI_SS */
    END};
static const struct registers BUSCTRL[] = {                 /* 2.1.5 */
    {0x00, 1, 0x1111, 0, 0, 0},                             /* BUS_PRIORITY */
    {0x04, 1, 0, 1, 0, 0},                                  /* BUS_PRIORITY_ACK */
    {0x0c, 4, 0x1f, 0x1f, 0, 8},                            /* PERFSEL0 to 3, no PERFCTR */
    END};
static const struct registers ROSC[] = {                    /* 2.17.8; DIV, FREQA and FREQB would */
    {0x00, 1, 0x00ffffff, 0xaa0, 0, 0},                     /* change the frequency: CTRL, ... */
    {0x18, 1, 0, 0x80001000, 0, 0},                         /* ... STATUS and ... */
    {0x1c, 1, 0, 1, 0, 0},                                  /* ... RANDOMBIT, which isn't */
    END};
static const struct registers VREG_AND_CHIP_RESET[] = {     /* 2.10.6 */
    {0x00, 1, 0xf3, 0xb1, 1 << 12, 0},                      /* VREG; ROK: the regulator is ready */
    {0x04, 1, 0xf1, 0x91, 0, 0},                            /* BOD */
    {0x08, 1, 0, 1 << 8, 0, 0},                             /* CHIP_RESET: HAD_POR */
    END};
static const struct registers TBMAN[] = {{0x00, 1, 0, 1, 0, 0}, END};      /* PLATFORM: ASIC */

static const struct registers *const LAYOUT[PLAIN_BLOCKS] = {
    [PLAIN_SYSINFO] = SYSINFO, [PLAIN_SYSCFG] = SYSCFG, [PLAIN_PSM] = PSM,
    [PLAIN_IO_BANK0] = IO_BANK0, [PLAIN_IO_QSPI] = IO_QSPI, [PLAIN_PADS_BANK0] = PADS_BANK0,
    [PLAIN_PADS_QSPI] = PADS_QSPI, [PLAIN_BUSCTRL] = BUSCTRL, [PLAIN_ROSC] = ROSC,
    [PLAIN_VREG_AND_CHIP_RESET] = VREG_AND_CHIP_RESET, [PLAIN_TBMAN] = TBMAN,
};
enum { PSM_FRCE_OFF = 0x04, PSM_DONE = 0x0c };

static uint32_t stride(const struct registers *r)
{
    return r->stride ? r->stride : 4;
}

static const struct registers *find(const block *b, uint32_t offset)
{
    for (const struct registers *r = LAYOUT[b->instance]; r->count; r++)
        if (offset >= r->first && (offset - r->first) % stride(r) == 0
            && (offset - r->first) / stride(r) < r->count)
            return r;
    return NULL;
}

bool plain_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    const uint32_t *words = m->chip->plain[b->instance];
    const struct registers *r = find(b, offset);
    if (!r)
        return false;
    *value = words[offset / 4] | r->ones;
    if (b->instance == PLAIN_PSM && offset == PSM_DONE)
        *value &= ~words[PSM_FRCE_OFF / 4];
    return true;
}

bool plain_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    const struct registers *r = find(b, offset);
    if (!r)
        return false;
    uint32_t *word = &m->chip->plain[b->instance][offset / 4];
    *word = register_write(*word, value, alias, r->writable);
    if (b->instance == PLAIN_IO_QSPI)
        ssi_pins_changed(m);
    if (b->instance == PLAIN_ROSC)
        clocks_changed(m);
    return true;
}

void plain_reset(machine *m, const block *b)
{
    uint32_t *words = m->chip->plain[b->instance];
    memset(words, 0, sizeof m->chip->plain[0]);
    for (const struct registers *r = LAYOUT[b->instance]; r->count; r++)
        for (uint32_t i = 0; i < r->count; i++)
            words[(r->first + i * stride(r)) / 4] = r->reset;
}
