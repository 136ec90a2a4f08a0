/* SPDX-License-Identifier: Apache-2.0 */
/* System control block and FPU registers of a Cortex-M33 (ARMv8-M Architecture Reference Manual
 * D1.2, Cortex-M33 Technical Reference Manual chapter 4), Secure view. The MPU and the SAU are off
 * and stay off, the registers of the Non-secure state are not here. */
#include "scb_v8m.h"
#include "exceptions.h"

enum {
    ACTLR = 0xe000e008,
    CPUID = 0xe000ed00, ICSR = 0xe000ed04, VTOR = 0xe000ed08, AIRCR = 0xe000ed0c, SCR = 0xe000ed10,
    CCR = 0xe000ed14, SHPR1 = 0xe000ed18, SHPR2 = 0xe000ed1c, SHPR3 = 0xe000ed20,
    SHCSR = 0xe000ed24, CFSR = 0xe000ed28, HFSR = 0xe000ed2c, MMFAR = 0xe000ed34,
    BFAR = 0xe000ed38, AFSR = 0xe000ed3c,
    ID_FIRST = 0xe000ed40, ID_LAST = 0xe000ed74, CLIDR = 0xe000ed78, CTR = 0xe000ed7c,
    CPACR = 0xe000ed88, NSACR = 0xe000ed8c, MPU_TYPE = 0xe000ed90, MPU_CTRL = 0xe000ed94,
    SAU_CTRL = 0xe000edd0, SAU_TYPE = 0xe000edd4,
    FPCCR = 0xe000ef34, FPCAR = 0xe000ef38, FPDSCR = 0xe000ef3c,
    MVFR0 = 0xe000ef40, MVFR1 = 0xe000ef44, MVFR2 = 0xe000ef48
};
enum {
    CPUID_CORTEX_M33_R1P0 = 0x411fd210, CTR_NO_CACHE = (int)0x8000c000,
    ICSR_NMIPENDSET = (int)(1u << 31), ICSR_PENDNMICLR = 1 << 30, ICSR_PENDSVSET = 1 << 28,
    ICSR_PENDSVCLR = 1 << 27, ICSR_PENDSTSET = 1 << 26, ICSR_PENDSTCLR = 1 << 25,
    ICSR_ISRPENDING = 1 << 22, ICSR_VECTPENDING_SHIFT = 12, ICSR_RETTOBASE = 1 << 11,
    VTOR_TBLOFF = (int)0xffffff80,
    AIRCR_VECTKEY = 0x05fa, AIRCR_VECTKEYSTAT = (int)0xfa050000, AIRCR_PRIS = 1 << 14,
    AIRCR_BFHFNMINS = 1 << 13, AIRCR_PRIGROUP_SHIFT = 8, AIRCR_SYSRESETREQS = 1 << 3,
    AIRCR_SYSRESETREQ = 1 << 2, AIRCR_VECTCLRACTIVE = 1 << 1,
    CCR_ONES = 0x201,                   /* bit 9 (stack alignment) and bit 0 are fixed */
    CCR_BFHFNMIGN = 1 << 8, CCR_STKOFHFNMIGN = 1 << 10,
    CCR_WRITABLE = CCR_USERSETMPEND | CCR_UNALIGN_TRP | CCR_DIV_0_TRP,
    MPU_TYPE_8_REGIONS = 8 << 8, SAU_TYPE_8_REGIONS = 8,
    ACTLR_WRITABLE = 1 << 29 | 1 << 12 | 1 << 10 | 1 << 9 | 1 << 2,    /* EXTEXCLALL, ... DISFOLD */
    FPCCR_LSPEN = 1 << 30, FPCCR_LSPENS = 1 << 29, FPCCR_CLRONRET = 1 << 28,
    FPCCR_CLRONRETS = 1 << 27, FPCCR_TS = 1 << 26, FPCCR_S = 1 << 2,
    FPDSCR_WRITABLE = 0x07c00000,
    CPACR_CP10_SHIFT = 20, FAULT_ENABLES = 0xf,
    PRIORITY_BITS = 0xf0                /* four bits of priority, the upper ones of each byte */
};

/* ---- priorities of exceptions 4 to 15, four to a register ---- */

static uint32_t read_priorities(const machine *m, uint32_t address)
{
    const uint8_t *priority = &m->system_priority[4 + (address - SHPR1)];

    return priority[0] | (uint32_t)priority[1] << 8 | (uint32_t)priority[2] << 16
           | (uint32_t)priority[3] << 24;
}

static void write_priorities(machine *m, uint32_t address, uint32_t value)
{
    for (uint32_t k = 0; k < 4; k++)
        m->system_priority[4 + (address - SHPR1) + k] = value >> 8 * k & PRIORITY_BITS;
}

/* ---- interrupt control and state ---- */

