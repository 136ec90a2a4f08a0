/* SPDX-License-Identifier: Apache-2.0 */
/* Faults, exception entry and exception return of ARMv8-M Mainline (Architecture Reference Manual
 * B3.9 to B3.24 and the pseudocode they name), in the Secure state, which is the only one here.
 *
 * FP state is stacked at once where the manual would allow to reserve the space and stack it later
 * (FPCCR.LSPEN): registers are the same whenever a program looks, and FPCCR.LSPACT reads 0. Every
 * entry stacks and every return unstacks, but for faults of a return, which tail-chain. */
#include "exceptions.h"
#include "scb_v8m.h"

/* EXC_RETURN, D1.2.95; all other bits are one, S and ES for the Secure state among them */
enum { EXC_RETURN_SPSEL = 1 << 2, EXC_RETURN_MODE = 1 << 3, EXC_RETURN_FTYPE = 1 << 4,
       EXC_RETURN_ONES = (int)0xffffffe1, EXC_RETURN_RES0 = 1 << 1 };
enum { RETPSR_SFPA = 1 << 20 };
enum { LOCKUP_PC = (int)0xeffffffe };
enum { NO_EXCEPTION = 0 };

/* The frame of B3.19: eight words, then S0 to S15, FPSCR and a reserved one. */
enum { FP_FRAME_REGISTERS = 16, FP_FRAME_WORDS = FRAME_WORDS + FP_FRAME_REGISTERS + 2 };
enum { FRAME_R12 = 4, FRAME_LR, FRAME_PC, FRAME_PSR, FRAME_S0,
       FRAME_FPSCR = FRAME_S0 + FP_FRAME_REGISTERS };

/* Cortex-M33 TRM: interrupt latency of 12 cycles with zero-wait memory, stacking included (lazily,
   so that FP state does not count). No figure is published for the return: as much again. */
enum { CYCLES_V8M_ENTRY = 12, CYCLES_V8M_RETURN = 12 };

static const struct fault {
    uint8_t exception;
    uint32_t cfsr, vector_catch;
    const char *name, *description;
} FAULTS[] = {
    [FAULT_IACCVIOL] = { MEM_MANAGE, CFSR_IACCVIOL, VC_MMERR, "MemManage IACCVIOL",
                          "execution from an execute-never region" },
    [FAULT_DACCVIOL] = { MEM_MANAGE, CFSR_DACCVIOL, VC_MMERR, "MemManage DACCVIOL",
                          "access without permission" },
    [FAULT_IBUSERR] = { BUS_FAULT, CFSR_IBUSERR, VC_BUSERR, "BusFault IBUSERR",
                          "execution from where nothing answers" },
    [FAULT_PRECISERR] = { BUS_FAULT, CFSR_PRECISERR, VC_BUSERR, "BusFault PRECISERR",
                          "access that nothing answers" },
    [FAULT_UNSTKERR] = { BUS_FAULT, CFSR_UNSTKERR, VC_INTERR, "BusFault UNSTKERR",
                          "exception unstacking failed" },
    [FAULT_STKERR] = { BUS_FAULT, CFSR_STKERR, VC_INTERR, "BusFault STKERR",
                          "exception stacking failed" },
    [FAULT_UNDEFINED] = { USAGE_FAULT, CFSR_UNDEFINSTR, VC_STATERR, "UsageFault UNDEFINSTR",
                          "undefined instruction" },
    [FAULT_INVSTATE] = { USAGE_FAULT, CFSR_INVSTATE, VC_STATERR, "UsageFault INVSTATE",
                          "execution with EPSR.T clear" },
    [FAULT_INVPC] = { USAGE_FAULT, CFSR_INVPC, VC_STATERR, "UsageFault INVPC",
                          "bad exception return" },
    [FAULT_NOCP] = { USAGE_FAULT, CFSR_NOCP, VC_NOCPERR, "UsageFault NOCP",
                          "coprocessor that is absent or that CPACR does not enable" },
    [FAULT_STKOF] = { USAGE_FAULT, CFSR_STKOF, VC_STATERR, "UsageFault STKOF",
                          "stack pointer below its limit" },
    [FAULT_UNALIGNED] = { USAGE_FAULT, CFSR_UNALIGNED, VC_CHKERR, "UsageFault UNALIGNED",
                          "unaligned access" },
    [FAULT_DIVBYZERO] = { USAGE_FAULT, CFSR_DIVBYZERO, VC_CHKERR, "UsageFault DIVBYZERO",
                          "division by zero" },
    [FAULT_DEBUGEVT] = { HARD_FAULT, 0, 0, "HardFault DEBUGEVT",
                          "BKPT or breakpoint without a debugger" },
};

