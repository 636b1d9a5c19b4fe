"""Lowers blocks of the typed core to the phase graph.

The core has no tuples.  Lifts are batched (`state`, Note [Batching]) or become maps (Note [Maps] below); views become
projections, element-wise ops bodies, and all other ops library phases (rows of `registry`).  The graph computes exactly what
`backend.reference` computes on the core, value for value.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ....lang.support.records import dataclass, field
from ....lang.syntax.source import Span
from ....lang.tree import program as program_tree
from ....typechecker.core import operations as c
from ....typechecker.core.operations import defined_sizes, results_of
from ....typechecker.elements import ArrayType
from ....typechecker.sizes.polynomials import SizeVariable
from ..passes.pipeline import lowered
from ..phases import Branch, Fold, Graph, Input, Loop, Map, Output, Phase, Print, SubGraph, ValueId
from . import library_phases, state as blocks, structured
from .state import BlockFacts, CarriedValue, FrameAxes, LoweringState, op_may_fail

# ----------------------------------------------------------------------------------------------- control flow
#
# Lowering of blocks: lifts become batched ops; loops, folds and branches become phases with sub-graphs.
#
# Note [Maps].  An op that cannot be batched runs cell by cell in a `Map` phase, which has as few ops as possible: an op whose
# result sizes or control depend on a cell (compress by a mask of the cell, a loop whose exit depends on the cell, a branch on the
# cell that is not a cheap selection) and, where it defines a size, the later ops of the block that mention that size.  Ops in
# between that do not depend on the group are lowered before it: under a frame all ops are pure (E602), so their order is free.

def lower_ops(state: LoweringState, ops: Sequence[c.Op], results: Sequence[c.ValueId]) -> None:
    """Lower a block's ops in order; ops that cannot be batched are collected into maps."""
    last: _LastMentions | None = None
    at = 0
    while at < len(ops):
        if not must_map(state, ops[at]):
            lower_op(state, ops[at])
            at += 1
            continue
        last = last or _LastMentions.of(ops, results, state.facts)
        at = _lower_group(state, ops, at, last)


def lower_op(state: LoweringState, op: c.Op) -> None:
    for part in structured.expanded(state, op):
        _lower_part(state, part)


def _lower_part(state: LoweringState, op: c.Op) -> None:
    match op:
        case c.Literal():
            structured.literal(state, op)
        case c.SizeVector():
            structured.size_vector(state, op)
        case c.Scalar():
            structured.scalar(state, op)
        case c.Iota():
            structured.iota(state, op)
        case c.IotaGrid():
            structured.iota_grid(state, op)
        case c.Reduce():
            structured.reduce(state, op)
        case c.Reshape():
            structured.reshape(state, op)
        case c.Transpose():
            structured.transpose(state, op)
        case c.Broadcast():
            structured.broadcast(state, op)
        case c.Reverse():
            structured.reverse(state, op)
        case c.Slice():
            structured.slice_(state, op)
        case c.SlidingWindows():
            structured.windows(state, op)
        case c.MapCells():
            lift(state, op)
        case c.CoreLoop():
            loop(state, op)
        case c.CoreBranch():
            branch(state, op)
        case c.CoreFold() | c.FoldScan():
            fold(state, op)
        case c.Invoke():
            attributes = {"callee": lowered(op.function, lower), "sizes": op.sizes}
            library_phases.lower_framed(
                state, "call", op.results, op.args, attributes, may_fail=op_may_fail(op), defines=op.defines
            )
        case c.CorePrint():
            state.emit(Print(state.phase_id(), state.span(op.arg), state.get(op.arg).value))
        case _:
            if not library_phases.lower_library(state, op):
                raise AssertionError(f"no lowering for {type(op).__name__}")


def lift(state: LoweringState, op: c.MapCells) -> None:
    """Lower the body over the frame; the lift itself becomes no phase."""
    depth = len(state.frame)
    state.frame.extend(op.frame)
    axes = tuple(range(depth, len(state.frame)))
    for param, arg, count in zip(op.body.params, op.args, op.frames, strict=True):
        carried = state.get(arg)
        state.bound[param] = CarriedValue(carried.value, carried.frame + axes[:count])
        if not count and arg in state.constants:
            state.constants[param] = state.constants[arg]
        if not count and arg in state.literals:
            state.literals[param] = state.literals[arg]
    lower_ops(state, op.body.ops, op.body.results)
    for result, inner in zip(op.results, op.body.results, strict=True):
        carried = state.get(inner)
        outer = tuple(a for a in carried.frame if a < depth)
        value = state.carry(carried, outer + axes, state.span(result))
        state.bound[result] = CarriedValue(value, outer)
    del state.frame[depth:]


