/* SPDX-License-Identifier: Apache-2.0 */
/* TIMER: a 64-bit count of watchdog ticks with four alarms (RP2040 data sheet 4.6).
 *
 * Nothing runs here cycle by cycle: the count follows from the tick count (watchdog.c), and an
 * armed alarm carries the full count at which it is due. */
#include "chip.h"

enum {
    TIMEHW = 0x00, TIMELW = 0x04, TIMEHR = 0x08, TIMELR = 0x0c, ALARM0 = 0x10, ALARM3 = 0x1c,
    ARMED = 0x20, TIMERAWH = 0x24, TIMERAWL = 0x28, DBGPAUSE = 0x2c, PAUSE = 0x30, INTR = 0x34,
    INTE = 0x38, INTF = 0x3c, INTS = 0x40
};
enum { ALARMS = 4, ALARM_BITS = 0xf, DBGPAUSE_BITS = 0x6, DBGPAUSE_RESET = 0x7 };

static uint64_t count_now(const machine *m)
{
    const struct timer *t = &m->chip->timer;
    if (resets_held(m, RESET_TIMER))
        return 0;
    return t->paused ? t->count : t->count + watchdog_ticks(m) - t->tick;
}

static void set_count(machine *m, uint64_t count)
{
    struct timer *t = &m->chip->timer;
    t->count = count;
    t->tick = watchdog_ticks(m);
}

/* An alarm compares for equality with the lower word: one that has just been missed comes back
 * when the word wraps, 71 minutes later. */
static uint64_t due(uint64_t now, uint32_t alarm)
{
    return now + (uint32_t)(alarm - (uint32_t)now);
}

static void update(machine *m)
{
    struct timer *t = &m->chip->timer;
    if (!t->armed)
        return;
    uint64_t now = count_now(m);
    for (int i = 0; i < ALARMS; i++)
        if ((t->armed >> i & 1) && t->due[i] <= now) {
            t->armed &= ~(1u << i);
            t->intr |= 1u << i;
        }
}

static void time_was_written(machine *m, uint32_t high)
{
    struct timer *t = &m->chip->timer;
    uint64_t now = (uint64_t)high << 32 | t->write_low;
    set_count(m, now);
    for (int i = 0; i < ALARMS; i++)
        t->due[i] = due(now, t->alarm[i]);
}

bool timer_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    struct timer *t = &m->chip->timer;
    uint64_t now = count_now(m);
    (void)b;
    update(m);
    switch (offset) {
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
        *value = timer_irq_lines(m);
        return true;
    default:
        return false;
    }
}

static void write_alarm(machine *m, uint32_t i, uint32_t value)
{
    struct timer *t = &m->chip->timer;
    t->alarm[i] = value;
    t->due[i] = due(count_now(m), value);
    t->armed |= 1u << i;
}

static void write_pause(machine *m, uint32_t pause)
{
    uint64_t now = count_now(m);
    m->chip->timer.paused = pause;
    set_count(m, now);
}

bool timer_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct timer *t = &m->chip->timer;
    (void)b;
    update(m);
    switch (offset) {
    case TIMELW:                        /* takes effect when TIMEHW is written */
        t->write_low = value;
        break;
    case TIMEHW:
        time_was_written(m, value);
        break;
    case ALARM0: case ALARM0 + 4: case ALARM0 + 8: case ALARM3: {
        uint32_t i = (offset - ALARM0) / 4;
        write_alarm(m, i, register_write(t->alarm[i], value, alias, 0xffffffff));
        break;
    }
    case ARMED:
        t->armed = flags_write(t->armed, value, alias, ALARM_BITS);
        break;
    case DBGPAUSE:                      /* no effect: emulated time stands while the core halts */
        t->dbgpause = register_write(t->dbgpause, value, alias, DBGPAUSE_BITS);
        break;
    case PAUSE:
        write_pause(m, register_write(t->paused, value, alias, 1));
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
    (void)b;
    m->chip->timer = (struct timer){.tick = watchdog_ticks(m), .dbgpause = DBGPAUSE_RESET};
}

uint32_t timer_irq_lines(machine *m)
{
    const struct timer *t = &m->chip->timer;
    update(m);
    return (t->intr & t->inte) | t->intf;
}

/* Only alarms that interrupt: the others are found due when somebody looks. */
uint64_t timer_next_event(const machine *m)
{
    const struct timer *t = &m->chip->timer;
    uint32_t waiting = t->paused ? 0 : t->armed & t->inte;
    uint64_t first = NEVER;
    for (int i = 0; i < ALARMS; i++)
        if ((waiting >> i & 1) && t->due[i] < first)
            first = t->due[i];
    return first == NEVER ? NEVER : watchdog_cycle_of_tick(m, t->tick + (first - t->count));
}
