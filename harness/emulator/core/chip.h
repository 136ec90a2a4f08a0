/* SPDX-License-Identifier: Apache-2.0 */
/* A chip around its core: what the peripheral files share.
 *
 * One file per block, named after its chapter in the data sheets; registers carry the data sheets'
 * names. Bits of a register are spelled in the file that gives them a meaning. What the RP2040 and
 * the RP2350 have alike is one file that takes what differs from struct model (model.h); rp2040.c
 * and rp2350.c hold one each. Section numbers are of the RP2040 data sheet unless a file says
 * otherwise. */
#ifndef CHIP_H
#define CHIP_H
#include "machine.h"

__extension__ typedef unsigned __int128 uint128;

enum { XOSC_HZ = 12000000 };

/* ---- registers and how they are written (data sheet 2.1.2, atomic register access) ---- */
enum alias { ALIAS_NORMAL, ALIAS_XOR, ALIAS_SET, ALIAS_CLEAR };

/* What an ordinary register holds after a write; bits outside `writable` keep their value. */
static inline uint32_t register_write(uint32_t old, uint32_t value, enum alias alias,
                                      uint32_t writable)
{
    uint32_t wanted = alias == ALIAS_XOR   ? old ^ value
                      : alias == ALIAS_SET ? old | value
                      : alias == ALIAS_CLEAR ? old & ~value
                                             : value;
    return (old & ~writable) | (wanted & writable);
}

/* What is left of write-1-to-clear flags; the set and xor aliases have no meaning on them. */
static inline uint32_t flags_write(uint32_t old, uint32_t value, enum alias alias,
                                   uint32_t clearable)
{
    bool clears = alias == ALIAS_NORMAL || alias == ALIAS_CLEAR;
    return clears ? old & ~(value & clearable) : old;
}

/* ---- the address map ---- */
/* Bytes rather than registers: the memory sees size and alignment of an access itself. */
struct memory {
    uint32_t bytes;
    bool (*read)(machine *m, uint32_t offset, int size, uint32_t *value);   /* false: bus fault */
    bool (*write)(machine *m, uint32_t offset, int size, uint32_t value);
};

