"""Runs the queues of a plan whose devices are all of this machine: a thread each, with fences between them.

The caller's thread takes the home queue, so prints, limits on time and Ctrl-C are where they always are.  Values do not depend
on who is first: every step's operands are behind fences.  Neither do failures of the program: after one the other queues go on
as far as they come, and of all failures the first is raised (`firsts`).  Anything else (memory, an
interrupt, a mistake in Rho) stops all threads at once.  Queues that wait for each other are found, never waited for.

Neighbours: `distributed` (makes the actions, and guards what threads share), `executor` (asks for this).
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from ...lang.diagnostics import RunFailed
from ...lang.listening import LISTENING
from ..schedule.plan.model import FenceStep, Step, TransferStep, WaitStep
from .failures import CheckFailed
from .firsts import Failure, Order, first_of
from .others import ALONE, Gate, Others
from .turning import Part, Together, Unreached

Action: TypeAlias = Callable[[], None]
MOST_THREADS: Final = 64
_OF_THE_PROGRAM: Final = (RunFailed, CheckFailed)


class _Stop(SystemExit):
    """Raised in threads whose work is not wanted any more, which end without a word wherever it comes."""


@dataclass(slots=True)
class _Gate:
    """What all threads know: fences to come, who waits for which, and what went wrong.  `change` guards everything."""

    to_come: dict[Hashable, int]
    unfinished: set[int]
    change: threading.Condition = field(default_factory=threading.Condition)
    waiting: dict[int, Hashable] = field(default_factory=dict)
    failures: list[Failure] = field(default_factory=list)
    stopped: bool = False
    unreached: bool = False
    others: Others = ALONE

    def wait(self, queue: int, fence: Hashable) -> bool:
        """Wait for a fence; False: it will never be passed."""
        with self.change:
            self.waiting[queue] = fence
            self.change.notify_all()
            try:
                while not self.stopped and self.to_come.get(fence, 1):
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
        return all(queue in self.waiting and self.to_come.get(self.waiting[queue], 1) for queue in self.unfinished)

    def passed(self, fence: Hashable, of: int | None = None) -> None:
        """A queue has come to a fence; `of`: of so many, where that is not known yet."""
        self.others.passed(fence, of)
        self.arrived(fence, of)

    def arrived(self, fence: Hashable, of: int | None = None) -> None:
        with self.change:
            if of is not None:
                self.to_come.setdefault(fence, of)
            self.to_come[fence] -= 1
            self.change.notify_all()

    def forget(self, fences: Sequence[Hashable]) -> None:
        """Nobody will wait for these again."""
        with self.change:
            for fence in fences:
                self.to_come.pop(fence, None)

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
    steps: Sequence[Sequence[Step]], actions: Sequence[Sequence[Action]], own: int,
    quiet: Callable[[], AbstractContextManager[object]], to_come: dict[Hashable, int], others: Others,
    begin: Callable[[Gate], None], order: Order,
) -> Failure | None:  # fmt: skip
    """Run every queue to its end, number `own` in this thread; the failure to be raised, if there is one.

    `quiet`: what each thread works in; `to_come`: how many times each fence is come to, here and elsewhere; `begin`: is told of
    the gate."""
    gate = _Gate(to_come, {which for which, queue in enumerate(steps) if queue} | {own}, others=others)
    begin(gate)
    threads: list[threading.Thread] = []

    def serve(which: int) -> None:
        start, failure, stop = tuple[int, ...]((0,)), None, False
        together: Together | None = None
        try:
            with quiet():
                for step, action in zip(steps[which], actions[which], strict=True):
                    if gate.stopped:
                        return
                    start = order.of(step, start)
                    fence = fence_before(step, others)
                    if fence is not None and not gate.wait(which, fence):
                        return
                    if isinstance(action, Part):
                        together = action.together
                        together.take_part(which, gate)
                        together = None
                    else:
                        action()
                    if isinstance(step, FenceStep):
                        gate.passed(step.fence)
        except (_Stop, Unreached):
            pass
        except BaseException as error:
            inside = () if together is None else together.at.get(which, ())
            failure = Failure((*start, *inside), which, error)
            stop = not isinstance(error, _OF_THE_PROGRAM)
        finally:
            gate.let_go()
            gate.finished(which, failure, stop=stop)

    def work(which: int) -> None:
        try:
            with suppress(_Stop):
                serve(which)
        finally:
            gate.let_go()

    try:
        for which in sorted(gate.unfinished - {own}):
            thread = threading.Thread(target=work, args=(which,), daemon=True)
            thread.start()
            threads.append(thread)
        serve(own)
        gate.wait_for_all()
    except BaseException as error:  # an interrupt while nothing of this thread's own queue ran
        gate.let_go()
        gate.finished(own, Failure((0,), own, error), stop=True)
    while alive := [thread for thread in threads if thread.is_alive()]:
        if gate.stopped:
            interrupt(alive)  # again, since one that comes inside a finalizer is ignored
        alive[0].join(LISTENING)
    return _first(gate)


def fence_before(step: Step, others: Others) -> Hashable | None:
    """What a queue waits for before a step."""
    if isinstance(step, WaitStep):
        return step.fence
    return others.awaited(step) if isinstance(step, TransferStep) else None


def _first(gate: _Gate) -> Failure | None:
    """What stopped everything, else the first."""
    urgent = [failure for failure in gate.failures if not isinstance(failure.error, _OF_THE_PROGRAM)]
    if urgent:
        return urgent[0]
    if gate.unreached and not gate.failures:
        raise AssertionError("every queue waits for another")
    return first_of(gate.failures)


def interrupt(threads: Sequence[threading.Thread]) -> None:
    """Let no thread go on beyond what it does in compiled code."""
    for thread in threads:
        if thread.ident is not None and thread.is_alive():
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident), ctypes.py_object(_Stop))
