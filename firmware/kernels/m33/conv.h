/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNELS_M33_CONV_H
#define KERNELS_M33_CONV_H

#include "runner/kernels.h"

/* See conv.c. In SRAM. */
void m33_conv(const struct op_call *call);

#endif
