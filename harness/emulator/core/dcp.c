/* SPDX-License-Identifier: Apache-2.0 */
/* The double-precision coprocessor 4 (RP2350 data sheet 3.6.2), at the level of its canned
 * sequences: operands in, rounded result out. Between the two a program reads words, works on them
 * with integer instructions and writes others back; they only serve the hardware's next step, so
 * that here any words do. Mnemonics are those of the pico-sdk's dcp_instr.inc.S.
 *
 * Arithmetic is the host's IEEE double, round to nearest even, with the default NaN; a float result
 * is rounded from the double one, which for these operations on floats is the same as once. */
#include "coprocessors.h"
#include <math.h>
#include <string.h>

enum { TRUNCATE = 0, ROUND = 1 };       /* how RDIC and RDUC convert, state of NTDC and NRDC */
#define SOME_WORDS 0x4000000040000000ull
#define DEFAULT_NAN 0x7ff8000000000000ull
#define DEFAULT_FLOAT_NAN 0x7fc00000u

static double as_double(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint64_t double_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? DEFAULT_NAN : bits;
}

static double as_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t float_bits(double wide)
{
    float value = (float)wide;
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return value != value ? DEFAULT_FLOAT_NAN : bits;
}

/* ---- operands in: MCRR ---- */
static bool write_pair(struct dcp *d, const struct coprocessor_call *c, uint32_t low, uint32_t high)
{
    uint64_t pair = (uint64_t)high << 32 | low;
    switch (c->opc1 << 4 | c->crm) {
    case 0x00: case 0x10: case 0x80:    /* WXMD, WXUP, WXDC */
        d->x = pair;
        break;
    case 0x01: case 0x11:               /* WYMD, WYUP */
        d->y = pair;
        break;
    case 0x02:                          /* WEFD: what REFD gave */
        d->e = low;
        d->engaged = high;
        return true;
    case 0x12: case 0x92:               /* WXYU, WXFC: two floats */
        d->x = double_bits(as_float(low));
        d->y = double_bits(as_float(high));
        break;
    case 0x60:                          /* WXUC */
        d->x = double_bits(low);
        d->y = 0;
        break;
    case 0x70:                          /* WXIC */
        d->x = double_bits((int32_t)low);
        d->y = 0;
        break;
    case 0x20: case 0x30: case 0x40: case 0x50: case 0xa0: case 0xb0: case 0xc0:
        break;                          /* WXMS WXMO WXDD WXDQ WXFM WXFD WXFQ: words of a step */
    default:
        return false;
    }
    d->engaged = true;
    return true;
}

/* ---- results out ---- */
enum result { SUM, DIFFERENCE, PRODUCT, QUOTIENT, ROOT, X, RESULTS };

static double result(const struct dcp *d, enum result which)
{
    double x = as_double(d->x), y = as_double(d->y);
    switch (which) {
    case SUM: return x + y;
    case DIFFERENCE: return x - y;
    case PRODUCT: return x * y;
    case QUOTIENT: return x / y;
    case ROOT: return sqrt(x);
    default: return x;
    }
}

/* MRRC. The forms with a 2 leave the coprocessor engaged. */
static bool read_pair(struct dcp *d, const struct coprocessor_call *c, uint64_t *pair)
{
    bool is_result = c->crm == 0 && (c->opc1 & 1) && c->opc1 / 2 < RESULTS;
    if (is_result)                      /* RDDA RDDS RDDM RDDD RDDQ RDDG */
        *pair = double_bits(result(d, c->opc1 / 2));
    else if (c->crm == 8 && c->opc1 == 0)               /* RXMD */
        *pair = d->x;
    else if (c->crm == 9 && c->opc1 == 0)               /* RYMD */
        *pair = d->y;
    else if (c->crm == 10 && c->opc1 == 0)              /* REFD */
        *pair = d->e | (uint64_t)d->engaged << 32;
    else if (c->crm == 1 || c->crm == 4 || c->crm == 5) /* RXYH RYMR RXMQ RXMS RYMS */
        *pair = SOME_WORDS;
    else
        return false;
    if ((is_result || c->crm == 10) && !c->second)
        d->engaged = false;
    return true;
}

/* Flags of a comparison as those of VCMP. */
static uint32_t compared(const struct dcp *d)
{
    enum { N = 8, Z = 4, C = 2, V = 1, FLAGS_SHIFT = 28 };
    double x = as_double(d->x), y = as_double(d->y);
    uint32_t flags = x != x || y != y ? C | V : x == y ? Z | C : x < y ? N : C;
    return flags << FLAGS_SHIFT;
}

/* Converted to the nearest that fits; a NaN is 0. */
static uint32_t to_integer(const struct dcp *d, bool is_signed)
{
    double least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : UINT32_MAX;
    double value = as_double(d->x);
    if (value != value)
        return 0;
    value = d->e == ROUND ? nearbyint(value) : trunc(value);
    value = value < least ? least : value > most ? most : value;
    return is_signed ? (uint32_t)(int32_t)value : (uint32_t)value;
}

/* MRC */
static bool read_one(struct dcp *d, const struct coprocessor_call *c, uint32_t *value)
{
    enum { CRM_COMPARE = 0, CRM_FLOAT = 2, CRM_INTEGER = 3 };
    if (c->opc1 != 0 || c->crn != 0)
        return false;
    if (c->crm == CRM_COMPARE && c->opc2 == 1)          /* RCMP; of PCMP N counts: engaged */
        *value = c->second ? (uint32_t)d->engaged << 31 : compared(d);
    else if (c->crm == CRM_FLOAT && c->opc2 < RESULTS)  /* RDFA RDFS RDFM RDFD RDFQ RDFG */
        *value = float_bits(result(d, c->opc2));
    else if (c->crm == CRM_INTEGER && c->opc2 < 2)      /* RDIC RDUC */
        *value = to_integer(d, c->opc2 == 0);
    else
        return false;
    if (!c->second)
        d->engaged = false;
    return true;
}

/* CDP: steps, of which only the rounding of a conversion matters here */
static bool step(struct dcp *d, const struct coprocessor_call *c)
{
    enum { OPC1_INIT = 0, OPC1_NORMALISE = 8, OPC2_NTDC = 2, OPC2_NRDC = 3 };
    if (c->opc1 == OPC1_NORMALISE && c->crm == 0 && c->opc2 >= OPC2_NTDC)
        d->e = c->opc2 == OPC2_NRDC ? ROUND : TRUNCATE;
    else if (c->opc1 == OPC1_INIT && c->crm == 0)
        *d = (struct dcp){.engaged = false};
    return c->opc1 <= 2 || c->opc1 == OPC1_NORMALISE;
}

bool dcp_call(machine *m, const struct coprocessor_call *c)
{
    struct dcp *d = &m->chip->dcp;
    uint32_t value;
    uint64_t pair;
    switch (c->kind) {
    case CALL_CDP:
        return step(d, c);
    case CALL_MCRR:
        return write_pair(d, c, m->r[c->rt], m->r[c->rt2]);
    case CALL_MRRC:
        if (!read_pair(d, c, &pair))
            return false;
        coprocessor_result(m, c->rt, (uint32_t)pair);
        coprocessor_result(m, c->rt2, (uint32_t)(pair >> 32));
        return true;
    case CALL_MRC:
        if (!read_one(d, c, &value))
            return false;
        coprocessor_result(m, c->rt, value);
        return true;
    default:
        return false;
    }
}
