/* SPDX-License-Identifier: Apache-2.0 */
/* A table whose kernel is the plain one in gather order, followed by one access that a kernel must not
 * make. STRAY says which. */
#include <stddef.h>

#include "kernels/plain/plain.h"

enum { STORE_BELOW = 1, STORE_BELOW_SAME, LOAD_UNWRITTEN, STORE_ELSEWHERE, LOAD_OVERWRITTEN };

static volatile uint32_t elsewhere;

__attribute__((noipa)) static void stray(const struct op_call *call)
{
    volatile int8_t *const output = call->output;
    switch (STRAY) {
    case STORE_BELOW:
        output[-3] = (int8_t)~output[-3];
        break;
    case STORE_BELOW_SAME:                    /* no paint can show that */
        output[-3] = output[-3];
        break;
    case LOAD_UNWRITTEN:
        (void)output[-2];
        break;
    case STORE_ELSEWHERE:
        elsewhere = 1;
        break;
    case LOAD_OVERWRITTEN:                    /* in place, the first input byte is output by now */
        (void)*(const volatile int8_t *)call->input;
        break;
    default:
        break;
    }
}

static void run(const struct op_call *call)
{
    plain_conv_gather_double.run(call);
    stray(call);
}

const struct op_kernel *kernel_for(const struct op_record *record)
{
    static struct op_kernel kernel;
    kernel = plain_conv_gather_double;
    kernel.run = run;
    return kernel.accepts(record) ? &kernel : NULL;
}
