/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of this build; the first that accepts a record runs it. KERNELS, a bit for each kind
 * of op, says which of them it has: the linker leaves the others out, and their SRAM is the
 * arena's. */
#include <stddef.h>

#include "kernels/plain/plain.h"

#ifndef KERNELS
#define KERNELS 0xffffffffu
#endif
enum { WALK = 0 };                            /* convolutions by other ways than rows */
#define IF(bit, kernel) ((KERNELS) >> (bit) & 1u ? &(kernel) : NULL)

static const struct op_kernel *const table[] = {
    IF(OP_KIND_CONV, plain_conv_gather_double),
    IF(OP_KIND_CONV, plain_conv_gather_single),
    IF(OP_KIND_CONV, plain_conv_direct_double),
    IF(OP_KIND_CONV, plain_conv_direct_single),
    IF(WALK, plain_conv_walk),
    IF(OP_KIND_DEPTHWISE, plain_depthwise_gather_double),
    IF(OP_KIND_DEPTHWISE, plain_depthwise_gather_single),
    IF(OP_KIND_DEPTHWISE, plain_depthwise_direct_double),
    IF(OP_KIND_DEPTHWISE, plain_depthwise_direct_single),
    IF(OP_KIND_DEPTHWISE, plain_depthwise_channel_double),
    IF(OP_KIND_DEPTHWISE, plain_depthwise_channel_single),
    IF(OP_KIND_AVERAGE_POOL, plain_average_pool),
    IF(OP_KIND_MAX_POOL, plain_max_pool),
    IF(OP_KIND_MEAN, plain_mean_double),
    IF(OP_KIND_MEAN, plain_mean_single),
    IF(OP_KIND_FULLY_CONNECTED, plain_fully_connected_double),
    IF(OP_KIND_FULLY_CONNECTED, plain_fully_connected_single),
    IF(OP_KIND_ADD, plain_add_double),
    IF(OP_KIND_ADD, plain_add_single),
    IF(OP_KIND_MUL, plain_mul_double),
    IF(OP_KIND_MUL, plain_mul_single),
    IF(OP_KIND_TABLE, plain_lookup),
    IF(OP_KIND_CLAMP, plain_clamp),
    IF(OP_KIND_SOFTMAX, plain_softmax),
    IF(OP_KIND_UPSAMPLE, plain_upsample),
    IF(OP_KIND_CONCAT, plain_concat),
    IF(OP_KIND_PAD, plain_pad),
    IF(OP_KIND_MOVE, plain_move),
};

const struct op_kernel *kernel_for(const struct op_record *record)
{
    for (size_t index = 0; index < sizeof table / sizeof table[0]; index++) {
        if (table[index] != NULL && table[index]->accepts(record)) {
            return table[index];
        }
    }
    return NULL;
}
