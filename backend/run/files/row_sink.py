"""New files of numbers that are written a slab at a time.

A sink is a temporary beside its target until the outputs of a run are renamed together (`writing.write_together`).  It has what a
value has to be spoken of, and no data.

Neighbours: `placed_rows`, `ordered_rows` (the two ways), `sinks` (which files), `lang.replacing`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ....lang.codes import Code
from ....lang.replacing import Replacement
from ....typechecker.elements import Kind
from .filling import bytes_of, new_array
from .trouble import FileTrouble


@dataclass(slots=True)
class RowSink(ABC):
    """`beside`: bytes of memory that writing takes; `any_axis`: may slabs be along any axis in any order, or are they rows in
    order?  `name`: of the output; `came`: bytes of items that have been put."""

    beside: ClassVar[int] = 0
    any_axis: ClassVar[bool] = False

    path: str
    kind: Kind
    shape: tuple[int, ...]
    name: str = ""
    written: Replacement = field(default_factory=Replacement)
    handle: int = -1
    came: int = 0

    @property
    def dtype(self) -> Any:
        return new_array((0,), self.kind).dtype

    @abstractmethod
    def prepare(self) -> None:
        """All but the items.  FileTrouble: what the format does not hold.  OSError."""

    @abstractmethod
    def put(self, slab: Any, axis: int, first: int) -> None:
        """Items from `first` on along an axis, all of the others'.  OSError."""

    @abstractmethod
    def finish(self) -> None:
        """All items have come.  OSError."""

    def begin(self) -> None:
        """FileTrouble, OSError: as `prepare`."""
        self.handle = self.written.begin(self.path)
        self.prepare()

    def end(self) -> None:
        """That was all.  OSError."""
        if self.came != bytes_of(self.kind, self.shape):
            raise FileTrouble(Code.E708, "was not written whole")
        self.finish()
        self.written.end(self.handle)

    def discard(self) -> None:
        """Nothing of it stays, unless it has been renamed."""
        self.written.__exit__(None, None, None)
