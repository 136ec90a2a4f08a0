/* SPDX-License-Identifier: Apache-2.0 */
/* What kernels share that go over scalars or pixels one by one: their order, forwards or from the
 * last one to the first. */
#ifndef KERNELS_PLAIN_ELEMENTWISE_H
#define KERNELS_PLAIN_ELEMENTWISE_H

#include <stdbool.h>
#include <stdint.h>

#include "kernels/plain/bytes.h"
#include "kernels/requantize.h"
#include "port/placement.h"
#include "runner/kernels.h"

/* for (int32_t at = walk.first; at != walk.end; at += walk.step) */
struct walk {
    int32_t first, end, step;
};

ALWAYS_INLINE struct walk walk_over(const struct op_call *call, int32_t count)
{
    return call->record->traversal == TRAVERSAL_REVERSE ? (struct walk){count - 1, -1, -1}
                                                        : (struct walk){0, count, 1};
}

ALWAYS_INLINE struct walk walk_over_output(const struct op_call *call)
{
    return walk_over(call, call->h_out * call->w_out * call->c_out);
}

/* The scalar of the second operand that belongs to the first one's: it comes round where the
 * operand is 1 x 1 x c, once for each pixel. Counted along, without a division. */
struct second_walk {
    int32_t at, step, count;
};

ALWAYS_INLINE struct second_walk second_walk(const struct op_call *call, const struct walk *walk)
{
    const int32_t count = (int32_t)call->input_records[1]->bytes;
    return (struct second_walk){walk->step < 0 ? count - 1 : 0, walk->step, count};
}

ALWAYS_INLINE void second_next(struct second_walk *second)
{
    second->at += second->step;
    if (second->at == second->count) {
        second->at = 0;
    }
    if (second->at < 0) {
        second->at = second->count - 1;
    }
}

/* A pixel's bytes, in the order of the walk. */
ALWAYS_INLINE void write_pixel(int8_t *to, const int8_t *from, int32_t count, int32_t step)
{
    if (step < 0) {
        copy_reverse(to, from, count);
    } else {
        copy(to, from, count);
    }
}

#endif
