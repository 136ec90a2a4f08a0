# SPDX-License-Identifier: Apache-2.0
"""Results that last: one JSON line for each verdict, and for each measurement that failed."""

from harness.history.jsonl import append, read, read_failures

__all__ = ["append", "read", "read_failures"]
