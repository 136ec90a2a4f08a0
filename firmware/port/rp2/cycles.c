/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle counts of any length on a core whose counter wraps.
 *
 * A window reads the core's cycle counter (chip.h: CYCLE_COUNTER_BITS) and the 64-bit microsecond
 * timer at both ends. The counter gives the cycles modulo a wrap, the timer how often it wrapped
 * (extend.h). The time in cycles is known to the 1 us of the timer's resolution, the few cycles
 * between the two reads, and the error of the measured clk_sys, which is below 10 ppm since one
 * crystal feeds both. All that stays below half a wrap, 67 ms at the least, for a window of an hour
 * and more.
 *
 * INTERRUPT_OVERHEAD_CYCLES are those of one USB interrupt that its handler's two reads of the
 * counter do not see: exception entry and return, and the handler's own code before the first read
 * and from the second on. No other interrupt is enabled that it could chain to. What the kernel
 * loses afterwards, flash cache lines that the handler evicted, stays in the kernel's count.
 *
 * All that is inside a window runs from SRAM, so that it causes no flash access of its own; what is
 * concluded from it afterwards does not: SRAM is arena. */
#include "chip.h"
#include "port/cortex_m/extend.h"
#include "port/port.h"
#include "port/rp2/lines.h"
#include "port/rp2/rp2.h"
#include "port/usb/usb.h"

static struct {
    uint32_t clk_sys_khz;
    uint32_t empty_cycles;
    uint32_t mask_before, mask_inside;
    uint64_t start_us;
    uint32_t start_count;
    volatile uint32_t interrupts;
    volatile uint64_t interrupt_cycles;
} window;

/* The timer's latched read would be disturbed by an interrupt that reads it too; this is not. */
ALWAYS_INLINE uint64_t timer_microseconds(void)
{
    uint32_t high = TIMER_TIMERAWH;
    for (;;) {
        const uint32_t low = TIMER_TIMERAWL;
        const uint32_t high_again = TIMER_TIMERAWH;
        if (high_again == high) {
            return (uint64_t)high << 32 | low;
        }
        high = high_again;
    }
}

/* Fills the cache as a kernel would that had just run: one load a line, in ascending order. */
ALWAYS_INLINE void read_through(const struct port_range *range)
{
    const volatile uint8_t *const bytes = range->base;
    const uint32_t base = (uint32_t)(uintptr_t)range->base;
    for (uint32_t at = 0; at < range->bytes; at = next_line(base, at, XIP_LINE_BYTES)) {
        (void)bytes[at];
    }
}

/* Does the counter say what the timer says? The timer's two readings are each off by less than 1 us,
 * and the measured clk_sys by less than 2^-15. A counter that was written or stopped meanwhile is as
 * good as anywhere in its range: extend_cycles then gives the nearest count that it could stand for,
 * and that misses the timer's. */
static bool counter_is_off(uint64_t counted, uint64_t microseconds)
{
    const uint64_t timed = microseconds * window.clk_sys_khz / 1000;
    const uint64_t apart = counted > timed ? counted - timed : timed - counted;
    return apart > 2 * window.clk_sys_khz / 1000 + (timed >> 15);
}

/* The two ends mirror each other, with the same instructions whether interrupts stay on or not: the
 * cost of an empty window is the same, and no interrupt falls between a read and the mask. */
RAM_CODE("port_window_begin")
void port_window_begin(const struct port_conditions *conditions)
{
    /* Masked first: an interrupt's code behind the flush would leave lines of its own. */
    window.mask_before = window_mask();
    port_flush_flash_cache();
    for (uint32_t range = 0; range < conditions->warm_ranges; range++) {
        read_through(&conditions->warm[range]);
    }
    window.mask_inside = conditions->keep_interrupts ? window.mask_before : WINDOW_MASKED;
    const uint32_t inside = window.mask_inside;
    window.interrupts = 0;
    window.interrupt_cycles = 0;
    XIP_CTRL_CTR_HIT = 0;                     /* any write clears */
    XIP_CTRL_CTR_ACC = 0;
    window.start_us = timer_microseconds();
    window.start_count = cycle_counter();
    window_restore(inside);
}

/* Of a window that is over. breaches: those that its end saw. */
__attribute__((noinline))
static void conclude_window(struct port_window *result, uint32_t end_count, uint32_t breaches)
{
    const uint32_t remainder = cycles_between(window.start_count, end_count);
    const uint64_t counted = extend_cycles(remainder, CYCLE_COUNTER_BITS, result->microseconds,
                                           window.clk_sys_khz);
    const uint64_t overhead = result->interrupt_cycles + window.empty_cycles;
    result->cycles = counted > overhead ? counted - overhead : 0;
    const bool off = counter_is_off(counted, result->microseconds);
    result->breaches = breaches | (off ? (uint32_t)BREACH_CYCLE_COUNTER : 0u);
}

RAM_CODE("port_window_end")
void port_window_end(struct port_window *result)
{
    const uint32_t mask_found = window_mask();
    const uint32_t end_count = cycle_counter();
    const uint64_t end_us = timer_microseconds();
    result->xip_hits = XIP_CTRL_CTR_HIT;
    result->xip_accesses = XIP_CTRL_CTR_ACC;
    result->interrupts = window.interrupts;
    result->interrupt_cycles = window.interrupt_cycles;
    result->microseconds = end_us - window.start_us;
    const uint32_t other_masks = other_masks_clear();
    window_restore(window.mask_before);
    const bool masked = mask_found != window.mask_inside || other_masks != 0;
    conclude_window(result, end_count, masked ? BREACH_INTERRUPTS : 0);
}

RAM_CODE("cycles_start")
void cycles_start(uint32_t clk_sys_hz)
{
    static const struct port_conditions nothing_warm = {.keep_interrupts = false};
    struct port_window empty;
    window.clk_sys_khz = clk_sys_hz / 1000;
    window.empty_cycles = 0;
    port_window_begin(&nothing_warm);
    port_window_end(&empty);
    window.empty_cycles = (uint32_t)empty.cycles;
}

RAM_CODE("usbctrl_irq_handler")
void usbctrl_irq_handler(void)
{
    const uint32_t entry = cycle_counter();
    usb_service();
    window.interrupts = window.interrupts + 1;
    window.interrupt_cycles = window.interrupt_cycles + INTERRUPT_OVERHEAD_CYCLES +
                              cycles_between(entry, cycle_counter());
}

/* In SRAM: its own return would bring a line back. */
RAM_CODE("port_flush_flash_cache")
void port_flush_flash_cache(void)
{
    xip_cache_invalidate();
}
