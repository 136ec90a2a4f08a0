/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the emulator core share: the machine and the seam between core and chip.
 *
 * The core (execute.c, decode.c, exceptions.c, special.c, scs.c, systick.c, debug.c, bus.c,
 * xip.c) knows ARMv6-M and nothing of the RP2040. The chip (rp2040.c and one file per block)
 * knows registers and clocks and nothing of instructions. They meet in the functions declared
 * at the end. */
#ifndef MACHINE_H
#define MACHINE_H
#include "emu.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    ROM_BASE = 0x00000000, ROM_BYTES = 16 * 1024,
    XIP_BASE = 0x10000000, XIP_BYTES = 16 * 1024 * 1024,
    SRAM_BASE = 0x20000000, SRAM_BYTES = 264 * 1024
};
#define NEVER UINT64_MAX

struct chip;                                   /* chip.h: the peripheral registers */

/* One predecoded halfword (decode.c). Nothing in it depends on the address but the alignment of
   the pc to a word, so that every mirror of the flash can share the same entries. */
typedef struct {
    int32_t handler;                           /* offset of its code in execute(); 0: not decoded */
    uint8_t rd, rn, rm;                        /* registers, as in the instruction descriptions */
    uint8_t cycles;                            /* cycles.h; branches taken and waits add to them */
    int32_t imm;                               /* immediate, register list, or distance from pc */
} decoded;

enum step { NO_STEP = 0, STEP_REQUESTED, STEP_DONE };

struct machine {
    /* Core registers. Flags are kept unpacked: N is bit 31 of `n`, Z is set when z == 0, C and V
       are 0 or 1. r[13] is the stack pointer in use (PSP when CONTROL.SPSEL is set), other_sp the
       other one. */
    uint32_t r[16], n, z, c, v;
    uint32_t primask, control, ipsr, other_sp;
    bool thumb;                                /* EPSR.T */
    uint64_t cycles, instructions;
    uint64_t next_event;                       /* look up at the first branch from this cycle on */
    uint64_t until;                            /* of the current emu_run */
    int stop;                                  /* enum emu_stop wanted, EMU_RAN = none */
    bool sleeping, event, in_wfe;              /* in WFI or WFE; the event register; it is a WFE */

    /* exceptions: bit n of pending_system/active_system is exception n < 16 */
    uint32_t pending_system, active_system;
    uint32_t irq_pending, irq_enabled, irq_active, irq_lines;
    uint8_t irq_priority[32], system_priority[16];
    uint32_t vtor, scr;
    uint64_t exceptions;

    /* SysTick (systick.c): while it counts, cycles of its latest and next zero; else its value */
    uint32_t systick_csr, systick_rvr, systick_stopped_at;
    uint64_t systick_zero, systick_next_zero;

    /* debug registers (SCS, BPU): survive a system reset */
    uint32_t dhcsr_control, dcrdr, demcr, dfsr, bpu_ctrl, bpu_comp[4];
    uint64_t retired;                          /* value of `instructions` at the last DHCSR read */
    bool halted, reset_happened, locked_up, register_ready;
    enum step step;

    /* the latest HardFault (emu_last_fault) */
    const char *fault_cause;                   /* set by whoever detects it, text of the report */
    uint32_t fault_address;
    char last_fault[160];

    /* memories and predecoded code; each code table has two empty entries past its end, where
       straight-line execution leaves the memory */
    uint8_t *rom, *flash, *sram;
    uint32_t flash_bytes;                      /* a power of two */
    decoded *rom_code, *flash_code, *sram_code, step_code[4];
    uint8_t sram_has_code[SRAM_BYTES >> 8];    /* 256-byte blocks with decoded instructions */

    /* XIP cache, timing only: 16 KB, two ways, 8-byte lines. fetch_line: line the core is executing
       from, kept across emu_run calls so that slicing cannot change the count */
    uint32_t xip_tag[2][1024];
    uint8_t xip_oldest[1024];
    uint32_t xip_miss_cycles, fetch_line;
    uint64_t xip_accesses, xip_misses;

    struct chip *chip;
    uint64_t dropped_writes;
    bool stop_on_usb;
    char message[512];
};

/* ---- core, for the chip ---- */
/* Stop with EMU_STRICT; the text gets the pc appended. Only the first message of a run is kept. */
void machine_strict(machine *m, const char *format, ...) __attribute__((format(printf, 2, 3)));
void machine_request_reset(machine *m);                    /* SYSRESETREQ, watchdog: EMU_RESET */
void machine_irq_changed(machine *m);                    /* lines or events changed: look up soon */
void machine_usb_noticed(machine *m);                      /* a USB event: EMU_USB if asked for */
uint32_t bus_load(machine *m, uint32_t address, int size); /* for ROM functions: no time, no faults */
void bus_store(machine *m, uint32_t address, int size, uint32_t value);
void xip_flush(machine *m);                                /* all lines invalid */
void code_changed(machine *m, uint32_t address, uint32_t length);  /* drop what was decoded */

/* ---- chip, for the core ---- */
struct chip *chip_new(machine *m);
void chip_free(struct chip *);
void chip_power_on(machine *m);
void chip_reset(machine *m);                           /* api.c then takes SP and PC from the ROM */
/* Any address that is not ROM, cached XIP, SRAM or PPB (0xE...). false: bus fault (HardFault on
   M0+). */
bool chip_read(machine *m, uint32_t address, int size, uint32_t *value);
bool chip_write(machine *m, uint32_t address, int size, uint32_t value);
uint32_t chip_irq_lines(machine *m);                       /* levels, now */
uint64_t chip_next_event(machine *m);               /* of the next change by time alone, or NEVER */
void chip_rom_call(machine *m, uint32_t number);        /* BKPT #number in the ROM; returns to lr */
uint64_t chip_clk_sys_hz(const machine *m);
uint64_t chip_time_ns(const machine *m);
#endif
