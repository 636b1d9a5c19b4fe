"""What one more application, or one more number to reduce, costs: nothing but computing, on one thread.

Kernels: a sum over a table whose rows are the same few thousand numbers, so that all of it is in the nearest cache; what an
application adds to it is its time.  NumPy calls: what an application adds to a phase of one box.

Neighbours: `bodies` (makes phases), `measure` (puts tables together), `backend.devices.points` (asks).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from ....typechecker.elements import Kind
from ....typechecker.scalars import FUNCTIONS
from ....typechecker.sizes import number
from ...devices.keys import CONSTANTS, function_key
from ...devices.points import RUNS
from ...devices.tables import Table
from ...graph.phases import Affine, AffineIndex, ApplyNode, ConstantNode, Node, Projection, ReadNode, Term
from ...kernels import policy
from ...kernels.build import build_body
from ...kernels.llvm_leaf import is_installed
from ...scalar import table
from ..cpu import CpuBackend
from . import bodies
from .bodies import Operand, Probe, joining, result_kind
from .clock import Clock, Series, rising, run_rounds
from .tier import without_kernels

LENGTH: Final = 2048
"""Numbers of a row that stay in the nearest cache."""
ROWS: Final = 16
BOX: Final = 1 << 14
LENGTHS: Final = (4, 8, 16, 32, 64, 256, 1024, 4096, 1 << 16)
"""Of runs that are reduced."""
ROW_POINTS: Final = 1 << 19
COLUMN_POINTS: Final = 1 << 16
LINE_POINTS: Final = 1 << 15
LINES: Final = (3, 8, 15, 30, 60, 120, 500)
PILES: Final = (3, 8, 16, 60)
_HIGH: Final = 4
"""Items that are reduced across."""
LEAST_SHARE: Final = 1000
"""No application touches more than a thousand bytes a nanosecond."""
CALLED: Final = (Kind.F64, Kind.I64, Kind.F32, Kind.BOOL, Kind.C128)
KINDS: Final = (Kind.F64, Kind.I64, Kind.F32, Kind.BOOL, Kind.I32, Kind.U8)
CONVERSIONS: Final = ((Kind.I64, Kind.F64), (Kind.BOOL, Kind.F64), (Kind.BOOL, Kind.I64), (Kind.I64, Kind.I32),
                      (Kind.F32, Kind.F64), (Kind.I32, Kind.I64), (Kind.BOOL, Kind.U8), (Kind.U8, Kind.I64),
                      (Kind.F64, Kind.I64))  # fmt: skip
CIRCULAR: Final = (0, 1, 2, 3, 4, 5, 6, 7, -1, -2, -3, -5, -6, -7)
REDUCTIONS: Final = {Kind.BOOL: ("or",), Kind.F64: ("add", "max", "sub", "div")}
_FEW: Final = 8
_MANY: Final = 24
"""Applications of two chains that tell a cheap one from noise."""


def _nearest(axes: int) -> Projection:
    """Of a table's space to its row."""
    return Projection((Affine((AffineIndex((Term(axes - 1, 1),), number(0)),), (number(LENGTH),)),))


def _table(kind: Kind, nodes: Sequence[Node], result: Kind) -> Probe:
    operands = [Operand(kind, (LENGTH,), _nearest(2)), Operand(kind, (LENGTH,), _nearest(2))]
    return bodies.probe((ROWS, LENGTH), operands, nodes, result)


@dataclass(frozen=True, slots=True)
class Pair:
    """`key` costs what `more` takes beyond `less`, shared by `count` applications; `joins` of them are additions."""

    key: str
    each: int
    more: Probe
    less: Probe
    count: int
    points: int
    joins: int = 0


def _base(kind: Kind) -> list[Node]:
    return [ReadNode(0, kind), ReadNode(1, kind), ApplyNode(joining(kind), (0, 1), kind)]


def _chained(kind: Kind, names: Sequence[str]) -> Probe:
    nodes = _base(kind)
    for place, name in enumerate(names):
        nodes.append(ApplyNode(name, (2 + place, place % 2), kind))
    return _table(kind, nodes, kind)


