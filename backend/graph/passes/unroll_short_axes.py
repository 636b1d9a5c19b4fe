"""Unrolls axes of a few steps, so that the long axes are vectorised and intermediate values stay in registers.

Runs on a graph whose sizes are numbers:
  * a reduction of a short axis (`+/(x-y)*2` of points with three coordinates) becomes an element-wise phase whose body
    combines the steps in the order of sums (phases.md), which is a tree known here, or from the right; so it fuses with its
    readers;
  * a reduction with a short *parallel* axis (`+⌿` of vectors with three coordinates), where the operands that lack this axis
    are made by another phase, becomes one phase with a result for each step, stacked: what was made is read once and fuses.

Small spaces run on NumPy, where unrolling would only add calls, and stay as they are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from math import prod
from typing import Final

from ....lang.support.records import replace
from ....typechecker.elements import FUNCTIONS, SELECTIVE, ArrayType, Kind, is_sequential
from ....typechecker.sizes.polynomials import Size, number
from ...scalar.function_table import REDUCTIONS
from ..phases import (
    Affine,
    AffineIndex,
    ApplyNode,
    AxisNode,
    ConstantNode,
    Graph,
    LibraryPhase,
    Phase,
    PhaseId,
    PhaseResult,
    Read,
    ReadNode,
    Reshaped,
    Structured,
    SubGraph,
    ValueId,
    affine,
    axis_index,
    compose,
    constant_index,
    kind_of,
)
from ..registry import signature_of
from ..traverse import all_phases, axis_sizes, operands, subgraphs, with_subgraphs
from .fusion import MOST_NODES
from .rewriting import LONGEST_WINDOW, BodyBuilder, body_may_fail, has_reduction, is_sliding_window

MAX_REDUCE_STEPS: Final = 16
"""The most steps of a reduction that is unrolled."""
MAX_PARALLEL_STEPS: Final = 4
"""The most steps of a parallel axis that is unrolled."""
MIN_POINTS: Final = 1 << 13
"""The least points of a space for which unrolling pays (as `jit.tiering.SMALL`)."""
MOST_READS: Final = 40


def unroll_reductions(graph: Graph) -> Graph:
    """Returns the graph with reductions of short axes unrolled into bodies, except in chains along rows."""
    chained = _chained(graph)

    def change(phase: Phase) -> Phase:
        return _unrolled_reduction(phase) if isinstance(phase, Structured) and phase.id not in chained else phase

    return _mapped(graph, change)


def _chained(graph: Graph) -> set[PhaseId]:
    """The phases of chains along rows (`fusion_groups`), whose kernels keep a full short row in registers anyway."""
    from ..fusion_groups import find_chains

    blocks = [graph.phases, *(sub.phases for phase in all_phases(graph) for sub in subgraphs(phase))]
    return {member.id for block in blocks for chain in find_chains(block, graph, _is_plain) for member in chain.phases}


def unroll_parallel_axes(graph: Graph) -> Graph:
    """Returns the graph with short parallel axes of reductions unrolled into several results."""
    return _ParallelUnrolling(graph).graph()


def _mapped(graph: Graph, change: Callable[[Phase], Phase]) -> Graph:
    def block(phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        rewritten = tuple(change(with_subgraphs(phase, inside) if subgraphs(phase) else phase) for phase in phases)
        return phases if all(a is b for a, b in zip(rewritten, phases, strict=True)) else rewritten

    def inside(sub: SubGraph) -> SubGraph:
        phases = block(sub.phases)
        return sub if phases is sub.phases else replace(sub, phases=phases)

    phases = block(graph.phases)
    return graph if phases is graph.phases else replace(graph, phases=phases)


def _numbers(phase: Structured) -> tuple[int, ...] | None:
    """The sizes of the axes; None if one of them is a run-time size."""
    sizes = tuple(axis.size.constant for axis in phase.axes)
    known = tuple(int(size) for size in sizes if size is not None)
    return known if len(known) == len(sizes) else None


def _is_plain(phase: Structured) -> bool:
    """Can the phase be a kernel: no failures, complex numbers or characters?"""
    kinds = (kind_of(node) for node in phase.body)
    return not body_may_fail(phase.body) and not any(kind.is_complex or kind is Kind.CHAR for kind in kinds)


class _UnrolledStep:
    """Copies a phase's body at one step of an axis into a phase without that axis."""

    def __init__(self, phase: Structured, axis: int, builder: BodyBuilder) -> None:
        self.phase, self.axis, self.builder = phase, axis, builder
        self.space = tuple(size for other, size in enumerate(axis_sizes(phase.axes)) if other != axis)

    def index(self, axis: int) -> int:
        return axis - (axis > self.axis)

    def nodes_at(self, step: int) -> list[int]:
        """The nodes of one step, by index of the original node."""
        old = axis_sizes(self.phase.axes)
        indices: list[AffineIndex] = [
            constant_index(number(step)) if axis == self.axis else axis_index(self.index(axis)) for axis in range(len(old))
        ]
        path = affine(self.space, indices, old)
        nodes: list[int] = []
        for node in self.phase.body:
            match node:
                case ReadNode():
                    read = self.phase.reads[node.index]
                    moved = Read(read.value, compose(self.space, path, read.projection))
                    nodes.append(self.builder.read(moved, node))
                case AxisNode(axis) if axis == self.axis:
                    nodes.append(self.builder.add(ConstantNode(Kind.I64, step)))
                case AxisNode(axis):
                    nodes.append(self.builder.add(AxisNode(self.index(axis))))
                case ApplyNode():
                    nodes.append(self.builder.add(replace(node, args=tuple(nodes[arg] for arg in node.args))))
                case _:
                    nodes.append(self.builder.add(node))
        return nodes


