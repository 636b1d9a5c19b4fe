"""Reading the fields of a table one by one, of TOML or JSON: every bad value becomes a diagnostic with its path, such as
`phases[3].ticks`, and one run reports all of them.

`tomllib` keeps no positions, so `Places` finds the line of a field again by its section and name (inline tables count as
the line they stand on); what it cannot find points at the section's header, or at the file's first line.

Neighbours: `reading` (profiles), `schedule.files` (instances).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from typing import Final, NoReturn, TypeGuard, TypeVar

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused
from ...lang.primitives import nearest
from ...lang.source import Span

Chosen = TypeVar("Chosen", bound=Enum)

LARGEST: Final = (1 << 63) - 1
MOST_PROBLEMS: Final = 20
PLACES: Final = 9
"""Digits after the point that a number may have."""
_HEADER: Final = re.compile(r"\s*(\[\[?)\s*([^\]#]+?)\s*\]")
_FIELD: Final = re.compile(r"""\s*("[^"]*"|'[^']*'|[A-Za-z0-9_-]+)\s*(?:\.|=)""")


@dataclass(frozen=True, slots=True)
class Places:
    """The lines of a text: `sections[path]` is the offset of a header (`device[1].op.add.f64`), `fields` those of names in it."""

    file: str
    text: str
    found: Mapping[str, tuple[int, int]]

    @staticmethod
    def of(file: str, text: str) -> Places:
        found: dict[str, tuple[int, int]] = {}
        counts: dict[str, int] = {}
        section, start = "", 0
        for line in text.splitlines(keepends=True):
            span = (start + len(line) - len(line.lstrip()), start + len(line.rstrip()))
            if (header := _HEADER.match(line)) is not None:
                name = header[2].replace('"', "").replace("'", "").replace(" ", "")
                top, dot, rest = name.partition(".")
                if header[1] == "[[":
                    counts[top] = counts.get(top, -1) + 1
                section = f"{top}[{counts[top]}]{dot}{rest}" if top in counts else name
                found.setdefault(section, span)
            elif (name_of := _FIELD.match(line)) is not None:
                key = name_of[1].strip("\"'")
                found.setdefault(f"{section}.{key}" if section else key, span)
            start += len(line)
        return Places(file, text, found)

    def span(self, path: str) -> Span:
        """Of the line that says `path`, or the nearest section around it."""
        while path:
            if path in self.found:
                return Span(self.file, *self.found[path])
            path = path.rpartition(".")[0]
        return Span(self.file, 0, max(1, len(self.text.partition("\n")[0])) if self.text else 0)


@dataclass(slots=True)
class Problems:
    """What is wrong with a file, so far.  `largest`: of its whole numbers; `record`: what its tables are called."""

    places: Places
    largest: int = LARGEST
    record: str = "a table"
    found: list[Diagnostic] = field(default_factory=list)

    def add(self, path: str, message: str, *notes: str, code: Code = Code.E705) -> None:
        """Refused: there are very many."""
        self.found.append(Diagnostic(code, f"{path}: {message}" if path else message, self.places.span(path), notes=notes))
        if len(self.found) >= MOST_PROBLEMS:
            self.stop()

    def fail(self, path: str, message: str, *notes: str) -> NoReturn:
        """Refused, for this and what was found before."""
        self.add(path, message, *notes)
        raise Refused(self._in_order())

    def stop(self) -> None:
        """Refused: there are any, in the order of the file."""
        if self.found:
            raise Refused(self._in_order())

    def _in_order(self) -> list[Diagnostic]:
        return sorted(self.found, key=lambda found: found.span.start)

    def whole(self, value: object) -> Fields:
        """The fields of a file.  Refused: it is no table."""
        found = self.fields(value)
        self.stop()
        assert found is not None
        return found

    def fields(self, value: object, path: str = "") -> Fields | None:
        """Those of a table."""
        if isinstance(value, dict):
            return Fields(path, dict(value), self)
        self.add(path, f"must be {self.record}, not {shown(value)}")
        return None