def loop(state: LoweringState, op: c.CoreLoop) -> None:
    span = state.span(op.results[0])
    frame = state.union(state.facts.free_values(op), may_fail=state.facts.may_fail(op))
    initial = tuple(state.carry(state.get(v), frame, span) for v in op.initial)
    cells = tuple(_folded(state, v, frame, span) for v in op.cells)
    body = _subgraph(state, op.body, frame, span)
    until = None if op.until is None else _subgraph(state, op.until, frame, span)
    results, moved = _results(state, op.results, frame, stacked=op.keep)
    state.emit(Loop(state.phase_id(), span, op.trip, initial, results, body, until, op.keep, cells, op.index, op.needs_iteration))
    _move_axis(state, moved, frame, span)


def branch(state: LoweringState, op: c.CoreBranch) -> None:
    span = state.span(op.results[0]) if op.results else state.span(op.condition)
    if state.get(op.condition).frame:  # selectable; otherwise it is in a map (`must_map`)
        lower_ops(state, op.then.ops, op.then.results)
        lower_ops(state, op.otherwise.ops, op.otherwise.results)
        for result, then, otherwise in zip(op.results, op.then.results, op.otherwise.results, strict=True):
            structured.scalar(state, c.Scalar(result, "select", (op.condition, then, otherwise)))
        return
    frame = state.union(state.facts.free_values(op), may_fail=state.facts.may_fail(op))
    arms = [_subgraph(state, arm, frame, span) for arm in (op.then, op.otherwise)]
    results = tuple(state.define(r, frame) for r in op.results)
    condition = state.get(op.condition).value
    state.emit(Branch(state.phase_id(), span, condition, results, arms[0], arms[1], op.sizes, op.needs_condition))


def fold(state: LoweringState, op: c.CoreFold | c.FoldScan) -> None:
    """Lower a fold with the folded axis in front of the frame, so that the body's state carries the frame."""
    span = state.span(op.results[0])
    scan = isinstance(op, c.FoldScan)
    frame = state.union(state.facts.free_values(op), may_fail=state.facts.may_fail(op))
    args = tuple(_folded(state, arg, frame, span) for arg in op.args)
    body = _subgraph(state, op.body, frame, span)
    results, moved = _results(state, op.results, frame, stacked=scan)
    state.emit(Fold(state.phase_id(), span, args, results, body, scan))
    _move_axis(state, moved, frame, span)


def _folded(state: LoweringState, arg: c.ValueId, frame: FrameAxes, span: Span) -> ValueId:
    """An operand over which a loop or fold iterates, with its leading axis in front of the frame."""
    value = state.carry(state.get(arg), frame, span)
    rank = len(state.types[value].shape)
    return state.permute(value, [len(frame), *range(len(frame)), *range(len(frame) + 1, rank)], span)


# ------------------------------------------------------------------------------------------ sub-graphs


@contextmanager
def _nested_block(state: LoweringState) -> Iterator[list[Phase]]:
    outer = state.phases
    state.phases = []
    yield state.phases
    state.phases = outer


def _subgraph(state: LoweringState, block: c.Block, frame: FrameAxes, span: Span) -> SubGraph:
    """A body whose params and results carry `frame`."""
    with _nested_block(state) as phases:
        params = tuple(state.define(p, frame) for p in block.params)
        lower_ops(state, block.ops, block.results)
        results = tuple(state.carry(state.get(r), frame, span) for r in block.results)
    return SubGraph(params, tuple(phases), results)


def _results(state: LoweringState, results: Sequence[c.ValueId], frame: FrameAxes, *, stacked: bool
             ) -> tuple[tuple[ValueId, ...], list[tuple[ValueId, ValueId]]]:  # fmt: skip
    """The phase's results, and pairs (raw, final) that `_move_axis` still has to permute.

    `stacked`: the phase writes the axis of iterations in front of the frame, where the core has it behind."""
    if not stacked or not frame:
        return tuple(state.define(r, frame) for r in results), []
    pairs: list[tuple[ValueId, ValueId]] = []
    for result in results:
        type = state.type(result)
        raw = state.fresh(ArrayType(type.element, type.shape[:1] + state.sizes(frame) + type.shape[1:]))
        pairs.append((raw, state.define(result, frame)))
    return tuple(raw for raw, _ in pairs), pairs


def _move_axis(state: LoweringState, moved: Sequence[tuple[ValueId, ValueId]], frame: FrameAxes, span: Span) -> None:
    for raw, final in moved:
        rank, depth = len(state.types[raw].shape), len(frame)
        state.permute(raw, [*range(1, depth + 1), 0, *range(depth + 1, rank)], span, final)


# ------------------------------------------------------------------------------------------------ maps


def must_map(state: LoweringState, op: c.Op) -> bool:
    """Can the op run only cell by cell?  Its operands are already lowered.  See Note [Maps]."""
    if not state.frame:
        return False
    match op:
        case c.Compress():
            return bool(state.get(op.mask).frame)
        case c.Where():
            return bool(state.get(op.mask).frame)
        case c.BindSize():
            return bool(state.get(op.value).frame)
        case c.Format():
            return bool(state.get(op.arg).frame)
        case c.Invoke():
            return bool(op.defines) and _depends(state, op)
        case c.CoreLoop():
            return op.until is not None and _depends(state, op)
        case c.CoreBranch():
            if op.sizes:
                return _depends(state, op)
            return bool(state.get(op.condition).frame) and not blocks.selectable(op, state.facts)
        case _:
            return False


