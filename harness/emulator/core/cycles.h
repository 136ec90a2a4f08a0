/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle counts of the Cortex-M0+ in the order of the instruction summary in its Technical
 * Reference Manual (r0p1, chapter 3), for the RP2040's options: single-cycle multiplier,
 * single-cycle I/O port (SIO), zero-wait ROM and SRAM. What the memory adds (XIP misses, APB)
 * is in xip.h and bus.c. */
#ifndef CYCLES_H
#define CYCLES_H

enum {
    CYCLES_FREE = 0,            /* entries that are no instruction */
    CYCLES_ALU = 1,             /* MOV ADD ADC SUB SBC RSB CMP CMN AND EOR ORR BIC MVN TST, ADR */
    CYCLES_MUL = 1,             /* MULS with the fast multiplier (32 with the small one) */
    CYCLES_SHIFT = 1,           /* LSL LSR ASR ROR */
    CYCLES_EXTEND = 1,          /* SXTH SXTB UXTH UXTB REV REV16 REVSH */
    CYCLES_PC_WRITE = 2,        /* ADD PC, PC, Rm and MOV PC, Rm */
    CYCLES_LOAD = 2,            /* LDR LDRH LDRB LDRSB LDRSH */
    CYCLES_STORE = 2,           /* STR STRH STRB */
    CYCLES_SIO_SAVES = 1,       /* ... which take 1 on the single-cycle I/O port */
    CYCLES_MULTIPLE = 1,        /* LDM STM PUSH POP: 1 + N */
    CYCLES_POP_PC = 3,          /* POP {..., PC}: 3 + N with N counting the PC, 4 + N0 without it */
    CYCLES_CONDITION = 1,       /* B<c> that falls through ... */
    CYCLES_TAKEN = 1,           /* ... and what a taken one adds: 2 in all */
    CYCLES_B = 2,
    CYCLES_BL = 3,
    CYCLES_BX = 2,              /* BX and BLX */
    CYCLES_CPS = 1,
    CYCLES_SPECIAL = 3,         /* MRS MSR */
    CYCLES_BARRIER = 3,         /* DMB DSB ISB */
    CYCLES_HINT = 1,            /* NOP YIELD SEV */
    CYCLES_WAIT = 2,            /* WFI WFE, and the time asleep */
    CYCLES_TRAP = 1,            /* SVC BKPT UDF: not in the table; the entry comes on top */

    /* Interrupt latency with zero-wait memory, from the text of the manual; the return is an
       estimate. Every entry stacks and every return unstacks: tail-chaining, which would save some
       of the two, is not modelled. */
    CYCLES_EXCEPTION_ENTRY = 15,
    CYCLES_EXCEPTION_RETURN = 13,

    /* Not the core: an access through the RP2040's APB bridge, an estimate */
    CYCLES_APB = 2
};
#endif
