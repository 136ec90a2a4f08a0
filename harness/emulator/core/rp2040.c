/* SPDX-License-Identifier: Apache-2.0 */
/* The RP2040: its address map (data sheet 2.2), resets (2.14.3), clocks (2.15) and whatever else
 * tells it from the RP2350. */
#include "model.h"

enum reset_bit {                /* 2.14.3 */
    RESET_ADC, RESET_BUSCTRL, RESET_DMA, RESET_I2C0, RESET_I2C1, RESET_IO_BANK0, RESET_IO_QSPI,
    RESET_JTAG, RESET_PADS_BANK0, RESET_PADS_QSPI, RESET_PIO0, RESET_PIO1, RESET_PLL_SYS,
    RESET_PLL_USB, RESET_PWM, RESET_RTC, RESET_SPI0, RESET_SPI1, RESET_SYSCFG, RESET_SYSINFO,
    RESET_TBMAN, RESET_TIMER, RESET_UART0, RESET_UART1, RESET_USBCTRL,
    RESET_BITS_ALL = 0x01ffffff
};
enum { IRQ_USBCTRL = 5 };
enum { SRAM_BANKS_BYTES = 0x40000, XIP_SRAM_BYTES = 0x4000 };

#define REGISTERS(name, bit, instance, functions) \
    {0, name, bit, instance, functions##_read, functions##_write, functions##_reset, NULL, 0}
#define PLAIN(name) REGISTERS(#name, RESET_##name, PLAIN_##name, plain)
#define PLAIN_NO_RESET(name) REGISTERS(#name, NO_RESET, PLAIN_##name, plain)
#define NOT_MODELLED(name) {0, #name, RESET_##name, 0, NULL, NULL, NULL, NULL, 0}
#define NOTHING {0, NULL, NO_RESET, 0, NULL, NULL, NULL, NULL, 0}

/* ---- the address map ---- */
enum { APB_BLOCKS = 28 };
static const block APB[APB_BLOCKS] = {          /* 16 KB each from 0x40000000 */
    PLAIN(SYSINFO),
    PLAIN(SYSCFG),
    REGISTERS("CLOCKS", NO_RESET, 0, clocks),
    {0, "RESETS", NO_RESET, 0, resets_read, resets_write, NULL, NULL, 0},
    PLAIN_NO_RESET(PSM),
    PLAIN(IO_BANK0),
    PLAIN(IO_QSPI),
    PLAIN(PADS_BANK0),
    PLAIN(PADS_QSPI),
    REGISTERS("XOSC", NO_RESET, 0, xosc),
    REGISTERS("PLL_SYS", RESET_PLL_SYS, PLL_SYS, pll),
    REGISTERS("PLL_USB", RESET_PLL_USB, PLL_USB, pll),
    PLAIN(BUSCTRL),
    NOT_MODELLED(UART0),
    NOT_MODELLED(UART1),
    NOT_MODELLED(SPI0),
    NOT_MODELLED(SPI1),
    NOT_MODELLED(I2C0),
    NOT_MODELLED(I2C1),
    NOT_MODELLED(ADC),
    NOT_MODELLED(PWM),
    REGISTERS("TIMER", RESET_TIMER, 0, timer),
    REGISTERS("WATCHDOG", NO_RESET, 0, watchdog),
    NOT_MODELLED(RTC),
    PLAIN_NO_RESET(ROSC),
    PLAIN_NO_RESET(VREG_AND_CHIP_RESET),
    NOTHING,                                    /* 0x40068000 */
    PLAIN(TBMAN),
};
static const block OTHERS[] = {                 /* the busiest first */
    {0xd0000000, "SIO", NO_RESET, 0, sio_rp2040_read, sio_rp2040_write, sio_reset, NULL, 0},
    {0x50110000, "USBCTRL_REGS", RESET_USBCTRL, 0, usb_read, usb_write, usb_reset, NULL, 0},
    {0x14000000, "XIP_CTRL", NO_RESET, 0, xip_ctrl_read, xip_ctrl_write, xip_ctrl_reset, NULL, 0},
    {0x18000000, "XIP_SSI", NO_RESET, 0, ssi_read, ssi_write, NULL, NULL, 0},
    {0x50000000, "DMA", RESET_DMA, 0, NULL, NULL, NULL, NULL, 0},
    {0x50200000, "PIO0", RESET_PIO0, 0, NULL, NULL, NULL, NULL, 0},
    {0x50300000, "PIO1", RESET_PIO1, 0, NULL, NULL, NULL, NULL, 0},
    {0x50400000, "XIP_AUX", NO_RESET, 0, NULL, NULL, NULL, NULL, 0},
    {0x50100000, "USBCTRL_DPRAM", RESET_USBCTRL, 0, NULL, NULL, NULL, &USB_DPRAM, 0},
    {0x15000000, "XIP_SRAM", NO_RESET, 0, NULL, NULL, NULL, NULL, XIP_SRAM_BYTES},
    {0x21000000, "SRAM0-3 without striping", NO_RESET, 0, NULL, NULL, NULL, NULL,
     SRAM_BANKS_BYTES},
    NOTHING,
};

/* ---- clocks ---- */
static const struct clocked CLOCKED[] = {
    {RP2040_CLK_ADC, 1u << RESET_ADC},
    {RP2040_CLK_RTC, 1u << RESET_RTC},
    {RP2040_CLK_USB, 1u << RESET_USBCTRL},
    {CLK_PERI, 1u << RESET_SPI0 | 1u << RESET_SPI1 | 1u << RESET_UART0 | 1u << RESET_UART1},
    {0, 0},
};

#define AUX_OF_REF {SOURCE_PLL_USB, SOURCE_GPIN0, SOURCE_GPIN1}
#define AUX_OF_SYS {SOURCE_PLL_SYS, SOURCE_PLL_USB, SOURCE_ROSC, SOURCE_XOSC, SOURCE_GPIN0, \
                    SOURCE_GPIN1}
