/* SPDX-License-Identifier: Apache-2.0 */
/* Tick generators: each divides clk_ref by its CYCLES, 1 MHz by convention. The RP2040 has one, the
 * TICK register of its WATCHDOG; the RP2350 has a block TICKS of six (RP2350 data sheet 8.5), which
 * is here. Nothing runs cycle by cycle: the counts follow from the time base's count of clk_ref. */
#include "chip.h"

enum { CTRL = 0x0, CYCLES = 0x4, COUNT = 0x8, STRIDE = 0xc };
enum { CTRL_ENABLE = 1 << 0, CTRL_RUNNING = 1 << 1, CYCLES_BITS = 0x1ff };

static const char *const NAMES[TICK_GENERATORS] = {
    [TICK_PROC0] = "PROC0", [TICK_PROC1] = "PROC1", [TICK_TIMER0] = "TIMER0",
    [TICK_TIMER1] = "TIMER1", [TICK_WATCHDOG] = "WATCHDOG", [TICK_RISCV] = "RISCV",
};

static uint64_t ref_now(const machine *m)
{
    return timebase_ref(&m->chip->time, m->cycles);
}

bool ticks_running(const machine *m, enum tick_generator which)
{
    const struct ticker *t = &m->chip->ticker[which];
    return t->enable && t->cycles != 0;
}

uint64_t ticks_count(const machine *m, enum tick_generator which)
{
    const struct ticker *t = &m->chip->ticker[which];
    return ticks_running(m, which) ? t->ticks + (ref_now(m) - t->ref) / t->cycles : t->ticks;
}

uint64_t ticks_cycle_of(const machine *m, enum tick_generator which, uint64_t tick)
{
    const struct ticker *t = &m->chip->ticker[which];
    if (tick <= t->ticks)
        return m->cycles;
    if (!ticks_running(m, which))
        return NEVER;
    return timebase_cycle_of_ref(&m->chip->time, t->ref + (tick - t->ticks) * t->cycles);
}

uint32_t ticks_remaining(const machine *m, enum tick_generator which)
{
    const struct ticker *t = &m->chip->ticker[which];
    return t->cycles - (uint32_t)((ref_now(m) - t->ref) % t->cycles);
}

void ticks_set(machine *m, enum tick_generator which, uint32_t cycles, bool enable)
{
    struct ticker *t = &m->chip->ticker[which];
    t->ticks = ticks_count(m, which);
    t->ref = ref_now(m);
    t->cycles = cycles;
    t->enable = enable;
}

/* ---- TICKS ---- */
bool ticks_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    enum tick_generator which = offset / STRIDE;
    (void)b;
    if (which >= TICK_GENERATORS)
        return false;
    bool running = ticks_running(m, which);
    switch (offset % STRIDE) {
    case CTRL:
        *value = (m->chip->ticker[which].enable ? CTRL_ENABLE : 0) | (running ? CTRL_RUNNING : 0);
        return true;
    case CYCLES:
        *value = m->chip->ticker[which].cycles;
        return true;
    default:
        *value = running ? ticks_remaining(m, which) : 0;
        return true;
    }
}

/* CYCLES first, then ENABLE: the other way round silicon would tick at some other rate or never,
 * without a word. */
bool ticks_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    enum tick_generator which = offset / STRIDE;
    (void)b;
    if (which >= TICK_GENERATORS)
        return false;
    const struct ticker *t = &m->chip->ticker[which];
    switch (offset % STRIDE) {
    case CTRL: {
        bool enable = register_write(t->enable ? CTRL_ENABLE : 0, value, alias, CTRL_ENABLE);
        if (enable && t->cycles == 0)
            machine_strict(m, "TICKS: %s is enabled while its CYCLES is 0, so it never ticks",
                           NAMES[which]);
        ticks_set(m, which, t->cycles, enable);
        break;
    }
    case CYCLES:
        if (t->enable)
            machine_strict(m, "TICKS: CYCLES of %s is written while it is enabled", NAMES[which]);
        ticks_set(m, which, register_write(t->cycles, value, alias, CYCLES_BITS), t->enable);
        break;
    default:                            /* COUNT is read only */
        break;
    }
    machine_irq_changed(m);
    return true;
}

void ticks_reset(machine *m, const block *b)
{
    (void)b;
    for (enum tick_generator which = 0; which < TICK_GENERATORS; which++)
        ticks_set(m, which, 0, false);
}
