"""What one more application, or one more number to reduce, costs: nothing but computing, on one thread.

In kernels: a table whose rows are the same few thousand numbers, so that all of it is in the nearest cache; what an application
adds to it is its time.  NumPy calls: what an application adds to a phase of one slice.  Which functions are measured, the table
of scalar functions says.

Neighbours: `ways` (makes phases), `timing` (what a row is), `backend.devices.points` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, TypeAlias

from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS
from ...devices.keys import CONSTANTS, function_key
from ...devices.points import RUNS
from ...graph.phases import ApplyNode, ConstantNode, Node, ReadNode
from ...kernels.build import build_body
from ...kernels.policy import Mode
from ...scalar.table import ROWS as SCALARS
from ...scalar.table import Probe
from .tier import has_kernels
from .timing import Curve, Row, Times
from .ways import Operand, Sample, call

LENGTH: Final = 2048
"""Numbers of a row that stay in the nearest cache."""
ROWS: Final = 16
SLICE: Final = 1 << 14
CALLED: Final = (Kind.F64, Kind.I64, Kind.F32, Kind.BOOL, Kind.C128)
KINDS: Final = (Kind.F64, Kind.I64, Kind.F32, Kind.BOOL, Kind.I32, Kind.U8)
_CONVERSIONS: Final = ((Kind.I64, Kind.F64), (Kind.BOOL, Kind.F64), (Kind.BOOL, Kind.I64), (Kind.I64, Kind.I32),
                       (Kind.F32, Kind.F64), (Kind.I32, Kind.I64), (Kind.BOOL, Kind.U8), (Kind.U8, Kind.I64),
                       (Kind.F64, Kind.I64))  # fmt: skip
_CIRCULAR: Final = (0, 1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -5, -6, -7)
_REDUCED_BY_CALLS: Final = {Kind.BOOL: ("or",), Kind.F64: ("add", "max", "sub", "div"), Kind.C128: ("add",)}
_REDUCED: Final = {Kind.F64: ("add", "max"), Kind.F32: ("add", "max"), Kind.I64: ("add", "max"), Kind.BOOL: ("or", "add")}
_LENGTHS: Final = (4, 8, 16, 32, 64, 256, 1024, 4096, 1 << 16)
"""Of runs that are reduced."""
_ROW_POINTS, _COLUMN_POINTS, _LINE_POINTS = 1 << 19, 1 << 16, 1 << 15
_LINES: Final = (3, 8, 15, 30, 60, 120, 500)
_PILES: Final = (3, 8, 16, 60)
_HIGH: Final = 4
"""Items that are reduced across."""
_LEAST_SHARE: Final = 1000
"""No application touches more than a thousand bytes a nanosecond."""
_FEW, _MANY = 8, 24
"""Applications of two chains that tell a cheap one from noise."""
_FEW_ROWS, _SIDE = 32, 3
"""Rows shorter than so many are reduced one by one where there are so few side by side."""

Make: TypeAlias = Callable[[int, int, int], list[Node]]
"""From the place of the first, and the places of two operands, to nodes of which the last is the application."""


@dataclass(frozen=True, slots=True)
class Application:
    """`each`: bytes touched; `count`: functions that it is."""

    name: str
    kind: Kind
    each: int
    result: Kind
    make: Make
    probe: Probe = Probe.EVERYWHERE
    count: int = 1


def applications(kind: Kind) -> Iterator[Application]:
    """Scalar functions that a kind has, those of `circular` by their parameter, conversions, and what kernels make something else
    of where an operand is a constant."""
    width = kind.bytes
    for name, row in FUNCTIONS.items():
        probe = SCALARS[name].probe
        if kind not in row.kinds or probe is Probe.NEVER or (probe is Probe.RARE and kind is not Kind.F64):
            continue
        if row.arity == 3 and not kind.is_complex:
            yield Application(name, kind, 1 + 3 * width, kind, _chosen(name, kind), count=2)
        if row.arity == 3:
            continue
        for parameter in (0,) if name != "circular" else _CIRCULAR if kind is Kind.F64 else (1, 2, 7):
            result = row.result_kind(kind, parameter) or kind
            each, made = row.arity * width + result.bytes, _applied(name, row.arity, result, parameter)
            yield Application(function_key(name, parameter), kind, each, result, made, probe)
    for target in (target for source, target in _CONVERSIONS if source is kind):
        yield Application(f"convert.{kind.value}", target, width + target.bytes, target, _applied("convert", 1, target))
    for name, place in CONSTANTS.items():
        if kind in (Kind.I64, Kind.I32) and kind in FUNCTIONS[name].kinds:
            yield Application(f"{name}.constant", kind, 3 * width, kind, _with_constant(name, kind, 3, place))
    if kind.is_float:
        yield Application("half_power", kind, 2 * width, kind, _with_constant("pow", kind, 0.5, 1))


def _applied(name: str, arity: int, result: Kind, parameter: int = 0) -> Make:
    return lambda first, *own: [ApplyNode(name, own[:arity], result, parameter)]


def _chosen(name: str, kind: Kind) -> Make:
    """By a comparison that holds for some items."""
    return lambda first, one, other: [
        ApplyNode("lt", (other, 1 - other % 2), Kind.BOOL), ApplyNode(name, (first, one, other), kind),
    ]  # fmt: skip


def _with_constant(name: str, kind: Kind, value: int | float, place: int) -> Make:
    return lambda first, one, other: [
        ConstantNode(kind, value), ApplyNode(name, (first, one) if place == 0 else (one, first), kind),
    ]  # fmt: skip


# -------------------------------------------------------------------------------------- applications


def _joining(kind: Kind) -> str:
    return "and" if kind is Kind.BOOL else "add"


def _chain(kind: Kind, *names: str) -> list[Node]:
    joined = (ApplyNode(name, (2 + place, place % 2), kind) for place, name in enumerate(names))
    return [ReadNode(0, kind), ReadNode(1, kind), ApplyNode(_joining(kind), (0, 1), kind), *joined]


def _in_cache(kind: Kind, nodes: Sequence[Node], result: Kind) -> Sample:
    return Sample((ROWS, LENGTH), [Operand(kind, (LENGTH,), (1,))] * 2, nodes, result)


def _slice(kind: Kind, nodes: Sequence[Node], result: Kind, reduction: str | None = None) -> Times:
    return timed(Sample((SLICE,), [Operand(kind, (SLICE,))] * 2, nodes, result, reduction), Mode.OFF)


def timed(sample: Sample, mode: Mode = Mode.WARM) -> Times:
    return call(lambda _: sample.kernel(), mode)


@cache
def _chained(kind: Kind, *names: str) -> Times:
    return timed(_in_cache(kind, _chain(kind, *names), kind))


def _cheap(name: str, kind: Kind) -> Times:
    """An application, told by many in a row."""
    join = _joining(kind)
    other = join if name != join else "or" if kind is Kind.BOOL else "mul"
    few = (join,) * _FEW
    return (_chained(kind, *few, *(name, other) * (_MANY // 2)) - _chained(kind, *few)) * (1 / _MANY)


def _row(prefix: str, one: Application, spent: Times, points: int) -> Row:
    size = points * one.each
    return Row(f"{prefix}.{one.name}.{one.kind.value}", spent * (1 / one.count), at=size, least=size / _LEAST_SHARE)


def in_kernels(kind: Kind) -> Iterator[Row]:
    """Applications in a kind: cheap ones many in a row, of others three that are joined."""
    for one in applications(kind):
        if one.probe is Probe.CHAINED:
            yield _row("point", one, _cheap(one.name, kind), ROWS * LENGTH)
        elif kind is Kind.F64 or one.probe is Probe.EVERYWHERE:
            nodes, shown, join = _chain(kind), list[int](), _joining(one.result)
            for own in ((2, 0), (0, 1), (1, 2)):
                nodes += one.make(len(nodes), *own)
                shown.append(len(nodes) - 1)
            nodes += [ApplyNode(join, (shown[0], shown[1]), one.result), ApplyNode(join, (shown[2], len(nodes)), one.result)]
            sample = _in_cache(kind, nodes, one.result)
            joins = _cheap(join, one.result) * 2 if one.result in FUNCTIONS[join].kinds else Times(())
            if build_body(sample.phase) is not None:
                yield _row("point", one, (timed(sample) - _chained(kind) - joins) * (1 / 3), ROWS * LENGTH)


def by_calls(kind: Kind) -> Iterator[Row]:
    """Every function as a NumPy call, and reductions."""
    less = _slice(kind, _chain(kind), kind)
    for one in applications(kind):
        yield _row("ufunc", one, _slice(kind, [*_chain(kind), *one.make(3, 2, 0)], one.result) - less, SLICE)
    for function in _REDUCED_BY_CALLS.get(kind, ("add", "max")):
        more = _slice(kind, _chain(kind), kind, function)
        yield Row(f"ufunc.reduce.{function}.{kind.value}", more - less, at=SLICE * kind.bytes)


# --------------------------------------------------------------------------------------- reductions


def reductions(kind: Kind) -> Iterator[tuple[str, int, int, Sample]]:
    """Runs reduced: the table's name, the length of a run, how many there are, and the phase.  Rows are all the same one, columns
    lie in the second cache."""
    for function in _REDUCED[kind]:
        name = f"{function}.{kind.value}"
        for length in _LENGTHS:
            runs = max(1, _ROW_POINTS // max(length, 64))
            if length >= _FEW_ROWS:
                yield f"row.{name}", length, runs, _reduced(function, (runs, length), Operand(kind, (length,), (1,)))
                continue
            groups = runs // _SIDE  # rows that do not lie evenly, few of them side by side: each is reduced on its own
            beside = Operand(kind, (groups, length), (0, 2)), Operand(kind, (_SIDE, length), (1, 2))
            yield f"row.{name}", length, groups * _SIDE, _reduced(function, (groups, _SIDE, length), *beside)
        for length in _LENGTHS[:-2]:
            runs = _COLUMN_POINTS // length
            yield f"column.{name}", length, runs, _reduced(function, (length, runs), Operand(kind, (runs, length), (1, 0)))


def _reduced(function: str, space: Sequence[int], *operands: Operand) -> Sample:
    kind = operands[0].kind
    nodes: list[Node] = [ReadNode(place, kind) for place in range(len(operands))]
    if len(operands) > 1:
        nodes.append(ApplyNode("and" if kind is Kind.BOOL else "max", (0, 1), kind))
    if function == "add" and kind is Kind.BOOL:  # counted
        kind = Kind.I64
        nodes.append(ApplyNode("convert", (len(nodes) - 1,), kind))
    return Sample(space, operands, nodes, kind, function)


def _summed(rows: int, length: int) -> Sample:
    operands = [Operand(Kind.F64, (rows, length)), Operand(Kind.F64, (length,), (1,))]
    return Sample((rows, length), operands, _chain(Kind.F64), Kind.F64)


def _piled(rows: int, length: int) -> Sample:
    """The same where it reduces across."""
    operand = Operand(Kind.F64, (rows, _HIGH, length), (0, 2, 1))
    return Sample((rows, length, _HIGH), [operand], [ReadNode(0, Kind.F64)], Kind.F64, "add")


def _entered(name: str, make: Callable[[int, int], Sample], lengths: Iterable[int], points: int) -> Iterator[Row]:
    """What entering the innermost loop takes, by its length: rows of so many numbers take more than four rows of all."""
    whole = timed(make(4, points // 4))
    for length in lengths:
        runs = points // length
        yield Row(name, (timed(make(runs, length)) - whole) * (RUNS / runs), curve=Curve.FALLING, at=length)


def rows() -> Iterator[Row]:
    """Of kernels, if there are any, and of NumPy calls."""
    if has_kernels():
        launch = timed(Sample((LENGTH,), [Operand(Kind.F64, (LENGTH,))] * 2, _chain(Kind.F64), Kind.F64))
        for kind in KINDS:
            yield from in_kernels(kind)
        for kind in _REDUCED:
            for name, length, runs, sample in reductions(kind):
                yield Row(name, (timed(sample) - launch) * (RUNS / runs), curve=Curve.RISING, at=length)
        yield from _entered("line.f64", _summed, _LINES, _LINE_POINTS)
        yield from _entered("line.column.f64", _piled, _PILES, _LINE_POINTS // _HIGH)
    for kind in CALLED:
        yield from by_calls(kind)
