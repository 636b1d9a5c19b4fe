"""Compares planned Rho programs with NumPy and the installed peers (`peers/`) on twenty workloads.

    python benchmarks/workloads.py [--quick] [--threads 2] [--rounds 7] [--only W3,W4] [--peers numba,jax] [--prepared]
                                   [--write results/file.md] [--plot results/file.svg]

`--prepared` runs a prepared plan, as functions of `rho.compile` do, instead of a whole plan.

All sides run in one process in interleaved rounds; times are medians in milliseconds, of processor time with one thread.  Every
side gets arrays in memory and creates a new result; the programs are checked, planned and compiled before they are timed, as in a
session. Results are compared first.
"""

from __future__ import annotations

import argparse
import math
import os
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from rho import backend
from rho.backend.vm.executor import PreparedPlan
from rho.benchmarks.peers import PEERS, peers
from rho.benchmarks.peers.sides import FEW_PRIMES, STEPS
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

Arrays = dict[str, Any]
SETTLE = 0.008  # seconds until the threads of the previous side sleep (those of GNU OpenMP spin for some 4 ms)
SETTLE_BLAS = 0.15  # the same after OpenBLAS, whose threads spin for a tenth of a second


@dataclass(frozen=True)
class Workload:
    """`make(n, dtype, rng)` creates the inputs; `program` declares them with element type T; `by_hand` is NumPy."""

    name: str
    program: str
    sizes: tuple[int, ...]
    make: Callable[[int, Any, Any], Arrays]
    by_hand: Callable[[Arrays], Any]
    kinds: tuple[str, ...] = ("f64", "f32")
    tolerance: float = 1e-9
    settle: float = SETTLE


def _vectors(n: int, dtype: Any, rng: Any) -> Arrays:
    return {"x": rng.random(n).astype(dtype), "y": rng.random(n).astype(dtype)}


def _options(n: int, dtype: Any, rng: Any) -> Arrays:
    return {
        "s": rng.uniform(10, 50, n).astype(dtype), "k": rng.uniform(10, 50, n).astype(dtype),
        "t": rng.uniform(1, 2, n).astype(dtype),
    }  # fmt: skip


def _rows(n: int, dtype: Any, rng: Any) -> Arrays:
    return {"A": rng.random((n, 1000)).astype(dtype)}


def _layers(n: int, dtype: Any, rng: Any) -> Arrays:
    sides = (784, 512, 512, 10)
    given = {"x": rng.random((n, 784)).astype(dtype)}
    return given | {
        name: ((rng.random((rows, columns)) - 0.5) / rows**0.5).astype(dtype)
        for name, rows, columns in zip("uvw", sides, sides[1:], strict=False)
    }


def _erf(x: Any) -> Any:
    """The C library's erf, since NumPy has none; it is as fast as rational approximations in NumPy."""
    return np.fromiter(map(math.erf, x.reshape(-1).tolist()), x.dtype, x.size).reshape(x.shape)


def _black_scholes(a: Arrays) -> Any:
    s, k, t = a["s"], a["k"], a["t"]
    root = s.dtype.type(0.2) * np.sqrt(t)
    d1 = (np.log(s / k) + s.dtype.type(0.05 + 0.02) * t) / root
    d2 = d1 - root
    half = s.dtype.type(0.5)
    c = s.dtype.type(1 / math.sqrt(2))
    return s * half * (1 + _erf(d1 * c)) - k * np.exp(s.dtype.type(-0.05) * t) * half * (1 + _erf(d2 * c))


