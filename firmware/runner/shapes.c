/* SPDX-License-Identifier: Apache-2.0 */
#include "runner/shapes.h"

#include <stdbool.h>
#include <stddef.h>

#include "runner/kernels.h"

enum {
    TABLE_ENTRIES = 256,
    SOFTMAX_CHANNELS_MAX = 4095               /* more that are equal would overflow the sum */
};

/* An op with its first operand and its output. */
struct view {
    const struct op_record *op;
    const struct pack_case *found;
    const struct tensor_record *in, *out;
    const struct op_record *whole;            /* that runs: of a stage its segment */
};

/* An output's extents, wide enough that no record can overflow them; -1: there is none. */
struct extents {
    int64_t h, w, c;
};

static const struct tensor_record *operand(const struct view *view, uint32_t number)
{
    return &view->found->tensors[view->op->inputs[number]];
}

/* Output rows or columns; -1 for a kernel that does not fit even once. */
static int64_t output_size(uint32_t input, uint32_t before, uint32_t after, uint32_t kernel,
                           uint32_t stride, uint32_t dilation)
{
    const int64_t reach = (int64_t)dilation * (kernel - 1) + 1;
    const int64_t room = (int64_t)input + before + after - reach;
    return room < 0 ? -1 : room / stride + 1;
}

static bool is_window(uint32_t kind)
{
    return kind == OP_KIND_CONV || kind == OP_KIND_DEPTHWISE || kind == OP_KIND_AVERAGE_POOL ||
           kind == OP_KIND_MAX_POOL;
}

static bool window_is_sound(const struct view *view)
{
    const struct op_record *const op = view->op;
    const struct tensor_record *const in = view->in;
    if (op->k_h == 0 || op->k_w == 0 || op->s_h == 0 || op->s_w == 0 || op->d_h == 0 ||
        op->d_w == 0) {
        return false;
    }
    /* Kernels compute the offsets of taps in padding, too: those have to fit 32 bits. */
    const int64_t span_h = (int64_t)in->h + op->pad_top + op->pad_bottom + op->d_h;
    const int64_t span_w = (int64_t)in->w + op->pad_left + op->pad_right + op->d_w;
    return (span_h * (in->w + op->d_w) + span_h + span_w) * in->c <= INT32_MAX;
}

static bool has_padding(const struct tensor_record *tensor)
{
    return (tensor->pad_top | tensor->pad_left | tensor->pad_bottom | tensor->pad_right) != 0;
}

/* A padded layout stores the padding that the op names with its input, and a dense one stores
 * none. */
static bool padding_agrees(const struct view *view)
{
    const struct op_record *const op = view->op;
    const struct tensor_record *const in = view->in;
    if (op->layout == LAYOUT_PADDED) {
        return in->pad_top == op->pad_top && in->pad_left == op->pad_left &&
               in->pad_bottom == op->pad_bottom && in->pad_right == op->pad_right;
    }
    return op->layout == LAYOUT_DENSE && !has_padding(in);
}

/* Along one axis: every window has a tap on the image, since a pool of no value is undefined. */
static bool every_window_has_a_tap(uint32_t input, uint32_t output, uint32_t before,
                                   uint32_t kernel, uint32_t stride, uint32_t dilation)
{
    for (uint32_t number = 0; number < output; number++) {
        const uint64_t start = (uint64_t)number * stride;
        const uint32_t padding = start < before ? before - (uint32_t)start : 0;
        const uint32_t tap = (padding + dilation - 1) / dilation;      /* the first behind it */
        if (tap >= kernel || start + (uint64_t)tap * dilation >= (uint64_t)before + input) {
            return false;
        }
    }
    return true;
}

