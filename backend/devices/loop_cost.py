"""The cost of a loop, fold or map that is compiled as one region: the sum over the nests of its loop program.

Note [Items].  In a vector loop an application takes the time of its `point.…` table, in a serial loop as long as a full vector of
it; a load or store takes the time of its bytes at their reuse distance.  A serial iteration with carried values takes the longer
of all its applications and of the longest chain of them from a carried value to its next value.  A loop whose bounds mention an
outer index is evaluated at five values of that index (Boole's rule).  Both arms of a branch count half.  A call takes the time of
its phase.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from math import prod
from typing import Final

from ...lang.support.records import dataclass, field
from ...typechecker.elements import Kind
from ..codegen.gpu_targets import dialect_of
from ..graph import traverse
from ..graph.bind_sizes import BoundGraph
from ..graph.fusion_groups import merge_elementwise_loop
from ..graph.phases import (
    Affine,
    ApplyNode,
    AxisKind,
    Fold,
    Graph,
    Loop,
    Map,
    Phase,
    PhaseId,
    Read,
    ReadNode,
    Reshaped,
    Structured,
    ValueId,
)
from ..jit.compiler import LruCache
from ..loopir.facts import estimate_iteration
from ..loopir.ir import Apply, Call, Fail, For, If, Index, IndexStatement, Load, LoopKind, Statement, Store, View, uses, walk
from ..lower.body import legalize
from ..lower.fusion_units import RowsUnit, units_of
from ..lower.region import FIRST, LAST, Region, lower_region
from ..lower.scope import NotLowerable
from ..transform.pipeline import runs_in_tiles
from .cost_functions import largest, smallest
from .kernel_form import (
    NO_CONTEXT,
    Applied,
    Number as Numbers,
    Types,
    Work,
    application_rate,
    applied_grains,
    calls,
    chained_grains,
    moved_grains,
    shared_work,
    step,
    strides,
    together,
    varies,
    work_grains,
    work_of,
)
from .op_tables import Around, Rates
from .profile import GRAIN, CostTable, Grains, reduce_stems, scalar_stems

# --------------------------------------------------------------------------------------------------- regions

BOOLE: Final = (7, 32, 12, 32, 7)
_SCALAR: Final = 0.25
"""Nanoseconds of one scalar instruction, or of a loop branch."""
_WAITS: Final = 1.4
"""Nanoseconds of latency of an application on which the next one depends."""
_ENTERED: Final = 4.0
"""Nanoseconds of entering and leaving a loop."""
_SCATTERED: Final = 1.0
"""Nanoseconds of an access that is not contiguous with the last one."""
_LAUNCH: Final = 20_000.0
"""Nanoseconds of calling a region with its arrays and its first range of iterations."""
_VECTOR: Final = 64
"""Bytes of a vector."""


_regions: Final[LruCache[Region | None]] = LruCache(64)


def region_of(phase: Loop | Fold | Map, types: Types, rates: Rates) -> Region | None:
    """The region of a phase, cached because planners evaluate one phase many times; None if it runs phase by phase."""

    def make() -> Region | None:
        with suppress(NotLowerable):
            region = lower_region(phase, types, rates.guards, rates.known)
            estimate, in_tiles = estimate_iteration(phase, types), partial(runs_in_tiles, region.program)
            if estimate.is_for_region(calls=region.calls, in_tiles=in_tiles):
                return region
        return None

    if not rates.kernels or dialect_of(rates.device.backend) is not None:
        return None
    return _regions.of(id(phase), (phase, types), make)


def region_grains(
    phase: Loop | Fold | Map, types: Types, rates: Rates, number: Numbers, called: Callable[[Phase], int]
) -> Grains | None:
    """The grains of all iterations of a region; None if it runs phase by phase.  `called`: the grains of a phase that is a
    routine."""
    region = region_of(phase, types, rates)
    if region is None:
        return None
    match phase:
        case Loop():
            first, last = 0, number(phase.trip)
        case Fold():
            first, last = 1, number(types[phase.args[0]].shape[0])
        case Map():
            first, last = 0, number(phase.frame[0])
    program = region.program
    known = {FIRST: first, LAST: last}
    known |= dict(zip((name for name in program.parameters if name not in known), map(number, region.sizes), strict=True))
    routines = [0 if one.phase is None else called(one.phase) / GRAIN for one in region.routines]
    time = _Time(rates, {view.name: view for view in program.views}, routines).block(program.body, known)
    threads = rates.device.threads if region.cells or runs_in_tiles(program) else 1
    return Grains(int(_LAUNCH * GRAIN + time * GRAIN / threads))


@dataclass(slots=True)
class _Time:
    """Estimates the nanoseconds of statements."""

    rates: Rates
    views: Mapping[str, View]
    routines: Sequence[float] = ()
    each: dict[Apply, float] = field(default_factory=dict)

    def block(self, body: Sequence[Statement], known: Mapping[str, int], vector: str = "") -> float:
        total, known = 0.0, dict(known)
        for one in body:
            if isinstance(one, IndexStatement) and all(name in known for name, _ in one.index.terms):
                known[one.name] = _value(one.index, known, 0)
            total += self.statement(one, known, vector)
        return total

    def statement(self, one: Statement, known: Mapping[str, int], vector: str) -> float:
        match one:
            case Apply():
                each = self.applied(one)
                return each if vector else max(_SCALAR, each * _VECTOR / one.compute.bytes)
            case Load() | Store():
                return self.moved(one, vector, known)
            case Fail():
                return 0.0 if vector else _SCALAR
            case If():
                return (self.block(one.then, known, vector) + self.block(one.otherwise, known, vector)) / 2 + _SCALAR
            case For():
                return self.loop(one, known)
            case Call():
                return self.rates.device.launch_ns + self.routines[one.routine]
            case _:
                return 0.0

    def applied(self, one: Apply) -> float:
        key = Apply("", one.kind, one.function, (), one.compute, one.parameter)
        if key not in self.each:
            self.each[key] = application_rate(one.function, one.compute, one.kind, one.parameter, self.rates) / GRAIN
        return self.each[key]

    def moved(self, one: Load | Store, vector: str, known: Mapping[str, int]) -> float:
        view = self.views[one.view]
        size = view.kind.bytes
        for length in view.shape:
            size *= max(1, _value(length, known, 1))
        table = self.rates.require(("read",), Kind.F64)
        far = table.rate(view.kind.bytes * 1000, size) / GRAIN / 1000
        if not vector:
            return max(_SCALAR, far)
        steps = [form for form in one.indices if any(name == vector for name, _ in form.terms)]
        adjacent = not steps or (steps == [one.indices[-1]] and view.unit and abs(dict(steps[0].terms)[vector]) == 1)
        return far + (_SCALAR * view.kind.bytes / _VECTOR if adjacent else _SCATTERED)

    def loop(self, one: For, known: Mapping[str, int]) -> float:
        lower = max((_value(form, known, 0) for form in one.lower), default=0)
        upper = min((_value(form, known, lower + 1) for form in one.upper), default=lower)
        trips = max(0, -(-(upper - lower) // one.step))
        if not trips:
            return 0.0
        vector = one.index if one.kind is LoopKind.VECTOR else ""
        if any(isinstance(inner, For) and _bounds(inner, one.index) for inner in walk(one.body)):
            places = [lower + (trips - 1) * quarter // 4 * one.step for quarter in range(5)]
            each = sum(w * self.block(one.body, {**known, one.index: at}, vector) for w, at in zip(BOOLE, places, strict=True))
            each /= sum(BOOLE)
        else:
            each = self.block(one.body, {**known, one.index: lower}, vector)
        if vector:
            return _ENTERED + trips * each
        return _ENTERED + trips * max(each + _SCALAR, self.chain(one))

    def chain(self, one: For) -> float:
        """The latency of an iteration's longest chain of dependent statements from a carried value to its next value."""
        after = {carried.inside: 0.0 for carried in one.carried}
        for inner in one.body:
            waits = max((after[name] for name in uses(inner) if name in after), default=None)
            if waits is not None and isinstance(inner, Apply):
                after[inner.name] = waits + max(_WAITS, self.applied(inner) * _VECTOR / inner.compute.bytes)
            elif waits is not None and isinstance(inner, Load):
                after[inner.name] = waits + _WAITS
        return max((after.get(carried.yielded, 0.0) for carried in one.carried), default=0.0)


