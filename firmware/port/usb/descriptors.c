/* SPDX-License-Identifier: Apache-2.0 */
#include "port/usb/descriptors.h"

#include <stddef.h>

#include "port/usb/controller.h"

enum {
    VENDOR = 0x2e8a,                          /* Raspberry Pi */
    PRODUCT = 0x000a,                         /* "Pico SDK CDC": udev rules often have it */
    STRING_MANUFACTURER = 1, STRING_PRODUCT, STRING_SERIAL,
    STRING_CHARACTERS_MAX = 16,
    CONFIGURATION_BYTES = 75,
    LANGUAGE_US_ENGLISH = 0x0409
};
#define LE16(value) (uint8_t)((value) & 0xff), (uint8_t)((value) >> 8)

static const uint8_t device_descriptor[18] = {
    18, DESCRIPTOR_DEVICE, LE16(0x0200),
    0xef, 2, 1,                               /* class by interface association */
    USB_PACKET, LE16(VENDOR), LE16(PRODUCT), LE16(0x0100),
    STRING_MANUFACTURER, STRING_PRODUCT, STRING_SERIAL, 1,
};

static const uint8_t configuration_descriptor[CONFIGURATION_BYTES] = {
    9, DESCRIPTOR_CONFIGURATION, LE16(CONFIGURATION_BYTES), 2, 1, 0, 0x80, 125, /* 250 mA */
    8, 11, 0, 2, 2, 2, 0, 0,                  /* interface association: CDC, ACM */
    9, 4, 0, 0, 1, 2, 2, 0, 0,                /* interface 0: communication */
    5, 0x24, 0, LE16(0x0120),                 /* CDC header */
    5, 0x24, 1, 0, 1,                         /* call management: none */
    4, 0x24, 2, 2,                            /* ACM: line coding and line state */
    5, 0x24, 6, 0, 1,                         /* union of interfaces 0 and 1 */
    7, 5, 0x81, 3, LE16(8), 16,               /* endpoint 1 IN, interrupt */
    9, 4, 1, 0, 2, 10, 0, 0, 0,               /* interface 1: data */
    7, 5, 0x02, 2, LE16(USB_PACKET), 0,       /* endpoint 2 OUT, bulk */
    7, 5, 0x82, 2, LE16(USB_PACKET), 0,       /* endpoint 2 IN, bulk */
};

static const uint8_t languages[4] = {4, DESCRIPTOR_STRING, LE16(LANGUAGE_US_ENGLISH)};
static char serial_number[STRING_CHARACTERS_MAX + 1];
static uint8_t string_descriptor[2 + 2 * STRING_CHARACTERS_MAX];

void descriptor_set_serial_number(const uint8_t unique_id[8])
{
    static const char digits[] = "0123456789ABCDEF";
    for (uint32_t byte = 0; byte < 8; byte++) {
        serial_number[2 * byte] = digits[unique_id[byte] >> 4];
        serial_number[2 * byte + 1] = digits[unique_id[byte] & 15];
    }
}

static struct descriptor utf16(const char *text)
{
    uint32_t length = 2;
    for (; *text != 0; text++) {
        string_descriptor[length++] = (uint8_t)*text;
        string_descriptor[length++] = 0;
    }
    string_descriptor[0] = (uint8_t)length;
    string_descriptor[1] = DESCRIPTOR_STRING;
    return (struct descriptor){string_descriptor, length};
}

struct descriptor descriptor_find(uint32_t type, uint32_t index)
{
    if (type == DESCRIPTOR_DEVICE && index == 0) {
        return (struct descriptor){device_descriptor, sizeof device_descriptor};
    }
    if (type == DESCRIPTOR_CONFIGURATION && index == 0) {
        return (struct descriptor){configuration_descriptor, sizeof configuration_descriptor};
    }
    if (type == DESCRIPTOR_STRING && index == 0) {
        return (struct descriptor){languages, sizeof languages};
    }
    if (type == DESCRIPTOR_STRING && index == STRING_MANUFACTURER) {
        return utf16("ripbench");
    }
    if (type == DESCRIPTOR_STRING && index == STRING_PRODUCT) {
        return utf16("ripbench runner");
    }
    if (type == DESCRIPTOR_STRING && index == STRING_SERIAL) {
        return utf16(serial_number);
    }
    return (struct descriptor){NULL, 0};
}
