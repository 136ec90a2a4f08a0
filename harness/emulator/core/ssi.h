/* SPDX-License-Identifier: Apache-2.0 */
/* What the SSI's transfers by hand (ssi.c) and its service to the XIP cache (ssi_xip.c) share: the
 * shape of a transfer (RP2040 data sheet 4.10, CTRLR0 and SPI_CTRLR0). */
#ifndef SSI_H
#define SSI_H
#include "model.h"

enum {
    TMOD_TX_AND_RX = 0, TMOD_EEPROM_READ = 3,
    TRANS_1C1A = 0, TRANS_1C2A = 1, TRANS_2C2A = 2      /* instruction, address: 1 or all lines */
};

struct format {
    unsigned tmod, frame_bits, lanes, trans_type, address_bits, instruction_bits, wait_cycles;
    uint8_t xip_cmd;
};
struct format ssi_format(const struct ssi *s);
uint32_t ssi_serial_clocks(const struct format *f, uint32_t data_bits);   /* of one whole read */
void ssi_update_xip(machine *m);                        /* after whatever can change xip_problem */
#endif
