"""A scratch file that has no name (`tempfile.TemporaryFile`), so that it goes with the process, however that ends.

Neighbours: `sorting` and `selecting` (what is written and read).
"""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..files.filling import fill
from ..files.placed_rows import write_at


@dataclass(slots=True, kw_only=True)
class Temporary:
    """Written from its start on; open from pass to pass."""

    file: Any = None

    @property
    def path(self) -> str:
        return f"a temporary file in {tempfile.gettempdir()}"

    def begin(self) -> None:
        """OSError."""
        self.file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - it is open from pass to pass

    def write(self, items: Any) -> None:
        """OSError."""
        data = np.ascontiguousarray(items).reshape(-1).view(np.uint8).data
        write_at(self.file.fileno(), data, self.file.tell())

    def fill(self, into: Any, at: int) -> None:
        """An array from the bytes at a place.  FileTrouble: somebody has made the file shorter."""
        self.file.seek(at)
        fill(self.file, into.reshape(-1).view(np.uint8).data)

    def discard(self) -> None:
        if self.file is not None:
            self.file.close()

    def require_same(self, handle: Any) -> None:
        """Nobody else can write it."""