def _bounds(loop: For, index: str) -> bool:
    """Does a bound mention the index?"""
    return any(name == index for form in (*loop.lower, *loop.upper) for name, _ in form.terms)


def _value(form: Index, known: Mapping[str, int], otherwise: int) -> int:
    """The value of a form; `otherwise` if it contains a register that only a run knows."""
    total = form.constant
    for name, coefficient in form.terms:
        if name not in known:
            return otherwise
        total += coefficient * known[name]
    return total


# --------------------------------------------------------------------------------------------------- repeated loops
#
# Element-wise loops, which run all iterations of one element before the next; `graph.fusion_groups` recognises them.
#
# Note [Iterations].  Within an iteration an application may depend on the one before: it then takes the time of the table `turn`
# (`turn.exp` for transcendental functions), and otherwise, overlapped with others, that of `point`.  An iteration takes the
# longer of all its applications and of the longest chain of dependent ones.

def repeated_grains(loop: Loop, types: Types, rates: Rates, number: Numbers, cut: tuple[int, int] | None) -> Grains | None:
    """The grains of an element-wise loop as one kernel; None if it runs step by step."""
    is_card = dialect_of(rates.device.backend) is not None
    if not (rates.kernels or is_card) or not loop.body.params:
        return None
    merged = merge_elementwise_loop(loop, lambda value: types[value].element.kind, lambda value: types[value].shape)
    if merged is None or any(size.constant is None for size in traverse.sizes(merged)):
        return None
    if legalize(merged, complexes=True) is None:
        return None
    if is_card:
        return _repeated_on_card(merged, number(loop.trip), types, rates, number, cut)
    work = _work(merged, types, number, cut)
    if work is None:
        return Grains(0)
    around = rates.around.get(loop.id, Around())
    computed = number(loop.trip) * largest(chained_grains(work, rates), applied_grains(work, rates))
    moved = moved_grains(work, rates, around)
    return Grains(step(rates, around) + together(moved, computed, shared_work(work, rates, number(loop.trip)), rates))


