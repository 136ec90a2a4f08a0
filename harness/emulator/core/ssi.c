/* SPDX-License-Identifier: Apache-2.0 */
/* SSI: the Synopsys serial interface between the XIP cache and the flash (RP2040 data sheet 4.10).
 *
 * Two ways through it are modelled. By hand: 8-bit frames in standard format, one byte out and one
 * in, which take their time on the wire; and one read in dual or quad format, which is how flash is
 * put into continuous read mode. By XIP: the set-up is checked against what the flash would make of
 * it, and gives the cost of a cache miss. Nothing may be changed while SSIENR is 1. */
#include "ssi.h"
#include <string.h>

enum {
    CTRLR0 = 0x00, CTRLR1 = 0x04, SSIENR = 0x08, MWCR = 0x0c, SER = 0x10, BAUDR = 0x14,
    TXFTLR = 0x18, RXFTLR = 0x1c, TXFLR = 0x20, RXFLR = 0x24, SR = 0x28, IMR = 0x2c, ISR = 0x30,
    RISR = 0x34, TXOICR = 0x38, RXOICR = 0x3c, RXUICR = 0x40, MSTICR = 0x44, ICR = 0x48,
    DMACR = 0x4c, DMATDLR = 0x50, DMARDLR = 0x54, IDR = 0x58, SSI_VERSION_ID = 0x5c, DR0 = 0x60,
    DR_END = 0xf0, RX_SAMPLE_DLY = 0xf0, SPI_CTRLR0 = 0xf4, TXD_DRIVE_EDGE = 0xf8
};
enum {
    CTRLR0_BITS = 0x017fffff, TMOD_SHIFT = 8, DFS_32_SHIFT = 16, DFS_8_BITS = 7, DFS_32_BITS = 31,
    SR_BUSY = 1 << 0, SR_TFNF = 1 << 1, SR_TFE = 1 << 2, SR_RFNE = 1 << 3, SR_RFF = 1 << 4,
    SPI_CTRLR0_RESET = 0x03000000, ADDR_L_SHIFT = 2, ADDR_L_24_BITS = 6, INST_L_SHIFT = 8,
    INST_L_8B = 2, XIP_CMD_SHIFT = 24, READ_DATA = 0x03
};
#define SPI_CTRLR0_BITS 0xff07fb3fu

/* ---- chip select ---- */
enum { SS_CTRL = 0x0c, OUTOVER_SHIFT = 8, OUTOVER_LOW = 2, OUTOVER_HIGH = 3 };

static unsigned select_override(const machine *m)
{
    return m->chip->plain[PLAIN_IO_QSPI][SS_CTRL / 4] >> OUTOVER_SHIFT & 3;
}

static void set_selected(machine *m, bool selected)
{
    struct ssi *s = &m->chip->ssi;
    if (selected == s->selected)
        return;
    s->selected = selected;
    if (selected)
        spi_flash_select(m);
    else
        spi_flash_deselect(m);
}

/* Left to itself the SSI raises chip select as soon as it has nothing more to send. */
static void settle(machine *m)
{
    if (select_override(m) != OUTOVER_LOW && m->cycles >= m->chip->ssi.busy_until)
        set_selected(m, false);
}

void ssi_pins_changed(machine *m)
{
    set_selected(m, select_override(m) == OUTOVER_LOW);
    ssi_update_xip(m);
}

/* ---- transfers by hand ---- */
static uint32_t frames_on_the_wire(const machine *m)
{
    const struct ssi *s = &m->chip->ssi;
    if (m->cycles >= s->busy_until)
        return 0;
    return (uint32_t)((s->busy_until - m->cycles + s->frame_cycles - 1) / s->frame_cycles);
}

static uint32_t received(const machine *m)
{
    uint32_t coming = frames_on_the_wire(m), count = m->chip->ssi.rx_count;
    return count > coming ? count - coming : 0;
}

static void start_frame(machine *m, uint32_t cycles)
{
    struct ssi *s = &m->chip->ssi;
    s->frame_cycles = cycles;
    s->busy_until = (m->cycles > s->busy_until ? m->cycles : s->busy_until) + cycles;
}

static void receive(machine *m, uint32_t frame)
{
    struct ssi *s = &m->chip->ssi;
    if (s->rx_count == SSI_FIFO_DEPTH)
        machine_strict(m, "SSI receive FIFO overflows: a byte is lost");
    else
        s->rx[s->rx_count++] = frame;
}

