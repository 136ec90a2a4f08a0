/* SPDX-License-Identifier: Apache-2.0 */
/* Addition by tables: see add.c. */
#ifndef KERNELS_M33_ADD_H
#define KERNELS_M33_ADD_H

#include "kernels/m33/channel.h"

typedef int32_t __attribute__((may_alias)) table_word;

enum { ADD_TABLES_BYTES = 2048 };

/* first, second: twice the terms of an operand, by its value as a byte. */
struct add {
    table_word *first, *second;
    struct channel output;
    uint32_t low, high;                       /* the activation's range, four times */
};

/* tables: ADD_TABLES_BYTES, made unless they are already. Of the call it reads what is no tensor. false: only
 * exact code can do it. In SRAM. */
bool m33_add_begin(struct add *add, const struct op_call *call, void *tables, bool made);

/* Of one scalar each, whatever the records are. In SRAM. */
int8_t m33_add_exactly(const struct op_call *call, int32_t first, int32_t second);

/* Ascending, four scalars at a time. In SRAM. */
void m33_add_run(const struct add *add, const int8_t *first, const int8_t *second, int8_t *output,
                 int32_t count);

#endif
