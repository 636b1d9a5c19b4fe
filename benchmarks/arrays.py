"""Compares forty idioms of array languages with J, Uiua and KlongPy, on vectors of 10⁶ items and matrices as large.

    pip install jlanguage uiuapy klongpy
    python benchmarks/arrays.py [--items 1000000] [--rounds 9] [--only ∪k,⍋k] [--write results/arrays.md]

All run in this process, on one core.  Every result of a peer is compared with Rho's before anything is timed; a sentence whose
result differs, and a peer that is not installed, are named and left out.  A time is processor time of one evaluation, the median
of rounds in which all sides alternate, and a row's ratio is Rho's time by that of its fastest peer.  Arguments are values of each
language before the clock starts.  Results stay there: of a Uiua function, which converts its arguments in each call, the time is
that of calls which evaluate it several times less that of calls which do so once.  A result of KlongPy that is a view of its
argument is copied, since the other languages make new arrays.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.metadata
import math
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

SECONDS_OF_ROUND = 0.004
MOST_CALLS = 100
SLOW, FEW_ROUNDS = 10, 3
"""A side that takes so many times the fastest one's time is measured in a few rounds only."""
LIMIT, MEAN_LIMIT = 1.2, 0.5
"""The ratio that every row should stay below, and their geometric mean."""
Arrays = dict[str, Any]


@dataclass(frozen=True)
class Idiom:
    """A sentence of each language; `arguments` are the names of ⍺ and ⍵, and of the arguments of the Uiua function."""

    name: str
    arguments: str
    rho: str
    j: str
    uiua: str
    klong: str = ""


IDIOMS = [
    Idiom("∪k", "k", "∪⍵", "~. k", "◴", "?k"),
    Idiom("⍋k", "k", "⍋⍵", "/: k", "⍏", "<k"),
    Idiom("⍒k", "k", "⍒⍵", "\\: k", "⍖", ">k"),
    Idiom("k[⍋k]", "k", "⍵[⍋⍵]", "/:~ k", "⍆", "k@<k"),
    Idiom("x[⍋x]", "x", "⍵[⍋⍵]", "/:~ x", "⍆", "x@<x"),
    Idiom("w⍳k", "wk", "⍺⍳⍵", "w i. k", "⊗:"),
    Idiom("k⍳w", "kw", "⍺⍳⍵", "k i. w", ""),  # Uiua takes minutes where items are absent
    Idiom("w∊k", "wk", "⍺∊⍵", "w e. k", "∈:"),
    Idiom("s⍸x", "sx", "⍺⍸⍵", "_1+(s I. x)+(x e. s)", ""),
    Idiom("≠k", "k", "≠⍵", "~: k", "◰"),
    Idiom("⍋⍋k", "k", "⍋⍋⍵", "/: /: k", "⍏⍏", "<<k"),
    Idiom("+⌸ counts", "k", "1000 +⌸ (⍵ ⋄ 1)", "<: #/.~ (i. 1000) , k", "⊕⧻."),
    Idiom("+⌸ sums", "kx", "1000 +⌸ (⍺ ⋄ ⍵)", "((i. 1000) , k) +//. (1000 $ 0) , x", "⊕/+"),
    Idiom("⍸m", "m", "⍸⍵", "I. m", "⊚", "&m"),
    Idiom("m⌿x", "mx", "⍺⌿⍵", "m # x", "▽", "x@&m"),
    Idiom("z⍳1", "z", "⍵⍳1", "z i. 1", "⊗1"),
    Idiom("m∧~p", "mp", "⍺∧~⍵", "m *. -. p", "↧⊙¬"),
    Idiom("+/m", "m", "+/⍵", "+/ m", "/+", "+/m"),
    Idiom("+\\m", "m", "+\\⍵", "+/\\ m", "\\+", "+\\m"),
    Idiom("∨\\m", "m", "∨\\⍵", "+./\\ m", "\\↥"),
    Idiom("≠\\m", "m", "≠\\⍵", "~:/\\ m", "\\≠"),
    Idiom("+/x", "x", "+/⍵", "+/ x", "/+", "+/x"),
    Idiom("⌈/x", "x", "⌈/⍵", ">./ x", "/↥", "|/x"),
    Idiom("+\\x", "x", "+\\⍵", "+/\\ x", "\\+", "+\\x"),
    Idiom("⌈\\k", "k", "⌈\\⍵", ">./\\ k", "\\↥"),
    Idiom("x+y", "xy", "⍺+⍵", "x + y", "+", "x+y"),
    Idiom("+/x×y", "xy", "+/⍺×⍵", "+/ x * y", "/+×", "+/x*y"),
    Idiom("2-/x", "x", "2-/⍵", "2 -/\\ x", "-⊃(↘1)(↘¯1)"),
    Idiom("2|k", "k", "2|⍵", "2 | k", "◿2", "k!2"),
    Idiom("⌊x÷10", "x", "⌊⍵÷10", "<. x % 10", "⌊÷10", "_x%10"),
    Idiom("x*5", "x", "⍵*5", "x ^ 5", "ⁿ5", "x^5"),
    Idiom("y*0.5", "y", "⍵*0.5", "y ^ 0.5", "ⁿ0.5", "y^0.5"),
    Idiom("⌽x", "x", "⌽⍵", "|. x", "⇌", "|x"),
    Idiom("x[q]", "qx", "⍵[⍺]", "q { x", "⊏", "x@q"),
    Idiom("x,y", "xy", "⍺,⍵", "x , y", "⊂", "x,y"),
    Idiom("⍉A", "A", "⍉⍵", "|: A", "⍉", "+A"),
    Idiom("+/A", "A", "+/⍵", '+/"1 A', "≡/+"),
    Idiom("+⌿A", "A", "+⌿⍵", "+/ A", "/+", "+/A"),
    Idiom("B+.×B", "B", "⍵+.×⍵", "B +/ . * B", ""),
    Idiom("u∘.×u", "u", "⍵∘.×⍵", "u */ u", "⊞×."),
]


