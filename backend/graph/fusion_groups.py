"""Groups of phases that run as one loop: chains along rows, stencil groups, and loops that are element-wise in their state.

The functions take the phases of one block and return the groups, each with the position in the block before which it runs.

Softmax is four phases (the greatest, the exponentials, their sum, the quotients), each of which would go through memory.  Run one
row after the other, the intermediate values of a row stay in the L1 cache, and those that only the chain reads are never stored.
A chain has a *frame* (all axes but the last) and rows of one length.  Its members reduce rows, compute elements, or compute one
number a row from such numbers (sizes are numbers here: planning finds the chains).  Members read one another at the same point,
or a row's number along the row; none of them may fail.

Note [One body].  `join_chain` merges the members into one `Structured` that no graph contains: its axes are all parallel, the
last one being the row, and a reduction of the row is an application of `ALONG[reduction]` to one node.  Its value is the same
along the row, and so is each result for which `is_row` holds.

Note [Where a chain runs].  A chain runs at the position of its last member, or before the first other phase that needs one of its
values.  Phases after that position join only if all they read is defined before it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence, Set as AbstractSet
from math import prod
from typing import Final, TypeAlias

from ...lang.support.records import dataclass, field, replace
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, number
from ..scalar.function_table import REDUCTIONS
from . import traverse
from .passes.rewriting import LONGEST_WINDOW, BodyBuilder, body_may_fail, has_reduction, is_sliding_window
from .phases import (
    IDENTITY,
    Affine,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Constant,
    Graph,
    LibraryPhase,
    Loop,
    Map,
    Node,
    Phase,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    Structured,
    SubGraph,
    ValueId,
    affine,
    axis_index,
    compose,
    kind_of,
    may_fill,
)

# ----------------------------------------------------------------------------------------- chains along rows

SHORT_ROW: Final = 32
"""Rows shorter than this form a chain only if they have at least `MIN_ROW` items, are many (`MANY_ITEMS`) and are reduced more
than once; the kernel then runs several rows side by side."""
MIN_ROW: Final = 5
"""The least items of a row."""
MANY_ITEMS: Final = 1 << 13
"""The least items of all short rows together."""
MAX_ROW: Final = 1 << 14
"""The most items of a row: it fits into the L2 cache with its intermediate values."""
MOST_NODES: Final = 120
MOST_SOURCES: Final = 16
MOST_RESULTS: Final = 8

ALONG: Final = {name: f"along_{name}" for name in sorted(REDUCTIONS)}
"""The reduction of a row, as a function of one node."""

Numbers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """`phases` in order; `at`: the position in the block before which the chain runs (see Note [Where a chain runs])."""

    phases: tuple[Structured, ...]
    at: int


@dataclass(frozen=True, slots=True)
class JoinedGroup:
    """A chain as one body.  `is_row`, by result: does it have one item per row?  See Note [One body]."""

    phase: Structured
    is_row: tuple[bool, ...]


# --------------------------------------------------------------------------------------------- finding


@dataclass(slots=True)
class _OpenChain:
    """A chain under construction.

    `rows` and `elements`: its members' values with one item per row, and with one per element.  `outside`: reads of other values.
    `limit`: the position of the first other phase that reads one of its values.  `reduces`: does a member reduce rows?"""

    frame: Numbers
    length: int
    members: list[tuple[int, Structured]] = field(default_factory=list)
    rows: set[ValueId] = field(default_factory=set)
    elements: set[ValueId] = field(default_factory=set)
    outside: set[tuple[ValueId, Projection]] = field(default_factory=set)
    limit: int | None = None
    nodes: int = 0
    reduces: bool = False


def find_chains(phases: Sequence[Phase], graph: Graph, is_known: Callable[[Structured], bool]) -> list[Chain]:
    """The chains of a block, by position.  `is_known`: do row kernels support every function of a phase's body?"""
    finder = _ChainFinder(graph, is_known)
    for position, phase in enumerate(phases):
        finder.visit(position, phase)
    return finder.chains()


