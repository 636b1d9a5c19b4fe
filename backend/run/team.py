"""The device's team of threads: runs the boxes of one phase, each by whichever thread is free.

NumPy releases the interpreter lock inside a ufunc, so pieces of 256 KiB and more overlap.  Which thread runs a box never
changes its value: boxes are disjoint, and the order of sums is fixed by the shape (phases.md).

Neighbours: `structured`.
"""

from __future__ import annotations

import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

from ...lang.listening import acquire

Box = TypeVar("Box")


def available_threads() -> int:
    """Cores this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity else os.cpu_count() or 1


def run_boxes(boxes: Iterable[Box], make_worker: Callable[[], Callable[[Box], object]], threads: int) -> None:
    """Call a worker on every box; each thread has its own worker.  The first failure of any is raised here."""
    supply = iter(boxes)
    if threads <= 1:
        worker = make_worker()
        for box in supply:
            worker(box)
        return
    _run_in_threads(supply, make_worker, threads)


def _run_in_threads(supply: Iterator[Box], make_worker: Callable[[], Callable[[Box], object]], threads: int) -> None:
    lock = threading.Lock()
    failures: list[BaseException] = []

    def take() -> tuple[Box] | None:
        with lock:
            for box in supply:
                return (box,)
            return None

    def serve() -> None:
        try:
            with np.errstate(all="ignore"):
                worker = make_worker()
                while not failures and (taken := take()) is not None:
                    worker(taken[0])
        except BaseException as failure:
            failures.append(failure)

    jobs = [_Job(serve) for _ in range(threads - 1)]
    _crew.submit(jobs)
    serve()
    for job in jobs:
        job.finish()
    if failures:
        raise failures[0]


class _Job:
    """Work for a thread that is free: done once at most, or called off when the caller has done it all alone."""

    __slots__ = ("claim", "done", "work")

    def __init__(self, work: Callable[[], None]) -> None:
        self.work = work
        self.claim, self.done = threading.Lock(), threading.Lock()
        self.done.acquire()

    def run(self) -> None:
        if self.claim.acquire(blocking=False):
            try:
                self.work()
            finally:
                self.done.release()

    def finish(self) -> None:
        """Call it off, or wait for its end."""
        if not self.claim.acquire(blocking=False):
            acquire(self.done)


class _Crew:
    """Threads that wait for jobs; they live as long as the process, and a forked child has its own."""

    def __init__(self) -> None:
        self.jobs: queue.SimpleQueue[_Job] = queue.SimpleQueue()
        self.threads = 0

    def submit(self, jobs: list[_Job]) -> None:
        with contextlib.suppress(RuntimeError):  # no more threads: whoever submits does the work
            for _ in range(len(jobs) - self.threads):
                threading.Thread(target=self.serve, daemon=True).start()
                self.threads += 1
        for job in jobs:
            self.jobs.put(job)

    def serve(self) -> None:
        while True:
            self.jobs.get().run()


_crew = _Crew()


def _after_fork() -> None:
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
