"""Masked reductions: `+/m/x` of integers sums `x` where the mask holds and 0 elsewhere, without selecting, and `≢m/x` counts the
mask.

The pass also rewrites inside maps; a map without a run-time size left is batched then (`sink_into_maps.batch_maps`).

Only reductions that are exact in any order qualify, since the order of float sums depends on which items are selected.  The
selection is dropped, so every reader must be such a reduction, with little arithmetic, along the selected axis.  If something
else uses the number of selected items, the mask is counted.

Selections are also divided into runs of items, for plans that cut them: see the section at the end.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from typing import Final

from ....lang.support.records import dataclass, replace
from ....typechecker.core.operations import Payload
from ....typechecker.elements import FUNCTIONS, ArrayType, Element, Kind, is_ordered, neutral_element
from ....typechecker.sizes.polynomials import Size, SizeVariable, number, variable as size_of
from ...scalar.function_table import LIGHT, REDUCTIONS
from ..phases import (
    IDENTITY,
    Affine,
    AffineIndex,
    ApplyNode,
    Axis,
    AxisKind,
    AxisNode,
    Branch,
    ConstantNode,
    Graph,
    LibraryPhase,
    Node,
    Phase,
    PhaseId,
    PhaseResult,
    Projection,
    Read,
    ReadNode,
    SizeNode,
    Structured,
    SubGraph,
    Term,
    ValueId,
    affine,
    axis_index,
    frame_of,
    kind_of,
    simplify,
)
from ..registry import SCAN_BLOCK, signature_of
from ..traverse import all_phases, axis_sizes, fresh_id, results, sizes, subgraphs, uses, with_subgraphs
from .folding import fold_views
from .fusion import fuse, join_siblings
from .rewriting import body_may_fail
from .sink_into_maps import batch_maps

_MOST_NODES: Final = 12
"""Larger bodies cost less on the selected items alone."""
_COUNTED: Final = frozenset({"compress", "where"})


def reduce_by_masks(graph: Graph) -> Graph:
    """Returns the graph with reductions of masked selections rewritten to masked reductions."""
    rewriter = _Masked(graph)
    phases = rewriter.block(graph.phases, ())
    if phases is graph.phases:
        return graph
    phases = batch_maps(phases, rewriter.types)
    names = {value: name for value, name in graph.names.items() if value in rewriter.types}
    return join_siblings(fuse(fold_views(replace(graph, phases=phases, types=rewriter.types, names=names))))


class _Masked:
    def __init__(self, graph: Graph) -> None:
        self.graph, self.types = graph, dict(graph.types)
        self.guarded = {variable for guard in graph.guards for variable in guard.variables()}
        self.counted: set[PhaseId] = set()
        self.values = _defined(graph.phases)
        self.next_value = max(self.types, default=0) + 1
        self.next_phase = max((phase.id for phase in all_phases(graph)), default=0) + 1

    def block(self, phases: tuple[Phase, ...], wanted: tuple[ValueId, ...]) -> tuple[Phase, ...]:
        """The phases of a block whose results are `wanted`; the same object if nothing changed.

        Arms of branches stay as they are, since the run-time sizes that they define are visible outside."""
        inner = tuple(phase if isinstance(phase, Branch) else with_subgraphs(phase, self.subgraph) for phase in phases)
        rewritten = phases if all(a is b for a, b in zip(inner, phases, strict=True)) else inner
        for phase in rewritten:
            if not isinstance(phase, LibraryPhase) or phase.op not in _COUNTED or frame_of(phase) or len(phase.defines) != 1:
                continue
            without = None if phase.results[0] in wanted else self.without_selection(rewritten, phase)
            if without is not None:
                rewritten = without
                self.forget(phase.defines[0], self.values - _defined(phases) | _defined(rewritten))
        return rewritten if rewritten is phases else self.with_numbers(rewritten)

    def subgraph(self, sub: SubGraph) -> SubGraph:
        phases = self.block(sub.phases, sub.results)
        return sub if phases is sub.phases else replace(sub, phases=phases)

    def without_selection(self, phases: tuple[Phase, ...], selection: LibraryPhase) -> tuple[Phase, ...] | None:
        """The phases with the readers of a selection rewritten to masked reductions; None if some reader cannot be."""
        (value,), mask, (variable,) = selection.results, selection.args[0], selection.defines
        mask_shape = self.types[mask].shape
        if value in self.graph.roots or len(mask_shape) != 1:
            return None
        rewritten: list[Phase] = []
        for phase in phases:
            if phase is selection or value not in uses(phase):
                rewritten.append(phase)
            elif isinstance(phase, Structured) and (reader := self.reader(phase, selection, mask_shape[0])) is not None:
                rewritten.append(reader)
            else:
                return None
        others = [inner for phase in rewritten if phase is not selection for inner in all_phases(SubGraph((), (phase,), ()))]
        position = rewritten.index(selection)
        is_wanted = any(variable in size.variables() for size in self.mentioned(others, _defined(others)))
        counted = is_wanted or variable in self.guarded
        rewritten[position : position + 1] = self.count(selection, mask, mask_shape[0]) if counted else []
        return tuple(rewritten)

    def forget(self, variable: SizeVariable, alive: Set[ValueId]) -> None:
        """Drop the types that mention a size which no phase defines any more, including those of values that earlier passes fused
        away."""
        for other, type in list(self.types.items()):
            if other not in alive and any(variable in size.variables() for size in type.shape):
                del self.types[other]

    def mentioned(self, phases: Iterable[Phase], values: Iterable[ValueId]) -> list[Size]:
        return [size for phase in phases for size in sizes(phase)] + [size for v in values for size in self.types[v].shape]

    def with_numbers(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        """Read the count as a value instead of a run-time size where no shape mentions that size any more."""
        for phase in phases:
            if not isinstance(phase, LibraryPhase) or phase.id not in self.counted:
                continue
            (variable,), every = phase.defines, [p for p in all_phases(SubGraph((), phases, ())) if p is not phase]
            numbers = [n.size for p in every if isinstance(p, Structured) for n in p.body if isinstance(n, SizeNode)]
            mentions = [size for size in self.mentioned(every, _defined(every)) if variable in size.variables()]
            if variable not in self.guarded and mentions == [size_of(variable)] * numbers.count(size_of(variable)):
                phases = tuple(_with_size_value(p, variable, phase.args[0]) for p in phases if p is not phase)
        return phases

    def count(self, selection: LibraryPhase, mask: ValueId, length: Size) -> list[Phase]:
        """The phases that count the mask and define the selection's size by it."""
        value = ValueId(self.next_value)
        self.next_value += 1
        self.types[value] = ArrayType(Element(Kind.I64), ())
        axes, reads = (Axis(length, AxisKind.REDUCE),), (Read(mask, Projection(())),)
        body = (ReadNode(0, Kind.BOOL), ApplyNode("convert", (0,), Kind.I64))
        counting = Structured(self.phase_id(), selection.span, axes, reads, body, (PhaseResult(value, 1, "add"),))
        self.counted.add(PhaseId(self.next_phase))
        size = LibraryPhase(self.phase_id(), selection.span, "runtime_size", (value,), (), {}, selection.defines, ())
        return [counting, size]

    def phase_id(self) -> PhaseId:
        self.next_phase += 1
        return PhaseId(self.next_phase - 1)

    # ------------------------------------------------------------------------------------------ readers

    def reader(self, phase: Structured, selection: LibraryPhase, length: Size) -> Structured | None:
        """The masked reduction over all items for a reduction of the selected items; None if it is not exact or not light."""
        if selection.op != "compress" or not phase.axes or not _is_light(phase.body):
            return None
        over_all = over_all_items(phase, {selection.results[0]: selection}, self.types)
        blanks = [_neutral(result, kind_of(phase.body[result.node]), selection.defines[0]) for result in phase.results]
        return None if over_all is None or None in blanks else _masked(over_all, selection.args[0], blanks)


