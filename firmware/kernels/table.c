/* SPDX-License-Identifier: Apache-2.0 */
/* The kernels of this build; the first that accepts a record runs it. */
#include <stddef.h>

#include "kernels/plain/plain.h"

static const struct conv_kernel *const table[] = {
    &plain_conv_gather_double,
    &plain_conv_gather_single,
    &plain_conv_direct_double,
    &plain_conv_direct_single,
};

const struct conv_kernel *conv_kernel_for(const struct conv_record *record)
{
    for (size_t index = 0; index < sizeof table / sizeof table[0]; index++) {
        if (table[index]->accepts(record)) {
            return table[index];
        }
    }
    return NULL;
}
