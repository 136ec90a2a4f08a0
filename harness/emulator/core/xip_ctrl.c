/* SPDX-License-Identifier: Apache-2.0 */
/* XIP_CTRL: control and counters of the flash cache (RP2040 data sheet 2.6.3, RP2350 data sheet
 * 4.4). The cache itself is in xip.c; streaming and the cache as SRAM are not modelled. */
#include "model.h"

enum {
    CTRL = 0x00, FLUSH = 0x04, STAT = 0x08, CTR_HIT = 0x0c, CTR_ACC = 0x10, STREAM_ADDR = 0x14,
    STREAM_CTR = 0x18, STREAM_FIFO = 0x1c
};
enum {
    STAT_FLUSH_READY = 1 << 0, STAT_FIFO_EMPTY = 1 << 1
};

static uint64_t hits(const machine *m)
{
    return m->xip_accesses - m->xip_misses;
}

static uint32_t saturated(uint64_t count)
{
    return count > UINT32_MAX ? UINT32_MAX : (uint32_t)count;
}

void xip_ctrl_flush(machine *m)
{
    xip_flush(m);
    m->chip->xip.ctrl |= m->chip->model->xip_ctrl->enable;
}

bool xip_ctrl_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    const struct xip_ctrl_facts *f = m->chip->model->xip_ctrl;
    const struct xip_ctrl *x = &m->chip->xip;
    (void)b;
    switch (offset) {
    case CTRL:
        *value = x->ctrl;
        return true;
    case FLUSH:
        *value = 0;
        return f->has_flush;
    case STREAM_ADDR: case STREAM_CTR: case STREAM_FIFO:
        *value = 0;
        return true;
    case STAT:
        *value = STAT_FIFO_EMPTY | (f->has_flush ? STAT_FLUSH_READY : 0);
        return true;
    case CTR_HIT:
        *value = saturated(hits(m) - x->hit_base);
        return true;
    case CTR_ACC:
        *value = saturated(m->xip_accesses - x->acc_base);
        return true;
    default:
        return false;
    }
}

bool xip_ctrl_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    const struct xip_ctrl_facts *f = m->chip->model->xip_ctrl;
    struct xip_ctrl *x = &m->chip->xip;
    (void)b;
    switch (offset) {
    case CTRL:
        x->ctrl = register_write(x->ctrl, value, alias, f->bits);
        if ((x->ctrl & f->enable) != f->enable)
            machine_strict(m, "the XIP cache is switched off: timing without it is not modelled");
        else if (x->ctrl & f->unsupported)
            machine_strict(m, "XIP_CTRL.CTRL %08x: power-down, split ways and writable windows are "
                              "not modelled", (unsigned)x->ctrl);
        return true;
    case FLUSH:
        if (f->has_flush && (value & 1))
            xip_flush(m);
        return f->has_flush;
    case STAT:                          /* read only */
        return true;
    case CTR_HIT:                       /* any value clears */
        x->hit_base = hits(m);
        return true;
    case CTR_ACC:
        x->acc_base = m->xip_accesses;
        return true;
    case STREAM_CTR:                    /* 0 stops a stream, and there is none */
        return value == 0;
    default:
        return false;
    }
}

void xip_ctrl_reset(machine *m, const block *b)
{
    (void)b;
    m->chip->xip = (struct xip_ctrl){
        .ctrl = m->chip->model->xip_ctrl->reset, .hit_base = hits(m), .acc_base = m->xip_accesses};
}
