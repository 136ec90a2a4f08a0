/* SPDX-License-Identifier: Apache-2.0 */
/* What the QMI does for the XIP cache: is window 0 set up so that the flash would answer, and what
 * does a cache miss cost then (RP2350 data sheet 12.14.2, 4.4).
 *
 * A miss reads a line of 8 bytes: command prefix, 24-bit address, command suffix (the mode bits),
 * dummy clocks and 64 bits of data, each on as many lines as M0_RFMT says, at clk_sys /
 * M0_TIMING.CLKDIV. With COOLDOWN a miss that follows the line before it continues that transfer,
 * and only the data are sent. The cache model knows one figure for both: all but the prefix, the
 * one of a flash in continuous read mode. For the quad read EBh these are 28 clocks, between the 16
 * of a miss that continues and the 36 of one that does not.
 *
 * What the reads of a set-up do to the flash is found out when the set-up ends: with a prefix and
 * the right mode bits the first of them puts the flash into continuous read mode. */
#include "qmi.h"
#include "xip.h"
#include <string.h>

enum { CLKDIV_BITS = 0xff, COOLDOWN_SHIFT = 30, ADDRESS_BITS = 24, XIP_LINE_BITS = 64 };
enum { RFMT_DTR = 1 << 28 };
enum { READ_03H = 0x03, FAST_READ_0BH = 0x0b, DUAL_READ_BBH = 0xbb, QUAD_READ_EBH = 0xeb };

struct format {
    unsigned prefix_lanes, address_lanes, suffix_lanes, dummy_lanes, data_lanes;
    unsigned prefix_bits, suffix_bits, dummy_bits;
    uint8_t prefix, suffix;
    bool double_rate;
};

static unsigned lanes(uint32_t width)
{
    return 1u << (width & 3);
}

static struct format format_of(const struct qmi_window *w)
{
    return (struct format){
        .prefix_lanes = lanes(w->rfmt), .address_lanes = lanes(w->rfmt >> 2),
        .suffix_lanes = lanes(w->rfmt >> 4), .dummy_lanes = lanes(w->rfmt >> 6),
        .data_lanes = lanes(w->rfmt >> 8),
        .prefix_bits = (w->rfmt >> 12 & 1) * 8, .suffix_bits = (w->rfmt >> 14 & 3) * 4,
        .dummy_bits = (w->rfmt >> 16 & 7) * 4,
        .prefix = (uint8_t)w->rcmd, .suffix = (uint8_t)(w->rcmd >> 8),
        .double_rate = w->rfmt & RFMT_DTR,
    };
}

static unsigned suffix_clocks(const struct format *f)
{
    return f->suffix_bits / f->suffix_lanes;
}

static unsigned dummy_clocks(const struct format *f)
{
    return f->dummy_bits / f->dummy_lanes;
}

static uint32_t line_clocks(const struct qmi_window *w, const struct format *f)
{
    uint32_t prefix = w->timing >> COOLDOWN_SHIFT ? 0 : f->prefix_bits / f->prefix_lanes;
    return prefix + ADDRESS_BITS / f->address_lanes + suffix_clocks(f) + dummy_clocks(f)
           + XIP_LINE_BITS / f->data_lanes;
}

/* The read commands of the flash with the lanes and clocks that it expects, W25Q16JV data sheet
 * 8.1.2. Mode bits are the suffix. */
struct read_command { uint8_t command, address_lanes, mode_clocks, dummy_clocks, data_lanes; };
static const struct read_command READS[] = {
    {READ_03H, 1, 0, 0, 1}, {FAST_READ_0BH, 1, 0, 8, 1}, {0x3b, 1, 0, 8, 2},
    {0x6b, 1, 0, 8, 4}, {DUAL_READ_BBH, 2, 4, 0, 2}, {QUAD_READ_EBH, 4, 2, 4, 4}};

static bool fits(const struct format *f, uint8_t command)
{
    for (size_t i = 0; i < sizeof READS / sizeof READS[0]; i++)
        if (READS[i].command == command)
            return f->address_lanes == READS[i].address_lanes
                   && suffix_clocks(f) == READS[i].mode_clocks
                   && dummy_clocks(f) == READS[i].dummy_clocks
                   && f->data_lanes == READS[i].data_lanes;
    return false;
}

