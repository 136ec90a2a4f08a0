/* SPDX-License-Identifier: Apache-2.0 */
/* The clock sources: XOSC, ROSC and the two PLLs (RP2040 data sheet 2.16, 2.17, 2.18; RP2350 data
 * sheet 8.2, 8.3, 8.6).
 *
 * The crystal of a Pico is 12 MHz. The ring oscillator is taken as its nominal 6.5 MHz (RP2040) or
 * 11 MHz (RP2350); on silicon it is 1.8 to 12 MHz on the one and varies on the other, so nothing
 * that is timed may run from it. A PLL locks 40 us after it is powered, about what the data sheets
 * allow for; nothing may depend on the figure.
 */
#include "model.h"

/* ---- XOSC ---- */
enum { XOSC_CTRL = 0x00, XOSC_STATUS = 0x04, XOSC_STARTUP = 0x0c };
enum {
    XOSC_ENABLE_SHIFT = 12, XOSC_ENABLE = 0xfab, XOSC_DISABLE = 0xd1e, FREQ_RANGE_1_15MHZ = 0xaa0,
    XOSC_STATUS_ENABLED = 1 << 12, XOSC_STATUS_BADWRITE = 1 << 24,
    XOSC_CTRL_BITS = 0x00ffffff, XOSC_STARTUP_BITS = 0x00103fff,
    STARTUP_DELAY = 0x3fff, STARTUP_X4 = 1 << 20, STARTUP_CYCLES_PER_COUNT = 256
};
#define STATUS_STABLE 0x80000000u

static const uint64_t NS_PER_SECOND = 1000000000;

static bool xosc_enabled(const machine *m)
{
    return m->chip->xosc.ctrl >> XOSC_ENABLE_SHIFT == XOSC_ENABLE;
}

bool xosc_stable(const machine *m)
{
    return xosc_enabled(m) && chip_time_ns(m) >= m->chip->xosc.stable_ns;
}

static uint64_t startup_ns(const struct xosc *x)
{
    uint64_t cycles = (uint64_t)(x->startup & STARTUP_DELAY) * STARTUP_CYCLES_PER_COUNT
                      * (x->startup & STARTUP_X4 ? 4 : 1);
    return (cycles * NS_PER_SECOND + XOSC_HZ - 1) / XOSC_HZ;    /* an estimate: of a good crystal */
}

static void write_xosc_ctrl(machine *m, uint32_t ctrl)
{
    struct xosc *x = &m->chip->xosc;
    bool was_enabled = xosc_enabled(m);
    uint32_t enable = ctrl >> XOSC_ENABLE_SHIFT, range = ctrl & 0xfff;
    x->ctrl = ctrl;
    x->bad_write |= (enable != 0 && enable != XOSC_ENABLE && enable != XOSC_DISABLE)
                    || (range != 0 && range != FREQ_RANGE_1_15MHZ);
    if (xosc_enabled(m) && !was_enabled)
        x->stable_ns = chip_time_ns(m) + startup_ns(x);
    clocks_changed(m);
}

bool xosc_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    const struct xosc *x = &m->chip->xosc;
    (void)b;
    switch (offset) {
    case XOSC_CTRL:
        *value = x->ctrl;
        return true;
    case XOSC_STATUS:
        *value = (xosc_stable(m) ? STATUS_STABLE : 0) | (xosc_enabled(m) ? XOSC_STATUS_ENABLED : 0)
                 | (x->bad_write ? XOSC_STATUS_BADWRITE : 0);
        return true;
    case XOSC_STARTUP:
        *value = x->startup;
        return true;
    default:
        return false;
    }
}

bool xosc_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct xosc *x = &m->chip->xosc;
    (void)b;
    switch (offset) {
    case XOSC_CTRL:
        write_xosc_ctrl(m, register_write(x->ctrl, value, alias, XOSC_CTRL_BITS));
        return true;
    case XOSC_STATUS:
        if (!flags_write(XOSC_STATUS_BADWRITE, value, alias, XOSC_STATUS_BADWRITE))
            x->bad_write = false;
        return true;
    case XOSC_STARTUP:
        x->startup = register_write(x->startup, value, alias, XOSC_STARTUP_BITS);
        return true;
    default:
        return false;
    }
}

void xosc_reset(machine *m, const block *b)
{
    (void)b;
    m->chip->xosc = (struct xosc){.startup = m->chip->model->xosc_startup_reset};
}

/* ---- ROSC: its registers are plain storage (plain.c); only CTRL.ENABLE has an effect ---- */
enum { ROSC_CTRL = 0x00, ROSC_ENABLE_SHIFT = 12, ROSC_DISABLE = 0xd1e };

bool rosc_running(const machine *m)
{
    return m->chip->plain[PLAIN_ROSC][ROSC_CTRL] >> ROSC_ENABLE_SHIFT != ROSC_DISABLE;
}

