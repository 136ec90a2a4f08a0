/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers of ARMv8-M Mainline (Architecture Reference Manual B3.5, B3.28): what it adds
 * to special.c, as MRS, MSR and CPS see it and as a debugger does. The Non-secure world is not
 * modelled: its registers read as zero. */
#include "core.h"
#include "exceptions.h"

enum { XPSR_Q_BIT = 27, XPSR_GE_SHIFT = 16 };
enum { STACK_LIMIT_BITS = (int)0xfffffff8, PRIORITY_BITS = 0xf0 };
enum { MASK_GE = 1 << 0, MASK_NZCVQ = 1 << 1 };
enum { SYSM_NON_SECURE = 0x80, SYSM_IAPSR = 1, SYSM_EAPSR = 2 };
enum { FPSCR_WRITABLE = (int)0xf7c0009f };

static void set_q(machine *m, uint32_t value) { m->q = value >> XPSR_Q_BIT & 1; }
static void set_ge(machine *m, uint32_t value) { m->ge = value >> XPSR_GE_SHIFT & 0xf; }

/* EPSR.IT: bits 1:0 of ITSTATE in xPSR[26:25], bits 7:2 in xPSR[15:10] */
static uint32_t itstate_of(uint32_t value)
{
    return (value >> 25 & 3) | (value >> 8 & 0xfc);
}

void set_xpsr(machine *m, uint32_t value)
{
    set_apsr(m, value);
    set_q(m, value);
    set_ge(m, value);
    m->itstate = itstate_of(value);
    m->thumb = value & XPSR_THUMB;
    m->ipsr = value & V8M_IPSR_MASK;
}

/* ---- MRS, MSR, CPS ---- */

uint32_t special_read(const machine *m, uint32_t sysm)
{
    if (sysm <= SYSM_IEPSR)
        return read_special(m, sysm) | (sysm & 4 ? 0 : m->q << XPSR_Q_BIT | m->ge << XPSR_GE_SHIFT);
    if (sysm == SYSM_CONTROL)
        return m->control;
    if (!is_privileged(m))
        return 0;
    switch (sysm) {
    case SYSM_MSP: case SYSM_PSP: case SYSM_PRIMASK: return read_special(m, sysm);
    case SYSM_MSPLIM: return m->msplim;
    case SYSM_PSPLIM: return m->psplim;
    case SYSM_BASEPRI: case SYSM_BASEPRI_MAX: return m->basepri;
    case SYSM_FAULTMASK: return m->faultmask;
    default: return 0;
    }
}

static void write_apsr(machine *m, uint32_t mask, uint32_t value)
{
    if (mask & MASK_NZCVQ) {
        set_apsr(m, value);
        set_q(m, value);
    }
    if (mask & MASK_GE)
        set_ge(m, value);
}

/* FAULTMASK cannot be set by what runs at the priority of HardFault or above it. */
static void write_faultmask(machine *m, bool set)
{
    if (!set || execution_priority(m) > PRIORITY_HARD_FAULT)
        m->faultmask = set;
}

/* nPRIV, FPCA and SFPA at any time, SPSEL in Thread mode. */
static void write_control(machine *m, uint32_t value)
{
    const uint32_t bits = CONTROL_NPRIV | CONTROL_FPCA | CONTROL_SFPA;

    m->control = (m->control & ~bits) | (value & bits);
    if (!in_handler_mode(m))
        select_stack(m, value & CONTROL_SPSEL);
}

void special_write(machine *m, uint32_t sysm, uint32_t mask, uint32_t value)
{
    const uint32_t priority = value & PRIORITY_BITS;

    if (sysm <= SYSM_XPSR)
        write_apsr(m, mask, value);
    if (sysm <= SYSM_IEPSR || !is_privileged(m))
        return;
    switch (sysm) {
    case SYSM_MSP: case SYSM_PSP: case SYSM_PRIMASK: write_special(m, sysm, value); break;
    case SYSM_MSPLIM: m->msplim = value & STACK_LIMIT_BITS; break;
    case SYSM_PSPLIM: m->psplim = value & STACK_LIMIT_BITS; break;
    case SYSM_BASEPRI: m->basepri = priority; break;
    case SYSM_BASEPRI_MAX:
        if (priority && (priority < m->basepri || !m->basepri))
            m->basepri = priority;
        break;
    case SYSM_FAULTMASK: write_faultmask(m, value & 1); break;
    case SYSM_CONTROL: write_control(m, value); break;
    default:
        machine_strict(m, "MSR to special register %#x: %s", sysm,
                       sysm & SYSM_NON_SECURE ? "the Non-secure world is not modelled"
                                              : "there is none of that number");
    }
}

void change_processor_state(machine *m, bool disable, bool primask, bool faultmask)
{
    if (!is_privileged(m))
        return;
    if (primask)
        m->primask = disable;
    if (faultmask)
        write_faultmask(m, disable);
}

/* ---- as a debugger sees them: DCRSR register numbers, D1.2.39 ---- */

enum {
    REG_XPSR = 16, REG_CFBP = 20, REG_MSP_S = 26, REG_PSP_S = 27, REG_MSPLIM_S = 28,
    REG_PSPLIM_S = 29, REG_FPSCR = 33, REG_CFBP_S = 34, REG_S0 = 64, REG_S31 = 95
};

static uint32_t control_and_masks(const machine *m)
{
    return m->control << 24 | m->faultmask << 16 | m->basepri << 8 | m->primask;
}

static void set_control_and_masks(machine *m, uint32_t value)
{
    m->primask = value & 1;
    m->basepri = value >> 8 & PRIORITY_BITS;
    m->faultmask = value >> 16 & 1;
    write_control(m, value >> 24);
}

uint32_t register_v8m(const machine *m, int n)
{
    if (n >= REG_S0 && n <= REG_S31)
        return m->fp[n - REG_S0];
    switch (n) {
    case REG_MSP_S: return emu_register(m, REG_XPSR + 1);
    case REG_PSP_S: return emu_register(m, REG_XPSR + 2);
    case REG_MSPLIM_S: return m->msplim;
    case REG_PSPLIM_S: return m->psplim;
    case REG_FPSCR: return m->fpscr;
    case REG_CFBP: case REG_CFBP_S: return control_and_masks(m);
    default: return 0;
    }
}

bool set_register_v8m(machine *m, int n, uint32_t value)
{
    if (n >= REG_S0 && n <= REG_S31) {
        m->fp[n - REG_S0] = value;
        return true;
    }
    switch (n) {
    case REG_XPSR:
        set_xpsr(m, value);
        if (m->ipsr)
            select_stack(m, false);
        return true;
    case REG_MSP_S: *stack_pointer(m, false) = value & ~3u; return true;
    case REG_PSP_S: *stack_pointer(m, true) = value & ~3u; return true;
    case REG_MSPLIM_S: m->msplim = value & STACK_LIMIT_BITS; return true;
    case REG_PSPLIM_S: m->psplim = value & STACK_LIMIT_BITS; return true;
    case REG_FPSCR: m->fpscr = value & FPSCR_WRITABLE; return true;
    case REG_CFBP: case REG_CFBP_S: set_control_and_masks(m, value); return true;
    default: return false;
    }
}
