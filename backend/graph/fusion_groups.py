"""Groups of phases that run as one loop: chains along rows, stencil groups, and loops that are element-wise in their state.

The functions take the phases of one block and return the groups, each with the position in the block before which it runs.

Softmax is four phases (the greatest, the exponentials, their sum, the quotients) that would each go through memory.  Done one
row after the other, what a row goes through stays in the nearest cache, and what only the chain reads is never stored.

A chain has a *frame* (the axes of all but the last) and rows of one length.  Its members reduce rows, make elements, or compute
one number a row from such numbers (`Size`s are numbers here: chains are found when a plan is made).  Members read one another
at the point itself, or a row's number all along the row; nothing in them may fail.

Note [One body].  `joined` writes the members as one `Structured` that no graph contains: its axes are all parallel, the last one
being the row, and a reduction of the row is an application of `ALONG[reduction]` to one node.  Its value is the same for
the whole row, and so is a result that `is_row` names.

Note [Where a chain runs].  A chain runs as a whole: where its last member was, or before the first other phase that needs one
of its values.  Members after that place may join only if all they read is there already.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set as AbstractSet
from dataclasses import field, replace
from math import prod
from typing import Final, TypeAlias

from ...lang.support.records import dataclass
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, number
from ..scalar.function_table import REDUCTIONS
from . import traverse
from .passes.rewriting import LONGEST_WINDOW, BodyBuilder, body_may_fail, has_reduction, slides
from .phases import (
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
)
from .projections import IDENTITY, affine, axis_index, compose, may_fill

# ----------------------------------------------------------------------------------------- chains along rows

SHORTEST: Final = 32
"""Shorter rows are done side by side: where there are many, of at least `LEAST` items, and more than one reduction of them."""
ONE_ROW: Final = 256
"""Rows that are one row of lanes of the order of sums: a single reduction of them in an outer product (a table of distances) is
quicker by itself (`lower.body`, short axes)."""
LEAST: Final = 5
MANY: Final = 1 << 13
LONGEST: Final = 1 << 14
"""Items of a row that stay in the second cache with what is made of them."""
MOST_NODES: Final = 120
MOST_SOURCES: Final = 16
MOST_RESULTS: Final = 8

ALONG: Final = {name: f"along_{name}" for name in sorted(REDUCTIONS)}
"""The reduction of a row, as a function of one node."""

Numbers: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Chain:
    """`phases` in order; `at`: the place in the block before which it runs (see Note [Where a chain runs])."""

    phases: tuple[Structured, ...]
    at: int


@dataclass(frozen=True, slots=True)
class JoinedGroup:
    """The members as one body; `is_row` says of each result whether it has one item a row.  See Note [One body]."""

    phase: Structured
    is_row: tuple[bool, ...]


# --------------------------------------------------------------------------------------------- finding


@dataclass(slots=True)
class _Open:
    """A chain that may grow."""

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
    """The chains of a block, in the order of their places.  `is_known`: can all of a phase's body be done by rows?"""
    finder = _Finder(graph, is_known)
    for position, phase in enumerate(phases):
        finder.visit(position, phase)
    return finder.chains()


class _Finder:
    def __init__(self, graph: Graph, is_known: Callable[[Structured], bool]) -> None:
        self.graph = graph
        self.is_known = is_known
        self.open: list[_Open] = []
        self.maker: dict[ValueId, _Open] = {}
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
        if not phase.reads or sizes is None or body_may_fail(phase.body) or (slides(phase) and sizes[-1] <= LONGEST_WINDOW):
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

    def join(self, position: int, phase: Structured) -> _Open | None:
        """The chain that the phase becomes part of, perhaps a new one."""
        sizes = _numbers(phase.axes)
        assert sizes is not None
        for chain in reversed(self.open):
            if self.fits(chain, phase, sizes):
                self.add(chain, position, phase, on_rows=sizes == chain.frame and not has_reduction(phase))
                return chain
        if sizes and _is_worth(sizes) and self.runs_along(phase):
            chain = _Open(sizes[:-1], sizes[-1])
            self.open.append(chain)
            self.add(chain, position, phase, on_rows=False)
            return chain
        return None

    def add(self, chain: _Open, position: int, phase: Structured, *, on_rows: bool) -> None:
        chain.members.append((position, phase))
        results = {r.value for r in phase.results}
        if has_reduction(phase) or on_rows:
            chain.rows |= results
            chain.reduces |= not on_rows
        else:
            chain.elements |= results
        chain.outside |= {(r.value, r.projection) for r in phase.reads if r.value not in chain.rows | chain.elements}
        chain.nodes += len(phase.body)

    def fits(self, chain: _Open, phase: Structured, sizes: Numbers) -> bool:
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
        """Do neighbours along the row lie next to each other, in values that lie in rows?"""
        last, moves_along = len(phase.axes) - 1, False
        for read in phase.reads:
            shape = self.graph.types[read.value].shape
            if not read.projection.stages:
                moves_along = True
                continue
            (stage,) = read.projection.stages
            if not isinstance(stage, Affine):
                moves_along = True  # another shape of what lies in rows
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
            product = len(chain.frame) > 1 and chain.length <= ONE_ROW and not chain.elements
            if once and (chain.length < SHORTEST or product):
                continue
            last = chain.members[-1][0]
            at = last if chain.limit is None else min(last, chain.limit)
            chains.append(Chain(tuple(phase for _, phase in chain.members), at))
        return sorted(chains, key=lambda chain: chain.at)