def over_all_items(
    phase: Structured, selections: Mapping[ValueId, LibraryPhase], types: Mapping[ValueId, ArrayType]
) -> Structured | None:
    """The reduction of items selected by one mask, over all items that they are selected from; None if they are not reduced
    along the selected axis, or are told apart there.

    `selections`: by their results, all with one mask and along one axis."""
    (selection, *_), last = selections.values(), len(phase.axes) - 1
    (variable,), axis = selection.defines, _axis(selection)
    length = types[selection.args[0]].shape[0]
    if phase.axes[last].kind is not AxisKind.REDUCE:
        return None
    if any(isinstance(n, SizeNode) and variable in n.size.variables() for n in phase.body):
        return None  # only one device would know the size, but the reduction may be cut over several
    if phase.axes[last].size != types[selection.results[0]].shape[axis] or any(
        isinstance(n, AxisNode) and n.axis == last for n in phase.body
    ):
        return None
    axes = (*phase.axes[:last], replace(phase.axes[last], size=length))
    old, new = axis_sizes(phase.axes), axis_sizes(axes)
    reads: list[Read] = []
    for read in phase.reads:
        if read.value not in selections:
            if _depends_on_axis(read.projection, last):
                return None
            reads.append(read)
            continue
        source = selections[read.value].args[1]
        if not read.projection.stages:
            if axis != last or types[read.value].shape != old or types[source].shape != new:
                return None
            reads.append(Read(source, read.projection))
            continue
        moved = _widened(read.projection, axis, last, length)
        if moved is None or types[source].shape[axis] != length:
            return None
        reads.append(Read(source, moved))
    return replace(phase, axes=axes, reads=tuple(reads))


