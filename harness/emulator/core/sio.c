/* SPDX-License-Identifier: Apache-2.0 */
/* SIO: processor id, GPIO and spin locks (RP2040 data sheet 2.3.1, RP2350 data sheet 3.1).
 *
 * Core 1 sleeps in the boot ROM for ever: its FIFO takes nothing and gives nothing. No pin is
 * connected to anything, except that the QSPI lines are held high as the board's pull-ups do.
 * The interpolators and what the RP2350 has above the spin locks are not modelled. */
#include "model.h"

enum {
    CPUID = 0x000, GPIO_IN = 0x004, GPIO_HI_IN = 0x008, GPIO_FIRST = 0x010, GPIO_END = 0x050,
    FIFO_ST = 0x050, FIFO_WR = 0x054, FIFO_RD = 0x058, SPINLOCK_ST = 0x05c,
    SPINLOCK0 = 0x100, SPINLOCK31 = 0x17c, SIO_END = 0x200
};
enum { FIFO_RDY = 1 << 1, FIFO_WOF = 1 << 2, FIFO_ROE = 1 << 3 };

/* ---- GPIO outputs: OUT and OE, low and high pins, each as written, set, clear, xor ---- */
struct gpio_register { uint32_t *word, bits; enum alias operation; };
static const enum alias OPERATIONS[4] = {ALIAS_NORMAL, ALIAS_SET, ALIAS_CLEAR, ALIAS_XOR};

/* OUT (four operations), OE, HI_OUT, HI_OE. */
static struct gpio_register rp2040_gpio(struct sio *s, uint32_t offset)
{
    uint32_t *const words[4] = {&s->gpio_out, &s->gpio_oe, &s->gpio_hi_out, &s->gpio_hi_oe};
    uint32_t which = (offset - GPIO_FIRST) / 16, bits = which < 2 ? 0x3fffffff : 0x3f;
    return (struct gpio_register){words[which], bits, OPERATIONS[offset / 4 & 3]};
}

/* OUT and HI_OUT in turn, four times, then OE and HI_OE. */
static struct gpio_register rp2350_gpio(struct sio *s, uint32_t offset)
{
    uint32_t *const words[4] = {&s->gpio_out, &s->gpio_hi_out, &s->gpio_oe, &s->gpio_hi_oe};
    uint32_t index = (offset - GPIO_FIRST) / 4, high = index & 1, is_oe = index >= 8;
    return (struct gpio_register){words[2 * is_oe + high], high ? 0xff00ffff : 0xffffffff,
                                  OPERATIONS[index / 2 & 3]};
}

static struct gpio_register gpio_register(machine *m, uint32_t offset)
{
    return m->chip->model->gpio_interleaved ? rp2350_gpio(&m->chip->sio, offset)
                                            : rp2040_gpio(&m->chip->sio, offset);
}

/* An isolated pad (RP2350) doesn't follow its output. */
static uint32_t isolated_pads(const machine *m, bool high)
{
    enum { PAD_ISO = 1 << 8, GPIO0 = 0x04 / 4, PINS = 48 };
    const uint32_t *pads = &m->chip->plain[PLAIN_PADS_BANK0][GPIO0];
    uint32_t isolated = 0;
    if (!m->chip->model->pads_isolate)
        return 0;
    for (uint32_t pin = high ? 32 : 0; pin < (high ? PINS : 32); pin++)
        if (pads[pin] & PAD_ISO)
            isolated |= 1u << (pin & 31);
    return isolated;
}

uint32_t sio_gpio_in(const machine *m, bool high)
{
    const struct sio *s = &m->chip->sio;
    uint32_t pulled_up = high ? m->chip->model->qspi_pins_in_hi : 0;
    uint32_t out = high ? s->gpio_hi_out : s->gpio_out, oe = high ? s->gpio_hi_oe : s->gpio_oe;
    return (pulled_up & ~(oe & ~out)) | (out & oe & ~isolated_pads(m, high));
}

/* ---- what both chips have ---- */
static bool read_common(machine *m, uint32_t offset, uint32_t *value)
{
    struct sio *s = &m->chip->sio;
    if (offset >= SPINLOCK0 && offset <= SPINLOCK31) {      /* reading claims it, 0: taken */
        uint32_t bit = 1u << (offset - SPINLOCK0) / 4;
        *value = s->spinlocks & bit ? 0 : bit;
        s->spinlocks |= bit;
        return true;
    }
    if (offset >= GPIO_FIRST && offset < GPIO_END) {
        *value = *gpio_register(m, offset).word;
        return true;
    }
    switch (offset) {
    case CPUID:
        *value = 0;
        return true;
    case GPIO_IN: case GPIO_HI_IN:
        *value = sio_gpio_in(m, offset == GPIO_HI_IN);
        return true;
    case FIFO_ST:
        *value = s->fifo_status;
        return true;
    case FIFO_RD:
        s->fifo_status |= FIFO_ROE;
        *value = 0;
        return true;
    case SPINLOCK_ST:
        *value = s->spinlocks;
        return true;
    default:
        return false;
    }
}

/* SIO decodes no set, clear and xor aliases; its blocks have registers for that. */
static bool write_common(machine *m, uint32_t offset, uint32_t value)
{
    struct sio *s = &m->chip->sio;
    if (offset >= SPINLOCK0 && offset <= SPINLOCK31) {      /* writing releases it */
        s->spinlocks &= ~(1u << (offset - SPINLOCK0) / 4);
        return true;
    }
    if (offset >= GPIO_FIRST && offset < GPIO_END) {
        struct gpio_register r = gpio_register(m, offset);
        *r.word = register_write(*r.word, value, r.operation, r.bits);
        return true;
    }
    switch (offset) {
    case FIFO_ST:                                           /* clears the sticky errors */
        s->fifo_status &= ~(uint32_t)(FIFO_WOF | FIFO_ROE);
        return true;
    case FIFO_WR:
        machine_strict(m, "a word for core 1 in SIO FIFO_WR: core 1 is not modelled");
        return true;
    case CPUID: case GPIO_IN: case GPIO_HI_IN: case FIFO_RD: case SPINLOCK_ST:
        return true;                                        /* read only */
    default:
        return false;
    }
}

/* ---- registers ---- */
bool sio_rp2040_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    (void)b;
    return read_common(m, offset, value) || sio_divider_read(m, offset, value);
}

bool sio_rp2040_write(machine *m, const block *b, uint32_t offset, uint32_t value,
                      enum alias alias)
{
    (void)b;
    (void)alias;
    return write_common(m, offset, value) || sio_divider_write(m, offset, value);
}

bool sio_rp2350_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    (void)b;
    return read_common(m, offset, value);
}

/* Erratum RP2350-E2: a write above the spin locks also releases the one 128 bytes below. */
bool sio_rp2350_write(machine *m, const block *b, uint32_t offset, uint32_t value,
                      enum alias alias)
{
    (void)b;
    (void)alias;
    if (offset > SPINLOCK31 && offset < SIO_END)
        machine_strict(m, "write to SIO+0x%03x, which is not modelled; silicon would also release "
                          "SPINLOCK%u (RP2350-E2)", (unsigned)offset,
                       (unsigned)((offset - SPINLOCK0) / 4 & 31));
    return offset > SPINLOCK31 ? offset < SIO_END : write_common(m, offset, value);
}

void sio_reset(machine *m, const block *b)
{
    (void)b;
    m->chip->sio = (struct sio){.fifo_status = FIFO_RDY};
}
