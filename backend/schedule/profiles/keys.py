"""Names of the operation tables of a device, and what stands in for a table that is not there.

A name is an operation, variants of it, and the element type it computes in, joined by dots: `add.f64`, `reduce.add.row.f64`,
`convert.i64.f64` (from i64 to f64), `gemm.tall.f32`, `scan.add.i64`.

Note [Tables].  `size` of a table is bytes touched (operands once, results once), but for `gemm` and the linear algebra: there
it is the operations that `graph.registry` counts.  Beside tables of whole phases a measured profile has parts of fused ones:
  * `read` and `write`: moving that many bytes of one operand, or of a result, past the processor;
  * `body.add.f64`: one more application inside a fused body, on data that are in cache (bytes touched, as above);
  * `body.reduce.add.full.f64`: reducing what a body computes, by the bytes of what is reduced;
  * `kernel.i64`: making the kernel of a structured phase, by the nodes and reads of its body (`host_dispatch_ns` without);
  * `body.residue.constant.i64`: the same with a constant divisor, which compiled kernels multiply by;
  * `turn.f64`: one application in a turn of an element-wise loop that runs as one kernel;
  * `strided`: reading an operand across the order of the others; `pad`: a read that may leave its operand, by its bytes.

Layouts of a reduction: `full` (no cells left), `row` (what is reduced lies side by side, rows of 1024), `short` (rows of 8),
`col` (cells lie side by side, 1024 of them), `narrow` (8 of them).

Neighbours: `cost` (asks), `backend.run.calibration` (measures), `reading` (refuses names that mean nothing).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ....lang.primitives import nearest
from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS
from ...graph.costs import class_of
from ...graph.registry import LIBRARY

CLASSES: Final = ("add", "multiply", "divide", "compare", "logic", "select", "cast", "transcendental", "copy")
STREAMS: Final = ("read", "write", "strided", "pad")
LAYOUTS: Final = ("full", "row", "short", "col", "narrow")
MATRICES: Final = ("gemm", "gemv", "dot")
SHAPES: Final = ("square", "tall", "wide")
LIBRARY_CLASSES: Final = ("scan", "gather", "sort", "search", "compact", "scatter", "solve", "factor", "transform", "random",
                          "format", "sequential", "fill")  # fmt: skip
_KINDS: Final = {kind.value: kind for kind in Kind}
_HEADS: Final = frozenset({
    *FUNCTIONS, *CLASSES, *STREAMS, *MATRICES, *LIBRARY_CLASSES, *LIBRARY, "reduce", "body", "kernel", "turn",
    *(f"circular_{k}" for k in range(13)), *(f"circular_m{k}" for k in range(1, 13)),
})  # fmt: skip
_VARIANTS: Final = frozenset({*FUNCTIONS, *CLASSES, *LAYOUTS, *SHAPES, *_KINDS, *_HEADS, "rows", "constant"}) - {"body"}

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
    wider = {"short": "row", "narrow": "col"}
    layouts = [layout, *([wider[layout]] if layout in wider else []), "full"]
    yield from (f"reduce.{function}.{one}" for one in layouts)
    yield from (f"reduce.add.{one}" for one in layouts)
    yield from (f"reduce.{one}" for one in layouts)
    yield from (f"reduce.{function}", "reduce")
