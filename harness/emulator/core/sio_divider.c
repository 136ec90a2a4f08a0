/* SPDX-License-Identifier: Apache-2.0 */
/* The integer divider in the RP2040's SIO (RP2040 data sheet 2.3.1.5). The RP2350 has none: its
 * cores divide themselves. */
#include "chip.h"

enum {
    DIV_UDIVIDEND = 0x060, DIV_UDIVISOR = 0x064, DIV_SDIVIDEND = 0x068, DIV_SDIVISOR = 0x06c,
    DIV_QUOTIENT = 0x070, DIV_REMAINDER = 0x074, DIV_CSR = 0x078
};
enum { DIV_CSR_READY = 1, DIV_CSR_DIRTY = 2, DIV_CYCLES = 8 };

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

bool sio_divider_read(machine *m, uint32_t offset, uint32_t *value)
{
    struct sio *s = &m->chip->sio;
    switch (offset) {
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

bool sio_divider_write(machine *m, uint32_t offset, uint32_t value)
{
    switch (offset) {
    case DIV_UDIVIDEND: case DIV_UDIVISOR: case DIV_SDIVIDEND: case DIV_SDIVISOR:
        write_operand(m, offset, value);
        return true;
    case DIV_QUOTIENT: case DIV_REMAINDER:
        write_result(m, offset, value);
        return true;
    case DIV_CSR:                       /* read only */
        return true;
    default:
        return false;
    }
}
