/* SPDX-License-Identifier: Apache-2.0 */
/* The RP2350 in the Pico 2's QFN60 package, Arm cores, everything secure: its address map (RP2350
 * data sheet 2.2), resets (7.5.3), clocks (8.1) and whatever else tells it from the RP2040. */
#include "model.h"

enum reset_bit {                /* 7.5.3 */
    RESET_ADC, RESET_BUSCTRL, RESET_DMA, RESET_HSTX_CTRL, RESET_I2C0, RESET_I2C1, RESET_IO_BANK0,
    RESET_IO_QSPI, RESET_JTAG, RESET_PADS_BANK0, RESET_PADS_QSPI, RESET_PIO0, RESET_PIO1,
    RESET_PIO2, RESET_PLL_SYS, RESET_PLL_USB, RESET_PWM, RESET_SHA256, RESET_SPI0, RESET_SPI1,
    RESET_SYSCFG, RESET_SYSINFO, RESET_TBMAN, RESET_TIMER0, RESET_TIMER1, RESET_TRNG, RESET_UART0,
    RESET_UART1, RESET_USBCTRL,
    RESET_BITS_ALL = 0x1fffffff
};
enum { IRQ_USBCTRL = 14 };
enum { XIP_WINDOW_BYTES = 64 * 1024 * 1024, SIO_BYTES = 0x200 };

