/* SPDX-License-Identifier: Apache-2.0 */
/* Exception entry, return, HardFault and lock-up of ARMv6-M (Architecture Reference Manual B1.5.6
 * to B1.5.8). */
#include "exceptions.h"

enum { EXC_RETURN_HANDLER = 0xfffffff1, EXC_RETURN_THREAD_MSP = 0xfffffff9,
       EXC_RETURN_THREAD_PSP = 0xfffffffd };
enum { FRAME_BYTES = 4 * FRAME_WORDS };
enum { LOCKUP_PC = 0xfffffffe };

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
void exception_entry_v6m(machine *m, uint32_t number, uint32_t return_address)
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
            lock_up(m, LOCKUP_PC, "entry of HardFault or NMI");
            return;
        }
        number = HARD_FAULT;
        record_fault(m, NULL, return_address);
        if (!core_read(m, m->vtor + 4 * HARD_FAULT, 4, &vector)) {
            m->fault_cause = "vector fetch failed";
            lock_up(m, LOCKUP_PC, "entry of HardFault");
            return;
        }
    }
    exception_taken(m, number, vector, exc_return);
    if (number == HARD_FAULT && debug_enabled(m) && m->demcr & VC_HARDERR)
        debug_halt(m, DFSR_VCATCH);
}

void hard_fault(machine *m, uint32_t return_address)
{
    m->r[PC] = return_address;
    record_fault(m, NULL, return_address);
    if (active_priority(m) <= PRIORITY_HARD_FAULT) {
        lock_up(m, LOCKUP_PC, "HardFault or NMI");
        return;
    }
    exception_entry_v6m(m, HARD_FAULT, return_address);
    m->next_event = 0;
}

/* Why ExceptionReturn() would be UNPREDICTABLE, or NULL. */
static const char *bad_return(const machine *m, uint32_t exc_return)
{
    const bool nested = __builtin_popcount(m->active_system)
                        + __builtin_popcountll(m->irq_active) > 1;

    if (!is_active(m, m->ipsr))
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
    exception_done(m);
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
    return_taken(m);
    return true;
}

