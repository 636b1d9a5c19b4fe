"""The client of the solver's process: starts it with the first query, exchanges lines with it and restarts it if it dies.

The process runs `z3_leaf` with limited memory, in a session of its own, so that Ctrl-C does not reach it.  If it dies during a
query (killed, out of memory, crashed), that query has no answer; the next one starts another process, up to `MOST_DEATHS` times.
An interrupt ends the process and is raised again.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ...lang.support.processes import in_children, lock
from ...lang.support.records import dataclass

if TYPE_CHECKING:
    from subprocess import Popen

STEPS = 2_000_000
MEGABYTES = 512
ADDRESS_MEGABYTES = 3_072  # of the process, with the library and the interpreter
PROCESSOR_SECONDS = 120  # of one query, which the step limit usually ends long before
MOST_DEATHS = 3
LEAF = os.path.join(os.path.dirname(__file__), "z3_leaf.py")


class Satisfiable(Enum):
    YES = "sat"
    NO = "unsat"
    UNKNOWN = "unknown"
    FAILED = "no answer: its process ended"


@dataclass(frozen=True, slots=True)
class SolverReply:
    """The reply; `model` has the integers asked for, in order, if satisfiable."""

    satisfiable: Satisfiable
    model: tuple[int, ...] = ()


@lru_cache(maxsize=1)
def installed() -> tuple[str, str] | None:
    """(the folder of z3, its version), without importing it; None if it is not installed."""
    for folder in sys.path:
        try:
            names = os.listdir(folder or ".")
        except OSError:
            continue
        if "z3" in names:
            for name in names:
                if name.startswith("z3_solver-") and name.endswith((".dist-info", ".egg-info")):
                    return os.path.abspath(folder or "."), name[len("z3_solver-") : -len(".dist-info")].rstrip(".")
    return None


def version() -> str | None:
    """The installed solver's version."""
    installation = installed()
    return None if installation is None else installation[1]


class _Process:
    """The running process, if any, and the number of those that died."""

    def __init__(self) -> None:
        self._running: Popen[str] | None = None
        self._lock = lock()
        self.deaths = 0
        in_children(self._forget)

    def _forget(self) -> None:
        """In a forked child: drop the parent's process, whose replies the child must not read."""
        running, self._running = self._running, None
        if running is not None:
            running.returncode = 0  # the child must not wait for it either
            for stream in (running.stdin, running.stdout):
                if stream is not None:
                    stream.close()

    def ask(self, question: dict[str, Any]) -> dict[str, Any] | None:
        """The reply to a query; None if the process ended."""
        with self._lock:
            running = self._start()
            if running is None:
                return None
            try:
                reply = self._exchange(running, question)
            except BaseException:
                self.stop()
                raise
            if reply is not None and reply.get("found") == "absent":
                self.stop()  # with the lock: another thread's query may wait for it
            return reply

    def _exchange(self, running: Popen[str], question: dict[str, Any]) -> dict[str, Any] | None:
        assert running.stdin is not None and running.stdout is not None
        try:
            running.stdin.write(json.dumps(question) + "\n")
            running.stdin.flush()
            reply = json.loads(running.stdout.readline())
        except (OSError, ValueError):
            reply = None
        if isinstance(reply, dict):
            return reply
        self.deaths += 1
        self.stop()
        return None

    def _start(self) -> Popen[str] | None:
        """The running process, or a new one; None after too many deaths."""
        where = installed()
        if self._running is not None or where is None or self.deaths >= MOST_DEATHS:
            return self._running
        import subprocess

        limits = [str(number) for number in (MEGABYTES, ADDRESS_MEGABYTES, PROCESSOR_SECONDS)]
        try:
            self._running = subprocess.Popen(
                [sys.executable, "-I", "-S", LEAF, where[0], *limits], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL, encoding="ascii", start_new_session=True,
            )  # fmt: skip
        except OSError:
            self.deaths += 1
        return self._running

    def stop(self) -> None:
        """End the process, if it still runs."""
        running, self._running = self._running, None
        if running is not None:
            running.kill()
            for stream in (running.stdin, running.stdout):
                if stream is not None:
                    try:
                        stream.close()
                    except OSError:  # unwritten output
                        continue
            running.wait()


_process = _Process()


def solve(text: str, logic: str, expected: Sequence[str]) -> SolverReply | None:
    """Whether the assertions of an SMT-LIB text are satisfiable; None if z3 is not installed."""
    reply = _process.ask({"text": text, "logic": logic, "wanted": list(expected), "steps": STEPS})
    if reply is None:
        return SolverReply(Satisfiable.FAILED)
    match reply.get("found"):
        case "absent":
            return None
        case "interrupted":
            raise KeyboardInterrupt
        case "unsat":
            return SolverReply(Satisfiable.NO)
        case "sat":
            model = reply.get("model")
            if isinstance(model, list) and all(type(n) is int for n in model):
                return SolverReply(Satisfiable.YES, tuple(model))
            return SolverReply(Satisfiable.UNKNOWN)
        case _:
            return SolverReply(Satisfiable.UNKNOWN)
