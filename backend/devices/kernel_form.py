"""The form in which a structured phase will run (its tier, streams of bytes, and applications with their numbers of points), and
the cost of that form on a measured device.

The modules that decide this at run time (`jit.tiering`, `lower.body`, `lower.loop_order`) also answer here, so that the rules are
in one place.  A phase is a *kernel* if kernels support its full body and its size pays for one in the long run; otherwise it is
*calls* of NumPy, one per application, box by box.

Note [What counts].  An application counts at the points on which it varies; in a kernel what varies along the innermost loop
counts at all points, and what does not is outside that loop.  Small whole numbers count in the narrow kinds they are computed in.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from math import prod
from typing import Final, TypeAlias

from ...lang.support.records import dataclass, replace
from ...typechecker.elements import ArrayType, Kind, is_sequential
from ...typechecker.sizes.polynomials import Size
from ..graph import traverse
from ..graph.bind_sizes import BoundGraph, KnownValues
from ..graph.passes.rewriting import with_fixed_powers
from ..graph.phases import (
    Affine,
    ApplyNode,
    AxisKind,
    AxisNode,
    Constant,
    ConstantNode,
    Input,
    LibraryPhase,
    Output,
    Phase,
    PhaseId,
    Print,
    Read,
    ReadNode,
    Structured,
    ValueId,
    kind_of,
    operand_kind,
)
from ..jit import tiering
from ..jit.compiler import LruCache
from ..lower.body import Body, Node, legalize, narrow, parts_of
from ..lower.loop_order import BLOCK, Form, LoopOrder, plan_nest
from ..scalar.function_table import class_of
from .cost_functions import largest, smallest
from .op_tables import Around, Rates
from .profile import GRAIN, CostTable, Grains, scalar_stems

# ---------------------------------------------------------------------------------------------------- work of a phase

Number: TypeAlias = Callable[[Size], int]
Types: TypeAlias = Mapping[ValueId, ArrayType]
Axes: TypeAlias = frozenset[int]
ALONG: Final = "along_"
"""The prefix of a reduction that is a function of a node, as in chains along rows."""


LINE: Final = 64
"""Bytes of a cache line."""


class Tier(Enum):
    KERNEL = "one compiled kernel"
    CALLS = "a NumPy call an application"


@dataclass(frozen=True, slots=True)
class MemoryStream:
    """An operand of which `size` bytes are read.  `across`: are neighbours in the innermost loop not adjacent in memory?"""

    value: ValueId
    kind: Kind
    size: int
    across: bool


@dataclass(frozen=True, slots=True)
class Applied:
    """A function at `points` points, each of which touches `each` bytes; `constant`: is an operand (divisor, exponent)
    constant?"""

    function: str
    compute: Kind
    kind: Kind
    points: int
    each: int
    parameter: int = 0
    constant: bool = False


@dataclass(frozen=True, slots=True)
class ReducedWork:
    """`points` numbers reduced in runs of `run`: rows (`along`), or adjacent cells, across the reduce axis."""

    function: str
    kind: Kind
    along: bool
    points: int
    run: int


@dataclass(frozen=True, slots=True)
class Work:
    """A phase in the form in which it will run.

    `written`: bytes of its results by kind; `chain`: the longest chain of dependent applications; `lines`: how often its
    innermost loop is entered (the innermost two, where they reduce across); `line`: the length of the innermost loop that is not
    reduced; `nanoseconds`: its work as `jit.tiering` estimates it; `nest`: its loops; `chained`: is it a chain along rows?
    """

    tier: Tier
    points: int
    reads: tuple[MemoryStream, ...]
    written: tuple[tuple[Kind, int], ...]
    applied: tuple[Applied, ...]
    reduced: tuple[ReducedWork, ...]
    chain: tuple[Applied, ...]
    lines: int
    line: int
    nanoseconds: int
    nest: LoopOrder
    chained: bool

    @property
    def footprint(self) -> int:
        """Bytes that the phase touches."""
        return sum(stream.size for stream in self.reads) + sum(size for _, size in self.written)


def work_of(phase: Structured, types: Types, extents: tuple[int, ...], number: Number, *, kernels: bool) -> Work:
    """The form of a phase.  `extents`: of its axes or of a shard's, all nonzero; `kernels`: does the device run kernels?"""
    phase = with_fixed_powers(phase)
    chained = any(isinstance(node, ApplyNode) and node.function.startswith(ALONG) for node in phase.body)
    body = legalize(phase, complexes=not chained) if kernels else None
    if body is not None and prod(extents) < tiering.launched_from(body):
        body = None
    reads = tuple(varies(read, extents) for read in phase.reads)
    shapes = [tuple(map(number, types[read.value].shape)) for read in phase.reads]
    steps = [strides(read, extents, shape) for read, shape in zip(phase.reads, shapes, strict=True)]
    kinds = [types[read.value].element.kind for read in phase.reads]
    reduces = bool(phase.axes) and phase.axes[-1].kind is AxisKind.REDUCE
    bytes_ = [tuple(s * kind.bytes for s in by_axis) for by_axis, kind in zip(steps, kinds, strict=True)]
    nest = plan_nest(extents, reduces, bytes_, {len(extents) - 1} if chained else ())  # rows of a chain stay rows
    inner = _inner(nest)
    streams = _streams(phase, reads, shapes, steps, kinds, extents, inner)
    if body is None:
        applied = chain = calls(phase, reads, extents)
        results = [(types[r.value].element.kind, r.reduction) for r in phase.results]
        points = [prod(extents)] * len(results)
    else:
        body = narrow(body)
        counted = {r.nodes[0] for r in body.results if r.reduction == "add" and _is_count(body, r.nodes[0])}
        each, chain = applications(body.nodes, reads, extents, inner)
        applied = tuple([one for number, one in enumerate(each) if one is not None and number not in counted])
        results = [(Kind.BOOL if node in counted else part, r.reduction) for r in body.results
                   for node, part in zip(r.nodes, parts_of(r.kind), strict=True)]  # fmt: skip
        points = [prod(extents)] * len(results)
    cells = prod(extents[:-1]) if reduces else prod(extents)
    reduced = tuple(_reduced(kind, name, count, nest, body is None) for (kind, name), count in zip(results, points, strict=True)
                    if name is not None)  # fmt: skip
    across = nest.form is Form.REDUCE_OUTER
    lines = 1 if nest.form is Form.REDUCE_INNER else prod(nest.sizes[: -2 if across else -1])
    line = nest.sizes[-2 if across else -1] if nest.sizes and nest.form is not Form.REDUCE_INNER else 0
    sizes = [(types[r.value].element.kind, prod(map(number, types[r.value].shape))) for r in phase.results]
    written = tuple((kind, smallest(cells, size) * kind.bytes) for kind, size in sizes)
    seen = 0 if body is None else tiering.work(body, prod(extents))
    return Work(Tier.CALLS if body is None else Tier.KERNEL, prod(extents), streams, written, applied, reduced, chain,
                lines, line, seen, nest, chained)  # fmt: skip