def _masked(phase: Structured, mask: ValueId, blanks: Sequence[Payload | None]) -> Structured:
    """The reduction of `over_all_items` with the blank of each result where the mask does not hold."""
    last, body = len(phase.axes) - 1, list(phase.body)
    body.append(ReadNode(len(phase.reads), Kind.BOOL))
    held = Read(mask, affine(axis_sizes(phase.axes), [axis_index(last)], (phase.axes[last].size,)))
    chosen, masked = len(body) - 1, list[PhaseResult]()
    for result, blank in zip(phase.results, blanks, strict=True):
        kind = kind_of(phase.body[result.node])
        assert blank is not None
        body.append(ConstantNode(kind, blank))
        body.append(ApplyNode("select", (chosen, result.node, len(body) - 1), kind))
        masked.append(replace(result, node=len(body) - 1))
    return replace(phase, reads=(*phase.reads, held), body=tuple(body), results=tuple(masked))


def _defined(phases: Iterable[Phase]) -> set[ValueId]:
    """The values that phases define, also in their sub-graphs."""
    every = list(all_phases(SubGraph((), tuple(phases), ())))
    return {value for p in every for value in (*results(p), *(param for sub in subgraphs(p) for param in sub.params))}


def _with_size_value(phase: Phase, variable: SizeVariable, value: ValueId) -> Phase:
    """The phase and those inside it reading `value` where their bodies mention the size."""

    def inside(sub: SubGraph) -> SubGraph:
        return replace(sub, phases=tuple(_with_size_value(p, variable, value) for p in sub.phases))

    phase = with_subgraphs(phase, inside)
    if not isinstance(phase, Structured) or SizeNode(size_of(variable)) not in phase.body:
        return phase
    read = Read(value, affine(axis_sizes(phase.axes), (), ()))
    new = ReadNode(len(phase.reads), Kind.I64)
    body = tuple(new if node == SizeNode(size_of(variable)) else node for node in phase.body)
    return replace(phase, reads=(*phase.reads, read), body=body)


def _axis(selection: LibraryPhase) -> int:
    axis = selection.attributes.get("axis", 0)
    assert isinstance(axis, int)
    return axis


def _is_light(body: Sequence[Node]) -> bool:
    if len(body) > _MOST_NODES or body_may_fail(body):
        return False
    return all(n.function in LIGHT for n in body if isinstance(n, ApplyNode))


def _neutral(result: PhaseResult, kind: Kind, variable: SizeVariable) -> Payload | None:
    """The reduction's neutral value.  None if the order of items matters, or if there is none and the selection may be empty."""
    function = result.reduction or ""
    if kind.is_complex or kind is Kind.CHAR or function not in REDUCTIONS or is_ordered(function, kind):
        return None
    if FUNCTIONS[function].identity is None and variable.minimum < 1:
        return None
    value = neutral_element(function, kind)
    return bool(value) if kind is Kind.BOOL else value


