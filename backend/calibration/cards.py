"""Measures a GPU by kernels and copies: launches, operations and bytes per second, transfers, and the tables of functions,
reductions and library phases that declared devices have."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import cycle
from time import perf_counter_ns
from typing import Final, TypeAlias

import numpy as np

from ...typechecker.elements import Kind
from ..codegen.gpu_targets import DOUBLE, missing
from ..devices.profile import CostTable, DeviceProfile, Roofline
from ..gpu.device import CardBackend, card_backend
from ..gpu.driver import CardModel
from ..gpu.launch import to_host
from ..graph.phases import ApplyNode, Input, LibraryPhase, Loop, Node, ReadNode
from ..vm.run_state import Types
from .measurement_loop import MeasuredCurve, Point, ProbeRow, table_of
from .probes import (
    HANDED,
    LIBRARY,
    PreparedProbe,
    ProbeOperand,
    ProbeProgram,
    ProbeSample,
    applications,
    drawn,
    handed_over,
    last,
    looked_up_row,
)

TRANSFER: Final = "transfer.u8"
"""The table of copies between the card and the host."""
_LAUNCH_ITEMS, _SATURATED_NS = 64, 4_000_000
_MOST_NS: Final = 20_000_000_000
"""Nanoseconds after which no more tables are measured; the roofline stands in for them."""
_ITEMS: Final = (1 << 12, 1 << 15, 1 << 17, 1 << 18, 1 << 19, 3 << 18, 1 << 20, 1 << 21)
_TRANSFERS: Final = (1 << 12, 1 << 18, 1 << 20, 1 << 22, 1 << 23, 1 << 24, 1 << 25)
_ROUNDS: Final = 7
_REPEATED: Final = "{0.5+⍵×0.5}⍣25 ⊢ x"
_RATE_RANGE: Final = 64
"""A time must be at least 1/_RATE_RANGE of the longest one to be used for a rate."""
_OPERATIONS: Final = 50
"""Operations per item of the loop that measures computation."""
_APPLIED: Final = {
    Kind.F64: ("add", "mul", "div", "residue", "floor", "sqrt", "exp", "ln", "pow", "circular_1", "circular_3", "circular_7",
               "erf"),
    Kind.F32: ("add", "mul", "div", "residue", "floor", "sqrt", "exp", "ln", "pow", "circular_1"),
    Kind.I64: ("mul", "div", "residue"),
}  # fmt: skip
"""Functions measured on integers are measured on floats too; otherwise a table of another kind would stand in for the float
one."""
_CLASSES: Final = {"div": "divide", "exp": "transcendental"}
"""The class whose table stands in for functions that are not measured."""
_REDUCED: Final[Mapping[Kind, Mapping[str, Sequence[str]]]] = {
    Kind.BOOL: {"or": ("full", "row", "col"), "add": ("full", "row", "col")},
    **{kind: {"add": ("full", "row", "short", "col", "narrow"), "max": ("full", "row", "col")} for kind in (Kind.F64, Kind.F32)},
}
_SIDE: Final = {"row": 1024, "short": 8, "col": 1024, "narrow": 8}
"""The adjacent items in each of the layouts of `devices.profile`."""
_LIBRARY: Final = ("A+.×B", "A+.×x", "+\\x", "x[i]", "A[i;]", "x,y", "3⌽x", "256+⌸(k ⋄ x)", "m⌿x", "⍋x", "x⍳y", "⎕fft c")
_OTHERS: Final = re.compile("'(f32|i64)")
"""Inputs of other kinds, for which the tables of similar kinds stand in."""

Timed: TypeAlias = tuple[int, Callable[[], object]]
"""A size, and the call that is timed at it."""


def measured_card(name: str, backend: str, model: CardModel) -> DeviceProfile:
    """A GPU of this machine as a device, with the table `TRANSFER`."""
    back_end = card_backend(backend, model.number, None)
    card, driver = back_end.card, back_end.card.driver
    kind = Kind.F32 if DOUBLE in model.lacking else Kind.F64

    def once(work: Callable[[], object]) -> int:
        start = perf_counter_ns()
        with driver.here():
            work()
            driver.finish(driver.record(driver.compute))
        return perf_counter_ns() - start

    def least_ns(work: Callable[[], object]) -> int:
        """The least nanoseconds of a few runs, after a first one that may compile."""
        once(work)
        return max(1, min(once(work) for _ in range(_ROUNDS)))

    product = partial(_application, kind, [ReadNode(0, kind), ReadNode(1, kind), ApplyNode("mul", (0, 1), kind)], kind)
    small = product(_LAUNCH_ITEMS).kernel(back_end)
    first, idle = once(small), least_ns(lambda: None)
    launch, wait = max(1, least_ns(small) - idle), least_ns(handed_over) // HANDED

    def table(points: Iterable[Timed], less: int = launch + idle) -> CostTable:
        """A table of times by size without the time of a launch, up to the first long time."""
        known: list[Point] = []
        for size, work in points:
            known.append((size, max(1, least_ns(work) - less)))
            if known[-1][1] > _SATURATED_NS:
                break
        return table_of(known, MeasuredCurve.RISING)

    def there_and_back(size: int) -> Callable[[], object]:
        host, joined = drawn(Kind.U8, size, 0).copy(), np.empty(size, np.uint8)
        return lambda: np.copyto(joined, to_host(card, card.up(host)))  # pieces of a value are joined

    both = table(((size, _in_turn(lambda size=size: there_and_back(size))) for size in _TRANSFERS), idle)  # type: ignore[misc]
    ops = {TRANSFER: CostTable(both.size, tuple(max(1, ns // 2) for ns in both.ns))}
    until = perf_counter_ns() + _MOST_NS
    for key, each, sample in (*_applied(kind), *_reduced(kind), *_applied(Kind.I64), *_reduced(Kind.BOOL)):
        if perf_counter_ns() < until:
            ops[key] = table((items * each, _in_turn(partial(sample(items).kernel, back_end))) for items in _ITEMS)
    applied = {f"{group}.{kind.value}": ops.get(f"{function}.{kind.value}") for function, group in _CLASSES.items()}
    ops |= {key: one for key, one in applied.items() if one is not None}
    for key, points in _library(back_end, model.lacking) if kind is Kind.F64 else ():
        if perf_counter_ns() < until:
            ops[key] = table(points)
    computed = table((_OPERATIONS * items, _repeated(back_end, kind, items)) for items in _ITEMS[::2])
    moved = table((3 * kind.bytes * items, product(items).kernel(back_end)) for items in _ITEMS[::2])
    longest = [(size, ns) for size, ns in zip(computed.size, computed.ns, strict=True) if ns * _RATE_RANGE >= computed.ns[-1]]
    flops, bandwidth = max(_rate(*point) for point in longest), _rate(moved.size[-1], moved.ns[-1])
    return DeviceProfile(
        name, "gpu", backend, memory_bytes=model.memory, memory_reserve=Fraction(1, 10), launch_ns=launch, sync_ns=wait,
        host_dispatch_ns=first, alloc_ns=launch // 4, roofline=Roofline(flops, bandwidth), ops=ops,
    )  # fmt: skip


def _in_turn(make: Callable[[], Callable[[], object]]) -> Callable[[], object]:
    """Calls that alternate between two sets of data, so that no call reads data that the last one left in a cache."""
    calls = cycle((make(), make()))
    return lambda: next(calls)()


def _rate(size: int, ns: int) -> int:
    """The rate per second."""
    return max(1, size * 10**9 // ns)


def _repeated(back_end: CardBackend, kind: Kind, items: int) -> Callable[[], object]:
    """A loop in one kernel."""
    text = _REPEATED if kind is Kind.F64 else _REPEATED.replace("0.5", "(f32 0.5)")
    bound = ProbeProgram(text, {"x": f"{kind.value}[n]"}, last()).ready(items, 1).bound
    (loop,) = (phase for phase in bound.graph.phases if isinstance(phase, Loop))
    types = Types(bound.graph.types, {})
    memory = {value: back_end.bring(drawn(kind, items, 0), kind) for value in loop.initial}
    run = back_end.region(loop, types, {})
    assert run is not None, "an element-wise loop is one kernel"
    return partial(run, memory)


Samples: TypeAlias = Iterator[tuple[str, int, Callable[[int], ProbeSample]]]
"""Yields the name of a table, bytes per item, and a function from a number of items to a phase."""


def _applied(kind: Kind) -> Samples:
    for one in applications(kind):
        if one.name in _APPLIED[kind] and one.kind is kind:
            nodes = [ReadNode(0, kind), ReadNode(1, kind), *one.make(2, 0, 1)]
            if all(1 not in node.args for node in nodes if isinstance(node, ApplyNode)):
                nodes = [ReadNode(0, kind), *one.make(1, 0, 0)]
            yield f"{one.name}.{kind.value}", one.each, partial(_application, kind, nodes, one.result)


def _application(kind: Kind, nodes: Sequence[Node], result: Kind, items: int) -> ProbeSample:
    reads = sum(isinstance(node, ReadNode) for node in nodes)
    return ProbeSample((items,), [ProbeOperand(kind, (items,))] * reads, nodes, result)


def _reduced(kind: Kind) -> Samples:
    for function, layouts in _REDUCED[kind].items():
        for layout in layouts:
            yield f"reduce.{function}.{layout}.{kind.value}", kind.bytes, partial(_reduction, kind, function, layout)


def _reduction(kind: Kind, function: str, layout: str, items: int) -> ProbeSample:
    nodes: list[Node] = [ReadNode(0, kind)]
    result = Kind.I64 if kind is Kind.BOOL and function == "add" else kind
    if result is not kind:  # booleans are counted
        nodes.append(ApplyNode("convert", (0,), result))
    if layout == "full":
        return ProbeSample((items,), [ProbeOperand(kind, (items,))], nodes, result, function)
    shape, order = (items // _SIDE[layout], _SIDE[layout]), (0, 1) if layout in ("row", "short") else (1, 0)
    return ProbeSample(tuple(shape[axis] for axis in order), [ProbeOperand(kind, shape, order)], nodes, result, function)


def _library(back_end: CardBackend, lacking: Sequence[str]) -> Iterator[tuple[str, Iterator[Timed]]]:
    """The tables of library phases that the GPU runs."""
    for row in LIBRARY:
        program, _, _ = row.ns.terms[0]
        if not isinstance(program, ProbeProgram) or program.text not in _LIBRARY or _OTHERS.search(str(program.inputs)):
            continue
        ready = program.ready(row.sizes[0], 1)
        types, phase = ready.bound.graph.types, _last(ready)
        given = {one.result for one in ready.bound.graph.phases if isinstance(one, Input)}
        if given.issuperset(phase.args) and missing(phase, types, back_end.card.driver.dialect, lacking) is None:
            yield str(looked_up_row(row, ready).table), _runs(back_end, row, program)


def _runs(back_end: CardBackend, row: ProbeRow, program: ProbeProgram) -> Iterator[Timed]:
    for size in row.sizes:
        ready = program.ready(size, 1)
        types, phase, at = Types(ready.bound.graph.types, {}), _last(ready), looked_up_row(row, ready).at
        memory = {one.result: back_end.bring(ready.values[one.name], types.kind(one.result))
                  for one in ready.bound.graph.phases if isinstance(one, Input)}  # fmt: skip
        assert isinstance(at, int)
        yield at, partial(back_end.library(phase, types), memory, None)


def _last(ready: PreparedProbe) -> LibraryPhase:
    return [phase for phase in ready.bound.graph.phases if isinstance(phase, LibraryPhase)][-1]