def _depends(state: LoweringState, op: c.Op) -> bool:
    return bool(state.union(state.facts.free_values(op), may_fail=state.facts.may_fail(op)))


@dataclass(frozen=True, slots=True)
class _LastMentions:
    """For each size and value, the position of the last op of a block that mentions it; the block's length for results."""

    sizes: dict[SizeVariable, int] = field(default_factory=dict)
    values: dict[c.ValueId, int] = field(default_factory=dict)

    @staticmethod
    def of(ops: Sequence[c.Op], results: Sequence[c.ValueId], facts: blocks.BlockFacts) -> _LastMentions:
        last = _LastMentions()
        for at, op in enumerate(ops):
            last.sizes.update(dict.fromkeys(blocks.mentioned_sizes(op, facts.program), at))
            last.values.update(dict.fromkeys(facts.free_values(op), at))
        last.values.update(dict.fromkeys(results, len(ops)))
        return last


def _lower_group(state: LoweringState, ops: Sequence[c.Op], start: int, last: _LastMentions) -> int:
    """Lower the map that starts at `ops[start]`; returns the position after the last op it considered."""
    group: list[c.Op] = []
    values: set[c.ValueId] = set()
    sizes: set[SizeVariable] = set()
    at = end = start
    while at <= end:
        op = ops[at]
        inside = (
            at == start
            or any(v in values for v in state.facts.free_values(op))
            or bool(sizes & blocks.mentioned_sizes(op, state.core))
            or must_map(state, op)
        )
        if inside:
            group.append(op)
            values.update(results_of(op))
            sizes.update(defined_sizes(op))
            end = max([end, *(last.sizes.get(s, at) for s in defined_sizes(op))])
        else:
            lower_op(state, op)
        at += 1
    live = [v for op in group for v in results_of(op) if last.values.get(v, -1) >= at]
    _map(state, group, live)
    return at


def _map(state: LoweringState, ops: Sequence[c.Op], live: Sequence[c.ValueId]) -> None:
    span = next((state.span(r) for op in ops for r in results_of(op)), None) or state.span(live[0])
    captured = [v for v in state.facts.free_of(ops) if state.get(v).frame]
    frame = state.union(captured, may_fail=any(state.facts.may_fail(op) for op in ops))
    args, frames, params = [], [], []
    for value in captured:
        carried = state.get(value)
        if carried.frame == frame[: len(carried.frame)]:
            args.append(carried.value)
            frames.append(len(carried.frame))
        else:
            args.append(state.carry(carried, frame, span))
            frames.append(len(frame))
        params.append(state.fresh(state.type(value)))
    sizes = state.sizes(frame)
    outside = {v: state.bound[v] for v in captured}
    outer_frame, state.frame = state.frame, []
    state.bound.update({v: CarriedValue(p) for v, p in zip(captured, params, strict=True)})
    with _nested_block(state) as phases:
        lower_ops(state, ops, live)
        inner = tuple(state.get(v).value for v in live)
    state.frame = outer_frame
    state.bound.update(outside)
    for value in live:  # a constant inside the map is none outside
        state.constants.pop(value, None)
        state.literals.pop(value, None)
    results = tuple(state.define(v, frame) for v in live)
    body = SubGraph(tuple(params), tuple(phases), inner)
    state.emit(Map(state.phase_id(), span, sizes, tuple(args), tuple(frames), results, body))


# ---------------------------------------------------------------------------------------------------- lower

def lower(program: c.Core) -> Graph:
    """The phase graph of a checked program, before any pass."""
    state = LoweringState(program, BlockFacts(program), next_value=1 + max((int(v) for v in program.types), default=-1))
    for given in program.inputs:
        value = state.define(given.value)
        state.emit(Input(state.phase_id(), given.span, given.name, value))
    results = (*program.block.results, *(o.value for o in program.outputs))
    lower_ops(state, program.block.ops, results)
    for output in program.outputs:
        state.emit(Output(state.phase_id(), output.span, output.name, state.get(output.value).value))
    names = {state.get(v).value: name for v, name in program.names.items() if v in state.bound and not state.get(v).frame}
    scheduled = {word for schedule in program.schedules for word in _words(schedule.directives)}
    roots = frozenset(state.get(v).value for v, name in program.names.items() if name in scheduled and v in state.bound)
    return Graph(tuple(state.phases), state.types, names, program.inputs, program.params, program.guards, roots)


def _words(directives: tuple[program_tree.Directive, ...]) -> Iterator[str]:
    pending = list(directives)
    while pending:
        for word in pending.pop().words:
            if isinstance(word, program_tree.DirectiveWord):
                yield from (word.text, *word.text.split(","))
            else:
                pending.extend(word.directives)


__all__ = ["lower"]
