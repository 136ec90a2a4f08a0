/* SPDX-License-Identifier: Apache-2.0 */
/* Access to coprocessors (ARMv8-M Architecture Reference Manual B3.24, CPACR D1.2.32): a disabled
 * or absent one is a UsageFault (NOCP), whatever the rest of the instruction says. */
#include "core.h"

enum { CP10 = 10, ACCESS_PRIVILEGED = 1, ACCESS_FULL = 3 };

static bool accessible(const machine *m, uint32_t number)
{
    const uint32_t access = m->cpacr >> 2 * number & 3;

    return access == ACCESS_FULL || (access == ACCESS_PRIVILEGED && is_privileged(m));
}

bool fpu_enabled(const machine *m)
{
    return accessible(m, CP10);
}

static bool fault(machine *m, enum v8m_fault_kind kind, const char *cause)
{
    m->fault_kind = kind;
    m->fault_cause = cause;
    m->fault_address = m->r[PC];
    return false;
}

bool coprocessor(machine *m, uint32_t instruction)
{
    const uint32_t number = instruction >> 8 & 0xf;

    if (!accessible(m, number))
        return fault(m, FAULT_NOCP, "coprocessor that is absent or that CPACR does not enable");
    return chip_coprocessor(m, instruction)
           || fault(m, FAULT_UNDEFINED, "instruction that the coprocessor does not know");
}
