/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the emulator core share: the machine and the seam between core and chip.
 *
 * The core (execute*.c, decode*.c, exceptions*.c, special*.c, scs*.c, systick.c, dwt.c, fpu*.c,
 * debug*.c, bus.c, xip.c) knows ARMv6-M and ARMv8-M Mainline and nothing of a chip. The chip
 * (rp2040.c, rp2350.c and one file per block) knows registers and clocks and nothing of
 * instructions. They meet in the functions declared at the end. */
#ifndef MACHINE_H
#define MACHINE_H
#include "emu.h"
#include <stdbool.h>
#include <stddef.h>

enum {
    ROM_BASE = 0x00000000, ROM_BYTES = 16 * 1024,
    XIP_BASE = 0x10000000, XIP_BYTES = 16 * 1024 * 1024,
    SRAM_BASE = 0x20000000, SRAM_BYTES = 264 * 1024,
    RP2350_ROM_BYTES = 32 * 1024, RP2350_SRAM_BYTES = 520 * 1024,
    MAX_SRAM_BYTES = RP2350_SRAM_BYTES
};
enum architecture { ARMV6M, ARMV8M };          /* Cortex-M0+; Cortex-M33 with DSP and FPv5-SP */
enum { MAX_IRQS = 52 };                        /* RP2040: 32 */
#define NEVER UINT64_MAX

struct chip;                                   /* chip.h: the peripheral registers */

/* One predecoded halfword (decode.c). Nothing in it depends on the address but the alignment of
   the pc to a word, so that every mirror of the flash can share the same entries. */
typedef struct {
    int32_t handler;                           /* offset of its code in execute(); 0: not decoded */
    uint8_t rd, rn, rm;                        /* registers, as in the instruction descriptions */
    uint8_t cycles;                            /* cycles.h; branches taken and waits add to them */
    int32_t imm;                               /* immediate, register list, or distance from pc */
    uint8_t ra, shift, amount, form;           /* ARMv8-M: see decode_v8m.h */
} decoded;

/* What is wrong with an instruction on ARMv8-M (exceptions_v8m.c): the bit of CFSR that it sets,
   and with it the exception, MemManage, BusFault or UsageFault. */
enum v8m_fault_kind {
    FAULT_NONE = 0,
    FAULT_IACCVIOL, FAULT_DACCVIOL,            /* MemManage: execute-never; permission of data */
    FAULT_IBUSERR, FAULT_PRECISERR,            /* BusFault: nothing answers a fetch; an access, */
    FAULT_UNSTKERR, FAULT_STKERR,              /* ... of an exception return; of an entry */
    FAULT_UNDEFINED, FAULT_INVSTATE, FAULT_INVPC, FAULT_NOCP, FAULT_STKOF, FAULT_UNALIGNED,
    FAULT_DIVBYZERO,                           /* UsageFault */
    FAULT_DEBUGEVT                             /* HardFault: BKPT or breakpoint with no debugger */
};

enum m33_timing { M33_OPTIMISTIC = 0, M33_CONSERVATIVE = 1 };      /* cycles_v8m.h */

enum step { NO_STEP = 0, STEP_REQUESTED, STEP_DONE };

struct machine {
    enum architecture architecture;
    /* of the chip; they never change. coprocessors: bit n is CPn (not the FPU, CP10 and CP11) */
    uint32_t rom_bytes, sram_bytes, irqs, coprocessors;

    /* Core registers. Flags are kept unpacked: N is bit 31 of `n`, Z is set when z == 0, C and V
       are 0 or 1. r[13] is the stack pointer in use (PSP when CONTROL.SPSEL is set), other_sp the
       other one. */
    uint32_t r[16], n, z, c, v;
    uint32_t primask, control, ipsr, other_sp;
    bool thumb;                                /* EPSR.T */

