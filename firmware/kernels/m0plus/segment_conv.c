/* SPDX-License-Identifier: Apache-2.0 */
/* A row of a convolution inside a segment. Scratch: columns of the row's quads, or of as many as there
 * is room for beside the stream of one channel; then, of all stages, what lasts from row to row. */
#include <stddef.h>

#include "kernels/m0plus/conv_sweep.h"
#include "kernels/m0plus/segment.h"

#ifdef __arm__

enum { RUN_MAX = 64 };                        /* of padding: k_w * c_in of kernels.yaml */

/* segment_sweep.S knows the offsets. next_output: of the channel that is set up next; kept: its stream,
 * if kept_left is not 0, else its groups are `packed` and become a stream in `room`. stream_end: the word
 * behind a stream, and next_quad: the same form's code. rest: pixels behind the last whole quad, columns
 * up to rest_end. */
struct channels {
    const uint32_t *stream;                   /* this, up to scale, of the assembler */
    int32_t start_low, start_high;
    int8_t *output;
    struct scale scale;
    const int32_t *columns_end;
    uint32_t low_high;                        /* of the assembler */
    struct exact exact;
    int32_t pixel_step;
    const int32_t *columns;
    const struct packed_channel *channel;
    int32_t left;                             /* channels, with this one */
    int8_t *next_output;
    int32_t channel_step;
    uint32_t offset_bias;
    const uint32_t *kept;
    int32_t kept_left, kept_step;
    const int8_t *packed;
    uint32_t *room;
    uint32_t stream_end;
    void (*next_quad)(void);
    const struct quant_record *quants_end;
    int32_t rest;
    const int32_t *whole_end, *rest_end;
    int32_t stored_step;
    uint32_t last;                            /* of the assembler */
    int8_t *rest_output;
    int32_t quants_kept;
    const word *kept_quants_end;
    uint32_t reserved[2];
};

_Static_assert(offsetof(struct channels, output) == 12, "OUTPUT");
_Static_assert(offsetof(struct channels, columns_end) == 32, "COLUMNS_END");
_Static_assert(offsetof(struct channels, exact) == 40, "EXACT");
_Static_assert(offsetof(struct channels, pixel_step) == 60, "PIXEL_STEP");
_Static_assert(offsetof(struct channels, kept) == 88, "KEPT");
_Static_assert(offsetof(struct channels, quants_end) == 116, "QUANTS_END");
_Static_assert(offsetof(struct channels, stored_step) == 132, "STORED_STEP");
_Static_assert(offsetof(struct channels, quants_kept) == 144, "QUANTS_KEPT");
_Static_assert(sizeof(struct channels) == 160, "FRAME");
_Static_assert(sizeof(struct quant_record) == 12, "QUANT_BYTES");

void m0plus_segment_planes_next(void);
void m0plus_segment_planes_end(void);
void m0plus_segment_pixels_next(void);
void m0plus_segment_pixels_end(void);
const int8_t *m0plus_segment_expand(const int8_t *packed, uint32_t *stream, uint32_t end);
int32_t *m0plus_segment_gather_planes(const int8_t *from, int32_t channel_step, int32_t count,
                                      int32_t *to);

ALWAYS_INLINE int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

ALWAYS_INLINE int32_t taps_of(const struct stage *stage)
{
    return stage->k_h * stage->k_w * stage->c_in;
}

RAM_CODE("m0plus_segment_scratch")
uint32_t m0plus_segment_scratch(const struct stage *stage)
{
    const uint32_t quad_bytes = 8 * (uint32_t)taps_of(stage);
    const uint32_t quads = (uint32_t)(stage->w_out + QUAD - 1) / QUAD;
    return quads == 1 ? 2 * quad_bytes + sizeof(uint32_t) : (quads + 1) * quad_bytes;
}

/* The word behind a stream. */
ALWAYS_INLINE uint32_t end_of(const struct stage *stage)
{
    return (uint32_t)(uintptr_t)(output_bias(stage) != 0 ? m0plus_segment_planes_end
                                                         : m0plus_segment_pixels_end);
}

