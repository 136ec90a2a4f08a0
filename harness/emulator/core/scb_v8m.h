/* SPDX-License-Identifier: Apache-2.0 */
/* SCB and fault registers of ARMv8-M (Architecture Reference Manual D1.2) that more than scb_v8m.c
 * looks at. */
#ifndef SCB_V8M_H
#define SCB_V8M_H
#include "core.h"

/* CFSR: MMFSR in bits 7:0, BFSR in 15:8, UFSR in 31:16 */
enum {
    CFSR_IACCVIOL = 1 << 0, CFSR_DACCVIOL = 1 << 1, CFSR_MMARVALID = 1 << 7,
    CFSR_IBUSERR = 1 << 8, CFSR_PRECISERR = 1 << 9, CFSR_UNSTKERR = 1 << 11, CFSR_STKERR = 1 << 12,
    CFSR_BFARVALID = 1 << 15,
    CFSR_UNDEFINSTR = 1 << 16, CFSR_INVSTATE = 1 << 17, CFSR_INVPC = 1 << 18, CFSR_NOCP = 1 << 19,
    CFSR_STKOF = 1 << 20, CFSR_UNALIGNED = 1 << 24, CFSR_DIVBYZERO = 1 << 25,
    CFSR_BITS = CFSR_IACCVIOL | CFSR_DACCVIOL | CFSR_MMARVALID | CFSR_IBUSERR | CFSR_PRECISERR
                | CFSR_UNSTKERR | CFSR_STKERR | CFSR_BFARVALID | CFSR_UNDEFINSTR | CFSR_INVSTATE
                | CFSR_INVPC | CFSR_NOCP | CFSR_STKOF | CFSR_UNALIGNED | CFSR_DIVBYZERO
};
#define HFSR_DEBUGEVT (1u << 31)
enum { HFSR_VECTTBL = 1 << 1, HFSR_FORCED = 1 << 30 };
enum { CCR_USERSETMPEND = 1 << 1 };
enum { FPCCR_ASPEN = (int)(1u << 31) };

/* scb_v8m.c: any word of the SCB and of the FPU's registers; false: no such register */
bool scb_read(machine *m, uint32_t address, uint32_t *value);
bool scb_write(machine *m, uint32_t address, uint32_t value);
void scb_reset(machine *m);

/* ppb_v8m.c: ppb_read() and ppb_write() on ARMv8-M */
bool ppb_read_v8m(machine *m, uint32_t address, int size, enum bus_master master, uint32_t *value);
bool ppb_write_v8m(machine *m, uint32_t address, int size, enum bus_master master, uint32_t value);

/* dwt.c: the DWT without comparators; false: no such register */
bool dwt_read(machine *m, uint32_t address, uint32_t *value);
bool dwt_write(machine *m, uint32_t address, uint32_t value);
void dwt_trace_enabled(machine *m, bool enabled);          /* DEMCR.TRCENA has changed */
void dwt_power_on(machine *m);
#endif
