/* SPDX-License-Identifier: Apache-2.0 */
/* WATCHDOG and the tick generator that also clocks the TIMER (RP2040 data sheet 4.7).
 *
 * The counter falls by two at each tick (erratum RP2040-E1). A tick is TICK.CYCLES cycles of
 * clk_ref; both counts follow from the clk_ref count of the time base. */
#include "chip.h"

enum {
    CTRL = 0x00, LOAD = 0x04, REASON = 0x08, SCRATCH0 = 0x0c, SCRATCH7 = 0x28, TICK = 0x2c
};
enum {
    CTRL_TIME = 0xffffff, CTRL_PAUSE = 0x07000000, CTRL_ENABLE = 1 << 30,
    CTRL_BITS = CTRL_ENABLE | CTRL_PAUSE, CTRL_RESET = CTRL_PAUSE,
    REASON_TIMER = 1, REASON_FORCE = 2,
    TICK_CYCLES = 0x1ff, TICK_ENABLE = 1 << 9, TICK_RUNNING = 1 << 10, TICK_COUNT_SHIFT = 11,
    COUNTS_PER_TICK = 2
};
#define CTRL_TRIGGER 0x80000000u
enum { PSM_WDSEL = 0x08, PSM_PROC0 = 1 << 15 };

/* ---- ticks ---- */
static bool ticking(const struct watchdog *w)
{
    return w->tick_enable && w->tick_cycles != 0;
}

static uint64_t ref_now(const machine *m)
{
    return timebase_ref(&m->chip->time, m->cycles);
}

uint64_t watchdog_ticks(const machine *m)
{
    const struct watchdog *w = &m->chip->watchdog;
    return ticking(w) ? w->ticks + (ref_now(m) - w->tick_ref) / w->tick_cycles : w->ticks;
}

uint64_t watchdog_cycle_of_tick(const machine *m, uint64_t tick)
{
    const struct watchdog *w = &m->chip->watchdog;
    if (tick <= w->ticks)
        return m->cycles;
    if (!ticking(w))
        return NEVER;
    return timebase_cycle_of_ref(&m->chip->time,
                                 w->tick_ref + (tick - w->ticks) * w->tick_cycles);
}

static void write_tick(machine *m, uint32_t value)
{
    struct watchdog *w = &m->chip->watchdog;
    w->ticks = watchdog_ticks(m);
    w->tick_ref = ref_now(m);
    w->tick_cycles = value & TICK_CYCLES;
    w->tick_enable = value & TICK_ENABLE;
}

static uint32_t read_tick(const machine *m)
{
    const struct watchdog *w = &m->chip->watchdog;
    uint32_t value = w->tick_cycles | (w->tick_enable ? TICK_ENABLE : 0);
    if (ticking(w)) {
        uint32_t gone = (uint32_t)((ref_now(m) - w->tick_ref) % w->tick_cycles);
        value |= TICK_RUNNING | (w->tick_cycles - gone) << TICK_COUNT_SHIFT;
    }
    return value;
}

/* ---- the counter ---- */
static uint32_t remaining(const machine *m)
{
    const struct watchdog *w = &m->chip->watchdog;
    if (!(w->ctrl & CTRL_ENABLE))
        return w->count;
    uint64_t gone = COUNTS_PER_TICK * (watchdog_ticks(m) - w->tick);
    return gone < w->count ? w->count - (uint32_t)gone : 0;
}

static void set_remaining(machine *m, uint32_t count)
{
    m->chip->watchdog.count = count;
    m->chip->watchdog.tick = watchdog_ticks(m);
}

static void fire(machine *m, uint32_t reason)
{
    m->chip->watchdog.reason = reason;
    m->chip->watchdog.ctrl &= ~(uint32_t)CTRL_ENABLE;
    if (m->chip->plain[PLAIN_PSM][PSM_WDSEL / 4] & PSM_PROC0)
        machine_request_reset(m);
    else
        machine_strict(m, "the watchdog fires, but PSM WDSEL does not select the processor: "
                          "on silicon the program would just go on");
}

void watchdog_update(machine *m)
{
    if ((m->chip->watchdog.ctrl & CTRL_ENABLE) && remaining(m) == 0)
        fire(m, REASON_TIMER);
}

uint64_t watchdog_next_event(const machine *m)
{
    const struct watchdog *w = &m->chip->watchdog;
    if (!(w->ctrl & CTRL_ENABLE))
        return NEVER;
    uint32_t ticks = (w->count + COUNTS_PER_TICK - 1) / COUNTS_PER_TICK;
    return watchdog_cycle_of_tick(m, w->tick + ticks);
}

static void write_ctrl(machine *m, uint32_t value, enum alias alias)
{
    struct watchdog *w = &m->chip->watchdog;
    bool trigger = (alias == ALIAS_NORMAL || alias == ALIAS_SET) && (value & CTRL_TRIGGER);
    set_remaining(m, remaining(m));
    w->ctrl = register_write(w->ctrl, value, alias, CTRL_BITS);
    if (trigger)
        fire(m, REASON_FORCE);
    machine_irq_changed(m);
}

bool watchdog_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    const struct watchdog *w = &m->chip->watchdog;
    (void)b;
    if (offset >= SCRATCH0 && offset <= SCRATCH7) {
        *value = w->scratch[(offset - SCRATCH0) / 4];
        return true;
    }
    switch (offset) {
    case CTRL:
        *value = w->ctrl | remaining(m);
        return true;
    case LOAD:                          /* write only */
        *value = 0;
        return true;
    case REASON:
        *value = w->reason;
        return true;
    case TICK:
        *value = read_tick(m);
        return true;
    default:
        return false;
    }
}

bool watchdog_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct watchdog *w = &m->chip->watchdog;
    (void)b;
    if (offset >= SCRATCH0 && offset <= SCRATCH7) {
        uint32_t *scratch = &w->scratch[(offset - SCRATCH0) / 4];
        *scratch = register_write(*scratch, value, alias, 0xffffffff);
        return true;
    }
    switch (offset) {
    case CTRL:
        write_ctrl(m, value, alias);
        return true;
    case LOAD:
        set_remaining(m, value & CTRL_TIME);
        machine_irq_changed(m);
        return true;
    case REASON:                        /* read only */
        return true;
    case TICK:
        write_tick(m, register_write(read_tick(m), value, alias, TICK_ENABLE | TICK_CYCLES));
        machine_irq_changed(m);
        return true;
    default:
        return false;
    }
}

/* SCRATCH and REASON survive every reset but power-on; REASON tells a warm boot why it happened. */
void watchdog_reset(machine *m)
{
    struct watchdog *w = &m->chip->watchdog;
    w->ctrl = CTRL_RESET;
    set_remaining(m, 0);
    write_tick(m, TICK_ENABLE);
}

void watchdog_power_on(machine *m)
{
    m->chip->watchdog = (struct watchdog){.ctrl = CTRL_RESET, .tick_enable = true};
}
