"""What every scan kernel is written with: what is scanned, the words that it is called with, how items are joined.

Neighbours: `scanning` (says what the words are), `running`, `scan_columns` (write kernels with these), `backend.run.scans`.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Final

from ...typechecker.elements import Kind
from ...typechecker.scalars import is_ordered, neutral
from .rooms import Rooms
from .scalar_text import combine
from .vectors import Vectors
from .writer import Writer

RUN: Final = 64
BLOCK: Final = 4096
_LANES: Final = 8
_BYTES: Final = 32
"""Vectors of runs side by side have so many lanes and bytes at most: wider ones take longer to turn."""
VECTORS: Final = 2
"""Of such vectors, those that take a step together."""


class Form(Enum):
    """See the module."""

    LINES = "lines"
    COLUMNS = "columns"


@dataclass(frozen=True, slots=True)
class ScanShape:
    """`lanes`: items of a vector, a divisor of `RUN`.  `unit`: the items of a source line lie next to each other.
    `streamed`: results bypass the caches; lines of the result start at multiples of 64 bytes."""

    function: str
    kind: Kind
    form: Form
    lanes: int
    unit: bool = True
    streamed: bool = False

    @property
    def is_free(self) -> bool:
        """Does the order not show?"""
        return not is_ordered(self.function, self.kind)


PARITIES: Final = frozenset({"ne", "eq"})
"""Functions of truth values that are scanned besides those that kernels reduce with."""


class ScanWriting:
    """Loads words, joins items."""

    def __init__(self, code: ScanShape) -> None:
        self.code, self.kind = code, code.kind
        self.w = Writer()
        self.one, self.v = Vectors(self.w, 1), Vectors(self.w, code.lanes)
        self.wide = Vectors(self.w, max(1, min(code.lanes, _LANES, _BYTES // code.kind.bytes)))
        self.sides = VECTORS * self.wide.lanes
        self.rooms = Rooms(self.w)
        self.type = self.one.type(code.kind)
        self.nothing = self.one.constant(code.kind, neutral(code.function, code.kind))
        self.w.label("start")

    def word(self, place: int, type: str = "i64") -> str:
        address = self.w.let(f"getelementptr i64, ptr %words, i64 {place}")
        return self.w.let(f"load {type}, ptr {address}, align 8")

    def room(self, items: int) -> str:
        return self.rooms.room(items * self.kind.bytes)

    def item(self, base: str, place: object, stride: object = None) -> str:
        """The address of an item."""
        return self.w.at(base, self.w.word("mul", place, self.kind.bytes if stride is None else stride))

    def joined(self, left: str, right: str, vectors: Vectors | None = None) -> str:
        return combine((vectors or self.one), self.code.function, self.kind, left, right)
