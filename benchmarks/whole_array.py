"""Compares planned Rho programs with NumPy on whole-array operations of 10⁷ elements.

    python benchmarks/whole_array.py [--elements 10000000] [--rounds 9] [--threads 1]

Both sides get arrays in memory and create a new result.  Rounds are interleaved; times are medians in milliseconds; memory is the
peak allocated during one call (by tracemalloc, which counts NumPy's buffers), in units of one argument.  With `--threads 1` Rho
uses one thread, as NumPy's elementwise functions do.
"""

from __future__ import annotations

import argparse
import gc
import platform
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np

from rho import backend
from rho.backend.schedule.plan.plan import Device
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

Arrays = dict[str, Any]

# name, the declared types, the Rho expression, NumPy by hand
CASES: list[tuple[str, str, str, Callable[[Arrays], Any]]] = [
    ("x+y", "x:f64 y:f64", "x+y", lambda a: a["x"] + a["y"]),
    ("x×y (f32)", "x:f32 y:f32", "x×y", lambda a: a["x"] * a["y"]),
    ("2×x+y", "x:f64 y:f64", "2×x+y", lambda a: 2 * (a["x"] + a["y"])),
    ("√x", "x:f64", "√x", lambda a: np.sqrt(a["x"])),
    ("*x", "x:f64", "*x", lambda a: np.exp(a["x"])),
    ("x÷y", "x:f64 y:f64", "x÷y", lambda a: a["x"] / a["y"]),
    ("x⌈y", "x:f64 y:f64", "x⌈y", lambda a: np.maximum(a["x"], a["y"])),
    ("-x", "x:f64", "-x", lambda a: -a["x"]),
    ("|x", "x:f64", "|x", lambda a: np.abs(a["x"])),
    ("x<y", "x:f64 y:f64", "x<y", lambda a: a["x"] < a["y"]),
    ("i+j", "i:i64 j:i64", "i+j", lambda a: a["i"] + a["j"]),
    ("i×3", "i:i64", "i×3", lambda a: a["i"] * 3),
    ("m∧k", "m:bool k:bool", "m∧k", lambda a: a["m"] & a["k"]),
    ("⌽x", "x:f64", "⌽x", lambda a: a["x"][::-1].copy()),
    ("⌊x", "x:f64", "⌊x", lambda a: np.floor(a["x"]).astype(np.int64)),
    ("f64 i", "i:i64", "f64 i", lambda a: a["i"].astype(np.float64)),
    ("m⌿x", "m:bool x:f64", "m⌿x", lambda a: a["x"][a["m"]]),
    ("⌈/x", "x:f64", "⌈/x", lambda a: a["x"].max()),
    ("+\\i", "i:i64", "+\\i", lambda a: np.cumsum(a["i"])),
    ("+\\x", "x:f64", "+\\x", lambda a: np.cumsum(a["x"])),
    ("+/i", "i:i64", "+/i", lambda a: a["i"].sum()),
    ("+/m", "m:bool", "+/m", lambda a: a["m"].sum()),
    ("+/x", "x:f64", "+/x", lambda a: a["x"].sum()),
    ("+/x×y", "x:f64 y:f64", "+/x×y", lambda a: (a["x"] * a["y"]).sum()),
    ("+/ rows", "A:f64r", "+/A", lambda a: a["A"].sum(1)),
    ("+⌿ columns", "A:f64r", "+⌿A", lambda a: a["A"].sum(0)),
    ("⍉A", "A:f64r", "⍉A", lambda a: np.ascontiguousarray(a["A"].T)),
    ("A+⍤1⊢v", "A:f64r v:f64c", "A+⍤1⊢v", lambda a: a["A"] + a["v"]),
]


def arrays(elements: int) -> Arrays:
    generator = np.random.default_rng(1)
    columns = 1000
    rows = elements // columns
    x = generator.random(elements)
    y = generator.random(elements) + 0.5
    i = generator.integers(0, 1000, elements)
    return {
        "x:f64": x, "y:f64": y, "x:f32": x.astype(np.float32), "y:f32": y.astype(np.float32), "i:i64": i, "j:i64": i[::-1].copy(),
        "m:bool": x < 0.5, "k:bool": y < 1, "A:f64r": x[: rows * columns].reshape(rows, columns), "v:f64c": y[:columns],
    }  # fmt: skip


def program(types: str, expression: str) -> str:
    shapes = {"f64r": "f64[r c]", "f64c": "f64[c]"}
    inputs = [part.split(":") for part in types.split()]
    lines = [f"input {name} : {shapes.get(kind, kind + '[n]')}" for name, kind in inputs]
    return "\n".join([*lines, f"output result ← {expression}", ""])


def peak(call: Callable[[], Any]) -> int:
    gc.collect()
    tracemalloc.start()
    result = call()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del result
    return most


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elements", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    data = arrays(options.elements)
    print(f"{platform.machine()} {platform.python_version()} NumPy {np.__version__}, {options.elements} elements, "
          f"{options.threads} thread(s) for Rho, median of {options.rounds}")  # fmt: skip
    print(f"{'program':<12} {'NumPy ms':>9} {'Rho ms':>9} {'ratio':>6}   {'NumPy':>6} {'Rho':>6}  arguments of memory")
    for name, types, expression, by_hand in CASES:
        if options.only and options.only not in name:
            continue
        given = {part.split(":")[0]: data[part] for part in types.split()}
        checked = check(Source("<benchmark>", program(types, expression)))
        assert checked.core is not None, checked.diagnostics
        bound = backend.load(checked.core, given, {})
        plan = backend.plan(bound, Device("cpu0", "cpu", options.threads))

        def rho(plan: Any = plan, bound: Any = bound, given: Arrays = given) -> Any:
            return backend.execute(plan, bound, given).outputs["result"].value

        def numpy(by_hand: Callable[[Arrays], Any] = by_hand, given: Arrays = given) -> Any:
            return by_hand(given)

        assert np.allclose(rho(), numpy(), rtol=1e-10 if "f32" not in types else 1e-5), name
        times: dict[str, list[float]] = {"rho": [], "numpy": []}
        for _ in range(options.rounds):
            for side, call in (("numpy", numpy), ("rho", rho)):
                start = time.perf_counter()
                result = call()
                times[side].append(time.perf_counter() - start)
                del result
        unit = max(value.nbytes for value in given.values())
        ours, theirs = statistics.median(times["rho"]) * 1e3, statistics.median(times["numpy"]) * 1e3
        memory = (peak(numpy) / unit, peak(rho) / unit)
        print(f"{name:<12} {theirs:9.2f} {ours:9.2f} {ours / theirs:6.2f}   {memory[0]:6.2f} {memory[1]:6.2f}")


if __name__ == "__main__":
    main()