def _numbers(axes: Sequence[Axis]) -> Numbers | None:
    sizes = [axis.size.constant for axis in axes]
    return None if None in sizes else tuple(int(n) for n in sizes if n is not None)


def _is_plain(projection: Projection) -> bool:
    """One stage at most: steps along axes, or another shape."""
    return len(projection.stages) < 2


def _is_worth(sizes: Numbers) -> bool:
    """Are rows of these sizes long enough, or many?"""
    if sizes[-1] < SHORTEST:
        return sizes[-1] >= LEAST and prod(sizes) >= MANY
    return sizes[-1] <= LONGEST


def _along_rows(axes: Sequence[Axis]) -> Projection:
    """From a point to its row."""
    space = traverse.axis_sizes(tuple(axes))
    return affine(space, [axis_index(axis) for axis in range(len(axes) - 1)], space[:-1])


# --------------------------------------------------------------------------------------------- joining


def joined(phases: Sequence[Structured], wanted: Sequence[ValueId]) -> JoinedGroup:
    """The members as one body that makes the wanted values."""
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
                value_node = builder.add(ApplyNode(ALONG[result.reduction], (value_node,), node_kind(builder, value_node)))
            node_of[result.value] = value_node
            is_row[result.value] = on_rows or result.reduction is not None
    results = [PhaseResult(value, node_of[value], None) for value in wanted]
    merged = builder.finish(replace(widest, axes=axes), results)
    return JoinedGroup(merged, tuple(is_row[value] for value in wanted))


def levels(phase: Structured) -> list[int]:
    """Of each node of a joined body, how many reductions of the row must be known before it."""
    node_levels: list[int] = []
    for node in phase.body:
        args = node.args if isinstance(node, ApplyNode) else ()
        level = max((node_levels[arg] for arg in args), default=0)
        node_levels.append(level + (isinstance(node, ApplyNode) and node.function.startswith("along_")))
    return node_levels


def may_write_over(chain: JoinedGroup) -> bool:
    """May the first result be written over an operand of its shape?  Only if it is made in the last sweep over the row, and
    rows are not done side by side (some twice)."""
    if chain.is_row[0] or (chain.phase.axes[-1].size.constant or 0) < SHORTEST:
        return False
    body, level = chain.phase.body, levels(chain.phase)
    reduced = [level[node.args[0]] for node in body if isinstance(node, ApplyNode) and node.function.startswith("along_")]
    element_levels = [level[r.node] for r, on_row in zip(chain.phase.results, chain.is_row, strict=True) if not on_row]
    return element_levels[0] >= max([*reduced, *element_levels])


def node_kind(builder: BodyBuilder, index: int) -> Kind:
    return getattr(builder.nodes[index], "kind", Kind.I64)


# ------------------------------------------------------------------------------------------------ stencil groups
#
# Stencils: rotations and the element-wise phases that read them, as one loop nest.
#
# A rotation by itself is a copy of its operand.  In a loop program it is an index, so a stencil in whole-array words
# (`(1⊖x)+¯1⊖x`) goes through memory once.  A *group* is such phases with results of one shape.  None of them reads what the group
# makes in another row (along the first axis): its rows are independent, and what only the group reads is there for one row at a
# time.
#
# Members are Structured phases without reductions, none of which may fail, rotations that only these read, and the constants (how
# far) that only members read.

STENCIL_LEAST: Final = 1 << 16
"""Items of a space whose phases are worth it: of fewer all stays in the caches."""
STENCIL_MOST_NODES: Final = 120
STENCIL_MOST_SOURCES: Final = 16
STENCIL_MOST_RESULTS: Final = 8



@dataclass(slots=True)
class _StencilGroup:
    """`members` by position in the block; `limit`: the position of the first other phase that reads what they make."""

    space: Numbers
    members: dict[int, Phase] = field(default_factory=dict)
    limit: int | None = None


def find_groups(phases: Sequence[Phase], graph: Graph, live_out: AbstractSet[ValueId]) -> list[tuple[int, tuple[Phase, ...]]]:
    """Groups with the places in the block before which they run; values in `live_out` are read after it."""
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


