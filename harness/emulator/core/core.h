/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the core half share among themselves: one block per file. */
#ifndef CORE_H
#define CORE_H
#include "cycles.h"
#include "instructions.h"
#include "machine.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "memories are in the host's byte order");

/* Exception numbers, ARMv6-M ARM B1.5.2, ARMv8-M ARM B3.9; 4 to 7 and 12 are of ARMv8-M only */
enum exception {
    NMI = 2, HARD_FAULT = 3, MEM_MANAGE = 4, BUS_FAULT = 5, USAGE_FAULT = 6, SECURE_FAULT = 7,
    SVCALL = 11, DEBUG_MONITOR = 12, PENDSV = 14, SYSTICK = 15, IRQ0 = 16
};

enum { SP = 13, LR = 14, PC = 15 };
enum { CONTROL_NPRIV = 1 << 0, CONTROL_SPSEL = 1 << 1, CONTROL_FPCA = 1 << 2,
       CONTROL_SFPA = 1 << 3 };                            /* the last two: ARMv8-M with FPU */
enum { CCR_UNALIGN_TRP = 1 << 3, CCR_DIV_0_TRP = 1 << 4 };                     /* ARMv8-M */
enum { SCR_SLEEPONEXIT = 1 << 1, SCR_SLEEPDEEP = 1 << 2, SCR_SEVONPEND = 1 << 4 };

/* DHCSR, DEMCR, DFSR bits that more than debug.c looks at */
enum { C_DEBUGEN = 1 << 0, C_HALT = 1 << 1, C_STEP = 1 << 2, C_MASKINTS = 1 << 3 };
enum { VC_CORERESET = 1 << 0, VC_MMERR = 1 << 4, VC_NOCPERR = 1 << 5, VC_CHKERR = 1 << 6,
       VC_STATERR = 1 << 7, VC_BUSERR = 1 << 8, VC_INTERR = 1 << 9, VC_HARDERR = 1 << 10 };
enum { DFSR_HALTED = 1 << 0, DFSR_BKPT = 1 << 1, DFSR_DWTTRAP = 1 << 2, DFSR_VCATCH = 1 << 3 };

/* Special register numbers of MSR and MRS, ARMv6-M ARM B4.2 */
enum sysm {
    SYSM_APSR = 0, SYSM_XPSR = 3, SYSM_IPSR = 5, SYSM_IEPSR = 7,
    SYSM_MSP = 8, SYSM_PSP = 9, SYSM_PRIMASK = 16, SYSM_CONTROL = 20,
    /* ARMv8-M ARM D1.2.236 */
    SYSM_MSPLIM = 10, SYSM_PSPLIM = 11, SYSM_BASEPRI = 17, SYSM_BASEPRI_MAX = 18,
    SYSM_FAULTMASK = 19
};

enum bus_master { BY_CORE, BY_DEBUGGER };

static inline bool in_handler_mode(const machine *m) { return m->ipsr != 0; }
static inline bool is_privileged(const machine *m)
{
    return in_handler_mode(m) || !(m->control & CONTROL_NPRIV);
}

/* decode.c */
enum operation decode(uint32_t pc, uint16_t first, uint16_t second, decoded *d);
static inline bool is_32_bit(uint16_t first) { return first >= 0xe800; }

/* execute.c, execute_v8m.c: until m->stop, a debug event, lock-up, or m->until */
void execute(machine *m);
void execute_v8m(machine *m);

/* exceptions.c */
bool poll_events(machine *m);                             /* at a branch; false: leave execute() */
void idle_in_lock_up(machine *m);                         /* until m->until or m->stop */
void hard_fault(machine *m, uint32_t return_address);     /* for m->fault_cause, m->fault_address */
void supervisor_call(machine *m, uint32_t return_address);
bool exception_return(machine *m, uint32_t exc_return);   /* false: m->fault_cause is set */
bool highest_pending(const machine *m, uint32_t *number, int *priority);
void irq_sample(machine *m);                              /* latch the chip's interrupt lines */

/* exceptions_v8m.c. The state is in the machine (SAVE) and r[15] is the instruction; what they
   leave there is where to go on (LOAD). */
void v8m_fault(machine *m, enum v8m_fault_kind kind, uint32_t address);
void v8m_exception_return(machine *m, uint32_t exc_return);

/* Instruction fetch from where there is no memory: the regions for peripherals and devices are
   execute-never in the default memory map (B8.1), in the others nothing answers. */
static inline enum v8m_fault_kind fetch_fault(uint32_t address)
{
    const bool execute_never = address >> 29 == 2 || address >> 29 >= 5;
    return execute_never ? FAULT_IACCVIOL : FAULT_IBUSERR;
}

