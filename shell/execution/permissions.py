"""Which files a program may touch: the script's folder and what the command line names, nothing else.

Paths are compared after resolving links, so a link inside the folder does not lead out of it.  A URL is read where `--allow-read`
names it or what is above it; that it is named elsewhere on the command line does not do, since reading it tells its server.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic
from ...lang.records import dataclass
from ...lang.source import Span
from ...lang.urls import above, file_of, is_below, is_file_url, is_url


@dataclass(frozen=True, slots=True)
class Permissions:
    """Resolved folders and files, and URLs.  `write_folders` None: wherever the command line says."""

    read_folders: tuple[str, ...] = ()
    read_files: frozenset[str] = frozenset()
    write_folders: tuple[str, ...] | None = None
    unrestricted: bool = False
    urls: tuple[str, ...] = ()

    @classmethod
    def of(cls, folders: Iterable[str], files: Iterable[str], write_folders: Iterable[str] | None = None) -> Permissions:
        here = [file_of(folder) if is_file_url(folder) else folder for folder in folders]
        return cls(
            tuple(os.path.realpath(folder) for folder in here if not is_url(folder)),
            frozenset(os.path.realpath(file) for file in files if not is_url(file)),
            None if write_folders is None else tuple(os.path.realpath(folder) for folder in write_folders),
            urls=tuple(folder for folder in here if is_url(folder)),
        )

    def may_read(self, path: str | os.PathLike[str]) -> bool:
        if is_url(os.fspath(path)):
            return self.unrestricted or any(is_below(os.fspath(path), allowed) for allowed in self.urls)
        real = os.path.realpath(path)
        return self.unrestricted or real in self.read_files or any(_inside(real, folder) for folder in self.read_folders)

    def may_write(self, path: str | os.PathLike[str]) -> bool:
        folders = self.write_folders
        return folders is None or any(_inside(os.path.realpath(path), folder) for folder in folders)

    def refusal(self, path: str | os.PathLike[str], span: Span) -> Diagnostic:
        """E707 for reading `path`, as it was written."""
        written = os.fspath(path)
        if is_url(written):
            notes = ("URLs are read where --allow-read names them", f"to permit it add `--allow-read {above(written)}`")
            return Diagnostic(Code.E707, f"`{written}` is a URL that this program may not read", span, notes=notes)
        return Diagnostic(
            Code.E707, f"`{written}` is outside the folders this program may read", span,
            notes=(
                "a program reads files in its own folder, and those named on the command line",
                f"to permit it add `--allow-read {os.path.dirname(written) or '.'}`",
            ),
        )  # fmt: skip

    def write_refusal(self, path: str | os.PathLike[str], span: Span) -> Diagnostic:
        return Diagnostic(Code.E707, f"`{os.fspath(path)}` is outside the folders of --allow-write", span)


EVERYTHING = Permissions(unrestricted=True)
"""For checking, which reads program texts only."""


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
