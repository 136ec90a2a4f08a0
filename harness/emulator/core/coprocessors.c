/* SPDX-License-Identifier: Apache-2.0 */
/* Coprocessors of the RP2350: dispatch, and the GPIO coprocessor 0 (RP2350 data sheet 3.6.1), a
 * second way to the GPIO registers of the SIO. CPACR has been looked at by the core. */
#include "coprocessors.h"

/* ---- instructions, ARMv8-M ARM C2.4: MCR, MRC, MCRR, MRRC, CDP and their forms with a 2 ---- */
static bool take_apart(uint32_t i, struct coprocessor_call *c)
{
    bool load = i >> 20 & 1;
    c->second = i >> 28 & 1;
    c->crm = i & 15;
    c->rt = i >> 12 & 15;
    if ((i & 0x0fe00000) == 0x0c400000) {               /* two registers */
        c->kind = load ? CALL_MRRC : CALL_MCRR;
        c->opc1 = i >> 4 & 15;
        c->rt2 = i >> 16 & 15;
        return true;
    }
    if ((i & 0x0f000000) != 0x0e000000)
        return false;
    c->crn = i >> 16 & 15;
    c->opc2 = i >> 5 & 7;
    if (i >> 4 & 1) {
        c->kind = load ? CALL_MRC : CALL_MCR;
        c->opc1 = i >> 21 & 7;
    } else {
        c->kind = CALL_CDP;
        c->opc1 = i >> 20 & 15;
    }
    return true;
}

void coprocessor_result(machine *m, unsigned rt, uint32_t value)
{
    if (rt != PC_REGISTER) {
        m->r[rt] = value;
        return;
    }
    m->n = value;
    m->z = !(value >> 30 & 1);
    m->c = value >> 29 & 1;
    m->v = value >> 28 & 1;
}

/* ---- GPIO: CRm is the register, opc1 what is done with it ---- */
enum { CRM_OUT = 0, CRM_OE = 4, CRM_IN = 8, CRM_HIGH = 1 };
enum { OP_PUT, OP_XOR, OP_SET, OP_CLR, OP_BIT = 4, OP_INDEX = 8, OPS = 12 };

static uint32_t *gpio_word(machine *m, bool output_enable, bool high)
{
    struct sio *s = &m->chip->sio;
    return output_enable ? (high ? &s->gpio_hi_oe : &s->gpio_oe)
                         : (high ? &s->gpio_hi_out : &s->gpio_out);
}

static uint32_t gpio_read(machine *m, uint32_t group, bool high)
{
    return group == CRM_IN ? sio_gpio_in(m, high) : *gpio_word(m, group == CRM_OE, high);
}

static void gpio_do(machine *m, bool output_enable, bool high, unsigned operation, uint32_t value)
{
    static const enum alias operations[4] = {ALIAS_NORMAL, ALIAS_XOR, ALIAS_SET, ALIAS_CLEAR};
    uint32_t *word = gpio_word(m, output_enable, high);
    *word = register_write(*word, value, operations[operation & 3],
                           high ? 0xff00ffff : 0xffffffff);
}

/* Of one pin; `value` 0 leaves it alone, but for a put. */
static void gpio_bit(machine *m, bool output_enable, unsigned operation, uint32_t pin, bool value)
{
    uint32_t bit = 1u << (pin & 31);
    if ((operation & 3) == OP_PUT)
        operation = value ? OP_SET : OP_CLR;
    else if (!value)
        return;
    gpio_do(m, output_enable, pin >> 5 & 1, operation, bit);
}

static bool gpio_call(machine *m, const struct coprocessor_call *c)
{
    uint32_t group = c->crm & ~(uint32_t)CRM_HIGH;
    bool high = c->crm & CRM_HIGH, output_enable = group == CRM_OE;
    bool wide = c->kind == CALL_MCRR || c->kind == CALL_MRRC;
    if (c->second || c->kind == CALL_CDP || (wide && high) || (!wide && (c->crn || c->opc2)))
        return false;
    if (c->kind == CALL_MRC || c->kind == CALL_MRRC) {
        if (c->opc1 != 0 || (group != CRM_OUT && group != CRM_OE && group != CRM_IN))
            return false;
        coprocessor_result(m, c->rt, gpio_read(m, group, high));
        if (wide)
            coprocessor_result(m, c->rt2, gpio_read(m, group, true));
        return true;
    }
    uint32_t first = m->r[c->rt];
    if (group != CRM_OUT && group != CRM_OE)
        return false;
    if (c->kind == CALL_MCR && c->opc1 < OP_BIT) {
        gpio_do(m, output_enable, high, c->opc1, first);
    } else if (c->kind == CALL_MCR) {
        if (high || c->opc1 == OP_BIT)
            return false;
        gpio_bit(m, output_enable, c->opc1, first, true);
    } else if (c->opc1 < OP_BIT) {
        gpio_do(m, output_enable, false, c->opc1, first);
        gpio_do(m, output_enable, true, c->opc1, m->r[c->rt2]);
    } else if (c->opc1 < OP_INDEX) {
        gpio_bit(m, output_enable, c->opc1, first, m->r[c->rt2] & 1);
    } else if (c->opc1 < OPS) {
        gpio_do(m, output_enable, m->r[c->rt2] & 1, c->opc1, first);
    } else {
        return false;
    }
    return true;
}

bool rp2350_coprocessor(machine *m, uint32_t instruction)
{
    enum { GPIO = 0, DCP = 4, RCP = 7 };
    struct coprocessor_call call = {0};
    if (!take_apart(instruction, &call))
        return false;
    switch (instruction >> 8 & 15) {
    case GPIO:
        return gpio_call(m, &call);
    case DCP:
        return dcp_call(m, &call);
    case RCP:
        return rcp_call(m, &call);
    default:
        return false;
    }
}
