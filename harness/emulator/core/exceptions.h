/* SPDX-License-Identifier: Apache-2.0 */
/* What exceptions.c, exceptions_v6m.c and exceptions_v8m.c share. */
#ifndef EXCEPTIONS_H
#define EXCEPTIONS_H
#include "core.h"

enum { PRIORITY_NONE = 256, PRIORITY_MASKED = 0, PRIORITY_HARD_FAULT = -1, PRIORITY_NMI = -2 };
enum { XPSR_STACK_ALIGNED = 1 << 9 };
enum { FRAME_WORDS = 8 };                      /* r0 to r3, r12, lr, return address, xPSR */

/* exceptions.c */
int group_priority(const machine *m, uint32_t number);
int active_priority(const machine *m);         /* of what is active, whatever is masked */
int unmasked_priority(const machine *m);       /* execution priority if PRIMASK were clear */
int execution_priority(const machine *m);
bool is_active(const machine *m, uint32_t number);
void record_fault(machine *m, const char *kind, uint32_t pc);  /* kind: "BusFault ...", or NULL */
void lock_up(machine *m, uint32_t lockup_pc, const char *during);
/* Pending becomes active, on MSP at the vector (ExceptionTaken). */
void exception_taken(machine *m, uint32_t number, uint32_t vector, uint32_t exc_return);
void exception_done(machine *m);               /* the current exception is active no more */
void return_taken(machine *m);                 /* what every successful return does last */

/* exceptions_v6m.c, exceptions_v8m.c */
void exception_entry_v6m(machine *m, uint32_t number, uint32_t return_address);
void exception_entry_v8m(machine *m, uint32_t number, uint32_t return_address);
void v8m_forced_hard_fault(machine *m);        /* at r[15], for m->fault_cause */
#endif
