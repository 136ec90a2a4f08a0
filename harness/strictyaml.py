# SPDX-License-Identifier: Apache-2.0
"""YAML that answers mistakes with file, line, column and the nearest name.

Only PyYAML's safe node composer is used: plain data comes out, nothing in a file is ever executed.
Duplicate keys, aliases, tags, very deep or very large documents are refused.
"""

from __future__ import annotations

import difflib
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

from harness.errors import ConfigError

MAX_BYTES = 1 << 20
MAX_NODES = 50_000
MAX_DEPTH = 20
_MAX_DIGITS = 20  # of a whole number; all that are asked for are shorter
_MAX_QUOTED = 80  # characters of a value in a message


@dataclass(frozen=True)
class Node:
    """A value and where it stands: `path` (file), `line` and `column` count from 1."""

    _node: yaml.Node
    path: str

    @property
    def where(self) -> str:
        mark = self._node.start_mark
        return f"{self.path}:{mark.line + 1}:{mark.column + 1}"

    @property
    def kind(self) -> str:
        """`scalar`, `sequence` or `mapping`."""
        if isinstance(self._node, yaml.ScalarNode):
            return "scalar"
        return "sequence" if isinstance(self._node, yaml.SequenceNode) else "mapping"

    def fail(self, message: str, hint: str = "") -> ConfigError:
        """The error to raise for this value."""
        return ConfigError(f"{self.where}: {message}", hint=hint)

    def fail_at(self, offset: int, message: str, hint: str = "") -> ConfigError:
        """The error for a place in this text, counted from its first character; for a text over several
        lines, or with escapes, for the text as a whole."""
        mark, end = self._node.start_mark, self._node.end_mark
        style = getattr(self._node, "style", None)
        quotes = 1 if style in ("'", '"') else 0
        plain = mark.line == end.line and end.column - mark.column == len(self.text()) + 2 * quotes
        column = mark.column + 1 + (quotes + offset if plain else 0)
        return ConfigError(f"{self.path}:{mark.line + 1}:{column}: {message}", hint=hint)

    def mapping(
        self, known: Collection[str] | None = None, needed: Collection[str] = ()
    ) -> Mapping:
        """This value as a mapping. With `known`, another key is an error that names the nearest one."""
        if not isinstance(self._node, yaml.MappingNode):
            raise self.fail("a mapping (key: value) is expected here")
        entries: dict[str, Node] = {}
        for key_node, value_node in self._node.value:
            key = Node(key_node, self.path)
            name = key.text()
            if name in entries:
                raise key.fail(f"{quoted(name)} is here twice")
            if known is not None and name not in known:
                raise key.fail(f"unknown key {quoted(name)}", nearest(name, known))
            entries[name] = Node(value_node, self.path)
        for name in needed:
            if name not in entries:
                raise self.fail(f"{name!r} is missing")
        return Mapping(entries, self)

    def sequence(self) -> list[Node]:
        if not isinstance(self._node, yaml.SequenceNode):
            raise self.fail("a list is expected here")
        return [Node(item, self.path) for item in self._node.value]

    def text(self) -> str:
        if not isinstance(self._node, yaml.ScalarNode):
            raise self.fail("a text is expected here")
        value: str = self._node.value
        return value

    def integer(self, least: int, most: int) -> int:
        node = self._node
        if not isinstance(node, yaml.ScalarNode) or not node.tag.endswith(":int"):
            raise self.fail(f"a whole number from {least} to {most} is expected here")
        digits = node.value.replace("_", "")
        if len(digits) > _MAX_DIGITS:
            raise self.fail(f"a number of {len(digits)} digits is not within {least} to {most}")
        try:
            value = int(digits, 0)
        except ValueError:
            raise self.fail(f"{quoted(node.value)} is not a whole number") from None
        if not least <= value <= most:
            raise self.fail(f"{value} is not within {least} to {most}")
        return value

    def integers(self, length: int, least: int, most: int) -> list[int]:
        items = self.sequence()
        if len(items) != length:
            raise self.fail(f"{length} numbers are expected here, got {len(items)}")
        return [item.integer(least, most) for item in items]

    def boolean(self) -> bool:
        return self.choice(("true", "false")) == "true"

    def choice(self, allowed: Collection[str]) -> str:
        value = self.text()
        if value not in allowed:
            raise self.fail(f"{quoted(value)} is not known", nearest(value, allowed))
        return value


@dataclass(frozen=True)
class Mapping:
    """Entries in the order of the file; `node` is the mapping itself."""

    entries: dict[str, Node]
    node: Node

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def __getitem__(self, name: str) -> Node:
        return self.entries[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.entries)

    def get(self, name: str) -> Node | None:
        return self.entries.get(name)


def quoted(text: str) -> str:
    """A value as it stands in a message: escaped, and its beginning only if it is long."""
    return repr(text) if len(text) <= _MAX_QUOTED else repr(text[:_MAX_QUOTED]) + "..."


def nearest(name: str, known: Collection[str]) -> str:
    """A hint: the nearest known name, or all of them."""
    close = difflib.get_close_matches(name[:_MAX_QUOTED], list(known), n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return "known: " + ", ".join(sorted(known))


def load(path: Path) -> Node:
    """The document in `path`. Errors: ConfigError for anything but one plain YAML document."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):  # a device or a pipe may never end
            raise ConfigError(f"{path} is not a file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
        if len(data) > MAX_BYTES:
            raise ConfigError(f"{path} is larger than {MAX_BYTES} bytes")
        text = data.decode("utf-8")
    except OSError as error:
        raise ConfigError(f"{path} cannot be read", cause=error.strerror or str(error)) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path} is not UTF-8 text", cause=str(error)) from error
    return parse(text, str(path))


def parse(text: str, path: str) -> Node:
    """The same for text that is already here; `path` is for messages."""
    try:
        root = yaml.compose(text, Loader=_Watched)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else path
        raise ConfigError(f"{place}: not YAML", cause=str(error.problem)) from error
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: not YAML", cause=str(error)) from error
    if root is None:
        raise ConfigError(f"{path} is empty")
    return Node(root, path)


class _Watched(yaml.SafeLoader):
    """Composes a tree under a watch on depth, number of nodes, aliases and tags."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self._depth = self._nodes = 0

    def get_event(self) -> yaml.Event | None:
        event: yaml.Event | None = super().get_event()  # type: ignore[no-untyped-call]
        if event is not None:
            self._look_at(event)
        return event

    def _look_at(self, event: yaml.Event) -> None:
        self._nodes += isinstance(event, yaml.NodeEvent)
        self._depth += isinstance(event, yaml.CollectionStartEvent)
        self._depth -= isinstance(event, yaml.CollectionEndEvent)
        problem = None
        if isinstance(event, yaml.AliasEvent):
            problem = "aliases are not allowed"
        elif getattr(event, "tag", None) is not None:
            problem = "tags are not allowed"
        elif self._depth > MAX_DEPTH or self._nodes > MAX_NODES:
            problem = f"more than {MAX_DEPTH} levels or {MAX_NODES} values"
        if problem:
            mark = event.start_mark
            place = f" at line {mark.line + 1}" if mark else ""
            raise yaml.YAMLError(problem + place)
