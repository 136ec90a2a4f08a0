/* SPDX-License-Identifier: Apache-2.0 */
/* The pins of the flash: are they with the SSI or QMI (RP2040 data sheet 2.19, RP2350 data sheet
 * 9)? Both banks out of reset, function XIP on each pin and, on the RP2350, no pad isolated. */
#include "model.h"

enum { FUNCSEL = 0x1f, PAD_ISO = 1 << 8, PADS_QSPI_SCLK = 0x04 };

bool flash_pins_connected(const machine *m)
{
    const struct model *model = m->chip->model;
    const uint32_t *io = m->chip->plain[PLAIN_IO_QSPI], *pads = m->chip->plain[PLAIN_PADS_QSPI];
    if (resets_held(m, model->reset_io_qspi) || resets_held(m, model->reset_pads_qspi))
        return false;
    for (unsigned pin = 0; pin < QSPI_PINS; pin++) {
        if (io[(model->qspi_ctrl + 8 * pin) / 4] & FUNCSEL)
            return false;
        if (model->pads_isolate && (pads[PADS_QSPI_SCLK / 4 + pin] & PAD_ISO))
            return false;
    }
    return true;
}