def applications(kind: Kind) -> list[Pair]:
    """Of functions that kernels compute in a kind."""
    join = joining(kind)
    less, few, points = _table(kind, _base(kind), kind), _chained(kind, (join,) * _FEW), ROWS * LENGTH
    found: list[Pair] = []
    for name in _CHEAP:
        if kind in FUNCTIONS[name].kinds:
            other = join if name != join else "or" if kind is Kind.BOOL else "mul"
            more = _chained(kind, (*(join,) * _FEW, *(name, other) * (_MANY // 2)))
            found.append(Pair(f"point.{name}.{kind.value}", 3 * kind.bytes, more, few, _MANY, points))

    def add(key: str, each: int, applied: Sequence[Node], result: Kind, joins: int = 0, count: int = 3) -> None:
        nodes = [*_base(kind), *applied]
        last = len(nodes) - 1
        if joins:
            join = joining(result)
            nodes += [ApplyNode(join, (last - 2, last - 1), result), ApplyNode(join, (last, last + 1), result)]
        more = _table(kind, nodes, result)
        if build_body(more.phase) is not None:
            found.append(Pair(f"point.{key}", each, more, less, count, points, joins))

    for name, parameter in functions(kind):
        is_wanted = kind is Kind.F64 or table.ROWS[name].probe is table.Probe.EVERYWHERE
        if name not in _CHEAP and FUNCTIONS[name].arity < 3 and is_wanted:
            result, arity = result_kind(name, kind, parameter), FUNCTIONS[name].arity
            args = [(2, 0), (0, 1), (1, 2)]
            applied = [ApplyNode(name, own[:arity], result, parameter) for own in args]
            add(f"{function_key(name, parameter)}.{kind.value}", touched(name, kind, parameter), applied, result, 2)
    if kind in FUNCTIONS["select"].kinds and kind is not Kind.BOOL:
        pairs = [ApplyNode("lt", (2, 0), Kind.BOOL), ApplyNode("select", (3, 0, 1), kind)]
        add(f"select.{kind.value}", 1 + 3 * kind.bytes, pairs, kind, count=2)
    for name, place in CONSTANTS.items():
        if kind in (Kind.I64, Kind.I32) and kind in FUNCTIONS[name].kinds:
            divided = [ApplyNode(name, (3, own) if place == 0 else (own, 3), kind) for own in (2, 0, 1)]
            add(f"{name}.constant.{kind.value}", 3 * kind.bytes, [ConstantNode(kind, 3), *divided], kind, 2)
    for target in (target for source, target in CONVERSIONS if source is kind):
        applied = [ApplyNode("convert", (own,), target) for own in (2, 0, 1)]
        add(f"convert.{kind.value}.{target.value}", kind.bytes + target.bytes, applied, target, 2)
    if kind.is_float:
        roots = [ApplyNode("pow", (own, 3), kind) for own in (2, 0, 1)]
        add(f"half_power.{kind.value}", 2 * kind.bytes, [ConstantNode(kind, 0.5), *roots], kind, 2)
    return found


_CHEAP: Final = tuple(name for name, row in table.ROWS.items() if row.probe is table.Probe.CHAINED)


def functions(kind: Kind) -> Iterable[tuple[str, int]]:
    """Scalar functions that a kind has, those of `circular` by their parameter."""
    for name, row in FUNCTIONS.items():
        probe = table.ROWS[name].probe
        if kind in row.kinds and probe is not table.Probe.NEVER and (probe is not table.Probe.RARE or kind is Kind.F64):
            if name != "circular":
                yield name, 0
            else:
                yield from ((name, parameter) for parameter in (CIRCULAR if kind is Kind.F64 else (1, 2, 7)))


def touched(name: str, kind: Kind, parameter: int = 0) -> int:
    """Bytes of one application at a point."""
    arity = FUNCTIONS[name].arity
    return (1 + 2 * kind.bytes if arity == 3 else arity * kind.bytes) + result_kind(name, kind, parameter).bytes


def calls(kind: Kind) -> list[Pair]:
    """Of every function as a NumPy call, in a phase of one box."""
    found = []
    join = joining(kind)
    less = bodies.chain(kind, BOX, (join,))
    found.append(Pair(f"ufunc.{join}.{kind.value}", 3 * kind.bytes, bodies.chain(kind, BOX, (join,) * 5), less, 4, BOX))
    for name, parameter in functions(kind):
        if name != join:
            key = f"ufunc.{function_key(name, parameter)}.{kind.value}"
            found.append(Pair(key, touched(name, kind, parameter), _after(name, kind, parameter), less, 1, BOX))
    for target in (target for source, target in CONVERSIONS if source is kind):
        node = ApplyNode("convert", (2,), target)
        key = f"ufunc.convert.{kind.value}.{target.value}"
        found.append(Pair(key, kind.bytes + target.bytes, _joined(kind, node, target), less, 1, BOX))
    for function in REDUCTIONS.get(kind, ("add",) if kind.is_complex else ("add", "max")):
        more = bodies.reduction(function, kind, "full", BOX, fused=True)
        found.append(Pair(f"ufunc.reduce.{function}.{kind.value}", kind.bytes, more, less, 1, BOX))
    return found


def _joined(kind: Kind, node: ApplyNode, result: Kind) -> Probe:
    """x joined with y, then one application more."""
    return bodies.probe((BOX,), [Operand(kind, (BOX,))] * 2, [*_base(kind), node], result)


def _after(name: str, kind: Kind, parameter: int) -> Probe:
    arity, result = FUNCTIONS[name].arity, result_kind(name, kind, parameter)
    if arity == 3:
        nodes: list[Node] = [ReadNode(0, kind), ReadNode(1, kind), ReadNode(2, Kind.BOOL), ApplyNode(joining(kind), (0, 1), kind)]
        nodes.append(ApplyNode(name, (2, 3, 0), kind))
        operands = [Operand(kind, (BOX,)), Operand(kind, (BOX,)), Operand(Kind.BOOL, (BOX,))]
        return bodies.probe((BOX,), operands, nodes, kind)
    return _joined(kind, ApplyNode(name, (2, 0)[:arity], result, parameter), result)


def reductions(kind: Kind) -> list[tuple[str, int, int, Probe]]:
    """Runs reduced: the table's name, the length of a run, how many there are, and the phase.  Rows are all the same one, columns
    lie in the second cache."""
    found: list[tuple[str, int, int, Probe]] = []
    for function in _REDUCED[kind]:
        nodes: list[Node] = [ReadNode(0, kind)]
        if function == "add" and kind is Kind.BOOL:
            nodes.append(ApplyNode("convert", (0,), Kind.I64))
        made = Kind.I64 if len(nodes) > 1 else kind
        for length in LENGTHS:
            runs = max(1, ROW_POINTS // max(length, 64))
            if length < _FEW_ROWS:
                along = _short(kind, runs // _SIDE, length, nodes, made, function)
                found.append((f"row.{function}.{kind.value}", length, runs // _SIDE * _SIDE, along))
                continue
            row = Projection((Affine((AffineIndex((Term(1, 1),), number(0)),), (number(length),)),))
            along = bodies.probe((runs, length), [Operand(kind, (length,), row)], nodes, made, function)
            found.append((f"row.{function}.{kind.value}", length, runs, along))
        for length in LENGTHS[:-2]:
            runs = COLUMN_POINTS // length
            turned = Projection((Affine((AffineIndex((Term(1, 1),), number(0)), AffineIndex((Term(0, 1),), number(0))),
                                        (number(runs), number(length))),))  # fmt: skip
            across = bodies.probe((length, runs), [Operand(kind, (runs, length), turned)], nodes, made, function)
            found.append((f"column.{function}.{kind.value}", length, runs, across))
    return found


_FEW_ROWS: Final = 32
_SIDE: Final = 3
"""Short rows are reduced one by one where there are so few side by side."""


def _short(kind: Kind, groups: int, length: int, nodes: Sequence[Node], result: Kind, function: str) -> Probe:
    """Rows that do not lie evenly, few of them side by side: each is reduced on its own."""
    steps = [(AffineIndex((Term(axis, 1),), number(0)), AffineIndex((Term(2, 1),), number(0))) for axis in (0, 1)]
    first = Operand(kind, (groups, length), Projection((Affine(steps[0], (number(groups), number(length))),)))
    second = Operand(kind, (_SIDE, length), Projection((Affine(steps[1], (number(_SIDE), number(length))),)))
    joined: list[Node] = [ReadNode(0, kind), ReadNode(1, kind), ApplyNode("and" if kind is Kind.BOOL else "max", (0, 1), kind)]
    moved: list[Node] = [replace(node, args=(2,)) if isinstance(node, ApplyNode) else node for node in nodes[1:]]
    return bodies.probe((groups, _SIDE, length), [first, second], [*joined, *moved], result, function)


_REDUCED: Final = {Kind.F64: ("add", "max"), Kind.F32: ("add", "max"), Kind.I64: ("add", "max"), Kind.BOOL: ("or", "add")}


class Computing:
    """The tables of computing; kernels are in use if there are any.  All is made once and timed whenever `again` is called:
    a spell of load lasts, so the rounds of a table lie apart."""

    def __init__(self) -> None:
        one, self._kernels, self._calls = CpuBackend(1), list[Series](), list[Series]()
        self._pairs: list[tuple[Pair, Series, Series]] = []
        self._runs: list[tuple[str, int, int, Series]] = []
        self._lines: dict[str, dict[int, Series]] = {}
        self._few: Series | None = None
        if is_installed() and policy.mode() is not policy.Mode.OFF:
            for kind in KINDS:
                self._add(applications(kind), one, self._kernels)
            self._few = Series(_rows_of(1).kernel(one))
            self._runs = [(name, length, runs, Series(probe.kernel(one))) for kind in _REDUCED
                          for name, length, runs, probe in reductions(kind)]  # fmt: skip
            self._lines = _lines(one)
            self._kernels += [self._few, *(series for *_, series in self._runs)]
            self._kernels += [series for lengths in self._lines.values() for series in lengths.values()]
        with without_kernels():
            for kind in CALLED:
                self._add(calls(kind), one, self._calls)
            for series in self._calls:
                series.call()
        for series in self._kernels:
            series.call()
        bodies.forget_data()

    def _add(self, pairs: Sequence[Pair], backend: CpuBackend, every: list[Series]) -> None:
        made: dict[int, Series] = {}
        for pair in pairs:
            for probe in (pair.more, pair.less):
                if id(probe) not in made:
                    made[id(probe)] = Series(probe.kernel(backend))
            self._pairs.append((pair, made[id(pair.more)], made[id(pair.less)]))
        every += made.values()

    def again(self, clock: Clock, rounds: int, budget_ns: int, until: int) -> None:
        run_rounds(self._kernels, clock, rounds, budget_ns, until=until)
        with without_kernels():
            run_rounds(self._calls, clock, rounds, budget_ns, until=until)

    def tables(self) -> dict[str, Table]:
        found: dict[str, Table] = {}
        for pair, more, less in self._pairs:
            spent = max(0, more.best - less.best)
            if pair.joins and (join := found.get(f"point.add.{pair.key.rpartition('.')[2]}")) is not None:
                spent = max(0, spent - pair.joins * join.ns[0])
            least = pair.points * pair.each // LEAST_SHARE
            found[pair.key] = Table((pair.points * pair.each,), (max(spent // pair.count, least),))
        points: dict[str, dict[int, int]] = {}
        for name, length, runs, one in self._runs:
            assert self._few is not None  # what a call takes is what a few numbers take
            points.setdefault(name, {})[length] = max(1, (one.best - self._few.best) * RUNS // runs)
        found.update((name, _rising(lengths)) for name, lengths in points.items())
        for name, lengths in self._lines.items():
            *short, long = lengths
            whole, total = lengths[long].best, 4 * long
            spent_each = [max(1.0, (lengths[length].best - whole) * RUNS / (total // length)) for length in short]
            times = list(map(round, falling(spent_each)))
            found[name] = Table((*short, 1 << 50), (*times, times[-1]))
        return found


def _lines(backend: CpuBackend) -> dict[str, dict[int, Series]]:
    """What entering the innermost loop takes, by its length: rows of so many numbers take more than four rows of all."""

    def summed(rows: int, length: int) -> Probe:
        row = Projection((Affine((AffineIndex((Term(1, 1),), number(0)),), (number(length),)),))
        operands = [Operand(Kind.F64, (rows, length)), Operand(Kind.F64, (length,), row)]
        return bodies.probe((rows, length), operands, _base(Kind.F64), Kind.F64)

    def piled(rows: int, length: int) -> Probe:
        axes = tuple(AffineIndex((Term(axis, 1),), number(0)) for axis in (0, 2, 1))
        turned = Projection((Affine(axes, (number(rows), number(_HIGH), number(length))),))
        operand = Operand(Kind.F64, (rows, _HIGH, length), turned)
        return bodies.probe((rows, length, _HIGH), [operand], [ReadNode(0, Kind.F64)], Kind.F64, "add")

    found = {}
    for name, make, short in (("line.f64", summed, LINES), ("line.column.f64", piled, PILES)):
        points = LINE_POINTS if name == "line.f64" else LINE_POINTS // _HIGH
        found[name] = {length: Series(make(points // length, length).kernel(backend)) for length in (*short, points // 4)}
    return found


def falling(values: Sequence[float]) -> list[float]:
    """The nearest values that never rise."""
    return [-value for value in rising([-value for value in values])]


def _rising(found: dict[int, int]) -> Table:
    """A longer run never takes less."""
    sizes, most, times = sorted(found), 0, []
    for size in sizes:
        most = max(most, found[size])
        times.append(most)
    return Table(tuple(sizes), tuple(times))


def _rows_of(rows: int) -> Probe:
    """A sum of exponentials over rows that are all the same."""
    nodes = [*_base(Kind.F64), ApplyNode("exp", (2,), Kind.F64)]
    operands = [Operand(Kind.F64, (LENGTH,), _nearest(2)), Operand(Kind.F64, (LENGTH,), _nearest(2))]
    return bodies.probe((rows, LENGTH), operands, nodes, Kind.F64, "max")