def _softmax(a: Arrays) -> Any:
    e = np.exp(a["A"] - a["A"].max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def _moments(a: Arrays) -> Any:
    return np.stack((a["A"].mean(1), a["A"].var(1)))


def _mandelbrot(a: Arrays) -> Any:
    cr, ci = np.broadcast_arrays(a["p"], a["q"][:, None])
    zr, zi, n = np.zeros_like(cr), np.zeros_like(cr), np.zeros(cr.shape, np.int64)
    for _ in range(STEPS):
        r, i = zr * zr, zi * zi
        alive = r + i <= 4
        zi = np.where(alive, 2 * zr * zi + ci, zi)
        zr = np.where(alive, r - i + cr, zr)
        n += alive
    return n


def _life(a: Arrays) -> Any:
    b = a["b"]
    for _ in range(STEPS):
        n = b.astype(np.int64)
        n = np.roll(n, 1, 1) + n + np.roll(n, -1, 1)
        n = np.roll(n, 1, 0) + n + np.roll(n, -1, 0)
        b = (n == 3) | (b & (n == 4))
    return b


def _heat(a: Arrays) -> Any:
    u = a["A"]
    for _ in range(STEPS):
        u = u + u.dtype.type(0.1) * (np.roll(u, 1, 0) + np.roll(u, -1, 0) + np.roll(u, 1, 1) + np.roll(u, -1, 1) - 4 * u)
    return u


def _bodies(a: Arrays) -> Any:
    d = a["p"][None] - a["p"][:, None]
    r = (d * d).sum(2) + d.dtype.type(0.01)
    return (d * (a["m"] / (r * np.sqrt(r)))[:, :, None]).sum(1)


def _assign(a: Arrays) -> Any:
    return ((a["x"][:, None] - a["c"][None]) ** 2).sum(2).argmin(1)


def _unique(a: Arrays) -> Any:
    """The distinct items in the order of first occurrence."""
    return a["x"][np.sort(np.unique(a["x"], return_index=True)[1])]


def _primes(a: Arrays) -> Any:
    x = a["i"]
    alive = np.ones(len(x), bool)
    for p in a["p"]:
        alive &= (x % p != 0) | (x == p)
    return alive


def _numbers(n: int, dtype: Any, rng: Any) -> Arrays:
    """The numbers below n, and the primes below its square root."""
    divisors = np.arange(2, math.isqrt(n - 1) + 1)
    return {"i": np.arange(n), "p": divisors[[all(d % q for q in range(2, math.isqrt(d) + 1)) for d in divisors.tolist()]]}


WORKLOADS = [
    Workload("W1 2×x+y", "input x : T[n]\ninput y : T[n]\noutput r ← 2×x+y", (1000, 100_000, 10_000_000), _vectors,
             lambda a: 2 * (a["x"] + a["y"])),
    Workload("W2 polynomial", "input x : T[n]\noutput r ← ((((x×3)+2)×x)+1)×x", (1000, 100_000, 10_000_000),
             lambda n, d, g: {"x": g.random(n).astype(d)}, lambda a: ((a["x"] * 3 + 2) * a["x"] + 1) * a["x"]),
    Workload("W3 Black-Scholes", "input s : T[n]\ninput k : T[n]\ninput t : T[n]\nroot ← 0.2×√t\n"
             "d1 ← ((⍟s÷k)+0.07×t)÷root\nd2 ← d1-root\nN ← {0.5×1+⎕erf ⍵×0.7071067811865475}\n"
             "output r ← (s×N d1)-(k×*¯0.05×t)×N d2", (100_000, 3_000_000), _options, _black_scholes),
    Workload("W4 dot", "input x : T[n]\ninput y : T[n]\noutput r ← +/x×y", (1000, 100_000, 10_000_000), _vectors,
             lambda a: (a["x"] * a["y"]).sum()),
    Workload("W5 distance", "input x : T[n]\ninput y : T[n]\noutput r ← √+/(x-y)*2", (1000, 100_000, 10_000_000), _vectors,
             lambda a: np.sqrt(((a["x"] - a["y"]) ** 2).sum())),
    Workload("W6 softmax rows", "input A : T[r c]\nsoft ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}\noutput r ← soft⍤1 ⊢ A", (4096,),
             lambda n, d, g: {"A": g.random((n, 1024)).astype(d)}, _softmax),
    Workload("W7 mean, variance", "input A : T[r c]\nmean ← (+/A)÷≢⍉A\noutput r ← [mean ⋄ (+/(A-mean)*2)÷≢⍉A]", (2000,),
             _rows, _moments),
    Workload("W8 matrix product", "input A : T[n n]\ninput B : T[n n]\noutput r ← A+.×B", (1024,),
             lambda n, d, g: {"A": g.random((n, n)).astype(d), "B": g.random((n, n)).astype(d)}, lambda a: a["A"] @ a["B"],
             settle=SETTLE_BLAS),
    Workload("W9 Mandelbrot", "input p : T[w]\ninput q : T[h]\nh ← ≢q ⋄ w ← ≢p ⋄ x ← h w⍴p ⋄ y ← ⍉w h⍴q\n"
             "step ← {(a b n) ← ⍵ ⋄ r ← a×a ⋄ i ← b×b ⋄ live ← 4≥r+i\n"
             "(live¿((r-i)+x ⋄ a) ⋄ live¿((2×a×b)+y ⋄ b) ⋄ n+live)}\n"
             "(a b n) ← step⍣50 ⊢ (0×x ⋄ 0×x ⋄ i64 0>x-x)\noutput r ← n", (512,),
             lambda n, d, g: {"p": np.linspace(-2, 1, n).astype(d), "q": np.linspace(-1, 1, n).astype(d)}, _mandelbrot),
    Workload("W10 Life", "input b : bool[n m]\nrows ← {(¯1⌽⍵)+⍵+1⌽⍵}\nnear ← {(¯1⊖⍵)+⍵+1⊖⍵}\n"
             "life ← {s ← near rows ⍵ ⋄ (s=3)∨⍵∧s=4}\noutput r ← life⍣50 ⊢ b", (1024,),
             lambda n, d, g: {"b": g.random((n, n)) < 0.4}, _life, ("bool",)),
    Workload("W11 heat", "input A : T[n m]\n"
             "heat ← {⍵+0.1×((1⊖⍵)+(¯1⊖⍵)+(1⌽⍵)+¯1⌽⍵)-4×⍵}\noutput r ← heat⍣50 ⊢ A", (1024,),
             lambda n, d, g: {"A": g.random((n, n)).astype(d)}, _heat),
    Workload("W12 prefix sum", "input x : T[n]\noutput r ← +\\x", (10_000_000,), lambda n, d, g: {"x": g.random(n).astype(d)},
             lambda a: np.cumsum(a["x"])),
    Workload("W13 sort", "input x : T[n]\noutput r ← x[⍋x]", (1_000_000,), lambda n, d, g: {"x": g.random(n).astype(d)},
             lambda a: np.sort(a["x"])),
    Workload("W13 stable grade", "input x : T[n]\noutput r ← i64 ⍋x", (1_000_000,), lambda n, d, g: {"x": g.random(n).astype(d)},
             lambda a: np.argsort(a["x"], kind="stable")),
    Workload("W14 n-body", "input p : T[n 3]\ninput m : T[n]\nd ← -p (-⍤1⍤1 2) p\nr2 ← 0.01++/d*2\n"
             "output r ← +⌿⍤2 ⊢ d×m (÷⍤1) r2×√r2", (1000,),
             lambda n, d, g: {"p": g.random((n, 3)).astype(d), "m": g.random(n).astype(d)}, _bodies),
    Workload("W15 k-means assignment", "input x : T[n f]\ninput c : T[k f] where k ≥ 1\n"
             "output r ← i64 {⊃⍋⍵}⍤1 ⊢ +/(x (-⍤1⍤1 2) c)*2", (100_000,),
             lambda n, d, g: {"x": g.random((n, 8)).astype(d), "c": g.random((16, 8)).astype(d)}, _assign),
    Workload("W16 histogram", "input i : idx<256>[n]\noutput r ← 256 +⌸ (i ⋄ 1)", (10_000_000,),
             lambda n, d, g: {"i": g.integers(0, 256, n)}, lambda a: np.bincount(a["i"], minlength=256), ("i64",)),
    Workload("W17 row sums, total", "input A : T[r c]\noutput r ← +/+/A", (10_000,), _rows, lambda a: a["A"].sum(1).sum()),
    Workload("W19 primes", "input i : i64[n]\ninput p : i64[k]\noutput r ← ∧⌿(0≠p∘.|i)∨p∘.=i", (1_000_000,), _numbers,
             _primes, ("i64",)),
    Workload("W19 by ten constants", "input i : i64[n]\nkeep ← {(0≠⍺|⍵)∨⍺=⍵}\noutput r ← "
             + "∧".join(f"({p} keep i)" for p in FEW_PRIMES), (1_000_000,),
             lambda n, d, g: {"i": np.arange(n), "p": np.array(FEW_PRIMES)}, _primes, ("i64",)),
    Workload("W20 layers", "input x : T[b i]\ninput u : T[i h]\ninput v : T[h g]\ninput w : T[g o]\n"
             "output r ← (7○(7○x+.×u)+.×v)+.×w", (256,), _layers,
             lambda a: np.tanh(np.tanh(a["x"] @ a["u"]) @ a["v"]) @ a["w"], settle=SETTLE_BLAS),
    Workload("+/x", "input x : T[n]\noutput r ← +/x", (100_000, 10_000_000), lambda n, d, g: {"x": g.random(n).astype(d)},
             lambda a: a["x"].sum()),
    Workload("column sums", "input A : T[r c]\noutput r ← +⌿A", (10_000,), _rows, lambda a: a["A"].sum(0)),
    Workload("row sums", "input A : T[r c]\noutput r ← +/A", (10_000,), _rows, lambda a: a["A"].sum(1)),
    Workload("compress", "input x : T[n]\noutput r ← (x>0.5)⌿x", (10_000_000,), lambda n, d, g: {"x": g.random(n).astype(d)},
             lambda a: a["x"][a["x"] > 0.5]),
    Workload("where", "input x : T[n]\noutput r ← i64 ⍸x>0.5", (10_000_000,), lambda n, d, g: {"x": g.random(n).astype(d)},
             lambda a: np.flatnonzero(a["x"] > 0.5)),
    Workload("unique", "input x : T[n]\noutput r ← ∪x", (1_000_000,),
             lambda n, d, g: {"x": g.random(n // 8)[g.integers(0, n // 8, n)].astype(d)}, _unique),
    Workload("member", "input x : T[n]\ninput y : T[n]\noutput r ← x∊y", (1_000_000,), _vectors,
             lambda a: np.isin(a["x"], a["y"])),
]  # fmt: skip


def planned(work: Workload, kind: str, given: Arrays, threads: int, prepared: bool) -> Callable[[], Any]:
    """Check, bind and plan the program; a call of the result runs it."""
    text = work.program.replace(": T[", f": {kind}[") + "\n"
    checked = check(Source("<benchmark>", text))
    assert checked.core is not None, (work.name, [d.message for d in checked.diagnostics])
    bound = backend.load(checked.core, given, {})
    plan = backend.plan(bound, backend.Device("cpu0", "cpu", threads))
    if prepared:
        ready = PreparedPlan(plan, bound)
        return lambda: ready.run(given).outputs["r"].value
    return lambda: backend.execute(plan, bound, given).outputs["r"].value


def agree(ours: Any, theirs: Any, kind: str, work: Workload) -> bool:
    theirs = theirs.tolist() if hasattr(theirs, "tolist") else theirs  # the results of some peers are no NumPy arrays
    tolerance = 2e-3 if kind == "f32" else work.tolerance
    return bool(np.allclose(np.asarray(ours, np.float64), np.asarray(theirs, np.float64), rtol=tolerance, atol=tolerance))


def measure(
    sides: dict[str, Callable[[], Any]], rounds: int, calls: int, clock: Callable[[], float], settle: float = SETTLE
) -> dict[str, float]:
    """The milliseconds of a call: medians of the rounds, each a mean of `calls` calls in a row after uncounted ones."""
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(rounds):
        for name, call in sides.items():
            time.sleep(settle)
            for _ in range(calls // 4):
                call()
            start = clock()
            for _ in range(calls):
                result = call()
            times[name].append((clock() - start) / calls)
            del result
    return {name: statistics.median(row) * 1e3 for name, row in times.items()}


@dataclass(frozen=True)
class Row:
    """The milliseconds of each side, and the sides with another result."""

    work: str
    kind: str
    size: int
    times: dict[str, float]
    differ: list[str]

    def ratio(self, side: str) -> float:
        return self.times["Rho"] / self.times[side]

    def fastest(self) -> str:
        return min((name for name in self.times if name != "Rho"), key=self.times.__getitem__)

    def markdown(self, names: list[str]) -> str:
        times = [f"{self.times[name]:.4g}" if name in self.times else "" for name in names]
        differ = f" differs: {', '.join(self.differ)}" if self.differ else ""
        best = self.fastest()
        ratios = f"{self.ratio('NumPy'):.2f} | {self.ratio(best):.2f} | {best}{differ}"
        return f"| {self.work} | {self.kind} | {self.size} | {' | '.join(times)} | {ratios} |"


def compared(work: Workload, kind: str, size: int, others: dict[str, Any], options: argparse.Namespace) -> Row:
    given = work.make(size, np.float32 if kind == "f32" else np.float64, np.random.default_rng(1))
    calls: dict[str, Callable[[], Any]] = {"NumPy": partial(work.by_hand, given)}
    calls |= {name: bind(given) for name, bind in others.items()}
    calls["Rho"] = rho = planned(work, kind, given, options.threads, options.prepared)
    for _ in range(500 if size <= 100_000 else 4):  # so that tiering has compiled the code, as in a session
        ours = rho()
    differ = [name for name, call in calls.items() if not agree(ours, call(), kind, work)]
    for call in calls.values():
        call()
    clock = time.thread_time if options.threads == 1 else time.perf_counter
    in_a_row = 40 if size <= 100_000 < work.sizes[-1] else 1
    return Row(work.name, kind, size, measure(calls, options.rounds, in_a_row, clock, work.settle), differ)


def plot(rows: list[Row], names: list[str], path: Path) -> None:
    """Plot the time of each side relative to Rho's, one line for each workload, on a logarithmic scale."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 1.5 + 0.22 * len(rows)), layout="constrained")
    axes = figure.add_subplot()
    for name in names:
        points = [(1 / row.ratio(name), place) for place, row in enumerate(rows) if name in row.times and name != "Rho"]
        if points:
            axes.plot(*zip(*points, strict=True), "o", markersize=4, alpha=0.8, label=name)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="time ÷ time of Rho (right of the line: Rho is faster)", ylim=(len(rows) - 0.5, -0.5))
    axes.set_yticks(range(len(rows)), [f"{row.work}, {row.kind}, {row.size:,}" for row in rows], fontsize=7)
    axes.grid(axis="x", alpha=0.3)
    figure.legend(loc="outside right upper", fontsize=8)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="fewer rounds, one size, f64 only")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default="", help="parts of the workloads' names")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--prepared", action="store_true", help="prepared plans, as functions of rho.compile")
    parser.add_argument("--write", type=Path)
    parser.add_argument("--plot", type=Path, help="a picture of the ratios (matplotlib)")
    options = parser.parse_args()
    options.rounds = min(options.rounds, 3) if options.quick else options.rounds
    others = peers(options.threads, tuple(options.peers.split(",")))
    present = {name for sides in others.values() for name in sides}
    names = ["NumPy", *(name for name in PEERS if name in present), "Rho"]
    team = "one thread, its processor time" if options.threads == 1 else f"{options.threads} threads for all but NumPy"
    lines = [
        f"{platform.machine()} {platform.processor()} Python {platform.python_version()} NumPy {np.__version__}, "
        f"{team}, medians of {options.rounds} rounds, milliseconds a call (sizes to 10⁵: 40 in a row), fresh results, "
        f"{'prepared plans' if options.prepared else 'plans'}; {date.today()}, load average {os.getloadavg()[0]:.1f}", "",
        f"| workload | kind | size | {' | '.join(names)} | Rho ÷ NumPy | Rho ÷ fastest other | fastest other |",
        "|---" * (6 + len(names)) + "|",
    ]  # fmt: skip
    print("\n".join(lines), flush=True)
    rows: list[Row] = []
    for work in WORKLOADS:
        if options.only and not any(part in work.name for part in options.only.split(",")):
            continue
        for kind in work.kinds[:1] if options.quick else work.kinds:
            for size in work.sizes[-1:] if options.quick else work.sizes:
                rows.append(compared(work, kind, size, others.get(work.name, {}), options))
                lines.append(rows[-1].markdown(names))
                print(lines[-1], flush=True)
    if options.plot:
        plot(rows, names, options.plot)
    if options.write:
        options.write.parent.mkdir(parents=True, exist_ok=True)
        options.write.write_text("\n".join([*lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
