"""Pieces of compiled code: all are run, and the first that fails is told, by whichever threads."""

from __future__ import annotations

import ctypes
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import numpy as np
import pytest

from rho.backend.cpu import parallel_for
from rho.backend.cpu.parallel_for import ArgumentBlock, TaskSplit
from rho.backend.jit.compiler import address_of
from rho.backend.loopir.templates import Scatter
from rho.backend.lower.loop_order import NO_MEMORY, VectorStride
from rho.backend.vm import runtime
from rho.lang.support.processes import acquire
from rho.typechecker.elements import Kind

has_pool = pytest.mark.skipif(runtime.native() is None, reason="no native calls in this Python")


@pytest.mark.parametrize("has_native", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("nanoseconds", [0.0, 1e5, 1e12])
def test_the_first_piece_that_fails(has_native: bool, threads: int, nanoseconds: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Keys that ascend: one below the one before is check 1, one that is no entry check 0."""
    if not has_native:
        monkeypatch.setattr(parallel_for, "native", lambda: None)
    address = address_of(Scatter("add", Kind.I64, 1, True, VectorStride.UNIT, True))
    assert address is not None
    rows = {(0, 1, 2): 0, (0, 2, 1): 2, (1, 2, 3): 1}
    for order, want in (((0, 0, 0), 0), ((0, 1, 2), 2), ((0, 2, 1), 1), ((2, 0, 0), 1)):
        keys = np.array([list(rows)[place] for place in order])
        items, tables = np.arange(9).reshape(3, 3), np.zeros((3, 1, 3), np.int64)
        starts = [[array.ctypes.data + place * array.strides[0] for array in (keys, items, tables)] for place in range(3)]
        calls = [(3, 3, *own, 24) for own in starts]
        assert parallel_for.run_tasks(address, calls, threads, nanoseconds) == want
        if not want:
            assert tables.reshape(-1).tolist() == items.reshape(-1).tolist()
        blocks = [ArgumentBlock([3, 3, 0, 0, 0, 24], [(2 + base, (base, 24 * place)) for base in range(3)]) for place in range(3)]
        pieces = parallel_for.TaskLaunch(address, blocks, 3, threads, nanoseconds)
        assert (pieces._launch is not None) == (has_native and parallel_for.native() is not None)
        assert pieces.run(starts[0]) == want


def test_no_memory() -> None:
    kernel = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(lambda words: NO_MEMORY)
    with pytest.raises(MemoryError):
        parallel_for.run_tasks(ctypes.cast(kernel, ctypes.c_void_p).value or 0, [(0,)], 1, 0.0)


@pytest.mark.parametrize("has_native", [True, False])
@pytest.mark.parametrize("threads", [1, 3])
def test_tasks_are_ranges_of_all_loops(has_native: bool, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also thousands, whose blocks are not made at once; the last range of a loop is shorter, or longer."""
    if not has_native:
        monkeypatch.setattr(parallel_for, "native", lambda: None)
    seen: list[tuple[int, ...]] = []
    lock = threading.Lock()

    def task(words: int) -> int:
        with lock:
            seen.append(tuple((ctypes.c_int64 * 6).from_address(words)))
        return 0

    kernel = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)(task)
    address = ctypes.cast(kernel, ctypes.c_void_p).value or 0
    for starts in ((range(0, 5, 2), range(0, 7000, 3)), ([0, 2], [0, 3, 6]), ([0, 1, 4], [0, 3, 6])):
        split = TaskSplit((5, 7000 if len(starts[1]) > 9 else 10), starts, reduced=True)
        loops = split.loops([[(4, 8, 0)], [(4, 1, 100), (5, 1000, 0)]])
        block = ArgumentBlock([*split.sizes, 0, 0, 0, 0], [(4, (0, 7)), (5, (0, -1))])
        launch = parallel_for.TaskLaunch(address, [block], 1, threads, 1e6, loops)
        seen.clear()
        assert launch.count == split.count and not launch.run((1,))
        ends = [[*each[1:], size] for each, size in zip(starts, split.sizes, strict=True)]
        assert sorted(seen) == sorted(
            (row_end - row, end - start, row, start, 8 + 8 * row + start + 100 * number, 1000 * start)
            for row, row_end in zip(starts[0], ends[0], strict=True)
            for number, (start, end) in enumerate(zip(starts[1], ends[1], strict=True))
        )


@has_pool
@pytest.mark.parametrize("threads", [1, 3])
def test_a_launch_hears_interrupts_between_tasks(threads: int) -> None:
    """Also one of tasks that no list could hold."""
    address = ctypes.cast(ctypes.CDLL(None).sched_yield, ctypes.c_void_p).value or 0
    loops = TaskSplit((10**15,), (range(0, 10**15, 10),)).loops([[]])
    launch = parallel_for.TaskLaunch(address, [ArgumentBlock([0, 0], ())], 0, threads, 1e15, loops)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        with pytest.raises(KeyboardInterrupt):
            launch.run(())
    finally:
        signal.signal(signal.SIGALRM, before)


# ------------------------------------------------------------------------------------------------ boxes

ALL: list[int] = list(range(20))
WATCHDOG = 120.0


def together(done: list[int], then: Callable[[int], object] = lambda box: None) -> Callable[[], Callable[[int], None]]:
    """Workers that begin their first boxes at the same time, so that there must be two threads."""
    begin = threading.Barrier(2, timeout=WATCHDOG)

    def make() -> Callable[[int], None]:
        def work(box: int) -> None:
            if box < 2:
                begin.wait()
            then(box)
            done.append(box)

        return work

    return make


@has_pool
def test_boxes_are_shared_by_threads() -> None:
    """Also while small launches come alone (`pool.c`, Note [The pool])."""
    pool, done = runtime.native(), list[int]()
    assert pool is not None
    pool.alone.value = 1 << 60
    parallel_for.parallel_for(ALL, together(done), 2)
    assert sorted(done) == ALL and pool.alone.value < 1 << 50  # some, where a thread came late


@has_pool
def test_boxes_are_shared_as_soon_as_nobody_else_has_the_pool() -> None:
    pool, main, come, done = runtime.native(), threading.get_ident(), threading.Event(), list[int]()
    assert pool is not None
    busy = ctypes.c_int64.from_address(ctypes.addressof(pool.alone) - 8)  # `struct pool`
    assert not busy.value
    busy.value = 1

    def work(box: int) -> None:
        busy.value = busy.value and int(box != 5)
        if threading.get_ident() != main:
            come.set()
        assert box != parallel_for._ALONE or come.wait(WATCHDOG)
        done.append(box)

    parallel_for.parallel_for(range(40), lambda: work, 2)
    assert sorted(done) == list(range(40)) and come.is_set()


@pytest.mark.parametrize("why", ["threads", "pool", "kernels"])
def test_boxes_are_done_in_order_by_one_thread(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if why == "pool":
        monkeypatch.setattr(parallel_for, "native", lambda: None)
    if why == "kernels":
        monkeypatch.setenv("RHO_KERNELS", "off")
    done: list[int] = []
    parallel_for.parallel_for(ALL, lambda: done.append, 1 if why == "threads" else 2)
    assert done == ALL


@has_pool
def test_of_several_boxes_that_fail_the_first_is_told() -> None:
    second = threading.Event()

    def fail(box: int) -> None:
        if box == 0:
            assert second.wait(WATCHDOG)
        else:
            second.set()
        raise ValueError(box)

    done: list[int] = []
    with pytest.raises(ValueError, match="0"):
        parallel_for.parallel_for(ALL, together(done, fail), 2)
    assert not done


@has_pool
def test_an_interrupt_waits_for_the_boxes_that_were_begun(capfd: pytest.CaptureFixture[str]) -> None:
    main, waits, heard, done = threading.get_ident(), threading.Event(), threading.Event(), list[int]()

    def work(box: int) -> None:
        if threading.get_ident() == main:
            try:
                waits.set()
                acquire(threading.Semaphore(0))  # until it is interrupted
            finally:
                heard.set()
        else:
            assert waits.wait(WATCHDOG)
            signal.pthread_kill(main, signal.SIGINT)
            assert heard.wait(WATCHDOG)
            done.append(box)

    with pytest.raises(KeyboardInterrupt):
        parallel_for.parallel_for(range(2), lambda: work, 2)
    assert done in ([0], [1])
    assert capfd.readouterr().err == ""


FORKED = """
import os, threading
from rho.backend.cpu.parallel_for import parallel_for
def shared():
    begin, done = threading.Barrier(2, timeout=60), []
    def work(box):
        begin.wait()
        done.append(box)
    parallel_for(range(2), lambda: work, 2)
    assert sorted(done) == [0, 1]
shared()
child = os.fork()
shared()
if not child:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
"""
ENDS = """
import threading
from rho.backend.cpu.parallel_for import parallel_for
begun = threading.Semaphore(0)
def work():
    while True:
        parallel_for(range(1000), lambda: lambda box: begun.release(), 2)
threading.Thread(target=work, daemon=True).start()
for _ in range(5000): begun.acquire()
"""


@has_pool
@pytest.mark.parametrize("script", [FORKED, ENDS])
def test_processes_that_fork_and_end(script: str) -> None:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=WATCHDOG)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
