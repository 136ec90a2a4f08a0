/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of the RP2350 that are plain storage (plain.c): widths and reset values from its data
 * sheet. Interrupts of the pins and the performance counters never count. */
#include "model.h"

#define END {0, 0, 0, 0, 0, 0}
enum { GPIO_CTRL = 0x3003f01f, FUNCSEL_NULL = 0x1f };
enum { PAD_BITS = 0x1ff };      /* ISO, OD, IE, DRIVE, PUE, PDE, SCHMITT, SLEWFAST */
static const struct registers SYSINFO[] = {                 /* 12.15.1 */
    {0x00, 1, 0, 0x20004927, 0, 0},                         /* CHIP_ID: A2, RP2350, Raspberry Pi */
    {0x04, 1, 0, 1, 0, 0},                                  /* PACKAGE_SEL: QFN60, RP2350A */
    {0x08, 1, 0, 2, 0, 0},                                  /* PLATFORM: ASIC */
    {0x14, 1, 0, 0, 0, 0},                                  /* GITREF_RP2350 */
    END};
static const struct registers SYSCFG[] = {                  /* 12.15.2 */
    {0x00, 1, 0, 0, 0, 0},                                  /* PROC_CONFIG */
    {0x04, 1, 0xffffffff, 0, 0, 0},                         /* PROC_IN_SYNC_BYPASS */
    {0x08, 1, 0xff00ffff, 0, 0, 0},                         /* PROC_IN_SYNC_BYPASS_HI */
    {0x0c, 1, 0x0000000e, 0x6, 0, 0},                       /* DBGFORCE */
    {0x10, 1, 0x00001fff, 0, 0, 0},                         /* MEMPOWERDOWN */
    {0x14, 1, 0x000000ff, 0, 0, 0},                         /* AUXCTRL */
    END};
static const struct registers PSM[] = {                     /* 7.4.4 */
    {0x00, 3, 0x1ffffff, 0, 0, 0},                          /* FRCE_ON, FRCE_OFF, WDSEL */
    {0x0c, 1, 0, 0x1ffffff, 0, 0},                          /* DONE */
    END};
static const struct registers IO_BANK0[] = {                /* 9.11.1 */
    {0x000, 48, 0, 0, 0, 8},                                /* GPIOn_STATUS */
    {0x004, 48, GPIO_CTRL, FUNCSEL_NULL, 0, 8},             /* GPIOn_CTRL */
    {0x200, 12, 0, 0, 0, 0},                                /* IRQSUMMARY_... */
    {0x230, 6, 0, 0, 0, 0},                                 /* INTR0 to INTR5 */
    {0x248, 12, 0xffffffff, 0, 0, 0},                       /* PROC0_INTE, PROC0_INTF */
    {0x278, 6, 0, 0, 0, 0},                                 /* PROC0_INTS */
    {0x290, 12, 0xffffffff, 0, 0, 0},                       /* PROC1_INTE, PROC1_INTF */
    {0x2c0, 6, 0, 0, 0, 0},                                 /* PROC1_INTS */
    {0x2d8, 12, 0xffffffff, 0, 0, 0},                       /* DORMANT_WAKE_INTE, _INTF */
    {0x308, 6, 0, 0, 0, 0},                                 /* DORMANT_WAKE_INTS */
    END};
static const struct registers IO_QSPI[] = {                 /* 9.11.2 */
    {0x000, 8, 0, 0, 0, 8},                                 /* STATUS of USBPHY_DP, USBPHY_DM, */
    {0x004, 8, GPIO_CTRL, FUNCSEL_NULL, 0, 8},              /* SCLK SS SD0-SD3; CTRL of the same */
    {0x200, 6, 0, 0, 0, 0},                                 /* IRQSUMMARY_... */
    {0x218, 1, 0, 0, 0, 0},                                 /* INTR */
    {0x21c, 2, 0xffffffff, 0, 0, 0},                        /* PROC0_INTE, _INTF */
    {0x224, 1, 0, 0, 0, 0},                                 /* PROC0_INTS */
    {0x228, 2, 0xffffffff, 0, 0, 0},                        /* PROC1_INTE, _INTF */
    {0x230, 1, 0, 0, 0, 0},                                 /* PROC1_INTS */
    {0x234, 2, 0xffffffff, 0, 0, 0},                        /* DORMANT_WAKE_INTE, _INTF */
    {0x23c, 1, 0, 0, 0, 0},                                 /* DORMANT_WAKE_INTS */
    END};
