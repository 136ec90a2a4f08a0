/* SPDX-License-Identifier: Apache-2.0 */
/* add_run.S: scalars that follow each other. */
#ifndef KERNELS_M0PLUS_ADDITION_H
#define KERNELS_M0PLUS_ADDITION_H

#include <stddef.h>
#include <stdint.h>

#include "runner/kernels.h"

struct packed_add {
    int32_t factor_a, factor_b, offset;
    uint32_t guard;                           /* of the fraction << 12 */
};

/* add_run.S knows the offsets. The pointers are to the ends. */
struct addition {
    const int8_t *a, *b;
    int8_t *output;
    int32_t minus_count;
    struct packed_add packed;
    int32_t low, high;
    const struct op_call *call;
};

_Static_assert(offsetof(struct addition, packed) == 16, "ADD_PACKED");
_Static_assert(offsetof(struct addition, low) == 32, "ADD_LOW");
_Static_assert(offsetof(struct addition, call) == 40, "ADD_CALL");

void m0plus_add_run(struct addition *addition);
int32_t m0plus_add_exact(int32_t a, int32_t b, const struct op_call *call);

#endif
