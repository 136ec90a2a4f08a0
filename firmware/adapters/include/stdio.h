/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries include it; none of the functions that the adapters call uses what is in it. */
