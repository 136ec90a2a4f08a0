/* SPDX-License-Identifier: Apache-2.0 */
/* Exceptions of ARMv6-M (Architecture Reference Manual B1.5): priorities, entry, return, HardFault
 * and lock-up, WFI and WFE. */
#include "core.h"
#include <stdio.h>

enum { PRIORITY_NONE = 256, PRIORITY_MASKED = 0, PRIORITY_HARD_FAULT = -1, PRIORITY_NMI = -2 };
enum { XPSR_STACK_ALIGNED = 1 << 9 };
enum { EXC_RETURN_HANDLER = 0xfffffff1, EXC_RETURN_THREAD_MSP = 0xfffffff9,
       EXC_RETURN_THREAD_PSP = 0xfffffffd };
enum { FRAME_WORDS = 8, FRAME_BYTES = 4 * FRAME_WORDS };
enum { LOCKUP_PC = 0xfffffffe };

/* ---- priorities, B1.5.4 ---- */

static int exception_priority(const machine *m, uint32_t number)
{
    switch (number) {
    case NMI: return PRIORITY_NMI;
    case HARD_FAULT: return PRIORITY_HARD_FAULT;
    default: return number < IRQ0 ? m->system_priority[number] : m->irq_priority[number - IRQ0];
    }
}

/* The best of two sets of exceptions: lowest priority value, then lowest number. */
static bool best_of(const machine *m, uint32_t system, uint32_t irqs, uint32_t *number,
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
        const uint32_t irq = (uint32_t)__builtin_ctz(irqs);
        if (m->irq_priority[irq] < *priority) {
            *priority = m->irq_priority[irq];
            *number = IRQ0 + irq;
        }
    }
    return *priority != PRIORITY_NONE;
}

/* Priority of what runs, without PRIMASK. */
static int active_priority(const machine *m)
{
    uint32_t number;
    int priority;

    best_of(m, m->active_system, m->irq_active, &number, &priority);
    return priority;
}

static int execution_priority(const machine *m)
{
    const int priority = active_priority(m);
    return m->primask && priority > PRIORITY_MASKED ? PRIORITY_MASKED : priority;
}

/* The pending, enabled exception that would be taken first. C_MASKINTS hides PendSV, SysTick and
   the interrupts while a debugger steps (C1.6.3). An active exception may be pending again: it does
   not preempt itself, having the same priority. */
bool highest_pending(const machine *m, uint32_t *number, int *priority)
{
    uint32_t system = m->pending_system, irqs = m->irq_pending & m->irq_enabled;

    if (debug_enabled(m) && m->dhcsr_control & C_MASKINTS) {
        system &= ~(1u << PENDSV | 1u << SYSTICK);
        irqs = 0;
    }
    return best_of(m, system, irqs, number, priority);
}

/* ---- entry and return, B1.5.6 to B1.5.8 ---- */

/* What emu_last_fault tells. */
static void record_fault(machine *m, uint32_t pc)
{
    snprintf(m->last_fault, sizeof m->last_fault, "%s, address %#010x, pc %#010x, cycle %llu",
             m->fault_cause, m->fault_address, pc, (unsigned long long)m->cycles);
}

/* A lock-up leaves the core fetching nothing at 0xfffffffe until a reset or a debugger. */
static void lock_up(machine *m, const char *during)
{
    if (!m->message[0])
        snprintf(m->message, sizeof m->message,
                 "lock-up at cycle %llu: %s; address %#010x, pc %#010x, during %s",
                 (unsigned long long)m->cycles, m->fault_cause, m->fault_address, m->r[PC], during);
    m->locked_up = true;
    m->r[PC] = LOCKUP_PC;
    m->next_event = 0;
}

static bool push_frame(machine *m, uint32_t frame, uint32_t psr, uint32_t return_address)
{
    const uint32_t *r = m->r;
    const uint32_t words[FRAME_WORDS] = {
        r[0], r[1], r[2], r[3], r[12], r[LR], return_address, psr
    };

    for (uint32_t k = 0; k < FRAME_WORDS; k++)
        if (!core_write(m, frame + 4 * k, 4, words[k]))
            return false;
    return true;
}

/* ExceptionEntry(): stacks on the current stack, 8-byte aligned, then runs the handler on MSP. A
   stacking or vector fault is a HardFault that takes the place of this exception, which stays
   pending; its frame is not stacked again (derived exceptions). */
static void exception_entry(machine *m, uint32_t number, uint32_t return_address)
{
    const bool process = m->control & CONTROL_SPSEL;
    const uint32_t stacked_sp = m->r[SP], frame = (stacked_sp - FRAME_BYTES) & ~4u;
    const uint32_t psr = xpsr(m) | (stacked_sp & 4 ? XPSR_STACK_ALIGNED : 0);
    const uint32_t exc_return = in_handler_mode(m) ? EXC_RETURN_HANDLER
                                : process ? EXC_RETURN_THREAD_PSP : EXC_RETURN_THREAD_MSP;
    uint32_t vector = 0;
    bool stacked, fetched = false;

    m->cycles += CYCLES_EXCEPTION_ENTRY;
    m->exceptions++;
    m->r[SP] = frame;
    stacked = push_frame(m, frame, psr, return_address);
    if (stacked)
        fetched = core_read(m, m->vtor + 4 * number, 4, &vector);
    if (!stacked || !fetched) {
        m->r[PC] = return_address;
        m->fault_cause = stacked ? "vector fetch failed" : "exception stacking failed";
        if (number == HARD_FAULT || number == NMI) {
            lock_up(m, "entry of HardFault or NMI");
            return;
        }
        number = HARD_FAULT;
        record_fault(m, return_address);
        if (!core_read(m, m->vtor + 4 * HARD_FAULT, 4, &vector)) {
            m->fault_cause = "vector fetch failed";
            lock_up(m, "entry of HardFault");
            return;
        }
    }
    select_stack(m, false);
    m->r[LR] = exc_return;
    m->r[PC] = vector & ~1u;
    m->thumb = vector & 1;
    m->ipsr = number;
    m->sleeping = false;
    m->event = true;
    if (number < IRQ0) {
        m->pending_system &= ~(1u << number);
        m->active_system |= 1u << number;
    } else {
        m->irq_pending &= ~(1u << (number - IRQ0));
        m->irq_active |= 1u << (number - IRQ0);
    }
    if (number == HARD_FAULT && debug_enabled(m) && m->demcr & VC_HARDERR)
        debug_halt(m, DFSR_VCATCH);
}