def arrays(items: int) -> Arrays:
    """k: 0..999; w: 0..1999; x, y: floats; s: a thousand ascending ones; m, p: bools; z: bools, true in the last third;
    q: a permutation; u: one of a thousand; A, B: matrices."""
    draw = np.random.default_rng(1)
    side = math.isqrt(items)
    x = draw.standard_normal(items)
    return {
        "k": draw.integers(0, 1000, items), "w": draw.integers(0, 2000, items), "x": x, "y": draw.random(items) + 0.5,
        "s": np.sort(draw.standard_normal(1000)), "m": draw.random(items) < 0.5, "p": draw.random(items) < 0.5,
        "q": draw.permutation(items), "A": x[: side * side].reshape(side, side), "B": draw.standard_normal((300, 300)),
        "u": draw.permutation(1000), "z": np.arange(items) * 3 >= items * 2,
    }  # fmt: skip


# ---------------------------------------------------------------------------------------------------- the sides


@dataclass(frozen=True)
class Side:
    """How one language evaluates one idiom: its result as an array, and the seconds of one evaluation."""

    result: Callable[[], Any]
    seconds: Callable[[], float]


def timed(call: Callable[[], Any]) -> Callable[[], float]:
    """Returns the clock of a call, which is repeated until it takes `SECONDS_OF_ROUND`."""
    start = time.process_time()
    call()
    count = min(MOST_CALLS, max(1, math.ceil(SECONDS_OF_ROUND / max(1e-6, time.process_time() - start))))

    def seconds() -> float:
        start = time.process_time()
        for _ in range(count):
            call()
        return (time.process_time() - start) / count

    return seconds


