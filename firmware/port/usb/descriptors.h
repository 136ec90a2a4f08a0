/* SPDX-License-Identifier: Apache-2.0 */
/* USB descriptors of the runner (USB 2.0 chapter 9.6, CDC 1.2 chapter 5). */
#ifndef PORT_USB_DESCRIPTORS_H
#define PORT_USB_DESCRIPTORS_H

#include <stdint.h>

enum { DESCRIPTOR_DEVICE = 1, DESCRIPTOR_CONFIGURATION = 2, DESCRIPTOR_STRING = 3 };

struct descriptor {
    const uint8_t *bytes;     /* NULL: no such descriptor */
    uint32_t length;
};
struct descriptor descriptor_find(uint32_t type, uint32_t index);
void descriptor_set_serial_number(const uint8_t unique_id[8]);

#endif