/* ---- which exception a fault is ---- */

/* Sets the status bits. Who detected it may have left a closer description in m->fault_cause. */
static void note_fault(machine *m, enum v8m_fault_kind kind, uint32_t address)
{
    const struct fault *fault = &FAULTS[kind];

    m->cfsr |= fault->cfsr;
    if (kind == FAULT_DACCVIOL) {
        m->mmfar = address;
        m->cfsr |= CFSR_MMARVALID;
    } else if (kind == FAULT_PRECISERR) {
        m->bfar = address;
        m->cfsr |= CFSR_BFARVALID;
    } else if (kind == FAULT_DEBUGEVT) {
        m->hfsr |= HFSR_DEBUGEVT;
    }
    if (kind != m->fault_kind)
        m->fault_cause = fault->description;
    m->fault_kind = FAULT_NONE;
    m->fault_address = address;
    record_fault(m, fault->name, m->r[PC]);
}

/* B3.13: a fault that is not enabled, or not urgent enough to be taken now, is a HardFault; where
   that cannot be taken either there is none (lock-up). */
static uint32_t escalated(machine *m, uint32_t number)
{
    const int running = execution_priority(m);

    if (number != HARD_FAULT && m->faults_enabled >> number & 1
        && group_priority(m, number) < running)
        return number;
    if (running <= PRIORITY_HARD_FAULT)
        return NO_EXCEPTION;
    if (number != HARD_FAULT)
        m->hfsr |= HFSR_FORCED;
    return HARD_FAULT;
}

/* ---- entry ---- */

/* Halting debug event at the first instruction of a fault handler, D1.2.40 DEMCR. */
static void catch_vector(machine *m, uint32_t number, uint32_t reason)
{
    const uint32_t wanted = number == HARD_FAULT ? VC_HARDERR : reason;

    if (debug_enabled(m) && m->demcr & wanted)
        debug_halt(m, DFSR_VCATCH);
}

/* ExceptionTaken(), on the frame that is there. A vector that cannot be read is a HardFault. */
static void take(machine *m, uint32_t number, uint32_t exc_return, uint32_t vector_catch)
{
    uint32_t vector;

    while (!core_read(m, m->vtor + 4 * number, 4, &vector)) {
        m->fault_cause = "vector fetch failed";
        m->hfsr |= HFSR_VECTTBL;
        if (number == HARD_FAULT || number == NMI) {
            lock_up(m, LOCKUP_PC, "entry of HardFault or NMI");
            return;
        }
        record_fault(m, "HardFault VECTTBL", m->r[PC]);
        number = HARD_FAULT;
    }
    exception_taken(m, number, vector, exc_return);
    catch_vector(m, number, vector_catch);
}

static uint32_t frame_words(bool floating_point)
{
    return floating_point ? FP_FRAME_WORDS : FRAME_WORDS;
}

/* PushStack(). Below the stack limit nothing is written, the pointer is left on the limit. */
static enum v8m_fault_kind push_frame(machine *m, uint32_t return_address)
{
    const bool floating_point = m->control & CONTROL_FPCA;
    const uint32_t count = frame_words(floating_point), stacked_sp = m->r[SP];
    const uint32_t frame = (stacked_sp - 4 * count) & ~4u;
    const uint32_t *r = m->r;
    uint32_t words[FP_FRAME_WORDS] = {
        r[0], r[1], r[2], r[3], r[12], r[LR], return_address,
        xpsr(m) | (stacked_sp & 4 ? XPSR_STACK_ALIGNED : 0)
            | (m->control & CONTROL_SFPA ? RETPSR_SFPA : 0)
    };