#define REGISTERS(name, bit, instance, functions) \
    {0, name, bit, instance, functions##_read, functions##_write, functions##_reset, NULL, 0}
#define PLAIN(name) REGISTERS(#name, RESET_##name, PLAIN_##name, plain)
#define PLAIN_NO_RESET(name) REGISTERS(#name, NO_RESET, PLAIN_##name, plain)
#define NOT_MODELLED(name) {0, #name, RESET_##name, 0, NULL, NULL, NULL, NULL, 0}
#define NOT_MODELLED_NO_RESET(name) {0, #name, NO_RESET, 0, NULL, NULL, NULL, NULL, 0}
#define NOT_MODELLED_AT(base, name, bit) {base, name, bit, 0, NULL, NULL, NULL, NULL, 0}
#define NOTHING {0, NULL, NO_RESET, 0, NULL, NULL, NULL, NULL, 0}

/* ---- the address map ---- */
enum { APB_BLOCKS = 45 };
static const block APB[APB_BLOCKS] = {          /* 32 KB each from 0x40000000 */
    PLAIN(SYSINFO),
    PLAIN(SYSCFG),
    REGISTERS("CLOCKS", NO_RESET, 0, clocks),
    PLAIN_NO_RESET(PSM),
    {0, "RESETS", NO_RESET, 0, resets_read, resets_write, NULL, NULL, 0},
    PLAIN(IO_BANK0),
    PLAIN(IO_QSPI),
    PLAIN(PADS_BANK0),
    PLAIN(PADS_QSPI),
    REGISTERS("XOSC", NO_RESET, 0, xosc),
    REGISTERS("PLL_SYS", RESET_PLL_SYS, PLL_SYS, pll),
    REGISTERS("PLL_USB", RESET_PLL_USB, PLL_USB, pll),
    {0, "ACCESSCTRL", NO_RESET, 0, NULL, NULL, accessctrl_reset, &ACCESSCTRL, 0},
    PLAIN(BUSCTRL),
    NOT_MODELLED(UART0),
    NOT_MODELLED(UART1),
    NOT_MODELLED(SPI0),
    NOT_MODELLED(SPI1),
    NOT_MODELLED(I2C0),
    NOT_MODELLED(I2C1),
    NOT_MODELLED(ADC),
    NOT_MODELLED(PWM),
    REGISTERS("TIMER0", RESET_TIMER0, 0, timer),
    REGISTERS("TIMER1", RESET_TIMER1, 1, timer),
    NOT_MODELLED(HSTX_CTRL),
    REGISTERS("XIP_CTRL", NO_RESET, 0, xip_ctrl),
    {0, "XIP_QMI", NO_RESET, 0, qmi_read, qmi_write, NULL, NULL, 0},
    REGISTERS("WATCHDOG", NO_RESET, 0, watchdog),
    {0, "BOOTRAM", NO_RESET, 0, bootram_read, bootram_write, bootram_reset, &BOOTRAM, 0},
    PLAIN_NO_RESET(ROSC),
    NOT_MODELLED(TRNG),
    NOT_MODELLED(SHA256),
    {0, "POWMAN", NO_RESET, PLAIN_POWMAN, plain_read, powman_write, plain_reset, NULL, 0},
    REGISTERS("TICKS", NO_RESET, 0, ticks),
    NOTHING, NOTHING,
    NOT_MODELLED_NO_RESET(OTP),
    NOTHING,
    NOT_MODELLED_NO_RESET(OTP_DATA),
    NOT_MODELLED_NO_RESET(OTP_DATA_GUARDED),
    NOT_MODELLED_NO_RESET(CORESIGHT_PERIPH),
    NOT_MODELLED_NO_RESET(CORESIGHT_PERIPH),
    NOT_MODELLED_NO_RESET(DFT),
    NOT_MODELLED_NO_RESET(GLITCH_DETECTOR),
    PLAIN(TBMAN),
};
static const block OTHERS[] = {                 /* the busiest first */
    {0x50100000, "USBCTRL_DPRAM", RESET_USBCTRL, 0, NULL, NULL, NULL, &USB_DPRAM, 0},
    {0x50110000, "USBCTRL_REGS", RESET_USBCTRL, 0, usb_read, usb_write, usb_reset, NULL, 0},
    {0xd0000000, "SIO", NO_RESET, 0, sio_rp2350_read, sio_rp2350_write, sio_reset, NULL, SIO_BYTES},
    {0x14000000, "XIP without cache", NO_RESET, 0, NULL, NULL, NULL, &QMI_UNCACHED,
     XIP_WINDOW_BYTES},
    {0x18000000, "XIP maintenance", NO_RESET, 0, NULL, NULL, NULL, &XIP_MAINTENANCE,
     XIP_WINDOW_BYTES},
    {0x1c000000, "XIP without cache and translation", NO_RESET, 0, NULL, NULL, NULL, &QMI_UNCACHED,
     XIP_WINDOW_BYTES},
    NOT_MODELLED_AT(0x50000000, "DMA", RESET_DMA),
    NOT_MODELLED_AT(0x50200000, "PIO0", RESET_PIO0),
    NOT_MODELLED_AT(0x50300000, "PIO1", RESET_PIO1),
    NOT_MODELLED_AT(0x50400000, "PIO2", RESET_PIO2),
    NOT_MODELLED_AT(0x50500000, "XIP_AUX", NO_RESET),
    NOT_MODELLED_AT(0x50600000, "HSTX_FIFO", RESET_HSTX_CTRL),
    NOT_MODELLED_AT(0x50700000, "CORESIGHT_TRACE", NO_RESET),
    NOT_MODELLED_AT(0xd0020000, "SIO_NONSEC", NO_RESET),
    NOTHING,
};

/* ---- clocks ---- */
static const struct clocked CLOCKED[] = {
    {RP2350_CLK_ADC, 1u << RESET_ADC},
    {RP2350_CLK_HSTX, 1u << RESET_HSTX_CTRL},
    {RP2350_CLK_USB, 1u << RESET_USBCTRL},
    {CLK_PERI, 1u << RESET_SPI0 | 1u << RESET_SPI1 | 1u << RESET_UART0 | 1u << RESET_UART1},
    {0, 0},
};

#define AUX_OF_REF {SOURCE_PLL_USB, SOURCE_GPIN0, SOURCE_GPIN1}
#define AUX_OF_SYS {SOURCE_PLL_SYS, SOURCE_PLL_USB, SOURCE_ROSC, SOURCE_XOSC, SOURCE_GPIN0, \
                    SOURCE_GPIN1}
#define AUX_OF_PERI {SOURCE_CLK_SYS, SOURCE_PLL_SYS, SOURCE_PLL_USB, SOURCE_ROSC, SOURCE_XOSC, \
                     SOURCE_GPIN0, SOURCE_GPIN1}
#define AUX_OF_HSTX {SOURCE_CLK_SYS, SOURCE_PLL_SYS, SOURCE_PLL_USB, SOURCE_GPIN0, SOURCE_GPIN1}
#define AUX_OF_USB {SOURCE_PLL_USB, SOURCE_PLL_SYS, SOURCE_ROSC, SOURCE_XOSC, SOURCE_GPIN0, \
                    SOURCE_GPIN1}
