/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNELS_PLAIN_PLAIN_H
#define KERNELS_PLAIN_PLAIN_H

#include "runner/kernels.h"

extern const struct op_kernel plain_conv_gather_double, plain_conv_gather_single;
extern const struct op_kernel plain_conv_direct_double, plain_conv_direct_single;
extern const struct op_kernel plain_conv_walk;
extern const struct op_kernel plain_depthwise_gather_double, plain_depthwise_gather_single;
extern const struct op_kernel plain_depthwise_direct_double, plain_depthwise_direct_single;
extern const struct op_kernel plain_depthwise_channel_double, plain_depthwise_channel_single;
extern const struct op_kernel plain_average_pool, plain_max_pool;
extern const struct op_kernel plain_mean_double, plain_mean_single;
extern const struct op_kernel plain_fully_connected_double, plain_fully_connected_single;
extern const struct op_kernel plain_add_double, plain_add_single;
extern const struct op_kernel plain_mul_double, plain_mul_single;
extern const struct op_kernel plain_lookup;
extern const struct op_kernel plain_clamp;
extern const struct op_kernel plain_softmax;
extern const struct op_kernel plain_upsample;
extern const struct op_kernel plain_concat;
extern const struct op_kernel plain_pad;
extern const struct op_kernel plain_move;

#endif