def _depends_on_axis(projection: Projection, axis: int) -> bool:
    """May the element that is read depend on the axis?"""
    first = projection.stages[0] if projection.stages else None
    return not isinstance(first, Affine) or any(term.axis == axis for index in first.indices for term in index.terms)


def _widened(projection: Projection, axis: int, last: int, length: Size) -> Projection | None:
    """The projection into the unselected operand, whose `axis` has `length` items and is indexed by the reduce axis alone."""
    if len(projection.stages) != 1:
        return None
    (stage,) = projection.stages
    if not isinstance(stage, Affine) or stage.fills:
        return None
    for position, index in enumerate(stage.indices):
        terms = [(term.axis, term.coefficient) for term in index.terms]
        if (position == axis) != any(term_axis == last for term_axis, _ in terms):
            return None
        if position == axis and (terms != [(last, 1)] or index.constant.constant != 0):
            return None
    shape = (*stage.shape[:axis], length, *stage.shape[axis + 1 :])
    return Projection((replace(stage, shape=shape),))


# ----------------------------------------------------------------------------------------- selections in two passes
#
# Selections by a mask in runs of items, which can be cut.  The true items of each run are counted.
#
# A reduction of selected items needs no selection: one that is exact in any order goes over all items, masked.  One that follows
# the order of sums continues it: what is selected before a run says where in a block the run begins, so that the run has the
# partial results of the blocks that lie in it (`sum_runs`) beside the items of the first and the last block, which it shares with
# its neighbours; these are put together (`join_sums`).
#
# What else reads the selection gets it from the selected items of each run, padded (`select_runs`), put together (`join_runs`).

SELECTED_RUNS: Final = 64
"""The most runs of a selection."""
_FEWEST_SELECTED: Final = 1 << 16
"""The least items of a run: a run of sums has up to two blocks of items."""


def is_long_selection(phase: LibraryPhase, types: Mapping[ValueId, ArrayType]) -> bool:
    """Is this a selection of rows, of two runs or more?"""
    if phase.op != "compress" or frame_of(phase) or _axis(phase) or len(phase.defines) != 1:
        return False
    mask, source = (types[value].shape for value in phase.args)
    known = [size.constant or 0 for size in (*mask, *source)]
    return len(mask) == 1 and source[:1] == mask and 0 not in known and known[0] >= 2 * _FEWEST_SELECTED


def divide_selections(graph: Graph, chosen: Collection[PhaseId]) -> Graph:
    """The graph with these selections, which `is_long_selection` accepts, in two passes."""
    selections = {p.results[0]: p for p in graph.phases if isinstance(p, LibraryPhase) and p.id in chosen}
    return _Divided(graph, selections).graph() if selections else graph


@dataclass(slots=True)
class _Counted:
    """The runs of a mask: their length, how many true items each has (a value), and those before each, where that is known."""

    run: int
    counts: ValueId
    before: ValueId | None = None