static const struct clock_layout CLOCK_LAYOUT = {
    .generators = {
        [CLK_GPOUT0] = {"clk_gpout0", 0x00131de0, 0xffffffff, {0}},
        [CLK_GPOUT1] = {"clk_gpout1", 0x00131de0, 0xffffffff, {0}},
        [CLK_GPOUT2] = {"clk_gpout2", 0x00131de0, 0xffffffff, {0}},
        [CLK_GPOUT3] = {"clk_gpout3", 0x00131de0, 0xffffffff, {0}},
        [CLK_REF] = {"clk_ref", 0x00000063, 0x00ff0000, AUX_OF_REF},
        [CLK_SYS] = {"clk_sys", 0x000000e1, 0xffffffff, AUX_OF_SYS},
        [CLK_PERI] = {"clk_peri", 0x00000ce0, 0x00030000, AUX_OF_PERI},
        [RP2350_CLK_HSTX] = {"clk_hstx", 0x00130ce0, 0x00030000, AUX_OF_HSTX},
        [RP2350_CLK_USB] = {"clk_usb", 0x00130ce0, 0x000f0000, AUX_OF_USB},
        [RP2350_CLK_ADC] = {"clk_adc", 0x00130ce0, 0x000f0000, AUX_OF_USB},
    },
    .counted = {CLK_PERI, RP2350_CLK_USB, RP2350_CLK_ADC, RP2350_CLK_HSTX},
    .integer_shift = 16, .zero_is_one_more = true, .shows_enabled = true,
    .resus_ctrl = 0x84, .wake_en0 = 0xac, .wake_en1_bits = 0x7fffffff,
};

/* ---- USB and XIP ---- */
/* After reset the PHY is isolated (MAIN_CTRL.PHY_ISO), its pull-downs are on and it is connected to
 * the controller. */
static const struct usb_facts USB = {
    .main_ctrl_bits = 0x80000007, .main_ctrl_reset = 0x4,
    .sie_ctrl_bits = 0xff0f8f5e, .sie_ctrl_reset = 0x8000,
    .muxing_bits = 0x8000001f, .muxing_reset = 0x1,
    .direct_bits = 0x0387ff77, .direct_override_bits = 0x00079fff, .interrupt_bits = 0xffffff,
    .linestate_tuning_bits = 0xfff, .linestate_tuning_reset = 0xf8,
};
/* CTRL: EN_SECURE has to stay on; POWER_DOWN, SPLIT_WAYS, WRITABLE_M0 and _M1 are not modelled. */
static const struct xip_ctrl_facts XIP_CTRL = {.bits = 0xffb, .reset = 0x83, .enable = 0x1,
                                               .unsupported = 0xe08};

const struct model RP2350 = {
    .name = "RP2350",
    .unique_id = {0xe6, 0x60, 0x58, 0x38, 0x83, 0x12, 0x34, 0x56},
    .rosc_hz = 11000000,
    .apb = APB, .apb_shift = 15, .apb_blocks = APB_BLOCKS, .others = OTHERS,
    .plain = PLAIN_RP2350,
    .reset_bits_all = RESET_BITS_ALL, .reset_io_qspi = RESET_IO_QSPI,
    .reset_pads_qspi = RESET_PADS_QSPI, .reset_usbctrl = RESET_USBCTRL, .clocked = CLOCKED,
    .clocks = &CLOCK_LAYOUT, .clk_usb = RP2350_CLK_USB,
    .timers = 2, .irq_usbctrl = IRQ_USBCTRL, .timer_tick = {TICK_TIMER0, TICK_TIMER1},
    .reset_timer = {RESET_TIMER0, RESET_TIMER1}, .timer_has_source = true,
    .watchdog_counts_per_tick = 1, .psm_proc0 = 1u << 23,
    .usb = &USB, .xip_ctrl = &XIP_CTRL,
    .qspi_ctrl = 0x14, .pads_isolate = true, .gpio_interleaved = true,
    .qspi_pins_in_hi = 0xfc000000,
    .flash_interface = "QMI",
    .flash_pins_changed = qmi_pins_changed, .device_attached = qmi_check_cost,
    .flash_interface_reset = qmi_reset, .flash_serial_ready = qmi_serial_ready,
    .flash_exit_xip = qmi_exit_xip, .flash_enter_cmd_xip = qmi_enter_cmd_xip,
    .flash_flush = qmi_flush,
    .rom_build = rom_rp2350_build, .rom_call = rom_rp2350_call,
    .coprocessor = rp2350_coprocessor,
};
