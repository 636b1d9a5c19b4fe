"""The NumPy tier beside NumPy: primitives, reductions and scans where no code is compiled (`RHO_KERNELS=off`).

Each row is an expression and NumPy's own form of it (where NumPy has none, the arrays of NumPy that a careful programmer would
write, or `np.frompyfunc` of Python's function).  Both run in one process in turn; a figure is the least processor time of a call.
Rows are marked that take more than `LIMIT` times NumPy's time and `CALL`, which a launch takes from Python.  Run:

    python benchmarks/numpy_tier.py                            all rows at 10³ and 10⁶ items, some four minutes
    python benchmarks/numpy_tier.py --sizes 1000 --rows div    rows whose name contains a text
"""

from __future__ import annotations

import argparse
import math
import operator
import os
import time
from collections.abc import Callable
from typing import Any

os.environ["RHO_KERNELS"] = "off"

import numpy as np

import rho
from rho.backend.scalar import special as definitions

LIMIT = 5.0
CALL = 20e-6
"""What the launch of a function takes from Python, with that of a reduction; LIMIT is of what exceeds it."""
SECONDS = 0.4
"""Of calls of one form, of which the quickest counts."""

Maker = Callable[[int], tuple[Any, ...]]
Row = tuple[str, Maker, Callable[..., Any]]


def _numbers(size: int) -> np.random.Generator:
    return np.random.default_rng(size)


def floats(size: int) -> tuple[Any, ...]:
    return (_numbers(size).uniform(0.5, 1.5, size),)


def singles(size: int) -> tuple[Any, ...]:
    return (_numbers(size).uniform(0.5, 1.5, size).astype(np.float32),)


def integers(size: int) -> tuple[Any, ...]:
    return (_numbers(size).integers(1, 40, size),)


def booleans(size: int) -> tuple[Any, ...]:
    return (_numbers(size).random(size) < 0.5,)


def truths(size: int) -> tuple[Any, ...]:
    return (np.ones(size, bool),)


def complexes(size: int) -> tuple[Any, ...]:
    return (floats(size)[0] + 1j * floats(size + 1)[0][:size],)


def two(maker: Maker) -> Maker:
    return lambda size: (*maker(size), maker(size + 1)[0][:size])


