/* SPDX-License-Identifier: Apache-2.0 */
/* What the RP2040 has of its own, for the files of port/rp2. */
#ifndef CHIP_H
#define CHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "port/cortex_m/core.h"
#include "port/rp2040/registers.h"
#include "port/rp2/rp2.h"
#include "ripbench_schema.h"

enum {
    THIS_CHIP = CHIP_RP2040,
    PLL_SYS_POSTDIV1 = 6,                     /* clk_sys 1500 MHz / 6 / 2 = 125 MHz */
    CYCLE_COUNTER_BITS = 24,                  /* a wrap every 134 ms */
    /* Entry and return by the Cortex-M0+, and the handler's code as gcc 12 translates it. */
    INTERRUPT_OVERHEAD_CYCLES = 15 + 13 + 8 + 22,
    WINDOW_MASKED = 1
};

ALWAYS_INLINE void core_start(const uint8_t *stack_bottom)
{
    (void)stack_bottom;                       /* ARMv6-M has no limit to set, and no traps */
}

/* Interrupts off while a window is measured. */
ALWAYS_INLINE uint32_t window_mask(void)
{
    return interrupts_disable();
}

ALWAYS_INLINE void window_restore(uint32_t mask)
{
    interrupts_restore(mask);
}

/* What else masks interrupts: nothing, on this core. */
ALWAYS_INLINE uint32_t other_masks_clear(void)
{
    return 0;
}

/* SysTick counts clk_sys down. */
ALWAYS_INLINE void cycle_counter_start(void)
{
    SYST_RVR = SYST_MASK;
    SYST_CVR = 0;                             /* any write clears it, and it reloads */
    SYST_CSR = SYST_CSR_ENABLE | SYST_CSR_CLKSOURCE_PROCESSOR;
}

ALWAYS_INLINE uint32_t cycle_counter(void)
{
    return SYST_CVR;
}

ALWAYS_INLINE uint32_t cycles_between(uint32_t first, uint32_t last)
{
    return (first - last) & SYST_MASK;
}

/* The 1 MHz of TIMER and watchdog is made of clk_ref. */
ALWAYS_INLINE void timer_tick_start(void)
{
    WATCHDOG_TICK = WATCHDOG_TICK_ENABLE | XOSC_MHZ;
}

/* Reading the register waits until the flush is complete (2.6.3.3). */
ALWAYS_INLINE void xip_cache_invalidate(void)
{
    XIP_CTRL_FLUSH = 1;
    (void)XIP_CTRL_FLUSH;
}

/* The flash chip's; code must not be running from flash elsewhere. */
void read_unique_id(uint8_t id[8]);

#define LIFT_STACK_LIMIT ""

ALWAYS_INLINE bool frame_is_lost(uint32_t sp, const uint8_t *stack_bottom)
{
    (void)sp;
    (void)stack_bottom;
    return false;
}

/* ARMv6-M does not say what kind of fault it was. */
ALWAYS_INLINE void save_fault_status(volatile struct fault_record *fault)
{
    (void)fault;
}

#endif
