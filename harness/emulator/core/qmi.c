/* SPDX-License-Identifier: Apache-2.0 */
/* QMI, the QSPI memory interface between the XIP cache and the flash: its registers and direct mode
 * (RP2350 data sheet 12.14). Its reads for the cache are in qmi_xip.c.
 *
 * Direct mode sends frames of 8 or 16 bits from a FIFO and takes in as many, one after the other;
 * it waits while the receive FIFO is full. Only what boot code asks for is modelled: a single data
 * line. Chip select 1 and its window are storage: nothing is connected there. Addresses are not
 * translated. */
#include "qmi.h"
#include <string.h>

enum {
    DIRECT_CSR = 0x00, DIRECT_TX = 0x04, DIRECT_RX = 0x08, M0_TIMING = 0x0c, M1_WCMD = 0x30,
    ATRANS0 = 0x34, ATRANS7 = 0x50, WINDOW_BYTES = 0x14
};
enum {
    TX_DATA = 0xffff, TX_IWIDTH_SHIFT = 16, TX_DWIDTH = 1 << 18, TX_OE = 1 << 19,
    TX_NOPUSH = 1 << 20, TX_BITS = 0x1fffff
};
enum { TIMING_RESET = 0x40000004, FMT_RESET = 0x1000, RCMD_RESET = 0xa003, WCMD_RESET = 0xa002 };
enum { CSR_RESET = 0x01800000, FMT_BITS = 0x1007d3ff, CMD_BITS = 0xffff, ATRANS_BITS = 0x07ff0fff };
#define CSR_WRITABLE 0xffc000cdu
#define TIMING_BITS 0xf3fff7ffu

/* ---- chip select ---- */
static void select_flash(machine *m, bool selected)
{
    struct qmi *q = &m->chip->qmi;
    if (selected == q->selected)
        return;
    q->selected = selected;
    if (selected)
        spi_flash_select(m);
    else
        spi_flash_deselect(m);
}

static void update_select(machine *m)
{
    const struct qmi *q = &m->chip->qmi;
    bool by_hand = q->direct_csr & CSR_ASSERT_CS0N;
    bool automatic = (q->direct_csr & CSR_AUTO_CS0N) && q->shifting;
    select_flash(m, by_hand || automatic);
}

/* ---- frames ---- */
static uint32_t exchange(machine *m, uint32_t frame)
{
    bool reaches_flash = m->chip->qmi.selected && flash_pins_connected(m);
    uint32_t in = 0, bytes = frame & TX_DWIDTH ? 2 : 1;
    for (uint32_t i = 0; i < bytes; i++) {      /* the lower byte goes first */
        uint8_t out = (uint8_t)(frame >> 8 * i);
        in |= (uint32_t)(reaches_flash ? spi_flash_exchange(m, out) : 0xff) << 8 * i;
    }
    return in;
}

static void start_frame(machine *m, uint64_t at)
{
    struct qmi *q = &m->chip->qmi;
    if (q->shifting || q->tx_count == 0 || q->rx_count == QMI_FIFO_DEPTH)
        return;
    q->frame = q->tx[0];
    q->tx_count--;
    memmove(q->tx, q->tx + 1, q->tx_count * sizeof q->tx[0]);
    q->shifting = true;
    update_select(m);
    q->received = exchange(m, q->frame);
    uint32_t bits = q->frame & TX_DWIDTH ? 16 : 8;
    q->frame_end = at + (uint64_t)bits * qmi_divider(q->direct_csr >> CSR_CLKDIV_SHIFT);
}

/* What has happened on the wire until now. */
static void advance(machine *m)
{
    struct qmi *q = &m->chip->qmi;
    while (q->shifting && m->cycles >= q->frame_end) {
        q->shifting = false;
        if (!(q->frame & TX_NOPUSH))
            q->rx[q->rx_count++] = q->received;
        start_frame(m, q->frame_end);
    }
    update_select(m);
}

static void write_tx(machine *m, uint32_t value)
{
    struct qmi *q = &m->chip->qmi;
    if (!(q->direct_csr & CSR_EN))
        machine_strict(m, "QMI DIRECT_TX while DIRECT_CSR.EN is 0: it is lost");
    else if (value >> TX_IWIDTH_SHIFT & 3)
        machine_strict(m, "QMI direct mode on more than one data line is not modelled");
    else if (q->tx_count == QMI_FIFO_DEPTH)
        machine_strict(m, "QMI DIRECT_TX while its FIFO is full: a frame is lost");
    else if (!(q->direct_csr & (CSR_ASSERT_CS0N | CSR_AUTO_CS0N)))
        machine_strict(m, "QMI DIRECT_TX without a chip select: nobody listens");
    else {
        q->tx[q->tx_count++] = value & TX_BITS;
        start_frame(m, m->cycles);
    }
}

