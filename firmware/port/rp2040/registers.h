/* SPDX-License-Identifier: Apache-2.0 */
/* The registers of the RP2040 and of the Cortex-M0+ that this port uses, under the names of the
 * RP2040 data sheet and the ARMv6-M architecture reference manual. */
#ifndef PORT_RP2040_REGISTERS_H
#define PORT_RP2040_REGISTERS_H

#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
/* Writing to these aliases of a peripheral register sets or clears the bits written (2.1.2). */
#define SET_BITS(reg) REGISTER((uintptr_t) & (reg) + 0x2000u)
#define CLEAR_BITS(reg) REGISTER((uintptr_t) & (reg) + 0x3000u)

/* 2.14 Subsystem resets */
#define RESETS_RESET REGISTER(0x4000c000u)
#define RESETS_RESET_DONE REGISTER(0x4000c008u)
enum {
    RESETS_IO_QSPI = 1u << 6,
    RESETS_PADS_QSPI = 1u << 9,
    RESETS_PLL_SYS = 1u << 12,
    RESETS_PLL_USB = 1u << 13,
    RESETS_SYSCFG = 1u << 18,
    RESETS_TIMER = 1u << 21,
    RESETS_USBCTRL = 1u << 24,
    RESETS_ALL = 0x01ffffffu
};

/* 2.15 Clocks */
#define CLOCKS_CLK_REF_CTRL REGISTER(0x40008030u)
#define CLOCKS_CLK_REF_DIV REGISTER(0x40008034u)
#define CLOCKS_CLK_REF_SELECTED REGISTER(0x40008038u)
#define CLOCKS_CLK_SYS_CTRL REGISTER(0x4000803cu)
#define CLOCKS_CLK_SYS_DIV REGISTER(0x40008040u)
#define CLOCKS_CLK_SYS_SELECTED REGISTER(0x40008044u)
#define CLOCKS_CLK_USB_CTRL REGISTER(0x40008054u)
#define CLOCKS_CLK_USB_DIV REGISTER(0x40008058u)
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
    CLK_DIV_1 = 1u << 8
};

/* 2.16 Crystal oscillator */
#define XOSC_CTRL REGISTER(0x40024000u)
#define XOSC_STATUS REGISTER(0x40024004u)
#define XOSC_STARTUP REGISTER(0x4002400cu)
enum {
    XOSC_CTRL_FREQ_RANGE_1_15MHZ = 0xaa0,
    XOSC_CTRL_ENABLE = 0xfabu << 12
};
#define XOSC_STATUS_STABLE (1u << 31)

/* 2.18 PLL */
struct pll {
    volatile uint32_t CS, PWR, FBDIV_INT, PRIM;
};
#define PLL_SYS ((struct pll *)0x40028000u)
#define PLL_USB ((struct pll *)0x4002c000u)
#define PLL_CS_LOCK (1u << 31)
enum {
    PLL_PWR_PD = 1u << 0,
    PLL_PWR_POSTDIVPD = 1u << 3,
    PLL_PWR_VCOPD = 1u << 5,
    PLL_PRIM_POSTDIV1_LSB = 16,
    PLL_PRIM_POSTDIV2_LSB = 12
};

/* 2.10.3 Chip level reset, 4.7 Watchdog, 4.6 Timer */
#define CHIP_RESET REGISTER(0x40064008u)
enum { CHIP_RESET_HAD_MASK = 0x00110100u };
#define WATCHDOG_REASON REGISTER(0x40058008u)
#define WATCHDOG_TICK REGISTER(0x4005802cu)
enum { WATCHDOG_REASON_MASK = 3, WATCHDOG_TICK_ENABLE = 1u << 9 };
#define TIMER_TIMERAWH REGISTER(0x40054024u)
#define TIMER_TIMERAWL REGISTER(0x40054028u)

/* 2.6.3 XIP cache, 4.10 SSI, 2.19 IO_QSPI */
#define XIP_BASE 0x10000000u
#define XIP_BYTES 0x01000000u
#define XIP_LINE_BYTES 8u                    /* of the cache, 2.6.3 */
#define XIP_CTRL_FLUSH REGISTER(0x14000004u)
#define XIP_CTRL_CTR_HIT REGISTER(0x1400000cu)
#define XIP_CTRL_CTR_ACC REGISTER(0x14000010u)
#define SSI_CTRLR0 REGISTER(0x18000000u)
#define SSI_CTRLR1 REGISTER(0x18000004u)
#define SSI_SSIENR REGISTER(0x18000008u)
#define SSI_BAUDR REGISTER(0x18000014u)
#define SSI_SR REGISTER(0x18000028u)
#define SSI_DR0 REGISTER(0x18000060u)
#define SSI_SPI_CTRLR0 REGISTER(0x180000f4u)
enum {
    SSI_SR_BUSY = 1u << 0,
    SSI_SR_TFE = 1u << 2,
    SSI_SR_RFNE = 1u << 3,
    SSI_CTRLR0_DFS_32_LSB = 16,
    SSI_CTRLR0_SPI_FRF_QUAD = 2u << 21,
    SSI_CTRLR0_TMOD_EEPROM_READ = 3u << 8,
    SSI_SPI_CTRLR0_TRANS_TYPE_2C2A = 2,
    SSI_SPI_CTRLR0_ADDR_L_32 = 8u << 2,
    SSI_SPI_CTRLR0_WAIT_CYCLES_LSB = 11
};
#define IO_QSPI_GPIO_QSPI_SS_CTRL REGISTER(0x4001800cu)
enum {
    GPIO_CTRL_OUTOVER_LOW = 2u << 8,
    GPIO_CTRL_OUTOVER_HIGH = 3u << 8,
    GPIO_CTRL_OUTOVER_MASK = 3u << 8
};

/* ARMv6-M: SysTick (B3.3), NVIC (B3.4), SCB (B3.2) */
#define SYST_CSR REGISTER(0xe000e010u)
#define SYST_RVR REGISTER(0xe000e014u)
#define SYST_CVR REGISTER(0xe000e018u)
enum { SYST_CSR_ENABLE = 1, SYST_CSR_CLKSOURCE_PROCESSOR = 4, SYST_MASK = 0xffffff };
#define NVIC_ISER REGISTER(0xe000e100u)
#define NVIC_ICER REGISTER(0xe000e180u)
#define NVIC_ICPR REGISTER(0xe000e280u)
enum { IRQS = 32, USBCTRL_IRQ = 5 };

#endif
