/* SPDX-License-Identifier: Apache-2.0 */
/* ARMv6-M once more, for a machine with a profile: the macros of profile.h are not empty here. */
#define PROFILE
#define execute execute_profile
#include "execute.c"
