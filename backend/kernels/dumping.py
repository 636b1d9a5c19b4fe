"""What the compiler makes, for people and profilers.

`RHO_DUMP=DIR` writes machine code that is made into DIR: `NAME.ll` (LLVM), `NAME.s` (assembly), `NAME.loops` (the loop program
after each transformation that changed it), and `NAME.words` (the steps of a plan as they are run).  NAME is a digest of what
is written, so equal programs write equal files.  `RHO_PERF_MAP=on` tells Linux's `perf` the same names.  What is in the kernel
cache is not made, so a dump wants `RHO_KERNEL_CACHE=off` to be complete.

Note [Failing].  A folder that cannot be written stops no run: the first failure is told on standard error.

Neighbours: `store` (machine code), `loops.dumping`, `run.executor`.
"""

from __future__ import annotations

import os
import sys
from hashlib import blake2b
from pathlib import Path
from typing import Final

from ...lang.replacing import Durability, replace_file

FOLDER: Final = "RHO_DUMP"
PERF_MAP: Final = "RHO_PERF_MAP"
_failed: list[OSError] = []


def is_wanted() -> bool:
    """Is there a folder for what is made?"""
    return bool(os.environ.get(FOLDER)) and not _failed


def name_of(text: str) -> str:
    """The name of files about something that is written like this."""
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def write(name: str, suffix: str, text: str) -> None:
    """A file of the folder, if one is wanted."""
    if not is_wanted():
        return
    folder = Path(os.environ[FOLDER])
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / f"{name}.{suffix}", lambda file: file.write(text.encode()), Durability.PROCESS)
    except OSError as error:
        _failed.append(error)
        sys.stderr.write(f"rho: {FOLDER}: {folder}: nothing can be written there: {error.strerror or error}\n")


def is_mapped() -> bool:
    """Does `perf` want to know where code is?"""
    return os.environ.get(PERF_MAP, "").lower() in ("on", "1", "yes")


def tell_perf(name: str, address: int, count: int) -> None:
    """A line of the map that `perf` reads: `count` bytes of code at `address`."""
    try:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
        handle = os.open(f"/tmp/perf-{os.getpid()}.map", flags, 0o600)
        try:
            os.write(handle, f"{address:x} {count:x} rho:{name}\n".encode())
        finally:
            os.close(handle)
    except OSError as error:
        os.environ.pop(PERF_MAP)
        sys.stderr.write(f"rho: {PERF_MAP}: {error.strerror or error}\n")
