/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers (ARMv6-M ARM B1.4): xPSR, the two stack pointers, PRIMASK and CONTROL, as MRS
 * and MSR see them (B4.2) and as a debugger does. What ARMv8-M adds is in special_v8m.c. */
#include "core.h"

static uint32_t apsr(const machine *m)
{
    return (m->n & 0x80000000u) | (uint32_t)(m->z == 0) << 30 | m->c << 29 | m->v << 28;
}

void set_apsr(machine *m, uint32_t value)
{
    m->n = value & 0x80000000u;
    m->z = !(value >> 30 & 1);
    m->c = value >> 29 & 1;
    m->v = value >> 28 & 1;
}

/* Q, GE and IT are of ARMv8-M. */
uint32_t xpsr(const machine *m)
{
    return apsr(m) | m->q << 27 | m->ge << 16 | (m->itstate & 3) << 25 | (m->itstate & 0xfc) << 8
           | (m->thumb ? XPSR_THUMB : 0) | m->ipsr;
}

/* CONTROL.SPSEL: which of the two stack pointers r13 is. */
void select_stack(machine *m, bool process)
{
    const bool is_process = m->control & CONTROL_SPSEL;

    if (process != is_process) {
        const uint32_t other = m->other_sp;
        m->other_sp = m->r[SP];
        m->r[SP] = other;
        m->control ^= CONTROL_SPSEL;
    }
}

/* MSP or PSP, wherever it is now. */
uint32_t *stack_pointer(machine *m, bool process)
{
    return process == !!(m->control & CONTROL_SPSEL) ? &m->r[SP] : &m->other_sp;
}

static uint32_t stack_pointer_value(const machine *m, bool process)
{
    return process == !!(m->control & CONTROL_SPSEL) ? m->r[SP] : m->other_sp;
}

/* MRS, B4.2.2. EPSR reads as zero. */
uint32_t read_special(const machine *m, uint32_t sysm)
{
    if (sysm <= SYSM_IEPSR)
        return (sysm & 4 ? 0 : apsr(m)) | (sysm & 1 ? m->ipsr : 0);
    if (sysm == SYSM_CONTROL)
        return m->control;
    if (!is_privileged(m))
        return 0;
    switch (sysm) {
    case SYSM_MSP: return stack_pointer_value(m, false);
    case SYSM_PSP: return stack_pointer_value(m, true);
    default: return m->primask;
    }
}

/* MSR, B4.2.3. Writes to IPSR and EPSR are ignored, unprivileged ones except to the flags too. */
void write_special(machine *m, uint32_t sysm, uint32_t value)
{
    if (sysm <= SYSM_XPSR)
        set_apsr(m, value);
    if (sysm <= SYSM_IEPSR || !is_privileged(m))
        return;
    switch (sysm) {
    case SYSM_MSP: *stack_pointer(m, false) = value & ~3u; break;
    case SYSM_PSP: *stack_pointer(m, true) = value & ~3u; break;
    case SYSM_PRIMASK: m->primask = value & 1; break;
    case SYSM_CONTROL:
        m->control = (m->control & CONTROL_SPSEL) | (value & CONTROL_NPRIV);
        if (!in_handler_mode(m))
            select_stack(m, value & CONTROL_SPSEL);
        break;
    }
}

/* ---- as a debugger sees them: DCRSR register numbers, C1.6.4 ---- */

enum { REG_XPSR = 16, REG_MSP = 17, REG_PSP = 18, REG_CFBP = 20 };

uint32_t emu_register(const machine *m, int n)
{
    if (n >= 0 && n < 16)
        return m->r[n];
    switch (n) {
    case REG_XPSR: return xpsr(m);
    case REG_MSP: return stack_pointer_value(m, false);
    case REG_PSP: return stack_pointer_value(m, true);
    }
    if (m->architecture == ARMV8M)
        return register_v8m(m, n);
    return n == REG_CFBP ? m->control << 24 | m->primask : 0;
}

/* As a debugger writes them: no privilege, any mode. Writing IPSR 0 leaves active exceptions
   active. */
void emu_set_register(machine *m, int n, uint32_t value)
{
    m->next_event = 0;
    if (m->architecture == ARMV8M && set_register_v8m(m, n, value))
        return;
    switch (n) {
    case SP: m->r[SP] = value & ~3u; break;
    case PC: m->r[PC] = value & ~1u; break;
    case REG_XPSR:
        set_apsr(m, value);
        m->thumb = value & XPSR_THUMB;
        m->ipsr = value & IPSR_MASK;
        if (m->ipsr)
            select_stack(m, false);
        break;
    case REG_MSP: *stack_pointer(m, false) = value & ~3u; break;
    case REG_PSP: *stack_pointer(m, true) = value & ~3u; break;
    case REG_CFBP:
        m->primask = value & 1;
        m->control = (m->control & CONTROL_SPSEL) | (value >> 24 & CONTROL_NPRIV);
        select_stack(m, !m->ipsr && value >> 24 & CONTROL_SPSEL);
        break;
    default:
        if (n >= 0 && n < 15)
            m->r[n] = value;
    }
}