/* ---- PLLs ---- */
enum { PLL_CS = 0x00, PLL_PWR = 0x04, PLL_FBDIV_INT = 0x08, PLL_PRIM = 0x0c };
enum {
    CS_REFDIV = 0x3f, CS_BYPASS = 1 << 8, CS_BITS = CS_BYPASS | CS_REFDIV,
    PWR_PD = 1 << 0, PWR_POSTDIVPD = 1 << 3, PWR_VCOPD = 1 << 5, PWR_BITS = 0x2d,
    FBDIV_BITS = 0xfff, FBDIV_LEAST = 16, FBDIV_MOST = 320,
    PRIM_BITS = 0x77000, PRIM_RESET = 0x77000, POSTDIV1_SHIFT = 16, POSTDIV2_SHIFT = 12,
    PLL_LOCK_NS = 40000
};
#define CS_LOCK 0x80000000u
static const uint64_t VCO_LEAST_HZ = 750000000, VCO_MOST_HZ = 1600000000;

static const char *pll_name(int which)
{
    return which == PLL_SYS ? "PLL_SYS" : "PLL_USB";
}

bool pll_powered(const machine *m, int which)
{
    return !(m->chip->pll[which].pwr & (PWR_PD | PWR_VCOPD));
}

bool pll_locked(const machine *m, int which)
{
    return pll_powered(m, which) && chip_time_ns(m) >= m->chip->pll[which].lock_ns;
}

uint64_t pll_hz(const machine *m, int which)
{
    const struct pll *p = &m->chip->pll[which];
    uint64_t divisor = (uint64_t)(p->cs & CS_REFDIV) * (p->prim >> POSTDIV1_SHIFT & 7)
                       * (p->prim >> POSTDIV2_SHIFT & 7);
    if (!pll_powered(m, which) || (p->pwr & PWR_POSTDIVPD) || divisor == 0)
        return 0;
    uint64_t hz = m->chip->xosc_hz * p->fbdiv_int / divisor;
    return which == PLL_SYS ? hz + hz / 1000000 * m->chip->pll_sys_ppm : hz;
}

/* The loop starts, or starts again with another divider: it has to find its lock. */
static void start_vco(machine *m, int which)
{
    struct pll *p = &m->chip->pll[which];
    uint32_t refdiv = p->cs & CS_REFDIV;
    uint64_t vco = refdiv ? m->chip->xosc_hz * p->fbdiv_int / refdiv : 0;
    p->lock_ns = NEVER;
    if (!xosc_stable(m))
        machine_strict(m, "%s is powered up before XOSC is stable", pll_name(which));
    else if (p->fbdiv_int < FBDIV_LEAST || p->fbdiv_int > FBDIV_MOST)
        machine_strict(m, "%s is powered up with FBDIV_INT %u: 16 to 320 are allowed",
                       pll_name(which), (unsigned)p->fbdiv_int);
    else if (vco < VCO_LEAST_HZ || vco > VCO_MOST_HZ)
        machine_strict(m, "%s: its VCO would run at %llu Hz, not within 750 to 1600 MHz",
                       pll_name(which), (unsigned long long)vco);
    else
        p->lock_ns = chip_time_ns(m) + PLL_LOCK_NS;
}

bool pll_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    const struct pll *p = &m->chip->pll[b->instance];
    switch (offset) {
    case PLL_CS:
        *value = p->cs | (pll_locked(m, b->instance) ? CS_LOCK : 0);
        return true;
    case PLL_PWR:
        *value = p->pwr;
        return true;
    case PLL_FBDIV_INT:
        *value = p->fbdiv_int;
        return true;
    case PLL_PRIM:
        *value = p->prim;
        return true;
    default:
        return false;
    }
}

bool pll_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct pll *p = &m->chip->pll[b->instance];
    bool was_powered = pll_powered(m, b->instance);
    uint32_t old_refdiv = p->cs & CS_REFDIV, old_fbdiv = p->fbdiv_int;
    switch (offset) {
    case PLL_CS:
        p->cs = register_write(p->cs, value, alias, CS_BITS);
        if (p->cs & CS_BYPASS)
            machine_strict(m, "%s: CS.BYPASS is not modelled", b->name);
        break;
    case PLL_PWR:
        p->pwr = register_write(p->pwr, value, alias, PWR_BITS);
        break;
    case PLL_FBDIV_INT:
        p->fbdiv_int = register_write(p->fbdiv_int, value, alias, FBDIV_BITS);
        break;
    case PLL_PRIM:
        p->prim = register_write(p->prim, value, alias, PRIM_BITS);
        break;
    default:
        return false;
    }
    bool changed = old_refdiv != (p->cs & CS_REFDIV) || old_fbdiv != p->fbdiv_int;
    if (pll_powered(m, b->instance) && (!was_powered || changed))
        start_vco(m, b->instance);
    clocks_changed(m);
    return true;
}

void pll_reset(machine *m, const block *b)
{
    m->chip->pll[b->instance] = (struct pll){.cs = 1, .pwr = PWR_BITS, .prim = PRIM_RESET};
}
