/* SPDX-License-Identifier: Apache-2.0 */
/* What tells one chip from the other: one struct model in rp2040.c, one in rp2350.c. */
#ifndef MODEL_H
#define MODEL_H
#include "chip.h"

/* ---- clocks.c ---- */
enum clock_source {
    SOURCE_NONE, SOURCE_PLL_SYS, SOURCE_PLL_USB, SOURCE_ROSC, SOURCE_XOSC, SOURCE_CLK_REF,
    SOURCE_CLK_SYS, SOURCE_GPIN0, SOURCE_GPIN1
};
struct generator {
    const char *name;
    uint32_t ctrl_bits, div_bits;       /* writable; without div_bits there is no divider */
    uint8_t aux[8];                     /* enum clock_source, by AUXSRC */
};
enum { COUNTED_CLOCKS = 4 };
struct clock_layout {
    struct generator generators[CLOCKS];
    unsigned integer_shift;     /* fraction bits of the dividers: 8 or 16 */
    bool zero_is_one_more;      /* an integer part of 0 divides by one more than it can hold, not
                                   by 65536 */
    bool shows_enabled;         /* CTRL bit 28 */
    uint32_t resus_ctrl, wake_en0;      /* offsets; the others follow them, FC0 between them */
    uint8_t counted[COUNTED_CLOCKS];    /* enum clock, by FC0_SRC from that of clk_peri on */
    uint32_t wake_en1_bits;
};

uint64_t clocks_source_hz(const machine *m, enum clock_source source);
/* clocks_counter.c: its registers by word. false: that is not modelled. */
void frequency_counter_reset(struct frequency_counter *f);
uint32_t frequency_counter_read(const machine *m, uint32_t word);
bool frequency_counter_write(machine *m, uint32_t word, uint32_t value, enum alias alias);

/* ---- xip_ctrl.c, usb.c ---- */
struct xip_ctrl_facts {
    uint32_t bits, reset;
    uint32_t enable;            /* all of them on, or timing is not modelled */
    uint32_t unsupported;
    bool has_flush;
};
struct usb_facts {
    uint32_t main_ctrl_bits, main_ctrl_reset, sie_ctrl_bits, sie_ctrl_reset, muxing_bits,
        muxing_reset, direct_bits, direct_override_bits, interrupt_bits,
        linestate_tuning_bits, linestate_tuning_reset;
};

/* ---- a chip ---- */
struct model {
    const char *name;
    uint8_t unique_id[8];       /* unless emu_set_unique_id says otherwise */
    uint64_t rosc_hz;

    const block *apb;           /* each 1 << apb_shift bytes, from APB_BASE */
    unsigned apb_shift, apb_blocks;
    const block *others;        /* ends with a block without a name */
    const struct registers *const *plain;       /* by enum plain_block */

    uint32_t reset_bits_all;
    int8_t reset_io_qspi, reset_pads_qspi, reset_usbctrl;
    /* blocks that live on a peripheral clock; ends with reset_bits 0 */
    const struct clocked { enum clock clock; uint32_t reset_bits; } *clocked;
    const struct clock_layout *clocks;
    enum clock clk_usb;
    uint32_t xosc_startup_reset;

    unsigned timers, irq_usbctrl;               /* TIMERn interrupts from 4 * n */
    enum tick_generator timer_tick[TIMERS];
    int8_t reset_timer[TIMERS];
    bool timer_has_source;      /* LOCKED and SOURCE stand before INTR */
    unsigned watchdog_counts_per_tick;
    bool watchdog_has_tick;
    uint32_t psm_proc0;         /* bit in PSM.WDSEL */

    const struct usb_facts *usb;
    const struct xip_ctrl_facts *xip_ctrl;
    unsigned qspi_ctrl;         /* IO_QSPI: offset of GPIO_QSPI_SCLK_CTRL; 8 to the next pin */
    bool pads_isolate;          /* PADS have ISO */
    bool gpio_interleaved;      /* SIO: GPIO_HI_OUT follows GPIO_OUT */
    uint32_t qspi_pins_in_hi;   /* the QSPI lines in SIO GPIO_HI_IN */
    const char *flash_interface;        /* between XIP cache and flash */
    void (*flash_pins_changed)(machine *m);     /* IO_QSPI, PADS_QSPI or their resets */
    void (*device_attached)(machine *m);        /* a USB host sees the program; or NULL */
    void (*flash_interface_reset)(machine *m);
    bool (*flash_serial_ready)(const machine *m);       /* single bytes reach the flash */
    void (*flash_exit_xip)(machine *m);         /* EX of the boot ROM, but for its time */
    void (*flash_enter_cmd_xip)(machine *m);    /* CX likewise */
    void (*flash_flush)(machine *m);            /* FC likewise */

    void (*rom_build)(machine *m);
    void (*rom_call)(machine *m, uint32_t number);
    bool (*coprocessor)(machine *m, uint32_t instruction);
};
extern const struct model RP2040, RP2350;
extern const struct registers *const PLAIN_RP2040[PLAIN_BLOCKS];
extern const struct registers *const PLAIN_RP2350[PLAIN_BLOCKS];
#endif
