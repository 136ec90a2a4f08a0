/* SPDX-License-Identifier: Apache-2.0 */
/* POWMAN, the power manager (RP2350 data sheet 6.4), as far as a program sets the core voltage or
 * leaves a word for the next boot. Nothing ever loses power here, and its timer is not modelled. */
#include "model.h"

enum { BADPASSWD = 0x00, SCRATCH0 = 0xb0, BOOT3 = 0xdc, PASSWORD = 0x5afe, PASSWORD_SHIFT = 16 };

/* All but the scratch and boot words want the password in the upper half, or BADPASSWD is set. */
bool powman_write(machine *m, const block *b, uint32_t offset, uint32_t value, enum alias alias)
{
    uint32_t *bad_password = &m->chip->plain[PLAIN_POWMAN][BADPASSWD / 4];
    if (offset == BADPASSWD) {
        *bad_password = flags_write(*bad_password, value, alias, 1);
        return true;
    }
    if (offset >= SCRATCH0 && offset <= BOOT3)
        return plain_write(m, b, offset, value, alias);
    if (value >> PASSWORD_SHIFT == PASSWORD)
        return plain_write(m, b, offset, value & ((1u << PASSWORD_SHIFT) - 1), alias);
    *bad_password = 1;
    return true;
}