/* What one kind asks for beyond the others. Mean and fully connected take all bytes for values. */
static bool kind_is_sound(const struct view *view)
{
    const struct op_record *const op = view->op;
    const struct tensor_record *const in = view->in;
    const struct tensor_record *const out = view->out;
    const bool stored = op->layout == LAYOUT_PADDED;
    switch (op->kind) {
    case OP_KIND_DEPTHWISE:
        return op->traversal != TRAVERSAL_CHANNEL || out->c == in->c;
    case OP_KIND_AVERAGE_POOL:
    case OP_KIND_MAX_POOL:
        return stored || (every_window_has_a_tap(in->h, out->h, op->pad_top, op->k_h, op->s_h,
                                                 op->d_h) &&
                          every_window_has_a_tap(in->w, out->w, op->pad_left, op->k_w, op->s_w,
                                                 op->d_w));
    case OP_KIND_MEAN:
    case OP_KIND_FULLY_CONNECTED:
        return !has_padding(in);
    case OP_KIND_SOFTMAX:
        return op->output_zero_point == INT8_MIN;
    default:
        return true;
    }
}

/* Of a tensor inside a segment, which only stages may name, there are rows, wherever they lie. */
static bool by_rows(const struct view *view, const struct tensor_record *tensor)
{
    return tensor->stored_by == STORED_BY_ROW ||
           (view->whole != view->op && tensor->stored_by > STORED_BY_ORDER);
}

/* A herringbone's input is stored by a table of positions, a column's by columns, all others' by
 * rows. */
static bool storage_agrees(const struct view *view)
{
    const uint32_t traversal = view->op->traversal;
    const uint32_t expected = traversal == TRAVERSAL_HERRINGBONE ? STORED_BY_ORDER
                              : traversal == TRAVERSAL_COLUMN    ? STORED_BY_COLUMN
                                                                 : STORED_BY_ROW;
    return expected == STORED_BY_ROW ? by_rows(view, view->in)
                                     : view->in->stored_by == expected;
}

/* Ops that are no windows take their tensors for stored by rows. */
static bool stored_by_rows(const struct view *view)
{
    for (uint32_t number = 0; number < view->op->input_count; number++) {
        if (!by_rows(view, operand(view, number))) {
            return false;
        }
    }
    return by_rows(view, view->out);
}

static struct extents window_output(const struct view *view)
{
    const struct op_record *const op = view->op;
    const struct tensor_record *const in = view->in;
    const bool stored = op->layout == LAYOUT_PADDED;
    const int64_t own = view->out->c;
    const int64_t pool = in->c;
    const bool keeps = op->kind == OP_KIND_AVERAGE_POOL || op->kind == OP_KIND_MAX_POOL;
    const bool divides = op->kind != OP_KIND_DEPTHWISE || own % in->c == 0;
    return (struct extents){
        .h = output_size(in->h, stored ? 0 : op->pad_top, stored ? 0 : op->pad_bottom, op->k_h,
                         op->s_h, op->d_h),
        .w = output_size(in->w, stored ? 0 : op->pad_left, stored ? 0 : op->pad_right, op->k_w,
                         op->s_w, op->d_w),
        .c = keeps ? pool : divides ? own : -1,
    };
}

static struct extents concat_output(const struct view *view)
{
    struct extents sum = {view->in->h, view->in->w, 0};
    for (uint32_t number = 0; number < view->op->input_count; number++) {
        const struct tensor_record *const in = operand(view, number);
        sum.c += in->c;
        if (in->h != sum.h || in->w != sum.w) {
            sum.h = -1;
        }
    }
    return sum;
}

static struct extents output_of(const struct view *view)
{
    const struct op_record *const op = view->op;
    const struct tensor_record *const in = view->in;
    switch (op->kind) {
    case OP_KIND_MEAN:
        return (struct extents){1, 1, in->c};
    case OP_KIND_FULLY_CONNECTED:
        return (struct extents){1, 1, view->out->c};
    case OP_KIND_UPSAMPLE:
        return (struct extents){(int64_t)in->h * op->s_h, (int64_t)in->w * op->s_w, in->c};
    case OP_KIND_CONCAT:
        return concat_output(view);
    case OP_KIND_PAD:
        return (struct extents){(int64_t)in->h + op->pad_top + op->pad_bottom,
                                (int64_t)in->w + op->pad_left + op->pad_right, in->c};
    default:
        return is_window(op->kind) ? window_output(view)
                                   : (struct extents){in->h, in->w, in->c};
    }
}

