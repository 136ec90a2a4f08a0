/* SPDX-License-Identifier: Apache-2.0 */
/* Identification of the debug components of the core, as pyOCD, OpenOCD and others walk them: the
 * ROM table and the component and peripheral ID registers (ARMv6-M ARM C1.2, ARMv8-M ARM B12, ADI).
 */
#include "debug.h"

enum { SCS_BASE = 0xe000e000, DWT_BASE = 0xe0001000, BPU_BASE = 0xe0002000,
       ROM_TABLE_BASE = 0xe00ff000 };
enum { DEVARCH = 0xfbc, FIRST_ID = 0xfd0, PIDR0 = 0xfe0, CIDR0 = 0xff0 };
enum { JEP106_ARM = 0x3b, JEP106_CONTINUATION = 4, JEDEC = 8 };
enum { CLASS_ROM_TABLE = 0x1, CLASS_CORESIGHT = 0x9, CLASS_GENERIC = 0xe };

struct component {
    uint32_t base, devarch;
    uint16_t part;
    uint8_t class;
};
/* Cortex-M0+ */
static const struct component V6M[] = {
    { SCS_BASE, 0, 0x008, CLASS_GENERIC }, { DWT_BASE, 0, 0x00a, CLASS_GENERIC },
    { BPU_BASE, 0, 0x00b, CLASS_GENERIC }, { ROM_TABLE_BASE, 0, 0x4c0, CLASS_ROM_TABLE }
};
/* Cortex-M33; DEVARCH: Arm, present, architecture of the component */
static const struct component V8M[] = {
    { SCS_BASE, 0x47702a04, 0xd21, CLASS_CORESIGHT },
    { DWT_BASE, 0x47701a02, 0xd21, CLASS_CORESIGHT },
    { BPU_BASE, 0x47701a03, 0xd21, CLASS_CORESIGHT },
    { ROM_TABLE_BASE, 0, 0x4c9, CLASS_ROM_TABLE }
};
enum { COMPONENTS = 4 };

static uint32_t id_register(const struct component *c, uint32_t offset)
{
    const uint8_t pidr[4] = { c->part & 0xff, (uint8_t)(c->part >> 8 | (JEP106_ARM & 0xf) << 4),
                              JEDEC | JEP106_ARM >> 4, 0 };
    const uint8_t cidr[4] = { 0x0d, (uint8_t)(c->class << 4), 0x05, 0xb1 };
    const uint32_t k = offset >> 2 & 3;

    if (offset == DEVARCH)
        return c->devarch;
    if (offset >= CIDR0)
        return cidr[k];
    if (offset >= PIDR0)
        return pidr[k];
    return k == 0 ? JEP106_CONTINUATION : 0;
}

static bool rom_table(uint32_t address, uint32_t *value)
{
    enum { PRESENT_32_BIT = 3, MEMTYPE = ROM_TABLE_BASE + 0xfcc };
    static const uint32_t bases[] = { SCS_BASE, DWT_BASE, BPU_BASE };
    const uint32_t entry = (address - ROM_TABLE_BASE) / 4;

    if (address < ROM_TABLE_BASE || address > MEMTYPE)
        return false;
    *value = address == MEMTYPE ? 1 : 0;                   /* system memory is on this bus too */
    if (entry < sizeof bases / sizeof *bases)
        *value = (bases[entry] - ROM_TABLE_BASE) | PRESENT_32_BIT;
    return true;
}

bool component_read(const machine *m, uint32_t address, uint32_t *value)
{
    const struct component *components = m->architecture == ARMV8M ? V8M : V6M;
    const uint32_t offset = address & 0xfff;

    for (int n = 0; n < COMPONENTS; n++) {
        const struct component *c = &components[n];
        if (c->base == (address & ~0xfffu)
            && (offset >= FIRST_ID || (offset == DEVARCH && c->devarch))) {
            *value = id_register(c, offset);
            return true;
        }
    }
    return rom_table(address, value);
}
