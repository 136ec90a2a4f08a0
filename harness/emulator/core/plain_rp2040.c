/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the RP2040 that are plain storage (plain.c): widths and reset values from its data
 * sheet. */
#include "model.h"

#define END {0, 0, 0, 0, 0, 0}
static const struct registers SYSINFO[] = {                 /* 2.20 */
    {0x00, 1, 0, 2u << 28 | 2u << 12 | 0x927, 0, 0},        /* CHIP_ID: B2, RP2040, Raspberry Pi */
    {0x04, 1, 0, 2, 0, 0},                                  /* PLATFORM: ASIC */
    {0x10, 1, 0, 0, 0, 0},                                  /* GITREF_RP2040 */
    END};
static const struct registers SYSCFG[] = {                  /* 2.21 */
    {0x00, 2, 0xffffffff, 0, 0, 0},                         /* PROC0_NMI_MASK, PROC1_NMI_MASK */
    {0x08, 1, 0xff000000, 0x10000000, 0, 0},                /* PROC_CONFIG */
    {0x0c, 1, 0x3fffffff, 0, 0, 0},                         /* PROC_IN_SYNC_BYPASS */
    {0x10, 1, 0x3f, 0, 0, 0},                               /* PROC_IN_SYNC_BYPASS_HI */
    {0x14, 1, 0xff, 0x66, 0, 0},                            /* DBGFORCE */
    {0x18, 1, 0xff, 0, 0, 0},                               /* MEMPOWERDOWN */
    END};
static const struct registers PSM[] = {                     /* 2.13.5 */
    {0x00, 3, 0x1ffff, 0, 0, 0},                            /* FRCE_ON, FRCE_OFF, WDSEL */
    {0x0c, 1, 0, 0x1ffff, 0, 0},                            /* DONE */
    END};
static const struct registers IO_BANK0[] = {                /* 2.19.6.1 */
    {0x00, 30, 0, 0, 0, 8},                                 /* GPIOn_STATUS */
    {0x04, 30, 0x3003331f, 0x1f, 0, 8},                     /* GPIOn_CTRL */
    {0xf0, 4, 0, 0, 0, 0},                                  /* INTR0 to INTR3 */
    {0x100, 8, 0xffffffff, 0, 0, 0},                        /* PROC0_INTE, PROC0_INTF */
    {0x120, 4, 0, 0, 0, 0},                                 /* PROC0_INTS */
    {0x130, 8, 0xffffffff, 0, 0, 0},                        /* PROC1_INTE, PROC1_INTF */
    {0x150, 4, 0, 0, 0, 0},                                 /* PROC1_INTS */
    {0x160, 8, 0xffffffff, 0, 0, 0},                        /* DORMANT_WAKE_INTE, _INTF */
    {0x180, 4, 0, 0, 0, 0},                                 /* DORMANT_WAKE_INTS */
    END};
static const struct registers IO_QSPI[] = {                 /* 2.19.6.2 */
    {0x00, 6, 0, 0, 0, 8},                                  /* GPIO_QSPI_x_STATUS */
    {0x04, 6, 0x3003331f, 0x1f, 0, 8},                      /* GPIO_QSPI_x_CTRL: SCLK SS SD0-SD3 */
    {0x30, 1, 0, 0, 0, 0},                                  /* INTR */
    {0x34, 2, 0x00ffffff, 0, 0, 0},                         /* PROC0_INTE, _INTF */
    {0x3c, 1, 0, 0, 0, 0},                                  /* PROC0_INTS */
    {0x40, 2, 0x00ffffff, 0, 0, 0},                         /* PROC1_INTE, _INTF */
    {0x48, 1, 0, 0, 0, 0},                                  /* PROC1_INTS */
    {0x4c, 2, 0x00ffffff, 0, 0, 0},                         /* DORMANT_WAKE_INTE, _INTF */
    {0x54, 1, 0, 0, 0, 0},                                  /* DORMANT_WAKE_INTS */
    END};
static const struct registers PADS_BANK0[] = {              /* 2.19.6.3 */
    {0x00, 1, 1, 0, 0, 0},                                  /* VOLTAGE_SELECT */
    {0x04, 30, 0xff, 0x56, 0, 0},                           /* GPIO0 to GPIO29 */
    {0x7c, 1, 0xff, 0xda, 0, 0},                            /* SWCLK */
    {0x80, 1, 0xff, 0x5a, 0, 0},                            /* SWD */
    END};
static const struct registers PADS_QSPI[] = {               /* 2.19.6.4 */
    {0x00, 1, 1, 0, 0, 0},                                  /* VOLTAGE_SELECT */
    {0x04, 1, 0xff, 0x56, 0, 0},                            /* GPIO_QSPI_SCLK */
    {0x08, 4, 0xff, 0x52, 0, 0},                            /* GPIO_QSPI_SD0 to SD3 */
    {0x18, 1, 0xff, 0x5a, 0, 0},                            /* GPIO_QSPI_SS */
    END};
static const struct registers BUSCTRL[] = {                 /* 2.1.5 */
    {0x00, 1, 0x1111, 0, 0, 0},                             /* BUS_PRIORITY */
    {0x04, 1, 0, 1, 0, 0},                                  /* BUS_PRIORITY_ACK */
    {0x0c, 4, 0x1f, 0x1f, 0, 8},                            /* PERFSEL0 to 3, no PERFCTR */
    END};
static const struct registers ROSC[] = {                    /* 2.17.8; DIV, FREQA and FREQB would */
    {0x00, 1, 0x00ffffff, 0xaa0, 0, 0},                     /* change the frequency: CTRL, ... */
    {0x18, 1, 0, 0x80001000, 0, 0},                         /* ... STATUS and ... */
    {0x1c, 1, 0, 1, 0, 0},                                  /* ... RANDOMBIT, which isn't */
    END};
static const struct registers VREG_AND_CHIP_RESET[] = {     /* 2.10.6 */
    {0x00, 1, 0xf3, 0xb1, 1 << 12, 0},                      /* VREG; ROK: the regulator is ready */
    {0x04, 1, 0xf1, 0x91, 0, 0},                            /* BOD */
    {0x08, 1, 0, 1 << 8, 0, 0},                             /* CHIP_RESET: HAD_POR */
    END};
static const struct registers TBMAN[] = {{0x00, 1, 0, 1, 0, 0}, END};      /* PLATFORM: ASIC */

const struct registers *const PLAIN_RP2040[PLAIN_BLOCKS] = {
    [PLAIN_SYSINFO] = SYSINFO, [PLAIN_SYSCFG] = SYSCFG, [PLAIN_PSM] = PSM,
    [PLAIN_IO_BANK0] = IO_BANK0, [PLAIN_IO_QSPI] = IO_QSPI, [PLAIN_PADS_BANK0] = PADS_BANK0,
    [PLAIN_PADS_QSPI] = PADS_QSPI, [PLAIN_BUSCTRL] = BUSCTRL, [PLAIN_ROSC] = ROSC,
    [PLAIN_VREG_AND_CHIP_RESET] = VREG_AND_CHIP_RESET, [PLAIN_TBMAN] = TBMAN,
};
