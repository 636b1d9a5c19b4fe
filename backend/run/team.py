"""Runs the boxes of one phase in threads, each box by whichever thread is free.

NumPy releases the interpreter lock inside a ufunc, so pieces of 256 KiB and more overlap.  Which thread runs a box never
changes its value: boxes are disjoint, and the order of sums is fixed by the shape (phases.md).

Neighbours: `structured`.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Final, TypeVar

import numpy as np

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Box = TypeVar("Box")
MOST_THREADS: Final = 64
"""Threads beside those that ask."""


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

    others: list[Future[None]] = []
    with contextlib.suppress(RuntimeError):  # no more threads: whoever asks does the work
        while len(others) < threads - 1:
            others.append(_executor().submit(serve))
    serve()
    for other in others:
        if not other.cancel():
            other.result()
    if failures:
        raise failures[0]


@cache
def _executor() -> ThreadPoolExecutor:
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(MOST_THREADS, "rho boxes")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_executor.cache_clear)  # a child has no threads of its parent's
