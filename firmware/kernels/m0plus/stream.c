/* SPDX-License-Identifier: Apache-2.0 */
/* The packed constants of m0plus_conv, looked through before a run: its assembler believes them. */
#include "kernels/m0plus/guarded.h"
#include "kernels/m0plus/m0plus.h"

enum { GROUP_MAX = 16 };                      /* of conv_sweep.S */

/* A channel's groups have 1 to GROUP_MAX taps each and all taps together, then a 0, and none goes
 * beyond the constants: so the stream made of them is no longer than the scratch has for it. */
bool m0plus_conv_sound(const struct op_record *record, const struct tensor_record *tensors,
                       const int8_t *constants)
{
    const struct tensor_record *const in = &tensors[record->inputs[0]];
    const uint64_t taps = (uint64_t)record->k_h * record->k_w * in->c;
    const uint32_t channels = tensors[record->output].c;
    uint64_t at = (uint64_t)channels * sizeof(struct packed_channel);
    for (uint32_t channel = 0; channel < channels; channel++) {
        uint64_t left = taps;
        for (;;) {
            if (at >= record->weights_bytes) {
                return false;
            }
            const uint8_t size = (uint8_t)constants[at];
            at++;
            if (size == 0) {
                break;
            }
            if (size > GROUP_MAX || size > left) {
                return false;
            }
            left -= size;
            at += size;
        }
        if (left != 0) {
            return false;
        }
    }
    return true;
}
