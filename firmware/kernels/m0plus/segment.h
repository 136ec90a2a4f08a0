/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of m0plus_segment, each a row at a time. */
#ifndef KERNELS_M0PLUS_SEGMENT_H
#define KERNELS_M0PLUS_SEGMENT_H

#include <stddef.h>

#include "kernels/m0plus/guarded.h"
#include "kernels/plain/segment_rows.h"

enum {
    PLANE_BIAS = 128,                         /* planes of a ring hold scalars plus this, as bytes */
    COLUMN_BYTES = 8,                         /* of a tap of four pixels in columns (conv_sweep.S) */
    KEPT_QUANT_WORDS = 2,
};

typedef int32_t __attribute__((may_alias)) word;

/* What a stage adds to the scalars that it stores. */
ALWAYS_INLINE int32_t output_bias(const struct stage *stage)
{
    return !stage->parked && stage->output.channel_step != 1 ? PLANE_BIAS : 0;
}

/* struct scale's, with 24 bits of fraction, modulo 2^32. */
ALWAYS_INLINE int32_t biased_offset(int32_t offset, int32_t bias)
{
    return (int32_t)((uint32_t)offset + ((uint32_t)bias << 24));
}

/* What is the same for all channels of a stage. */
ALWAYS_INLINE struct exact exact_of_stage(const struct stage *stage)
{
    const int32_t zero_point = stage->output_zero_point + output_bias(stage);
    return (struct exact){
        .zero_point = zero_point,
        .activation_min = stage->low + zero_point,
        .activation_max = stage->high + zero_point,
    };
}

/* Packed constants begin with a record for each output channel. */
ALWAYS_INLINE const struct packed_channel *packed_channels_of(const struct stage *stage)
{
    return (const struct packed_channel *)(const void *)stage->weights;
}

/* Row y of what a stage makes. A parked one is not over the pixels of the row whose place it takes, but
 * begins where its padding does. */
ALWAYS_INLINE int8_t *row_of_planes(const struct segment *segment, int32_t number, int32_t y)
{
    const struct stage *const stage = &segment->stages[number];
    int8_t *const row = plain_segment_row(segment, number, y);
    return stage->parked ? row - segment->stages[number - 1].output.before : row;
}

/* Of a convolution: words of the longest stream of its channels. The streams of the first `kept`
 * channels last from row to row, each behind the other; packed: the groups of the others. */
struct streams {
    uint32_t *first;
    const int8_t *packed;
    uint16_t words;
    uint16_t kept;
};

/* What lasts from row to row of a stage. Of the last `quants_kept` channels multiplier and shift, which
 * is what m0plus_exact reads of a quantisation, are at `quants`. gathered: the depthwise stage before it
 * writes its columns, all of a row at the start of the scratch. */
struct constants {
    word *quants;
    uint16_t quants_kept;
    bool gathered;
    struct streams streams;
};

/* The assembler makes an address of a struct quant_record of it, by channels from its end. */
ALWAYS_INLINE const word *kept_quants_end(const struct constants *constants)
{
    const int32_t bias_words = offsetof(struct quant_record, multiplier) / sizeof(word);
    return constants->quants + KEPT_QUANT_WORDS * constants->quants_kept - bias_words;
}

/* Bytes of scratch that a row of a convolution takes: kernels.yaml. */
uint32_t m0plus_segment_scratch(const struct stage *stage);

/* The rest of the constants of a convolution, with as many streams kept as fit from `at` to `end`; to
 * where they end. */
uint8_t *m0plus_segment_streams(const struct segment *segment, int32_t number,
                                struct constants *constants, uint8_t *at, const uint8_t *end);

/* The next row of a stage. */
void m0plus_segment_conv(const struct segment *segment, int32_t number, uint8_t *scratch,
                         const struct constants *constants);
/* columns: of the next stage, or NULL. */
void m0plus_segment_depthwise(const struct segment *segment, int32_t number,
                              const struct constants *constants, uint8_t *columns);
void m0plus_segment_add(const struct segment *segment, int32_t number);

#endif