class Rho:
    def __init__(self, data: Arrays) -> None:
        import rho

        self.compile, self.data, self.version = rho.compile, data, rho.__version__

    def side(self, idiom: Idiom) -> Side:
        function, given = self.compile("{" + idiom.rho + "}"), [self.data[name] for name in idiom.arguments]
        for _ in range(3):
            function(*given)
        return Side(lambda: np.asarray(function(*given)), timed(lambda: function(*given)))


J_KINDS = {1: np.bool_, 4: np.int64, 8: np.float64}


class J:
    """J's engine; names of the arguments are nouns there."""

    def __init__(self, data: Arrays) -> None:
        from jlang.core import J as Session

        self.session = Session()
        self.engine = self.session._j.api, self.session._j.jt
        self.version = importlib.metadata.version("jlanguage")
        for name, array in data.items():
            array = np.ascontiguousarray(array)
            shape = (ctypes.c_ssize_t * array.ndim)(*array.shape)
            kind = next(number for number, dtype in J_KINDS.items() if array.dtype == dtype)
            words = [ctypes.c_ssize_t(word) for word in (kind, array.ndim, ctypes.addressof(shape), array.ctypes.data)]
            self.run("")
            assert self.engine[0].JSetM(self.engine[1], name.encode(), *map(ctypes.byref, words)) == 0, name

    def run(self, sentence: str) -> None:
        api, session = self.engine
        if api.JDo(session, sentence.encode()):
            raise ValueError(sentence)

    def side(self, idiom: Idiom) -> Side:
        sentence = "rho_result =: " + idiom.j

        def result() -> Any:
            self.run(sentence)
            kind, rank, shape, start = words = [ctypes.c_ssize_t() for _ in range(4)]
            api, session = self.engine
            assert api.JGetM(session, b"rho_result", *map(ctypes.byref, words)) == 0
            sizes = list((ctypes.c_ssize_t * rank.value).from_address(shape.value)) if rank.value else []
            dtype = np.dtype(J_KINDS[kind.value])
            memory = (ctypes.c_char * (math.prod(sizes) * dtype.itemsize)).from_address(start.value)
            return np.frombuffer(memory, dtype).reshape(sizes).copy()

        return Side(result, timed(lambda: self.run(sentence)))


class Uiua:
    """Functions by uiuapy, which converts arguments and results in each call."""

    def __init__(self, data: Arrays) -> None:
        import uiua

        self.compile, self.version = uiua.compile, "uiuapy " + importlib.metadata.version("uiuapy")
        self.data = {name: array.view(np.uint8) if array.dtype == np.bool_ else array for name, array in data.items()}

    def side(self, idiom: Idiom) -> Side:
        given = [self.data[name] for name in idiom.arguments]
        keeping = "◡" if len(given) > 1 else "⊸"
        function = self.compile(idiom.uiua)
        once, more = (self.compile(f"⍥(◌{keeping}({idiom.uiua})){count}") for count in (1, 5))

        def spent(call: Any) -> float:
            start = time.process_time()
            call(*given)
            return time.process_time() - start

        one = max(1e-6, (spent(more) - spent(once)) / 4)
        count = min(MOST_CALLS, max(2, math.ceil(2 * SECONDS_OF_ROUND / one)))
        more = self.compile(f"⍥(◌{keeping}({idiom.uiua})){count + 1}")
        return Side(lambda: np.asarray(function(*given)), lambda: max(1e-7, (spent(more) - spent(once)) / count))


class KlongPy:
    def __init__(self, data: Arrays) -> None:
        from klongpy import KlongInterpreter

        self.session, self.version = KlongInterpreter(), importlib.metadata.version("klongpy")
        for name, array in data.items():
            self.session[name] = array.astype(np.int64) if array.dtype == np.bool_ else array

    def side(self, idiom: Idiom) -> Side:
        def call() -> Any:
            value = np.asarray(self.session(idiom.klong))
            return value if value.base is None and value.flags.c_contiguous else value.copy(order="C")

        return Side(call, timed(call))


PEERS: dict[str, type[J | Uiua | KlongPy]] = {"J": J, "Uiua": Uiua, "KlongPy": KlongPy}


