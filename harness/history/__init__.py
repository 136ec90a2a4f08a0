# SPDX-License-Identifier: Apache-2.0
"""Results that last: one JSON line for each verdict."""

from harness.history.jsonl import append, read

__all__ = ["append", "read"]
