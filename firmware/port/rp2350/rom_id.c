/* SPDX-License-Identifier: Apache-2.0 */
/* The chip's 64-bit unique id, which is the board's identity: from the boot ROM (RP2350 data sheet
 * 5.4.8.17, get_sys_info). It is written into every chip, it is what `picotool info` and the SDK's
 * serial number show, and reading it leaves the flash interface alone. */
#include "chip.h"

enum {
    ROM_GET_SYS_INFO = 'G' | 'S' << 8,
    ROM_FUNCTION_ARM_SECURE = 4,
    SYS_INFO_CHIP_INFO = 1,
    /* Words of the answer: what it holds, package, and the id, its low word first. */
    INFO_FLAGS = 0, INFO_ID_LOW = 2, INFO_ID_HIGH = 3, INFO_WORDS = 4
};

/* At 0x16 the ROM keeps the address of its look-up. */
extern const uint16_t __rom_table_lookup;

typedef uintptr_t (*rom_table_lookup)(uint32_t code, uint32_t mask);
typedef int32_t (*rom_get_sys_info)(uint32_t *words, uint32_t count, uint32_t flags);

/* An id of zeros if the ROM does not know. Most significant byte first, as it is written. */
void read_unique_id(uint8_t id[8])
{
    uint32_t info[INFO_WORDS] = {0};
    const rom_table_lookup look_up = (rom_table_lookup)(uintptr_t)__rom_table_lookup;
    const uintptr_t function = look_up(ROM_GET_SYS_INFO, ROM_FUNCTION_ARM_SECURE);
    if (function == 0) {
        return;
    }
    ((rom_get_sys_info)function)(info, INFO_WORDS, SYS_INFO_CHIP_INFO);
    if ((info[INFO_FLAGS] & SYS_INFO_CHIP_INFO) == 0) {
        return;
    }
    for (uint32_t byte = 0; byte < 4; byte++) {
        id[byte] = (uint8_t)(info[INFO_ID_HIGH] >> (24 - 8 * byte));
        id[4 + byte] = (uint8_t)(info[INFO_ID_LOW] >> (24 - 8 * byte));
    }
}
