/* SPDX-License-Identifier: Apache-2.0 */
/* What the SSI does for the XIP cache: is it set up so that the flash would answer, and what does a
 * cache miss cost then (RP2040 data sheet 4.10, 2.6.3).
 *
 * A miss reads one line of 8 bytes in one go: instruction, address with mode bits, wait cycles and
 * 64 bits of data, each on as many lines as the set-up says, at clk_sys / BAUDR. */
#include "ssi.h"

enum { TMOD_SHIFT = 8, DFS_32_SHIFT = 16, SPI_FRF_SHIFT = 21, XIP_LINE_BITS = 64 };

struct format ssi_format(const struct ssi *s)
{
    static const uint8_t instruction_bits[4] = {0, 4, 8, 16};
    return (struct format){
        .tmod = s->ctrlr0 >> TMOD_SHIFT & 3,
        .frame_bits = (s->ctrlr0 >> DFS_32_SHIFT & 31) + 1,
        .lanes = 1u << (s->ctrlr0 >> SPI_FRF_SHIFT & 3),
        .trans_type = s->spi_ctrlr0 & 3,
        .address_bits = (s->spi_ctrlr0 >> 2 & 15) * 4,
        .instruction_bits = instruction_bits[s->spi_ctrlr0 >> 8 & 3],
        .wait_cycles = s->spi_ctrlr0 >> 11 & 31,
        .xip_cmd = (uint8_t)(s->spi_ctrlr0 >> 24),
    };
}

uint32_t ssi_serial_clocks(const struct format *f, uint32_t data_bits)
{
    uint32_t instruction_lanes = f->trans_type == TRANS_2C2A ? f->lanes : 1;
    uint32_t address_lanes = f->trans_type == TRANS_1C1A ? 1 : f->lanes;
    return f->instruction_bits / instruction_lanes + f->address_bits / address_lanes
           + f->wait_cycles + data_bits / f->lanes;
}

/* Without an instruction the flash takes what XIP sends for a further address with mode bits. */
static const char *continuous_problem(const machine *m, const struct format *f)
{
    static const struct { uint8_t command, lanes, wait_cycles; } reads[] = {{0xeb, 4, 4},
                                                                           {0xbb, 2, 0}};
    if (!m->chip->spi_flash.continuous)
        return "SPI_CTRLR0 sends no instruction, but the flash is not in continuous read mode";
    if (!spi_flash_mode_is_continuous(f->xip_cmd))
        return "the mode bits in SPI_CTRLR0.XIP_CMD end continuous read mode";
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        if (reads[i].command == m->chip->spi_flash.continuous && reads[i].lanes == f->lanes
            && reads[i].wait_cycles == f->wait_cycles && f->trans_type == TRANS_2C2A
            && f->address_bits == 32)
            return NULL;
    return "SPI_CTRLR0 does not fit the flash's continuous read";
}

static const char *instruction_problem(const machine *m, const struct format *f)
{
    static const struct { uint8_t command, lanes, trans_type, wait_cycles; } reads[] = {
        {0x03, 1, TRANS_1C1A, 0}, {0x0b, 1, TRANS_1C1A, 8}, {0x3b, 2, TRANS_1C1A, 8},
        {0xbb, 2, TRANS_1C2A, 4}, {0x6b, 4, TRANS_1C1A, 8}, {0xeb, 4, TRANS_1C2A, 6}};
    if (m->chip->spi_flash.continuous)
        return "SPI_CTRLR0 sends an instruction, but the flash is in continuous read mode";
    if (f->lanes == 4 && !spi_flash_has_quad(m))
        return "a quad read is set up while QE in the flash's status register 2 is 0";
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++)
        if (reads[i].command == f->xip_cmd && reads[i].lanes == f->lanes
            && reads[i].trans_type == f->trans_type && reads[i].wait_cycles == f->wait_cycles
            && f->address_bits == 24)
            return NULL;
    return "SPI_CTRLR0 does not form a read command that the flash knows";
}

static const char *xip_problem(const machine *m, const struct format *f)
{
    const struct ssi *s = &m->chip->ssi;
    if (!flash_pins_connected(m))
        return "the QSPI pins are not connected to it (IO_QSPI, PADS_QSPI)";
    if (!s->ssienr)
        return "SSIENR is 0";
    if (f->tmod != TMOD_EEPROM_READ || f->frame_bits != 32)
        return "CTRLR0 is not set to EEPROM read with 32-bit frames";
    if (!(s->ser & 1))
        return "SER selects no flash";
    if (s->baudr < 2)
        return "BAUDR stops the serial clock";
    if (f->lanes > 4)
        return "CTRLR0.SPI_FRF is 3";
    return f->instruction_bits == 0 ? continuous_problem(m, f) : instruction_problem(m, f);
}

void ssi_update_xip(machine *m)
{
    struct ssi *s = &m->chip->ssi;
    struct format f = ssi_format(s);
    m->chip->xip_problem = xip_problem(m, &f);
    uint32_t clocks = m->chip->xip_problem ? 0 : ssi_serial_clocks(&f, XIP_LINE_BITS);
    m->xip_miss_cycles = clocks * (s->baudr & ~1u);
}
