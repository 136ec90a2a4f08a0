/* SPDX-License-Identifier: Apache-2.0 */
/* Time from cycles, exactly, while clk_sys and clk_ref change under way.
 *
 * A unit of time is 1 / units_per_second, a common multiple of every clk_sys and clk_ref frequency
 * seen so far, so that the length of each of their cycles is a whole number of units and no
 * conversion ever rounds: 6.5, 12, 48 and 125 MHz have 78 GHz in common. Should a program use so
 * many odd frequencies that the multiple outgrows MOST_UNITS, the clock restarts with a smaller
 * one, and the time so far is rounded up by less than one new unit; time still never runs back. */
#include "chip.h"

static const uint64_t MOST_UNITS = 1ull << 62;
static const uint64_t NS_PER_SECOND = 1000000000;

static uint64_t greatest_common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Least common multiple, or 0 when it is more than MOST_UNITS. */
static uint64_t common_multiple(uint64_t a, uint64_t b)
{
    uint64_t factor = a / greatest_common_divisor(a, b);
    return factor > MOST_UNITS / b ? 0 : factor * b;
}

static uint128 units_at(const struct timebase *t, uint64_t cycle)
{
    return t->units + (uint128)(cycle - t->cycle) * t->units_per_cycle;
}

static uint128 divide_up(uint128 value, uint64_t by)
{
    return (value + by - 1) / by;
}

/* A time in units of 1/from s in units of 1/to s, rounded up where it is no whole number. */
static uint128 rescale(uint128 units, uint64_t from, uint64_t to)
{
    uint128 seconds = units / from;
    return seconds * to + divide_up((units - seconds * from) * to, from);
}

void timebase_start(struct timebase *t, uint64_t cycle, uint64_t sys_hz, uint64_t ref_hz)
{
    *t = (struct timebase){.cycle = cycle, .units_per_second = common_multiple(sys_hz, ref_hz)};
    t->units_per_cycle = t->units_per_second / sys_hz;
    t->units_per_ref = t->units_per_second / ref_hz;
}

void timebase_change(struct timebase *t, uint64_t cycle, uint64_t sys_hz, uint64_t ref_hz)
{
    uint64_t old_ref_hz = t->units_per_second / t->units_per_ref;
    uint64_t ref = timebase_ref(t, cycle);
    uint64_t clocks = common_multiple(sys_hz, ref_hz);
    uint64_t units = common_multiple(t->units_per_second, clocks);
    if (units == 0)
        units = clocks;
    uint128 now = rescale(units_at(t, cycle), t->units_per_second, units);
    uint128 ref_units = rescale(t->ref_units, t->units_per_second, units);

    t->units_per_second = units;
    t->units_per_cycle = units / sys_hz;
    t->units_per_ref = units / ref_hz;
    t->cycle = cycle;
    t->units = now;
    t->ref_units = ref_units;
    if (ref_hz != old_ref_hz) {     /* the mux starts the new clock with a whole cycle */
        t->ref = ref;
        t->ref_units = now;
    }
}

uint64_t timebase_ns(const struct timebase *t, uint64_t cycle)
{
    return (uint64_t)(units_at(t, cycle) * NS_PER_SECOND / t->units_per_second);
}

uint64_t timebase_ref(const struct timebase *t, uint64_t cycle)
{
    return t->ref + (uint64_t)((units_at(t, cycle) - t->ref_units) / t->units_per_ref);
}

/* The first cycle at which timebase_ref is `ref` or more, as long as no clock changes. */
uint64_t timebase_cycle_of_ref(const struct timebase *t, uint64_t ref)
{
    if (ref <= t->ref)
        return t->cycle;
    uint128 at = t->ref_units + (uint128)(ref - t->ref) * t->units_per_ref;
    if (at <= t->units)
        return t->cycle;
    uint128 cycles = divide_up(at - t->units, t->units_per_cycle);
    return cycles > NEVER - t->cycle ? NEVER : t->cycle + (uint64_t)cycles;
}
