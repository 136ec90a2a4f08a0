/* SPDX-License-Identifier: Apache-2.0 */
/* CLOCKS, the clock generators (RP2040 data sheet 2.15).
 *
 * Frequencies are whole Hz, rounded down. Muxes switch at once. The frequency counter, the
 * interrupt registers and the resuscitation of a dead clk_sys are not modelled. */
#include "chip.h"

enum {
    CLOCK_CTRL = 0, CLOCK_DIV = 4, CLOCK_SELECTED = 8, CLOCK_STRIDE = 12,
    CLK_SYS_RESUS_CTRL = 0x78, CLK_SYS_RESUS_STATUS = 0x7c,
    WAKE_EN0 = 0xa0, WAKE_EN1 = 0xa4, SLEEP_EN0 = 0xa8, SLEEP_EN1 = 0xac,
    ENABLED0 = 0xb0, ENABLED1 = 0xb4
};
enum { CTRL_ENABLE = 1 << 11, AUXSRC_SHIFT = 5, AUXSRC_MASK = 7 };
enum { REF_SRC_ROSC = 0, REF_SRC_AUX = 1, REF_SRC_XOSC = 2, SYS_SRC_REF = 0, SYS_SRC_AUX = 1 };
enum { DIV_RESET = 0x100, RESUS_CTRL_RESET = 0xff, RESUS_CTRL_BITS = 0x111ff };
#define WAKE_EN0_BITS 0xffffffffu
#define WAKE_EN1_BITS 0x00007fffu

enum source {
    SOURCE_PLL_SYS, SOURCE_PLL_USB, SOURCE_ROSC, SOURCE_XOSC, SOURCE_CLK_REF, SOURCE_CLK_SYS,
    SOURCE_GPIN0, SOURCE_GPIN1, SOURCE_NONE
};
static const char *const SOURCE_NAMES[] = {
    "PLL_SYS", "PLL_USB", "ROSC", "XOSC", "clk_ref", "clk_sys", "GPIN0", "GPIN1", "nothing"};

struct generator {
    const char *name;
    uint32_t ctrl_bits, div_bits;
    uint8_t aux[8];             /* enum source, by AUXSRC */
};
#define AUX_OF_REF {SOURCE_PLL_USB, SOURCE_GPIN0, SOURCE_GPIN1, SOURCE_NONE, SOURCE_NONE, \
                    SOURCE_NONE, SOURCE_NONE, SOURCE_NONE}
#define AUX_OF_SYS {SOURCE_PLL_SYS, SOURCE_PLL_USB, SOURCE_ROSC, SOURCE_XOSC, SOURCE_GPIN0, \
                    SOURCE_GPIN1, SOURCE_NONE, SOURCE_NONE}
#define AUX_OF_PERI {SOURCE_CLK_SYS, SOURCE_PLL_SYS, SOURCE_PLL_USB, SOURCE_ROSC, SOURCE_XOSC, \
                     SOURCE_GPIN0, SOURCE_GPIN1, SOURCE_NONE}
#define AUX_OF_USB {SOURCE_PLL_USB, SOURCE_PLL_SYS, SOURCE_ROSC, SOURCE_XOSC, SOURCE_GPIN0, \
                    SOURCE_GPIN1, SOURCE_NONE, SOURCE_NONE}
static const struct generator GENERATORS[CLOCKS] = {
    [CLK_GPOUT0] = {"clk_gpout0", 0x00131de0, 0xffffffff, {0}},
    [CLK_GPOUT1] = {"clk_gpout1", 0x00131de0, 0xffffffff, {0}},
    [CLK_GPOUT2] = {"clk_gpout2", 0x00131de0, 0xffffffff, {0}},
    [CLK_GPOUT3] = {"clk_gpout3", 0x00131de0, 0xffffffff, {0}},
    [CLK_REF] = {"clk_ref", 0x00000063, 0x00000300, AUX_OF_REF},
    [CLK_SYS] = {"clk_sys", 0x000000e1, 0xffffffff, AUX_OF_SYS},
    [CLK_PERI] = {"clk_peri", 0x00000ce0, 0, AUX_OF_PERI},
    [CLK_USB] = {"clk_usb", 0x00130ce0, 0x00000300, AUX_OF_USB},
    [CLK_ADC] = {"clk_adc", 0x00130ce0, 0x00000300, AUX_OF_USB},
    [CLK_RTC] = {"clk_rtc", 0x00130ce0, 0xffffffff, AUX_OF_USB},
};