class _ChainFinder:
    def __init__(self, graph: Graph, is_known: Callable[[Structured], bool]) -> None:
        self.graph = graph
        self.is_known = is_known
        self.open: list[_OpenChain] = []
        self.maker: dict[ValueId, _OpenChain] = {}
        self.made_at: dict[ValueId, int] = {}

    def visit(self, position: int, phase: Phase) -> None:
        joined = self.join(position, phase) if isinstance(phase, Structured) and self.qualifies(phase) else None
        for value in traverse.uses(phase):
            chain = self.maker.get(value)
            if chain is not None and chain is not joined and chain.limit is None:
                chain.limit = position
        for value in traverse.results(phase):
            self.made_at[value] = position
            if joined is not None:
                self.maker[value] = joined

    def qualifies(self, phase: Structured) -> bool:
        sizes = _numbers(phase.axes)
        if not phase.reads or sizes is None or body_may_fail(phase.body):
            return False
        if is_sliding_window(phase) and sizes[-1] <= LONGEST_WINDOW:
            return False
        if any(isinstance(node, AxisNode) for node in phase.body) or any(r.value in self.graph.roots for r in phase.results):
            return False
        if all(isinstance(phase.body[r.node], ReadNode) and r.reduction is None for r in phase.results):
            return False  # a view costs nothing
        if any(r.reduction is not None and r.reduction not in REDUCTIONS for r in phase.results):
            return False
        if any(may_fill(read.projection) or not _is_plain(read.projection) for read in phase.reads):
            return False
        return self.is_known(phase)

    def join(self, position: int, phase: Structured) -> _OpenChain | None:
        """The chain that the phase joins, which may be a new one; None if it joins none."""
        sizes = _numbers(phase.axes)
        assert sizes is not None
        for chain in reversed(self.open):
            if self.fits(chain, phase, sizes):
                self.add(chain, position, phase, on_rows=sizes == chain.frame and not has_reduction(phase))
                return chain
        if sizes and _pays(sizes) and self.runs_along(phase):
            chain = _OpenChain(sizes[:-1], sizes[-1])
            self.open.append(chain)
            self.add(chain, position, phase, on_rows=False)
            return chain
        return None

    def add(self, chain: _OpenChain, position: int, phase: Structured, *, on_rows: bool) -> None:
        chain.members.append((position, phase))
        results = {r.value for r in phase.results}
        if has_reduction(phase) or on_rows:
            chain.rows |= results
            chain.reduces |= not on_rows
        else:
            chain.elements |= results
        chain.outside |= {(r.value, r.projection) for r in phase.reads if r.value not in chain.rows | chain.elements}
        chain.nodes += len(phase.body)

    def fits(self, chain: _OpenChain, phase: Structured, sizes: Numbers) -> bool:
        on_rows = sizes == chain.frame and not has_reduction(phase)
        if not on_rows and sizes != (*chain.frame, chain.length):
            return False
        if chain.nodes + len(phase.body) > MOST_NODES:
            return False
        related = False
        for read in phase.reads:
            if read.value in chain.elements:
                if on_rows or read.projection.stages:
                    return False
                related = True
            elif read.value in chain.rows:
                if read.projection != (IDENTITY if on_rows else _along_rows(phase.axes)):
                    return False
                related = True
            elif chain.limit is not None and self.made_at.get(read.value, -1) >= chain.limit:
                return False
            elif has_reduction(phase) and (read.value, read.projection) in chain.outside:
                related = True
        sources = {value for value, _ in chain.outside} | {r.value for r in phase.reads}
        results = len(chain.rows) + len(chain.elements) + len(phase.results)
        return related and len(sources) <= MOST_SOURCES and results <= 3 * MOST_RESULTS and (on_rows or self.runs_along(phase))

    def runs_along(self, phase: Structured) -> bool:
        """Is each read along the row contiguous in memory or constant, and does at least one read move along the row?"""
        last, moves_along = len(phase.axes) - 1, False
        for read in phase.reads:
            shape = self.graph.types[read.value].shape
            if not read.projection.stages:
                moves_along = True
                continue
            (stage,) = read.projection.stages
            if not isinstance(stage, Affine):
                moves_along = True  # a reshape keeps the row-major order
                continue
            for axis, index in enumerate(stage.indices):
                moves = [term.coefficient for term in index.terms if term.axis == last]
                if moves and (abs(moves[0]) != 1 or any(size.constant != 1 for size in shape[axis + 1 :])):
                    return False
                moves_along |= bool(moves)
        return moves_along

    def chains(self) -> list[Chain]:
        chains = []
        for chain in self.open:
            if len(chain.members) < 2 or not chain.reduces:
                continue
            once = sum(has_reduction(member) for _, member in chain.members) < 2
            if once and (chain.length < SHORT_ROW or not chain.elements):
                continue  # the kernel of a single reduction is faster
            last = chain.members[-1][0]
            at = last if chain.limit is None else min(last, chain.limit)
            chains.append(Chain(tuple(phase for _, phase in chain.members), at))
        return sorted(chains, key=lambda chain: chain.at)


