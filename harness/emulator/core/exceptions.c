/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions: priorities, what both architectures do at entry and return, supervisor calls, WFI and
 * WFE, and when to look for what is pending (ARMv6-M Architecture Reference Manual B1.5, ARMv8-M
 * Architecture Reference Manual B3). Groups of priorities, BASEPRI, FAULTMASK and the faults that
 * can be configured are of ARMv8-M; on ARMv6-M their registers are zero. */
#include "exceptions.h"
#include <stdio.h>

/* ---- priorities, B1.5.4; ARMv8-M B3.13 ---- */

static int exception_priority(const machine *m, uint32_t number)
{
    switch (number) {
    case NMI: return PRIORITY_NMI;
    case HARD_FAULT: return PRIORITY_HARD_FAULT;
    default: return number < IRQ0 ? m->system_priority[number] : m->irq_priority[number - IRQ0];
    }
}

/* AIRCR.PRIGROUP: its lowest PRIGROUP + 1 bits order what is pending, but preempt nothing. */
static int group(const machine *m, int priority)
{
    return priority < 0 || priority == PRIORITY_NONE ? priority
                                                     : priority & ~((2 << m->prigroup) - 1);
}

int group_priority(const machine *m, uint32_t number)
{
    return group(m, exception_priority(m, number));
}

/* The best of two sets of exceptions: lowest priority value, then lowest number. */
static bool best_of(const machine *m, uint32_t system, uint64_t irqs, uint32_t *number,
                    int *priority)
{
    *priority = PRIORITY_NONE;
    for (; system; system &= system - 1) {
        const uint32_t candidate = (uint32_t)__builtin_ctz(system);
        if (exception_priority(m, candidate) < *priority) {
            *priority = exception_priority(m, candidate);
            *number = candidate;
        }
    }
    for (; irqs; irqs &= irqs - 1) {
        const uint32_t irq = (uint32_t)__builtin_ctzll(irqs);
        if (m->irq_priority[irq] < *priority) {
            *priority = m->irq_priority[irq];
            *number = IRQ0 + irq;
        }
    }
    return *priority != PRIORITY_NONE;
}

int active_priority(const machine *m)
{
    uint32_t number;
    int priority;

    best_of(m, m->active_system, m->irq_active, &number, &priority);
    return group(m, priority);
}

int unmasked_priority(const machine *m)
{
    int priority = active_priority(m);

    if (m->basepri && group(m, (int)m->basepri) < priority)
        priority = group(m, (int)m->basepri);
    return m->faultmask && priority > PRIORITY_HARD_FAULT ? PRIORITY_HARD_FAULT : priority;
}

int execution_priority(const machine *m)
{
    const int priority = unmasked_priority(m);
    return m->primask && priority > PRIORITY_MASKED ? PRIORITY_MASKED : priority;
}

/* The pending, enabled exception that would be taken first, and the priority at which it preempts.
   C_MASKINTS hides PendSV, SysTick and the interrupts while a debugger steps (C1.6.3); a fault that
   SHCSR does not enable stays pending. An active exception may be pending again: it does not
   preempt itself, having the same priority. */
bool highest_pending(const machine *m, uint32_t *number, int *priority)
{
    const uint32_t faults = 1u << MEM_MANAGE | 1u << BUS_FAULT | 1u << USAGE_FAULT;
    uint32_t system = m->pending_system & ~(faults & ~m->faults_enabled);
    uint64_t irqs = m->irq_pending & m->irq_enabled;
    bool found;

    if (debug_enabled(m) && m->dhcsr_control & C_MASKINTS) {
        system &= ~(1u << PENDSV | 1u << SYSTICK);
        irqs = 0;
    }
    found = best_of(m, system, irqs, number, priority);
    *priority = group(m, *priority);
    return found;
}

/* ---- entry and return ---- */

bool is_active(const machine *m, uint32_t number)
{
    return number < IRQ0 ? m->active_system >> number & 1 : m->irq_active >> (number - IRQ0) & 1;
}

void exception_taken(machine *m, uint32_t number, uint32_t vector, uint32_t exc_return)
{
    select_stack(m, false);
    m->control &= ~(uint32_t)(CONTROL_FPCA | CONTROL_SFPA);
    m->r[LR] = exc_return;
    m->r[PC] = vector & ~1u;
    m->thumb = vector & 1;
    m->itstate = 0;
    m->exclusive = false;
    m->ipsr = number;
    m->sleeping = false;
    m->event = true;
    if (number < IRQ0) {
        m->pending_system &= ~(1u << number);
        m->active_system |= 1u << number;
    } else {
        m->irq_pending &= ~(1ull << (number - IRQ0));
        m->irq_active |= 1ull << (number - IRQ0);
    }
}

void exception_done(machine *m)
{
    if (m->ipsr < IRQ0)
        m->active_system &= ~(1u << m->ipsr);
    else
        m->irq_active &= ~(1ull << (m->ipsr - IRQ0));
}

void return_taken(machine *m)
{
    m->exclusive = false;
    m->event = true;
    m->next_event = 0;
    if (!in_handler_mode(m) && m->scr & SCR_SLEEPONEXIT) {
        m->sleeping = true;
        m->in_wfe = false;
    }
}

