"""Cells that a mask selected, in a scratch file that has no name: written as tiles come, read as the rows of an input.

Neighbours: `schedule.streams.selections` (what is selected), `driver` (writes), `files.rows` (how rows are read), `sorting` (the
other scratch store).
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ...schedule.streams.selections import Selected
from ..files.filling import new_array
from ..files.trouble import FileTrouble


@dataclass(slots=True)
class SelectedRows:
    """A store that is written in order and read anywhere; `count` cells have come."""

    selected: Selected
    file: Any = None
    count: int = 0

    @property
    def path(self) -> str:
        return f"a temporary file in {tempfile.gettempdir()}"

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

    @property
    def going_back(self) -> bool:
        return True

    # ------------------------------------------------------------------------------------- written

    def begin(self) -> None:
        """OSError."""
        self.file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it is open from pass to pass

    def add(self, cells: Any, first: int) -> None:
        """What a tile that begins at `first` of the mask selects.  OSError."""
        if self.selected.places:
            cells = cells + first
        data, done = np.ascontiguousarray(cells).reshape(-1).view(np.uint8).data, 0
        while done < len(data):
            done += self.file.write(data[done:])
        self.count += len(cells)

    def end(self) -> None:
        pass

    def discard(self) -> None:
        if self.file is not None:
            self.file.close()

    # ------------------------------------------------------------------------------------- read

    def whole(self) -> Any:
        """All of it, in memory."""
        made = new_array(self.shape, self.kind)
        self.read(self.open(), 0, made, self.count)
        return made

    def open(self) -> int:
        return int(self.file.fileno())

    def read(self, handle: int, first: int, into: Any, keep: int) -> None:
        """FileTrouble: somebody has made the file shorter."""
        room, done = into.reshape(-1).view(np.uint8).data, 0
        while done < len(room):
            read = os.preadv(handle, [room[done:]], first * self.row_bytes + done)
            if not read:
                raise FileTrouble(Code.E705, "ended while it was read")
            done += read

    def require_same(self, handle: int) -> None:
        pass

    def close(self, handle: int) -> None:
        pass
