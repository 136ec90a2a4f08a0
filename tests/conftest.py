# SPDX-License-Identifier: Apache-2.0
"""Fixtures that several rooms' tests share."""
