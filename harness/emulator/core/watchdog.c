/* SPDX-License-Identifier: Apache-2.0 */
/* WATCHDOG (RP2040 data sheet 4.7, RP2350 data sheet 12.9). It counts the ticks of a generator
 * (ticks.c), which on the RP2040 is part of it and also clocks the TIMER.
 *
 * The counter falls by one at each tick, on the RP2040 by two (erratum RP2040-E1). */
#include "model.h"

enum {
    CTRL = 0x00, LOAD = 0x04, REASON = 0x08, SCRATCH0 = 0x0c, SCRATCH7 = 0x28, TICK = 0x2c
};
enum {
    CTRL_TIME = 0xffffff, CTRL_PAUSE = 0x07000000, CTRL_ENABLE = 1 << 30,
    CTRL_BITS = CTRL_ENABLE | CTRL_PAUSE, CTRL_RESET = CTRL_PAUSE,
    REASON_TIMER = 1, REASON_FORCE = 2,
    TICK_CYCLES = 0x1ff, TICK_ENABLE = 1 << 9, TICK_RUNNING = 1 << 10, TICK_COUNT_SHIFT = 11
};
#define CTRL_TRIGGER 0x80000000u
enum { PSM_WDSEL = 0x08 };

/* ---- TICK (RP2040; the RP2350 has TICKS, ticks.c) ---- */
static void write_tick(machine *m, uint32_t value)
{
    ticks_set(m, TICK_WATCHDOG, value & TICK_CYCLES, value & TICK_ENABLE);
}

static uint32_t read_tick(const machine *m)
{
    const struct ticker *t = &m->chip->ticker[TICK_WATCHDOG];
    uint32_t value = t->cycles | (t->enable ? TICK_ENABLE : 0);
    if (ticks_running(m, TICK_WATCHDOG))
        value |= TICK_RUNNING | ticks_remaining(m, TICK_WATCHDOG) << TICK_COUNT_SHIFT;
    return value;
}

/* ---- the counter ---- */
static uint64_t ticks(const machine *m)
{
    return ticks_count(m, TICK_WATCHDOG);
}

static uint32_t remaining(const machine *m)
{
    const struct watchdog *w = &m->chip->watchdog;
    if (!(w->ctrl & CTRL_ENABLE))
        return w->count;
    uint64_t gone = m->chip->model->watchdog_counts_per_tick * (ticks(m) - w->tick);
    return gone < w->count ? w->count - (uint32_t)gone : 0;
}

static void set_remaining(machine *m, uint32_t count)
{
    m->chip->watchdog.count = count;
    m->chip->watchdog.tick = ticks(m);
}

static void fire(machine *m, uint32_t reason)
{
    m->chip->watchdog.reason = reason;
    m->chip->watchdog.ctrl &= ~(uint32_t)CTRL_ENABLE;
    if (m->chip->plain[PLAIN_PSM][PSM_WDSEL / 4] & m->chip->model->psm_proc0)
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
    uint32_t per_tick = m->chip->model->watchdog_counts_per_tick;
    return ticks_cycle_of(m, TICK_WATCHDOG, w->tick + (w->count + per_tick - 1) / per_tick);
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
        return m->chip->model->watchdog_has_tick;
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
        if (!m->chip->model->watchdog_has_tick)
            return false;
        write_tick(m, register_write(read_tick(m), value, alias, TICK_ENABLE | TICK_CYCLES));
        machine_irq_changed(m);
        return true;
    default:
        return false;
    }
}

/* SCRATCH and REASON survive every reset but power-on; REASON tells a warm boot why it happened. */
void watchdog_reset(machine *m, const block *b)
{
    (void)b;
    struct watchdog *w = &m->chip->watchdog;
    w->ctrl = CTRL_RESET;
    set_remaining(m, 0);
    if (m->chip->model->watchdog_has_tick)
        write_tick(m, TICK_ENABLE);
}

void watchdog_power_on(machine *m)
{
    struct chip *c = m->chip;
    c->watchdog = (struct watchdog){.ctrl = CTRL_RESET};
    for (enum tick_generator which = 0; which < TICK_GENERATORS; which++)
        c->ticker[which] = (struct ticker){0};
    c->ticker[TICK_WATCHDOG].enable = c->model->watchdog_has_tick;
}
