"""`--max-time` ends words at the poll where the alarm is there, in C and in Python, and a region between two of its ranges.

The alarm comes at a poll that is counted, never by the clock: the limit of these tests is an hour."""

from __future__ import annotations

import ctypes
import platform
import signal
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import rho
from rho.backend.cpu.regions import RegionExecution
from rho.backend.jit import tiering
from rho.backend.jit.compiler import address_of
from rho.backend.library.operation import Operation
from rho.backend.vm import runtime as native
from rho.backend.vm.runtime import describe_host
from rho.lang.syntax.source import Source
from rho.shell.console.process_exit import Exit, ExitMessage
from rho.shell.execution.running import TimeUp, time_limit

pytestmark = [pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="no alarms here"), pytest.mark.long]
HOUR = 3600.0
TURNS = 300
LOOP = f"{{F←⍺ ⋄ {{F+.×⍵+.×⍉F}}⍣{TURNS}⊢⍵}}"
A = np.eye(9)
B = np.arange(81.0).reshape(9, 9)


def within_an_hour(function: Any, *given: object) -> Any:
    with time_limit(HOUR, Source("a.rho", ""), lambda up: ExitMessage("", "", Exit.BUDGET)):
        return function(*given)


@dataclass(frozen=True)
class Own:
    """The runtime once more, so that another host does not become that of the process."""

    def text(self) -> str:
        return native.Runtime(platform.machine()).text() + "\n; of a test\n"


@dataclass(frozen=True)
class Counting:
    """A `PyErr_CheckSignals` that counts, and lets the alarm come at one call."""

    counts: int
    check: int
    come: int

    def text(self) -> str:
        return f"""define i64 @kernel(ptr %words) {{
  %before = load i64, ptr inttoptr (i64 {self.counts} to ptr)
  %now = add i64 %before, 1
  store i64 %now, ptr inttoptr (i64 {self.counts} to ptr)
  %due = load i64, ptr inttoptr (i64 {self.counts + 8} to ptr)
  %comes = icmp eq i64 %now, %due
  br i1 %comes, label %alarm, label %check
alarm:
  %raised = call i32 inttoptr (i64 {self.come} to ptr)(i32 {int(signal.SIGALRM)})
  br label %check
check:
  %found = call i32 inttoptr (i64 {self.check} to ptr)()
  %wide = sext i32 %found to i64
  ret i64 %wide
}}
"""


@pytest.fixture
def polls(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """How many polls C has made, and the one at which the alarm comes."""
    host = describe_host()
    if host is None:
        pytest.skip("no native words in this Python")
    counts = (ctypes.c_int64 * 2)()
    come = ctypes.cast(ctypes.CDLL(None)["raise"], ctypes.c_void_p).value
    counting = address_of(Counting(ctypes.addressof(counts), host.PyErr_CheckSignals, come or 0))
    runtime = address_of(Own())
    assert counting and runtime
    host.PyErr_CheckSignals = counting
    monkeypatch.setattr(native, "_made", [native.start_runtime(host, runtime)])
    monkeypatch.setenv(tiering.SWITCH, "warm")
    yield counts


@pytest.mark.parametrize("due", [1, 7, TURNS - 1])
def test_in_words_of_c(polls: Any, due: int) -> None:
    function = rho.compile(LOOP)
    expected = {function(A, B).tobytes() for _ in range(40)}
    polls[0] = 0
    assert {function(A, B).tobytes()} == expected
    every = polls[0]
    assert every >= TURNS - 1, "a poll an iteration"
    polls[0], polls[1] = 0, due
    with pytest.raises(TimeUp) as caught:
        within_an_hour(function, A, B)
    assert "ran longer than the 3600 seconds" in str(caught.value) and polls[0] == due
    polls[0] = polls[1] = 0
    assert {function(A, B).tobytes()} == expected and polls[0] == every  # nothing of it is left


def test_in_words_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "off")
    function = rho.compile(LOOP)
    expected = function(A, B).tobytes()
    done, due, run = [0], [0], Operation.run

    def counted(operation: Operation, *given: Any) -> Any:
        done[0] += 1
        if done[0] == due[0]:
            signal.raise_signal(signal.SIGALRM)
        return run(operation, *given)

    monkeypatch.setattr(Operation, "run", counted)
    assert function(A, B).tobytes() == expected and done[0] >= TURNS
    done[0], due[0] = 0, 100
    with pytest.raises(TimeUp):
        within_an_hour(function, A, B)
    assert done[0] == 100, "no phase after the alarm"
    due[0] = 0
    assert function(A, B).tobytes() == expected


def test_between_the_ranges_of_a_region(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiering.SWITCH, "always")
    monkeypatch.setattr(tiering, "INTERRUPT_NANOSECONDS", 1)
    text, x = "{x←⍵ ⋄ {(0.5×⍵)+x[⍺]}⍣(⍳≢x) ⊢ 0.0}", np.arange(400_000.0)
    expected = rho.compile(text)(x)
    done, due, call = [0], [0], RegionExecution.call

    def counted(ranges: RegionExecution, *given: Any) -> None:
        done[0] += 1
        call(ranges, *given)
        if done[0] == due[0]:
            signal.raise_signal(signal.SIGALRM)

    monkeypatch.setattr(RegionExecution, "call", counted)
    assert rho.compile(text)(x) == expected and done[0] > 3, "the second run of a function is a launch of native code"
    done[0], due[0] = 0, 2
    with pytest.raises(TimeUp):
        within_an_hour(rho.compile(text), x)
    assert done[0] == 2, "no range after the alarm"