def as_map(members: Sequence[Phase], wanted: tuple[ValueId, ...]) -> Map:
    """A group as a map of one cell, which no graph contains; the same one for the same phases, since code is kept with it."""
    key = tuple(map(id, members)), wanted
    cached = _maps.get(key)
    if cached is None or any(old is not new for old, new in zip(cached.body.phases, members, strict=True)):
        while len(_maps) >= _MOST_MAPS:
            _maps.pop(next(iter(_maps)), None)
        last = members[-1]
        cached = _maps[key] = Map(last.id, last.span, (), (), (), wanted, SubGraph((), tuple(members), wanted))
    return cached


def is_group(phase: Phase) -> bool:
    """Is it what `as_map` made?"""
    return isinstance(phase, Map) and not phase.frame


_maps: Final[dict[tuple[tuple[int, ...], tuple[ValueId, ...]], Map]] = {}
_MOST_MAPS: Final = 256


class _StencilFinder:
    def __init__(self, phases: Sequence[Phase], graph: Graph, live_out: AbstractSet[ValueId]) -> None:
        self.graph, self.kept = graph, live_out
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
        """By their places."""
        ids = {member.id for member in group.members.values()}
        constants: dict[int, Constant] = {}
        for position, constant in self.constants.items():
            users = self.users.get(constant.result, [])
            if users and constant.result not in self.kept and ids.issuperset(user.id for user in users):
                constants[position] = constant
        return constants

    def is_rotation(self, phase: LibraryPhase) -> bool:
        """One that only maps read."""
        if phase.op != "rotate" or phase.attributes.get("frame"):
            return False
        (result,) = phase.results
        users = self.users.get(result, [])
        return result not in self.kept and all(isinstance(user, Structured) and self.qualifies(user) for user in users)

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
        return space is not None and prod(space) >= STENCIL_LEAST

    def join(self, position: int, phase: Structured) -> _StencilGroup | None:
        """The group that the phase becomes part of, perhaps a new one of rotations that it reads."""
        space = self.space(phase.results[0].value)
        assert space is not None
        rotations = [self.rotations[read.value] for read in phase.reads if read.value in self.rotations]
        waiting = {at: rotation for at, rotation in rotations if rotation.results[0] not in self.maker}
        near = [*(read.value for read in phase.reads), *(rotation.args[0] for rotation in waiting.values())]
        groups = {id(group): group for value in near if (group := self.maker.get(value)) is not None and group.space == space}
        chosen: list[_StencilGroup] = []
        joined = self.joined(space, chosen, waiting, position, phase)
        for group in sorted(groups.values(), key=lambda group: -max(group.members)):  # what was made last first
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

    def joined(self, space: Numbers, groups: Sequence[_StencilGroup], waiting: dict[int, LibraryPhase], position: int,
        phase: Structured
               ) -> _StencilGroup | None:  # fmt: skip
        """Groups and a phase, with the rotations that it reads, as one; None if they cannot be."""
        if (not groups and not waiting) or any(group.limit is not None for group in groups):
            return None
        union = _StencilGroup(space)
        for group in groups:
            union.members |= group.members
        union.members |= {**waiting, position: phase}
        union.members = dict(sorted(union.members.items()))
        rotated: dict[ValueId, ValueId] = {}
        inside, elsewhere, sources, nodes = set[ValueId](), set[ValueId](), set[ValueId](), 0
        for member in union.members.values():
            inside.update(traverse.results(member))
            sources.update(traverse.operands(member))
            match member:
                case LibraryPhase():
                    rotated[member.results[0]] = member.args[0]
                    if member.attributes["axis"] == 0:
                        elsewhere.add(member.args[0])
                case Structured():
                    nodes += len(member.body)
                    elsewhere.update(rotated.get(read.value, read.value) for read in member.reads if read.projection.stages)
        too_large = len(sources - inside) > STENCIL_MOST_SOURCES or nodes > STENCIL_MOST_NODES
        return union if inside.isdisjoint(elsewhere) and not too_large else None


# --------------------------------------------------------------------------------------------- element-wise loops
#
# A loop whose body is element-wise on its state, as one phase that is repeated for each element.
#
# The body qualifies if every phase in it is element-wise over the shape of the state and reads the state, and what was computed
# from it, at the point itself; values from outside may be read anyhow.  Nothing in it may fail.

def merge_loop(loop: Loop, kinds: Callable[[ValueId], Kind], shapes: Callable[[ValueId], tuple[Size, ...]]) -> Structured | None:
    """One turn as a phase: its first reads are the state, its results the next state.  None: the body is of another sort."""
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


def on_one_axis(loop: Loop, merged: Structured, types: Mapping[ValueId, ArrayType]
                ) -> tuple[Loop, Mapping[ValueId, ArrayType]] | None:  # fmt: skip
    """The same of arrays whose items are side by side: a loop whose state has one axis, and the types of its values.

    None: the state has one axis, or what is read from outside is not items in the same places, or items of rank 0."""
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