static uint32_t read_icsr(machine *m)
{
    uint32_t number = 0, value = m->ipsr;
    int priority;

    systick_update(m);
    irq_sample(m);
    if (highest_pending(m, &number, &priority))
        value |= number << ICSR_VECTPENDING_SHIFT;
    if (m->irq_pending)
        value |= ICSR_ISRPENDING;
    if (__builtin_popcount(m->active_system) + __builtin_popcountll(m->irq_active) == 1)
        value |= ICSR_RETTOBASE;
    if (m->pending_system >> SYSTICK & 1)
        value |= ICSR_PENDSTSET;
    if (m->pending_system >> PENDSV & 1)
        value |= ICSR_PENDSVSET;
    if (m->pending_system >> NMI & 1)
        value |= (uint32_t)ICSR_NMIPENDSET;
    return value;
}

static void write_icsr(machine *m, uint32_t value)
{
    systick_update(m);
    if (value & ICSR_PENDNMICLR)
        m->pending_system &= ~(1u << NMI);
    if (value & ICSR_PENDSVCLR)
        m->pending_system &= ~(1u << PENDSV);
    if (value & ICSR_PENDSTCLR)
        m->pending_system &= ~(1u << SYSTICK);
    if (value & (uint32_t)ICSR_NMIPENDSET)
        m->pending_system |= 1u << NMI;
    if (value & ICSR_PENDSVSET)
        m->pending_system |= 1u << PENDSV;
    if (value & ICSR_PENDSTSET)
        m->pending_system |= 1u << SYSTICK;
}

static bool write_aircr(machine *m, uint32_t value)
{
    if (value >> 16 != AIRCR_VECTKEY)
        return true;
    m->prigroup = value >> AIRCR_PRIGROUP_SHIFT & 7;
    if (value & AIRCR_VECTCLRACTIVE && m->halted) {
        m->active_system = m->ipsr = 0;
        m->irq_active = 0;
    }
    if (value & AIRCR_SYSRESETREQ)
        machine_request_reset(m);
    return !(value & (AIRCR_PRIS | AIRCR_BFHFNMINS | AIRCR_SYSRESETREQS));
}

/* ---- system handlers: which bit of SHCSR is what of which exception ---- */

enum { ACTIVE, PENDING };
static const struct { uint8_t bit, exception, what; } SHCSR_BITS[] = {
    { 0, MEM_MANAGE, ACTIVE }, { 1, BUS_FAULT, ACTIVE }, { 2, HARD_FAULT, ACTIVE },
    { 3, USAGE_FAULT, ACTIVE }, { 5, NMI, ACTIVE }, { 7, SVCALL, ACTIVE }, { 10, PENDSV, ACTIVE },
    { 11, SYSTICK, ACTIVE }, { 12, USAGE_FAULT, PENDING }, { 13, MEM_MANAGE, PENDING },
    { 14, BUS_FAULT, PENDING }, { 15, SVCALL, PENDING }, { 21, HARD_FAULT, PENDING },
};
enum { SHCSR_ENABLE_SHIFT = 16 };      /* MEMFAULTENA, and as exceptions are numbered from there */

static uint32_t read_shcsr(const machine *m)
{
    uint32_t value = m->faults_enabled >> MEM_MANAGE << SHCSR_ENABLE_SHIFT;

    for (size_t k = 0; k < sizeof SHCSR_BITS / sizeof *SHCSR_BITS; k++) {
        const uint32_t set = SHCSR_BITS[k].what == ACTIVE ? m->active_system : m->pending_system;
        value |= (set >> SHCSR_BITS[k].exception & 1) << SHCSR_BITS[k].bit;
    }
    return value;
}

/* The bits of NMI and HardFault are not for software. */
static void write_shcsr(machine *m, uint32_t value)
{
    m->faults_enabled = (value >> SHCSR_ENABLE_SHIFT & FAULT_ENABLES) << MEM_MANAGE;
    for (size_t k = 0; k < sizeof SHCSR_BITS / sizeof *SHCSR_BITS; k++) {
        uint32_t *set = SHCSR_BITS[k].what == ACTIVE ? &m->active_system : &m->pending_system;
        const uint32_t exception = 1u << SHCSR_BITS[k].exception;
        if (SHCSR_BITS[k].exception <= HARD_FAULT)
            continue;
        *set = value >> SHCSR_BITS[k].bit & 1 ? *set | exception : *set & ~exception;
    }
}

/* ---- coprocessors ---- */

/* CP10 and CP11 are one, the FPU; the fields of absent ones read as zero. */
static void write_cpacr(machine *m, uint32_t value)
{
    uint32_t bits = 0xfu << CPACR_CP10_SHIFT;

    for (uint32_t k = 0; k < 8; k++)
        if (m->coprocessors >> k & 1)
            bits |= 3u << 2 * k;
    m->cpacr = value & bits;
}

