/* SPDX-License-Identifier: Apache-2.0 */
/* CLOCKS, the clock generators (RP2040 data sheet 2.15, RP2350 data sheet 8.1).
 *
 * Frequencies are whole Hz, rounded down. Muxes switch at once. The interrupt registers and the
 * resuscitation of a dead clk_sys are not modelled; FC0 is in clocks_counter.c. */
#include "model.h"

enum { CLOCK_CTRL = 0, CLOCK_DIV = 4, CLOCK_SELECTED = 8, CLOCK_STRIDE = 12 };
enum { RESUS_STATUS = 4, FC0 = 8 };     /* from CLK_SYS_RESUS_CTRL */
enum { WAKE_EN0, WAKE_EN1, SLEEP_EN0, SLEEP_EN1, ENABLED0, ENABLED1, ENABLES };     /* in words */
enum { CTRL_ENABLE = 1 << 11, CTRL_ENABLED = 1 << 28, AUXSRC_SHIFT = 5, AUXSRC_MASK = 7 };
enum { REF_SRC_ROSC = 0, REF_SRC_AUX = 1, REF_SRC_XOSC = 2, SYS_SRC_REF = 0, SYS_SRC_AUX = 1 };
enum { RESUS_CTRL_RESET = 0xff, RESUS_CTRL_BITS = 0x111ff };
#define WAKE_EN0_BITS 0xffffffffu

static const char *const SOURCE_NAMES[] = {
    [SOURCE_NONE] = "nothing", [SOURCE_PLL_SYS] = "PLL_SYS", [SOURCE_PLL_USB] = "PLL_USB",
    [SOURCE_ROSC] = "ROSC", [SOURCE_XOSC] = "XOSC", [SOURCE_CLK_REF] = "clk_ref",
    [SOURCE_CLK_SYS] = "clk_sys", [SOURCE_GPIN0] = "GPIN0", [SOURCE_GPIN1] = "GPIN1"};

static const struct generator *generator(const machine *m, enum clock which)
{
    return &m->chip->model->clocks->generators[which];
}

static enum clock_source aux_source(const machine *m, enum clock which)
{
    uint32_t ctrl = m->chip->clocks.ctrl[which];
    return generator(m, which)->aux[ctrl >> AUXSRC_SHIFT & AUXSRC_MASK];
}

static enum clock_source source_of(const machine *m, enum clock which)
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

uint64_t clocks_source_hz(const machine *m, enum clock_source source)
{
    switch (source) {
    case SOURCE_PLL_SYS:
        return pll_hz(m, PLL_SYS);
    case SOURCE_PLL_USB:
        return pll_hz(m, PLL_USB);
    case SOURCE_ROSC:
        return rosc_running(m) ? m->chip->model->rosc_hz : 0;
    case SOURCE_XOSC:
        return xosc_stable(m) ? m->chip->xosc_hz : 0;
    case SOURCE_CLK_REF:
        return m->chip->clocks.ref_hz;
    case SOURCE_CLK_SYS:
        return m->chip->clocks.sys_hz;
    default:
        return 0;
    }
}

/* The divider is fixed point, 24.8 or 16.16; generators with fewer bits have them at the same
 * place. What an integer part of 0 divides by is up to the chip; some clocks have no divider. */
static uint64_t divided(const machine *m, enum clock which, uint64_t hz)
{
    const struct clock_layout *layout = m->chip->model->clocks;
    uint32_t div = m->chip->clocks.div[which], bits = generator(m, which)->div_bits;
    if (bits == 0)
        return hz;
    if (div >> layout->integer_shift == 0)
        return hz / (layout->zero_is_one_more ? (bits >> layout->integer_shift) + 1 : 65536);
    return (hz << layout->integer_shift) / div;
}

static uint64_t generated_hz(const machine *m, enum clock which)
{
    return divided(m, which, clocks_source_hz(m, source_of(m, which)));
}

uint64_t clocks_hz(const machine *m, enum clock which)
{
    return m->chip->clocks.ctrl[which] & CTRL_ENABLE ? generated_hz(m, which) : 0;
}