    for (uint32_t k = 0; k < FP_FRAME_REGISTERS; k++)
        words[FRAME_S0 + k] = m->fp[k];
    words[FRAME_FPSCR] = m->fpscr;
    if (frame < stack_limit(m) || frame > stacked_sp) {
        m->r[SP] = stack_limit(m);
        return FAULT_STKOF;
    }
    m->r[SP] = frame;
    for (uint32_t k = 0; k < count; k++)
        if (!core_write(m, frame + 4 * k, 4, words[k]))
            return FAULT_STKERR;
    return FAULT_NONE;
}

/* A fault of the stacking for `number` (DerivedLateArrival): pended beside it, the more urgent of
   the two is taken. HardFault on the way into HardFault or NMI is a lock-up. */
static uint32_t derived_exception(machine *m, uint32_t number, enum v8m_fault_kind kind)
{
    uint32_t derived;
    int priority;

    m->fault_kind = kind;
    m->fault_cause = kind == FAULT_STKOF ? "exception stacking below the stack limit"
                                         : "exception stacking failed";
    note_fault(m, kind, m->r[SP]);
    derived = escalated(m, FAULTS[kind].exception);
    if (derived == NO_EXCEPTION || (derived == HARD_FAULT && number <= HARD_FAULT))
        return NO_EXCEPTION;
    m->pending_system |= 1u << derived;
    highest_pending(m, &number, &priority);
    return number;
}

/* `number` is pending. */
void exception_entry_v8m(machine *m, uint32_t number, uint32_t return_address)
{
    const uint32_t exc_return = (uint32_t)EXC_RETURN_ONES
                                | (m->control & CONTROL_FPCA ? 0 : EXC_RETURN_FTYPE)
                                | (in_handler_mode(m) ? 0 : EXC_RETURN_MODE)
                                | (m->control & CONTROL_SPSEL ? EXC_RETURN_SPSEL : 0);
    enum v8m_fault_kind kind;

    m->cycles += CYCLES_V8M_ENTRY;
    m->exceptions++;
    m->r[PC] = return_address;
    kind = push_frame(m, return_address);
    if (kind != FAULT_NONE) {
        number = derived_exception(m, number, kind);
        if (number == NO_EXCEPTION) {
            lock_up(m, LOCKUP_PC, "entry of HardFault or NMI");
            return;
        }
    }
    take(m, number, exc_return, FAULTS[kind].vector_catch);
}

/* ---- faults of instructions ---- */

static void take_fault(machine *m, uint32_t number, uint32_t vector_catch)
{
    const uint32_t taken = escalated(m, number);

    if (taken == NO_EXCEPTION) {
        lock_up(m, LOCKUP_PC, "HardFault, NMI or FAULTMASK");
        return;
    }
    m->pending_system |= 1u << taken;
    exception_entry_v8m(m, taken, m->r[PC]);
    if (m->ipsr == number && !m->halted)
        catch_vector(m, number, vector_catch);
    m->next_event = 0;
}

void v8m_fault(machine *m, enum v8m_fault_kind kind, uint32_t address)
{
    note_fault(m, kind, address);
    take_fault(m, FAULTS[kind].exception, FAULTS[kind].vector_catch);
}

/* Of an exception that is none of the faults: SVC. */
void v8m_forced_hard_fault(machine *m)
{
    record_fault(m, "HardFault FORCED", m->r[PC]);
    if (execution_priority(m) > PRIORITY_HARD_FAULT)
        m->hfsr |= HFSR_FORCED;
    take_fault(m, HARD_FAULT, 0);
}

/* ---- return ---- */

/* A fault of the return: the exception is over, the fault is taken on the frame that is there. */
static void return_fault(machine *m, enum v8m_fault_kind kind, const char *cause,
                         uint32_t exc_return)
{
    uint32_t taken;

    m->fault_kind = kind;
    m->fault_cause = cause;
    note_fault(m, kind, exc_return);
    taken = escalated(m, FAULTS[kind].exception);
    m->next_event = 0;
    if (taken == NO_EXCEPTION) {
        lock_up(m, LOCKUP_PC, "HardFault, NMI or FAULTMASK");
        return;
    }
    m->cycles += CYCLES_V8M_ENTRY;
    m->exceptions++;
    take(m, taken, exc_return, FAULTS[kind].vector_catch);
}