void hard_fault(machine *m, uint32_t return_address)
{
    m->r[PC] = return_address;
    record_fault(m, return_address);
    if (active_priority(m) <= PRIORITY_HARD_FAULT) {
        lock_up(m, "HardFault or NMI");
        return;
    }
    exception_entry(m, HARD_FAULT, return_address);
    m->next_event = 0;
}

/* SVC: taken at once, or after what is pending and more urgent. Where it could not be taken because
   of the running priority it is a HardFault, with the SVC as return address (escalation). */
void supervisor_call(machine *m, uint32_t svc_address)
{
    uint32_t number;
    int priority;

    if (m->system_priority[SVCALL] >= execution_priority(m)) {
        m->fault_cause = "SVC that cannot be taken at this priority";
        m->fault_address = svc_address;
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

/* Why ExceptionReturn() would be UNPREDICTABLE, or NULL. */
static const char *bad_return(const machine *m, uint32_t exc_return)
{
    const uint32_t system = m->active_system, irqs = m->irq_active;
    const bool nested = __builtin_popcount(system) + __builtin_popcount(irqs) > 1;
    const bool active = m->ipsr < IRQ0 ? system >> m->ipsr & 1 : irqs >> (m->ipsr - IRQ0) & 1;

    if (!active)
        return "exception return from an exception that is not active";
    switch (exc_return) {
    case EXC_RETURN_HANDLER:
        return nested ? NULL : "exception return to Handler mode with no other exception active";
    case EXC_RETURN_THREAD_MSP: case EXC_RETURN_THREAD_PSP:
        return nested ? "exception return to Thread mode with another exception active" : NULL;
    default:
        return "EXC_RETURN is none of 0xfffffff1, 0xfffffff9, 0xfffffffd";
    }
}

/* ExceptionReturn(). What the manual calls UNPREDICTABLE stops the run (EMU_STRICT) and, if it goes
   on, is a HardFault at the returning instruction, as is a frame that cannot be read. */
bool exception_return(machine *m, uint32_t exc_return)
{
    const bool process = exc_return == EXC_RETURN_THREAD_PSP;
    const char *bad = bad_return(m, exc_return);
    uint32_t frame, words[FRAME_WORDS];

    m->fault_cause = bad;
    m->fault_address = exc_return;
    if (bad) {
        machine_strict(m, "%s (EXC_RETURN %#010x): UNPREDICTABLE", bad, exc_return);
        return false;
    }
    frame = *stack_pointer(m, process);
    for (uint32_t k = 0; k < FRAME_WORDS; k++)
        if (!core_read(m, frame + 4 * k, 4, &words[k]))
            return false;

    const uint32_t psr = words[7];
    if ((exc_return == EXC_RETURN_HANDLER) != ((psr & IPSR_MASK) != 0)) {
        m->fault_cause = "exception return with a stacked IPSR of the other mode";
        machine_strict(m, "%s: UNPREDICTABLE", m->fault_cause);
        return false;
    }
    if (m->ipsr < IRQ0)
        m->active_system &= ~(1u << m->ipsr);
    else
        m->irq_active &= ~(1u << (m->ipsr - IRQ0));
    select_stack(m, process);
    m->r[SP] = (frame + FRAME_BYTES) | (psr & XPSR_STACK_ALIGNED ? 4 : 0);
    for (uint32_t k = 0; k < 4; k++)
        m->r[k] = words[k];
    m->r[12] = words[4];
    m->r[LR] = words[5];
    m->r[PC] = words[6] & ~1u;
    set_apsr(m, psr);
    m->thumb = psr & XPSR_THUMB;
    m->ipsr = psr & IPSR_MASK;
    m->cycles += CYCLES_EXCEPTION_RETURN;
    m->event = true;
    m->next_event = 0;
    if (!in_handler_mode(m) && m->scr & SCR_SLEEPONEXIT) {
        m->sleeping = true;
        m->in_wfe = false;
    }
    return true;
}

/* ---- when to look ---- */

/* Latches the interrupt lines: a high line pends its interrupt unless it is being served, a rising
   one always does (B3.4.1). A new pending interrupt is an event for WFE with SEVONPEND. */
void irq_sample(machine *m)
{
    const uint32_t lines = chip_irq_lines(m), rising = lines & ~m->irq_lines, was = m->irq_pending;

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
    return highest_pending(m, &number, &priority) && priority < active_priority(m);
}

/* Always in the future: what is due has just been handled. */
static uint64_t next_event(machine *m)
{
    const uint64_t systick = systick_next_event(m), chip = chip_next_event(m);
    const uint64_t next = systick < chip ? systick : chip;

    return next > m->cycles ? next : m->cycles + 1;
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
        m->fault_cause = "execution with EPSR.T clear (bit 0 of a vector or of a stacked xPSR)";
        m->fault_address = m->r[PC];
        hard_fault(m, m->r[PC]);
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
