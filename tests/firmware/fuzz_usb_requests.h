/* SPDX-License-Identifier: Apache-2.0 */
/* Control requests: what the device has to do with each, and drawn ones. */
#ifndef TESTS_FUZZ_USB_REQUESTS_H
#define TESTS_FUZZ_USB_REQUESTS_H

#include "fuzz_usb_mock.h"

struct setup {
    uint8_t type, request;
    uint16_t value, index, length;
};

enum duty { MUST_ANSWER, MUST_ACKNOWLEDGE, MUST_STALL, EITHER };

static bool halt_pipe(uint32_t index, enum usb_pipe *pipe)
{
    *pipe = index == 0x81 ? EP1_IN : index == 0x82 ? EP2_IN : EP2_OUT;
    return index == 0x81 || index == 0x82 || index == 0x02;
}

/* Of those left: requests that may be refused or not, by what else they say. All other ones are of
 * another kind, direction or recipient than USB 2.0 and CDC ACM know. */
static bool is_known(uint32_t key)
{
    static const uint32_t keys[] = {0x8100, 0x810a, 0x010b};
    for (uint32_t index = 0; index < sizeof keys / sizeof keys[0]; index++) {
        if (key == keys[index]) {
            return true;
        }
    }
    return false;
}

/* `answer`: the bytes that must come, before they are cut to the length asked for. */
static enum duty duty_of(const struct setup *setup, struct fuzz_bytes *answer)
{
    const uint32_t key = (uint32_t)setup->type << 8 | setup->request;
    enum usb_pipe pipe;
    answer->length = 0;
    switch (key) {
    case 0x8006: {
        const struct descriptor found = descriptor_find(setup->value >> 8, setup->value & 0xff);
        if (found.bytes == NULL) {
            return MUST_STALL;
        }
        fuzz_put(answer, found.bytes, found.length);
        return MUST_ANSWER;
    }
    case 0x8000:
        fuzz_put_byte(answer, 0);
        fuzz_put_byte(answer, 0);
        return MUST_ANSWER;
    case 0x8008:
        fuzz_put_byte(answer, model.configuration);
        return MUST_ANSWER;
    case 0x8200:
        if (!halt_pipe(setup->index, &pipe)) {
            return EITHER;
        }
        fuzz_put_byte(answer, model.halted[pipe]);
        fuzz_put_byte(answer, 0);
        return MUST_ANSWER;
    case 0x0005:
        return setup->length != 0 ? MUST_STALL : setup->value < 128 ? MUST_ACKNOWLEDGE : EITHER;
    case 0x0009:
        return setup->length == 0 && setup->value <= 1 ? MUST_ACKNOWLEDGE : MUST_STALL;
    case 0x0201:
    case 0x0203:
        return model.configuration != 0 && setup->length == 0 && setup->value == 0 &&
                       halt_pipe(setup->index, &pipe)
                   ? MUST_ACKNOWLEDGE
                   : EITHER;
    case 0xa121:
        fuzz_put(answer, model.line_coding, sizeof model.line_coding);
        return setup->index == 0 ? MUST_ANSWER : MUST_STALL;
    case 0x2120:
        return setup->index == 0 && setup->length == 7 ? MUST_ACKNOWLEDGE : MUST_STALL;
    case 0x2122:
        return setup->index == 0 && setup->length == 0 ? MUST_ACKNOWLEDGE : MUST_STALL;
    default:
        return is_known(key) ? EITHER : MUST_STALL;
    }
}

static void close_port(void)
{
    model.listening = false;
    model.in_flight = false;
    model.to_host.count = 0;
    model.to_program.count = 0;
    memset(model.halted, 0, sizeof model.halted);
}

/* The device acts on SETUP itself, before the status stage; only the address waits for that. */
static void expect_effect(const struct setup *setup)
{
    const uint32_t key = (uint32_t)setup->type << 8 | setup->request;
    enum usb_pipe pipe;
    if (key == 0x0009) {
        model.configuration = (uint8_t)setup->value;
        close_port();
    } else if (key == 0x2122) {
        model.listening = (setup->value & 1) != 0;
        model.to_host.count = model.listening ? model.to_host.count : 0;
    } else if ((key == 0x0201 || key == 0x0203) && halt_pipe(setup->index, &pipe)) {
        model.halted[pipe] = key == 0x0203;
        model.in_flight = model.in_flight && pipe != EP2_IN;
    }
}

/* ---- drawn ---- */

/* The fields that a request has no use for, and those it needs, as a host would fill them in. */
static void make_sense(struct setup *setup)
{
    static const uint32_t endpoints[] = {0x81, 0x82, 0x82, 0x02, 0x02};
    static const uint32_t descriptors[] = {0x100, 0x200, 0x200, 0x300, 0x301, 0x302, 0x303};
    const bool descriptor = setup->type == 0x80 && setup->request == 6;
    const bool line = setup->type == 0x21;
    setup->index = (uint16_t)((setup->type & 0x1f) == 2 ? fuzz_of(endpoints, 5) : 0);
    setup->length = (setup->type & 0x80) != 0              ? setup->length
                    : line && setup->request == 0x20 ? 7
                                                     : 0;
    setup->value = (uint16_t)(descriptor                 ? fuzz_of(descriptors, 7)
                              : line                     ? fuzz_below(2)
                              : setup->request == 9      ? fuzz_below(4) != 0
                              : setup->request == 5      ? fuzz_below(128)
                                                         : 0);
}

static void draw_setup(struct setup *setup)
{
    static const uint32_t keys[] = {0x8006, 0x8006, 0x8006, 0x8000, 0x8008, 0x8200, 0x8100,
                                    0x0005, 0x0009, 0x0009, 0x0201, 0x0203, 0xa121, 0x2120,
                                    0x2122, 0x2122, 0x810a, 0x010b, 0x0001, 0x0003, 0x0007};
    static const uint32_t values[] = {0,     1,     2,     0x100, 0x200, 0x300,
                                      0x301, 0x302, 0x303, 0x304, 0x1ff, 0x600,
                                      0x700, 0x7f,  3,     0x80,  0x7fff, 0xffff};
    static const uint32_t indices[] = {0,    0,    0,    1,     2,      0x81,
                                       0x82, 0x83, 0x80, 0x409, 0xffff, 0x0282};
    static const uint32_t lengths[] = {0, 0, 0, 1, 2, 7, 8, 9, 18, 63, 64, 65, 75, 255, 0xffff};
    const uint32_t key = fuzz_of(keys, sizeof keys / sizeof keys[0]);
    *setup = (struct setup){
        .type = (uint8_t)(key >> 8),
        .request = (uint8_t)key,
        .value = (uint16_t)fuzz_of(values, sizeof values / sizeof values[0]),
        .index = (uint16_t)fuzz_of(indices, sizeof indices / sizeof indices[0]),
        .length = (uint16_t)fuzz_of(lengths, sizeof lengths / sizeof lengths[0]),
    };
    if (fuzz_below(3) != 0) {
        make_sense(setup);
    }
    switch (fuzz_below(12)) {
    case 0:
        setup->type = (uint8_t)fuzz_next();
        break;
    case 1:
        setup->request = (uint8_t)fuzz_next();
        break;
    case 2:
        setup->value = (uint16_t)fuzz_next();
        break;
    case 3:
        setup->length = (uint16_t)fuzz_next();
        break;
    default:
        break;
    }
}

#endif