    /* ARMv8-M only; 0 for ever on ARMv6-M. The security state is fixed: secure. q is APSR.Q, ge the
       four bits of APSR.GE; itstate is EPSR.IT for the instruction at r[15], valid whenever the
       state is in this structure: 0 outside an IT block. CONTROL.FPCA and SFPA are in `control`. */
    uint32_t q, ge, itstate;
    uint32_t basepri, faultmask, msplim, psplim;
    bool exclusive;                            /* local monitor: LDREX open, STREX may succeed */
    uint32_t fp[32], fpscr;                    /* S0 to S31; D(n) is S(2n), S(2n + 1) */
    uint32_t m33_timing;                       /* enum m33_timing */

    uint64_t cycles, instructions;
    uint64_t next_event;                       /* look up at the first branch from this cycle on */
    uint64_t until;                            /* of the current emu_run */
    int stop;                                  /* enum emu_stop wanted, EMU_RAN = none */
    bool sleeping, event, in_wfe;              /* in WFI or WFE; the event register; it is a WFE */

    /* exceptions: bit n of pending_system/active_system is exception n < 16 */
    uint32_t pending_system, active_system;
    uint64_t irq_pending, irq_enabled, irq_active, irq_lines;
    uint8_t irq_priority[MAX_IRQS], system_priority[16];
    uint32_t vtor, scr;
    /* ARMv8-M: SCB and FPU registers (scb_v8m.c). faults_enabled: SHCSR.xENA by exception number */
    uint32_t prigroup, ccr, faults_enabled, cfsr, hfsr, mmfar, bfar, cpacr, actlr;
    uint32_t fpccr, fpcar, fpdscr;
    uint64_t exceptions;

    /* SysTick (systick.c): while it counts, cycles of its latest and next zero; else its value */
    uint32_t systick_csr, systick_rvr, systick_stopped_at;
    uint64_t systick_zero, systick_next_zero;

    /* DWT cycle counter of ARMv8-M (dwt.c): while it counts, the cycle at which it was 0 (modulo
       2^64); else its value */
    uint32_t dwt_ctrl, dwt_stopped_at;
    uint64_t dwt_zero;

    /* debug registers (SCS, BPU or FPB): survive a system reset */
    uint32_t dhcsr_control, dcrdr, demcr, dfsr, dscsr, bpu_ctrl, bpu_comp[8];
    uint64_t retired;                          /* value of `instructions` at the last DHCSR read */
    bool halted, reset_happened, locked_up, register_ready;
    enum step step;

    /* the latest fault (emu_last_fault) */
    const char *fault_cause;                   /* set by whoever detects it, text of the report */
    enum v8m_fault_kind fault_kind;            /* set with it; of no use to ARMv6-M */
    uint32_t fault_address;
    char last_fault[160];

    /* memories and predecoded code; each code table has two empty entries past its end, where
       straight-line execution leaves the memory */
    uint8_t *rom, *flash, *sram;
    uint32_t flash_bytes;                      /* a power of two */
    bool flash_is_lent;                        /* the caller's memory, not ours to free */
    decoded *rom_code, *flash_code, *sram_code, step_code[4];
    uint8_t sram_has_code[MAX_SRAM_BYTES >> 8];    /* 256-byte blocks with decoded instructions */

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

    /* the witness (witness.h) and the profile (profile.h), if there is one; never both */
    struct witness *witness;
    struct profile *profile;
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
uint64_t chip_irq_lines(machine *m);                       /* levels, now */
uint64_t chip_next_event(machine *m);               /* of the next change by time alone, or NEVER */
/* MCR, MRC, MCRR, MRRC, CDP of a coprocessor that is not the FPU and that CPACR enables: r[] is
   live, flags are in n, z, c, v (an MRC to APSR_nzcv writes them through set_apsr). false: the chip
   has no such coprocessor, or it does not know the instruction. */
bool chip_coprocessor(machine *m, uint32_t instruction);
bool chip_set_switch(machine *m, const char *name, uint32_t value);    /* false: no such switch */
uint32_t chip_flash_pages(const machine *m);     /* asked for since power-on */
uint32_t chip_flash_erases(const machine *m);
void chip_rom_call(machine *m, uint32_t number);        /* BKPT #number in the ROM; returns to lr */
uint64_t chip_clk_sys_hz(const machine *m);
uint64_t chip_time_ns(const machine *m);
#endif
