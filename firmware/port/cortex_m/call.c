/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a kernel in a window, with r4 to r11 watched (call.S). */
#include <stddef.h>

#include "port/port.h"

enum { KEPT_REGISTERS = 8, FIRST_PATTERN = 2 };

struct planted_call {
    const struct port_conditions *conditions;
    struct port_window *window;
    uint32_t planted[KEPT_REGISTERS];         /* r4 to r11: the argument, the callee, patterns */
    uint32_t found[KEPT_REGISTERS];
};
_Static_assert(offsetof(struct planted_call, window) == 4, "call.S");
_Static_assert(offsetof(struct planted_call, planted) == 8, "call.S");
_Static_assert(offsetof(struct planted_call, found) == 40, "call.S");

void call_in_window(struct planted_call *call);

/* Each register gets another pattern, of nothing that the callee is given: two that are swapped show.
 * From flash: the window is inside. */
void port_run_in_window(void (*run)(const struct op_call *), const struct op_call *call,
                        const struct port_conditions *conditions, struct port_window *window)
{
    struct planted_call planted = {.conditions = conditions, .window = window};
    const uint32_t pattern = ~(uint32_t)(uintptr_t)&planted;
    planted.planted[0] = (uint32_t)(uintptr_t)call;
    planted.planted[1] = (uint32_t)(uintptr_t)run;
    for (uint32_t number = FIRST_PATTERN; number < KEPT_REGISTERS; number++) {
        planted.planted[number] = pattern - number;
    }
    call_in_window(&planted);
    for (uint32_t number = 0; number < KEPT_REGISTERS; number++) {
        if (planted.found[number] != planted.planted[number]) {
            window->breaches |= BREACH_R4 << number;
        }
    }
}
