"""The device's team of threads: runs the boxes of one phase, each by whichever thread is free.

NumPy releases the interpreter lock inside a ufunc, so pieces of 256 KiB and more overlap.  Which thread runs a box never
changes its value: boxes are disjoint, and the order of sums is fixed by the shape (phases.md).

Neighbours: `structured`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

import numpy as np

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
    import threading

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

    team = [threading.Thread(target=serve, daemon=True) for _ in range(threads - 1)]
    for thread in team:
        thread.start()
    serve()
    for thread in team:
        thread.join()
    if failures:
        raise failures[0]
