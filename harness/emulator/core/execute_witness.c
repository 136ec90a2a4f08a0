/* SPDX-License-Identifier: Apache-2.0 */
/* ARMv6-M once more, for a machine with a witness: the macros of witness.h are not empty here. */
#define WITNESS
#define execute execute_witness
#include "execute.c"