static enum source aux_source(const machine *m, enum clock which)
{
    uint32_t ctrl = m->chip->clocks.ctrl[which];
    return GENERATORS[which].aux[ctrl >> AUXSRC_SHIFT & AUXSRC_MASK];
}

static enum source source_of(const machine *m, enum clock which)
{
    uint32_t ctrl = m->chip->clocks.ctrl[which];
    if (which == CLK_REF && (ctrl & 3) != REF_SRC_AUX)
        return (ctrl & 3) == REF_SRC_XOSC   ? SOURCE_XOSC
               : (ctrl & 3) == REF_SRC_ROSC ? SOURCE_ROSC
                                            : SOURCE_NONE;
    if (which == CLK_SYS && (ctrl & 1) == SYS_SRC_REF)
        return SOURCE_CLK_REF;
    return aux_source(m, which);
}

static uint64_t source_hz(const machine *m, enum source source)
{
    switch (source) {
    case SOURCE_PLL_SYS:
        return pll_hz(m, PLL_SYS);
    case SOURCE_PLL_USB:
        return pll_hz(m, PLL_USB);
    case SOURCE_ROSC:
        return rosc_running(m) ? ROSC_HZ : 0;
    case SOURCE_XOSC:
        return xosc_stable(m) ? XOSC_HZ : 0;
    case SOURCE_CLK_REF:
        return m->chip->clocks.ref_hz;
    case SOURCE_CLK_SYS:
        return m->chip->clocks.sys_hz;
    default:
        return 0;
    }
}

/* The divider is 24.8 fixed point; generators with fewer bits have them at the same place. An
 * integer part of 0 divides by 65536; clk_peri has no divider. */
static uint64_t divided(uint64_t hz, uint32_t div)
{
    if (div >> 8 == 0)
        return hz >> 16;
    return hz * 256 / div;
}

static uint64_t generated_hz(const machine *m, enum clock which)
{
    uint64_t hz = source_hz(m, source_of(m, which));
    return which == CLK_PERI ? hz : divided(hz, m->chip->clocks.div[which]);
}

uint64_t clocks_hz(const machine *m, enum clock which)
{
    return m->chip->clocks.ctrl[which] & CTRL_ENABLE ? generated_hz(m, which) : 0;
}

/* A clock that runs, but not from what its owner thinks: silicon would go on without a word. */
static void check_source(machine *m, enum clock which)
{
    const char *name = GENERATORS[which].name;
    enum source source = source_of(m, which);
    if (source == SOURCE_XOSC && !xosc_stable(m))
        machine_strict(m, "%s uses XOSC before it is stable", name);
    if (source != SOURCE_PLL_SYS && source != SOURCE_PLL_USB)
        return;
    int pll = source == SOURCE_PLL_SYS ? PLL_SYS : PLL_USB;
    if (pll_powered(m, pll) && !xosc_stable(m))
        machine_strict(m, "%s uses %s, but XOSC is not stable", name, SOURCE_NAMES[source]);
    else if (pll_powered(m, pll) && !pll_locked(m, pll))
        machine_strict(m, "%s uses %s before LOCK", name, SOURCE_NAMES[source]);
}

void clocks_changed(machine *m)
{
    struct clocks *c = &m->chip->clocks;
    check_source(m, CLK_REF);
    check_source(m, CLK_SYS);
    for (enum clock which = CLK_PERI; which < CLOCKS; which++)
        if (c->ctrl[which] & CTRL_ENABLE)
            check_source(m, which);

    /* A clock that stops keeps its last frequency here: time goes on while the message is read. */
    uint64_t ref_hz = generated_hz(m, CLK_REF);
    if (ref_hz == 0)
        machine_strict(m, "clk_ref has no clock: its source %s stands still",
                       SOURCE_NAMES[source_of(m, CLK_REF)]);
    else
        c->ref_hz = ref_hz;
    uint64_t sys_hz = generated_hz(m, CLK_SYS);
    if (sys_hz == 0)
        machine_strict(m, "clk_sys has no clock: its source %s stands still",
                       SOURCE_NAMES[source_of(m, CLK_SYS)]);
    else
        c->sys_hz = sys_hz;

    struct timebase *t = &m->chip->time;
    if (c->sys_hz * t->units_per_cycle != t->units_per_second
        || c->ref_hz * t->units_per_ref != t->units_per_second) {
        timebase_change(t, m->cycles, c->sys_hz, c->ref_hz);
        machine_irq_changed(m);     /* the next alarm is at another cycle now */
        machine_usb_noticed(m);     /* whoever waits for a moment must reckon its cycle anew */
    }
    usb_attachment_changed(m);
}

