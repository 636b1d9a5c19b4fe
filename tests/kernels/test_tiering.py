"""When code is compiled: the policy of `jit.tiering`, and the thread that compiles while runs go on."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from share import drawing, share

import rho
from rho.backend.cpu import regions
from rho.backend.jit import compiler, tiering
from rho.backend.jit.tiering import COMPILE_NANOSECONDS, LOAD_NANOSECONDS, WORTH_COMPILING, is_wanted, request_of
from rho.backend.vm import runtime
from rho.backend.vm.call_sites import CallSite
from rho.shell.embedding.functions import Function

WATCHDOG = 120.0


@dataclass(frozen=True)
class Code:
    """Code that nobody compiles."""

    name: str

    def text(self) -> str:
        raise AssertionError("only the thread writes text")


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of what is compiled, in order; a code that begins with `stored` is on disk."""
    done: list[str] = []

    def address_of(code: Code) -> int:
        done.append(code.name)
        compiler._addresses[code] = 1
        return 1

    monkeypatch.setattr(compiler, "_addresses", {})
    monkeypatch.setattr(tiering, "_requests", {})
    monkeypatch.setattr(compiler, "address_of", address_of)
    monkeypatch.setattr(compiler, "is_stored", lambda code: code.name.startswith("stored"))
    monkeypatch.delenv("RHO_KERNELS", raising=False)
    return done


def until(holds: Callable[[], object]) -> None:
    deadline = time.monotonic() + WATCHDOG
    while not holds():
        assert time.monotonic() < deadline
        threading.Event().wait(0.001)


def test_stored_code_is_taken_from_the_second_run_on(compiled: list[str]) -> None:
    assert not is_wanted(Code("stored"), 1.0) and is_wanted(Code("stored"), 1.0)
    assert is_wanted(Code("stored too"), LOAD_NANOSECONDS), "the first run loses more than loading takes"
    assert not compiled, "the run itself loads it"


def test_code_is_requested_once_runs_have_lost_something(compiled: list[str]) -> None:
    code, lost = Code("new"), WORTH_COMPILING / 4
    assert not any(is_wanted(code, lost) for _ in range(3)) and not compiled
    assert not request_of(code).is_queued
    assert not is_wanted(code, lost)
    until(lambda: is_wanted(code, lost))
    assert compiled == ["new"]


def test_a_run_that_would_lose_more_than_compiling_takes_waits(compiled: list[str]) -> None:
    assert is_wanted(Code("large"), COMPILE_NANOSECONDS) and not compiled


