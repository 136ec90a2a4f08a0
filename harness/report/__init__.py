# SPDX-License-Identifier: Apache-2.0
"""Verdicts for readers."""

from harness.report.identities import identities
from harness.report.properties import properties
from harness.report.table import table
from harness.report.text import printable

__all__ = ["identities", "printable", "properties", "table"]
