/* SPDX-License-Identifier: Apache-2.0 */
/* What the QMI's direct mode (qmi.c) and its service to the XIP cache (qmi_xip.c) share. */
#ifndef QMI_H
#define QMI_H
#include "model.h"

enum {                                  /* DIRECT_CSR */
    CSR_EN = 1 << 0, CSR_BUSY = 1 << 1, CSR_ASSERT_CS0N = 1 << 2, CSR_ASSERT_CS1N = 1 << 3,
    CSR_AUTO_CS0N = 1 << 6, CSR_AUTO_CS1N = 1 << 7, CSR_TXFULL = 1 << 10, CSR_TXEMPTY = 1 << 11,
    CSR_TXLEVEL_SHIFT = 12, CSR_RXEMPTY = 1 << 16, CSR_RXFULL = 1 << 17, CSR_RXLEVEL_SHIFT = 18,
    CSR_CLKDIV_SHIFT = 22
};
enum { CLKDIV_FIELD = 0xff, CLKDIV_MOST = 256 };

static inline uint32_t qmi_divider(uint32_t field)      /* 0 stands for 256 */
{
    return (field & CLKDIV_FIELD) ? field & CLKDIV_FIELD : CLKDIV_MOST;
}

void qmi_note_reads(machine *m);        /* before a set-up ends: what its reads did to the flash */
void qmi_update_xip(machine *m);        /* after whatever can change xip_problem */
#endif
