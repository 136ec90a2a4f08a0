# SPDX-License-Identifier: Apache-2.0
"""Is a history whole: the pages of its file, the rows that hang on others, the files beside it."""

from __future__ import annotations

import hashlib
import sqlite3
from pathlib import Path

from harness.history.blobs import Blobs

_HALF = (
    ("verdicts without an attempt", "SELECT id FROM verdict v WHERE NOT EXISTS "
     "(SELECT 1 FROM attempt WHERE verdict = v.id)"),
    ("verdicts with fewer attempts than they had", "SELECT id FROM verdict v WHERE attempts <> "
     "(SELECT count(*) FROM attempt WHERE verdict = v.id)"),
    ("verdicts whose samples are not all there", "SELECT verdict FROM sample GROUP BY verdict "
     "HAVING count(*) <> max(number) + 1"),
)  # fmt: skip


def check(db: sqlite3.Connection, path: Path) -> list[str]:
    """What is wrong, in words; nothing for a history that is whole. Errors: sqlite3.Error for damage
    that keeps the file from being read at all."""
    found = [
        f"the file: {line}" for (line,) in db.execute("PRAGMA integrity_check") if line != "ok"
    ]
    for table, row, parent, _ in db.execute("PRAGMA foreign_key_check"):
        found.append(f"row {row} of {table} hangs on a row of {parent} that is not there")
    for what, query in _HALF:
        numbers = [str(number) for (number,) in db.execute(query)]
        if numbers:
            found.append(f"{what}: {', '.join(numbers[:10])}")
    for _, file, _ in Blobs(path).list():
        half = file.name.startswith(".")  # what a kill left; a prune takes it
        if not half and hashlib.sha256(file.read_bytes()).hexdigest() != file.name:
            found.append(f"{file} is damaged")
    return found
