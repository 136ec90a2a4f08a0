/* SPDX-License-Identifier: Apache-2.0 */
/* ACCESSCTRL: who may access what (RP2350 data sheet 10.6). The registers are there, with their
 * password and their lock; nobody is kept from anything, since everything here runs secure and
 * privileged, as which all but the DMA may access every block after reset. */
#include "chip.h"

enum {
    LOCK = 0x00, FORCE_CORE_NS = 0x04, CFGRESET = 0x08, GPIO_NSMASK0 = 0x0c, GPIO_NSMASK1 = 0x10,
    LAST_PERMISSION = 0xe8
};
enum { ACCESSCTRL_BASE = 0x40060000 };
enum { LOCK_CORE0 = 1 << 0, LOCK_DMA = 1 << 2, LOCK_DEBUG = 1 << 3, LOCK_BITS = 0xb };
enum { PASSWORD = 0xacce, PASSWORD_SHIFT = 16 };

struct permission_reset { uint8_t first, last; uint32_t value; };
static const struct permission_reset PERMISSIONS[] = {
    {0x14, 0x40, 0xff},         /* ROM, XIP_MAIN, SRAM0 to SRAM9 */
    {0x44, 0x54, 0xfc},         /* DMA, USBCTRL, PIO0 to PIO2 */
    {0x58, 0x5c, 0xb8},         /* CORESIGHT_TRACE, CORESIGHT_PERIPH */
    {0x60, 0x60, 0xff},         /* SYSINFO */
    {0x64, 0xac, 0xfc},         /* RESETS to TBMAN */
    {0xb0, 0xb4, 0xb8},         /* POWMAN, TRNG */
    {0xb8, 0xb8, 0xf8},         /* SHA256 */
    {0xbc, 0xe4, 0xb8},         /* SYSCFG to XIP_QMI */
    {0xe8, 0xe8, 0xf8},         /* XIP_AUX */
};

static uint32_t writable(uint32_t offset)
{
    switch (offset) {
    case LOCK: return LOCK_BITS;
    case FORCE_CORE_NS: return 2;
    case GPIO_NSMASK0: return 0xffffffff;
    case GPIO_NSMASK1: return 0xff00ffff;
    default: return 0xff;
    }
}

static bool needs_password(uint32_t offset)
{
    return offset != GPIO_NSMASK0 && offset != GPIO_NSMASK1;
}

static void set_defaults(struct accessctrl *a)
{
    *a = (struct accessctrl){.words[LOCK / 4] = LOCK_DMA};
    for (size_t i = 0; i < sizeof PERMISSIONS / sizeof PERMISSIONS[0]; i++)
        for (uint32_t at = PERMISSIONS[i].first; at <= PERMISSIONS[i].last; at += 4)
            a->words[at / 4] = PERMISSIONS[i].value;
}

static bool read_word(machine *m, uint32_t offset, int size, uint32_t *value)
{
    uint32_t at = offset & WORD_OFFSET, word = 0;
    if (at <= LAST_PERMISSION)
        word = m->chip->accessctrl.words[at / 4] >> 8 * (offset & 3);
    else
        chip_not_modelled(m, "read of", "ACCESSCTRL", ACCESSCTRL_BASE + offset);
    *value = size == 4 ? word : word & ((1u << 8 * size) - 1);
    return true;
}

/* A halted core does nothing by itself: what comes in then comes from the debugger. */
static bool locked(const machine *m)
{
    return m->chip->accessctrl.words[LOCK / 4] & (m->halted ? LOCK_DEBUG : LOCK_CORE0);
}

/* Without the password in the upper half a write is a bus fault; a locked master's is ignored. */
static bool write_word(machine *m, uint32_t offset, int size, uint32_t value)
{
    struct accessctrl *a = &m->chip->accessctrl;
    uint32_t at = offset & WORD_OFFSET;
    enum alias alias = offset >> 12 & 3;
    if (at > LAST_PERMISSION) {
        chip_not_modelled(m, "write to", "ACCESSCTRL", ACCESSCTRL_BASE + offset);
        return true;
    }
    if (needs_password(at) && (size != 4 || value >> PASSWORD_SHIFT != PASSWORD))
        return false;
    if (locked(m)) {
        m->dropped_writes++;
        return true;
    }
    if (needs_password(at))
        value &= (1u << PASSWORD_SHIFT) - 1;
    uint32_t *word = &a->words[at / 4];
    if (at == CFGRESET) {
        uint32_t lock = a->words[LOCK / 4];
        if (value & 1)
            set_defaults(a);
        a->words[LOCK / 4] = lock;      /* a lock stays until a reset of the system */
    } else if (at == LOCK) {
        *word |= register_write(*word, value, alias, LOCK_BITS);
    } else {
        *word = register_write(*word, value, alias, writable(at));
    }
    return true;
}

const struct memory ACCESSCTRL = {ALIASES_BYTES, read_word, write_word};

void accessctrl_reset(machine *m, const block *b)
{
    (void)b;
    set_defaults(&m->chip->accessctrl);
}