# ------------------------------------------------------------------------------------ reductions


def _unrolled_reduction(phase: Structured) -> Structured:
    sizes = _numbers(phase)
    if not has_reduction(phase) or sizes is None or prod(sizes[:-1]) < MIN_POINTS:
        return phase
    steps = sizes[-1]
    longest, most_reads = (LONGEST_WINDOW, 2 * LONGEST_WINDOW) if is_sliding_window(phase) else (MAX_REDUCE_STEPS, MOST_READS)
    if not 1 <= steps <= longest or steps * (len(phase.body) + 1) > MOST_NODES or steps * len(phase.reads) > most_reads:
        return phase
    if not _is_plain(phase):
        return phase
    if not all(_can_unroll(result.reduction or "", kind_of(phase.body[result.node])) for result in phase.results):
        return phase
    builder = BodyBuilder()
    step = _UnrolledStep(phase, len(sizes) - 1, builder)
    places = [step.nodes_at(at) for at in range(steps)]
    results: list[PhaseResult] = []
    for result in phase.results:
        assert result.reduction is not None
        join = _tree if result.reduction in REDUCTIONS else _right_fold
        items = [step_nodes[result.node] for step_nodes in places]
        total = join(builder, result.reduction, kind_of(phase.body[result.node]), items)
        results.append(PhaseResult(result.value, total, None))
    unrolled = builder.finish(replace(phase, axes=phase.axes[:-1]), results)
    return phase if any(map(_copies_operand, unrolled.reads)) else unrolled


def _can_unroll(function: str, kind: Kind) -> bool:
    """Can a reduction with the function be unrolled?  Not a right fold whose result has another kind, as of `<` on numbers."""
    return function in REDUCTIONS or (is_sequential(function) and FUNCTIONS[function].result_kind(kind) is kind)


def _copies_operand(read: Read) -> bool:
    """Does the read reshape a part of an operand?  Then each step would copy that part."""
    return any(isinstance(stage, Reshaped) for stage in read.projection.stages[:-1])


def _tree(builder: BodyBuilder, function: str, kind: Kind, items: list[int]) -> int:
    """The reduction in the order of sums: the lanes of one block, combined by halving."""
    half = 1
    while 2 * half < len(items):
        half *= 2
    while len(items) > 1:
        joined = [builder.add(ApplyNode(function, pair, kind)) for pair in zip(items, items[half:], strict=False)]
        items = joined + items[len(joined) : half]
        half //= 2
    if function in SELECTIVE and kind.is_float:  # such reductions return +0.0 for a zero of either sign
        return builder.add(ApplyNode("add", (items[0], builder.add(ConstantNode(kind, 0.0))), kind))
    return items[0]


def _right_fold(builder: BodyBuilder, function: str, kind: Kind, items: list[int]) -> int:
    total = items[-1]
    for item in reversed(items[:-1]):
        total = builder.add(ApplyNode(function, (item, total), kind))
    return total


# ----------------------------------------------------------------------------------------- parallel axes