def _numbers(axes: Sequence[Axis]) -> Numbers | None:
    sizes = [axis.size.constant for axis in axes]
    return None if None in sizes else tuple(int(n) for n in sizes if n is not None)


def _is_plain(projection: Projection) -> bool:
    """Does the projection have at most one stage, affine or a reshape?"""
    return len(projection.stages) < 2


def _pays(sizes: Numbers) -> bool:
    """Are rows of a space with these sizes long enough, or short but numerous?"""
    if sizes[-1] < SHORT_ROW:
        return sizes[-1] >= MIN_ROW and prod(sizes) >= MANY_ITEMS
    return sizes[-1] <= MAX_ROW


def _along_rows(axes: Sequence[Axis]) -> Projection:
    """The projection from a point to the index of its row."""
    space = traverse.axis_sizes(tuple(axes))
    return affine(space, [axis_index(axis) for axis in range(len(axes) - 1)], space[:-1])


# --------------------------------------------------------------------------------------------- joining


def join_chain(phases: Sequence[Structured], wanted: Sequence[ValueId]) -> JoinedGroup:
    """The members of a chain as one body with the results `wanted`."""
    widest = max(phases, key=lambda phase: len(phase.axes))
    axes = tuple(Axis(axis.size, AxisKind.PARALLEL) for axis in widest.axes)
    space: tuple[Size, ...] = traverse.axis_sizes(axes)
    builder, rows = BodyBuilder(), _along_rows(axes)
    node_of: dict[ValueId, int] = {}
    is_row: dict[ValueId, bool] = {}
    for phase in phases:
        on_rows = len(phase.axes) < len(axes)
        places: list[int] = []
        for node in phase.body:
            match node:
                case ReadNode():
                    read = phase.reads[node.index]
                    if read.value in node_of:
                        places.append(node_of[read.value])
                        continue
                    path = compose(space, rows, read.projection) if on_rows else read.projection
                    places.append(builder.read(Read(read.value, path), node))
                case ApplyNode():
                    places.append(builder.add(replace(node, args=tuple(places[arg] for arg in node.args))))
                case _:
                    places.append(builder.add(node))
        for result in phase.results:
            value_node = places[result.node]
            if result.reduction is not None:
                value_node = builder.add(ApplyNode(ALONG[result.reduction], (value_node,), kind_of(builder.nodes[value_node])))
            node_of[result.value] = value_node
            is_row[result.value] = on_rows or result.reduction is not None
    results = [PhaseResult(value, node_of[value], None) for value in wanted]
    merged = builder.finish(replace(widest, axes=axes), results)
    return JoinedGroup(merged, tuple(is_row[value] for value in wanted))


def reduction_levels(phase: Structured) -> list[int]:
    """By node of a joined body: the longest chain of row reductions that its value depends on."""
    node_levels: list[int] = []
    for node in phase.body:
        args = node.args if isinstance(node, ApplyNode) else ()
        level = max((node_levels[arg] for arg in args), default=0)
        node_levels.append(level + (isinstance(node, ApplyNode) and node.function.startswith("along_")))
    return node_levels


