"""The n-th call into the system fails, or the process is killed there, for n = 1, 2, … until there is no n-th call.

Calls are those of the `os` module that change files.  A kill takes place in a forked child, as SIGKILL: nothing unwinds.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

CALLS = ("open", "fsync", "replace", "unlink", "chmod", "write", "close", "mkdir", "rename", "remove")


@contextmanager
def at_call(number: int, act: Callable[[str], object], calls: tuple[str, ...] = CALLS) -> Iterator[list[str]]:
    """Before the `number`-th call `act` is called with its name; yields the names of the calls so far."""
    seen: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        for name in calls:
            patch.setattr(os, name, _counted(name, getattr(os, name), number, act, seen))
        yield seen


def _counted(name: str, real: Callable[..., Any], number: int, act: Callable[[str], object], seen: list[str]) -> Any:
    def call(*args: Any, **more: Any) -> Any:
        seen.append(name)
        if len(seen) == number:
            act(name)
        return real(*args, **more)

    return call


def killed_at(number: int, work: Callable[[], object], calls: tuple[str, ...] = CALLS) -> bool:
    """Run `work` in a child that is killed before its `number`-th call; False if it came to its end before."""
    child = os.fork()
    if child == 0:
        try:
            with at_call(number, lambda name: os.kill(os.getpid(), signal.SIGKILL), calls):
                work()
        finally:
            os._exit(0)
    _, status = os.waitpid(child, 0)
    return os.WIFSIGNALED(status)
