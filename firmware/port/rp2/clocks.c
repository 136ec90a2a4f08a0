/* SPDX-License-Identifier: Apache-2.0 */
/* Oscillator, PLLs and clocks (RP2040 data sheet 2.14 to 2.18, RP2350 data sheet 7.5 and 8). */
#include "chip.h"
#include "port/placement.h"
#include "port/rp2/rp2.h"

enum {
    XOSC_STARTUP_MS = 6,                      /* crystals of cheap boards start slowly */
    XOSC_STARTUP_CYCLES_256 = (XOSC_MHZ * 1000 + 128) / 256 * XOSC_STARTUP_MS,
    /* VCO 1500 MHz, and 1200 MHz / 5 / 5; POSTDIV1 >= POSTDIV2 draws less power */
    PLL_SYS_FBDIV = 125, PLL_SYS_POSTDIV2 = 2,
    PLL_USB_FBDIV = 100, PLL_USB_POSTDIV1 = 5, PLL_USB_POSTDIV2 = 5,
    /* Cycles of clk_sys that outlast three cycles of a clock of 48 MHz being stopped */
    AUX_CLOCK_STOP_LOOPS = 16
};

static void leave_reset(uint32_t blocks)
{
    CLEAR_BITS(RESETS_RESET) = blocks;
    while ((RESETS_RESET_DONE & blocks) != blocks) {
    }
}

static void pll_start(struct pll *pll, uint32_t reset, uint32_t fbdiv, uint32_t postdiv1,
                      uint32_t postdiv2)
{
    SET_BITS(RESETS_RESET) = reset;
    leave_reset(reset);
    pll->CS = 1;                              /* REFDIV; dividers before the VCO starts */
    pll->FBDIV_INT = fbdiv;
    CLEAR_BITS(pll->PWR) = PLL_PWR_PD | PLL_PWR_VCOPD;
    while ((pll->CS & PLL_CS_LOCK) == 0) {
    }
    pll->PRIM = postdiv1 << PLL_PRIM_POSTDIV1_LSB | postdiv2 << PLL_PRIM_POSTDIV2_LSB;
    CLEAR_BITS(pll->PWR) = PLL_PWR_POSTDIVPD;
}

void clocks_start(void)
{
    /* What the flash, the clocks themselves and a later USB start need stays as it is. */
    SET_BITS(RESETS_RESET) = RESETS_ALL & ~(uint32_t)(RESETS_IO_QSPI | RESETS_PADS_QSPI |
                                                      RESETS_PLL_SYS | RESETS_PLL_USB |
                                                      RESETS_SYSCFG);

    XOSC_CTRL = XOSC_CTRL_FREQ_RANGE_1_15MHZ;
    XOSC_STARTUP = XOSC_STARTUP_CYCLES_256;
    SET_BITS(XOSC_CTRL) = XOSC_CTRL_ENABLE;
    while ((XOSC_STATUS & XOSC_STATUS_STABLE) == 0) {
    }

    /* Off the PLLs before they are touched: a debugger may have left the clocks running on them. */
    CLEAR_BITS(CLOCKS_CLK_SYS_CTRL) = CLK_SYS_SRC_MASK;
    while (CLOCKS_CLK_SYS_SELECTED != CLK_SYS_SELECTED_REF) {
    }
    CLEAR_BITS(CLOCKS_CLK_REF_CTRL) = CLK_REF_SRC_MASK;
    while (CLOCKS_CLK_REF_SELECTED != CLK_REF_SELECTED_ROSC) {
    }

    pll_start(PLL_SYS, RESETS_PLL_SYS, PLL_SYS_FBDIV, PLL_SYS_POSTDIV1, PLL_SYS_POSTDIV2);
    pll_start(PLL_USB, RESETS_PLL_USB, PLL_USB_FBDIV, PLL_USB_POSTDIV1, PLL_USB_POSTDIV2);

    CLOCKS_CLK_REF_DIV = CLK_DIV_1;
    CLOCKS_CLK_REF_CTRL = CLK_REF_SRC_XOSC;
    while ((CLOCKS_CLK_REF_SELECTED & CLK_REF_SELECTED_XOSC) == 0) {
    }
    CLOCKS_CLK_SYS_DIV = CLK_DIV_1;
    CLOCKS_CLK_SYS_CTRL = CLK_SYS_AUXSRC_PLL_SYS;
    CLOCKS_CLK_SYS_CTRL = CLK_SYS_AUXSRC_PLL_SYS | CLK_SYS_SRC_AUX;
    while ((CLOCKS_CLK_SYS_SELECTED & CLK_SYS_SELECTED_AUX) == 0) {
    }

    /* This mux is not glitchless: stop the clock, wait until it has stopped, choose, start. */
    CLEAR_BITS(CLOCKS_CLK_USB_CTRL) = CLK_ENABLE;
    for (uint32_t loop = 0; loop < AUX_CLOCK_STOP_LOOPS; loop++) {
        __asm volatile("");
    }
    CLOCKS_CLK_USB_DIV = CLK_DIV_1;
    CLOCKS_CLK_USB_CTRL = CLK_USB_AUXSRC_PLL_USB;
    SET_BITS(CLOCKS_CLK_USB_CTRL) = CLK_ENABLE;

    timer_tick_start();
    leave_reset(RESETS_TIMER);
}

/* Wait for the timer to move on, then read the cycle counter. */
ALWAYS_INLINE uint32_t count_at_next_microsecond(uint32_t edge)
{
    for (uint32_t turn = edge % 8; turn != 0; turn--) {
        __asm volatile("");
    }
    const uint32_t before = TIMER_TIMERAWL;
    while (TIMER_TIMERAWL == before) {
    }
    return cycle_counter();
}

/* The cycle counter across 2048 us of the timer, as the mean over EDGES windows that begin 1 us
 * after one another. Polling sees an edge up to one turn of its loop late, about 10 cycles; with
 * the mean over many edges, which meet the loop at different phases, that becomes a fraction of a
 * cycle. A microsecond may be a whole number of turns, so each wait begins elsewhere. */
RAM_CODE("clocks_measure_clk_sys")
uint32_t clocks_measure_clk_sys(void)
{
    enum { WINDOW_US = 2048, EDGES = 64 };
    uint32_t cycles = 0;
    uint32_t start[EDGES];
    const uint32_t first_us = TIMER_TIMERAWL;
    for (uint32_t edge = 0; edge < EDGES; edge++) {
        start[edge] = count_at_next_microsecond(edge);
    }
    while (TIMER_TIMERAWL - first_us < WINDOW_US) {
    }
    for (uint32_t edge = 0; edge < EDGES; edge++) {
        cycles += cycles_between(start[edge], count_at_next_microsecond(edge));
    }
    /* kHz = cycles / EDGES * 1000 / WINDOW_US, rounded */
    const uint64_t scale = (uint64_t)EDGES * WINDOW_US;
    return (uint32_t)(((uint64_t)cycles * 1000 + scale / 2) / scale) * 1000;
}