def _repeated_on_card(
    merged: Structured, trip: int, types: Types, rates: Rates, number: Numbers, cut: tuple[int, int] | None
) -> Grains:
    """The grains of an element-wise loop as one GPU kernel: its operands are moved once, and each iteration takes the time of its
    applications beyond that of moving them."""
    space = _space(merged, number, cut)
    once, iteration = structured_grains(merged, types, rates, number, cut), 0
    for node, one in zip((node for node in merged.body if isinstance(node, ApplyNode)), calls(merged, space.reads, space.extents),
                         strict=True):  # fmt: skip
        (stems, kind), size = _table_of(node, one), one.points * one.each
        beyond = rates.grains(stems, kind, size) - rates.grains(("add",), kind, size)
        roof = rates.device.roofline
        counted = 0 if roof is None else CostTable.of_rate(roof.flops).at(one.points)
        iteration += counted + largest(0, beyond)
    return Grains(once + largest(0, trip - 1) * iteration)


def _work(phase: Structured, types: Types, number: Numbers, cut: tuple[int, int] | None) -> Work | None:
    extents = [number(axis.size) for axis in phase.axes]
    if cut is not None:
        extents[cut[0]] = cut[1]
    return work_of(phase, types, tuple(extents), number, kernels=True) if prod(extents) else None


# ---------------------------------------------------------------------------------------------------- fused rows
#
# Chains along rows run several phases as one body, so that their time is that of the body.
#
# The executor reports a chain's time as that of its last member, and so does an estimate; the other members take no time.