class _Divided:
    def __init__(self, old: Graph, selections: Mapping[ValueId, LibraryPhase]) -> None:
        self.old, self.selections, self.types = old, selections, dict(old.types)
        self.fresh, self.counted, self.phases = fresh_id(old), dict[ValueId, _Counted](), list[Phase]()
        self.totals: dict[SizeVariable, ValueId] = {}
        self.reduced = {
            phase.id: over_all for phase in old.phases
            if isinstance(phase, Structured) and (over_all := self.over_all(phase)) is not None
        }  # fmt: skip
        others = [p for p in old.phases if p.id not in self.reduced and not selections.keys() & set(results(p))]
        read = {value for phase in others for value in uses(phase)}
        shapes = {variable for size in self.sizes_in(others) for variable in size.variables()}
        shapes |= {variable for guard in old.guards for variable in guard.variables()}
        self.wanted = {
            value for value, one in selections.items()
            if value in read or value in old.roots or not shapes.isdisjoint(one.defines)
        }  # fmt: skip
        self.defined = {variable for value in self.wanted for variable in selections[value].defines}

    def sizes_in(self, phases: Sequence[Phase]) -> Iterator[Size]:
        """The sizes that phases mention, but for numbers in bodies that are just a size."""
        for phase in all_phases(SubGraph((), tuple(phases), ())):
            mentioned, body = list(sizes(phase)), phase.body if isinstance(phase, Structured) else ()
            for node in body:
                if isinstance(node, SizeNode) and any(node.size == size_of(variable) for variable in node.size.variables()):
                    mentioned.remove(node.size)
            yield from mentioned
        yield from (size for value in _defined(phases) for size in self.types[value].shape)

    def graph(self) -> Graph:
        for phase in self.old.phases:
            if isinstance(phase, LibraryPhase) and phase.results and phase.results[0] in self.selections:
                self.select(phase)
            elif isinstance(phase, Structured) and phase.id in self.reduced:
                self.reduce(phase, self.reduced[phase.id])
            else:
                for variable, total in self.totals.items():
                    phase = _with_size_value(phase, variable, total)
                self.phases.append(phase)
        gone = self.selections.keys() - self.wanted
        types = {value: type for value, type in self.types.items() if value not in gone}
        names = {value: name for value, name in self.old.names.items() if value not in gone}
        return replace(self.old, phases=tuple(self.phases), types=types, names=names)

    def read_by(self, phase: Phase) -> dict[ValueId, LibraryPhase]:
        return {value: self.selections[value] for value in uses(phase) if value in self.selections}

    def over_all(self, phase: Structured) -> Structured | None:
        """The phase over all items, if it reduces items selected by one mask by functions whose results can be put together."""
        selected = self.read_by(phase)
        if not selected or len({one.args[0] for one in selected.values()}) > 1 or not phase.axes or body_may_fail(phase.body):
            return None
        (variable,) = next(iter(selected.values())).defines
        for result in phase.results:
            kind = kind_of(phase.body[result.node])
            is_sum = is_ordered(result.reduction or "", kind) and not kind.is_complex
            if not is_sum and _neutral(result, kind, variable) is None:
                return None
        return over_all_items(phase, selected, self.types)

    def value(self, kind: Kind, *shape: Size) -> ValueId:
        value = ValueId(self.fresh)
        self.fresh += 1
        self.types[value] = ArrayType(Element(kind), shape)
        return value

    def call(self, like: Phase, op: str, args: Iterable[ValueId], result: ValueId, **attributes: object) -> LibraryPhase:
        """Adds the library phase `op`."""
        phase = LibraryPhase(PhaseId(result), like.span, op, tuple(args), (result,), attributes, (), ())
        self.phases.append(replace(phase, signature=signature_of(phase, self.types)))
        return phase

    def runs(self, selection: LibraryPhase) -> _Counted:
        """The runs of its mask, counted by a phase that is added where there is none."""
        mask = selection.args[0]
        if mask not in self.counted:
            (length,) = self.types[mask].shape
            items = length.constant or 0
            run = -(-items // min(SELECTED_RUNS, items // _FEWEST_SELECTED))
            counts = self.value(Kind.I64, number(-(-items // run)))
            axes = (Axis(self.types[counts].shape[0], AxisKind.PARALLEL), Axis(number(run), AxisKind.REDUCE))
            item = AffineIndex((Term(0, run), Term(1, 1)), number(0))
            reads = (Read(mask, affine(axis_sizes(axes), [item], (length,), fills=True)),)
            body = (ReadNode(0, Kind.BOOL), ApplyNode("convert", (0,), Kind.I64))
            self.phases.append(Structured(PhaseId(counts), selection.span, axes, reads, body, (PhaseResult(counts, 1, "add"),)))
            self.counted[mask] = _Counted(run, counts)
        return self.counted[mask]

    def select(self, phase: LibraryPhase) -> None:
        runs, value = self.runs(phase), phase.results[0]
        count, type = self.types[runs.counts].shape[0], self.types[phase.args[1]]
        if value in self.wanted:
            padded = self.value(type.element.kind, count, number(runs.run), *type.shape[1:])
            self.types[padded] = replace(self.types[padded], element=type.element)
            self.call(phase, "select_runs", phase.args, padded, run=runs.run)
            joined = replace(phase, op="join_runs", args=(padded, runs.counts), attributes={})
            self.phases.append(replace(joined, signature=signature_of(joined, self.types)))
            return
        total, (variable,) = self.value(Kind.I64), phase.defines
        axes, body, sums = (Axis(count, AxisKind.REDUCE),), (ReadNode(0, Kind.I64),), (PhaseResult(total, 0, "add"),)
        self.phases.append(Structured(phase.id, phase.span, axes, (Read(runs.counts, IDENTITY),), body, sums))
        if variable not in self.defined:  # then only bodies mention the size, as a number
            self.totals[variable] = total

    def reduce(self, phase: Structured, over_all: Structured) -> None:
        (selection, *_) = self.read_by(phase).values()
        (variable,), reductions = selection.defines, list[Phase]()
        exact = [r for r in phase.results if not is_ordered(r.reduction or "", kind_of(phase.body[r.node]))]
        for result in phase.results:
            if result not in exact:
                self.sum(over_all, result, selection)
                reductions.append(self.phases.pop())
        if exact:
            blanks = [_neutral(r, kind_of(phase.body[r.node]), variable) for r in exact]
            reductions.append(_masked(replace(over_all, results=tuple(exact)), selection.args[0], blanks))
        *others, last = reductions
        self.phases += [*(replace(one, id=PhaseId(self.fresh + at)) for at, one in enumerate(others)), replace(last, id=phase.id)]
        self.fresh += len(others)

    def sum(self, over_all: Structured, result: PhaseResult, selection: LibraryPhase) -> None:
        """Adds the phases of one result that follows the order of sums."""
        runs, mask = self.runs(selection), selection.args[0]
        if runs.before is None:
            runs.before = self.value(Kind.I64, *self.types[runs.counts].shape)
            self.call(selection, "scan_before", (runs.counts,), runs.before, function="add", axis=0)
        kind, rows = kind_of(over_all.body[result.node]), _with_rows_first(over_all, result)
        (_, *cells), node = axis_sizes(rows.axes), rows.body[result.node]
        if isinstance(node, ReadNode) and not rows.reads[node.index].projection.stages and (
            self.types[rows.reads[node.index].value].shape == axis_sizes(rows.axes)
        ):
            items = rows.reads[node.index].value
        else:
            items = self.value(kind, *axis_sizes(rows.axes))
            self.phases.append(replace(rows, id=PhaseId(items), results=(PhaseResult(items, result.node, None),)))
        function = str(result.reduction)
        parts = self.value(kind, self.types[runs.counts].shape[0], number(2 * SCAN_BLOCK + runs.run // SCAN_BLOCK), *cells)
        self.call(selection, "sum_runs", (mask, items, runs.before), parts, function=function, run=runs.run)
        self.call(over_all, "join_sums", (parts, runs.counts), result.value, function=function)


def _with_rows_first(phase: Structured, result: PhaseResult) -> Structured:
    """The items of one result of a reduction before they are reduced, with the reduced axis as the first of the space."""
    last = len(phase.axes) - 1
    axes = tuple(Axis(axis.size, AxisKind.PARALLEL) for axis in (phase.axes[last], *phase.axes[:last]))

    def moved(axis: int) -> int:
        return 0 if axis == last else axis + 1

    def read(one: Read) -> Read:
        first, *stages = one.projection.stages or (_every_axis(phase),)
        assert isinstance(first, Affine)
        indices = [
            AffineIndex(tuple(sorted((Term(moved(t.axis), t.coefficient) for t in i.terms), key=lambda t: t.axis)), i.constant)
            for i in first.indices
        ]
        return Read(one.value, simplify(axis_sizes(axes), (replace(first, indices=tuple(indices)), *stages)))

    body = tuple(replace(node, axis=moved(node.axis)) if isinstance(node, AxisNode) else node for node in phase.body)
    return replace(phase, axes=axes, reads=tuple(map(read, phase.reads)), body=body, results=(result,))


def _every_axis(phase: Structured) -> Affine:
    """The identity as an affine stage."""
    return Affine(tuple(axis_index(axis) for axis in range(len(phase.axes))), axis_sizes(phase.axes))
