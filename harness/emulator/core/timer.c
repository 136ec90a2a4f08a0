/* SPDX-License-Identifier: Apache-2.0 */
/* TIMER: a 64-bit count of ticks with four alarms (RP2040 data sheet 4.6, RP2350 data sheet 12.8).
 * The RP2350 has two, with a LOCKED and a SOURCE register before INTR.
 *
 * Nothing runs here cycle by cycle: the count follows from the tick count (ticks.c), and an armed
 * alarm carries the full count at which it is due. */
#include "model.h"

enum {
    TIMEHW = 0x00, TIMELW = 0x04, TIMEHR = 0x08, TIMELR = 0x0c, ALARM0 = 0x10, ALARM3 = 0x1c,
    ARMED = 0x20, TIMERAWH = 0x24, TIMERAWL = 0x28, DBGPAUSE = 0x2c, PAUSE = 0x30, INTR = 0x34,
    INTE = 0x38, INTF = 0x3c, INTS = 0x40,
    RP2350_LOCKED = 0x34, RP2350_SOURCE = 0x38, RP2350_SHIFT = 8
};
enum { ALARMS = 4, ALARM_BITS = 0xf, DBGPAUSE_BITS = 0x6, DBGPAUSE_RESET = 0x7 };

static struct timer *timer_of(machine *m, const block *b)
{
    return &m->chip->timer[b->instance];
}

static unsigned instance(const machine *m, const struct timer *t)
{
    return (unsigned)(t - m->chip->timer);
}

static uint64_t ticks_now(const machine *m, const struct timer *t)
{
    return t->counts_clk_sys ? m->cycles
                             : ticks_count(m, m->chip->model->timer_tick[instance(m, t)]);
}

/* In reset nothing is armed, and the reset at its end starts the count anew. */
static uint64_t count_now(const machine *m, const struct timer *t)
{
    if (resets_held(m, m->chip->model->reset_timer[instance(m, t)]))
        return 0;
    return t->paused ? t->count : t->count + ticks_now(m, t) - t->tick;
}

static void set_count(const machine *m, struct timer *t, uint64_t count)
{
    t->count = count;
    t->tick = ticks_now(m, t);
}

/* An alarm compares for equality with the lower word: one that has just been missed comes back
 * when the word wraps, 71 minutes later. */
static uint64_t due(uint64_t now, uint32_t alarm)
{
    return now + (uint32_t)(alarm - (uint32_t)now);
}

static void update(const machine *m, struct timer *t)
{
    if (!t->armed)
        return;
    uint64_t now = count_now(m, t);
    for (int i = 0; i < ALARMS; i++)
        if ((t->armed >> i & 1) && t->due[i] <= now) {
            t->armed &= ~(1u << i);
            t->intr |= 1u << i;
        }
}

static void time_was_written(const machine *m, struct timer *t, uint32_t high)
{
    uint64_t now = (uint64_t)high << 32 | t->write_low;
    set_count(m, t, now);
    for (int i = 0; i < ALARMS; i++)
        t->due[i] = due(now, t->alarm[i]);
}

static uint32_t irq_lines(const machine *m, struct timer *t)
{
    update(m, t);
    return (t->intr & t->inte) | t->intf;
}

static bool is_before_shift(const machine *m, uint32_t offset)
{
    return m->chip->model->timer_has_source && offset >= RP2350_LOCKED
           && offset < RP2350_LOCKED + RP2350_SHIFT;
}

/* Where the RP2040 has the register. */
static uint32_t unshifted(const machine *m, uint32_t offset)
{
    return m->chip->model->timer_has_source && offset >= RP2350_LOCKED ? offset - RP2350_SHIFT
                                                                       : offset;
}