def may_reuse_operand(chain: JoinedGroup) -> bool:
    """May the first result be written into the buffer of an operand of its shape?

    Only if the last pass over the row computes it, and rows do not run side by side, where a kernel computes some rows twice."""
    if chain.is_row[0] or (chain.phase.axes[-1].size.constant or 0) < SHORT_ROW:
        return False
    body, level = chain.phase.body, reduction_levels(chain.phase)
    reduced = [level[node.args[0]] for node in body if isinstance(node, ApplyNode) and node.function.startswith("along_")]
    element_levels = [level[r.node] for r, on_row in zip(chain.phase.results, chain.is_row, strict=True) if not on_row]
    return element_levels[0] >= max([*reduced, *element_levels])


# ------------------------------------------------------------------------------------------------ stencil groups
#
# Stencils: rotations and the element-wise phases that read them, as one loop nest.
#
# A rotation by itself copies its operand.  In a loop program it is an index, so that a stencil written with array operations
# (`(1⊖x)+¯1⊖x`) goes through memory once.  A *group* is such phases with results of one shape.  None of them reads a value of the
# group at another row (along the first axis): rows are independent, and a value that only the group reads exists for one row at a
# time.
#
# Members are Structured phases without reductions, none of which may fail; rotations that only these read; and the constants (the
# amounts of the rotations) that only members read.

STENCIL_MIN_ITEMS: Final = 1 << 16
"""The least items of a space for which a group pays; smaller arrays stay in cache anyway."""
STENCIL_MOST_NODES: Final = 120
STENCIL_MOST_SOURCES: Final = 16
STENCIL_MOST_RESULTS: Final = 8



@dataclass(slots=True)
class _StencilGroup:
    """`members` by position in the block; `limit`: the position of the first other phase that reads one of their values."""

    space: Numbers
    members: dict[int, Phase] = field(default_factory=dict)
    limit: int | None = None


def find_stencil_groups(
    phases: Sequence[Phase], graph: Graph, live_out: AbstractSet[ValueId]
) -> list[tuple[int, tuple[Phase, ...]]]:
    """The stencil groups of a block, each with the position before which it runs; `live_out`: values that are read after it."""
    if not any(isinstance(phase, LibraryPhase) and phase.op == "rotate" for phase in phases):
        return []
    finder = _StencilFinder(phases, graph, live_out | graph.roots)
    for position, phase in enumerate(phases):
        finder.visit(position, phase)
    groups = {id(group): group for group in finder.maker.values()}
    groups_at: list[tuple[int, tuple[Phase, ...]]] = []
    for group in groups.values():
        last = max(group.members)
        at = last if group.limit is None else min(last, group.limit)
        members = group.members | finder.constants_of(group)
        groups_at.append((at, tuple(members[position] for position in sorted(members))))
    return sorted(groups_at, key=lambda each: each[0])


def group_as_map(members: Sequence[Phase], wanted: tuple[ValueId, ...]) -> Map:
    """A group as a map over an empty frame, which no graph contains; memoised, since compiled code is cached by the map."""
    key = tuple(map(id, members)), wanted
    cached = _maps.get(key)
    if cached is None or any(old is not new for old, new in zip(cached.body.phases, members, strict=True)):
        while len(_maps) >= _MOST_MAPS:
            _maps.pop(next(iter(_maps)), None)
        last = members[-1]
        cached = _maps[key] = Map(last.id, last.span, (), (), (), wanted, SubGraph((), tuple(members), wanted))
    return cached


def is_stencil_group(phase: Phase) -> bool:
    """Is the map one that `group_as_map` returned?"""
    return isinstance(phase, Map) and not phase.frame


_maps: Final[dict[tuple[tuple[int, ...], tuple[ValueId, ...]], Map]] = {}
_MOST_MAPS: Final = 256