static uint32_t selected(const machine *m, enum clock which)
{
    uint32_t ctrl = m->chip->clocks.ctrl[which];
    return which == CLK_REF ? 1u << (ctrl & 3) : which == CLK_SYS ? 1u << (ctrl & 1) : 1;
}

bool clocks_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    const struct clocks *c = &m->chip->clocks;
    (void)b;
    if (offset < CLOCKS * CLOCK_STRIDE) {
        enum clock which = offset / CLOCK_STRIDE;
        uint32_t field = offset % CLOCK_STRIDE;
        *value = field == CLOCK_CTRL  ? c->ctrl[which]
                 : field == CLOCK_DIV ? c->div[which]
                                      : selected(m, which);
        return true;
    }
    switch (offset) {
    case CLK_SYS_RESUS_CTRL:
        *value = c->resus_ctrl;
        return true;
    case CLK_SYS_RESUS_STATUS:
        *value = 0;
        return true;
    case WAKE_EN0: case WAKE_EN1: case ENABLED0: case ENABLED1:
        *value = c->wake_en[offset / 4 & 1];
        return true;
    case SLEEP_EN0: case SLEEP_EN1:
        *value = c->sleep_en[offset / 4 & 1];
        return true;
    default:
        return false;
    }
}

static void write_ctrl(machine *m, enum clock which, uint32_t ctrl)
{
    struct clocks *c = &m->chip->clocks;
    uint32_t src = which == CLK_REF ? 3 : which == CLK_SYS ? 1 : 0, old = c->ctrl[which];
    bool stays_on_aux = src && (old & src) == 1 && (ctrl & src) == 1;
    if (stays_on_aux && (old ^ ctrl) >> AUXSRC_SHIFT & AUXSRC_MASK)
        machine_strict(m, "%s: AUXSRC changes while SRC selects it, which can glitch; move SRC "
                          "away first", GENERATORS[which].name);
    c->ctrl[which] = ctrl;
}

bool clocks_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct clocks *c = &m->chip->clocks;
    (void)b;
    if (offset < CLOCKS * CLOCK_STRIDE) {
        enum clock which = offset / CLOCK_STRIDE;
        const struct generator *g = &GENERATORS[which];
        if (offset % CLOCK_STRIDE == CLOCK_CTRL)
            write_ctrl(m, which, register_write(c->ctrl[which], value, alias, g->ctrl_bits));
        else if (offset % CLOCK_STRIDE == CLOCK_DIV)
            c->div[which] = register_write(c->div[which], value, alias, g->div_bits);
        clocks_changed(m);
        return true;
    }
    uint32_t *enables;
    switch (offset) {
    case CLK_SYS_RESUS_CTRL:
        c->resus_ctrl = register_write(c->resus_ctrl, value, alias, RESUS_CTRL_BITS);
        return true;
    case WAKE_EN0: case WAKE_EN1:
        enables = c->wake_en;
        break;
    case SLEEP_EN0: case SLEEP_EN1:
        enables = c->sleep_en;
        break;
    default:
        return false;
    }
    uint32_t upper = offset / 4 & 1;
    enables[upper] = register_write(enables[upper], value, alias,
                                    upper ? WAKE_EN1_BITS : WAKE_EN0_BITS);
    return true;
}

/* The frequencies stay: chip_reset tells the time base when everything is at its reset value. */
void clocks_reset(machine *m)
{
    struct clocks *c = &m->chip->clocks;
    *c = (struct clocks){
        .resus_ctrl = RESUS_CTRL_RESET, .ref_hz = c->ref_hz, .sys_hz = c->sys_hz,
        .wake_en = {WAKE_EN0_BITS, WAKE_EN1_BITS}, .sleep_en = {WAKE_EN0_BITS, WAKE_EN1_BITS}};
    for (enum clock which = 0; which < CLOCKS; which++)
        c->div[which] = which == CLK_PERI ? 0 : DIV_RESET;
}

uint64_t chip_clk_sys_hz(const machine *m)
{
    return m->chip->clocks.sys_hz;
}

uint64_t chip_time_ns(const machine *m)
{
    return timebase_ns(&m->chip->time, m->cycles);
}
