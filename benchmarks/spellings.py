"""Times equivalent programs for the same computation, compared with NumPy, and with numba if it is installed.

    python benchmarks/spellings.py [--rounds 9] [--only jacobi,scan] [-o benchmarks/results/spellings.md]

A group is one computation, and its rows are equivalent programs, so the ratio of the largest to the least time of a group is the
cost of a formulation.  Times are the least of interleaved rounds, after three calls that are not counted; each row's result is
compared with NumPy's.  Programs are loaded once (`rho.load`) and run with fresh results.
"""

from __future__ import annotations

import argparse
import math
import platform
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import rho

Arrays = dict[str, Any]
Peer = Callable[[Arrays], Any]
TURNS = 200


@dataclass(frozen=True)
class Group:
    """`numpy` computes the result that all programs must have; `loops` is a function of the inputs for numba."""

    name: str
    inputs: Callable[[Any], Arrays]
    programs: dict[str, str]
    numpy: Peer
    loops: Callable[..., Any] | None = None
    tolerance: float = 1e-12


def _square(n: int) -> Callable[[Any], Arrays]:
    return lambda g: {"x": g.random((n, n))}


def _vector(n: int) -> Callable[[Any], Arrays]:
    return lambda g: {"x": g.standard_normal(n)}


def _jacobi(arrays: Arrays) -> Any:
    u = arrays["x"].copy()
    for _ in range(TURNS):
        inner = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:])
        u[1:-1, 1:-1] = inner
    return u


def _jacobi_loops(x: Any) -> Any:
    u, v = x.copy(), x.copy()
    for _ in range(200):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                v[i, j] = 0.25 * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1])
        u, v = v, u
    return u


def _torus(arrays: Arrays) -> Any:
    u = arrays["x"]
    for _ in range(TURNS):
        u = 0.25 * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1))
    return u


def _smoothed(x: Any) -> Any:
    y = x.copy()
    for i in range(1, len(x)):
        y[i] = 0.9 * y[i - 1] + 0.1 * x[i]
    return y


def _smoothed_slowly(arrays: Arrays) -> Any:
    before, smoothed = 0.0, []
    for place, item in enumerate(arrays["x"].tolist()):
        before = item if place == 0 else 0.9 * before + 0.1 * item
        smoothed.append(before)
    return np.array(smoothed)


def _folded(x: Any) -> Any:
    total = x[len(x) - 1]
    for i in range(len(x) - 2, -1, -1):
        total = total + x[i] * 0.5
    return total


def _shortest(arrays: Arrays) -> Any:
    p = arrays["x"].copy()
    for k in range(len(p)):
        p = np.minimum(p, p[:, k, None] + p[k])
    return p


def _shortest_loops(x: Any) -> Any:
    p = x.copy()
    n = p.shape[0]
    for k in range(n):
        for i in range(n):
            for j in range(n):
                p[i, j] = min(p[i, j], p[i, k] + p[k, j])
    return p


_MEAN = "0.25×(¯1⊖⍵)+(1⊖⍵)+(¯1⌽⍵)+1⌽⍵"
GROUPS = [
    Group("Jacobi, edges fixed, 250 × 250, 200 iterations", _square(250), {
        "x[i;j]←…": "i ← 1+⍳(≢x)-2\n{u ← ⍵ ⋄ u[i;i] ← 0.25×⍵[i-1;i]+⍵[i+1;i]+⍵[i;i-1]+⍵[i;i+1] ⋄ u}⍣200 ⊢ x",
        "edge¿(⍵ ⋄ …)": "n ← ≢x\ne ← (0=⍳n)∨(n-1)=⍳n\nedge ← e∘.∨e\n{edge¿(⍵ ⋄ " + _MEAN + ")}⍣200 ⊢ x",
        "drop and join": "{(1↑⍵)⍪((1↑⍤1⊢m),(0.25×(¯2↓⍤1⊢m)+(2↓⍤1⊢m)+"
                         "(¯1↓⍤1⊢1↓⍤1⊢¯2↓⍵)+¯1↓⍤1⊢1↓⍤1⊢2↓⍵),¯1↑⍤1⊢m ← 1↓¯1↓⍵)⍪¯1↑⍵}⍣200 ⊢ x",
    }, _jacobi, _jacobi_loops),
    Group("Jacobi on a torus, 250 × 250, 200 iterations", _square(250), {"rotations": "{" + _MEAN + "}⍣200 ⊢ x"}, _torus),
    Group("a scan of 200,000 by a function", _vector(200_000), {
        "f\\": "{(0.9×⍺)+0.1×⍵}\\x", "⍣\\": "{(0.9×⍵)+0.1×⍺}⍣\\(1↓x)⊢x[0]",
    }, _smoothed_slowly, _smoothed),
    Group("a fold of 100,000 by a function", _vector(100_000), {"f/": "{⍵+⍺×0.5}/x"},
          lambda a: _folded(a["x"].tolist()), _folded),
    Group("all shortest paths, 400", _square(400),
          {"p[;k]∘.+p[k;]": "{⍵⌊⍵[;⍺]∘.+⍵[⍺;]}⍣(⍳≢x)⊢x"}, _shortest, _shortest_loops),
    Group("the place of the greatest of 2·10⁶", _vector(2_000_000), {"x⍳⌈/x": "i64 x⍳⌈/x", "⊃⍒x": "i64 ⊃⍒x"},
          lambda a: np.argmax(a["x"])),
    Group("the ten greatest of 10⁶", _vector(1_000_000), {"10↑x[⍒x]": "10↑x[⍒x]", "x[10↑⍒x]": "x[10↑⍒x]"},
          lambda a: -np.sort(np.partition(-a["x"], 10)[:10])),
    Group("the median of 10⁶", _vector(1_000_001), {"x[⍋x]": "x[⍋x][⌊(≢x)÷2]"}, lambda a: np.median(a["x"])),
    Group("7,000 rows of 100 sorted", lambda g: {"x": g.random((7000, 100))}, {"{⍵[⍋⍵]}⍤1": "{⍵[⍋⍵]}⍤1 ⊢ x"},
          lambda a: np.sort(a["x"], 1)),
    Group("a quadratic form, 1,000", lambda g: {"x": g.random((1000, 1000)), "v": g.random(1000)}, {
        "+/+/A×v∘.×v": "+/+/x×v∘.×v", "v+.×A+.×v": "v+.×x+.×v",
    }, lambda a: a["v"] @ a["x"] @ a["v"]),
    Group("row sums of a product, 700", lambda g: {"x": g.random((700, 700)), "y": g.random((700, 700))},
          {"+/A+.×B": "+/x+.×y", "A+.×+/B": "x+.×+/y"}, lambda a: a["x"] @ a["y"].sum(1)),
    Group("the trace of a product, 700", lambda g: {"x": g.random((700, 700)), "y": g.random((700, 700))},
          {"+/0 0⍉A+.×B": "+/0 0⍉x+.×y"}, lambda a: (a["x"] * a["y"].T).sum()),
]  # fmt: skip


