"""A scratch file that has no name (`tempfile.TemporaryFile`), so that it goes with the process, however that ends.

Neighbours: `sorting` and `selecting` (what is written and read).
"""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np

from ....lang.codes import Code
from ..files.trouble import FileTrouble


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
        data, done = np.ascontiguousarray(items).reshape(-1).view(np.uint8).data, 0
        while done < len(data):
            done += self.file.write(data[done:])

    def fill(self, into: Any, at: int) -> None:
        """An array from the bytes at a place.  FileTrouble: somebody has made the file shorter."""
        room, done = into.reshape(-1).view(np.uint8).data, 0
        while done < len(room):
            read = os.preadv(self.file.fileno(), [room[done:]], at + done)
            if not read:
                raise FileTrouble(Code.E705, "ended while it was read")
            done += read

    def discard(self) -> None:
        if self.file is not None:
            self.file.close()

    def require_same(self, handle: Any) -> None:
        """Nobody else can write it."""