_kept: LruCache[dict[PhaseId, RowsUnit]] = LruCache(16)


def chains_in(bound: BoundGraph) -> dict[PhaseId, RowsUnit]:
    """The chains of a graph by their last member, cached with the graph."""

    def make() -> dict[PhaseId, RowsUnit]:
        units: dict[PhaseId, RowsUnit] = {}
        _walk(bound.graph.phases, (), bound.graph, units)
        return units

    return _kept.of(id(bound), (bound,), make)


def _walk(phases: Sequence[Phase], results: Sequence[ValueId], graph: Graph, units: dict[PhaseId, RowsUnit]) -> None:
    for unit in units_of(phases, graph, results):
        if isinstance(unit, RowsUnit):
            units[unit.ids[-1]] = unit
    for phase in phases:
        for inside in traverse.subgraphs(phase):
            _walk(inside.phases, inside.results, graph, units)


# ---------------------------------------------------------------------------------------------------- structured phases
#
# The time of a structured phase: on a measured device by the tables of the form in which it will run (`kernel_form`), on
# a declared device by tables of whole phases.  Both include copies that a read needs before the phase runs.
#
# Note [One application].  The tables of a declared device are about phases that are one application of full operands, or one
# reduction of an operand: the time of such a phase is looked up.  Any other phase takes the longest of: its slowest application
# on all bytes touched; and its reductions (with the additional reads beyond one operand) plus, for each application, its time
# beyond that of an addition.  An application that does not vary on all axes is computed once per point of the axes on which it
# varies.  Applications without a table take at least their number divided by the roofline's operations per second.

LONG_ROW: Final = 1024
SHORT_ROW: Final = 8


@dataclass(frozen=True, slots=True)
class _IterationSpace:
    """The iteration space in numbers, with the axes that each read varies on."""

    extents: tuple[int, ...]
    reduce: int | None
    reads: tuple[frozenset[int], ...]

    @property
    def points(self) -> int:
        return prod(self.extents)

    def along(self, axes: frozenset[int]) -> int:
        return prod(self.extents[axis] for axis in axes)


def structured_grains(phase: Structured, types: Types, rates: Rates, number: Numbers, cut: tuple[int, int] | None) -> Grains:
    """The grains of a structured phase.  `cut`: (axis of the space, rows of the shard along it)."""
    space = _space(phase, number, cut)
    if space.points == 0:
        return Grains(0)
    if space.reduce is None and all(isinstance(phase.body[r.node], ReadNode) for r in phase.results):
        copied = 0  # a view, which only GPUs copy
        for result in phase.results if dialect_of(rates.device.backend) is not None else ():
            kind = types[result.value].element.kind
            copied += rates.grains(("copy", "add"), kind, 2 * space.points * kind.bytes)
        return Grains(copied + _padding(phase, types, rates, number, space))
    if rates.measured:
        work = work_of(phase, types, space.extents, number, kernels=rates.kernels)
        around = NO_CONTEXT if cut is not None else rates.around.get(phase.id, NO_CONTEXT)
        return Grains(work_grains(work, rates, around) + _padding(phase, types, rates, number, space))
    single = _one_application(phase, types, rates, space, number)
    if single is not None:
        return single
    return Grains(_declared(phase, types, rates, number, space) + _padding(phase, types, rates, number, space))


# ------------------------------------------------------------------------------------------- the space


def _space(phase: Structured, number: Numbers, cut: tuple[int, int] | None) -> _IterationSpace:
    extents = [number(axis.size) for axis in phase.axes]
    if cut is not None:
        extents[cut[0]] = cut[1]
    reduce = next((a for a, axis in enumerate(phase.axes) if axis.kind is AxisKind.REDUCE), None)
    return _IterationSpace(tuple(extents), reduce, tuple(varies(read, extents) for read in phase.reads))


def _fills(read: Read) -> bool:
    return any(isinstance(stage, Affine) and stage.fills for stage in read.projection.stages)