def program_of(text: str, arrays: Arrays, folder: Path) -> Callable[[], Any]:
    ranks = {name: " ".join([f"{name}{axis}" for axis in range(value.ndim)]) for name, value in arrays.items()}
    if arrays["x"].ndim == 2 and len(set(arrays["x"].shape)) == 1:
        ranks = {name: " ".join(["n"] * value.ndim) for name, value in arrays.items()}
    declared = "".join(f"input {name} : f64[{shape}]\n" for name, shape in ranks.items())
    bound = " where n ≥ 3" if "[n n]" in declared else " where x0 ≥ 11"
    path = folder / f"{abs(hash(text))}.rho"
    *before, last = text.splitlines()
    lines = [declared.replace("]\n", f"]{bound}\n", 1).rstrip(), *before, f"output r ← {last}\n"]
    path.write_text("\n".join(lines), encoding="utf-8")
    program = rho.load(path)
    return lambda: program.run(**arrays)["r"]


def compiled(function: Callable[..., Any] | None) -> Callable[..., Any] | None:
    if function is None:
        return None
    try:
        import numba
    except ImportError:
        return None
    jitted: Callable[..., Any] = numba.njit(function)
    return jitted


def least(calls: list[Callable[[], Any]], rounds: int) -> list[float]:
    """The least milliseconds of each call over interleaved rounds."""
    times = [math.inf] * len(calls)
    for _ in range(rounds):
        for place, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[place] = min(times[place], (time.perf_counter() - start) * 1e3)
    return times


def rows_of(group: Group, folder: Path, rounds: int) -> list[str]:
    arrays = group.inputs(np.random.default_rng(7))
    expected, calls = group.numpy(arrays), [program_of(text, arrays, folder) for text in group.programs.values()]
    for words, call in zip(group.programs, calls, strict=True):
        if not np.allclose(call(), expected, group.tolerance, group.tolerance):
            raise AssertionError(f"{group.name}, {words}: another result than NumPy's")
        call()
        call()
    peers: list[Callable[[], Any]] = [lambda: group.numpy(arrays)]
    loops = compiled(group.loops)
    if loops is not None:
        peers.append(lambda: loops(*arrays.values()))
        peers[-1]()
    *own, numpy = least([*calls, peers[0]], rounds)
    numba = least(peers[1:], rounds)[0] if loops is not None else math.nan
    best = min(numpy, numba) if loops is not None else numpy
    shown = ["" if math.isnan(t) else f"{t:.3g}" for t in (numpy, numba)]
    return [f"| {group.name} | `{words}` | {' | '.join(shown)} | {mine:.3g} | {mine / best:.2f} | {mine / min(own):.2f} |"
            for words, mine in zip(group.programs, own, strict=True)]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", default="")
    parser.add_argument("-o", type=Path)
    given = parser.parse_args()
    head = "| computation | words | NumPy ms | numba ms | Rho ms | ÷ best peer | ÷ best words |"
    lines = [head, "|---" * 7 + "|"]
    with tempfile.TemporaryDirectory() as folder:
        for group in GROUPS:
            if not given.only or any(part in group.name for part in given.only.split(",")):
                lines += rows_of(group, Path(folder), given.rounds)
                print("\n".join(lines[-len(group.programs) :]), flush=True)
    if given.o:
        about = f"`python benchmarks/spellings.py -o {given.o}` on {platform.machine()}, Python {platform.python_version()}, "
        text = f"# The same in other words\n\n{about}NumPy {np.__version__}.\n\n"
        given.o.write_text(text + "\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