#define AUX_OF_PERI {SOURCE_CLK_SYS, SOURCE_PLL_SYS, SOURCE_PLL_USB, SOURCE_ROSC, SOURCE_XOSC, \
                     SOURCE_GPIN0, SOURCE_GPIN1}
#define AUX_OF_USB {SOURCE_PLL_USB, SOURCE_PLL_SYS, SOURCE_ROSC, SOURCE_XOSC, SOURCE_GPIN0, \
                    SOURCE_GPIN1}
static const struct clock_layout CLOCK_LAYOUT = {
    .generators = {
        [CLK_GPOUT0] = {"clk_gpout0", 0x00131de0, 0xffffffff, {0}},
        [CLK_GPOUT1] = {"clk_gpout1", 0x00131de0, 0xffffffff, {0}},
        [CLK_GPOUT2] = {"clk_gpout2", 0x00131de0, 0xffffffff, {0}},
        [CLK_GPOUT3] = {"clk_gpout3", 0x00131de0, 0xffffffff, {0}},
        [CLK_REF] = {"clk_ref", 0x00000063, 0x00000300, AUX_OF_REF},
        [CLK_SYS] = {"clk_sys", 0x000000e1, 0xffffffff, AUX_OF_SYS},
        [CLK_PERI] = {"clk_peri", 0x00000ce0, 0, AUX_OF_PERI},
        [RP2040_CLK_USB] = {"clk_usb", 0x00130ce0, 0x00000300, AUX_OF_USB},
        [RP2040_CLK_ADC] = {"clk_adc", 0x00130ce0, 0x00000300, AUX_OF_USB},
        [RP2040_CLK_RTC] = {"clk_rtc", 0x00130ce0, 0xffffffff, AUX_OF_USB},
    },
    .counted = {CLK_PERI, RP2040_CLK_USB, RP2040_CLK_ADC, RP2040_CLK_RTC},
    .integer_shift = 8, .resus_ctrl = 0x78, .wake_en0 = 0xa0, .wake_en1_bits = 0x7fff,
};

/* ---- USB and XIP ---- */
/* Of SIE_CTRL without START_TRANS, RESET_BUS and RESUME, which clear themselves. */
static const struct usb_facts USB = {
    .main_ctrl_bits = 0x80000003, .sie_ctrl_bits = 0xff078f5e, .muxing_bits = 0xf,
    .direct_bits = 0x007fff77, .direct_override_bits = 0x9fff, .interrupt_bits = 0xfffff,
};
/* CTRL: EN, ERR_BADWRITE, POWER_DOWN */
static const struct xip_ctrl_facts XIP_CTRL = {.bits = 0xb, .reset = 0x3, .enable = 0x1,
                                               .has_flush = true};

const struct model RP2040 = {
    .name = "RP2040",
    .unique_id = {0xe6, 0x60, 0x58, 0x38, 0x83, 0x12, 0x34, 0x56},
    .rosc_hz = 6500000,
    .apb = APB, .apb_shift = 14, .apb_blocks = APB_BLOCKS, .others = OTHERS,
    .plain = PLAIN_RP2040,
    .reset_bits_all = RESET_BITS_ALL, .reset_io_qspi = RESET_IO_QSPI,
    .reset_pads_qspi = RESET_PADS_QSPI, .reset_usbctrl = RESET_USBCTRL, .clocked = CLOCKED,
    .clocks = &CLOCK_LAYOUT, .clk_usb = RP2040_CLK_USB, .xosc_startup_reset = 0xc4,
    .timers = 1, .irq_usbctrl = IRQ_USBCTRL, .timer_tick = {TICK_WATCHDOG},
    .reset_timer = {RESET_TIMER},
    .watchdog_counts_per_tick = 2, .watchdog_has_tick = true, .psm_proc0 = 1u << 15,
    .usb = &USB, .xip_ctrl = &XIP_CTRL,
    .qspi_ctrl = 0x04, .qspi_pins_in_hi = 0x3f,
    .flash_interface = "SSI",
    .flash_pins_changed = ssi_pins_changed, .flash_interface_reset = ssi_reset,
    .flash_serial_ready = ssi_serial_ready, .flash_exit_xip = ssi_exit_xip,
    .flash_enter_cmd_xip = ssi_enter_cmd_xip, .flash_flush = ssi_flush,
    .rom_build = rom_rp2040_build, .rom_call = rom_rp2040_call,
};
