/* SPDX-License-Identifier: Apache-2.0 */
/* What debug.c, breakpoints.c and components.c share. */
#ifndef DEBUG_H
#define DEBUG_H
#include "core.h"

/* breakpoints.c; false: no such register */
bool breakpoints_read(const machine *m, uint32_t address, uint32_t *value);
bool breakpoints_write(machine *m, uint32_t address, uint32_t value);
void breakpoints_power_on(machine *m);

/* components.c */
bool component_read(const machine *m, uint32_t address, uint32_t *value);
#endif
