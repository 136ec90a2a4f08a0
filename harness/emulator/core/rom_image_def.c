/* SPDX-License-Identifier: Apache-2.0 */
/* Which image in flash the RP2350's boot ROM enters, and how (RP2350 data sheet 5.1.5, 5.9).
 *
 * A loop of blocks starts in the first 4 KB. A block is a marker, items, a last item that repeats
 * how many words they are, the distance to the next block, and an end marker; what looks like a
 * first block but isn't well formed is passed over, any later one makes the loop invalid. One block
 * of the loop has to be an image definition, whose first item says what kind of image it is. The
 * vector table is at the start of the image unless an item says otherwise. Signatures, hashes,
 * partitions, load maps and rolled addresses are not modelled. */
#include "rom.h"
#include <stdio.h>
#include <string.h>

enum { SEARCH_BYTES = 4096, MOST_BLOCK_WORDS = 0x280 / 4, MOST_BLOCKS = 64 };
#define MARKER_START 0xffffded3u
#define MARKER_END 0xab123579u
enum item {                             /* bit 7: the size takes two bytes */
    ITEM_VECTOR_TABLE = 0x03, ITEM_ROLLING_WINDOW_DELTA = 0x05, ITEM_LOAD_MAP = 0x06,
    ITEM_SIGNATURE = 0x09, ITEM_IMAGE_TYPE = 0x42, ITEM_ENTRY_POINT = 0x44, ITEM_HASH_DEF = 0x47,
    ITEM_HASH_VALUE = 0x4b, ITEM_LAST = 0xff, ITEM_SIZE_IS_TWO_BYTES = 0x80
};
enum {                                  /* image type flags, the upper half of the item */
    TYPE_MASK = 0x000f, TYPE_EXE = 0x0001, SECURITY_MASK = 0x0030, SECURITY_NS = 0x0010,
    CPU_MASK = 0x0700, CPU_ARM = 0x0000, CHIP_MASK = 0x7000, CHIP_RP2350 = 0x1000, TBYB = 0x8000
};
enum { IMAGE_TYPE_HEADER = 1 << 8 | ITEM_IMAGE_TYPE };

static uint32_t word_at(const machine *m, uint32_t offset)
{
    uint32_t word = 0;
    if (offset <= m->flash_bytes - 4)
        memcpy(&word, m->flash + offset, sizeof word);
    return word;
}

static uint32_t item_words(uint32_t header)
{
    return header & ITEM_SIZE_IS_TWO_BYTES ? header >> 8 & 0xffff : header >> 8 & 0xff;
}

/* The offset of its last item, or 0 when it isn't well formed. */
static uint32_t last_item(const machine *m, uint32_t block)
{
    uint32_t words = 1;                 /* marker and items before this one */
    if (word_at(m, block) != MARKER_START)
        return 0;
    while (words < MOST_BLOCK_WORDS) {
        uint32_t at = block + 4 * words, header = word_at(m, at), size = item_words(header);
        if (size == 0)
            return 0;
        if ((header & 0xff) == ITEM_LAST)
            return size == words - 1 && word_at(m, at + 8) == MARKER_END ? at : 0;
        words += size;
    }
    return 0;
}

static bool is_image_def(const machine *m, uint32_t block)
{
    return (word_at(m, block + 4) & 0xffff) == IMAGE_TYPE_HEADER;
}

/* Follow the loop from its first block; the last image definition in it is the one that counts. */
static const char *follow_loop(const machine *m, uint32_t first, uint32_t *image_def)
{
    uint32_t block = first;
    *image_def = UINT32_MAX;
    for (int blocks = 0; blocks < MOST_BLOCKS; blocks++) {
        uint32_t last = last_item(m, block), next;
        if (!last)
            return "a block of the block loop is not well formed";
        if (is_image_def(m, block))
            *image_def = block;
        next = block + word_at(m, last + 4);
        if (next == first)
            return NULL;
        if (next == block || next < first || next >= m->flash_bytes || next & 3)
            return "the block loop does not come back to its first block";
        block = next;
    }
    return "the block loop does not come back to its first block";
}

static const char *type_problem(uint32_t flags)
{
    if ((flags & TYPE_MASK) != TYPE_EXE)
        return "the image definition is not of an executable image";
    if ((flags & CHIP_MASK) != CHIP_RP2350)
        return "the image definition is not for the RP2350";
    if ((flags & CPU_MASK) != CPU_ARM)
        return "the image definition is not for Arm";
    if ((flags & SECURITY_MASK) == SECURITY_NS)
        return "the image definition is of a Non-secure image";
    if (flags & TBYB)
        return "the image definition says try before you buy, which only boots after an update";
    return NULL;
}

static void read_items(machine *m, uint32_t block, uint32_t last, struct image_entry *entry)
{
    bool has_entry = false;
    for (uint32_t at = block + 8; at < last; at += 4 * item_words(word_at(m, at))) {
        uint32_t header = word_at(m, at), item = header & 0x7f;
        switch (item) {
        case ITEM_VECTOR_TABLE:
            entry->vector_table = word_at(m, at + 4);
            break;
        case ITEM_ENTRY_POINT:
            has_entry = true;
            entry->pc = word_at(m, at + 4);
            entry->sp = word_at(m, at + 8);
            entry->sp_limit = item_words(header) == 4 ? word_at(m, at + 12) : 0;
            break;
        case ITEM_ROLLING_WINDOW_DELTA: case ITEM_LOAD_MAP: case ITEM_SIGNATURE:
        case ITEM_HASH_DEF: case ITEM_HASH_VALUE:
            machine_strict(m, "the image definition has an item %02Xh, which is not modelled",
                           (unsigned)item);
            break;
        default:                        /* versions and the like say nothing about how to enter */
            break;
        }
    }
    if (!has_entry) {
        entry->sp = bus_load(m, entry->vector_table, 4);
        entry->pc = bus_load(m, entry->vector_table + 4, 4);
        entry->sp_limit = 0;
    }
}

bool rom_find_image(machine *m, struct image_entry *entry, char *problem, size_t problem_bytes)
{
    uint32_t first = 0, image_def = UINT32_MAX;
    const char *wrong;
    while (first < SEARCH_BYTES && !last_item(m, first))
        first += 4;
    if (first >= SEARCH_BYTES)
        wrong = "no block loop starts in the first 4 KB of flash";
    else
        wrong = follow_loop(m, first, &image_def);
    if (!wrong && image_def == UINT32_MAX)
        wrong = "the block loop has no image definition";
    if (!wrong)
        wrong = type_problem(word_at(m, image_def + 4) >> 16);
    if (wrong) {
        snprintf(problem, problem_bytes, "%s", wrong);
        return false;
    }
    *entry = (struct image_entry){.vector_table = XIP_BASE};
    read_items(m, image_def, last_item(m, image_def), entry);
    return true;
}
