"""Runs the queues of a plan whose devices are all of this machine: a thread each.

The caller's thread takes the home queue, so prints, limits on time and Ctrl-C are where they always are.  Values do not depend
on who is first: every step's operands are behind fences.  Neither do failures of the program: after one the other queues go on
as far as they come, and of all failures the first is raised (`firsts`).  Anything else (memory, an
interrupt, a mistake in Rho) stops all threads at once.  Queues that wait for each other are found, never waited for.

Neighbours: `queues` (how each gets on), `distributed` (asks for this), `clock` (the other driver).
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Final

from ...lang.listening import LISTENING
from .firsts import OF_THE_PROGRAM, Failure, first_of
from .others import ALONE, Gate, Others
from .queues import Course, Fences

MOST_THREADS: Final = 64


class _Stop(SystemExit):
    """Raised in threads whose work is not wanted any more, which end without a word wherever it comes."""


@dataclass(slots=True)
class _Gate(Fences):
    """Where threads wait for each other, and what went wrong.  `change` guards everything."""

    unfinished: set[int] = field(default_factory=set)
    others: Others = ALONE
    change: threading.Condition = field(default_factory=threading.Condition)
    waiting: dict[int, Hashable] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    stopped: bool = False
    unreached: bool = False

    def wait(self, queue: int, fence: Hashable) -> bool:
        """Wait for a fence; False: it will never be passed."""
        with self.change:
            self.waiting[queue] = fence
            self.change.notify_all()
            try:
                while not (self.stopped or self.is_passed(fence)):
                    if self.stuck():
                        self.unreached = True
                        self.change.notify_all()
                        return False
                    self.change.wait(LISTENING)
                return not self.stopped
            finally:
                del self.waiting[queue]

    def stuck(self) -> bool:
        """Does everyone wait for a fence that is still to come, from here?"""
        return self.others is ALONE and self.waits()

    def is_idle(self) -> bool:
        with self.change:
            return self.waits()

    def waits(self) -> bool:
        return all(queue in self.waiting and not self.is_passed(self.waiting[queue]) for queue in self.unfinished)

    def passed(self, fence: Hashable, of: int) -> None:
        self.others.passed(fence, of)
        self.arrived(fence, of)

    def arrived(self, fence: Hashable, of: int) -> None:
        with self.change:
            Fences.passed(self, fence, of)
            self.change.notify_all()

    def forget(self, fences: Sequence[Hashable]) -> None:
        with self.change:
            Fences.forget(self, fences)

    def finished(self, queue: int, failure: Failure | None, *, stop: bool) -> None:
        with self.change:
            self.unfinished.discard(queue)
            if failure is not None:
                self.failures.append(failure)
            self.stopped = self.stopped or stop
            self.change.notify_all()
        if failure is not None and not stop:
            self.others.failed(failure.start, queue)

    def halt(self, error: BaseException | None) -> None:
        with self.change:
            if error is not None:
                self.failures.append(Failure((0,), 0, error))
            self.stopped = True
            self.change.notify_all()

    def let_go(self) -> None:
        """Give the lock back if this thread holds it: an exception from outside (`interrupt`, Ctrl-C) may arrive between the
        taking of a lock and the block that gives it back, and everyone else would wait for ever."""
        with suppress(RuntimeError):  # it is not this thread's, or no longer
            while True:
                self.change.release()

    def wait_for_all(self) -> None:
        with self.change:
            while self.unfinished and not self.stopped:
                self.change.wait(LISTENING)


def run_in_threads(
    courses: Sequence[Course], quiet: Callable[[], AbstractContextManager[object]], others: Others, begin: Callable[[Gate], None]
) -> Failure | None:  # fmt: skip
    """Run every queue to its end, the first in this thread; the failure to be raised, if there is one.

    `quiet`: what each thread works in; `begin`: is told of the gate."""
    gate = _Gate(unfinished={course.which for course in courses}, others=others)
    begin(gate)
    threads: list[threading.Thread] = []

    def serve(course: Course) -> None:
        failure, stop = None, False
        try:
            with quiet():
                for fence, _ in course.go(gate):
                    if gate.stopped or (fence is not None and not gate.wait(course.which, fence)):
                        return
        except _Stop:
            pass
        except BaseException as error:
            failure = Failure(course.at, course.which, error)
            stop = not isinstance(error, OF_THE_PROGRAM)
        finally:
            gate.let_go()
            gate.finished(course.which, failure, stop=stop)

    def work(course: Course) -> None:
        try:
            with suppress(_Stop):
                serve(course)
        finally:
            gate.let_go()

    try:
        for course in courses[1:]:
            thread = threading.Thread(target=work, args=(course,), daemon=True)
            thread.start()
            threads.append(thread)
        for course in courses[:1]:
            serve(course)
        gate.wait_for_all()
    except BaseException as error:  # an interrupt while nothing of this thread's own queue ran
        gate.let_go()
        gate.halt(error)
    while alive := [thread for thread in threads if thread.is_alive()]:
        if gate.stopped:
            interrupt(alive)  # again, since one that comes inside a finalizer is ignored
        alive[0].join(LISTENING)
    if gate.unreached and not gate.failures:
        raise AssertionError("every queue waits for another")
    return first_of(gate.failures)


def interrupt(threads: Sequence[threading.Thread]) -> None:
    """Let no thread go on beyond what it does in compiled code."""
    for thread in threads:
        if thread.ident is not None and thread.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Stop))