def _copied(read: Read, number: Numbers) -> int:
    """Elements that are copied because strides cannot express the reshape."""
    items = 0
    for index, stage in enumerate(read.projection.stages):
        if isinstance(stage, Reshaped) and any(isinstance(later, Affine) for later in read.projection.stages[index + 1 :]):
            items += prod(map(number, stage.target))
    return items


def _inner(phase: Structured, types: Types, space: _IterationSpace, number: Numbers) -> tuple[int | None, tuple[tuple[int,
    ...], ...]]:
    """The axis along which the largest operand is contiguous, and the absolute strides of all reads."""
    steps = [strides(r, space.extents, tuple(map(number, types[r.value].shape))) for r in phase.reads]
    apart = tuple(tuple(map(abs, lengths)) for lengths in steps)
    best, most = None, 0
    for on, lengths in zip(space.reads, apart, strict=True):
        if on and space.along(on) > most:
            most, best = space.along(on), min(on, key=lambda axis: lengths[axis])
    return best, apart


def _bytes(read: Read, on: frozenset[int], types: Types, space: _IterationSpace, number: Numbers) -> int:
    """Bytes of the operand that the space reads, each counted once."""
    type = types[read.value]
    items = prod(map(number, type.shape))
    return Grains(smallest(items, space.along(on))) * type.element.kind.bytes


# ------------------------------------------------------------------------------------ whole phases


def _one_application(phase: Structured, types: Types, rates: Rates, space: _IterationSpace, number: Numbers) -> Grains | None:
    """The grains of a phase that is one application or reduction; None for others.  See Note [One application]."""
    if len(phase.results) != 1 or any(len(on) != sum(n != 1 for n in space.extents) for on in space.reads):
        return None
    if len({read.value for read in phase.reads}) != len(phase.reads):
        return None
    inner, apart = _inner(phase, types, space, number)
    if any(len(r.projection.stages) > 1 or _fills(r) for r in phase.reads):
        return None
    if inner is not None and any(step[inner] > 1 for step in apart):
        return None
    applied = [node for node in phase.body if isinstance(node, ApplyNode)]
    result = phase.results[0]
    if space.reduce is not None:
        if len(phase.reads) == 1 and isinstance(source := phase.body[result.node], ReadNode):
            return _reduction(result.reduction, source.kind, rates, space, inner)
        if len(applied) == 1 and (counted := _counted(phase, applied[0], result.node)) is not None:
            return _reduction(result.reduction, counted, rates, space, inner)
        return None
    if len(applied) != 1 or not phase.reads or not all(isinstance(phase.body[a], ReadNode) for a in applied[0].args):
        return None
    (one,) = calls(phase, space.reads, space.extents)
    return rates.grains(*_table_of(applied[0], one), space.points * one.each)


def _counted(phase: Structured, node: ApplyNode, reduced: int) -> Kind | None:
    """The kind of a boolean read that is only converted for a sum, which counts without converting; None otherwise."""
    source = phase.body[node.args[0]] if node.args else None
    if node.function == "convert" and phase.body[reduced] is node and isinstance(source, ReadNode):
        return source.kind if source.kind is Kind.BOOL else None
    return None


def _table_of(node: ApplyNode, one: Applied) -> tuple[tuple[str, ...], Kind]:
    """The names of an application's table, most specific first, and its kind."""
    kind = node.kind if node.function.startswith("convert") else one.compute
    return scalar_stems(node.function, one.compute, node.parameter), kind


