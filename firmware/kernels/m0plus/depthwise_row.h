/* SPDX-License-Identifier: Apache-2.0 */
/* depthwise_row.S and depthwise_load.S: rows of one channel. */
#ifndef KERNELS_M0PLUS_DEPTHWISE_ROW_H
#define KERNELS_M0PLUS_DEPTHWISE_ROW_H

#include <stddef.h>

#include "kernels/m0plus/guarded.h"

enum { TILE = 4, K_MAX = 7, NO_TILE = -1 };

/* depthwise_row.S knows the offsets. output: of the fourth pixel from here. partial, last: bytes
 * from a ring row's start to the tile that is not full, or none, and to the last one. With `left`
 * over 1 more output rows follow this one, for each of which s_h more input rows are loaded. */
struct row {
    int32_t start;
    const int32_t *weights;
    int32_t odd_taps;                         /* from the end of the even ones, in bytes */
    uint32_t entry;
    int32_t pixel_bytes;
    struct scale scale;
    int8_t *output;
    int32_t partial, last;
    int32_t columns;                          /* of the tile that is not full */
    int32_t low_value, high_value;
    struct exact exact;
    int32_t *const *rows;
    int32_t left;
    int32_t output_step;                      /* from the end of the last tile to the next row */
    const int8_t *from;                       /* the next input row */
    int32_t input_row_bytes;
    int32_t first[2];                         /* bytes from a ring row's start to columns 0 and 1 */
    int32_t input_columns;                    /* of the image, those that have a tap */
    int32_t *to[2];                           /* of the assembler */
};

_Static_assert(offsetof(struct row, pixel_bytes) == 16, "ROW_PIXEL_BYTES");
_Static_assert(offsetof(struct row, output) == 36, "ROW_OUTPUT");
_Static_assert(offsetof(struct row, columns) == 48, "ROW_COLUMNS");
_Static_assert(offsetof(struct row, exact) == 60, "ROW_EXACT");
_Static_assert(offsetof(struct row, rows) == 80, "ROW_LIST");
_Static_assert(offsetof(struct row, from) == 92, "ROW_FROM");
_Static_assert(offsetof(struct row, first) == 100, "ROW_FIRST");
_Static_assert(offsetof(struct row, to) == 112, "ROW_TO");

#define ROW_FUNCTION(name)       \
    void name(struct row *row); \
    extern const uint32_t name##_entries[]

ROW_FUNCTION(m0plus_depthwise_k3_s1);
ROW_FUNCTION(m0plus_depthwise_k5_s1);
ROW_FUNCTION(m0plus_depthwise_k7_s1);
ROW_FUNCTION(m0plus_depthwise_k3_s2);
ROW_FUNCTION(m0plus_depthwise_k5_s2);
ROW_FUNCTION(m0plus_depthwise_k7_s2);
void m0plus_depthwise_load(const int8_t *from, int32_t step, int32_t *to, int32_t *to_end);
void m0plus_depthwise_load_2(const int8_t *from, int32_t step, int32_t *const to[2],
                             int32_t count);

struct row_function {
    void (*run)(struct row *row);
    const uint32_t *entries;                  /* by rows of taps that are left out, 0 to k */
    const uint8_t *order;                     /* of the taps of a row */
};

/* As depthwise_row.S goes. */
static const uint8_t order_k3_s1[] = {0, 1, 2};
static const uint8_t order_k5_s1[] = {0, 4, 1, 2, 3};
static const uint8_t order_k7_s1[] = {0, 4, 1, 5, 2, 6, 3};
static const uint8_t order_k3_s2[] = {0, 2, 1};
static const uint8_t order_k5_s2[] = {0, 2, 4, 1, 3};
static const uint8_t order_k7_s2[] = {0, 2, 4, 6, 1, 3, 5};

#define ROW_FUNCTION_OF(name) \
    {m0plus_depthwise_##name, m0plus_depthwise_##name##_entries, order_##name}
/* Of strides 1 and 2. */
static const struct row_function functions_k3[2] = {ROW_FUNCTION_OF(k3_s1), ROW_FUNCTION_OF(k3_s2)};
static const struct row_function functions_k5[2] = {ROW_FUNCTION_OF(k5_s1), ROW_FUNCTION_OF(k5_s2)};
static const struct row_function functions_k7[2] = {ROW_FUNCTION_OF(k7_s1), ROW_FUNCTION_OF(k7_s2)};

#endif
