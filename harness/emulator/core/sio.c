/* SPDX-License-Identifier: Apache-2.0 */
/* SIO: processor id, GPIO, spin locks and the hardware divider (RP2040 data sheet 2.3.1).
 *
 * Core 1 sleeps in the boot ROM for ever: its FIFO takes nothing and gives nothing. No pin is
 * connected to anything, except that the QSPI lines are held high as the board's pull-ups do.
 * The interpolators are not modelled. */
#include "chip.h"

enum {
    CPUID = 0x000, GPIO_IN = 0x004, GPIO_HI_IN = 0x008, GPIO_OUT = 0x010, GPIO_OE = 0x020,
    GPIO_HI_OUT = 0x030, GPIO_HI_OE = 0x040, GPIO_END = 0x050,
    FIFO_ST = 0x050, FIFO_WR = 0x054, FIFO_RD = 0x058, SPINLOCK_ST = 0x05c,
    DIV_UDIVIDEND = 0x060, DIV_UDIVISOR = 0x064, DIV_SDIVIDEND = 0x068, DIV_SDIVISOR = 0x06c,
    DIV_QUOTIENT = 0x070, DIV_REMAINDER = 0x074, DIV_CSR = 0x078,
    SPINLOCK0 = 0x100, SPINLOCK31 = 0x17c
};
enum {
    GPIO_BITS = 0x3fffffff, GPIO_HI_BITS = 0x3f,
    FIFO_RDY = 1 << 1, FIFO_WOF = 1 << 2, FIFO_ROE = 1 << 3,
    DIV_CSR_READY = 1, DIV_CSR_DIRTY = 2, DIV_CYCLES = 8
};

/* ---- GPIO outputs: four registers each, as written, set, clear, xor ---- */
static uint32_t *gpio_register(struct sio *s, uint32_t offset, uint32_t *bits)
{
    *bits = offset < GPIO_HI_OUT ? GPIO_BITS : GPIO_HI_BITS;
    switch (offset & ~0xfu) {
    case GPIO_OUT:
        return &s->gpio_out;
    case GPIO_OE:
        return &s->gpio_oe;
    case GPIO_HI_OUT:
        return &s->gpio_hi_out;
    default:
        return &s->gpio_hi_oe;
    }
}

static void write_gpio(struct sio *s, uint32_t offset, uint32_t value)
{
    static const enum alias operation[4] = {ALIAS_NORMAL, ALIAS_SET, ALIAS_CLEAR, ALIAS_XOR};
    uint32_t bits, *reg = gpio_register(s, offset, &bits);
    *reg = register_write(*reg, value, operation[offset / 4 & 3], bits);
}

/* ---- the divider (2.3.1.5) ---- */
static void divide(machine *m)
{
    struct sio *s = &m->chip->sio;
    uint32_t dividend = s->div_dividend, divisor = s->div_divisor;
    int32_t signed_dividend = (int32_t)dividend, signed_divisor = (int32_t)divisor;
    if (divisor == 0) {
        s->div_quotient = s->div_signed && signed_dividend < 0 ? 1 : 0xffffffff;
        s->div_remainder = dividend;
    } else if (!s->div_signed) {
        s->div_quotient = dividend / divisor;
        s->div_remainder = dividend % divisor;
    } else if (signed_dividend == INT32_MIN && signed_divisor == -1) {
        s->div_quotient = dividend;
        s->div_remainder = 0;
    } else {
        s->div_quotient = (uint32_t)(signed_dividend / signed_divisor);
        s->div_remainder = (uint32_t)(signed_dividend % signed_divisor);
    }
    s->div_dirty = true;
    s->div_ready = m->cycles + DIV_CYCLES;
}

static void write_operand(machine *m, uint32_t offset, uint32_t value)
{
    struct sio *s = &m->chip->sio;
    s->div_signed = offset >= DIV_SDIVIDEND;
    if (offset == DIV_UDIVIDEND || offset == DIV_SDIVIDEND)
        s->div_dividend = value;
    else
        s->div_divisor = value;
    divide(m);
}

/* Writing a result (to restore it after an interrupt) stops the calculation under way. */
static void write_result(machine *m, uint32_t offset, uint32_t value)
{
    struct sio *s = &m->chip->sio;
    if (offset == DIV_QUOTIENT)
        s->div_quotient = value;
    else
        s->div_remainder = value;
    s->div_dirty = true;
    s->div_ready = m->cycles;
}

bool sio_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    struct sio *s = &m->chip->sio;
    (void)b;
    if (offset >= SPINLOCK0 && offset <= SPINLOCK31) {      /* reading claims the lock */
        uint32_t lock = 1u << (offset - SPINLOCK0) / 4;
        *value = s->spinlocks & lock ? 0 : lock;
        s->spinlocks |= lock;
        return true;
    }
    if (offset >= GPIO_OUT && offset < GPIO_END) {
        uint32_t bits;
        *value = offset & 0xc ? 0 : *gpio_register(s, offset, &bits);
        return true;
    }
    switch (offset) {
    case CPUID:
        *value = 0;
        return true;
    case GPIO_IN:
        *value = s->gpio_out & s->gpio_oe;
        return true;
    case GPIO_HI_IN:
        *value = GPIO_HI_BITS & ~(s->gpio_hi_oe & ~s->gpio_hi_out);
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
    case DIV_UDIVIDEND: case DIV_SDIVIDEND:
        *value = s->div_dividend;
        return true;
    case DIV_UDIVISOR: case DIV_SDIVISOR:
        *value = s->div_divisor;
        return true;
    case DIV_QUOTIENT:
        s->div_dirty = false;
        *value = s->div_quotient;
        return true;
    case DIV_REMAINDER:
        *value = s->div_remainder;
        return true;
    case DIV_CSR:
        *value = (m->cycles >= s->div_ready ? DIV_CSR_READY : 0)
                 | (s->div_dirty ? DIV_CSR_DIRTY : 0);
        return true;
    default:
        return false;
    }
}

/* SIO decodes no set, clear and xor aliases; its blocks have registers for that. */
bool sio_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct sio *s = &m->chip->sio;
    (void)b;
    (void)alias;
    if (offset >= SPINLOCK0 && offset <= SPINLOCK31) {      /* writing releases it */
        s->spinlocks &= ~(1u << (offset - SPINLOCK0) / 4);
        return true;
    }
    if (offset >= GPIO_OUT && offset < GPIO_END) {
        write_gpio(s, offset, value);
        return true;
    }
    switch (offset) {
    case FIFO_ST:                                           /* clears the sticky errors */
        s->fifo_status &= ~(uint32_t)(FIFO_WOF | FIFO_ROE);
        return true;
    case FIFO_WR:
        machine_strict(m, "a word for core 1 in SIO FIFO_WR: core 1 is not modelled");
        return true;
    case DIV_UDIVIDEND: case DIV_UDIVISOR: case DIV_SDIVIDEND: case DIV_SDIVISOR:
        write_operand(m, offset, value);
        return true;
    case DIV_QUOTIENT: case DIV_REMAINDER:
        write_result(m, offset, value);
        return true;
    case CPUID: case GPIO_IN: case GPIO_HI_IN: case FIFO_RD: case SPINLOCK_ST: case DIV_CSR:
        return true;                                        /* read only */
    default:
        return false;
    }
}

void sio_reset(machine *m)
{
    m->chip->sio = (struct sio){.fifo_status = FIFO_RDY};
}