/* ARMv8-M: the limit below which the stack pointer in use must not go (FAULT_STKOF, B3.21) */
static inline uint32_t stack_limit(const machine *m)
{
    return m->control & CONTROL_SPSEL ? m->psplim : m->msplim;
}

/* fpu.c, coprocessor.c: one instruction, first halfword in bits 31:16, state in the machine and
   r[15] the instruction (SAVE). They do not move r[15]; what memory they touch takes its time, the
   instruction's own cycles are the caller's. Flags may change (VMRS, MRC to APSR_nzcv). false: a
   fault, m->fault_kind and m->fault_address say which (FAULT_UNDEFINED, FAULT_NOCP, the bus). */
bool fpu_execute(machine *m, uint32_t instruction);            /* every encoding of CP10 and CP11 */
bool coprocessor(machine *m, uint32_t instruction);            /* every other coprocessor */
bool fpu_enabled(const machine *m);                            /* for the running code, in CPACR */

/* special_v8m.c: MRS, MSR and CPS. mask: bit 1 writes NZCVQ, bit 0 GE (APSR), as in the encoding */
uint32_t special_read(const machine *m, uint32_t sysm);
void special_write(machine *m, uint32_t sysm, uint32_t mask, uint32_t value);
void change_processor_state(machine *m, bool disable, bool primask, bool faultmask);
enum { V8M_IPSR_MASK = 0x1ff };
void set_xpsr(machine *m, uint32_t value);                     /* all of it, IPSR too */
uint32_t register_v8m(const machine *m, int n);                /* for emu_register() ... */
bool set_register_v8m(machine *m, int n, uint32_t value);      /* ...; false: as on ARMv6-M */

/* special.c */
enum { XPSR_THUMB = 1 << 24, IPSR_MASK = 0x3f };
uint32_t xpsr(const machine *m);
void set_apsr(machine *m, uint32_t value);
void select_stack(machine *m, bool process);
uint32_t *stack_pointer(machine *m, bool process);
uint32_t read_special(const machine *m, uint32_t sysm);
void write_special(machine *m, uint32_t sysm, uint32_t value);

/* scs.c: NVIC and SCB. Answers any word of the PPB; false: HardFault (unprivileged access) */
bool ppb_read(machine *m, uint32_t address, int size, enum bus_master master, uint32_t *value);
bool ppb_write(machine *m, uint32_t address, int size, enum bus_master master, uint32_t value);
void scs_reset(machine *m);

/* systick.c */
uint32_t systick_read(machine *m, uint32_t address, enum bus_master master);
void systick_write(machine *m, uint32_t address, uint32_t value);
void systick_update(machine *m);
uint64_t systick_next_event(const machine *m);

/* debug.c */
bool debug_read(machine *m, uint32_t address, uint32_t *value);   /* false: not a debug register */
bool debug_write(machine *m, uint32_t address, uint32_t value);
void debug_power_on(machine *m);
void debug_reset(machine *m);
void debug_halt(machine *m, uint32_t dfsr_reason);
static inline bool debug_enabled(const machine *m) { return m->dhcsr_control & C_DEBUGEN; }
bool breakpoint_at(const machine *m, uint32_t pc);

/* bus.c. Access of the running core, with its cycles; false: HardFault, m->fault_... is set */
bool core_read(machine *m, uint32_t address, int size, uint32_t *value);
bool core_write(machine *m, uint32_t address, int size, uint32_t value);
decoded *code_slot(machine *m, uint32_t pc);              /* NULL: execute-never */
uint16_t fetch_halfword(const machine *m, uint32_t pc);   /* 0 where nothing answers */
void forget_all_code(machine *m);                         /* all that was decoded */
uint8_t *memory_at(const machine *m, uint32_t address, uint32_t *available);  /* or NULL */
bool is_writable(uint32_t address);                       /* of a memory: SRAM, not ROM or flash */
static inline bool is_sio(uint32_t address) { return address >> 28 == 0xd; }
static inline bool in_xip_windows(uint32_t address) { return address >> 26 == XIP_BASE >> 26; }

/* A store to SRAM at this offset may hit a decoded instruction: drop the entries it can belong to. An
   unaligned word touches three halfwords, and an entry depends on four: its own two and, for what
   it costs on ARMv8-M, the next instruction's. */
static inline void forget_code(machine *m, uint32_t sram_offset)
{
    const uint32_t last = (sram_offset + 3) >> 1;
    decoded *const code = m->sram_code;

    for (uint32_t k = sram_offset >= 6 ? (sram_offset >> 1) - 3 : 0; k <= last; k++)
        code[k].handler = 0;
}
#endif
