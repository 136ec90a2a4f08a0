/* SPDX-License-Identifier: Apache-2.0 */
/* The order in which output pixels are made. A walk takes legs off what remains of the output,
 * which is always a rectangle down to its lower right corner: a horizontal leg is the top row from
 * left to right, a vertical one the leftmost column from top to bottom.
 *   row:         all legs horizontal;
 *   column:      all vertical;
 *   herringbone: in turn, the first along the longer axis, horizontal if both are equal
 *                (rip-paper, Eq. 25);
 *   reverse:     row, seen from the last pixel. */
#ifndef KERNELS_PLAIN_CONV_WALK_H
#define KERNELS_PLAIN_CONV_WALK_H

#include <stdbool.h>

#include "port/placement.h"
#include "runner/kernels.h"

struct walk {
    int32_t top, left;                        /* of what remains after the leg that is walked */
    int32_t row, column;                      /* of the pixel; reverse: counted from the last one */
    bool horizontal, in_turn;
};

ALWAYS_INLINE struct walk walk_begin(const struct op_call *call)
{
    const uint32_t traversal = call->record->traversal;
    const bool in_turn = traversal == TRAVERSAL_HERRINGBONE;
    const bool horizontal =
        in_turn ? call->w_out >= call->h_out : traversal != TRAVERSAL_COLUMN;
    return (struct walk){
        .top = horizontal ? 1 : 0,
        .left = horizontal ? 0 : 1,
        .horizontal = horizontal,
        .in_turn = in_turn,
    };
}

/* To the next pixel; after the last one to anywhere. No leg before it is empty: of n legs along the
 * longer axis and n - 1 across, the last one across has one pixel. */
ALWAYS_INLINE void walk_on(struct walk *walk, const struct op_call *call)
{
    if (walk->horizontal ? ++walk->column < call->w_out : ++walk->row < call->h_out) {
        return;
    }
    walk->horizontal ^= walk->in_turn;
    walk->row = walk->top;
    walk->column = walk->left;
    if (walk->horizontal) {
        walk->top++;
    } else {
        walk->left++;
    }
}

#endif