# ------------------------------------------------------------------------------------------ operands


def varies(read: Read, extents: Sequence[int]) -> Axes:
    """The axes along which a read varies."""
    wide = frozenset(axis for axis, size in enumerate(extents) if size != 1)
    stages = read.projection.stages
    if stages and isinstance(first := stages[0], Affine):
        return wide & {term.axis for index in first.indices for term in index.terms}
    return wide


def strides(read: Read, extents: Sequence[int], shape: Sequence[int]) -> tuple[int, ...]:
    """By axis of the space, the elements between neighbours in the operand if it is stored in row-major order."""
    stages = read.projection.stages
    if not stages:
        return _row_major(shape)
    if len(stages) > 1 or not isinstance(only := stages[0], Affine):
        return _row_major(extents)
    steps = [0] * len(extents)
    for index, step in zip(only.indices, _row_major(shape), strict=True):
        for term in index.terms:
            steps[term.axis] += term.coefficient * step
    return tuple(steps)


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    steps = [1] * len(shape)
    for axis in range(len(shape) - 2, -1, -1):
        steps[axis] = steps[axis + 1] * shape[axis + 1]
    return tuple(steps)


def _inner(nest: LoopOrder) -> Axes:
    """The axes that the vector loop merges."""
    group = -2 if nest.form is Form.REDUCE_OUTER and len(nest.groups) > 1 else -1
    return frozenset(nest.groups[group]) if nest.groups else frozenset()