/* The second operand of an element-wise op has the shape of the first, or is 1 x 1 x c. */
static bool second_fits(const struct view *view)
{
    const struct tensor_record *const second = operand(view, 1);
    const bool same = second->h == view->in->h && second->w == view->in->w;
    return second->c == view->in->c && (same || (second->h == 1 && second->w == 1));
}

static bool operands_fit(const struct view *view)
{
    const uint32_t count = view->op->input_count;
    switch (view->op->kind) {
    case OP_KIND_ADD:
    case OP_KIND_MUL:
        return count == 2 && second_fits(view);
    case OP_KIND_CONCAT:
        return count >= 1 && count <= OPERANDS_MAX;
    default:
        return count == 1;
    }
}

/* Bytes of weights and records of quantisation that the kind reads. */
struct constants {
    uint64_t weights;
    uint32_t quants;
};

static struct constants constants_of(const struct view *view)
{
    const struct op_record *const op = view->op;
    const uint64_t taps = (uint64_t)op->k_h * op->k_w;
    const uint32_t c_out = view->out->c;
    switch (op->kind) {
    case OP_KIND_CONV:
        return (struct constants){taps * view->in->c * c_out, c_out};
    case OP_KIND_DEPTHWISE:
        return (struct constants){taps * c_out, c_out};
    case OP_KIND_FULLY_CONNECTED:
        return (struct constants){(uint64_t)view->in->bytes * c_out, c_out};
    case OP_KIND_ADD:
        return (struct constants){0, 3};      /* both operands, the output */
    case OP_KIND_MUL:
    case OP_KIND_MEAN:
        return (struct constants){0, 1};      /* the output */
    case OP_KIND_TABLE:
        return (struct constants){TABLE_ENTRIES, 0};
    case OP_KIND_SOFTMAX:
        return (struct constants){TABLE_ENTRIES * sizeof(int32_t), 0};
    default:
        return (struct constants){0, 0};
    }
}

static enum status bad(struct problem *problem, uint32_t index, enum bad_record what,
                       uint32_t expected, uint32_t seen)
{
    return fail(STATUS_BAD_RECORD, problem, index << 16 | what, expected, seen);
}

/* Packed constants may be longer than the least that a kernel of theirs reads. */
static bool weights_suffice(const struct view *view, struct constants *needed, bool *packed)
{
    const struct op_record *const op = view->op;
    const struct op_kernel *const kernel = kernel_for(op, view->found->tensors);
    *packed = kernel != NULL && kernel->weights_bytes != NULL;
    if (!*packed) {
        return needed->weights == op->weights_bytes;
    }
    needed->weights = kernel->weights_bytes(op, view->found->tensors);
    return needed->weights <= op->weights_bytes;
}

static enum status check_constants(const struct view *view, uint32_t index,
                                   struct problem *problem)
{
    const struct op_record *const op = view->op;
    const struct pack_case *const found = view->found;
    struct constants needed = constants_of(view);
    bool packed;
    if (!weights_suffice(view, &needed, &packed) || op->weights_offset > found->weights_bytes ||
        op->weights_bytes > found->weights_bytes - op->weights_offset) {
        return bad(problem, index, BAD_WEIGHTS_RANGE, (uint32_t)needed.weights, op->weights_bytes);
    }
    if ((packed || op->kind == OP_KIND_SOFTMAX) && op->weights_offset % sizeof(int32_t) != 0) {
        return bad(problem, index, BAD_WEIGHTS_RANGE, sizeof(int32_t), op->weights_offset);
    }
    if (needed.quants != op->quant_count || op->quant_first > found->quant_count ||
        op->quant_count > found->quant_count - op->quant_first) {
        return bad(problem, index, BAD_QUANT_RANGE, needed.quants, op->quant_count);
    }
    return STATUS_OK;
}

