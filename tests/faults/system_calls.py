"""The n-th call into the system fails, or the process is killed there, for n = 1, 2, … until there is no n-th call.

Calls are those of the `os` module that change files.  A kill takes place in a forked child, as SIGKILL: nothing unwinds.
"""

from __future__ import annotations

import io
import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

WATCHDOG = 60.0
CALLS = ("open", "fsync", "replace", "unlink", "chmod", "write", "close", "mkdir", "rename", "remove")


@contextmanager
def at_call(number: int, act: Callable[[str], object], calls: tuple[str, ...] = CALLS) -> Iterator[list[str]]:
    """Before the `number`-th call `act` is called with its name; yields the names of the calls so far.

    `file.read` and the like are methods of what `os.fdopen` makes."""
    seen: list[str] = []

    def count(name: str) -> None:
        seen.append(name)
        if len(seen) == number:
            act(name)

    methods = frozenset(name.removeprefix("file.") for name in calls if name.startswith("file."))
    with pytest.MonkeyPatch.context() as patch:
        if methods:
            patch.setattr(os, "fdopen", _watched(os.fdopen, methods, count))
        for name in calls:
            if not name.startswith("file."):
                patch.setattr(os, name, _counted(name, getattr(os, name), count))
        yield seen


def _counted(name: str, real: Callable[..., Any], count: Callable[[str], None]) -> Callable[..., Any]:
    def call(*args: Any, **more: Any) -> Any:
        count(name)
        return real(*args, **more)

    return call


def _watched(real: Callable[..., Any], methods: frozenset[str], count: Callable[[str], None]) -> Callable[..., Any]:
    """`os.fdopen` whose files tell of each read and write."""

    def fdopen(*args: Any, **more: Any) -> Any:
        return _File(real(*args, **more), methods, count)

    return fdopen


class _File(io.IOBase):
    """A file whose methods are counted."""

    def __init__(self, file: Any, methods: frozenset[str], count: Callable[[str], None]) -> None:
        self._file = file
        self._methods = methods
        self._count = count

    def __getattribute__(self, name: str) -> Any:
        if name in ("_file", "_methods", "_count", "__class__", "__dict__"):
            return object.__getattribute__(self, name)
        if name in ("__enter__", "__exit__", "__del__"):
            return object.__getattribute__(self, name)
        found = getattr(self._file, name)
        kind = "read" if name in ("readinto", "read1", "readline") else name
        return _counted(f"file.{kind}", found, self._count) if kind in self._methods else found

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self._file.close()

    def __iter__(self) -> Any:
        return iter(self._file)


def killed_at(number: int, work: Callable[[], object], calls: tuple[str, ...] = CALLS) -> bool:
    """Run `work` in a child that is killed before its `number`-th call; False if it came to its end before."""

    def killed() -> int:
        with at_call(number, lambda name: os.kill(os.getpid(), signal.SIGKILL), calls):
            work()
        return 0

    return in_child(killed) == -signal.SIGKILL


def in_child(work: Callable[[], int]) -> int:
    """The exit code of `work` in a forked child, or minus the signal that ended it; a hang fails."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    end = time.monotonic() + WATCHDOG
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"it did not end within {WATCHDOG} s")
        time.sleep(0.001)
