/* SPDX-License-Identifier: Apache-2.0 */
/* The one interface of the emulator core: a chip with its flash, driven by an absolute cycle count.
 *
 * Everything above it (debug probe, USB host, serial port) is Python and calls these functions
 * through ctypes. Nothing but witness and profile allocates after emu_new, nothing reads a clock of the
 * host: the same image and the same calls give the same bytes and cycles on any machine, at any
 * slicing. */
#ifndef EMU_H
#define EMU_H
#include <stdint.h>

#pragma GCC visibility push(default)           /* all other symbols of the library are hidden */

typedef struct machine machine;

/* Why emu_run came back. */
enum emu_stop {
    EMU_RAN = 0,     /* `until` was reached */
    EMU_HALTED = 1,  /* debug state: halt request, breakpoint, BKPT with a debugger, vector catch */
    EMU_LOCKUP = 2,  /* fault in HardFault or NMI: the core is locked up until reset */
    EMU_RESET = 3,   /* SYSRESETREQ or watchdog: the caller decides, then calls emu_reset */
    EMU_STRICT = 4,  /* something silicon would do silently wrong; emu_message() says what, where */
    EMU_USB = 5      /* only with emu_stop_on_usb: the device side of the USB controller did something
                        that an idle host would notice (see emu_usb_events), or clk_sys
                        changed, so that a cycle reckoned from a time is another one now */
};

/* Counters since power-on. */
enum emu_counter {
    EMU_CYCLES = 0, EMU_INSTRUCTIONS, EMU_XIP_ACCESSES, EMU_XIP_MISSES, EMU_EXCEPTIONS,
    EMU_CLK_SYS_HZ,        /* now */
    EMU_XIP_MISS_CYCLES,   /* derived from the flash interface's set-up, now; 0 before it is set up */
    EMU_SLEEPING,          /* 1 while in WFI/WFE */
    EMU_PC,                /* current pc */
    EMU_DROPPED_WRITES,    /* writes lost because their block was held in reset, and stores to ROM */
    EMU_TIME_NS,           /* emulated time since power-on */
    EMU_FLASH_PAGES,       /* pages of 256 bytes that were to be programmed */
    EMU_FLASH_ERASES       /* calls of the ROM's erase */
};

/* chip: "rp2040", "rp2350". sram_bytes: 0 for the chip's own, or a multiple of 4 KB above that, up to the
   RP2350's: a chip that does not exist. NULL for what is not to be had. Flash 0xFF. */
machine *emu_new(const char *chip, uint32_t flash_bytes, uint32_t sram_bytes);
void emu_free(machine *);
void emu_power_on(machine *);      /* SRAM cleared, every register at its power-on value */
void emu_reset(machine *);         /* system reset: SRAM and flash keep their bytes, debug registers theirs */
int emu_run(machine *, uint64_t until);           /* until: absolute cycle. Returns enum emu_stop */
void emu_stop_on_usb(machine *, int on);
uint64_t emu_counter(const machine *, int which);
const char *emu_message(const machine *);         /* text of the last EMU_STRICT / EMU_LOCKUP */
void emu_clear_message(machine *);
const char *emu_last_fault(const machine *);      /* cause, address, pc, cycle of the latest fault */

void emu_set_unique_id(machine *, const uint8_t id[8]);     /* what the flash answers to 4Bh */
void emu_set_switch(machine *, const char *name, uint32_t v);/* named options, see emulator docs */

/* From now on the flash is `bytes`, the caller's for as long as the machine lives: a mapped file, say. */
void emu_lend_flash(machine *, uint8_t *bytes);

/* Raw memories, for loading and for fault injection; call emu_memory_changed afterwards. */
uint8_t *emu_flash(machine *);
uint8_t *emu_sram(machine *);
uint8_t *emu_rom(machine *);
void emu_memory_changed(machine *, uint32_t address, uint32_t length);

/* The bus as the debug port sees it (MEM-AP): memories, peripherals, the PPB with its debug registers
 * (DHCSR, DCRSR, DCRDR, DEMCR, DFSR, BPU, DWT, ROM table). size 1, 2 or 4. 0, or -1 for a bus fault. */
int emu_bus_read(machine *, uint32_t address, int size, uint32_t *value);
int emu_bus_write(machine *, uint32_t address, int size, uint32_t value);
int emu_bus_read_block(machine *, uint32_t address, uint8_t *to, uint32_t length);
int emu_bus_write_block(machine *, uint32_t address, const uint8_t *from, uint32_t length);
uint32_t emu_register(const machine *, int n);              /* by DCRSR.REGSEL: r0-r15, 16 = xPSR, 17 = MSP, 18 = PSP, 20 = CONTROL and masks, ... */
void emu_set_register(machine *, int n, uint32_t value);

