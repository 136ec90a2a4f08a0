/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KERNELS_M0PLUS_M0PLUS_H
#define KERNELS_M0PLUS_M0PLUS_H

#include "runner/kernels.h"

/* What each of them accepts, its scratch and its steps: kernels.yaml. */
void m0plus_conv(const struct op_call *call);
bool m0plus_conv_sound(const struct op_record *record, const struct tensor_record *tensors,
                       const int8_t *constants);
void m0plus_depthwise_k3(const struct op_call *call);
void m0plus_depthwise_k5(const struct op_call *call);
void m0plus_depthwise_k7(const struct op_call *call);
void m0plus_add(const struct op_call *call);
void m0plus_segment(const struct op_call *call);
bool m0plus_segment_sound(const struct op_record *record, const struct tensor_record *tensors,
                          const int8_t *constants);

#endif
