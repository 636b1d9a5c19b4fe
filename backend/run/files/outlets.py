"""Where libraries and buffers write until it is shut, and nowhere then.

Writers of libraries write what is missing when they are freed, buffers what they hold: after an interrupt, into a file that is
closed, or into another one that got its handle.

Neighbours: `parquet_writing`, `ordered_rows`.
"""

from __future__ import annotations

import io
from typing import Any, BinaryIO


class Outlet(io.RawIOBase):
    """Hands on what is written; as a context, it is shut at the end."""

    def __init__(self, file: BinaryIO | io.FileIO) -> None:
        self._file: BinaryIO | io.FileIO | None = file
        self._count = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._count

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while self._file is not None and done < len(view):
            done += self._file.write(view[done:]) or 0
        self._count += len(view)
        return len(view)

    def flush(self) -> None:
        if self._file is not None:
            self._file.flush()

    def shut(self) -> None:
        self._file = None

    def __exit__(self, *error: object) -> None:
        self.shut()