class _ParallelUnrolling:
    def __init__(self, graph: Graph) -> None:
        self.source = graph
        self.types: dict[ValueId, ArrayType] = dict(graph.types)
        self.uses: Counter[ValueId] = Counter()
        self.makers: dict[ValueId, Structured] = {}
        last = 0
        for phase in all_phases(graph):
            last = max(last, phase.id)
            self.uses.update(operands(phase))
            for sub in subgraphs(phase):
                self.uses.update(sub.results)
            if isinstance(phase, Structured) and not has_reduction(phase):
                self.makers.update((result.value, phase) for result in phase.results)
        self.next_phase, self.next_value = last + 1, max(graph.types, default=0) + 1

    def graph(self) -> Graph:
        phases = self.block(self.source.phases)
        return self.source if phases is self.source.phases else replace(self.source, phases=phases, types=self.types)

    def block(self, phases: tuple[Phase, ...]) -> tuple[Phase, ...]:
        rewritten: list[Phase] = []
        for phase in phases:
            if isinstance(phase, Structured) and (axis := self.unrollable_axis(phase)) is not None:
                rewritten += self.stacked(phase, axis)
            else:
                rewritten.append(with_subgraphs(phase, self.inside) if subgraphs(phase) else phase)
        same = len(rewritten) == len(phases) and all(a is b for a, b in zip(rewritten, phases, strict=True))
        return phases if same else tuple(rewritten)

    def inside(self, sub: SubGraph) -> SubGraph:
        phases = self.block(sub.phases)
        return sub if phases is sub.phases else replace(sub, phases=phases)

    def unrollable_axis(self, phase: Structured) -> int | None:
        """The parallel axis to unroll; None if there is none."""
        sizes = _numbers(phase)
        if not has_reduction(phase) or sizes is None or len(phase.results) != 1 or not _is_plain(phase):
            return None
        if any(map(_copies_operand, phase.reads)):
            return None
        result = phase.results[0]
        if result.reduction not in REDUCTIONS or result.value in self.source.roots:
            return None
        for axis, size in enumerate(sizes[:-1]):
            if not 2 <= size <= MAX_PARALLEL_STEPS or prod(sizes) // size < MIN_POINTS or sizes[-1] < MAX_REDUCE_STEPS:
                continue
            if size * len(phase.body) <= MOST_NODES and any(self.would_fuse(phase, read, axis) for read in phase.reads):
                return axis
        return None

    def would_fuse(self, phase: Structured, read: Read, axis: int) -> bool:
        """Would the producer fuse into the unrolled phase: is it read by this phase alone, and does it lack the axis?"""
        maker = self.makers.get(read.value)
        if maker is None or self.uses[read.value] != 1 or read.value in self.source.roots or not _is_plain(maker):
            return False
        if len(maker.results) != 1 or len(maker.axes) != len(phase.axes) - 1:
            return False
        mentioned = _varies(read, len(phase.axes))
        return axis not in mentioned and len(mentioned) == len(phase.axes) - 1

    def stacked(self, phase: Structured, axis: int) -> list[Phase]:
        (result,) = phase.results
        count = phase.axes[axis].size.constant
        assert count is not None and result.reduction is not None
        builder = BodyBuilder()
        step = _UnrolledStep(phase, axis, builder)
        type = self.types[result.value]
        shape: tuple[Size, ...] = (*type.shape[:axis], *type.shape[axis + 1 :])
        sides: list[PhaseResult] = []
        for at in range(int(count)):
            value = ValueId(self.next_value)
            self.next_value += 1
            self.types[value] = ArrayType(type.element, shape)
            sides.append(PhaseResult(value, step.nodes_at(at)[result.node], result.reduction))
        unrolled = builder.finish(replace(phase, axes=(*phase.axes[:axis], *phase.axes[axis + 1 :])), sides)
        stack = LibraryPhase(
            PhaseId(self.next_phase), phase.span, "stack", tuple(r.value for r in sides), (result.value,), {"axis": axis}, (), ()
        )
        self.next_phase += 1
        return [unrolled, replace(stack, signature=signature_of(stack, self.types))]


def _varies(read: Read, rank: int) -> frozenset[int]:
    """The axes that a read depends on; all axes unless the read has one affine stage."""
    stages = read.projection.stages
    if len(stages) != 1 or not isinstance(stages[0], Affine):
        return frozenset(range(rank))
    return frozenset(term.axis for index in stages[0].indices for term in index.terms)