bool timer_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    struct timer *t = timer_of(m, b);
    uint64_t now = count_now(m, t);
    update(m, t);
    if (is_before_shift(m, offset)) {
        *value = offset == RP2350_LOCKED ? t->locked : t->counts_clk_sys;
        return true;
    }
    switch (unshifted(m, offset)) {
    case TIMEHW: case TIMELW:           /* write only */
        *value = 0;
        return true;
    case TIMELR:                        /* latches the upper word for TIMEHR */
        t->latch_high = (uint32_t)(now >> 32);
        *value = (uint32_t)now;
        return true;
    case TIMEHR:
        *value = t->latch_high;
        return true;
    case TIMERAWH:
        *value = (uint32_t)(now >> 32);
        return true;
    case TIMERAWL:
        *value = (uint32_t)now;
        return true;
    case ALARM0: case ALARM0 + 4: case ALARM0 + 8: case ALARM3:
        *value = t->alarm[(offset - ALARM0) / 4];
        return true;
    case ARMED:
        *value = t->armed;
        return true;
    case DBGPAUSE:
        *value = t->dbgpause;
        return true;
    case PAUSE:
        *value = t->paused;
        return true;
    case INTR:
        *value = t->intr;
        return true;
    case INTE:
        *value = t->inte;
        return true;
    case INTF:
        *value = t->intf;
        return true;
    case INTS:
        *value = irq_lines(m, t);
        return true;
    default:
        return false;
    }
}

static void write_alarm(const machine *m, struct timer *t, uint32_t i, uint32_t value)
{
    t->alarm[i] = value;
    t->due[i] = due(count_now(m, t), value);
    t->armed |= 1u << i;
}

static void write_pause(const machine *m, struct timer *t, uint32_t pause)
{
    uint64_t now = count_now(m, t);
    t->paused = pause;
    set_count(m, t, now);
}

/* LOCKED can't be taken back but by a reset. */
static void write_before_shift(const machine *m, struct timer *t, uint32_t offset, uint32_t value,
                               enum alias alias)
{
    uint64_t now = count_now(m, t);
    if (offset == RP2350_LOCKED)
        t->locked |= register_write(t->locked, value, alias, 1);
    else
        t->counts_clk_sys = register_write(t->counts_clk_sys, value, alias, 1);
    set_count(m, t, now);
}

bool timer_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct timer *t = timer_of(m, b);
    update(m, t);
    if (t->locked) {
        m->dropped_writes++;
        return true;
    }
    if (is_before_shift(m, offset)) {
        write_before_shift(m, t, offset, value, alias);
        machine_irq_changed(m);
        return true;
    }
    switch (unshifted(m, offset)) {
    case TIMELW:                        /* takes effect when TIMEHW is written */
        t->write_low = value;
        break;
    case TIMEHW:
        time_was_written(m, t, value);
        break;
    case ALARM0: case ALARM0 + 4: case ALARM0 + 8: case ALARM3: {
        uint32_t i = (offset - ALARM0) / 4;
        write_alarm(m, t, i, register_write(t->alarm[i], value, alias, 0xffffffff));
        break;
    }
    case ARMED:
        t->armed = flags_write(t->armed, value, alias, ALARM_BITS);
        break;
    case DBGPAUSE:                      /* no effect: emulated time stands while the core halts */
        t->dbgpause = register_write(t->dbgpause, value, alias, DBGPAUSE_BITS);
        break;
    case PAUSE:
        write_pause(m, t, register_write(t->paused, value, alias, 1));
        break;
    case INTR:
        t->intr = flags_write(t->intr, value, alias, ALARM_BITS);
        break;
    case INTE:
        t->inte = register_write(t->inte, value, alias, ALARM_BITS);
        break;
    case INTF:
        t->intf = register_write(t->intf, value, alias, ALARM_BITS);
        break;
    case TIMEHR: case TIMELR: case TIMERAWH: case TIMERAWL: case INTS:      /* read only */
        break;
    default:
        return false;
    }
    machine_irq_changed(m);
    return true;
}

void timer_reset(machine *m, const block *b)
{
    struct timer *t = timer_of(m, b);
    *t = (struct timer){.dbgpause = DBGPAUSE_RESET};
    t->tick = ticks_now(m, t);
}

uint32_t timer_irq_lines(machine *m, unsigned which)
{
    return irq_lines(m, &m->chip->timer[which]);
}

/* Only alarms that interrupt: the others are found due when somebody looks. */
uint64_t timer_next_event(const machine *m, unsigned which)
{
    const struct timer *t = &m->chip->timer[which];
    uint32_t waiting = t->paused ? 0 : t->armed & t->inte;
    uint64_t first = NEVER;
    for (int i = 0; i < ALARMS; i++)
        if ((waiting >> i & 1) && t->due[i] < first)
            first = t->due[i];
    if (first == NEVER)
        return NEVER;
    uint64_t tick = t->tick + (first - t->count);
    return t->counts_clk_sys ? tick
                             : ticks_cycle_of(m, m->chip->model->timer_tick[which], tick);
}