/* What the manual calls UNPREDICTABLE (or is of the Non-secure state), or NULL. */
static const char *unpredictable_return(uint32_t exc_return)
{
    const uint32_t variable = EXC_RETURN_SPSEL | EXC_RETURN_MODE | EXC_RETURN_FTYPE;

    if ((exc_return | variable | EXC_RETURN_RES0) != UINT32_MAX)
        return "EXC_RETURN is not 0xffffffe1 to 0xfffffffd: not of the Secure state, or none";
    if (!(exc_return & EXC_RETURN_MODE) && exc_return & EXC_RETURN_SPSEL)
        return "EXC_RETURN to Handler mode on the process stack";
    return NULL;
}

static bool pop_frame(machine *m, uint32_t frame, uint32_t count, uint32_t *words)
{
    for (uint32_t k = 0; k < count; k++)
        if (!core_read(m, frame + 4 * k, 4, &words[k]))
            return false;
    return true;
}

static void restore(machine *m, const uint32_t *words, bool floating_point)
{
    for (uint32_t k = 0; k < 4; k++)
        m->r[k] = words[k];
    m->r[12] = words[FRAME_R12];
    m->r[LR] = words[FRAME_LR];
    m->r[PC] = words[FRAME_PC] & ~1u;
    set_xpsr(m, words[FRAME_PSR]);
    if (!floating_point)
        return;
    for (uint32_t k = 0; k < FP_FRAME_REGISTERS; k++)
        m->fp[k] = words[FRAME_S0 + k];
    m->fpscr = words[FRAME_FPSCR];
    m->control |= CONTROL_FPCA;
    if (words[FRAME_PSR] & RETPSR_SFPA)
        m->control |= CONTROL_SFPA;
}

/* ExceptionReturn(), B3.22: integrity checks first, then the frame. FAULTMASK ends with every
   return from a priority of 0 or less urgent. */
void v8m_exception_return(machine *m, uint32_t exc_return)
{
    const bool thread = exc_return & EXC_RETURN_MODE, process = exc_return & EXC_RETURN_SPSEL;
    const bool floating_point = !(exc_return & EXC_RETURN_FTYPE);
    const bool was_active = is_active(m, m->ipsr);
    const char *unpredictable = unpredictable_return(exc_return);
    const uint32_t count = frame_words(floating_point);
    uint32_t frame, words[FP_FRAME_WORDS];

    if (active_priority(m) >= PRIORITY_MASKED)
        m->faultmask = 0;
    exception_done(m);
    if (unpredictable) {
        machine_strict(m, "%s (EXC_RETURN %#010x): UNPREDICTABLE", unpredictable, exc_return);
        return_fault(m, FAULT_INVPC, unpredictable, exc_return);
        return;
    }
    if (!was_active || exc_return & EXC_RETURN_RES0) {
        return_fault(m, FAULT_INVPC, "exception return that fails its integrity check",
                     exc_return);
        return;
    }
    frame = *stack_pointer(m, process);
    if (!pop_frame(m, frame, count, words)) {
        return_fault(m, FAULT_UNSTKERR, "exception unstacking failed", exc_return);
        return;
    }
    if (thread != ((words[FRAME_PSR] & V8M_IPSR_MASK) == 0)) {
        return_fault(m, FAULT_INVPC, "exception return with a stacked IPSR of the other mode",
                     exc_return);
        return;
    }
    if (floating_point && !fpu_enabled(m)) {
        return_fault(m, FAULT_NOCP, "exception return with FP state that CPACR does not allow",
                     exc_return);
        return;
    }
    select_stack(m, process);
    m->r[SP] = (frame + 4 * count) | (words[FRAME_PSR] & XPSR_STACK_ALIGNED ? 4 : 0);
    restore(m, words, floating_point);
    m->cycles += CYCLES_V8M_RETURN;
    return_taken(m);
}
