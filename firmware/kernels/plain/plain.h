/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNELS_PLAIN_PLAIN_H
#define KERNELS_PLAIN_PLAIN_H

#include "runner/kernels.h"

extern const struct conv_kernel plain_conv_gather_double, plain_conv_gather_single;
extern const struct conv_kernel plain_conv_direct_double, plain_conv_direct_single;

#endif
