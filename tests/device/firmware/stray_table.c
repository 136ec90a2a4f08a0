/* SPDX-License-Identifier: Apache-2.0 */
/* A table whose kernel is the plain one in gather order, followed by one access that a kernel must not
 * make. STRAY says which. */
#include <stddef.h>

#include "runner/kernels.h"

void plain_conv_gather_double(const struct op_call *call);

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
    plain_conv_gather_double(call);
    stray(call);
}

static bool accepts(const struct op_record *record)
{
    return record->kind == OP_KIND_CONV && record->rounding == ROUNDING_DOUBLE &&
           record->traversal == TRAVERSAL_ROW && record->tap_order == TAP_ORDER_GATHER;
}

static uint64_t scratch_bytes(const struct op_record *record, const struct tensor_record *tensors)
{
    return (uint64_t)record->k_h * record->k_w * tensors[record->inputs[0]].c;
}

const struct op_kernel *kernel_for(const struct op_record *record,
                                   const struct tensor_record *tensors)
{
    static const struct op_kernel kernel = {.scratch_bytes = scratch_bytes, .run = run};
    (void)tensors;
    return accepts(record) ? &kernel : NULL;
}