ALWAYS_INLINE int32_t longest_stream(const struct stage *stage)
{
    const int8_t *packed = (const int8_t *)(packed_channels_of(stage) + stage->c_out);
    int32_t most = 0;
    for (int32_t channel = 0; channel < stage->c_out; channel++) {
        int32_t words = 1;
        for (int32_t size = *packed++; size != 0; size = *packed++) {
            words += 1 + size;
            packed += size;
        }
        most = words > most ? words : most;
    }
    return most;
}

ALWAYS_INLINE int32_t quads_of(const struct stage *stage)
{
    return (stage->w_out + QUAD - 1) / QUAD;
}

/* Quads that have room at once. kernels.yaml: beside a row's columns there is room for two words a
 * tap, and beside a single quad's for one more; a stream of nothing but single taps is one word
 * longer. */
ALWAYS_INLINE int32_t quads_at_once(const struct stage *stage, int32_t stream_words)
{
    const int32_t quads = quads_of(stage);
    return quads > 1 && stream_words > 2 * taps_of(stage) ? quads - 1 : quads;
}

RAM_CODE("m0plus_segment_streams")
uint8_t *m0plus_segment_streams(const struct segment *segment, int32_t number,
                                struct constants *constants, uint8_t *at, const uint8_t *end)
{
    const struct stage *const stage = &segment->stages[number];
    const int8_t *packed = (const int8_t *)(packed_channels_of(stage) + stage->c_out);
    uint32_t *const first = (uint32_t *)(word *)(void *)at;
    const int32_t words = longest_stream(stage);
    const int32_t bytes = words * (int32_t)sizeof(uint32_t);
    int32_t kept = 0;
    for (; kept < stage->c_out && end - at >= bytes; kept++, at += bytes) {
        packed = m0plus_segment_expand(packed, (uint32_t *)(word *)(void *)at, end_of(stage));
    }
    constants->streams = (struct streams){first, packed, (uint16_t)words, (uint16_t)kept};
    constants->gathered = segment->stages[number - 1].parked &&
                          quads_at_once(stage, words) == quads_of(stage);
    return at;
}

/* A row of the fields of four pixels, of which the first tap of the first one is column x: real where
 * the source has them. */
struct field {
    const int8_t *row;                        /* NULL: above or below the source */
    int32_t x;
};

ALWAYS_INLINE int32_t *gather_pixels(const struct stage *stage, const struct rows *source,
                                     struct field field, const int8_t *padding, int32_t *to)
{
    const int32_t last_x = field.x + (QUAD - 1) * stage->s_w + stage->k_w;
    const bool whole = field.row == NULL || (field.x >= 0 && last_x <= stage->w_in);
    const int32_t runs = whole ? 1 : stage->k_w;
    const int32_t bytes = whole ? stage->k_w * stage->c_in : stage->c_in;
    for (int32_t run = 0; run < runs; run++) {
        const int8_t *taps[QUAD];
        int32_t x = field.x + run;
#pragma GCC unroll 4
        for (int32_t n = 0; n < QUAD; n++) {
            const bool real = field.row != NULL && (uint32_t)x < (uint32_t)stage->w_in;
            taps[n] = real ? field.row + x * source->pixel_step : padding;
            x += stage->s_w;
        }
        to = m0plus_conv_gather(taps, bytes, to);
    }
    return to;
}

/* The fields of `quads` quads from pixel `column` on, to columns. */
RAM_CODE("m0plus_segment_gather")
static void gather(const struct segment *segment, int32_t number, int32_t column, int32_t quads,
                   const int8_t *padding, int32_t *to)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const source = &segment->stages[number - 1].output;
    const int32_t top = stage->output.made * stage->s_h - stage->pad_top;
    if (source->channel_step != 1) {
        const int8_t *from = row_of_planes(segment, number - 1, top) + column;
        for (; quads > 0; quads--, from += QUAD) {
            to = m0plus_segment_gather_planes(from, source->channel_step, stage->c_in, to);
        }
        return;
    }
    struct field field = {.x = column * stage->s_w - stage->pad_left};
    for (; quads > 0; quads--, field.x += QUAD * stage->s_w) {
        for (int32_t y = top; y < top + stage->k_h; y++) {
            const bool real = (uint32_t)y < (uint32_t)stage->h_in;
            field.row = real ? plain_segment_row(segment, number - 1, y) : NULL;
            to = gather_pixels(stage, source, field, padding, to);
        }
    }
}

