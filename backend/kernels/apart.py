"""Compiling in a process of its own, for runs whose memory is bounded.

A compiler takes tens of megabytes and keeps most of them for the next module, where no plan counts them.  While somebody asks
for it (`compiling_apart`), text goes to a child that compiles and sends the object code back; the child begins with the first
text, and ends when nobody asks any more.  Where there can be no child this process compiles.

A request is a line with its length in bytes and then the text; the answer likewise, where a negative length stands before
what LLVM has against the text.

Neighbours: `store` (asks), `llvm_leaf` (compiles), `one_thread` (an interrupt between request and answer would mix up answers),
`backend.execute` (whose runs in tiles are bounded).
"""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import IO, Final, TypeVar

from ...lang.forking import in_children
from . import llvm_leaf
from .llvm_leaf import Unsupported
from .one_thread import OneThread

_T = TypeVar("_T")
_asking: Final = OneThread("rho compiler")
_START: Final = "import sys; sys.path[:] = {path!r}; from {module} import serve; serve()"
_LONGEST: Final = 1 << 28
"""Bytes of an answer: a child that says more is none of ours."""
_PATIENCE: Final = 60.0
"""Seconds for an answer: what is silent longer is none of ours either (the executable of a host that embeds Python)."""


@dataclass(slots=True)
class _State:
    """`users`: how many runs ask for a child now; `is_lost`: one was no good, and no other is tried."""

    users: int = 0
    is_lost: bool = False
    child: subprocess.Popen[bytes] | None = None

    def forget(self) -> None:
        """A process that was forked has not this child."""
        self.users, self.child = 0, None


_state: Final = _State()
in_children(_state.forget)


@contextlib.contextmanager
def compiling_apart() -> Iterator[None]:
    """Code that is made meanwhile is compiled by another process."""
    _count(1)
    try:
        yield
    finally:
        _count(-1)


def as_now(work: Callable[[_T], object]) -> Callable[[_T], None]:
    """Work for a thread that may outlive the run: its code is compiled where it would be compiled now."""
    apart = _state.users > 0

    def later(code: _T) -> None:
        with compiling_apart() if apart else contextlib.nullcontext():
            work(code)

    return later


@_asking.does
def _count(more: int) -> None:
    _state.users += more
    if _state.users <= 0:
        _end()


@_asking.does
def compile_text(text: str) -> bytes:
    """Object code, as of `llvm_leaf.compile_text`.  Unsupported."""
    if _state.users > 0 and not _state.is_lost:
        with contextlib.suppress(OSError, ValueError):
            return _answered(text)
        _state.is_lost = True
        _end()
    return llvm_leaf.compile_text(text)


def _answered(text: str) -> bytes:
    """By the child.  OSError, ValueError: there is none, or it is no good.  Unsupported."""
    if _state.child is None:
        path = [os.path.abspath(folder) for folder in sys.path]
        _state.child = subprocess.Popen(
            [sys.executable or "", "-c", _START.format(path=path, module=__name__)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )  # fmt: skip
    child = _state.child
    assert child.stdin is not None and child.stdout is not None, "both are pipes"
    _send(child.stdin, text.encode(), 1)
    if os.name == "posix" and not select.select([child.stdout], [], [], _PATIENCE)[0]:
        raise ValueError("silent")
    sign, answer = _received(child.stdout)
    if sign < 0:
        raise Unsupported(answer.decode(errors="replace"))
    return answer


def _end() -> None:
    """The child is gone."""
    child, _state.child = _state.child, None
    if child is not None:
        with contextlib.suppress(OSError):
            child.kill()
            child.communicate()


def _send(file: IO[bytes], content: bytes, sign: int) -> None:
    file.write(b"%d\n" % (sign * len(content)))
    file.write(content)
    file.flush()


def _received(file: IO[bytes]) -> tuple[int, bytes]:
    """The sign of the length, and what is so long.  ValueError: it ended before that."""
    length = int(file.readline(32))
    if abs(length) > _LONGEST:
        raise ValueError("too long")
    content = file.read(abs(length))
    if len(content) < abs(length):
        raise ValueError("ended")
    return (-1 if length < 0 else 1), content


def serve() -> None:
    """What the child does until its parent is gone.  An interrupt of the keyboard is for the parent."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    taken, given = sys.stdin.buffer, os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what libraries print is no answer
    while True:
        try:
            _, text = _received(taken)
        except ValueError:
            return
        try:
            _send(given, llvm_leaf.compile_text(text.decode()), 1)
        except Unsupported as trouble:
            _send(given, str(trouble).encode() or b"no", -1)
