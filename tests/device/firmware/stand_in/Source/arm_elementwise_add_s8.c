/* SPDX-License-Identifier: Apache-2.0 */
#include "arm_nnfunctions.h"

arm_cmsis_nn_status arm_elementwise_add_s8(
    const int8_t *one, const int8_t *other, int32_t offset_1, int32_t mult_1, int32_t shift_1,
    int32_t offset_2, int32_t mult_2, int32_t shift_2, int32_t left_shift, int8_t *output,
    int32_t out_offset, int32_t out_mult, int32_t out_shift, int32_t min, int32_t max, int32_t size)
{
#ifdef __ARM_FEATURE_DSP
    enum { STEP = 4 };
#else
    enum { STEP = 1 };
#endif
    for (int32_t first = 0; first < size; first += STEP) {
        int8_t made[STEP];
        const int32_t end = first + STEP < size ? first + STEP : size;
        for (int32_t i = first; i < end; i++) {
            const int32_t a = (int32_t)((uint32_t)(one[i] + offset_1) << left_shift);
            const int32_t b = (int32_t)((uint32_t)(other[i] + offset_2) << left_shift);
            const int32_t sum = (uint32_t)arm_stand_in_requantize(a, mult_1, shift_1) +
                                (uint32_t)arm_stand_in_requantize(b, mult_2, shift_2);
            made[i - first] = clamped(arm_stand_in_requantize(sum, out_mult, out_shift) + out_offset,
                                      (cmsis_nn_activation){min, max});
        }
        for (int32_t i = first; i < end; i++) {
            output[i] = made[i - first];
        }
    }
    return ARM_CMSIS_NN_SUCCESS;
}