/* Pixels of a row that are swept together: columns, up to whole_end of whole quads, and the pixels
 * behind these. room: for a stream. */
struct part {
    const struct stage *stage;
    const struct constants *constants;
    const int32_t *columns, *whole_end, *end;
    int32_t rest;
    uint32_t *room;
    int8_t *output;
};

void m0plus_segment_sweep(const struct part *part);

/* Called by the assembler, on whose stack the channels lie. */
void m0plus_segment_set_channels(struct channels *channels, const struct part *part);

RAM_CODE("m0plus_segment_set_channels")
void m0plus_segment_set_channels(struct channels *channels, const struct part *part)
{
    const struct stage *const stage = part->stage;
    const struct streams *const streams = &part->constants->streams;
    const bool planes = output_bias(stage) != 0;
    channels->columns_end = part->whole_end;
    channels->exact = exact_of_stage(stage);
    channels->pixel_step = stage->output.pixel_step;
    channels->columns = part->columns;
    channels->channel = packed_channels_of(stage);
    channels->left = stage->c_out;
    channels->next_output = part->output;
    channels->channel_step = stage->output.channel_step;
    channels->offset_bias = planes ? (uint32_t)PLANE_BIAS << 24 : 0;
    channels->kept = streams->first;
    channels->kept_left = streams->kept;
    channels->kept_step = streams->words * (int32_t)sizeof(uint32_t);
    channels->packed = streams->packed;
    channels->room = part->room;
    channels->stream_end = end_of(stage);
    channels->next_quad = planes ? m0plus_segment_planes_next : m0plus_segment_pixels_next;
    channels->quants_end = stage->quants + stage->c_out;
    channels->rest = part->rest;
    channels->whole_end = part->whole_end;
    channels->rest_end = part->end;
    channels->stored_step = stage->output.pixel_step;
    channels->quants_kept = part->constants->quants_kept;
    channels->kept_quants_end = kept_quants_end(part->constants);
}

RAM_CODE("m0plus_segment_conv")
void m0plus_segment_conv(const struct segment *segment, int32_t number, uint8_t *scratch,
                         const struct constants *constants)
{
    const struct stage *const stage = &segment->stages[number];
    const int32_t quad_words = 2 * taps_of(stage);
    const int32_t at_once = quads_at_once(stage, constants->streams.words);
    int32_t *const columns = (int32_t *)(word *)(void *)scratch;
    int8_t *output = plain_segment_row(segment, number, stage->output.made);
    int8_t padding[RUN_MAX];
    if (taps_of(stage) != stage->c_in) {
        for (int32_t n = 0; n < stage->k_w * stage->c_in; n++) {
            padding[n] = (int8_t)stage->input_zero_point;
        }
    }
    for (int32_t column = 0; column < stage->w_out; column += at_once * QUAD) {
        const int32_t count = least(stage->w_out - column, at_once * QUAD);
        const int32_t rest = count % QUAD;
        const int32_t quads = (count + QUAD - 1) / QUAD;
        const int32_t *const end = columns + quads * quad_words;
        const struct part part = {
            .stage = stage,
            .constants = constants,
            .columns = columns,
            .whole_end = rest == 0 ? end : end - quad_words,
            .end = end,
            .rest = rest,
            .room = (uint32_t *)(word *)(columns + quads * quad_words),
            .output = output + column * stage->output.pixel_step,
        };
        if (!constants->gathered) {
            gather(segment, number, column, quads, padding, columns);
        }
        m0plus_segment_sweep(&part);
    }
}

#endif
