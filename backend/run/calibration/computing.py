"""What one more application, or one more number to reduce, costs: nothing but computing, on one thread.

Kernels: a table whose rows are the same few thousand numbers, so that all of it is in the nearest cache; what an application adds
to it is its time.  NumPy calls: what an application adds to a phase of one slice.

Neighbours: `samples` (makes phases), `probes` (times them), `backend.devices.points` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS
from ...devices.keys import CONSTANTS, function_key
from ...devices.points import RUNS
from ...graph.phases import ApplyNode, ConstantNode, Node, ReadNode
from ...kernels.build import build_body
from ...scalar import table
from ...scalar.table import Probe as Wanted
from ..cpu import CpuBackend
from .probes import Curve, Probe, Section, Time
from .samples import Operand, Sample, sample

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

Make: TypeAlias = Callable[[int, tuple[int, int]], list[Node]]
"""From the place of the first, and the places of two operands, to nodes of which the last is the application."""


@dataclass(frozen=True, slots=True)
class Application:
    """`each`: bytes touched; `count`: functions that it is."""

    key: str
    each: int
    result: Kind
    make: Make
    probe: Wanted = Wanted.EVERYWHERE
    count: int = 1


@dataclass(frozen=True, slots=True)
class Pair:
    """An application costs what `more` takes beyond `less`, shared by `count`; `joins` of what it takes are additions."""

    key: str
    each: int
    more: Sample
    less: Sample
    count: int
    points: int
    joins: int = 0


def _joining(kind: Kind) -> str:
    return "and" if kind is Kind.BOOL else "add"


def _base(kind: Kind) -> list[Node]:
    return [ReadNode(0, kind), ReadNode(1, kind), ApplyNode(_joining(kind), (0, 1), kind)]


def _chain(kind: Kind, names: Sequence[str]) -> list[Node]:
    return [*_base(kind), *(ApplyNode(name, (2 + place, place % 2), kind) for place, name in enumerate(names))]


def _in_cache(kind: Kind, nodes: Sequence[Node], result: Kind, rows: int = ROWS) -> Sample:
    return sample((rows, LENGTH), [Operand(kind, (LENGTH,), (1,))] * 2, nodes, result)


def _slice(kind: Kind, nodes: Sequence[Node], result: Kind, reduction: str | None = None) -> Sample:
    return sample((SLICE,), [Operand(kind, (SLICE,))] * 2, nodes, result, reduction)


def _applied(name: str, arity: int, result: Kind, parameter: int = 0) -> Make:
    return lambda _, own: [ApplyNode(name, own[:arity], result, parameter)]


def _chosen(name: str, kind: Kind) -> Make:
    """By a comparison that holds for some items."""
    return lambda first, own: [
        ApplyNode("lt", (own[1], 1 - own[1] % 2), Kind.BOOL), ApplyNode(name, (first, *own), kind),
    ]  # fmt: skip


def _with_constant(name: str, kind: Kind, value: int | float, place: int) -> Make:
    return lambda first, own: [
        ConstantNode(kind, value), ApplyNode(name, (first, own[0]) if place == 0 else (own[0], first), kind),
    ]  # fmt: skip


def _functions(kind: Kind) -> Iterator[Application]:
    """Scalar functions that a kind has, those of `circular` by their parameter, and conversions."""
    for name, row in FUNCTIONS.items():
        probe = table.ROWS[name].probe
        if kind not in row.kinds or probe is Wanted.NEVER or (probe is Wanted.RARE and kind is not Kind.F64):
            continue
        if row.arity == 3 and not kind.is_complex:
            yield Application(f"{name}.{kind.value}", 1 + 3 * kind.bytes, kind, _chosen(name, kind), Wanted.EVERYWHERE, 2)
        if row.arity == 3:
            continue
        for parameter in (0,) if name != "circular" else _CIRCULAR if kind is Kind.F64 else (1, 2, 7):
            result, key = row.result_kind(kind, parameter) or kind, function_key(name, parameter)
            made = _applied(name, row.arity, result, parameter)
            yield Application(f"{key}.{kind.value}", row.arity * kind.bytes + result.bytes, result, made, probe)
    for target in (target for source, target in _CONVERSIONS if source is kind):
        key, made = f"convert.{kind.value}.{target.value}", _applied("convert", 1, target)
        yield Application(key, kind.bytes + target.bytes, target, made)


def _with_constants(kind: Kind) -> Iterator[Application]:
    """Applications that kernels make something else of where an operand is a constant."""
    for name, place in CONSTANTS.items():
        if kind in (Kind.I64, Kind.I32) and kind in FUNCTIONS[name].kinds:
            yield Application(f"{name}.constant.{kind.value}", 3 * kind.bytes, kind, _with_constant(name, kind, 3, place))
    if kind.is_float:
        yield Application(f"half_power.{kind.value}", 2 * kind.bytes, kind, _with_constant("pow", kind, 0.5, 1))


def in_kernels(kind: Kind) -> Iterator[Pair]:
    """Applications that kernels compute in a kind: cheap ones many in a row, of others three that are joined."""
    join, points = _joining(kind), ROWS * LENGTH
    few = _in_cache(kind, _chain(kind, (join,) * _FEW), kind)
    for name, row in table.ROWS.items():
        if row.probe is Wanted.CHAINED and kind in FUNCTIONS[name].kinds:
            other = join if name != join else "or" if kind is Kind.BOOL else "mul"
            more = _in_cache(kind, _chain(kind, (*(join,) * _FEW, *(name, other) * (_MANY // 2))), kind)
            yield Pair(f"point.{name}.{kind.value}", 3 * kind.bytes, more, few, _MANY, points)
    less = _in_cache(kind, _base(kind), kind)
    for one in (*_functions(kind), *_with_constants(kind)):
        if one.probe is Wanted.CHAINED or (kind is not Kind.F64 and one.probe is not Wanted.EVERYWHERE):
            continue
        nodes, shown = _base(kind), list[int]()
        for own in ((2, 0), (0, 1), (1, 2)):
            nodes += one.make(len(nodes), own)
            shown.append(len(nodes) - 1)
        join = _joining(one.result)
        nodes += [ApplyNode(join, (shown[0], shown[1]), one.result), ApplyNode(join, (shown[2], len(nodes)), one.result)]
        more = _in_cache(kind, nodes, one.result)
        if build_body(more.phase) is not None:
            yield Pair(f"point.{one.key}", one.each, more, less, 3 * one.count, points, 2)


def by_calls(kind: Kind) -> Iterator[Pair]:
    """Every function as a NumPy call."""
    join = _joining(kind)
    less = _slice(kind, _base(kind), kind)
    yield Pair(f"ufunc.{join}.{kind.value}", 3 * kind.bytes, _slice(kind, _chain(kind, (join,) * 4), kind), less, 4, SLICE)
    for one in _functions(kind):
        if one.key != f"{join}.{kind.value}":
            more = _slice(kind, [*_base(kind), *one.make(3, (2, 0))], one.result)
            yield Pair(f"ufunc.{one.key}", one.each, more, less, one.count, SLICE)
    for function in _REDUCED_BY_CALLS.get(kind, ("add", "max")):
        more = _slice(kind, _base(kind), kind, function)
        yield Pair(f"ufunc.reduce.{function}.{kind.value}", kind.bytes, more, less, 1, SLICE)


def reductions(kind: Kind) -> Iterator[tuple[str, int, int, Sample]]:
    """Runs reduced: the table's name, the length of a run, how many there are, and the phase.  Rows are all the same one, columns
    lie in the second cache."""
    for function in _REDUCED[kind]:
        counts = function == "add" and kind is Kind.BOOL
        made = Kind.I64 if counts else kind

        def nodes(*before: Node, counts: bool = counts) -> list[Node]:
            return [*before, ApplyNode("convert", (len(before) - 1,), Kind.I64)] if counts else [*before]

        for length in _LENGTHS:
            runs = max(1, _ROW_POINTS // max(length, 64))
            if length < _FEW_ROWS:  # rows that do not lie evenly, few of them side by side: each is reduced on its own
                groups = runs // _SIDE
                operands = [Operand(kind, (groups, length), (0, 2)), Operand(kind, (_SIDE, length), (1, 2))]
                joined = ApplyNode("and" if kind is Kind.BOOL else "max", (0, 1), kind)
                body = nodes(ReadNode(0, kind), ReadNode(1, kind), joined)
                short = sample((groups, _SIDE, length), operands, body, made, function)
                yield f"row.{function}.{kind.value}", length, groups * _SIDE, short
                continue
            along = sample((runs, length), [Operand(kind, (length,), (1,))], nodes(ReadNode(0, kind)), made, function)
            yield f"row.{function}.{kind.value}", length, runs, along
        for length in _LENGTHS[:-2]:
            runs = _COLUMN_POINTS // length
            across = sample((length, runs), [Operand(kind, (runs, length), (1, 0))], nodes(ReadNode(0, kind)), made, function)
            yield f"column.{function}.{kind.value}", length, runs, across


def add_calls(section: Section) -> None:
    _add_pairs(section, (pair for kind in CALLED for pair in by_calls(kind)))


def add_kernels(section: Section) -> None:
    one = CpuBackend(1)
    _add_pairs(section, (pair for kind in KINDS for pair in in_kernels(kind)))
    exponentials = [*_base(Kind.F64), ApplyNode("exp", (2,), Kind.F64)]
    call = section.call(_in_cache(Kind.F64, exponentials, Kind.F64, 1).kernel(one))
    for kind in _REDUCED:
        for name, length, runs, reduced in reductions(kind):
            probe = section.call(reduced.kernel(one))
            section.point(name, length, _shared(probe, call, RUNS / runs), Curve.RISING)
    for name, make, lengths, points in (
        ("line.f64", _summed, _LINES, _LINE_POINTS), ("line.column.f64", _piled, _PILES, _LINE_POINTS // _HIGH)
    ):  # fmt: skip
        whole = section.call(make(4, points // 4).kernel(one))
        for length in lengths:
            probe = section.call(make(points // length, length).kernel(one))
            section.point(name, length, _shared(probe, whole, RUNS / (points // length)), Curve.FALLING)


def _shared(more: Probe, less: Probe, share: float) -> Time:
    return lambda: (more.best - less.best) * share


def _summed(rows: int, length: int) -> Sample:
    """What entering the innermost loop takes, by its length: rows of so many numbers take more than four rows of all."""
    operands = [Operand(Kind.F64, (rows, length)), Operand(Kind.F64, (length,), (1,))]
    return sample((rows, length), operands, _base(Kind.F64), Kind.F64)


def _piled(rows: int, length: int) -> Sample:
    """The same where it reduces across."""
    operand = Operand(Kind.F64, (rows, _HIGH, length), (0, 2, 1))
    return sample((rows, length, _HIGH), [operand], [ReadNode(0, Kind.F64)], Kind.F64, "add")


def _add_pairs(section: Section, pairs: Iterable[Pair]) -> None:
    probes: dict[int, tuple[Sample, Probe]] = {}
    added: dict[str, Time] = {}

    def probe_of(one: Sample) -> Probe:
        if id(one) not in probes:
            probes[id(one)] = one, section.call(one.kernel(CpuBackend(1)))
        return probes[id(one)][1]

    for pair in pairs:
        more, less = probe_of(pair.more), probe_of(pair.less)

        def spent(pair: Pair = pair, more: Probe = more, less: Probe = less) -> float:
            joins = pair.joins * join() if pair.joins and (join := added.get(pair.key.rpartition(".")[2])) else 0
            return max((more.best - less.best - joins) / pair.count, pair.points * pair.each / _LEAST_SHARE)

        if pair.key.startswith("point.add."):
            added[pair.key.rpartition(".")[2]] = spent
        section.point(pair.key, pair.points * pair.each, spent)