static bool write_fpccr(machine *m, uint32_t value)
{
    m->fpccr = (value & ((uint32_t)FPCCR_ASPEN | FPCCR_LSPEN | FPCCR_LSPENS)) | FPCCR_S;
    return !(value & (FPCCR_TS | FPCCR_CLRONRET | FPCCR_CLRONRETS));
}

/* ---- identification: ID_PFR0 to ID_ISAR5, 0xe000ed40 on ---- */

static const uint32_t FEATURES[] = {
    0x00000030, 0x00000210, 0x00200000, 0x00000000, 0x00101f40, 0x00000000, 0x01000000, 0x00000000,
    0x01101110, 0x02212000, 0x20232232, 0x01111131, 0x01310132, 0x00000000
};

/* ---- the whole ---- */

bool scb_read(machine *m, uint32_t address, uint32_t *value)
{
    if (address >= ID_FIRST && address <= ID_LAST) {
        *value = FEATURES[(address - ID_FIRST) / 4];
        return true;
    }
    switch (address) {
    case ACTLR: *value = m->actlr; return true;
    case CPUID: *value = CPUID_CORTEX_M33_R1P0; return true;
    case ICSR: *value = read_icsr(m); return true;
    case VTOR: *value = m->vtor; return true;
    case AIRCR: *value = (uint32_t)AIRCR_VECTKEYSTAT | m->prigroup << AIRCR_PRIGROUP_SHIFT;
        return true;
    case SCR: *value = m->scr; return true;
    case CCR: *value = CCR_ONES | m->ccr; return true;
    case SHPR1: case SHPR2: case SHPR3: *value = read_priorities(m, address); return true;
    case SHCSR: *value = read_shcsr(m); return true;
    case CFSR: *value = m->cfsr; return true;
    case HFSR: *value = m->hfsr; return true;
    case MMFAR: *value = m->mmfar; return true;
    case BFAR: *value = m->bfar; return true;
    case CTR: *value = (uint32_t)CTR_NO_CACHE; return true;
    case CPACR: *value = m->cpacr; return true;
    case MPU_TYPE: *value = MPU_TYPE_8_REGIONS; return true;
    case SAU_TYPE: *value = SAU_TYPE_8_REGIONS; return true;
    case AFSR: case CLIDR: case NSACR: case MPU_CTRL: case SAU_CTRL: *value = 0; return true;
    case FPCCR: *value = m->fpccr; return true;
    case FPCAR: *value = m->fpcar; return true;
    case FPDSCR: *value = m->fpdscr; return true;
    case MVFR0: *value = 0x10110021; return true;          /* single precision, 16 D registers */
    case MVFR1: *value = 0x11000011; return true;          /* FMA, half-precision conversion */
    case MVFR2: *value = 0x00000040; return true;          /* VSEL, VMAXNM, VRINT, VCVTA ... */
    default: return false;
    }
}

bool scb_write(machine *m, uint32_t address, uint32_t value)
{
    if (address >= ID_FIRST && address <= ID_LAST)
        return true;                                       /* read-only */
    switch (address) {
    case ACTLR: m->actlr = value & ACTLR_WRITABLE; return true;
    case ICSR: write_icsr(m, value); return true;
    case VTOR: m->vtor = value & (uint32_t)VTOR_TBLOFF; return true;
    case AIRCR: return write_aircr(m, value);
    case SCR: m->scr = value & (SCR_SLEEPONEXIT | SCR_SLEEPDEEP | SCR_SEVONPEND); return true;
    case CCR:
        m->ccr = value & CCR_WRITABLE;
        return !(value & (CCR_BFHFNMIGN | CCR_STKOFHFNMIGN));
    case SHPR1: case SHPR2: case SHPR3: write_priorities(m, address, value); return true;
    case SHCSR: write_shcsr(m, value); return true;
    case CFSR: m->cfsr &= ~value; return true;             /* write one to clear */
    case HFSR: m->hfsr &= ~value; return true;
    case MMFAR: m->mmfar = value; return true;
    case BFAR: m->bfar = value; return true;
    case CPACR: write_cpacr(m, value); return true;
    case FPCCR: return write_fpccr(m, value);
    case FPCAR: m->fpcar = value & ~7u; return true;
    case FPDSCR: m->fpdscr = value & FPDSCR_WRITABLE; return true;
    case CPUID: case AFSR: case CLIDR: case CTR: case MPU_TYPE: case SAU_TYPE: case MVFR0:
    case MVFR1: case MVFR2: return true;                   /* read-only */
    case NSACR: case MPU_CTRL: case SAU_CTRL: return value == 0;       /* not modelled */
    default: return false;
    }
}

void scb_reset(machine *m)
{
    m->prigroup = m->ccr = m->faults_enabled = m->cfsr = m->hfsr = 0;
    m->mmfar = m->bfar = m->cpacr = m->actlr = 0;
    m->fpccr = (uint32_t)FPCCR_ASPEN | FPCCR_LSPEN | FPCCR_S;
    m->fpcar = m->fpdscr = 0;
}