static bool stays_continuous(const struct format *f)
{
    return f->suffix_bits == 8 && spi_flash_mode_is_continuous(f->suffix);
}

static const char *continuous_problem(const machine *m, const struct format *f)
{
    if (!m->chip->spi_flash.continuous)
        return "M0_RFMT sends no command prefix, but the flash is not in continuous read mode";
    if (!stays_continuous(f))
        return "the mode bits in M0_RCMD.SUFFIX end continuous read mode";
    return fits(f, m->chip->spi_flash.continuous) ? NULL
           : "M0_RFMT does not fit the flash's continuous read";
}

static const char *command_problem(const machine *m, const struct format *f)
{
    if (m->chip->spi_flash.continuous)
        return "M0_RFMT sends a command prefix, but the flash is in continuous read mode";
    if (f->data_lanes == 4 && !spi_flash_has_quad(m))
        return "a quad read is set up while QE in the flash's status register 2 is 0";
    return f->prefix_lanes == 1 && fits(f, f->prefix)
           ? NULL : "M0_RFMT and M0_RCMD do not form a read command that the flash knows";
}

static const char *xip_problem(const machine *m, const struct format *f)
{
    if (!flash_pins_connected(m))
        return "the QSPI pins are not connected to it (IO_QSPI, PADS_QSPI with ISO)";
    if (m->chip->qmi.direct_csr & CSR_EN)
        return "direct mode is enabled";
    if (f->double_rate)
        return "M0_RFMT.DTR is not modelled";
    return f->prefix_bits ? command_problem(m, f) : continuous_problem(m, f);
}

void qmi_update_xip(machine *m)
{
    const struct qmi_window *w = &m->chip->qmi.window[0];
    struct format f = format_of(w);
    const char *problem = xip_problem(m, &f);
    m->chip->xip_problem = problem;
    m->xip_miss_cycles = problem ? 0 : line_clocks(w, &f) * qmi_divider(w->timing & CLKDIV_BITS);
}

/* A program may change its set-up step by step: what counts is the one it does its work with. */
void qmi_check_cost(machine *m)
{
    uint32_t expected = m->chip->xip_miss_cycles_expected;
    if (!m->chip->xip_problem && expected && m->xip_miss_cycles != expected)
        machine_strict(m, "boards.yaml says %u cycles a miss, the flash set-up of this image gives "
                          "%u", (unsigned)expected, (unsigned)m->xip_miss_cycles);
}

void qmi_note_reads(machine *m)
{
    struct qmi *q = &m->chip->qmi;
    struct format f = format_of(&q->window[0]);
    uint64_t reads = m->xip_misses - q->misses_before + q->direct_reads;
    q->misses_before = m->xip_misses;
    q->direct_reads = 0;
    if (reads == 0 || m->chip->xip_problem || !f.prefix_bits || !stays_continuous(&f))
        return;
    m->chip->spi_flash.continuous = f.prefix;
    if (reads > 1)
        machine_strict(m, "QMI: %llu reads with the command %02Xh and mode bits %02Xh: the first "
                          "puts the flash into continuous read mode, where it takes the command of "
                          "the next for an address", (unsigned long long)reads, f.prefix, f.suffix);
}

/* ---- what the boot ROM does ---- */
/* Of its four read modes all leave the flash where it takes commands: mode bits 00h. Timing is
 * COOLDOWN 1, PAGEBREAK 1024, MIN_DESELECT 7, RXDELAY 2. */
void qmi_select_read_mode(machine *m, enum xip_read_mode mode, uint32_t clkdiv)
{
    enum { ROM_TIMING = 0x60007200 };
    static const struct { uint32_t rfmt, command; } modes[XIP_READ_MODES] = {
        [XIP_03H_SERIAL] = {0x00001000, READ_03H},
        [XIP_0BH_SERIAL] = {0x00021000, FAST_READ_0BH},
        [XIP_BBH_DUAL] = {0x00009154, DUAL_READ_BBH},
        [XIP_EBH_QUAD] = {0x000492a8, QUAD_READ_EBH}};
    struct qmi *q = &m->chip->qmi;
    qmi_note_reads(m);
    q->direct_csr = (clkdiv & CLKDIV_BITS) << CSR_CLKDIV_SHIFT;
    q->tx_count = q->rx_count = 0;
    q->shifting = false;
    for (int i = 0; i < QMI_WINDOWS; i++) {
        q->window[i].timing = ROM_TIMING | (clkdiv & CLKDIV_BITS);
        q->window[i].rfmt = modes[mode].rfmt;
        q->window[i].rcmd = modes[mode].command;
    }
    qmi_update_xip(m);
}

