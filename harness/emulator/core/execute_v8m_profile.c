/* SPDX-License-Identifier: Apache-2.0 */
/* ARMv8-M Mainline once more, for a machine with a profile: the macros of profile.h are not empty
 * here. */
#define PROFILE
#define execute_v8m execute_v8m_profile
#include "execute_v8m.c"
