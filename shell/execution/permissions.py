"""Which files a program may touch: the script's folder and what the command line names, nothing else.

Paths are compared after resolving links, so a link inside the folder does not lead out of it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic
from ...lang.records import dataclass
from ...lang.source import Span


@dataclass(frozen=True, slots=True)
class Permissions:
    """Resolved folders and files.  `write_folders` None: wherever the command line says."""

    read_folders: tuple[str, ...] = ()
    read_files: frozenset[str] = frozenset()
    write_folders: tuple[str, ...] | None = None
    unrestricted: bool = False

    @classmethod
    def of(cls, folders: Iterable[str], files: Iterable[str], write_folders: Iterable[str] | None = None) -> Permissions:
        return cls(
            tuple(os.path.realpath(folder) for folder in folders),
            frozenset(os.path.realpath(file) for file in files),
            None if write_folders is None else tuple(os.path.realpath(folder) for folder in write_folders),
        )

    def may_read(self, path: str | os.PathLike[str]) -> bool:
        real = os.path.realpath(path)
        return self.unrestricted or real in self.read_files or any(_inside(real, folder) for folder in self.read_folders)

    def may_write(self, path: str | os.PathLike[str]) -> bool:
        folders = self.write_folders
        return folders is None or any(_inside(os.path.realpath(path), folder) for folder in folders)

    def refusal(self, path: str | os.PathLike[str], span: Span) -> Diagnostic:
        """E707 for reading `path`."""
        return Diagnostic(
            Code.E707, f"`{os.fspath(path)}` is outside the folders this program may read", span,
            notes=(
                "a program reads files in its own folder, and those named on the command line",
                f"to permit it add `--allow-read {os.path.dirname(os.fspath(path)) or '.'}`",
            ),
        )  # fmt: skip

    def write_refusal(self, path: str | os.PathLike[str], span: Span) -> Diagnostic:
        return Diagnostic(Code.E707, f"`{os.fspath(path)}` is outside the folders of --allow-write", span)


EVERYTHING = Permissions(unrestricted=True)
"""For checking, which reads program texts only."""


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