class _StencilFinder:
    def __init__(self, phases: Sequence[Phase], graph: Graph, live_out: AbstractSet[ValueId]) -> None:
        self.graph, self.live_out = graph, live_out
        self.users: dict[ValueId, list[Phase]] = {}
        self.constants = {position: p for position, p in enumerate(phases) if isinstance(p, Constant) and len(p.data) == 1}
        for phase in phases:
            for value in dict.fromkeys(traverse.uses(phase)):
                self.users.setdefault(value, []).append(phase)
        self.rotations: dict[ValueId, tuple[int, LibraryPhase]] = {}
        self.maker: dict[ValueId, _StencilGroup] = {}

    def visit(self, position: int, phase: Phase) -> None:
        if isinstance(phase, LibraryPhase) and self.is_rotation(phase):
            self.rotations[phase.results[0]] = position, phase
            return
        group = self.join(position, phase) if isinstance(phase, Structured) and self.qualifies(phase) else None
        for value in traverse.uses(phase):
            maker = self.maker.get(value)
            if maker is not None and maker is not group and maker.limit is None:
                maker.limit = position

    def constants_of(self, group: _StencilGroup) -> dict[int, Constant]:
        """The constants that only members of the group read, by position."""
        ids = {member.id for member in group.members.values()}
        constants: dict[int, Constant] = {}
        for position, constant in self.constants.items():
            users = self.users.get(constant.result, [])
            if users and constant.result not in self.live_out and ids.issuperset(user.id for user in users):
                constants[position] = constant
        return constants

    def is_rotation(self, phase: LibraryPhase) -> bool:
        """Is the phase a rotation that only phases which qualify read?"""
        if phase.op != "rotate" or phase.attributes.get("frame"):
            return False
        (result,) = phase.results
        users = self.users.get(result, [])
        return result not in self.live_out and all(isinstance(user, Structured) and self.qualifies(user) for user in users)

    def space(self, value: ValueId) -> Numbers | None:
        sizes = [size.constant for size in self.graph.types[value].shape]
        return None if None in sizes else tuple(int(n) for n in sizes if n is not None)

    def qualifies(self, phase: Structured) -> bool:
        if not phase.axes or not phase.results or has_reduction(phase) or body_may_fail(phase.body):
            return False
        if any(result.value in self.graph.roots for result in phase.results):
            return False
        if all(isinstance(phase.body[result.node], ReadNode) for result in phase.results):
            return False  # a view costs nothing
        space = self.space(phase.results[0].value)
        return space is not None and prod(space) >= STENCIL_MIN_ITEMS

    def join(self, position: int, phase: Structured) -> _StencilGroup | None:
        """The group that the phase joins, which may be new and include the rotations that the phase reads; None if there is
        none."""
        space = self.space(phase.results[0].value)
        assert space is not None
        rotations = [self.rotations[read.value] for read in phase.reads if read.value in self.rotations]
        waiting = {at: rotation for at, rotation in rotations if rotation.results[0] not in self.maker}
        near = [*(read.value for read in phase.reads), *(rotation.args[0] for rotation in waiting.values())]
        groups = {id(group): group for value in near if (group := self.maker.get(value)) is not None and group.space == space}
        chosen: list[_StencilGroup] = []
        joined = self.joined(space, chosen, waiting, position, phase)
        for group in sorted(groups.values(), key=lambda group: -max(group.members)):  # the latest first
            larger = self.joined(space, [*chosen, group], waiting, position, phase)
            if larger is not None:
                chosen, joined = [*chosen, group], larger
        if joined is None:
            return None
        for member in joined.members.values():
            self.maker.update(dict.fromkeys(traverse.results(member), joined))
        for rotation in waiting.values():
            maker = self.maker.get(rotation.args[0])
            if maker is not None and maker is not joined and maker.limit is None:
                maker.limit = position
        return joined

    def joined(
        self, space: Numbers, groups: Sequence[_StencilGroup], waiting: dict[int, LibraryPhase], position: int, phase: Structured
    ) -> _StencilGroup | None:
        """The union of groups, a phase and the rotations that it reads; None if it is no group."""
        if (not groups and not waiting) or any(group.limit is not None for group in groups):
            return None
        union = _StencilGroup(space)
        for group in groups:
            union.members |= group.members
        union.members |= {**waiting, position: phase}
        union.members = dict(sorted(union.members.items()))
        inside = {value for member in union.members.values() for value in traverse.results(member)}
        sources = {value for member in union.members.values() for value in traverse.operands(member)}
        nodes = sum(len(member.body) for member in union.members.values() if isinstance(member, Structured))
        too_large = len(sources - inside) > STENCIL_MOST_SOURCES or nodes > STENCIL_MOST_NODES
        return union if not too_large and rows_are_independent(union.members.values()) else None


