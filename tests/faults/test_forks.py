"""A process that forks while its other threads prepare, compile, evaluate and prove: each child computes, none waits.

In a process of its own, whose children have a watchdog; what they compute is compared with what their parent computes.
"""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable

import pytest
from share import SEED, repeats

from rho.lang.support import processes
from rho.lang.support.records import cached_property
from rho.typechecker.proof import z3_process as solver

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.long,
]
WATCHDOG = 120.0

FORKING = """import itertools, os, random, select, signal, sys, threading, warnings
import numpy as np
import rho
from rho.tests.faults.test_forks import WATCHDOG, of_child

warnings.simplefilter("ignore")
seed, forks = map(int, sys.argv[1:])
functions = [rho.compile(text) for text in ("{+/⍵×2}", "{(⍉⍵)+.×⍵}", "{⍵[⍋⍵]}", "{+⍀⍵}", "{⍵×⍤1⊢⍵}")]
ranks = [1, 2, 1, 2, 2]
over, going, begun = threading.Event(), threading.Event(), threading.Semaphore(0)
errors = []

def call(chance):
    which = chance.randrange(len(functions))
    x = np.arange(1.0, 1 + 60 * 40)[: 6 * chance.randrange(1, 300)]
    x = x if ranks[which] == 1 else x.reshape(-1, chance.choice([1, 2, 3, 6]))
    value = functions[which](x)
    if which == 0:
        assert value == 2 * x.sum()
    elif which == 1:
        assert np.allclose(value, x.T @ x)
    elif which == 2:
        assert (value == np.sort(x)).all()
    elif which == 3:
        assert np.allclose(value, np.cumsum(x, 0))

def evaluate(chance):
    count = chance.randrange(1, 10000)
    assert rho.eval(f"+/⍳{count}") == count * (count - 1) // 2
    assert rho.compile(f"{{⍵+{count}}}")(np.arange(3)).tolist() == [count, count + 1, count + 2]

def prove(chance):
    count = chance.randrange(1, 10000)
    lines = ["input a : f64[n]", "n ← ≢a", f"+/(({count}×2×⌊(n×1+n)÷2)⍴a)-({count}×n×1+n)⍴⌽a"]
    assert not any(one.is_error for one in rho.check("\\n".join(lines)).diagnostics)

def go_on(work, seed):
    chance = random.Random(seed)
    try:
        while not over.is_set():
            going.wait()
            begun.release()
            work(chance)
    except BaseException as error:
        errors.append(repr(error))

def child(number):
    chance = random.Random(number)
    for work in (call, evaluate, call, prove, call):
        work(chance)

works = [call, evaluate, prove, call]
threads = [threading.Thread(target=go_on, args=(work, seed * 100 + at), daemon=True) for at, work in enumerate(works)]
for thread in threads:
    thread.start()
moments = random.Random(seed)
for number in range(forks):
    going.set()
    for _ in works:
        begun.acquire(timeout=WATCHDOG)
    for _ in range(moments.randrange(100_000)):
        pass
    said = of_child(lambda: child(number), going.clear)  # who is at work while it forks matters, and not who is afterwards
    assert said == "good", (seed, number, said)
over.set()
going.set()
for thread in threads:
    thread.join(WATCHDOG)
    assert not thread.is_alive(), "a thread of the parent waits"
assert not errors, errors
print("good")
"""


def of_child(work: object, forked: Callable[[], None] = lambda: None) -> str:
    """What a forked child says of the work: `good`, its error, or that it hangs; its parent calls `forked`."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        said = "good"
        try:
            work()  # type: ignore[operator]
        except BaseException as error:
            said = repr(error)
        os.write(writing, said.encode())
        os._exit(0)
    forked()
    os.close(writing)
    ready, _, _ = select.select([reading], [], [], WATCHDOG)
    if not ready:
        os.kill(child, signal.SIGABRT)
    said = os.read(reading, 4096).decode() if ready else "it hangs"
    os.close(reading)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return said or f"it ended with {code}"


def test_children_of_a_process_whose_threads_are_at_work() -> None:
    given = [sys.executable, "-X", "faulthandler", "-c", FORKING, str(SEED), str(repeats(80))]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    done = subprocess.run(given, capture_output=True, text=True, timeout=600, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "good\n", ""), SEED


def test_a_fork_takes_all_locks_however_they_are_nested() -> None:
    """Two threads take two of them in both orders: nobody waits for ever, a child holds none and has renewed what is its own."""
    first, second, renewed = processes.lock(), processes.lock(), list[int]()
    processes.in_children(lambda: renewed.append(os.getpid()))
    over = threading.Event()

    def nest(outer: object, inner: object) -> None:
        while not over.is_set():
            with outer:  # type: ignore[attr-defined]
                if inner.acquire(timeout=0.001):  # type: ignore[attr-defined]
                    inner.release()  # type: ignore[attr-defined]

    threads = [threading.Thread(target=nest, args=pair, daemon=True) for pair in ((first, second), (second, first))]
    for thread in threads:
        thread.start()

    def work() -> None:
        assert renewed == [os.getpid()]
        for one in (first, second):
            taken = threading.Thread(target=one.acquire, daemon=True)
            taken.start()
            taken.join(WATCHDOG)
            assert not taken.is_alive()

    for _ in range(repeats(200)):
        assert of_child(work) == "good"
    with first:
        assert of_child(lambda: None) == "good"
    over.set()
    for thread in threads:
        thread.join(WATCHDOG)
        assert not thread.is_alive()
    assert not renewed


def test_locks_and_renewals_that_are_made_while_a_process_forks(monkeypatch: pytest.MonkeyPatch) -> None:
    """As by a thread that imports a module of Rho between what Python calls before a fork and what it calls after it."""
    made = list[object]()
    taken = processes._try_lock

    def making(one: object) -> bool:
        if not made:
            made.append(processes.lock())
        return taken(one)  # type: ignore[arg-type]

    monkeypatch.setattr(processes, "_try_lock", making)
    assert of_child(lambda: None) == "good"
    assert made and not processes._held_for_fork


def test_a_property_that_another_thread_computes() -> None:
    computing, go_on = threading.Event(), threading.Event()

    class Slow:
        @cached_property
        def value(self) -> int:
            computing.set()
            go_on.wait(WATCHDOG)
            return 3

    thread = threading.Thread(target=lambda: Slow().value, daemon=True)
    thread.start()
    assert computing.wait(WATCHDOG)

    def work() -> None:
        go_on.set()
        slow = Slow()
        assert slow.value == slow.__dict__["value"] == 3

    assert of_child(work) == "good"
    go_on.set()
    thread.join(WATCHDOG)


def test_a_child_asks_a_solver_of_its_own() -> None:
    """With the pipe of its parent's, each would read answers to the other's questions."""

    def answers(number: int) -> bool:
        found = solver.solve(f"(declare-const x Int)(assert (= x {number}))", "QF_LIA", ["x"])
        return found is not None and found.model == (number,)

    assert answers(1)
    process = solver._process._running
    children = [threading.Thread(target=lambda at=at: said.append(of_child(lambda: require(answers, at)))) for at in range(1, 4)]
    said = list[str]()
    for one in children:
        one.start()
    assert all(answers(number) for number in range(50))
    for one in children:
        one.join(WATCHDOG)
    assert said == ["good"] * 3 and solver._process._running is process


def require(answers: object, at: int) -> None:
    assert all(answers(100 * at + number) for number in range(50))  # type: ignore[operator]