def test_the_greatest_loss_comes_first(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on = threading.Event(), threading.Event()
    original = compiler.address_of

    def address_of(code: Code) -> int | None:
        if code.name == "first":
            begun.set()
            assert go_on.wait(WATCHDOG)
        return original(code)

    monkeypatch.setattr(compiler, "address_of", address_of)
    for name, lost in (("first", 1e6), ("small", 6e5), ("great", 5e6), ("stored", 10.0), ("middling", 2e6)):
        code = Code(name)
        assert not is_wanted(code, 0.0) and not is_wanted(code, lost)
        assert name != "first" or begun.wait(WATCHDOG)
    go_on.set()
    until(lambda: len(compiled) == 5)
    assert compiled == ["first", "stored", "great", "middling", "small"]


def test_runs_without_their_code_yield_to_the_thread_that_compiles(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    begun, go_on, slept = threading.Event(), threading.Event(), list[float]()
    original, pause = compiler.address_of, tiering.YIELD_NANOSECONDS

    def address_of(code: Code) -> int | None:
        begun.set()
        assert go_on.wait(WATCHDOG)
        return original(code)

    now = iter(range(10**12, 2 * 10**12, pause // 2))
    monkeypatch.setattr(compiler, "address_of", address_of)
    monkeypatch.setattr(tiering._compiler, "_yielded", 0)
    monkeypatch.setattr(tiering.time, "perf_counter_ns", lambda: next(now))
    monkeypatch.setattr(tiering.time, "sleep", slept.append)
    code = Code("new")
    assert not any(is_wanted(code, WORTH_COMPILING) for _ in range(2)) and begun.wait(WATCHDOG)
    assert not any(is_wanted(code, 10.0) for _ in range(9)) and 3 <= len(slept) <= 5, "no more than a quarter of the time"
    go_on.set()
    until(lambda: is_wanted(code, 10.0))
    before = len(slept)
    assert is_wanted(code, 10.0) and len(slept) == before


def test_what_fails_to_compile_fails_where_a_run_asks_for_it_and_holds_up_nothing(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    original = compiler.address_of

    def address_of(code: Code) -> int | None:
        if code.name == "bad":
            raise ValueError("a mistake of the printer")
        return original(code)

    monkeypatch.setattr(compiler, "address_of", address_of)
    for name in ("bad", "good"):
        assert not is_wanted(Code(name), 0.0) and not is_wanted(Code(name), WORTH_COMPILING)
    until(lambda: compiled and not tiering._compiler.is_busy)
    assert compiled == ["good"] and is_wanted(Code("bad"), 1.0)


def test_without_more_threads_the_run_that_loses_most_compiles(compiled: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    until(lambda: not tiering._compiler.is_busy)
    monkeypatch.setattr(threading.Thread, "start", refuse)
    code = Code("new")
    assert not any(is_wanted(code, WORTH_COMPILING) for _ in range(3)) and not tiering._compiler.is_busy
    assert is_wanted(code, COMPILE_NANOSECONDS)


def call_until_native(function: Function, *given: object) -> None:
    until(lambda: (function(*given), not tiering._compiler.is_busy and not tiering._requests)[1])


STORED = (
    "{C×⍵+⍵}", "{+/⍵×C}", "{⍵÷√+/⍵*2+C}", "{⍵⍳⌈/⍵×C}", "{(⍵>C)/⍵}", "{+/(⍵>C)/⍵}", "{⍸⍵>C}", "{+\\⍵-C}", "{(3+/⍵)÷3+C}",
    "{⍵[⍋⍵×C]}", "{{⍵×0.5+C}⍣5⊢⍵}", "{x←⍵∘.×C+⍵ ⋄ {y←x+.×⍵ ⋄ y÷√y+.×y}⍣20⊢⍵}", "{{0.25×(1⌽⍵)+(¯1⌽⍵)+C×⍵}⍣10⊢⍵}",
)  # fmt: skip


@pytest.mark.skipif(runtime.native() is None, reason="no native calls in this Python")
@pytest.mark.parametrize("text", share(STORED))
def test_code_on_disk_is_installed_in_the_second_call(text: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RHO_KERNEL_CACHE", str(tmp_path))
    monkeypatch.delenv("RHO_KERNELS", raising=False)
    text, given, seen = text.replace("C", f"{drawing(text).random():.6f}"), np.arange(40.0) / 40, list[object]()
    called = CallSite.__call__
    monkeypatch.setattr(CallSite, "__call__", lambda self, *given: (seen.append(self), called(self, *given))[1])

    def begin() -> Function:
        monkeypatch.setattr(compiler, "_addresses", {})
        monkeypatch.setattr(tiering, "_requests", {})
        monkeypatch.setattr(regions, "_runs", compiler.LruCache(256))
        return rho.compile(text)

    first = begin()
    with monkeypatch.context() as patch:
        patch.setattr(tiering, "WORTH_COMPILING", 1.0)
        wanted = first(given)
        until(lambda: (seen.clear(), first(given), not tiering._compiler.is_busy and not seen)[2])
    again = begin()
    assert all(np.array_equal(again(given), wanted) for _ in range(2)) and seen
    seen.clear()
    assert all(np.array_equal(again(given), wanted) for _ in range(4)) and not seen, "the third call runs the code"


def test_a_function_stays_on_numpy_where_llvm_refuses_its_text(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def refuse(text: str) -> bytes:
        texts.append(text)
        raise compiler.Unsupported("no")

    monkeypatch.setattr(compiler, "_addresses", dict(compiler._addresses))
    monkeypatch.setattr(compiler, "compile_text_out_of_process", refuse)
    monkeypatch.setenv("RHO_KERNEL_CACHE", "off")
    function, given = rho.compile("{3.25+⍵×⍵-0.0625}"), np.arange(40.0)
    deadline = time.monotonic() + WATCHDOG
    while not texts and time.monotonic() < deadline:
        assert np.array_equal(function(given), 3.25 + given * (given - 0.0625))
    until(lambda: not tiering._compiler.is_busy)
    for _ in range(50):
        assert np.array_equal(function(given), 3.25 + given * (given - 0.0625))
    assert len(texts) == 1, "it is asked once"


def test_a_compiler_in_another_process_compiles_what_bounded_runs_request(
    compiled: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    original = compiler.address_of

    def address_of(code: Code) -> int | None:
        seen.append(compiler._state.users)
        return original(code)

    monkeypatch.setattr(compiler, "address_of", address_of)
    with compiler.compiling_apart():
        assert not is_wanted(Code("bounded"), 0.0) and not is_wanted(Code("bounded"), WORTH_COMPILING)
    until(lambda: seen)
    assert seen == [1]


MANY = """
import numpy as np, os, signal, sys, threading, rho
x = np.arange(50.0)
functions = [rho.compile(f"{{{number}.5+⍵×⍵-{number}÷1+*⍵}}") for number in range(12)]
def run(times):
    for _ in range(times):
        for number, function in enumerate(functions):
            assert np.allclose(function(x), number + 0.5 + x * (x - number / (1 + np.exp(x))))
run(40)
"""
ENDS = MANY + """
from rho.backend.jit import tiering
print(tiering._compiler.is_busy)
"""
FORKS = MANY + """
child = os.fork()
run(40)
if not child:
    os._exit(7)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
print(True)
"""
INTERRUPTED = MANY + """
heard = 0
for _ in range(20):
    try:
        threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True:
            run(1)
    except KeyboardInterrupt:
        heard += 1
run(40)
print(heard == 20)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no forks")
@pytest.mark.parametrize("script", [ENDS, FORKS, INTERRUPTED], ids=["ends", "forks", "interrupted"])
def test_processes_while_code_is_compiled(script: str) -> None:
    environment = os.environ | {"RHO_KERNEL_CACHE": "off", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=WATCHDOG, env=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")