def rows_are_independent(members: Collection[Phase]) -> bool:
    """Does every member read values of the group only at its own row?"""
    rotated: dict[ValueId, ValueId] = {}
    inside, elsewhere = set[ValueId](), set[ValueId]()
    for member in members:
        inside.update(traverse.results(member))
        match member:
            case LibraryPhase():
                rotated[member.results[0]] = member.args[0]
                if member.attributes["axis"] == 0:
                    elsewhere.add(member.args[0])
            case Structured():
                elsewhere.update(rotated.get(read.value, read.value) for read in member.reads if read.projection.stages)
    return inside.isdisjoint(elsewhere)


# --------------------------------------------------------------------------------------------- element-wise loops
#
# A loop whose body is element-wise on its state, as one phase that is repeated for each element.
#
# The body qualifies if every phase in it is element-wise over the shape of the state and reads the state, and values computed
# from it, at the same point; values from outside may be read through any projection.  No phase may fail.
def merge_elementwise_loop(
    loop: Loop, kinds: Callable[[ValueId], Kind], shapes: Callable[[ValueId], tuple[Size, ...]]
) -> Structured | None:
    """One iteration as a phase: its first reads are the state, its results the next state.  None if the body is not
    element-wise."""
    params = loop.body.params
    if loop.keep or loop.until is not None or not loop.is_plain or not params or len(set(map(shapes, params))) != 1:
        return None
    shape = shapes(params[0])
    axes = tuple(Axis(size, AxisKind.PARALLEL) for size in shape)
    reads = [Read(value, IDENTITY) for value in params]
    body: list[Node] = [ReadNode(i, kinds(value)) for i, value in enumerate(params)]
    places: dict[ValueId, int] = {value: i for i, value in enumerate(params)}
    outside: dict[Read, int] = {}
    inside = {result.value for phase in loop.body.phases if isinstance(phase, Structured) for result in phase.results}
    for phase in loop.body.phases:
        if not isinstance(phase, Structured) or phase.axes != axes or any(r.reduction for r in phase.results):
            return None
        new_index: list[int] = []
        for node in phase.body:
            match node:
                case ReadNode():
                    read = phase.reads[node.index]
                    if read.value in places or read.value in inside:
                        if read.projection.stages or read.value not in places:
                            return None
                        new_index.append(places[read.value])
                        continue
                    if read not in outside:
                        outside[read] = len(body)
                        reads.append(read)
                        body.append(replace(node, index=len(reads) - 1))
                    new_index.append(outside[read])
                case ApplyNode():
                    if node.span is not None:
                        return None
                    body.append(replace(node, args=tuple(new_index[arg] for arg in node.args)))
                    new_index.append(len(body) - 1)
                case _:
                    body.append(node)
                    new_index.append(len(body) - 1)
        for result in phase.results:
            places[result.value] = new_index[result.node]
    if not all(value in places for value in loop.body.results):
        return None
    results = tuple(PhaseResult(r, places[v], None) for r, v in zip(loop.results, loop.body.results, strict=True))
    return Structured(loop.id, loop.span, axes, tuple(reads), tuple(body), results)


def flatten_loop(loop: Loop, merged: Structured, types: Mapping[ValueId, ArrayType]
                ) -> tuple[Loop, Mapping[ValueId, ArrayType]] | None:  # fmt: skip
    """The loop on flattened arrays: a loop whose state has one axis, and the types of its values.

    None if the state has one axis already, or if a value from outside is neither a scalar nor read at the same point."""
    if len(merged.axes) == 1 or any(isinstance(node, AxisNode) for node in merged.body):
        return None
    shape = tuple(axis.size for axis in merged.axes)
    for read in merged.reads:
        if types[read.value].shape and (read.projection.stages or types[read.value].shape != shape):
            return None
    flat = (prod(shape, start=number(1)),)
    states = {*loop.body.params, *loop.results}
    values = states.union(read.value for read in merged.reads if types[read.value].shape)
    body = replace(merged, axes=(Axis(flat[0], AxisKind.PARALLEL),))
    alone = replace(loop, body=SubGraph(loop.body.params, (body,), loop.results))
    return alone, {**types, **{value: replace(types[value], shape=flat) for value in values}}
