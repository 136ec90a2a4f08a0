# SPDX-License-Identifier: Apache-2.0
"""The paper's tables, sweep and statements, computed by this package and laid beside what it prints."""
