/* SPDX-License-Identifier: Apache-2.0 */
/* A row of a convolution inside a segment. Scratch: columns of the row's quads, or of as many as there
 * is room for beside the stream of one channel; then the streams that last. */
#include "kernels/m0plus/conv_sweep.h"
#include "kernels/m0plus/segment.h"

#ifdef __arm__

typedef int32_t __attribute__((may_alias)) word;

enum { RUN_MAX = 64 };                        /* of padding: k_w * c_in of kernels.yaml */

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

RAM_CODE("m0plus_segment_streams")
struct streams m0plus_segment_streams(const struct stage *stage, uint8_t *at, const uint8_t *end)
{
    struct streams streams = {
        .words = longest_stream(stage),
        .first = (uint32_t *)(word *)(void *)at,
        .packed = (const int8_t *)(packed_channels_of(stage) + stage->c_out),
    };
    const int32_t bytes = streams.words * (int32_t)sizeof(uint32_t);
    for (; streams.kept < stage->c_out && end - at >= bytes; streams.kept++, at += bytes) {
        streams.packed = m0plus_conv_expand(streams.packed, (uint32_t *)(word *)(void *)at);
    }
    return streams;
}

/* Quads that have room at once. kernels.yaml: beside a row's columns there is room for two words a
 * tap, and beside a single quad's for one more; a stream of nothing but single taps is one word
 * longer. */
ALWAYS_INLINE int32_t quads_at_once(const struct stage *stage, int32_t stream_words)
{
    const int32_t quads = (stage->w_out + QUAD - 1) / QUAD;
    return quads > 1 && stream_words > 2 * taps_of(stage) ? quads - 1 : quads;
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
static const int32_t *gather(const struct segment *segment, int32_t number, int32_t column,
                             int32_t quads, const int8_t *padding, int32_t *to)
{
    const struct stage *const stage = &segment->stages[number];
    const struct rows *const source = &segment->stages[number - 1].output;
    const int32_t top = stage->output.made * stage->s_h - stage->pad_top;
    if (source->channel_step != 1) {
        const int8_t *from = row_of_planes(segment, number - 1, top) + column;
        for (; quads > 0; quads--, from += QUAD) {
            to = m0plus_segment_gather_planes(from, source->channel_step, stage->c_in, to);
        }
        return to;
    }
    struct field field = {.x = column * stage->s_w - stage->pad_left};
    for (; quads > 0; quads--, field.x += QUAD * stage->s_w) {
        for (int32_t y = top; y < top + stage->k_h; y++) {
            const bool real = (uint32_t)y < (uint32_t)stage->h_in;
            field.row = real ? plain_segment_row(segment, number - 1, y) : NULL;
            to = gather_pixels(stage, source, field, padding, to);
        }
    }
    return to;
}

/* Pixels that are swept together: columns, and how many they are. */
struct part {
    const int32_t *columns, *whole_end, *end;
    int32_t whole, rest;
};

/* The pixels behind the last whole quad go by way of four bytes, since the sweep makes four. */
ALWAYS_INLINE void sweep_rest(struct sweep *sweep, const struct part *part, int8_t *output,
                              int32_t pixel_step)
{
    int8_t last[QUAD];
    sweep->output = last;
    sweep->pixel_bytes = 1;
    sweep->column = part->whole_end;
    sweep->columns_end = part->end;
    m0plus_conv_sweep(sweep);
    sweep->pixel_bytes = pixel_step;
    sweep->column = part->columns;
    sweep->columns_end = part->whole_end;
    output += part->whole * pixel_step;
    for (int32_t n = 0; n < part->rest; n++) {
        *output = last[n];
        output += pixel_step;
    }
}

RAM_CODE("m0plus_segment_channels")
static void make_channels(const struct stage *stage, const struct part *part,
                          const struct streams *streams, uint32_t *stream, int8_t *output)
{
    const struct packed_channel *channel = packed_channels_of(stage);
    const struct quant_record *quant = stage->quants;
    const int32_t bias = output_bias(stage);
    const int32_t pixel_step = stage->output.pixel_step;
    const int32_t channel_step = stage->output.channel_step;
    const int8_t *packed = streams->packed;
    const uint32_t *kept = streams->first;
    const uint32_t *const kept_end = kept + streams->kept * streams->words;
    struct sweep sweep;
    sweep.pixel_bytes = pixel_step;
    sweep.column = part->columns;
    sweep.columns_end = part->whole_end;
    sweep.exact = exact_of_stage(stage);
    for (int32_t left = stage->c_out; left > 0; left--) {
        set_sweep(&sweep, channel++, quant++);
        sweep.scale.offset = biased_offset(sweep.scale.offset, bias);
        sweep.low_value += bias;
        sweep.high_value += bias;
        sweep.stream = kept;
        if (kept != kept_end) {
            kept += streams->words;
        } else {
            packed = m0plus_conv_expand(packed, stream);
            sweep.stream = stream;
        }
        sweep.output = output;
        if (part->whole != 0) {
            m0plus_conv_sweep(&sweep);
        }
        if (part->rest != 0) {
            sweep_rest(&sweep, part, output, pixel_step);
        }
        output += channel_step;
    }
}

RAM_CODE("m0plus_segment_conv")
void m0plus_segment_conv(const struct segment *segment, int32_t number, uint8_t *scratch,
                         const struct streams *streams)
{
    const struct stage *const stage = &segment->stages[number];
    const int32_t quad_words = 2 * taps_of(stage);
    const int32_t at_once = quads_at_once(stage, streams->words);
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
        const int32_t *const end = gather(segment, number, column, quads, padding, columns);
        const struct part part = {
            .columns = columns,
            .whole_end = rest == 0 ? end : end - quad_words,
            .end = end,
            .whole = count - rest,
            .rest = rest,
        };
        uint32_t *const stream = (uint32_t *)(word *)(columns + quads * quad_words);
        make_channels(stage, &part, streams, stream, output + column * stage->output.pixel_step);
    }
}

#endif
