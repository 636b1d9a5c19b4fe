"""Names of the operation tables of a device, and what stands in for a table that is not there.

A name is an operation, variants of it, and the element type it computes in, joined by dots: `add.f64`, `reduce.add.row.f64`,
`convert.i64.f64` (from i64 to f64), `gemm.tall.f32`, `scan.add.i64`.

Note [Tables].  `size` of a table is bytes touched (operands once, results once), but for `gemm` and the linear algebra: there
it is the operations that `graph.registry` counts.  A measured profile has parts of structured phases instead of whole ones:
  * `step`: running one at all, by the bytes that the program touches; `first`: what its first execution takes more
    (`first.library` of a library phase, `first.made` where sizes are known only then); `call`: one operand, or NumPy call, more;
  * `read`, `write`: moving bytes past one thread, by all bytes that go round; `fresh`: what memory takes that was not there;
    `strided`: reading an operand across the order of the others; `pad`: a read that may leave its operand, or needs a copy;
  * `point.add.f64`: one more application in a kernel; `point.residue.constant.i64`: with a constant divisor; `ufunc.add.f64`: one
    more NumPy call, both by bytes touched;
  * `row.add.f64`, `column.add.f64`: reducing 1024 runs of so many numbers, along and across; `line`: entering an innermost loop
    of that length 1024 times; `line.column`: the same where it reduces across;
  * `turn`: an application in a loop that waits for the one before, `turn.exp` a transcendental one;
  * `team`: what all threads take for so many nanoseconds of one, where helpers are woken, `team.reduced` of reductions whose
    partial results are joined, `team.long` of long loops, `team.rows` of chains along rows that make a number of each,
    `team.handed` where one thread has made an operand; `cut`, `cut.reduced`: what pieces take more where helpers sleep on.

Layouts of a reduction: `full` (no cells left), `row` (what is reduced lies side by side, rows of 1024), `short` (rows of 8),
`col` (cells lie side by side, 1024 of them), `narrow` (8 of them).

Neighbours: `cost` (asks), `backend.run.calibration` (measures), `reading` (refuses names that mean nothing).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ...lang.primitives import nearest
from ...typechecker.elements import Kind
from ...typechecker.scalars import FUNCTIONS, is_sequential
from ..graph.registry import LIBRARY
from ..scalar.table import class_of

CLASSES: Final = ("add", "multiply", "divide", "compare", "logic", "select", "cast", "transcendental", "copy")
STREAMS: Final = ("read", "write", "strided", "pad")
LAYOUTS: Final = ("full", "row", "short", "col", "narrow")
MATRICES: Final = ("gemm", "gemv", "dot")
BY_WORK: Final = frozenset({"gemm", "factor"}) | {name for name, op in LIBRARY.items() if {"solve", "factor"} & {*op.stems}}
"""Operations whose tables are by operations, not bytes."""
SHAPES: Final = ("square", "tall", "wide")
LIBRARY_CLASSES: Final = ("scan", "gather", "sort", "search", "compact", "scatter", "solve", "factor", "transform", "random",
                          "format", "sequential", "fill")  # fmt: skip
PARTS: Final = ("step", "first", "call", "fresh", "team", "point", "ufunc", "row", "column", "line", "turn", "cut", "disk",
                "scratch")  # fmt: skip
_KINDS: Final = {kind.value: kind for kind in Kind}
_HEADS: Final = frozenset({
    *FUNCTIONS, *CLASSES, *STREAMS, *MATRICES, *LIBRARY_CLASSES, *LIBRARY, "reduce", *PARTS,
    *(f"circular_{k}" for k in range(13)), *(f"circular_m{k}" for k in range(1, 13)),
})  # fmt: skip
_VARIANTS: Final = frozenset({
    *FUNCTIONS, *CLASSES, *LAYOUTS, *SHAPES, *_KINDS, *_HEADS, "rows", "sorts", "constant", "moved", "thin", "square",
    "half_power", "reduced", "library", "made", "own", "plane", "ends", "long", "handed", "few", "binary",
}) - {"point", "ufunc"}  # fmt: skip

_NEAR: Final[dict[Kind, tuple[Kind, ...]]] = {
    Kind.BOOL: (Kind.U8, Kind.I32, Kind.I64, Kind.F64),
    Kind.U8: (Kind.BOOL, Kind.I32, Kind.I64, Kind.F64),
    Kind.I32: (Kind.I64, Kind.F32, Kind.F64),
    Kind.I64: (Kind.I32, Kind.F64, Kind.F32),
    Kind.F32: (Kind.F64, Kind.I32, Kind.I64),
    Kind.F64: (Kind.F32, Kind.I64, Kind.I32),
    Kind.C64: (Kind.C128, Kind.F32, Kind.F64),
    Kind.C128: (Kind.C64, Kind.F64, Kind.F32),
    Kind.CHAR: (Kind.I32, Kind.I64, Kind.F32, Kind.F64),
}
"""Element types whose times by bytes are closest, nearest first."""


def is_key(name: str) -> bool:
    """Does a name mean something?"""
    head, *rest = name.split(".")
    return bool(rest) and rest[-1] in _KINDS and head in _HEADS and all(part in _VARIANTS for part in rest[:-1])


def nearest_key(name: str) -> str | None:
    """A name of the same element type that a misspelt one may mean."""
    stem, dot, kind = name.rpartition(".")
    if not dot or kind not in _KINDS:
        return None
    guess = nearest(stem, sorted(_HEADS))
    return None if guess is None or guess == stem else f"{guess}.{kind}"


def function_key(function: str, parameter: int = 0) -> str:
    """The operation name of a scalar function: those of `circular` have one each."""
    if function != "circular":
        return function
    return f"circular_{parameter}" if parameter >= 0 else f"circular_m{-parameter}"


def kinds_near(kind: Kind) -> tuple[Kind, ...]:
    """The kind itself, then what stands in for it."""
    return kind, *_NEAR[kind]


def scalar_stems(function: str, source: Kind, parameter: int = 0) -> tuple[str, ...]:
    """Operation names of an application, the most exact first."""
    group = class_of(function)
    if group == "cast":
        return f"convert.{source.value}", "convert", "cast", "copy", "add"
    stems = [function_key(function, parameter), function, group]
    if group != "transcendental":
        stems.append("add")
    return tuple(dict.fromkeys(stems))


CONSTANTS: Final = {"residue": 0, "ipow": 1}
"""Functions that are quicker with a constant operand, and which operand that is."""


def reduce_stems(function: str, layout: str) -> Iterator[str]:
    """Operation names of a reduction, the most exact first."""
    if is_sequential(function):
        yield from (f"reduce.{function}", "sequential")
    wider = {"short": "row", "narrow": "col"}
    layouts = [layout, *([wider[layout]] if layout in wider else []), "full"]
    yield from (f"reduce.{function}.{one}" for one in layouts)
    yield from (f"reduce.add.{one}" for one in layouts)
    yield from (f"reduce.{one}" for one in layouts)
    yield from (f"reduce.{function}", "reduce")