static void send_byte(machine *m, uint32_t value, const struct format *f)
{
    struct ssi *s = &m->chip->ssi;
    bool reaches_flash = flash_pins_connected(m) && select_override(m) != OUTOVER_HIGH;
    if (reaches_flash)
        set_selected(m, true);
    receive(m, reaches_flash ? spi_flash_exchange(m, (uint8_t)value) : 0xff);
    start_frame(m, f->frame_bits * (s->baudr & ~1u));
}

static void send_read(machine *m, uint32_t value, const struct format *f)
{
    struct ssi *s = &m->chip->ssi;
    if (f->instruction_bits && !s->has_instruction) {
        s->instruction = value;
        s->has_instruction = true;
        return;
    }
    uint8_t instruction = s->has_instruction ? (uint8_t)s->instruction : 0;
    uint32_t frames = s->ctrlr1 + 1, bytes[SSI_FIFO_DEPTH];
    s->has_instruction = false;
    if (frames > SSI_FIFO_DEPTH) {
        machine_strict(m, "SSI reads %u frames into a FIFO of 16", (unsigned)frames);
        return;
    }
    spi_flash_fast_read(m, instruction, value, f->address_bits, (uint8_t *)bytes, frames * 4);
    for (uint32_t i = 0; i < frames; i++)
        receive(m, __builtin_bswap32(bytes[i]));
    start_frame(m, ssi_serial_clocks(f, frames * 32) * (s->baudr & ~1u));
}

static void write_data(machine *m, uint32_t value)
{
    struct ssi *s = &m->chip->ssi;
    struct format f = ssi_format(s);
    if (!s->ssienr)
        machine_strict(m, "SSI data while SSIENR is 0: it is lost");
    else if (!(s->ser & 1) || s->baudr < 2)
        machine_strict(m, "SSI data that never leaves the FIFO: SER is %u, BAUDR is %u",
                       (unsigned)s->ser, (unsigned)s->baudr);
    else if (f.tmod == TMOD_TX_AND_RX && f.lanes == 1 && f.frame_bits == 8)
        send_byte(m, value, &f);
    else if (f.tmod == TMOD_EEPROM_READ && f.lanes > 1 && f.lanes <= 4 && f.frame_bits == 32)
        send_read(m, value, &f);
    else
        machine_strict(m, "SSI transfer with CTRLR0 %08x is not modelled", (unsigned)s->ctrlr0);
}

static uint32_t read_data(machine *m)
{
    struct ssi *s = &m->chip->ssi;
    if (received(m) == 0)
        return 0;
    uint32_t frame = s->rx[0];
    s->rx_count--;
    memmove(s->rx, s->rx + 1, s->rx_count * sizeof s->rx[0]);
    return frame;
}

bool ssi_serial_ready(const machine *m)
{
    const struct ssi *s = &m->chip->ssi;
    struct format f = ssi_format(s);
    return s->ssienr && (s->ser & 1) && s->baudr >= 2 && f.tmod == TMOD_TX_AND_RX && f.lanes == 1
           && f.frame_bits == 8 && flash_pins_connected(m) && !m->chip->spi_flash.continuous;
}

/* As the boot ROM's flash_exit_xip leaves it: single bytes, in both directions. */
void ssi_exit_xip(machine *m)
{
    struct ssi *s = &m->chip->ssi;
    s->baudr = 6;
    s->ctrlr0 = DFS_8_BITS << DFS_32_SHIFT | TMOD_TX_AND_RX << TMOD_SHIFT;
    s->ser = 1;
    s->ssienr = 1;
    s->rx_count = 0;
    s->busy_until = m->cycles;
    s->has_instruction = false;
    ssi_update_xip(m);
}

/* As the boot ROM's flash_enter_cmd_xip: serial 03h reads. */
void ssi_enter_cmd_xip(machine *m)
{
    struct ssi *s = &m->chip->ssi;
    s->ctrlr0 = DFS_32_BITS << DFS_32_SHIFT | TMOD_EEPROM_READ << TMOD_SHIFT;
    s->spi_ctrlr0 = READ_DATA << XIP_CMD_SHIFT | INST_L_8B << INST_L_SHIFT
                    | ADDR_L_24_BITS << ADDR_L_SHIFT | TRANS_1C1A;
    s->ssienr = 1;
    s->rx_count = 0;
    ssi_update_xip(m);
}

/* As the boot ROM's flash_flush_cache: chip select back in the hands of the SSI. */
void ssi_flush(machine *m)
{
    m->chip->plain[PLAIN_IO_QSPI][SS_CTRL / 4] = 0;
    ssi_pins_changed(m);
    xip_ctrl_flush(m);
}

