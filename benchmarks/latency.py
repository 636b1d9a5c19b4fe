"""Times the latency of calls (W18): small functions from Python compared with NumPy and numba; text to value; compilation.

    python benchmarks/latency.py [--rounds 25] [--only call,eval,compile]

The results are the least and median of the rounds, in microseconds a call; a round has as many calls as take about a millisecond,
and the sides alternate.  Functions are called until they are linked before they are timed.  A text is cold if no similar text was
evaluated before.  Kernels are compiled without a cached version, then loaded from the cache, in this process, under new names.
"""

from __future__ import annotations

import argparse
import contextlib
import itertools
import os
import platform
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import rho
from rho.backend.jit import compiler
from rho.backend.lower.rows import KernelCode
from rho.benchmarks.calls import CALLS, by_numba

Side = Callable[[], Any]
WARM = 3000
ROUND_SECONDS = 1e-3


def timed(sides: dict[str, Side], rounds: int) -> dict[str, tuple[float, float]]:
    """The (least, median) microseconds of a call of each side."""
    turns = {name: _turns(side) for name, side in sides.items()}
    found: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, side in sides.items():
            start = time.perf_counter()
            for _ in range(turns[name]):
                side()
            found[name].append((time.perf_counter() - start) / turns[name] * 1e6)
    return {name: (min(times), statistics.median(times)) for name, times in found.items()}


def _turns(side: Side) -> int:
    start, count = time.perf_counter(), 0
    while time.perf_counter() - start < ROUND_SECONDS:
        side()
        count += 1
    return max(1, count)


def calls(rounds: int) -> Iterator[str]:
    """The rows of functions of arrays."""
    yield "| function | elements | Rho | NumPy | numba |\n|---|---|---|---|---|"
    peers = by_numba()
    for call in CALLS:
        for size in call.sizes:
            given = [call.make(size) for _ in range(call.sets)]
            sides = {"Rho": _side(rho.compile(call.text), given), "NumPy": _side(call.by_hand, given)}
            for _ in range(WARM if size <= 1000 else 300):
                sides["Rho"]()
            if call.name in peers:
                sides["numba"] = _side(peers[call.name](size), given)
            times = timed(sides, rounds)
            yield f"| {call.name} | {size} | " + " | ".join(_cell(times.get(name)) for name in ("Rho", "NumPy", "numba")) + " |"


def _side(function: Callable[..., Any], given: list[tuple[Any, ...]]) -> Side:
    """The call of a function with its sets of arguments in turn."""
    if len(given) == 1:
        return lambda: function(*given[0])
    turns = itertools.cycle(given)
    return lambda: function(*next(turns))


def _cell(times: tuple[float, float] | None) -> str:
    return "" if times is None else f"{times[0]:.2f} ({times[1]:.2f})"


TEXTS = ("1+{}", "2×1.5 2.5+{}", "+/{}×⍳10", "⌽{} 2 3", "x←{}+⍳10 ⋄ +/x×x", "x←{}+⍳10 ⋄ x[⍋-x]")


def texts(rounds: int) -> Iterator[str]:
    """The rows from text to value, in microseconds."""
    yield "\n| text | cold | again | Python's eval |\n|---|---|---|---|"
    for form in TEXTS:
        cold = []
        for number in range(rounds):
            text = form.format(number + 100)
            start = time.perf_counter()
            rho.eval(text)
            cold.append((time.perf_counter() - start) * 1e6)
        text = form.format(7)
        for _ in range(WARM):
            rho.eval(text)
        sides: dict[str, Side] = {"again": lambda text=text: rho.eval(text)}
        if form == TEXTS[0]:
            sides["Python"] = lambda: eval("1+7")
        times = timed(sides, rounds)
        first = _cell((min(cold), statistics.median(cold)))
        yield f"| `{text}` | {first} | {_cell(times['again'])} | {_cell(times.get('Python'))} |"


class _Fresh:
    """A kernel's text under a new name, which is in no cache."""

    def __init__(self, text: str, number: int) -> None:
        self._text = f"; {os.getpid()} {number}\n{text}"

    def text(self) -> str:
        return self._text


def compiling(rounds: int) -> Iterator[str]:
    """The rows of compiling kernels, and of loading them from the disk, in milliseconds."""
    if compiler.binding() is None:
        return
    kernels = _kernels()
    yield "\n| kernel | compiled (ms) | from disk (ms) |\n|---|---|---|"
    with tempfile.TemporaryDirectory() as folder, _environment(compiler.SWITCH, folder):
        for name, kernel in kernels:
            text = compiler._text(kernel)
            cold, warm = [], []
            for number in range(min(rounds, 15)):
                start = time.perf_counter()
                compiler.address_of(_Fresh(text, number))
                cold.append((time.perf_counter() - start) * 1e3)
                start = time.perf_counter()
                compiler.address_of(_Fresh(text, number))
                warm.append((time.perf_counter() - start) * 1e3)
            yield f"| {name} | {_cell((min(cold), statistics.median(cold)))} | {_cell((min(warm), statistics.median(warm)))} |"


def _kernels() -> list[tuple[str, Any]]:
    """The kernels that the functions above have compiled."""
    found = [
        (f"{code.kernel.form.value} of {len(code.kernel.body.nodes)} nodes", code)
        for code in compiler._addresses
        if isinstance(code, KernelCode)
    ]
    return sorted(found, key=lambda pair: len(pair[1].kernel.body.nodes))[:: max(1, len(found) // 8)]


@contextlib.contextmanager
def _environment(name: str, value: str) -> Iterator[None]:
    before = os.environ.get(name)
    os.environ[name] = value
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


PARTS = {"call": calls, "eval": texts, "compile": compiling}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--only", default=",".join(PARTS))
    options = parser.parse_args()
    print(f"{platform.machine()} Python {platform.python_version()} NumPy {np.__version__}, "
          f"microseconds: least (median) of {options.rounds} rounds; load average {os.getloadavg()[0]:.1f}\n")  # fmt: skip
    for name in options.only.split(","):
        for line in PARTS[name](options.rounds):
            print(line, flush=True)


if __name__ == "__main__":
    main()
