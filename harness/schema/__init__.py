# SPDX-License-Identifier: Apache-2.0
"""One description of every struct that C and Python share."""
