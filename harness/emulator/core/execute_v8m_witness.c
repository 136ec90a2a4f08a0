/* SPDX-License-Identifier: Apache-2.0 */
/* ARMv8-M Mainline once more, for a machine with a witness: the macros of witness.h are not empty
 * here. */
#define WITNESS
#define execute_v8m execute_v8m_witness
#include "execute_v8m.c"