def agrees(ours: Any, theirs: Any) -> bool:
    return ours.shape == theirs.shape and bool(np.allclose(ours, theirs, rtol=1e-9, atol=1e-9))


# ---------------------------------------------------------------------------------------------------- the table


def row(idiom: Idiom, rho: Rho, peers: dict[str, Any], rounds: int, notes: list[str]) -> dict[str, float]:
    """Returns the seconds of each side, Rho first."""
    sides = {"Rho": rho.side(idiom)}
    expected = sides["Rho"].result()
    for name, peer in peers.items():
        if not getattr(idiom, {"J": "j", "Uiua": "uiua", "KlongPy": "klong"}[name]):
            continue
        try:
            side = peer.side(idiom)
            equal = agrees(expected, side.result())
        except Exception as error:  # a peer that cannot say it is no failure of the benchmark
            notes.append(f"{idiom.name}: {name} failed ({str(error).splitlines()[0][:60]})")
            continue
        if equal:
            sides[name] = side
        else:
            notes.append(f"{idiom.name}: {name}'s result differs")
    times: dict[str, list[float]] = {name: [] for name in sides}
    for number in range(rounds):
        for name, side in sides.items():
            if number < FEW_ROUNDS or min(times[name]) < SLOW * min(map(min, times.values())):
                times[name].append(side.seconds())
    return {name: statistics.median(seconds) for name, seconds in times.items()}


def present(data: Arrays, notes: list[str]) -> dict[str, Any]:
    """Returns the peers that are installed."""
    peers: dict[str, Any] = {}
    for name, peer in PEERS.items():
        try:
            peers[name] = peer(data)
        except ImportError as error:
            notes.append(f"{name} is absent ({error.name})")
    return peers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--items", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    os.environ.setdefault("RHO_KERNELS", "warm")  # as after the first second of a program's calls
    data, notes = arrays(options.items), list[str]()
    rho, peers = Rho(data), present(data, notes)
    versions = ", ".join(f"{name} {side.version}" for name, side in {"Rho": rho, **peers}.items())
    lines = [f"{platform.machine()}, Python {platform.python_version()}, NumPy {np.__version__}, {versions}; "
             f"{options.items} items, one core, processor time, median of {options.rounds} interleaved rounds, {date.today()}",
             ""]  # fmt: skip
    lines += ["| idiom | Rho ms | " + " | ".join(f"{name} ms" for name in peers) + " | Rho by the fastest |"]
    lines += ["| --- |" + " ---: |" * (len(peers) + 2)]
    print("\n".join(lines), flush=True)
    ratios: dict[str, float] = {}
    chosen = options.only.split(",") if options.only else [idiom.name for idiom in IDIOMS]
    for idiom in IDIOMS:
        if idiom.name not in chosen:
            continue
        times = row(idiom, rho, peers, options.rounds, notes)
        others = [seconds for name, seconds in times.items() if name != "Rho"]
        cells = [f"{times[name] * 1e3:.3f}" if name in times else "" for name in ("Rho", *peers)]
        if others:
            ratios[idiom.name] = times["Rho"] / min(others)
        ratio = f"{ratios[idiom.name]:.2f}" if others else ""
        lines.append(f"| `{idiom.name}` | " + " | ".join(cells) + f" | {ratio} |")
        print(lines[-1], flush=True)
    above = [f"{name} {ratio:.2f}" for name, ratio in ratios.items() if ratio > LIMIT]
    mean = statistics.geometric_mean(ratios.values()) if ratios else math.nan
    notes.insert(0, f"Geometric mean {mean:.2f} of {len(ratios)} (bar {MEAN_LIMIT}); above {LIMIT}: {', '.join(above) or 'none'}")
    lines += ["", *notes]
    print("\n".join(["", *notes]))
    if options.write is not None:
        title = "# Idioms of array languages\n\n`python benchmarks/arrays.py`: its docstring says what is measured.\n\n"
        options.write.write_text(title + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
