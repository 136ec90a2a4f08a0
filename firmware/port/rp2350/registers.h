/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of the RP2350 and of the Cortex-M33 that this port uses, under the names of the
 * RP2350 data sheet and the ARMv8-M architecture reference manual. Where the RP2040 has the same
 * register under another name, the name is the RP2040's. */
#ifndef PORT_RP2350_REGISTERS_H
#define PORT_RP2350_REGISTERS_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
/* Writing to these aliases of a peripheral register sets or clears the bits written (2.1.3). */
#define SET_BITS(reg) REGISTER((uintptr_t) & (reg) + 0x2000u)
#define CLEAR_BITS(reg) REGISTER((uintptr_t) & (reg) + 0x3000u)

/* 7.5 Subsystem resets */
#define RESETS_RESET REGISTER(0x40020000u)
#define RESETS_RESET_DONE REGISTER(0x40020008u)
enum {
    RESETS_IO_QSPI = 1u << 7,
    RESETS_PADS_QSPI = 1u << 10,
    RESETS_PLL_SYS = 1u << 14,
    RESETS_PLL_USB = 1u << 15,
    RESETS_SYSCFG = 1u << 20,
    RESETS_TIMER = 1u << 23,                  /* TIMER0 */
    RESETS_USBCTRL = 1u << 28,
    RESETS_ALL = 0x1fffffffu
};

/* 8.1 Clocks */
#define CLOCKS_CLK_REF_CTRL REGISTER(0x40010030u)
#define CLOCKS_CLK_REF_DIV REGISTER(0x40010034u)
#define CLOCKS_CLK_REF_SELECTED REGISTER(0x40010038u)
#define CLOCKS_CLK_SYS_CTRL REGISTER(0x4001003cu)
#define CLOCKS_CLK_SYS_DIV REGISTER(0x40010040u)
#define CLOCKS_CLK_SYS_SELECTED REGISTER(0x40010044u)
#define CLOCKS_CLK_USB_CTRL REGISTER(0x40010060u)
#define CLOCKS_CLK_USB_DIV REGISTER(0x40010064u)
enum {
    CLK_REF_SRC_MASK = 3,
    CLK_REF_SRC_XOSC = 2,
    CLK_REF_SELECTED_ROSC = 1u << 0,
    CLK_REF_SELECTED_XOSC = 1u << CLK_REF_SRC_XOSC,
    CLK_SYS_SRC_MASK = 1,
    CLK_SYS_SRC_AUX = 1,
    CLK_SYS_AUXSRC_PLL_SYS = 0u << 5,
    CLK_SYS_SELECTED_REF = 1u << 0,
    CLK_SYS_SELECTED_AUX = 1u << CLK_SYS_SRC_AUX,
    CLK_USB_AUXSRC_PLL_USB = 0u << 5,
    CLK_ENABLE = 1u << 11,
    CLK_DIV_1 = 1u << 16
};

/* 8.2 Crystal oscillator */
#define XOSC_CTRL REGISTER(0x40048000u)
#define XOSC_STATUS REGISTER(0x40048004u)
#define XOSC_STARTUP REGISTER(0x4004800cu)
enum {
    XOSC_CTRL_FREQ_RANGE_1_15MHZ = 0xaa0,
    XOSC_CTRL_ENABLE = 0xfabu << 12
};
#define XOSC_STATUS_STABLE (1u << 31)

/* 8.6 PLL */
struct pll {
    volatile uint32_t CS, PWR, FBDIV_INT, PRIM;
};
#define PLL_SYS ((struct pll *)0x40050000u)
#define PLL_USB ((struct pll *)0x40058000u)
#define PLL_CS_LOCK (1u << 31)
enum {
    PLL_PWR_PD = 1u << 0,
    PLL_PWR_POSTDIVPD = 1u << 3,
    PLL_PWR_VCOPD = 1u << 5,
    PLL_PRIM_POSTDIV1_LSB = 16,
    PLL_PRIM_POSTDIV2_LSB = 12
};

/* 8.5 Tick generators, 12.8 System timers */
#define TICKS_TIMER0_CTRL REGISTER(0x40108018u)
#define TICKS_TIMER0_CYCLES REGISTER(0x4010801cu)
enum { TICKS_CTRL_ENABLE = 1 };
#define TIMER_TIMERAWH REGISTER(0x400b0024u)
#define TIMER_TIMERAWL REGISTER(0x400b0028u)

/* 7.3 Chip level resets, in POWMAN; 12.9 Watchdog */
#define CHIP_RESET REGISTER(0x4010002cu)
enum { CHIP_RESET_HAD_MASK = 0x1fef0000u };
#define WATCHDOG_REASON REGISTER(0x400d8008u)
enum { WATCHDOG_REASON_MASK = 3 };

/* 4.4 XIP and its cache. Any byte written to the maintenance window acts on one line; the lowest
 * address bits are the operation, and for set and way the next 11 choose the line. */
#define XIP_BASE 0x10000000u
#define XIP_BYTES 0x01000000u                /* the window of the flash, chip select 0 */
#define XIP_LINE_BYTES 8u
#define XIP_CACHE_BYTES 0x4000u
#define XIP_CTRL_CTR_HIT REGISTER(0x400c800cu)
#define XIP_CTRL_CTR_ACC REGISTER(0x400c8010u)
#define XIP_MAINTENANCE(offset) (*(volatile uint8_t *)(0x18000000u + (offset)))
enum { XIP_INVALIDATE_BY_SET_WAY = 0 };

/* ARMv8-M: NVIC, SCB, DCB and DWT (D1.2) */
#define NVIC_ISER REGISTER(0xe000e100u)
#define NVIC_ICER REGISTER(0xe000e180u)
#define NVIC_ICPR REGISTER(0xe000e280u)
#define NVIC_IPR(irq) (*(volatile uint8_t *)(0xe000e400u + (irq)))
enum { IRQS = 52, USBCTRL_IRQ = 14 };
#define SCB_CCR REGISTER(0xe000ed14u)
#define SCB_SHCSR REGISTER(0xe000ed24u)
#define SCB_CFSR REGISTER(0xe000ed28u)
#define SCB_HFSR REGISTER(0xe000ed2cu)
#define SCB_MMFAR REGISTER(0xe000ed34u)
#define SCB_BFAR REGISTER(0xe000ed38u)
enum {
    SCB_CCR_DIV_0_TRP = 1u << 4,
    SCB_SHCSR_MEMFAULTENA = 1u << 16,
    SCB_SHCSR_BUSFAULTENA = 1u << 17,
    SCB_SHCSR_USGFAULTENA = 1u << 18,
    CFSR_MSTKERR = 1u << 4,
    CFSR_MMARVALID = 1u << 7,
    CFSR_STKERR = 1u << 12,
    CFSR_BFARVALID = 1u << 15,
    CFSR_STKOF = 1u << 20
};
#define DCB_DEMCR REGISTER(0xe000edfcu)
enum { DCB_DEMCR_TRCENA = 1u << 24 };
#define DWT_CTRL REGISTER(0xe0001000u)
#define DWT_CYCCNT REGISTER(0xe0001004u)
enum { DWT_CTRL_CYCCNTENA = 1 };

#endif
