# SPDX-License-Identifier: Apache-2.0
"""Tags kept as runs against a tag for each byte."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.plan.memory import Tag, Tags

_END = 40
WRITES = st.lists(
    st.tuples(st.integers(0, _END), st.integers(1, 12), st.integers(0, 3)), max_size=20
)


@settings(max_examples=300, deadline=None)
@given(WRITES, st.integers(0, _END), st.integers(1, 20), st.integers(0, 3), st.integers(0, _END))
def test_runs_say_what_single_bytes_say(
    writes: list[tuple[int, int, int]], start: int, size: int, tensor: int, base: int
) -> None:
    tags = Tags()
    by_byte: list[Tag | None] = [None] * (2 * _END)
    for at, length, name in writes:
        tags.write(at, at + length, Tag(name, at))
        by_byte[at : at + length] = [Tag(name, at)] * length
    for asked in (Tag(tensor, base), *(tag for tag in by_byte if tag is not None)):
        wrong = [n for n in range(start, start + size) if by_byte[n] != asked]
        found = tags.find_other(start, start + size, asked)
        assert found == ((wrong[0], by_byte[wrong[0]]) if wrong else None)