/* ---- registers ---- */
static uint32_t *storage(struct ssi *s, uint32_t offset, uint32_t *bits)
{
    switch (offset) {
    case CTRLR0: *bits = CTRLR0_BITS; return &s->ctrlr0;
    case CTRLR1: *bits = 0xffff; return &s->ctrlr1;
    case SSIENR: *bits = 1; return &s->ssienr;
    case MWCR: *bits = 7; return &s->mwcr;
    case SER: *bits = 1; return &s->ser;
    case BAUDR: *bits = 0xffff; return &s->baudr;
    case TXFTLR: *bits = 0xff; return &s->txftlr;
    case RXFTLR: *bits = 0xff; return &s->rxftlr;
    case IMR: *bits = 0x3f; return &s->imr;
    case DMACR: *bits = 3; return &s->dmacr;
    case DMATDLR: *bits = 0xff; return &s->dmatdlr;
    case DMARDLR: *bits = 0xff; return &s->dmardlr;
    case RX_SAMPLE_DLY: *bits = 0xff; return &s->rx_sample_dly;
    case SPI_CTRLR0: *bits = SPI_CTRLR0_BITS; return &s->spi_ctrlr0;
    case TXD_DRIVE_EDGE: *bits = 0xff; return &s->txd_drive_edge;
    default: return NULL;
    }
}

static uint32_t status(const machine *m)
{
    uint32_t wire = frames_on_the_wire(m), in = received(m);
    return (wire ? SR_BUSY : 0) | (wire <= SSI_FIFO_DEPTH ? SR_TFNF : 0) | (wire <= 1 ? SR_TFE : 0)
           | (in ? SR_RFNE : 0) | (in == SSI_FIFO_DEPTH ? SR_RFF : 0);
}

bool ssi_read(machine *m, const block *b, uint32_t offset, uint32_t *value)
{
    uint32_t bits;
    const uint32_t *reg = storage(&m->chip->ssi, offset, &bits);
    (void)b;
    settle(m);
    if (reg) {
        *value = *reg;
        return true;
    }
    if (offset >= DR0 && offset < DR_END) {
        *value = read_data(m);
        return true;
    }
    switch (offset) {
    case TXFLR:                     /* the frame on the wire has left the FIFO */
        *value = frames_on_the_wire(m) > 1 ? frames_on_the_wire(m) - 1 : 0;
        return true;
    case RXFLR:
        *value = received(m);
        return true;
    case SR:
        *value = status(m);
        return true;
    case ISR: case RISR: case TXOICR: case RXOICR: case RXUICR: case MSTICR: case ICR:
        *value = 0;                 /* what would raise an error here stops the emulator instead */
        return true;
    case IDR:
        *value = 0x51535049;
        return true;
    case SSI_VERSION_ID:
        *value = 0x3430312a;
        return true;
    default:
        return false;
    }
}

static void write_enable(machine *m, uint32_t enable)
{
    struct ssi *s = &m->chip->ssi;
    s->ssienr = enable;
    if (!enable) {                  /* both FIFOs are emptied, a transfer is cut off */
        s->rx_count = 0;
        s->busy_until = m->cycles;
        s->has_instruction = false;
        settle(m);
    }
    ssi_update_xip(m);
    uint32_t expected = m->chip->xip_miss_cycles_expected;
    if (!m->chip->xip_problem && expected && m->xip_miss_cycles != expected)
        machine_strict(m, "boards.yaml says %u cycles a miss, the flash set-up of this image gives "
                          "%u", (unsigned)expected, (unsigned)m->xip_miss_cycles);
}

bool ssi_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    struct ssi *s = &m->chip->ssi;
    uint32_t bits, *reg = storage(s, offset, &bits);
    settle(m);
    if (alias != ALIAS_NORMAL)      /* the SSI has no atomic aliases */
        return false;
    if (offset >= DR0 && offset < DR_END) {
        write_data(m, value);
        return true;
    }
    if (!reg)
        return offset < DR0;        /* read only, but nothing is there above the data register */
    bool shapes_transfers = offset == CTRLR0 || offset == CTRLR1 || offset == BAUDR
                            || offset == RX_SAMPLE_DLY || offset == SPI_CTRLR0
                            || offset == TXD_DRIVE_EDGE;
    if (shapes_transfers && s->ssienr)
        machine_strict(m, "%s+0x%02x is written while SSIENR is 1: it keeps its value", b->name,
                       (unsigned)offset);
    else if (offset == SSIENR)
        write_enable(m, value & 1);
    else
        *reg = register_write(*reg, value, alias, bits);
    if (offset == SER)
        ssi_update_xip(m);
    return true;
}

void ssi_reset(machine *m)
{
    set_selected(m, false);
    m->chip->ssi = (struct ssi){.spi_ctrlr0 = SPI_CTRLR0_RESET};
    ssi_update_xip(m);
}