/* A clock that runs, but not from what its owner thinks: silicon would go on without a word. */
static void check_source(machine *m, enum clock which)
{
    const char *name = generator(m, which)->name;
    enum clock_source source = source_of(m, which);
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

static uint32_t shown_ctrl(const machine *m, enum clock which)
{
    uint32_t ctrl = m->chip->clocks.ctrl[which];
    bool enabled = m->chip->model->clocks->shows_enabled && (ctrl & CTRL_ENABLE);
    return enabled ? ctrl | CTRL_ENABLED : ctrl;
}

bool clocks_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    const struct clock_layout *layout = m->chip->model->clocks;
    const struct clocks *c = &m->chip->clocks;
    uint32_t enables = (offset - layout->wake_en0) / 4;
    uint32_t counter = (offset - layout->resus_ctrl - FC0) / 4;
    (void)b;
    if (offset < CLOCKS * CLOCK_STRIDE) {
        enum clock which = offset / CLOCK_STRIDE;
        uint32_t field = offset % CLOCK_STRIDE;
        *value = field == CLOCK_CTRL  ? shown_ctrl(m, which)
                 : field == CLOCK_DIV ? c->div[which]
                                      : selected(m, which);
    } else if (offset == layout->resus_ctrl) {
        *value = c->resus_ctrl;
    } else if (offset == layout->resus_ctrl + RESUS_STATUS) {
        *value = 0;
    } else if (counter < FREQUENCY_COUNTER_WORDS) {
        *value = frequency_counter_read(m, counter);
    } else if (offset >= layout->wake_en0 && enables < ENABLES) {
        bool sleep = enables == SLEEP_EN0 || enables == SLEEP_EN1;
        *value = (sleep ? c->sleep_en : c->wake_en)[enables & 1];
    } else {
        return false;
    }
    return true;
}

static void write_ctrl(machine *m, enum clock which, uint32_t ctrl)
{
    struct clocks *c = &m->chip->clocks;
    uint32_t src = which == CLK_REF ? 3 : which == CLK_SYS ? 1 : 0, old = c->ctrl[which];
    bool stays_on_aux = src && (old & src) == 1 && (ctrl & src) == 1;
    if (stays_on_aux && (old ^ ctrl) >> AUXSRC_SHIFT & AUXSRC_MASK)
        machine_strict(m, "%s: AUXSRC changes while SRC selects it, which can glitch; move SRC "
                          "away first", generator(m, which)->name);
    c->ctrl[which] = ctrl;
}

bool clocks_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    const struct clock_layout *layout = m->chip->model->clocks;
    struct clocks *c = &m->chip->clocks;
    uint32_t enables = (offset - layout->wake_en0) / 4, upper = enables & 1;
    uint32_t counter = (offset - layout->resus_ctrl - FC0) / 4;
    (void)b;
    if (offset < CLOCKS * CLOCK_STRIDE) {
        enum clock which = offset / CLOCK_STRIDE;
        const struct generator *g = generator(m, which);
        if (offset % CLOCK_STRIDE == CLOCK_CTRL)
            write_ctrl(m, which, register_write(c->ctrl[which], value, alias, g->ctrl_bits));
        else if (offset % CLOCK_STRIDE == CLOCK_DIV)
            c->div[which] = register_write(c->div[which], value, alias, g->div_bits);
        clocks_changed(m);
    } else if (offset == layout->resus_ctrl) {
        c->resus_ctrl = register_write(c->resus_ctrl, value, alias, RESUS_CTRL_BITS);
    } else if (counter < FREQUENCY_COUNTER_WORDS) {
        return frequency_counter_write(m, counter, value, alias);
    } else if (offset >= layout->wake_en0 && enables <= SLEEP_EN1) {
        uint32_t *words = enables <= WAKE_EN1 ? c->wake_en : c->sleep_en;
        words[upper] = register_write(words[upper], value, alias,
                                      upper ? layout->wake_en1_bits : WAKE_EN0_BITS);
    } else {
        return false;
    }
    return true;
}

/* The frequencies stay: chip_reset tells the time base when everything is at its reset value. */
void clocks_reset(machine *m, const block *b)
{
    const struct clock_layout *layout = m->chip->model->clocks;
    uint32_t wake_en1 = layout->wake_en1_bits;
    struct clocks *c = &m->chip->clocks;
    (void)b;
    *c = (struct clocks){
        .resus_ctrl = RESUS_CTRL_RESET, .ref_hz = c->ref_hz, .sys_hz = c->sys_hz,
        .wake_en = {WAKE_EN0_BITS, wake_en1}, .sleep_en = {WAKE_EN0_BITS, wake_en1}};
    frequency_counter_reset(&c->counter);
    for (enum clock which = 0; which < CLOCKS; which++)
        c->div[which] = generator(m, which)->div_bits ? 1u << layout->integer_shift : 0;
}

uint64_t chip_clk_sys_hz(const machine *m)
{
    return m->chip->clocks.sys_hz;
}

uint64_t chip_time_ns(const machine *m)
{
    return timebase_ns(&m->chip->time, m->cycles);
}