static const struct registers PADS_BANK0[] = {              /* 9.11.3 */
    {0x00, 1, 1, 0, 0, 0},                                  /* VOLTAGE_SELECT */
    {0x04, 48, PAD_BITS, 0x116, 0, 0},                      /* GPIO0 to GPIO47 */
    {0xc4, 2, PAD_BITS, 0x5a, 0, 0},                        /* SWCLK, SWD */
    END};
static const struct registers PADS_QSPI[] = {               /* 9.11.4 */
    {0x00, 1, 1, 0, 0, 0},                                  /* VOLTAGE_SELECT */
    {0x04, 3, PAD_BITS, 0x156, 0, 0},                       /* GPIO_QSPI_SCLK, SD0, SD1 */
    {0x10, 3, PAD_BITS, 0x15a, 0, 0},                       /* GPIO_QSPI_SD2, SD3, SS */
    END};
static const struct registers BUSCTRL[] = {                 /* 12.15.4 */
    {0x00, 1, 0x1111, 0, 0, 0},                             /* BUS_PRIORITY */
    {0x04, 1, 0, 1, 0, 0},                                  /* BUS_PRIORITY_ACK */
    {0x08, 1, 1, 0, 0, 0},                                  /* PERFCTR_EN */
    {0x10, 4, 0x7f, 0x1f, 0, 8},                            /* PERFSEL0 to 3, no PERFCTR */
    END};
static const struct registers ROSC[] = {                    /* 8.3.10; DIV, FREQA and FREQB would */
    {0x00, 1, 0x00ffffff, 0xaa0, 0, 0},                     /* change the frequency: CTRL, ... */
    {0x0c, 1, 0xffffffff, 0x3f04b16d, 0, 0},                /* ... RANDOM, ... */
    {0x1c, 1, 0, 0x80001000, 0, 0},                         /* ... STATUS and ... */
    {0x20, 1, 0, 1, 0, 0},                                  /* ... RANDOMBIT, which don't */
    END};
static const struct registers POWMAN[] = {                  /* 6.4: core voltage, scratch, boot */
    {0x00, 1, 1, 0, 0, 0},                                  /* BADPASSWD */
    {0x04, 1, 0xb170, 0x8050, 0, 0},                        /* VREG_CTRL */
    {0x08, 1, 0, 0x10, 0, 0},                               /* VREG_STS: VOUT_OK */
    {0x0c, 1, 0x01f2, 0xb0, 0, 0},                          /* VREG; UPDATE_IN_PROGRESS is 0 */
    {0x18, 1, 0x1000, 0, 0, 0},                             /* BOD_CTRL */
    {0x1c, 1, 0x01f1, 0xb1, 0, 0},                          /* BOD */
    {0x2c, 1, 1, 1 << 16, 0, 0},                            /* CHIP_RESET: HAD_POR */
    {0x30, 1, 0x1111, 0, 0, 0},                             /* WDSEL */
    {0xb0, 8, 0xffffffff, 0, 0, 0},                         /* SCRATCH0 to SCRATCH7 */
    {0xd0, 4, 0xffffffff, 0, 0, 0},                         /* BOOT0 to BOOT3 */
    END};
static const struct registers TBMAN[] = {{0x00, 1, 0, 1, 0, 0}, END};      /* PLATFORM: ASIC */

const struct registers *const PLAIN_RP2350[PLAIN_BLOCKS] = {
    [PLAIN_SYSINFO] = SYSINFO, [PLAIN_SYSCFG] = SYSCFG, [PLAIN_PSM] = PSM,
    [PLAIN_IO_BANK0] = IO_BANK0, [PLAIN_IO_QSPI] = IO_QSPI, [PLAIN_PADS_BANK0] = PADS_BANK0,
    [PLAIN_PADS_QSPI] = PADS_QSPI, [PLAIN_BUSCTRL] = BUSCTRL, [PLAIN_ROSC] = ROSC,
    [PLAIN_POWMAN] = POWMAN, [PLAIN_TBMAN] = TBMAN,
};
