/* SPDX-License-Identifier: Apache-2.0 */
/* What the coprocessors of the RP2350 share (RP2350 data sheet 3.6): the GPIO coprocessor 0 in
 * coprocessors.c, the double-precision coprocessor 4 in dcp.c, the redundancy coprocessor 7 in
 * rcp.c. */
#ifndef COPROCESSORS_H
#define COPROCESSORS_H
#include "rom.h"

/* One MCR, MRC, MCRR, MRRC or CDP, taken apart (ARMv8-M ARM C2.4). */
struct coprocessor_call {
    enum { CALL_CDP, CALL_MCR, CALL_MRC, CALL_MCRR, CALL_MRRC } kind;
    unsigned opc1, opc2, crn, crm, rt, rt2;
    bool second;                /* the form with a 2, as in MRC2 */
};
bool dcp_call(machine *m, const struct coprocessor_call *c);
bool rcp_call(machine *m, const struct coprocessor_call *c);
void coprocessor_result(machine *m, unsigned rt, uint32_t value);       /* rt 15: APSR_nzcv */
#endif