typedef struct block block;
struct block {
    uint32_t base;              /* outside the APB; on it the place in the table says where */
    const char *name;
    int8_t reset_bit;           /* in RESETS.RESET, or NO_RESET */
    uint8_t instance;           /* which PLL, which timer, which row of chip.plain */
    /* false: nobody modelled this register. No read function: nobody modelled this block. */
    bool (*read)(machine *m, const block *b, uint32_t offset, uint32_t *value);
    bool (*write)(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
    void (*reset)(machine *m, const block *b);
    const struct memory *memory;        /* at the start of the block; NULL: registers only */
    uint32_t bytes;             /* outside the APB; 0: a page of registers and its three aliases */
};
enum { REGISTERS_BYTES = 0x1000, ALIASES_BYTES = 4 * REGISTERS_BYTES, WORD_OFFSET = 0xffc };
enum { NO_RESET = -1 };

enum plain_block {
    PLAIN_SYSINFO, PLAIN_SYSCFG, PLAIN_PSM, PLAIN_IO_BANK0, PLAIN_IO_QSPI, PLAIN_PADS_BANK0,
    PLAIN_PADS_QSPI, PLAIN_BUSCTRL, PLAIN_ROSC, PLAIN_VREG_AND_CHIP_RESET, PLAIN_POWMAN,
    PLAIN_TBMAN, PLAIN_BLOCKS, PLAIN_WORDS = 0x320 / 4
};
/* Equal registers in a row that are plain storage (plain.c); a row of count 0 ends a table. */
struct registers {
    uint32_t first, count;      /* byte offset of the first, how many words */
    uint32_t writable, reset;
    uint32_t ones;              /* read as 1 whatever was written */
    uint32_t stride;            /* bytes from one to the next; 0: 4 */
};

enum { QSPI_PINS = 6 };         /* SCLK, SS, SD0 to SD3 */

/* ---- state, one struct per block ---- */

/* Time in units of which a clk_sys and a clk_ref cycle are whole multiples (timebase.c). */
struct timebase {
    uint64_t units_per_second, units_per_cycle, units_per_ref;
    uint64_t cycle;             /* m->cycles at the last change of clk_sys, ... */
    uint128 units;              /* ... and the time then */
    uint64_t ref;               /* clk_ref cycles counted up to the last change of clk_ref, ... */
    uint128 ref_units;          /* ... and the time then */
};

struct resets { uint32_t reset, wdsel; };

struct xosc { uint32_t ctrl, startup; bool bad_write; uint64_t stable_ns; };

enum { PLL_SYS, PLL_USB, PLLS };
struct pll { uint32_t cs, pwr, fbdiv_int, prim; uint64_t lock_ns; };

enum clock {
    CLK_GPOUT0, CLK_GPOUT1, CLK_GPOUT2, CLK_GPOUT3, CLK_REF, CLK_SYS, CLK_PERI,
    RP2040_CLK_USB, RP2040_CLK_ADC, RP2040_CLK_RTC,
    RP2350_CLK_HSTX = RP2040_CLK_USB, RP2350_CLK_USB, RP2350_CLK_ADC, CLOCKS
};
enum { FREQUENCY_COUNTER_WORDS = 8 };
struct frequency_counter {
    uint32_t words[FREQUENCY_COUNTER_WORDS];
    uint64_t done_ns;           /* STATUS and RESULT are not to be seen before */
};
struct clocks {
    uint32_t ctrl[CLOCKS], div[CLOCKS];
    struct frequency_counter counter;
    uint32_t resus_ctrl, wake_en[2], sleep_en[2];
    uint64_t ref_hz, sys_hz;
};

enum tick_generator {           /* in the order of the RP2350's TICKS; the RP2040 has WATCHDOG's */
    TICK_PROC0, TICK_PROC1, TICK_TIMER0, TICK_TIMER1, TICK_WATCHDOG, TICK_RISCV, TICK_GENERATORS
};
struct ticker {
    uint32_t cycles;            /* of clk_ref a tick, 0 to 511 */
    bool enable;
    uint64_t ticks, ref;        /* `ticks` had happened when clk_ref stood at `ref` */
};

enum { TIMERS = 2, TIMER_IRQS = 4 };
struct timer {
    uint64_t count, tick;       /* the counter was `count` at tick `tick` */
    uint32_t latch_high, write_low;
    uint32_t alarm[4], armed, dbgpause, intr, inte, intf;
    uint64_t due[4];            /* full counter value at which an armed alarm fires */
    bool paused;
    bool locked, counts_clk_sys;                /* RP2350: LOCKED and SOURCE */
};

struct watchdog {
    uint32_t ctrl, reason, scratch[8];
    uint32_t count;             /* counter value at tick `tick` */
    uint64_t tick;
};

struct sio {
    uint32_t gpio_out, gpio_oe, gpio_hi_out, gpio_hi_oe, spinlocks, fifo_status;
    uint32_t div_dividend, div_divisor, div_quotient, div_remainder;
    bool div_signed, div_dirty;
    uint64_t div_ready;         /* cycle */
};

enum { SSI_FIFO_DEPTH = 16 };
struct ssi {
    uint32_t ctrlr0, ctrlr1, ssienr, mwcr, ser, baudr, txftlr, rxftlr, imr, dmacr, dmatdlr, dmardlr;
    uint32_t rx_sample_dly, spi_ctrlr0, txd_drive_edge;
    uint32_t rx[SSI_FIFO_DEPTH], rx_count;      /* received or still on the wire */
    uint64_t busy_until;        /* cycle at which the last frame on the wire ends */
    uint32_t frame_cycles;
    bool selected;              /* chip select is low */
    bool has_instruction;       /* enhanced formats: the instruction waits for its address */
    uint32_t instruction;
};

enum { QMI_FIFO_DEPTH = 4, QMI_WINDOWS = 2, QMI_TRANSLATIONS = 8 };
struct qmi_window { uint32_t timing, rfmt, rcmd, wfmt, wcmd; };
struct qmi {
    uint32_t direct_csr, atrans[QMI_TRANSLATIONS];
    struct qmi_window window[QMI_WINDOWS];
    uint32_t tx[QMI_FIFO_DEPTH], tx_count, rx[QMI_FIFO_DEPTH], rx_count;
    bool shifting, selected;    /* a frame is on the wire; chip select is low */
    uint32_t frame, received;   /* that frame, and what comes back with its last bit */
    uint64_t frame_end;         /* cycle */
    uint64_t misses_before, direct_reads;       /* reads in this set-up: qmi_xip.c */
};

struct xip_ctrl { uint32_t ctrl; uint64_t hit_base, acc_base; };

enum { BOOTRAM_BYTES = 1024, ACCESSCTRL_WORDS = 0xec / 4 };
struct bootram { uint8_t bytes[BOOTRAM_BYTES]; uint32_t write_once[2], locks; };
struct accessctrl { uint32_t words[ACCESSCTRL_WORDS]; };

struct dcp { uint64_t x, y, e; bool engaged; };     /* operands, status word (dcp.c) */
struct rcp { uint64_t salt; bool has_salt; uint8_t count, random; };

struct spi_flash {
    uint8_t unique_id[8];
    uint8_t status1, status2;
    uint64_t busy_until_ns;     /* a status register is being written */
    uint8_t continuous;         /* read command that is assumed without being sent, or 0 */
    bool write_enabled;
    uint8_t command;
    uint32_t count;             /* bytes since chip select, command included */
    uint32_t address;
    uint8_t argument[2];
    bool all_ones;
};

/* What is wrong with the flash, by switches; and what was asked of it so far. */
struct flash_defects {
    uint32_t pages, erases;                     /* since power-on: calls for a page of 256 bytes, erases */
    uint32_t skip_page, skip_pages;             /* the first page that is not programmed, and how many */
    uint32_t skip_erase, skip_erases;
    uint32_t stuck_offset, stuck_bits, stuck_value;             /* bits of one byte that never change */
    bool is_protected;
};

enum { USB_DPRAM_BYTES = 4096, USB_ENDPOINTS = 16 };
struct usb {
    uint8_t dpram[USB_DPRAM_BYTES];
    uint32_t addr_endp[USB_ENDPOINTS];
    uint32_t main_ctrl, sof_wr, sof_rd, sie_ctrl, sie_status, int_ep_ctrl, buff_status;
    uint32_t buff_cpu_should_handle, ep_abort, ep_abort_done, ep_stall_arm, nak_poll;
    uint32_t ep_status_stall_nak, usb_muxing, usb_pwr, usbphy_direct, usbphy_direct_override;
    uint32_t usbphy_trim, linestate_tuning, inte, intf;
    bool dev_sof, bus_reset, attached;
    uint32_t second_buffer;     /* double buffering: bit 2n + out: buffer 1 of endpoint n is next */
    uint32_t events;            /* enum emu_usb_event */
    uint64_t event_cycle;
};

/* ---- the chip ---- */
struct chip {
    const struct model *model;
    struct timebase time;
    struct resets resets;
    struct xosc xosc;
    struct pll pll[PLLS];
    struct clocks clocks;
    struct ticker ticker[TICK_GENERATORS];
    struct timer timer[TIMERS];
    struct watchdog watchdog;
    struct sio sio;
    struct ssi ssi;             /* RP2040 */
    struct qmi qmi;             /* RP2350 */
    struct bootram bootram;
    struct accessctrl accessctrl;
    struct dcp dcp;
    struct rcp rcp;
    const char *xip_problem;    /* why flash can't be read through XIP now; NULL: it can */
    struct xip_ctrl xip;
    struct spi_flash spi_flash;
    struct usb usb;
    uint32_t plain[PLAIN_BLOCKS][PLAIN_WORDS];
    uint32_t xip_miss_cycles_expected;          /* emu_set_switch "xip_miss_cycles", 0: any */
    uint64_t xosc_hz;           /* of the crystal: XOSC_HZ, but for a switch */
    uint32_t pll_sys_ppm;       /* by how much PLL_SYS is too fast */
    struct flash_defects defects;
    bool in_bootsel;
    char boot_state[160], why_not[160];
};

/* ---- chip.c ---- */
enum { APB_BASE = 0x40000000 };
void chip_reset_blocks(machine *m, uint32_t reset_bits);    /* registers to their reset values */
void chip_not_modelled(machine *m, const char *access, const char *name, uint32_t address);

/* ---- timebase.c ---- */
void timebase_start(struct timebase *t, uint64_t cycle, uint64_t sys_hz, uint64_t ref_hz);
void timebase_change(struct timebase *t, uint64_t cycle, uint64_t sys_hz, uint64_t ref_hz);
uint64_t timebase_ns(const struct timebase *t, uint64_t cycle);
uint64_t timebase_ref(const struct timebase *t, uint64_t cycle);   /* clk_ref cycles since start */
uint64_t timebase_cycle_of_ref(const struct timebase *t, uint64_t ref);

/* ---- resets.c ---- */
bool resets_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool resets_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void resets_reset(machine *m);
bool resets_held(const machine *m, int reset_bit);
void resets_release(machine *m, uint32_t reset_bits);

/* ---- oscillators.c ---- */
bool xosc_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool xosc_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void xosc_reset(machine *m, const block *b);
bool xosc_stable(const machine *m);
bool rosc_running(const machine *m);
bool pll_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool pll_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void pll_reset(machine *m, const block *b);
bool pll_powered(const machine *m, int which);
bool pll_locked(const machine *m, int which);
uint64_t pll_hz(const machine *m, int which);               /* 0 without power to every part */

/* ---- clocks.c ---- */
bool clocks_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool clocks_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void clocks_reset(machine *m, const block *b);
void clocks_changed(machine *m);                            /* a source or mux is not as before */
uint64_t clocks_hz(const machine *m, enum clock which);     /* PERI and up; 0: stopped */

/* ---- timer.c ---- */
bool timer_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool timer_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void timer_reset(machine *m, const block *b);
uint32_t timer_irq_lines(machine *m, unsigned which);
uint64_t timer_next_event(const machine *m, unsigned which);

/* ---- ticks.c ---- */
bool ticks_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool ticks_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void ticks_reset(machine *m, const block *b);
uint64_t ticks_count(const machine *m, enum tick_generator which);      /* since power-on */
uint64_t ticks_cycle_of(const machine *m, enum tick_generator which, uint64_t tick);
bool ticks_running(const machine *m, enum tick_generator which);
uint32_t ticks_remaining(const machine *m, enum tick_generator which);  /* clk_ref to the next */
void ticks_set(machine *m, enum tick_generator which, uint32_t cycles, bool enable);

/* ---- watchdog.c ---- */
bool watchdog_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool watchdog_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void watchdog_power_on(machine *m);
void watchdog_reset(machine *m, const block *b);
void watchdog_update(machine *m);                           /* requests the reset when it expires */
uint64_t watchdog_next_event(const machine *m);

/* ---- sio.c; sio_divider.c and sio_gpio_rp2040 for the RP2040's registers ---- */
bool sio_rp2040_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool sio_rp2040_write(machine *m, const block *b, uint32_t offset, uint32_t value,
                      enum alias alias);
bool sio_rp2350_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool sio_rp2350_write(machine *m, const block *b, uint32_t offset, uint32_t value,
                      enum alias alias);
void sio_reset(machine *m, const block *b);
bool sio_divider_read(machine *m, uint32_t offset, uint32_t *value);
bool sio_divider_write(machine *m, uint32_t offset, uint32_t value);
uint32_t sio_gpio_in(const machine *m, bool high);

/* ---- ssi.c, qmi.c, xip_ctrl.c, spi_flash.c ---- */
bool ssi_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool ssi_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void ssi_reset(machine *m);
void ssi_pins_changed(machine *m);
void ssi_exit_xip(machine *m);
void ssi_enter_cmd_xip(machine *m);
void ssi_flush(machine *m);
bool ssi_serial_ready(const machine *m);
bool qmi_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool qmi_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void qmi_reset(machine *m);
void qmi_pins_changed(machine *m);
void qmi_exit_xip(machine *m);
void qmi_enter_cmd_xip(machine *m);
void qmi_flush(machine *m);
bool qmi_serial_ready(const machine *m);
void qmi_check_cost(machine *m);                            /* against the switch */
enum xip_read_mode { XIP_03H_SERIAL, XIP_0BH_SERIAL, XIP_BBH_DUAL, XIP_EBH_QUAD, XIP_READ_MODES };
void qmi_select_read_mode(machine *m, enum xip_read_mode mode, uint32_t clkdiv);
extern const struct memory QMI_UNCACHED, XIP_MAINTENANCE;
bool flash_pins_connected(const machine *m);                /* of the QSPI, to SSI or QMI */
bool xip_ctrl_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool xip_ctrl_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void xip_ctrl_reset(machine *m, const block *b);
void xip_ctrl_flush(machine *m);                            /* as flash_flush_cache of the ROM */
void spi_flash_power_on(machine *m);
void spi_flash_select(machine *m);
void spi_flash_deselect(machine *m);
uint8_t spi_flash_exchange(machine *m, uint8_t out);        /* one byte on one data line */
void spi_flash_fast_read(machine *m, uint8_t instruction, uint32_t address_and_mode,
                         unsigned address_bits, uint8_t *to, uint32_t length);
bool spi_flash_has_quad(const machine *m);
bool spi_flash_mode_is_continuous(uint8_t mode);

/* ---- usb.c ---- */
bool usb_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool usb_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void usb_reset(machine *m, const block *b);
extern const struct memory USB_DPRAM;
bool usb_irq_line(const machine *m);
void usb_attachment_changed(machine *m);                    /* look again whether a host sees us */
void usb_notice(machine *m, uint32_t events);

/* ---- plain.c ---- */
bool plain_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool plain_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void plain_reset(machine *m, const block *b);


/* ---- bootram.c, accessctrl.c, powman.c: RP2350 ---- */
bool bootram_read(machine *m, const block *b, uint32_t offset, uint32_t *value);
bool bootram_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void bootram_reset(machine *m, const block *b);
extern const struct memory BOOTRAM, ACCESSCTRL;
bool powman_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias);
void accessctrl_reset(machine *m, const block *b);

/* ---- coprocessors.c, rom_*.c ---- */
bool rp2350_coprocessor(machine *m, uint32_t instruction);
void rom_reset_vector(machine *m);
void rom_rp2040_build(machine *m);
void rom_rp2040_call(machine *m, uint32_t number);
void rom_rp2350_build(machine *m);
void rom_rp2350_call(machine *m, uint32_t number);
#endif
