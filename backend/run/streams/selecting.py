"""Cells that a mask selected, in a scratch file that has no name: written as tiles come, read as the rows of an input.

Neighbours: `schedule.streams.selections` (what is selected), `driver` (writes), `files.rows` (how rows are read), `sorting` (the
other scratch store).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

from ....typechecker.elements import Kind
from ...schedule.streams.selections import Selected
from ..files.filling import new_array
from .temporary import Temporary


@dataclass(slots=True)
class SelectedRows(Temporary):
    """A store that is written in order and read anywhere; `count` cells have come."""

    selected: Selected
    count: int = 0

    @property
    def kind(self) -> Kind:
        return self.selected.kind

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.count, *self.selected.cell)

    @property
    def row_bytes(self) -> int:
        return int(prod(self.selected.cell)) * int(new_array((0,), self.kind).dtype.itemsize)

    @property
    def bytes(self) -> int:
        return self.count * self.row_bytes

    @property
    def beside(self) -> int:
        return 0

    # ------------------------------------------------------------------------------------- written

    def add(self, cells: Any, first: int) -> None:
        """What a tile that begins at `first` of the mask selects.  OSError."""
        if self.selected.places:
            cells = cells + first
        self.write(cells)
        self.count += len(cells)

    def end(self) -> None:
        pass

    # ------------------------------------------------------------------------------------- read

    def whole(self) -> Any:
        """All of it, in memory."""
        made = new_array(self.shape, self.kind)
        self.fill(made, 0)
        return made

    def open(self) -> None:
        pass

    def read(self, handle: None, first: int, into: Any, keep: int) -> None:
        self.fill(into, first * self.row_bytes)

    def close(self, handle: None) -> None:
        pass