@dataclass(slots=True)
class Fields:
    """The fields of one table at `path`.  Each reader takes one away; `finish` reports those that nobody wanted."""

    path: str
    values: dict[str, object]
    problems: Problems
    known: list[str] = field(default_factory=list)

    def take(self, name: str) -> object | None:
        self.known.append(name)
        return self.values.pop(name, None)

    def at(self, name: str) -> str:
        return f"{self.path}.{name}" if self.path else name

    def trouble(self, name: str, message: str, *notes: str) -> None:
        self.problems.add(self.at(name), message, *notes)

    def missing(self, name: str) -> None:
        self.problems.add(self.path, f"`{name}` is missing")

    def text(self, name: str, default: str | None = None) -> str:
        value = self.take(name)
        if value is None:
            if default is None:
                self.missing(name)
            return default or ""
        if not isinstance(value, str) or not value:
            self.trouble(name, f"must be a text, not {shown(value)}")
            return default or ""
        return value

    def name(self, name: str, default: str | None = None) -> str:
        """A text that can stand for something in messages and directives."""
        value = self.text(name, default)
        if value != value.strip() or not value.isprintable():
            self.trouble(name, f"must be visible characters without spaces around them, not {shown(value)}")
        return value

    def whole(self, name: str, default: int | None, least: int = 0) -> int | None:
        value = self.take(name)
        if value is None:
            return default
        largest = self.problems.largest
        if not is_whole(value, largest, least):
            most = f" to {largest}" if isinstance(value, int) and value > largest else ""
            self.trouble(name, f"must be a whole number from {least}{most}, not {shown(value)}")
            return default
        return value

    def number(self, name: str, default: int | None = None, least: int = 0) -> int:
        if default is None and name not in self.values:
            self.missing(name)
        found = self.whole(name, default, least)
        return default or least if found is None else found

    def switch(self, name: str, default: bool = False) -> bool:
        value = self.take(name)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.trouble(name, f"must be true or false, not {shown(value)}")
            return False
        return value

    def fraction(self, name: str, default: Fraction, below: int | None = None) -> Fraction:
        """A number from 0 with at most nine places, below `below`."""
        value = self.take(name)
        if value is None:
            return default
        good = isinstance(value, int | Decimal) and not isinstance(value, bool)
        if good and isinstance(value, Decimal):
            exponent = value.as_tuple().exponent
            good = value.is_finite() and isinstance(exponent, int) and exponent >= -PLACES and value.adjusted() < 19
        if not good or not isinstance(value, int | Decimal) or value < 0:
            self.trouble(name, f"must be a number from 0 with at most {PLACES} decimal places, not {shown(value)}")
            return default
        if below is not None and value >= below:
            self.trouble(name, f"must be below {below}, not {shown(value)}")
            return default
        return Fraction(value)

    def choice(self, name: str, kinds: Iterable[Chosen], default: Chosen) -> Chosen:
        value = self.take(name)
        if value is None:
            return default
        found = {kind.value: kind for kind in kinds}
        if isinstance(value, str) and value in found:
            return found[value]
        guess = nearest(value, list(found)) if isinstance(value, str) else None
        meant = f"; did you mean `{guess}`?" if guess else ""
        self.trouble(name, f"must be one of {', '.join(map(str, found))}, not {shown(value)}{meant}")
        return default

    def numbers(self, name: str) -> tuple[int, ...] | None:
        """A list of whole numbers; None if there is none, or it is not that."""
        value = self.take(name)
        if value is None:
            return None
        if not isinstance(value, list) or not value or not all(is_whole(item, self.problems.largest) for item in value):
            self.trouble(name, f"must be a list of at least one whole number from 0, not {shown(value)}")
            return None
        return tuple(value)

    def items(self, name: str, most: int) -> list[tuple[str, object]]:
        """Those of a list, at most so many, with their paths."""
        value = self.take(name)
        if value is None:
            return []
        if not isinstance(value, list):
            self.trouble(name, f"must be a list (of tables in TOML: `[[{name}]]`), not {shown(value)}")
            return []
        if len(value) > most:
            self.trouble(name, f"has {len(value)} elements; at most {most} are read")
            return []
        return [(f"{self.at(name)}[{place}]", item) for place, item in enumerate(value)]

    def texts(self, name: str, most: int) -> list[str]:
        found: list[str] = []
        for path, item in self.items(name, most):
            if isinstance(item, str):
                found.append(item)
            else:
                self.problems.add(path, f"must be a text, not {shown(item)}")
        return found

    def table(self, name: str) -> Fields | None:
        value = self.take(name)
        return None if value is None else self.problems.fields(value, self.at(name))

    def tables(self, name: str, most: int = LARGEST) -> list[Fields]:
        """Those of a list (`[[name]]`), each of which is to be finished."""
        found = (self.problems.fields(item, path) for path, item in self.items(name, most))
        return [fields for fields in found if fields is not None]

    def finish(self) -> None:
        for name in self.values:
            guess = nearest(name, self.known)
            self.trouble(name, "unknown field" + (f"; did you mean `{guess}`?" if guess else ""),
                         f"known here: {', '.join(sorted(self.known))}")  # fmt: skip


def is_whole(value: object, largest: int, least: int = 0) -> TypeGuard[int]:
    """Is it a whole number in that range?"""
    return isinstance(value, int) and not isinstance(value, bool) and least <= value <= largest


def shown(value: object) -> str:
    """A value in a message: short, as TOML writes it where that is simple."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value if len(value) <= 40 else value[:37] + "..."}"'
    if isinstance(value, Sequence):
        return f"[{', '.join(map(shown, value[:4]))}{', …' if len(value) > 4 else ''}]"
    if isinstance(value, Mapping):
        return "a table"
    text = str(value)
    return text if len(text) <= 40 else text[:37] + "..."