/* USB, from the host's end of the cable. */
enum emu_usb_event { EMU_USB_ATTACH = 1, EMU_USB_DETACH = 2, EMU_USB_IN_READY = 4, EMU_USB_OUT_READY = 8, EMU_USB_STALLED = 16 };
uint32_t emu_usb_events(machine *, uint64_t *cycle);        /* since the last call; cycle of the first one */
int emu_usb_attached(machine *);                            /* pull-up visible: clocks, reset, PHY, all right */
const char *emu_usb_why_not(machine *);                     /* why not attached: "clk_usb is 40000000 Hz, not 48 MHz" */
const char *emu_boot_state(machine *);                      /* how far the boot ROM came, and why no further */
void emu_usb_bus_reset(machine *, int on);
void emu_usb_setup(machine *, const uint8_t packet[8]);
enum { EMU_USB_NAK = -1, EMU_USB_STALL = -2 };
int emu_usb_in(machine *, int endpoint, uint8_t *to, int *data_pid);            /* bytes, or NAK, STALL */
int emu_usb_out(machine *, int endpoint, const uint8_t *from, int length, int data_pid);
void emu_usb_sof(machine *, int frame);

/* The witness (witness.c): what the core itself does to SRAM while a window is open. It costs no cycle;
 * without emu_witness_start it costs nothing at all. A window opens where the function at `begin`
 * returns and closes where the one at `end` is entered, any number of times, or by emu_witness_open and
 * _close. Accesses of the debug port and of ROM functions are not seen. */
enum { EMU_WITNESS_ZONES = 8 };                             /* zone 0: whatever is in no other one */
enum emu_witness_role {
    EMU_WITNESS_INPUT = 1,  /* holds what the code is to read when a window opens */
    EMU_WITNESS_OUTPUT = 2  /* each store to a byte of it is progress by one */
};
struct emu_witness_access { uint64_t cycle, progress; uint32_t address, pc; };
struct emu_witness_writer { uint64_t cycle; uint32_t pc; };
struct emu_witness_extent { uint32_t count, first, end; };  /* bytes: how many, lowest, highest + 1 */
struct emu_witness_zone {
    struct emu_witness_extent written;     /* by a store, whatever the value */
    struct emu_witness_extent changed;     /* holding another value at the end than at the beginning */
    struct emu_witness_extent unwritten;   /* read, but neither input nor written before */
    struct emu_witness_access first_store, first_unwritten;
    uint32_t unexplained;                  /* changed, but not by a store of the core */
};
struct emu_witness_window {
    uint64_t opened, closed;               /* cycles */
    struct emu_witness_zone zones[EMU_WITNESS_ZONES];
    uint32_t collisions;                   /* input bytes written, and then read for their old value */
    struct emu_witness_access overwritten; /* of these the one written first: the store, ... */
    struct emu_witness_access last_read;   /* ... and the last load of it */
    uint32_t lowest_sp;                    /* at a store */
};
/* begin, end: addresses of functions, 0 for none. Windows, zones and roles begin anew. -1: no memory,
   or there is a profile */
int emu_witness_start(machine *, uint32_t begin, uint32_t end);
void emu_witness_stop(machine *);
void emu_witness_zone(machine *, int zone, uint32_t address, uint32_t length);
void emu_witness_role(machine *, uint32_t address, uint32_t length, int roles);
void emu_witness_open(machine *);                                   /* now */
void emu_witness_close(machine *);
int emu_witness_is_open(const machine *);
uint32_t emu_witness_windows(const machine *);                      /* closed since emu_witness_start */
const struct emu_witness_window *emu_witness_window(const machine *, uint32_t number);
uint8_t *emu_witness_shadow(machine *);    /* of the latest window: flags (witness.h) of each byte of SRAM */
const struct emu_witness_writer *emu_witness_writer(const machine *, uint32_t address);    /* last; NULL */

/* A watchpoint of the witness: the core halts ahead of the store-th store of a window (from 1) that
 * would change or repeat the byte at `address`; store 0: never, it is only counted. The store has not
 * happened then, and pc is its instruction. window: how many closed before it since
 * emu_witness_start. Stores of the FPU and of exception frames are not seen. */
void emu_witness_watch(machine *, uint32_t address, uint32_t window, uint32_t store);
uint32_t emu_witness_watched(const machine *);              /* stores to it in the latest window */

/* The profile (profile.c): whose cycles they are. It costs no cycle; without emu_profile_start it
 * costs nothing at all. Windows as of the witness; a machine has one or the other. The counts of a
 * window come to its cycles, those of exception handlers among them. misses: of the XIP cache, by its
 * fetch and by its loads; each waited for miss_cycles. */
struct emu_profile_count { uint64_t cycles, instructions; uint32_t pc, misses; };
struct emu_profile_window {
    uint64_t opened, closed;               /* cycles */
    const struct emu_profile_count *counts;
    uint32_t count, miss_cycles;
};
/* begin, end: addresses of functions. Windows begin anew. -1: no memory, or there is a witness */
int emu_profile_start(machine *, uint32_t begin, uint32_t end);
void emu_profile_stop(machine *);
int emu_profile_lost(const machine *);                      /* was there too little memory for a count? */
uint32_t emu_profile_windows(const machine *);              /* closed since emu_profile_start */
const struct emu_profile_window *emu_profile_window(const machine *, uint32_t number);

#pragma GCC visibility pop
#endif