def _streams(phase: Structured, reads: Sequence[Axes], shapes: Sequence[tuple[int, ...]], steps: Sequence[tuple[int, ...]],
             kinds: Sequence[Kind], extents: Sequence[int], inner: Axes) -> tuple[MemoryStream, ...]:  # fmt: skip
    """For each operand the bytes that are read of it, counted once however many shifted reads there are."""
    streams: dict[ValueId, MemoryStream] = {}
    for read, on, shape, by_axis, kind in zip(phase.reads, reads, shapes, steps, kinds, strict=True):
        moving = [abs(by_axis[axis]) for axis in inner & on]
        apart = largest(1, smallest(LINE // kind.bytes, *moving or (1,)))  # cache lines also bring the items in between
        size = smallest(prod(shape), prod(extents[axis] for axis in on) * apart) * kind.bytes
        across = bool(moving) and smallest(*moving) > 1
        before = streams.get(read.value)
        if before is None or (size, across) > (before.size, before.across):
            streams[read.value] = MemoryStream(read.value, kind, size, across or (before is not None and before.across))
    return tuple(streams.values())


# ---------------------------------------------------------------------------------------- applications


def _is_count(body: Body, number: int) -> bool:
    """Is the node a conversion of booleans?  A sum of it counts them without converting."""
    node = body.nodes[number]
    return isinstance(node, ApplyNode) and node.function == "convert" and kind_of(body.nodes[node.args[0]]) is Kind.BOOL


def applications(nodes: Sequence[Node], reads: Sequence[Axes], extents: Sequence[int], inner: Axes = frozenset()
                 ) -> tuple[list[Applied | None], tuple[Applied, ...]]:  # fmt: skip
    """By node, its application (None if it is none); and the longest chain of dependent applications, by transcendental functions
    first.

    See Note [What counts].  `inner`: the axes of the vector loop; nodes that vary on one of them are computed at every point.
    """
    varying: list[Axes] = []
    chains: list[tuple[Applied, ...]] = []
    applied: list[Applied | None] = []
    for node in nodes:
        on, one, chain = frozenset[int](), None, tuple[Applied, ...]()
        match node:
            case ReadNode(operand):
                on = reads[operand]
            case AxisNode(axis) if extents[axis] != 1:
                on = frozenset({axis})
            case ApplyNode():
                on = on.union(*(varying[a] for a in node.args))
                points = prod(extents if on & inner else [extents[axis] for axis in on])
                on = on - {len(extents) - 1} if node.function.startswith(ALONG) else on
                each = node.kind.bytes + sum(kind_of(nodes[a]).bytes for a in node.args)
                constant = any(isinstance(nodes[a], ConstantNode) for a in node.args)
                one = Applied(node.function, operand_kind(nodes, node), node.kind, points, each, node.parameter, constant)
                chain = (*max((chains[a] for a in node.args), key=_length, default=()), one)
        varying.append(on)
        applied.append(one)
        chains.append(chain)
    return applied, max(chains, key=_length, default=())


def _length(chain: tuple[Applied, ...]) -> tuple[int, int]:
    return sum(class_of(one.function) == "transcendental" for one in chain), len(chain)


def calls(phase: Structured, reads: Sequence[Axes], extents: Sequence[int]) -> tuple[Applied, ...]:
    """The applications of a body in order, each as one NumPy call."""
    applied, _ = applications(phase.body, reads, extents)
    return tuple([one for one in applied if one is not None])


def _reduced(kind: Kind, function: str, points: int, nest: LoopOrder, calls: bool) -> ReducedWork:
    length = nest.sizes[-1]
    if nest.form is Form.REDUCE_OUTER and not calls:
        return ReducedWork(function, kind, False, points, nest.sizes[-2])
    return ReducedWork(function, kind, True, points, length)


# ---------------------------------------------------------------------------------------------------- reuse of caches
#
# Reuse distances: how many bytes a program touches between two uses of a value, which decides whether an operand is still cached
# when a phase reads it.
#
# A program is assumed to run repeatedly, as the body of a loop does: a value used once per run is used again after all other
# bytes of a run have been touched.  Views count as their operand.

_kept: LruCache[tuple[dict[PhaseId, Around], KnownValues]] = LruCache(16)


def surroundings(bound: BoundGraph, number: Number) -> tuple[dict[PhaseId, Around], KnownValues]:
    """The context (`Around`) of each phase, and the known values; cached with the graph."""

    def make() -> tuple[dict[PhaseId, Around], KnownValues]:
        contexts: dict[PhaseId, Around] = {}
        _walk(bound.graph.phases, bound.graph.types, number, contexts, outermost=True)
        return contexts, KnownValues(traverse.all_phases(bound.graph), bound.graph.types)

    return _kept.of(id(bound), (bound,), make)


def _walk(phases: Sequence[Phase], types: Types, number: Number, contexts: dict[PhaseId, Around], *,
    outermost: bool = False) -> int:
    """Adds the contexts of the phases of a block and of its inner blocks; returns the bytes that one pass through the block
    touches."""
    roots: dict[ValueId, ValueId] = {}
    touched = [_touched(phase, types, number, roots, contexts) for phase in phases]
    total = sum(size for size, _ in touched)
    by_library = {value for phase in phases if isinstance(phase, LibraryPhase) for value in phase.results}
    binary = _binary(phases)
    last: dict[ValueId, int] = {}
    before = 0 if outermost else next((size for size, _ in reversed(touched) if size), 0)  # an iteration follows another one
    clock = -total
    for _ in range(2):
        before = before if not outermost else 0
        for phase, (size, values) in zip(phases, touched, strict=True):
            since = {value: clock - last.get(roots.get(value, value), clock - total) for value in traverse.operands(phase)}
            given = traverse.operands(phase)
            alike = len(set(given)) > 1 and len({roots.get(value, value) for value in given}) == 1
            handed = any(roots.get(value, value) in by_library for value in given)
            contexts[phase.id] = Around(
                total, since, _is_unknown(phase, types), alike, handed, before, total - size, phase.id in binary
            )
            last.update((value, clock) for value in values)
            clock, before = clock + size, size or before
    return total


def _binary(phases: Sequence[Phase]) -> set[PhaseId]:
    """The phases that encode by constant powers of two."""
    powers = {phase.result for phase in phases if isinstance(phase, Constant) and all(map(_is_power, phase.data))}
    encodes = [phase for phase in phases if isinstance(phase, LibraryPhase) and phase.op == "encode"]
    return {phase.id for phase in encodes if phase.args[0] in powers}


def _is_power(value: object) -> bool:
    return isinstance(value, int) and value > 0 and not value & (value - 1)


def is_view(phase: Phase) -> bool:
    return isinstance(phase, Structured) and all(
        isinstance(phase.body[r.node], ReadNode) and not r.reduction for r in phase.results
    )


def _is_unknown(phase: Phase, types: Types) -> bool:
    """Does the phase mention a run-time size?"""
    sizes = [size for value in (*traverse.operands(phase), *traverse.results(phase)) for size in types[value].shape]
    return any(size.constant is None for size in (*sizes, *traverse.sizes(phase)))


def _touched(
    phase: Phase, types: Types, number: Number, roots: dict[ValueId, ValueId], contexts: dict[PhaseId, Around]
) -> tuple[int, tuple[ValueId, ...]]:
    inside = [_walk(graph.phases, types, number, contexts) for graph in traverse.subgraphs(phase)]
    if isinstance(phase, Input | Output | Print):
        return 0, ()
    if is_view(phase):
        assert isinstance(phase, Structured)
        for result in phase.results:
            node = phase.body[result.node]
            assert isinstance(node, ReadNode)
            source = phase.reads[node.index].value
            roots[result.value] = roots.get(source, source)
        return 0, ()
    values = dict.fromkeys(roots.get(value, value) for value in (*traverse.operands(phase), *traverse.results(phase)))
    sizes = {value: prod(map(number, types[value].shape)) * types[value].element.kind.bytes for value in values}
    if isinstance(phase, LibraryPhase) and phase.op == "gather":  # items that are not selected are not touched
        source = roots.get(phase.args[0], phase.args[0])
        sizes[source] = min(sizes[source], sum(sizes.get(value, 0) for value in phase.results))
    size = sum(sizes.values())
    return max([size, *inside]), tuple(values)


# ---------------------------------------------------------------------------------------------------- shares of threads
#
# Thread teams: the time that several threads take for the work of one, and how a phase is divided among them.
#
# Note [Sharing].  Kernels are cut into tasks by their estimated work (`jit.tiering`).  Preparing tasks takes time before the
# first one runs (`cut`); sleeping pool threads are woken only for enough work, and join late.  Calibration measures in programs
# what one thread's time becomes: `team` where threads are woken, `team.reduced` for reductions to one cell, `team.long` in long
# loops, `team.rows` for chains that compute one number per row, `team.handed` where a single thread has just produced an operand.
# The result hardly depends on whether threads move or compute.  (Tables of earlier calibrations had `team.moved` for moving.)

OVERLAP: Final = (1, 8)
"""(n, d): n/d of the shorter of moving and computing is not hidden by the longer."""


class WorkSharing(Enum):
    """How a phase's work is divided among threads.  See Note [Sharing]."""

    ALONE = "one thread"
    CUT = "pieces, which helpers do not wake for"
    WOKEN = "pieces, which helpers wake for"
    ROWS = "rows of a chain that makes a number of each"
    LONG = "pieces of a loop that Python hands out, to hear an interrupt between them"


@dataclass(frozen=True, slots=True)
class SharedWork:
    """`joined`: are partial results combined at the end?  `handed`: did a single thread produce an operand, so that it is in that
    thread's cache?"""

    sharing: WorkSharing = WorkSharing.ALONE
    joined: bool = False
    handed: bool = False


ALONE: Final = SharedWork()


def shared_out(nest: LoopOrder, reduces: bool, nanoseconds: int, threads: int, iterations: int = 1) -> SharedWork:
    """The sharing of work of which tiering estimates `nanoseconds` per iteration."""
    if threads <= 1 or nanoseconds < tiering.SHARED_NANOSECONDS:
        return ALONE
    joined = not _has_cells(nest, reduces, threads)
    if joined and (not reduces or nest.sizes[-1] < 2 * BLOCK * threads):
        return ALONE
    total = nanoseconds * max(1, iterations)
    if iterations > 1 and total >= tiering.LONG_NANOSECONDS:
        return SharedWork(WorkSharing.LONG)
    return SharedWork(WorkSharing.WOKEN if total > tiering.WORTH_WAKING else WorkSharing.CUT, joined)


def rows_shared_out(nest: LoopOrder, nanoseconds: int, threads: int, moves: bool) -> SharedWork:
    """The sharing of a chain along rows; `moves`: does it write as much as it reads?"""
    if threads <= 1 or nanoseconds < tiering.PIECES_NANOSECONDS or not any(size >= 2 * threads for size in nest.sizes[:-1]):
        return ALONE
    return SharedWork(WorkSharing.WOKEN if moves else WorkSharing.ROWS)


def _has_cells(nest: LoopOrder, reduces: bool, threads: int) -> bool:
    """Is there a loop over cells that is long enough to be divided among the threads?"""
    parallel = len(nest.sizes) - reduces
    for loop, size in enumerate(nest.sizes[:parallel]):
        inner = loop == parallel - 1 and nest.form is not Form.REDUCE_INNER
        if size >= (256 * threads if inner else 2 * threads):
            return True
    return False


def overlapped(moved: int, computed: int) -> int:
    longer, shorter = largest(moved, computed), smallest(moved, computed)
    return Grains(longer + shorter * OVERLAP[0] // OVERLAP[1])


def together(moved: int, computed: int, shared: SharedWork, rates: Rates) -> int:
    """The grains that the threads take to move and compute what takes one thread `moved` and `computed` grains."""
    alone = overlapped(moved, computed)
    match shared.sharing:
        case WorkSharing.ALONE:
            return alone
        case WorkSharing.CUT:
            table = rates.table(("cut.reduced", "cut") if shared.joined else ("cut",), Kind.F64)
            return alone + (0 if table is None else table.at(1))
        case WorkSharing.ROWS | WorkSharing.LONG:
            table = rates.table(("team.rows" if shared.sharing is WorkSharing.ROWS else "team.long", "team"), Kind.F64)
            return alone if table is None else _mapped(alone, table)
        case WorkSharing.WOKEN:
            names: tuple[str, ...] = ("team.moved", "team") if moved > computed else ("team",)
            names = ("team.reduced", *names) if shared.joined else names
            table = rates.table(("team.handed", *names) if shared.handed else names, Kind.F64)
            return alone if table is None else _mapped(alone, table)


def _mapped(alone: int, table: CostTable) -> int:
    """The time of the threads by table.  Below the first point its difference to one thread is added; above the last, times are
    in proportion."""
    least = table.size[0] * GRAIN
    if alone < least:
        return Grains(largest(alone // 2, alone + (table.ns[0] - table.size[0]) * GRAIN))
    return table.rate(-(-alone // GRAIN))

# ---------------------------------------------------------------------------------------------------- measured cost of a phase
#
# The cost of a structured phase on a measured device, in the form in which it will run: memory traffic, computation, dispatch.
#
# Time = dispatch + the longer of traffic and computation + a part of the shorter, since a processor overlaps both imperfectly.
#
# Note [Moving].  The cost of a byte depends on its reuse distance (the bytes touched since it was touched last), which decides
# the cache level that has it.  `read` and `write` are measured by the size of the working set.
#
# Note [Computing].  `point.…` is one more application in a kernel on one thread, `ufunc.…` one in a NumPy call; `row.…` and
# `column.…` reduce runs of so many numbers (1024 runs).  `teams` converts the time of one thread to that of the executor's
# threads.

RUNS: Final = 1024
"""The number of runs in the tables `row` and `column`."""
APART: Final = (4, 5)
"""(n, d): n/d of a step's additional time after other phases is due to its own code and data."""
_SAME: Final = {"square": "mul", "half_power": "sqrt"}


NO_CONTEXT: Final = Around()


def work_grains(work: Work, rates: Rates, around: Around = NO_CONTEXT) -> Grains:
    """The grains of a phase in a given form.  Raises NoTable where the device has no table for an application."""
    start = step(rates, around, more(work))
    moved, computed = moved_grains(work, rates, around), applied_grains(work, rates)
    if work.tier is Tier.KERNEL:
        return Grains(start + together(moved, computed, shared_work(work, rates, handed=around.handed), rates))
    fresh = sum(_fresh(size, rates) for _, size in work.written if not work.reduced)
    return Grains(start + fresh + overlapped(moved, computed))


def shared_work(work: Work, rates: Rates, iterations: int = 1, *, handed: bool = False) -> SharedWork:
    threads = rates.device.threads
    if work.chained:
        written = sum(size for _, size in work.written)
        return rows_shared_out(work.nest, work.nanoseconds, threads, 2 * written >= work.footprint - written)
    return replace(shared_out(work.nest, bool(work.reduced), work.nanoseconds, threads, iterations), handed=handed)


def _fresh(size: int, rates: Rates) -> int:
    """The grains of the first access to fresh memory."""
    table = rates.table(("fresh",), Kind.F64)
    return 0 if table is None or size < table.size[0] else table.at(size)


def more(work: Work) -> int:
    """The operands of a kernel beyond the first, or the NumPy calls beyond the first."""
    return max(0, len(work.reads) - 1 if work.tier is Tier.KERNEL else len(work.applied) + len(work.reduced) - 1)


def step(rates: Rates, around: Around, calls: int = 0) -> Grains:
    """The dispatch grains of a phase; `calls`: NumPy calls after the first."""
    table = rates.table(("call",), Kind.F64)
    step_table = rates.require(("step",), Kind.F64)
    return Grains(cooled(step_table, around) + (0 if table is None else calls * table.at(max(1, around.before))))


def cooled(table: CostTable, around: Around) -> Grains:
    """The grains of a step after other phases: the table at the bytes of the phase just before or, if that is more, the warm time
    plus a part of the increase at the bytes of all other phases."""
    warm = table.at(1)
    part = (table.at(max(1, around.apart)) - warm) * APART[0] // APART[1]
    return Grains(max(table.at(max(1, around.before)), warm + part))


def applied_grains(work: Work, rates: Rates) -> int:
    """The computation grains of one thread.  See Note [Computing]."""
    if work.tier is Tier.KERNEL:
        computed = _applied(work, "point.", rates) + sum(_reduced_grains(one, rates) for one in work.reduced)
        lines = rates.table(("line.column" if work.reduced else "line",), Kind.F64) if work.lines > 1 else None
        return computed + (0 if lines is None else lines.at(work.line) * work.lines // RUNS)
    reduced = sum(_looked_up(r.function, "ufunc.reduce.", r.kind, r.points * r.kind.bytes, rates) for r in work.reduced)
    return _applied(work, "ufunc.", rates) + reduced


def chained_grains(work: Work, rates: Rates) -> int:
    """The latency, in grains, of a chain of dependent applications that nothing overlaps."""
    loop_overhead = rates.require(("turn",), Kind.F64).rate(3 * Kind.F64.bytes * work.points)
    alone, among = rates.table(("turn.exp",), Kind.F64), rates.table(("point.exp",), Kind.F64)
    total = 0
    for one in work.chain:
        waits = loop_overhead
        if class_of(one.function) == "transcendental" and alone is not None and among is not None:
            size = among.size[0]  # a series depends on itself: longer by the ratio that `exp` has
            waits = largest(loop_overhead, _each(one, "point.", rates) * alone.rate(size) // among.rate(size))
        total += waits
    return total


def moved_grains(work: Work, rates: Rates, around: Around) -> int:
    """The memory traffic in grains.  See Note [Moving]."""
    moved, footprint = 0, work.footprint
    for stream in work.reads:
        where = largest(around.since.get(stream.value, footprint), stream.size)
        moved += _stream("read", stream.size, where, rates)
        if stream.across and (strided := rates.table(("strided",), stream.kind)) is not None:
            moved += strided.rate(stream.size)
    if not work.reduced:
        for _, size in work.written:
            where = size if rates.reuses else largest(footprint, around.total)
            moved += _stream("read" if rates.reuses else "write", size, where, rates)
    return moved


def _stream(name: str, size: int, where: int, rates: Rates) -> int:
    return rates.require((name,), Kind.F64).rate(size, where)


def _applied(work: Work, prefix: str, rates: Rates) -> int:
    total = 0
    for one in work.applied:
        if one.function.startswith(ALONG):  # in a chain along rows
            row = ReducedWork(one.function.removeprefix(ALONG), one.kind, along=True, points=work.points, run=max(1, work.line))
            size, called = row.points * row.kind.bytes, prefix == "ufunc."
            total += _looked_up(row.function, "ufunc.reduce.", row.kind, size, rates) if called else _reduced_grains(row, rates)
            continue
        total += _each(one, prefix, rates)
    return total


def _each(one: Applied, prefix: str, rates: Rates) -> Grains:
    table = _table_of(one.function, one.compute, one.kind, one.parameter, prefix, rates, constant=one.constant)
    return table.rate(one.points * one.each)


def _table_of(function: str, compute: Kind, kind: Kind, parameter: int, prefix: str, rates: Rates, *,
    constant: bool) -> CostTable:
    function = _SAME.get(function, function)
    kind = kind if function.startswith("convert") else compute
    stems = scalar_stems(function, compute, parameter)
    if constant:
        stems = (f"{function}.constant", *stems)
    return _first(rates, (*(prefix + stem for stem in stems), *_class(prefix, function)), kind)


def application_rate(function: str, compute: Kind, kind: Kind, parameter: int, rates: Rates) -> float:
    """The grains per item of one more application in a kernel."""
    each = 2 * compute.bytes + kind.bytes
    return _table_of(function, compute, kind, parameter, "point.", rates, constant=False).rate(each * 1000) / 1000


def _class(prefix: str, function: str) -> tuple[str, ...]:
    """The names of the tables that stand in for a function that was not measured."""
    return (f"{prefix}exp", f"{prefix}add") if class_of(function) == "transcendental" else (f"{prefix}add",)


def _first(rates: Rates, stems: Iterable[str], kind: Kind) -> CostTable:
    return rates.require(tuple(stems), kind)


def _looked_up(function: str, prefix: str, kind: Kind, size: int, rates: Rates) -> int:
    from_the_right = (f"{prefix}div",) if is_sequential(function) else ()
    return rates.require((prefix + function, *from_the_right, f"{prefix}add"), kind).rate(size)


def _reduced_grains(one: ReducedWork, rates: Rates) -> int:
    """The grains of runs of numbers that are reduced one after the other.  In a right fold each application (which is counted
    separately) waits for the one before."""
    if is_sequential(one.function):
        return rates.require(("turn", "point.add"), Kind.F64).rate(3 * Kind.F64.bytes * one.points) if one.along else 0
    name = "row" if one.along else "column"
    table = rates.require((f"{name}.{one.function}", f"{name}.add", f"row.{one.function}", "row.add"), one.kind)
    return table.at(one.run) * one.points // (one.run * RUNS)