/* The exit sequence leaves the flash in command mode and the QMI in 03h reads. */
void qmi_exit_xip(machine *m)
{
    m->chip->spi_flash.continuous = 0;
    qmi_enter_cmd_xip(m);
}

void qmi_enter_cmd_xip(machine *m)
{
    enum { CLKDIV_DEFAULT = 12 };
    qmi_select_read_mode(m, XIP_03H_SERIAL, CLKDIV_DEFAULT);
}

void qmi_flush(machine *m)
{
    xip_ctrl_flush(m);
}

/* ---- windows of the address space (RP2350 data sheet 4.4) ---- */
/* Uncached: every read goes to the flash, and the core waits for it; a halted core does nothing, so
 * that the debugger's reads take no time. Only window 0 has a chip behind it. */
static bool uncached_read(machine *m, uint32_t offset, int size, uint32_t *value)
{
    uint32_t available = m->flash_bytes - (offset & (m->flash_bytes - 1));
    *value = 0;
    if (offset >= XIP_BYTES) {
        machine_strict(m, "uncached read at offset 0x%08x: nothing is connected to the QMI's chip "
                          "select 1", (unsigned)offset);
        return true;
    }
    if (m->chip->xip_problem)
        machine_strict(m, "uncached read of flash, but the QMI is not set up for XIP: %s",
                       m->chip->xip_problem);
    m->chip->qmi.direct_reads++;
    if (!m->halted)
        m->cycles += m->xip_miss_cycles;
    memcpy(value, m->flash + (offset & (m->flash_bytes - 1)),
           (uint32_t)size < available ? (uint32_t)size : available);
    return true;
}

/* Flash is read only: a store is lost, as one to the cached window. */
static bool uncached_write(machine *m, uint32_t offset, int size, uint32_t value)
{
    (void)offset;
    (void)size;
    (void)value;
    m->dropped_writes++;
    return true;
}

const struct memory QMI_UNCACHED = {64 * 1024 * 1024, uncached_read, uncached_write};

/* Cache maintenance: a store, whatever its value, to an address whose lowest three bits say what to
 * do and whose others say with which line. Clean writes back what a read-only memory never has. */
enum maintenance {
    INVALIDATE_BY_SET_WAY = 0, CLEAN_BY_SET_WAY = 1, INVALIDATE_BY_ADDRESS = 2,
    CLEAN_BY_ADDRESS = 3
};

static void forget_line(machine *m, uint32_t way, uint32_t set)
{
    m->xip_tag[way][set] = UINT32_MAX;
    m->fetch_line = NO_LINE;
}

static bool maintenance_write(machine *m, uint32_t offset, int size, uint32_t value)
{
    uint32_t line = offset >> XIP_LINE_SHIFT, set = line % XIP_SETS;
    uint32_t tag = (offset & (XIP_BYTES - 1)) >> XIP_LINE_SHIFT;
    (void)size;
    (void)value;
    switch (offset & (XIP_LINE_BYTES - 1)) {
    case INVALIDATE_BY_SET_WAY:
        forget_line(m, line / XIP_SETS % XIP_WAYS, set);
        break;
    case INVALIDATE_BY_ADDRESS:
        for (uint32_t way = 0; way < XIP_WAYS; way++)
            if (m->xip_tag[way][set] == tag / XIP_SETS)
                forget_line(m, way, set);
        break;
    case CLEAN_BY_SET_WAY: case CLEAN_BY_ADDRESS:
        break;
    default:
        machine_strict(m, "XIP cache maintenance operation %u is not modelled",
                       (unsigned)(offset & (XIP_LINE_BYTES - 1)));
    }
    return true;
}

static bool maintenance_read(machine *m, uint32_t offset, int size, uint32_t *value)
{
    (void)m;
    (void)offset;
    (void)size;
    (void)value;
    return false;
}

const struct memory XIP_MAINTENANCE = {64 * 1024 * 1024, maintenance_read, maintenance_write};
