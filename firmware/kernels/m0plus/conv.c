/* SPDX-License-Identifier: Apache-2.0 */
/* int8 convolution for the Cortex-M0+: any kernel size, stride, dilation and padding, by rows,
 * gather.
 *
 * A step makes call->step_pixels consecutive pixels, over the ends of rows; the last step what is
 * left. Its receptive fields are copied to scratch, padding as the input's zero point, two pixels
 * to a word, before its first write. Then for each channel, in ascending order, the weights are
 * spread to words and go once over all of the step's pixels, which are written in ascending order.
 * Each output byte is written once and nothing else in the arena.
 *
 * Packed constants: a packed_channel for each channel, then for each channel the groups that
 * m0plus_conv_expand reads. Scratch: columns, the stream of one channel, a run of padding. */
#include "kernels/m0plus/conv_sweep.h"
#include "kernels/m0plus/m0plus.h"

#ifdef __arm__

typedef int32_t __attribute__((may_alias)) word;

/* Scratch of a call. */
struct room {
    int32_t *columns;
    uint32_t *stream;
    int8_t *padding;
};

ALWAYS_INLINE int32_t least(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

ALWAYS_INLINE struct room room_of(const struct op_call *call)
{
    const int32_t taps = call->k_h * call->k_w * call->c_in;
    const int32_t quads = (call->step_pixels + QUAD - 1) / QUAD;
    word *const first = (word *)(void *)call->scratch;
    word *const stream = first + 2 * quads * taps;
    return (struct room){(int32_t *)first, (uint32_t *)stream, (int8_t *)(stream + 2 * taps + 1)};
}

/* Output pixels, as the positions of the first tap of each in the input. */
struct pixel {
    int32_t column;                           /* of the output */
    int32_t y, x;
};

ALWAYS_INLINE void next_pixel(const struct op_call *call, struct pixel *pixel)
{
    pixel->column++;
    pixel->x += call->s_w;
    if (pixel->column == call->w_out) {
        pixel->column = 0;
        pixel->x = -call->pad_left;
        pixel->y += call->s_h;
    }
}

/* Four pixels; there may be fewer, and padding then stands for the others. */
struct quad {
    struct pixel pixels[QUAD];
    int32_t count;
    bool inside;                              /* no tap falls beside the image, left or right */
};

ALWAYS_INLINE bool is_inside(int32_t at, int32_t size)
{
    return (uint32_t)at < (uint32_t)size;
}

/* A row of taps of each pixel, whole where they lie next to each other, or one of its columns. */
ALWAYS_INLINE void find_taps(const struct op_call *call, const struct quad *quad, int32_t k_y,
                             int32_t k_x, const int8_t *padding, const int8_t *taps[QUAD])
{
#pragma GCC unroll 4
    for (int32_t n = 0; n < QUAD; n++) {
        const struct pixel *const pixel = &quad->pixels[n];
        const int32_t y = pixel->y + k_y * call->d_h;
        const int32_t x = pixel->x + k_x * call->d_w;
        const bool real =
            n < quad->count && is_inside(y, call->h_in) && is_inside(x, call->w_in);
        taps[n] = real ? call->input + (y * call->w_in + x) * call->c_in : padding;
    }
}

RAM_CODE("m0plus_conv_gather_quad")
static int32_t *gather_quad(const struct op_call *call, const struct quad *quad,
                            const int8_t *padding, int32_t *to)
{
    const bool whole = quad->inside && (call->d_w == 1 || call->k_w == 1);
    const int32_t runs = whole ? 1 : call->k_w;
    const int32_t run_bytes = whole ? call->k_w * call->c_in : call->c_in;
    for (int32_t k_y = 0; k_y < call->k_h; k_y++) {
        for (int32_t k_x = 0; k_x < runs; k_x++) {
            const int8_t *taps[QUAD];
            find_taps(call, quad, k_y, k_x, padding, taps);
            to = m0plus_conv_gather(taps, run_bytes, to);
        }
    }
    return to;
}

/* The fields of `count` pixels to columns; `pixel` moves behind them. */
RAM_CODE("m0plus_conv_gather_step")
static int32_t *gather_step(const struct op_call *call, struct pixel *pixel, int32_t count,
                            const struct room *room)
{
    const int32_t last_x = call->w_in - ((call->k_w - 1) * call->d_w + 1);
    int32_t *to = room->columns;
    for (int32_t left = count; left > 0; left -= QUAD) {
        struct quad quad = {.count = least(left, QUAD), .inside = true};
        for (int32_t n = 0; n < quad.count; n++) {
            quad.pixels[n] = *pixel;
            quad.inside &= pixel->x >= 0 && pixel->x <= last_x;
            next_pixel(call, pixel);
        }
        to = gather_quad(call, &quad, room->padding, to);
    }
    return to;
}

/* Of a step: its columns, how many whole quads they begin with, the pixels after these. */
struct step {
    const int32_t *columns, *whole_end, *end;
    int32_t whole_bytes, rest;                /* whole_bytes: of the output */
};

/* The pixels behind the last whole quad go by way of four bytes, since the sweep makes four. */
ALWAYS_INLINE void sweep_rest(struct sweep *sweep, const struct step *step, int8_t *output,
                              int32_t pixel_bytes)
{
    int8_t last[QUAD];
    sweep->output = last;
    sweep->pixel_bytes = 1;
    sweep->column = step->whole_end;
    sweep->columns_end = step->end;
    m0plus_conv_sweep(sweep);
    for (int32_t n = 0; n < step->rest; n++) {
        *output = last[n];
        output += pixel_bytes;
    }
}

ALWAYS_INLINE void sweep_channel(struct sweep *sweep, const struct step *step, int8_t *output,
                                 int32_t pixel_bytes)
{
    if (step->whole_end != step->columns) {
        sweep->output = output;
        sweep->pixel_bytes = pixel_bytes;
        sweep->column = step->columns;
        sweep->columns_end = step->whole_end;
        m0plus_conv_sweep(sweep);
    }
    if (step->rest != 0) {
        sweep_rest(sweep, step, output + step->whole_bytes, pixel_bytes);
    }
}

ALWAYS_INLINE struct step step_of(const struct op_call *call, const int32_t *columns,
                                  const int32_t *end, int32_t count)
{
    const int32_t quad_words = 2 * call->k_h * call->k_w * call->c_in;
    const int32_t rest = count % QUAD;
    return (struct step){
        .columns = columns,
        .whole_end = rest == 0 ? end : end - quad_words,
        .end = end,
        .whole_bytes = (count - rest) * call->c_out,
        .rest = rest,
    };
}

RAM_CODE("m0plus_conv")
void m0plus_conv(const struct op_call *call)
{
    const struct room room = room_of(call);
    const struct packed_channel *const channels = packed_channels(call);
    const int32_t pixels = call->h_out * call->w_out;
    struct pixel pixel = {0, -call->pad_top, -call->pad_left};
    struct sweep sweep = {.stream = room.stream, .exact = exact_of(call)};
    int8_t *output = call->output;
    for (int32_t n = 0; n < call->k_w * call->c_in; n++) {
        room.padding[n] = (int8_t)call->input_zero_point;
    }
    for (int32_t done = 0; done < pixels; done += call->step_pixels) {
        const int32_t count = least(call->step_pixels, pixels - done);
        const int32_t *const end = gather_step(call, &pixel, count, &room);
        const struct step step = step_of(call, room.columns, end, count);
        const int8_t *packed = (const int8_t *)(channels + call->c_out);
        for (int32_t channel = 0; channel < call->c_out; channel++) {
            set_sweep(&sweep, &channels[channel], &call->quants[channel]);
            packed = m0plus_conv_expand(packed, room.stream);
            sweep_channel(&sweep, &step, output + channel, call->c_out);
        }
        output += count * call->c_out;
    }
}

#endif
