"""Work that is handed to one thread: answers, errors, interrupts of who asks, forks, and no thread to be had."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest

from rho.backend.jit.compiler import DedicatedThread


def test_answers_and_errors_come_back_and_all_is_done_by_one_thread() -> None:
    one = DedicatedThread("one")

    @one.run_on
    def named(value: int) -> tuple[int, str]:
        if value < 0:
            raise ValueError(value)
        return value, threading.current_thread().name

    @one.run_on
    def outer(value: int) -> tuple[int, str]:
        return named(value)  # by the thread itself, which does not wait for itself

    answers: list[tuple[int, str]] = []
    threads = [threading.Thread(target=lambda n=n: answers.append(outer(n))) for n in range(8)]  # type: ignore[misc]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == [(n, "one") for n in range(8)]
    with pytest.raises(ValueError, match="-1"):
        named(-1)
    assert named(3) == (3, "one")


def test_first_calls_at_once_start_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads that served would each wait for the other's answer."""
    one, both, servers, start = DedicatedThread("one"), threading.Barrier(2), list[threading.Thread](), threading.Thread.start

    def started_at_once(self: threading.Thread) -> None:
        if self.name == "one":
            servers.append(self)
            both.wait()
        start(self)

    identity: Callable[[], int] = one.run_on(threading.get_ident)
    monkeypatch.setattr(threading.Thread, "start", started_at_once)
    answers: list[int] = []
    callers = [threading.Thread(target=lambda: answers.append(one.run_on(identity)())) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(60)
    assert len(servers) == 2 and len(answers) == 2 and len({*answers, identity()}) == 1
    for server in servers:
        if server.ident != answers[0]:
            server.join(60)
    assert [server.is_alive() for server in servers].count(True) == 1


def test_who_asks_is_interrupted_and_the_lock_is_given_back() -> None:
    one, lock, begun, go_on = DedicatedThread("one"), threading.Lock(), threading.Event(), threading.Event()

    @one.run_on
    def locked() -> None:
        with lock:
            begun.set()
            go_on.wait()

    ended: list[str] = []

    def ask() -> None:
        try:
            locked()
        except KeyboardInterrupt:
            ended.append("interrupted")

    thread = threading.Thread(target=ask)
    thread.start()
    begun.wait()
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(KeyboardInterrupt))
    go_on.set()
    thread.join()
    assert ended == ["interrupted"]
    locked()
    assert not lock.locked()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_process_that_was_forked_has_a_thread_of_its_own() -> None:
    code = """
import os, sys
from rho.backend.jit.compiler import DedicatedThread
one = DedicatedThread("one")
twice = one.run_on(lambda x: 2 * x)
assert twice(2) == 4
child = os.fork()
if child == 0:
    os._exit(twice(21))
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout == "42\n", done.stderr


def test_without_a_thread_the_caller_does_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    one = DedicatedThread("one")
    name: Callable[[], str] = one.run_on(lambda: threading.current_thread().name)
    monkeypatch.setattr(threading.Thread, "start", refused)
    assert name() == threading.current_thread().name
