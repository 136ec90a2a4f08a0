/* SPDX-License-Identifier: Apache-2.0 */
/* Special registers of any Cortex-M. */
#ifndef PORT_CORTEX_M_CORE_H
#define PORT_CORTEX_M_CORE_H

#include <stdint.h>

#include "port/placement.h"

/* Returns what interrupts_restore() takes. */
ALWAYS_INLINE uint32_t interrupts_disable(void)
{
    uint32_t primask;
    __asm volatile("mrs %0, primask\n cpsid i" : "=r"(primask)::"memory");
    return primask;
}

ALWAYS_INLINE void interrupts_restore(uint32_t primask)
{
    __asm volatile("msr primask, %0" ::"r"(primask) : "memory");
}

ALWAYS_INLINE uint32_t exception_number(void)
{
    uint32_t ipsr;
    __asm volatile("mrs %0, ipsr" : "=r"(ipsr));
    return ipsr;
}

#endif