static uint32_t read_rx(machine *m)
{
    struct qmi *q = &m->chip->qmi;
    if (q->rx_count == 0)
        return 0;
    uint32_t frame = q->rx[0];
    q->rx_count--;
    memmove(q->rx, q->rx + 1, q->rx_count * sizeof q->rx[0]);
    start_frame(m, m->cycles);
    return frame;
}

static uint32_t read_csr(const machine *m)
{
    const struct qmi *q = &m->chip->qmi;
    return q->direct_csr | (q->shifting || q->tx_count ? CSR_BUSY : 0)
           | (q->tx_count == QMI_FIFO_DEPTH ? CSR_TXFULL : 0) | (q->tx_count ? 0 : CSR_TXEMPTY)
           | q->tx_count << CSR_TXLEVEL_SHIFT | (q->rx_count ? 0 : CSR_RXEMPTY)
           | (q->rx_count == QMI_FIFO_DEPTH ? CSR_RXFULL : 0) | q->rx_count << CSR_RXLEVEL_SHIFT;
}

static void write_csr(machine *m, uint32_t value, enum alias alias)
{
    struct qmi *q = &m->chip->qmi;
    uint32_t old = q->direct_csr;
    bool busy = q->shifting || q->tx_count;
    if (!(old & CSR_EN))
        qmi_note_reads(m);              /* of flash, until now */
    q->direct_csr = register_write(old, value, alias, CSR_WRITABLE);
    if (busy && (old & ~q->direct_csr & (CSR_EN | CSR_ASSERT_CS0N)))
        machine_strict(m, "QMI DIRECT_CSR ends a transfer that is still BUSY");
    if (!(q->direct_csr & CSR_EN)) {
        q->tx_count = q->rx_count = 0;
        q->shifting = false;
    }
    update_select(m);
    qmi_update_xip(m);
}

/* ---- registers ---- */
static uint32_t *storage(struct qmi *q, uint32_t offset, uint32_t *bits)
{
    if (offset >= ATRANS0 && offset <= ATRANS7) {
        *bits = ATRANS_BITS;
        return &q->atrans[(offset - ATRANS0) / 4];
    }
    if (offset < M0_TIMING || offset > M1_WCMD)
        return NULL;
    struct qmi_window *w = &q->window[(offset - M0_TIMING) / WINDOW_BYTES];
    switch ((offset - M0_TIMING) % WINDOW_BYTES) {
    case 0x00: *bits = TIMING_BITS; return &w->timing;
    case 0x04: *bits = FMT_BITS; return &w->rfmt;
    case 0x08: *bits = CMD_BITS; return &w->rcmd;
    case 0x0c: *bits = FMT_BITS; return &w->wfmt;
    default: *bits = CMD_BITS; return &w->wcmd;
    }
}

bool qmi_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    uint32_t bits;
    const uint32_t *reg = storage(&m->chip->qmi, offset, &bits);
    (void)b;
    advance(m);
    if (reg)
        *value = *reg;
    else if (offset == DIRECT_CSR)
        *value = read_csr(m);
    else if (offset == DIRECT_RX)
        *value = read_rx(m);
    else if (offset == DIRECT_TX)
        *value = 0;
    else
        return false;
    return true;
}

static uint32_t identity(uint32_t index)
{
    enum { SIZE_4_MB = 0x400 << 16, PAGES_OF_4_MB = 0x400 };
    return SIZE_4_MB | (index & 3) * PAGES_OF_4_MB;
}

bool qmi_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct qmi *q = &m->chip->qmi;
    uint32_t bits, *reg = storage(q, offset, &bits);
    advance(m);
    if (reg) {
        qmi_note_reads(m);
        *reg = register_write(*reg, value, alias, bits);
        if (offset >= ATRANS0 && *reg != identity((offset - ATRANS0) / 4))
            machine_strict(m, "%s+0x%02x: address translation is not modelled", b->name,
                           (unsigned)offset);
        qmi_update_xip(m);
    } else if (offset == DIRECT_CSR) {
        write_csr(m, value, alias);
    } else if (offset == DIRECT_TX) {
        write_tx(m, value);
    } else {
        return offset == DIRECT_RX;
    }
    return true;
}

bool qmi_serial_ready(const machine *m)
{
    return flash_pins_connected(m) && !(m->chip->qmi.direct_csr & CSR_EN)
           && !m->chip->spi_flash.continuous;
}

void qmi_pins_changed(machine *m)
{
    qmi_update_xip(m);
}

void qmi_reset(machine *m)
{
    struct qmi *q = &m->chip->qmi;
    select_flash(m, false);
    *q = (struct qmi){.direct_csr = CSR_RESET};
    for (int i = 0; i < QMI_WINDOWS; i++)
        q->window[i] = (struct qmi_window){TIMING_RESET, FMT_RESET, RCMD_RESET, FMT_RESET,
                                           WCMD_RESET};
    for (uint32_t i = 0; i < QMI_TRANSLATIONS; i++)
        q->atrans[i] = identity(i);
    qmi_note_reads(m);
    qmi_update_xip(m);
}