def _reduction(function: str | None, kind: Kind, rates: Rates, space: _IterationSpace, inner: int | None) -> Grains:
    """The grains of a reduction of all points, each `kind.bytes` wide.  Short rows, and few adjacent cells, also cost per row (or
    cell)."""
    assert function is not None and space.reduce is not None
    size = space.points * kind.bytes
    cells = prod(n for axis, n in enumerate(space.extents) if axis != space.reduce)
    length = space.extents[space.reduce]
    side = inner is None or inner == space.reduce
    if cells == 1:
        return _reduced(function, kind, rates, "full", size)
    long, short = ("row", "short") if side else ("col", "narrow")
    run = length if side else (space.extents[inner] if inner is not None else 1)
    most, least = _reduced(function, kind, rates, long, size), _reduced(function, kind, rates, short, size)
    if run >= LONG_ROW:
        return most
    more = largest(0, least - most) * SHORT_ROW * (LONG_ROW - run)
    return Grains(most + -(-more // (largest(run, 1) * (LONG_ROW - SHORT_ROW))))


def _reduced(function: str, kind: Kind, rates: Rates, layout: str, size: int) -> Grains:
    return rates.grains((*reduce_stems(function, layout), "copy", "add"), kind, size)


# ------------------------------------------------------------------------------------ fused phases


def _widens(phase: Structured, number: int) -> bool:
    """Is the node a conversion of booleans for a sum, which counts them without converting?"""
    node = phase.body[number]
    if not isinstance(node, ApplyNode) or node.function != "convert":
        return False
    source = phase.body[node.args[0]]
    counted = isinstance(source, ReadNode | ApplyNode) and source.kind is Kind.BOOL
    return counted and any(r.node == number and r.reduction == "add" for r in phase.results)


def _padding(phase: Structured, types: Types, rates: Rates, number: Numbers, space: _IterationSpace) -> Grains:
    """The grains of copies: of reads that may leave their operand, and of reshapes that strides cannot express."""
    total = 0
    for read, on in zip(phase.reads, space.reads, strict=True):
        copied = _copied(read, number)
        if copied:
            kind = types[read.value].element.kind
            total += rates.grains(("pad", "copy", "write", "add"), kind, copied * kind.bytes)
        if _fills(read):
            kind = types[read.value].element.kind
            total += rates.grains(("pad", "copy", "write", "add"), kind, space.along(on) * kind.bytes)
    return Grains(total)


def _declared(phase: Structured, types: Types, rates: Rates, number: Numbers, space: _IterationSpace) -> int:
    """The grains of a fused phase on a declared device.  See Note [One application]."""
    touched: dict[ValueId, int] = {}
    for read, on in zip(phase.reads, space.reads, strict=True):
        touched[read.value] = largest(touched.get(read.value, 0), _bytes(read, on, types, space, number))
    cells = prod(n for axis, n in enumerate(space.extents) if axis != space.reduce)
    written = sum(cells * types[r.value].element.kind.bytes for r in phase.results)
    size = sum(touched.values()) + written
    kinds = [types[r.value].element.kind for r in phase.results]
    times = [rates.grains(("copy", "add"), kinds[0], size)]
    extra = unknown = 0
    nodes = [(number, node) for number, node in enumerate(phase.body) if isinstance(node, ApplyNode)]
    for (index, node), one in zip(nodes, calls(phase, space.reads, space.extents), strict=True):
        if _widens(phase, index):
            continue
        (stems, kind), applications = _table_of(node, one), one.points * one.each
        times.append(rates.grains(stems, kind, smallest(size, applications)))
        if rates.table(stems, kind) is None:
            unknown += one.points
        extra += largest(0, rates.grains(stems, kind, applications) - rates.grains(("add",), kind, applications))
    if unknown and rates.device.roofline is not None:
        times.append(CostTable.of_rate(rates.device.roofline.flops).at(unknown))
    inner, _ = _inner(phase, types, space, number)
    base, axes = times[0], sum(n != 1 for n in space.extents)
    full = [types[read.value].element.kind for read, on in zip(phase.reads, space.reads, strict=True) if len(on) == axes]
    for result, kind in zip(phase.results, kinds, strict=True):
        if result.reduction is not None:  # its table includes reading one operand
            widest = max((kind, *full), key=lambda one: one.bytes)
            others = times[0] - rates.grains(("copy", "add"), widest, space.points * widest.bytes)
            base = largest(base, _reduction(result.reduction, widest, rates, space, inner) + largest(0, others))
    return Grains(largest(*times, extra + base))
