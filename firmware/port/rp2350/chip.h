/* SPDX-License-Identifier: Apache-2.0 */
/* What the RP2350 has of its own, for the files of port/rp2. */
#ifndef CHIP_H
#define CHIP_H

#include <stdbool.h>
#include <stdint.h>

#include "port/cortex_m/core.h"
#include "port/rp2/rp2.h"
#include "port/rp2350/registers.h"
#include "ripbench_schema.h"

enum {
    THIS_CHIP = CHIP_RP2350,
    PLL_SYS_POSTDIV1 = 5,                     /* clk_sys 1500 MHz / 5 / 2 = 150 MHz */
    CYCLE_COUNTER_BITS = 32,                  /* a wrap every 28.6 s */
    /* Entry (the latency in the manual) and return (a guess: as much) by the Cortex-M33, and the
     * handler's code as gcc 12 translates it, by the emulator's conservative model. */
    INTERRUPT_OVERHEAD_CYCLES = 12 + 12 + 13 + 16,
    USBCTRL_PRIORITY = 0x80,                  /* less urgent than faults, which have 0 */
    WINDOW_MASKED = USBCTRL_PRIORITY
};

/* A push below the stack, and a division by zero, fault. Each kind of fault is an exception of its
 * own: it can be taken even when its frame does not fit the stack any more, where a HardFault's
 * entry would fail and lock the core up. CPACR stays as the boot ROM leaves it: the ROM's functions
 * need their coprocessor, and nothing here uses the FPU. */
ALWAYS_INLINE void core_start(const uint8_t *stack_bottom)
{
    __asm volatile("msr msplim, %0" ::"r"(stack_bottom));
    SCB_CCR |= SCB_CCR_DIV_0_TRP;
    SCB_SHCSR |= SCB_SHCSR_MEMFAULTENA | SCB_SHCSR_BUSFAULTENA | SCB_SHCSR_USGFAULTENA;
    NVIC_IPR(USBCTRL_IRQ) = USBCTRL_PRIORITY;
}

/* Interrupts off while a window is measured: by BASEPRI, since PRIMASK would make a HardFault of
 * every fault in it. Elsewhere it has to be PRIMASK: WFI sleeps through what BASEPRI masks. */
ALWAYS_INLINE uint32_t window_mask(void)
{
    uint32_t before;
    __asm volatile("mrs %0, basepri\n msr basepri, %1"
                   : "=&r"(before)
                   : "r"(USBCTRL_PRIORITY)
                   : "memory");
    return before;
}

ALWAYS_INLINE void window_restore(uint32_t mask)
{
    __asm volatile("msr basepri, %0" ::"r"(mask) : "memory");
}

/* What else masks interrupts, and is never set in a window: PRIMASK and FAULTMASK. Returns whether
 * one of them is. */
ALWAYS_INLINE uint32_t other_masks_clear(void)
{
    uint32_t primask;
    uint32_t faultmask;
    __asm volatile("mrs %0, primask\n mrs %1, faultmask\n cpsie i\n cpsie f"
                   : "=&r"(primask), "=&r"(faultmask)
                   :
                   : "memory");
    return primask | faultmask;
}

/* CYCCNT counts clk_sys up. */
ALWAYS_INLINE void cycle_counter_start(void)
{
    DCB_DEMCR |= DCB_DEMCR_TRCENA;
    DWT_CYCCNT = 0;
    DWT_CTRL |= DWT_CTRL_CYCCNTENA;
}

/* What was written before the read is complete, what follows it has not begun. */
ALWAYS_INLINE uint32_t cycle_counter(void)
{
    __asm volatile("dsb\n isb" ::: "memory");
    return DWT_CYCCNT;
}

ALWAYS_INLINE uint32_t cycles_between(uint32_t first, uint32_t last)
{
    return last - first;
}

/* The 1 MHz of TIMER0 is made of clk_ref; CYCLES may only change while the generator is off. */
ALWAYS_INLINE void timer_tick_start(void)
{
    TICKS_TIMER0_CYCLES = XOSC_MHZ;
    TICKS_TIMER0_CTRL = TICKS_CTRL_ENABLE;
}

/* The cache has no flush register: each line is invalidated by set and way (4.4.1.1). */
ALWAYS_INLINE void xip_cache_invalidate(void)
{
    for (uint32_t line = 0; line < XIP_CACHE_BYTES; line += XIP_LINE_BYTES) {
        XIP_MAINTENANCE(line | XIP_INVALIDATE_BY_SET_WAY) = 0;
    }
    __asm volatile("dsb\n isb" ::: "memory");
}

/* The chip's. */
void read_unique_id(uint8_t id[8]);

/* For fault_entry, whose stack lies below the limit; r0, r4 to r11 are saved there. */
#define LIFT_STACK_LIMIT   \
    "    movs r4, #0\n"    \
    "    msr msplim, r4\n"

/* The core does not stack below the limit: it leaves the stack pointer at the limit (ARMv8-M
 * B3.21), and the registers that it should have saved are gone. */
ALWAYS_INLINE bool frame_is_lost(uint32_t sp, const uint8_t *stack_bottom)
{
    const uint32_t status = SCB_CFSR;
    return (status & (CFSR_MSTKERR | CFSR_STKERR)) != 0 ||
           ((status & CFSR_STKOF) != 0 && sp == (uint32_t)(uintptr_t)stack_bottom);
}

ALWAYS_INLINE void save_fault_status(volatile struct fault_record *fault)
{
    const uint32_t status = SCB_CFSR;
    fault->cfsr = status;
    fault->hfsr = SCB_HFSR;
    if ((status & CFSR_MMARVALID) != 0) {
        fault->fault_address = SCB_MMFAR;
    } else if ((status & CFSR_BFARVALID) != 0) {
        fault->fault_address = SCB_BFAR;
    }
}

#endif
