/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNELS_PLAIN_PLAIN_H
#define KERNELS_PLAIN_PLAIN_H

#include "runner/kernels.h"

extern const struct conv_kernel plain_conv_gather, plain_conv_direct;

#endif
