/* SPDX-License-Identifier: Apache-2.0 */
/* TinyEngine's code generator writes this for a network. Here the bench is what knows the network. */