static void exception_entry(machine *m, uint32_t number, uint32_t return_address)
{
    if (m->architecture == ARMV8M)
        exception_entry_v8m(m, number, return_address);
    else
        exception_entry_v6m(m, number, return_address);
}

/* What emu_last_fault tells. */
void record_fault(machine *m, const char *kind, uint32_t pc)
{
    snprintf(m->last_fault, sizeof m->last_fault, "%s%s%s, address %#010x, pc %#010x, cycle %llu",
             kind ? kind : "", kind ? ": " : "", m->fault_cause, m->fault_address, pc,
             (unsigned long long)m->cycles);
}

/* A lock-up leaves the core fetching nothing until a reset or a debugger. */
void lock_up(machine *m, uint32_t lockup_pc, const char *during)
{
    if (!m->message[0])
        snprintf(m->message, sizeof m->message,
                 "lock-up at cycle %llu: %s; address %#010x, pc %#010x, during %s",
                 (unsigned long long)m->cycles, m->fault_cause, m->fault_address, m->r[PC], during);
    m->locked_up = true;
    m->r[PC] = lockup_pc;
    m->next_event = 0;
}

/* SVC, with EPSR.IT as it is behind it: taken at once, or after what is pending and more urgent.
   Where it could not be taken because of the running priority it is a HardFault, with the SVC as
   return address (escalation). */
void supervisor_call(machine *m, uint32_t svc_address)
{
    uint32_t number;
    int priority;

    if (group_priority(m, SVCALL) >= execution_priority(m)) {
        m->fault_cause = "SVC that cannot be taken at this priority";
        m->fault_address = svc_address;
        if (m->architecture == ARMV8M)
            v8m_forced_hard_fault(m);
        else
            hard_fault(m, svc_address);
        return;
    }
    m->r[PC] = svc_address + 2;
    m->pending_system |= 1u << SVCALL;
    m->next_event = 0;
    irq_sample(m);
    systick_update(m);
    if (highest_pending(m, &number, &priority) && number == SVCALL)
        exception_entry(m, SVCALL, m->r[PC]);
}

/* ---- when to look ---- */

/* Latches the interrupt lines: a high line pends its interrupt unless it is being served, a rising
   one always does (B3.4.1). A new pending interrupt is an event for WFE with SEVONPEND. */
void irq_sample(machine *m)
{
    const uint64_t lines = chip_irq_lines(m), rising = lines & ~m->irq_lines, was = m->irq_pending;

    m->irq_lines = lines;
    m->irq_pending |= rising | (lines & ~m->irq_active);
    if (m->irq_pending & ~was && m->scr & SCR_SEVONPEND)
        m->event = true;
}

/* WFI wakes for whatever would preempt if PRIMASK were clear; WFE for the event register, and for
   an interrupt only if it is taken. */
static bool wakes_up(machine *m)
{
    uint32_t number;
    int priority;

    if (m->in_wfe) {
        const bool event = m->event;
        m->event = false;
        return event;
    }
    return highest_pending(m, &number, &priority) && priority < unmasked_priority(m);
}

/* Always in the future: what is due has just been handled. */
static uint64_t next_event(machine *m)
{
    const uint64_t systick = systick_next_event(m), chip = chip_next_event(m);
    const uint64_t next = systick < chip ? systick : chip;

    return next > m->cycles ? next : m->cycles + 1;
}

/* The core is at an address that it reached with bit 0 clear. */
static void fault_without_thumb(machine *m)
{
    m->fault_cause = "execution with EPSR.T clear (bit 0 of a vector or of a stacked xPSR)";
    m->fault_address = m->r[PC];
    m->fault_kind = FAULT_INVSTATE;
    if (m->architecture == ARMV8M)
        v8m_fault(m, FAULT_INVSTATE, m->r[PC]);
    else
        hard_fault(m, m->r[PC]);
}

/* At a branch at or after m->next_event or m->until: everything that time and other parties have
   brought about. Asleep, time passes here, from event to event. */
bool poll_events(machine *m)
{
    if (m->stop || m->halted || m->locked_up)
        return false;
    if (m->step == STEP_DONE) {
        debug_halt(m, DFSR_HALTED);
        return false;
    }
    for (;;) {
        uint32_t number;
        int priority;

        systick_update(m);
        irq_sample(m);
        m->next_event = next_event(m);
        if (m->stop)
            return false;
        if (highest_pending(m, &number, &priority) && priority < execution_priority(m)) {
            exception_entry(m, number, m->r[PC]);
            if (m->step) {
                debug_halt(m, DFSR_HALTED);
                return false;
            }
            break;
        }
        if (m->sleeping && (wakes_up(m) || m->step))
            m->sleeping = false;
        if (!m->sleeping)
            break;
        if (m->cycles >= m->until)
            return false;
        m->cycles = m->next_event < m->until ? m->next_event : m->until;
    }
    if (m->halted || m->locked_up)
        return false;
    if (!m->thumb) {
        fault_without_thumb(m);
        return poll_events(m);
    }
    return m->cycles < m->until;
}

void idle_in_lock_up(machine *m)
{
    while (!m->stop && m->cycles < m->until) {
        m->next_event = next_event(m);
        m->cycles = m->next_event < m->until ? m->next_event : m->until;
        irq_sample(m);
    }
}
