/* SPDX-License-Identifier: Apache-2.0 */
/* The redundancy coprocessor 7 (RP2350 data sheet 3.6.3): assertions that hardened code makes about
 * its own state. A failed one raises NMI on silicon; here it stops the emulator. The random delays
 * of the instructions without a 2 are left out: they would depend on a true random number. */
#include "coprocessors.h"

#define RCP_TRUE 0xa500a500u
#define RCP_FALSE 0x00c300c3u
#define RCP_INTEGER 0x96009600u
enum { RANDOM_MULTIPLIER = 5, RANDOM_STEP = 3 };

static bool is_valid(uint32_t b)
{
    return b == RCP_TRUE || b == RCP_FALSE;
}

/* A value of its own for each tag, as long as the salt stays. */
static uint32_t canary(const struct rcp *r, unsigned tag)
{
    uint64_t mixed = (r->salt ^ (uint64_t)tag * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
    return (uint32_t)(mixed >> 32);
}

static bool check(machine *m, const char *what, bool holds)
{
    if (!holds)
        machine_strict(m, "RCP: %s does not hold; silicon raises NMI", what);
    return true;
}

static bool write_one(machine *m, const struct coprocessor_call *c, unsigned tag)
{
    struct rcp *r = &m->chip->rcp;
    uint32_t value = m->r[c->rt];
    switch (c->opc1) {
    case 0:
        return check(m, "canary_check", value == canary(r, tag));
    case 1:
        return check(m, "bvalid", is_valid(value));
    case 2:
        return check(m, "btrue", value == RCP_TRUE);
    case 3:
        return check(m, "bfalse", value == RCP_FALSE);
    case 4:
        r->count = (uint8_t)tag;
        return true;
    case 5:
        return check(m, "count_check", r->count++ == tag);
    default:
        return false;
    }
}

static bool write_two(machine *m, const struct coprocessor_call *c)
{
    uint32_t x = m->r[c->rt], y = m->r[c->rt2];
    switch (c->opc1) {
    case 0:
        return check(m, "b2valid", is_valid(x) && is_valid(y));
    case 1:
        return check(m, "b2and", x == RCP_TRUE && y == RCP_TRUE);
    case 2:
        return check(m, "b2or", is_valid(x) && is_valid(y) && (x == RCP_TRUE || y == RCP_TRUE));
    case 3:
        return check(m, "bxorvalid", is_valid(x ^ y));
    case 4:
        return check(m, "bxortrue", (x ^ y) == RCP_TRUE);
    case 5:
        return check(m, "bxorfalse", (x ^ y) == RCP_FALSE);
    case 6:
        return check(m, "ivalid", (x ^ y) == RCP_INTEGER);
    case 7:
        return check(m, "iequal", x == y);
    default:
        return false;
    }
}

static bool set_salt(machine *m, const struct coprocessor_call *c)
{
    struct rcp *r = &m->chip->rcp;
    if (c->crm > 1)
        return false;
    if (c->crm == 0) {                  /* the other salt is core 1's */
        if (r->has_salt)
            return check(m, "that the salt is set once", false);
        r->salt = (uint64_t)m->r[c->rt2] << 32 | m->r[c->rt];
        r->has_salt = true;
    }
    return true;
}

static bool read_one(machine *m, const struct coprocessor_call *c, unsigned tag)
{
    struct rcp *r = &m->chip->rcp;
    switch (c->opc1) {
    case 0:
        coprocessor_result(m, c->rt, canary(r, tag));
        return true;
    case 1:
        coprocessor_result(m, c->rt, r->has_salt ? RCP_TRUE : RCP_FALSE);
        return true;
    case 2:
        r->random = (uint8_t)(r->random * RANDOM_MULTIPLIER + RANDOM_STEP);
        coprocessor_result(m, c->rt, r->random);
        return true;
    default:
        return false;
    }
}

bool rcp_call(machine *m, const struct coprocessor_call *c)
{
    enum { CANARY_STATUS = 1, SALT = 8 };
    bool before_salt = (c->kind == CALL_MRC && c->opc1 == CANARY_STATUS)
                       || (c->kind == CALL_MCRR && c->opc1 == SALT);
    unsigned tag = c->crn << 4 | c->crm;
    if (!m->chip->rcp.has_salt && !before_salt)
        return check(m, "that the salt is set first", false);
    switch (c->kind) {
    case CALL_MRC:
        return read_one(m, c, tag);
    case CALL_MCR:
        return write_one(m, c, tag);
    case CALL_MCRR:
        return c->opc1 == SALT ? set_salt(m, c) : write_two(m, c);
    case CALL_CDP:
        return c->opc1 == 0 && c->opc2 == 1 && check(m, "panic", false);
    default:
        return false;
    }
}