/* What a kernel finds in its packed constants; their extent is checked. */
static enum status check_packed(const struct view *view, uint32_t index, struct problem *problem)
{
    const struct op_record *const op = view->op;
    const struct pack_case *const found = view->found;
    const struct op_kernel *const kernel = kernel_for(op, found->tensors);
    if (kernel == NULL || kernel->sound == NULL ||
        kernel->sound(op, found->tensors, found->weights + op->weights_offset)) {
        return STATUS_OK;
    }
    return bad(problem, index, BAD_CONSTANTS, op->kernel, op->weights_offset);
}

/* Operands and output lie where the kernel's loads and stores of words can reach them. */
static enum status check_alignment(const struct view *view, uint32_t index,
                                   struct problem *problem)
{
    const struct op_record *const op = view->op;
    const struct op_kernel *const kernel = kernel_for(op, view->found->tensors);
    if (kernel == NULL || kernel->alignment == 0) {
        return STATUS_OK;
    }
    for (uint32_t number = 0; number <= op->input_count; number++) {
        const struct tensor_record *const tensor =
            number < op->input_count ? operand(view, number) : view->out;
        if (tensor->offset % kernel->alignment != 0) {
            return bad(problem, index, BAD_ALIGNMENT, kernel->alignment, tensor->offset);
        }
    }
    return STATUS_OK;
}

enum status shapes_check(const struct pack_case *found, uint32_t index, struct problem *problem)
{
    return shapes_check_stage(found, index, index, problem);
}

enum status shapes_check_stage(const struct pack_case *found, uint32_t segment, uint32_t index,
                               struct problem *problem)
{
    const struct op_record *const op = &found->ops[index];
    const struct view view = {
        .op = op,
        .found = found,
        .in = &found->tensors[op->inputs[0]],
        .out = &found->tensors[op->output],
        .whole = &found->ops[segment],
    };
    if (op->kind < OP_KIND_CONV || op->kind > OP_KIND_MOVE) {
        return bad(problem, index, BAD_OP_KIND, OP_KIND_MOVE, op->kind);
    }
    if (!operands_fit(&view)) {
        return bad(problem, index, BAD_OPERANDS, view.in->bytes, op->input_count);
    }
    if (is_window(op->kind) &&
        !(window_is_sound(&view) && padding_agrees(&view) && storage_agrees(&view))) {
        return bad(problem, index, BAD_GEOMETRY, INT32_MAX, op->kind);
    }
    if (!is_window(op->kind) && op->kind != OP_KIND_MOVE && !stored_by_rows(&view)) {
        return bad(problem, index, BAD_GEOMETRY, STORED_BY_ROW, op->kind);
    }
    if (op->kind == OP_KIND_SOFTMAX && view.in->c > SOFTMAX_CHANNELS_MAX) {
        return bad(problem, index, BAD_GEOMETRY, SOFTMAX_CHANNELS_MAX, view.in->c);
    }
    const struct extents out = output_of(&view);
    if (out.h != view.out->h || out.w != view.out->w || out.c != view.out->c) {
        return bad(problem, index, BAD_OUTPUT_SHAPE,
                   ((uint32_t)out.h & 0xffff) << 16 | ((uint32_t)out.w & 0xffff),
                   (uint32_t)view.out->h << 16 | view.out->w);
    }
    if (!kind_is_sound(&view)) {
        return bad(problem, index, BAD_GEOMETRY, INT32_MAX, op->kind);
    }
    enum status status = check_alignment(&view, index, problem);
    if (status == STATUS_OK) {
        status = check_constants(&view, index, problem);
    }
    return status == STATUS_OK ? check_packed(&view, index, problem) : status;
}