def rows(maker: Maker) -> Maker:
    return lambda size: (maker(size // 10 * 10)[0].reshape(-1, 10),)


def columns(maker: Maker) -> Maker:
    return lambda size: (maker(size // 10 * 10)[0].reshape(10, -1),)


def python(function: Callable[..., Any], count: int = 1) -> Callable[..., Any]:
    ufunc = np.frompyfunc(function, count, 1)
    return lambda *args: ufunc(*args).astype(args[0].dtype)


def alternating_scan(ufunc: np.ufunc, inverse: np.ufunc) -> Callable[[Any], Any]:
    def scan(x: Any) -> Any:
        items = x.copy()
        items[1::2] = inverse(np.array(0 if ufunc is np.add else 1, x.dtype), x[1::2])
        return ufunc.accumulate(items)

    return scan


def from_the_right(function: Callable[[Any, Any], Any]) -> Callable[[Any], Any]:
    """NumPy reduces from the left only: a loop over its scalars."""

    def fold(x: Any) -> Any:
        total = x[-1]
        for item in x[-2::-1]:
            total = function(item, total)
        return total

    return fold


def difference_from_the_right(x: Any) -> Any:
    """The same roundings as a loop from the right."""
    items = x.copy()
    items[1::2] *= -1
    return np.add.accumulate(items[::-1])[-1]


def along_rows(ufunc: np.ufunc) -> Callable[[Any], Any]:
    return lambda x: ufunc.reduce(x, 1)


FACTORIALS = np.array([float(math.factorial(n)) for n in range(171)])

_MONADIC: dict[str, tuple[str, Callable[..., Any], tuple[Maker, ...]]] = {
    "negative": ("{-⍵}", np.negative, (floats, integers, complexes)),
    "sign": ("{×⍵}", np.sign, (floats, integers)),
    "reciprocal": ("{÷⍵}", np.reciprocal, (floats, singles)),
    "magnitude": ("{|⍵}", np.abs, (floats, integers, complexes)),
    "floor": ("{⌊⍵}", lambda x: np.floor(x).astype(np.int64), (floats, singles)),
    "ceiling": ("{⌈⍵}", lambda x: np.ceil(x).astype(np.int64), (floats,)),
    "exponential": ("{*⍵}", np.exp, (floats, singles, complexes)),
    "logarithm": ("{⍟⍵}", np.log, (floats, singles, complexes)),
    "root": ("{√⍵}", np.sqrt, (floats, complexes)),
    "not": ("{~⍵}", np.logical_not, (booleans,)),
    "pi times": ("{○⍵}", lambda x: x * np.pi, (floats,)),
    "sine": ("{1○⍵}", np.sin, (floats, singles, complexes)),
    "tangent": ("{3○⍵}", np.tan, (floats,)),
    "arc tangent": ("{¯3○⍵}", np.arctan, (floats,)),
    "factorial whole": ("{!⍵}", lambda x: FACTORIALS[x], (integers,)),
    "factorial": ("{!⍵}", python(lambda x: math.gamma(x + 1)), (floats, singles)),
    "log gamma": ("{⎕lgamma ⍵}", python(math.lgamma), (floats,)),
    "digamma": ("{⎕digamma ⍵}", python(definitions.digamma), (floats,)),
    "error function": ("{⎕erf ⍵}", python(math.erf), (floats,)),
    "error function left": ("{⎕erfc ⍵}", python(math.erfc), (floats,)),
    "float": ("{⍵×1.0}", lambda x: x.astype(float), (integers,)),
}
_DYADIC: dict[str, tuple[str, Callable[..., Any], tuple[Maker, ...]]] = {
    "add": ("{⍺+⍵}", np.add, (floats, singles, integers, complexes)),
    "subtract": ("{⍺-⍵}", np.subtract, (floats, integers)),
    "multiply": ("{⍺×⍵}", np.multiply, (floats, integers, complexes)),
    "divide": ("{⍺÷⍵}", np.divide, (floats, integers, complexes)),
    "power": ("{⍺*⍵}", np.power, (floats, singles, complexes)),
    "log": ("{⍺⍟⍵}", lambda x, y: np.log(y) / np.log(x), (floats,)),
    "residue": ("{⍺|⍵}", lambda x, y: np.remainder(y, x), (floats, integers)),
    "minimum": ("{⍺⌊⍵}", np.minimum, (floats, integers)),
    "and": ("{⍺∧⍵}", np.logical_and, (booleans,)),
    "nand": ("{⍺⍲⍵}", lambda x, y: ~(x & y), (booleans,)),
    "gcd": ("{⍺∨⍵}", np.gcd, (integers,)),
    "lcm": ("{⍺∧⍵}", np.lcm, (integers,)),
    "float gcd": ("{⍺∨⍵}", python(definitions.float_gcd, 2), (floats,)),
    "binomial": ("{⍺!⍵}", python(lambda x, y: float(math.comb(int(y), int(x))), 2), (integers,)),
    "less": ("{⍺<⍵}", np.less, (floats, integers)),
    "equal": ("{⍺=⍵}", np.equal, (floats, integers, booleans, complexes)),
    "select": ("{(⍺<⍵)¿⍺⋄⍵}", lambda x, y: np.where(x < y, x, y), (floats,)),
}
_REDUCED: dict[str, tuple[str, Callable[..., Any], tuple[Maker, ...]]] = {
    "add": ("+", np.add.reduce, (floats, singles, integers, booleans, complexes)),
    "multiply": ("×", np.multiply.reduce, (floats, integers, complexes)),
    "subtract": ("-", difference_from_the_right, (floats, singles, integers, complexes)),
    "divide": ("÷", from_the_right(operator.truediv), (floats, singles, complexes)),
    "minimum": ("⌊", np.minimum.reduce, (floats, singles, integers)),
    "maximum": ("⌈", np.maximum.reduce, (floats, integers)),
    "and": ("∧", np.logical_and.reduce, (booleans, truths)),
    "or": ("∨", np.logical_or.reduce, (booleans,)),
    "unequal": ("≠", np.logical_xor.reduce, (booleans,)),
    "equal": ("=", lambda x: ~np.logical_xor.reduce(~x), (booleans,)),
    "less": ("<", from_the_right(operator.lt), (booleans, floats)),
    "nand": ("⍲", from_the_right(lambda x, y: not (x and y)), (booleans,)),
    "gcd": ("∨", np.gcd.reduce, (integers,)),
    "float gcd": ("∨", from_the_right(definitions.float_gcd), (floats,)),
    "lcm": ("∧", np.lcm.reduce, (integers,)),
    "power": ("*", from_the_right(operator.pow), (floats, complexes)),
    "residue": ("|", from_the_right(lambda x, y: y % x), (floats, integers)),
    "log": ("⍟", from_the_right(lambda x, y: np.log(y) / np.log(x)), (floats,)),
    "binomial": ("!", from_the_right(definitions.binomial), (floats,)),
}
_OTHER: dict[str, Row] = {
    "decode": ("{1⊥⍵}", floats, lambda x: np.add.accumulate(x)[-1]),  # Horner's rule: a chain of additions
    "decode whole": ("{1⊥⍵}", integers, np.sum),
    "decode 2": ("{2⊥⍵}", lambda size: (integers(size)[0] % 2,), lambda x: np.polyval(x, 2)),
    "encode": ("{2 2 2 2⊤⍵}", integers, lambda x: np.stack([x >> k & 1 for k in (3, 2, 1, 0)])),
    "argmax": ("{⍵⍳⌈/⍵}", floats, np.argmax),
    "grade": ("{⍋⍵}", floats, lambda x: np.argsort(x, kind="stable")),
    "sort": ("{⍵[⍋⍵]}", floats, np.sort),
    "sort integers": ("{⍵[⍋⍵]}", integers, np.sort),
    "unique": ("{∪⍵}", integers, np.unique),
    "member": ("{⍵∊3 4 5}", integers, lambda x: np.isin(x, [3, 4, 5])),
    "index of": ("{(⍳40)⍳⍵}", integers, lambda x: np.searchsorted(np.arange(40), x)),
    "where": ("{⍸⍵}", booleans, lambda x: np.flatnonzero(x)),
    "compress": ("{(⍵>1)/⍵}", floats, lambda x: x[x > 1]),
    "count": ("{+/⍵>1}", floats, lambda x: np.count_nonzero(x > 1)),
    "reverse": ("{⌽⍵}", floats, lambda x: x[::-1].copy()),
    "rotate": ("{1⌽⍵}", floats, lambda x: np.roll(x, -1)),
    "transpose": ("{⍉⍵}", rows(floats), lambda x: x.T.copy()),
    "catenate": ("{⍵,⍵}", floats, lambda x: np.concatenate((x, x))),
    "iota": ("{⍳≢⍵}", floats, lambda x: np.arange(len(x))),
    "take index": ("{⍵[⌽⍳≢⍵]}", floats, lambda x: x[np.arange(len(x))[::-1]]),
    "repeat": ("{2/⍵}", floats, lambda x: np.repeat(x, 2)),
    "dot": ("{⍺+.×⍵}", two(floats), np.dot),
    "greatest of sums": ("{⌈/⍺+⍵}", two(floats), lambda x, y: (x + y).max()),
    "outer": ("{⍵∘.×⍳10}", lambda size: floats(size // 10), lambda x: np.outer(x, np.arange(10))),
    "windows": ("{3+/⍵}", floats, lambda x: x[2:] + x[1:-1] + x[:-2]),
    "differences": ("{2-/⍵}", floats, lambda x: x[:-1] - x[1:]),
    "key": ("{⍵{+/⍵}⌸⍵}", integers, lambda x: np.bincount(np.unique(x, return_inverse=True)[1], x)),
    "scan greatest": ("{⌈\\⍵}", floats, np.maximum.accumulate),
    "mean": ("{(+/⍵)÷≢⍵}", floats, np.mean),
    "variance": ("{(⍵-(+/⍵)÷≢⍵)*2}", floats, lambda x: (x - x.mean()) ** 2),
    "random": ("{5 ⎕rand ≢⍵}", floats, lambda x: np.random.default_rng(5).random(len(x))),
}
_SCANNED: dict[str, tuple[str, Callable[..., Any], tuple[Maker, ...]]] = {
    "add": ("+", np.add.accumulate, (floats, singles, integers, complexes)),
    "multiply": ("×", np.multiply.accumulate, (floats, integers)),
    "subtract": ("-", alternating_scan(np.add, np.subtract), (floats, integers)),
    "divide": ("÷", alternating_scan(np.multiply, np.divide), (floats, complexes)),
    "minimum": ("⌊", np.minimum.accumulate, (floats, integers)),
    "and": ("∧", np.logical_and.accumulate, (booleans,)),
    "unequal": ("≠", np.logical_xor.accumulate, (booleans,)),
    "gcd": ("∨", np.gcd.accumulate, (integers,)),
    "lcm": ("∧", np.lcm.accumulate, (integers,)),
}


def table() -> dict[str, Row]:
    result: dict[str, Row] = {}
    for name, (text, form, makers) in _MONADIC.items():
        result |= {f"{name} {maker.__name__}": (text, maker, form) for maker in makers}
    for name, (text, form, makers) in _DYADIC.items():
        result |= {f"{name} {maker.__name__}": (text, two(maker), form) for maker in makers}
    for name, (glyph, form, makers) in _REDUCED.items():
        for maker in makers:
            result[f"{name}/ {maker.__name__}"] = f"{{{glyph}/⍵}}", maker, form
            if isinstance(owner := getattr(form, "__self__", None), np.ufunc):
                result[f"{name}/ rows of {maker.__name__}"] = f"{{{glyph}/⍵}}", rows(maker), along_rows(owner)
                result[f"{name}⌿ columns of {maker.__name__}"] = f"{{{glyph}⌿⍵}}", columns(maker), form
    for name, (glyph, form, makers) in _SCANNED.items():
        result |= {f"{name}\\ {maker.__name__}": (f"{{{glyph}\\⍵}}", maker, form) for maker in makers}
    return result | _OTHER


def least(function: Callable[..., Any], arguments: tuple[Any, ...], share: float) -> float:
    """The least processor seconds of a call, of calls for a share of `SECONDS`."""
    best, end = math.inf, time.process_time() + SECONDS * share
    repeats = 1
    while True:
        start = time.process_time()
        for _ in range(repeats):
            function(*arguments)
        took = time.process_time() - start
        best = min(best, took / repeats)
        if took < 1e-4:
            repeats *= 4
        if time.process_time() > end:
            return best


def measured(row: Row, size: int) -> tuple[float, float]:
    text, maker, form = row
    arguments = maker(size)
    function = rho.compile(text)
    with np.errstate(all="ignore"):
        function(*arguments)
        ours, theirs = math.inf, math.inf
        for _ in range(3):
            ours = min(ours, least(function, arguments, 1 / 6))
            theirs = min(theirs, least(form, arguments, 1 / 6))
    return ours, theirs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,1000000")
    parser.add_argument("--rows", default="", help="texts, one of which a row's name contains")
    options = parser.parse_args()
    above = 0
    for name, row in table().items():
        if not any(text in name for text in options.rows.split(",")):
            continue
        for size in map(int, options.sizes.split(",")):
            try:
                ours, theirs = measured(row, size)
            except rho.RhoError as failure:
                print(f"{name:34} {size:8}  {str(failure).splitlines()[0]}")
                continue
            above += ours > LIMIT * theirs + CALL
            mark = "  ***" if ours > LIMIT * theirs + CALL else ""
            print(f"{name:34} {size:8} {ours * 1e6:12.1f} {theirs * 1e6:12.1f} µs {ours / theirs:8.2f}{mark}", flush=True)
    print(f"{above} above {LIMIT}")


if __name__ == "__main__":
    main()
