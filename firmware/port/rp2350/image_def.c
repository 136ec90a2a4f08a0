/* SPDX-License-Identifier: Apache-2.0 */
/* The block that makes this an image for the RP2350's boot ROM, which looks for it in the first
 * 4 KB of flash (RP2350 data sheet 5.1.4, 5.9). Nothing else is said in it: so the image begins at
 * the start of flash, and its vector table with it. */
#include <stdint.h>

enum {
    ITEM_IMAGE_TYPE = 0x42,
    IMAGE_TYPE_EXE = 1u << 0,
    IMAGE_TYPE_SECURE = 2u << 4,
    IMAGE_TYPE_ARM = 0u << 8,
    IMAGE_TYPE_RP2350 = 1u << 12,
    ITEM_LAST = 0xff
};
#define BLOCK_START 0xffffded3u
#define BLOCK_END 0xab123579u

__attribute__((section(".image_def"), used)) static const uint32_t image_def[] = {
    BLOCK_START,
    (uint32_t)(IMAGE_TYPE_EXE | IMAGE_TYPE_SECURE | IMAGE_TYPE_ARM | IMAGE_TYPE_RP2350) << 16 |
        1u << 8 | ITEM_IMAGE_TYPE,            /* of one word */
    1u << 8 | ITEM_LAST,                      /* there was one word of items */
    0,                                        /* the next block of the loop: this one */
    BLOCK_END,
};
