"""The adjoints of maps, folds, loops and branches: their bodies are recomputed, then differentiated.

A loop stores the states that its adjoint reads and iterates backwards over them; a long one is strip-mined into a loop of loops,
which stores the first state of each strip.  A fold is differentiated as a loop.  A loop with a stopping condition first counts
its iterations.  Of a branch, the arm that was taken is differentiated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import isqrt
from typing import Any, Final

from ...lang.support.records import replace
from ..core.builder import statements_if
from ..core.cloning import Cloner
from ..core.operations import (
    BindSize,
    Block,
    CoreBranch,
    CoreFold,
    CoreLoop,
    FoldScan,
    Gather,
    MapCells,
    Op,
    Recomputed,
    Reduce,
    Reshape,
    Scan,
    Slice,
    Update,
    ValueId,
    blocks_of,
    captured,
    defined_and_read,
    defined_sizes,
    operands_of,
    results_of,
)
from ..elements import ArrayType, Element, Kind
from ..proof.constraints import Arm
from ..sizes.polynomials import ONE, ZERO, Size, SizeOrigin, SizeVariable, as_size, product, variable
from ..sizes.size import quotient, remainder, truncated_subtract
from ..values.facts import Operand
from .reverse_mode import Activity, Cell, Gathers, ReversePass, cotangents_of
from .scalar_rules import constant
from .terms import Masking

# ---------------------------------------------------------------------------------------------------- blocks

_NONE: Final[Mapping[ValueId, ValueId]] = {}
_NO_GATHERS: Final[Gathers] = {}


def _plain(type: ArrayType) -> ArrayType:
    return ArrayType(Element(type.element.kind), type.shape)


def _block_adjoint(
    r: ReversePass, block: Block, params: Mapping[ValueId, ValueId], sizes: Mapping[SizeVariable, Size],
    cotangents: Sequence[ValueId | None], wanted: Sequence[ValueId], maskings: Sequence[Masking], *,
    sums: Mapping[ValueId, ValueId] = _NONE, gathers: Gathers = _NO_GATHERS,
) -> tuple[list[ValueId | None], list[Masking]]:  # fmt: skip
    """Emit a copy of a block's ops on other params, and its adjoint: the cotangents of `wanted` (params or outer values) and
    their maskings.

    `maskings` belong to the cotangents of the results; `sums` has the cotangents of outer values to which those of the block are
    added; `gathers` as in `ReversePass`.
    """
    cloner = Cloner(r.builder, r.span, params, sizes)
    ops = cloner.ops(block.ops)
    values = [cloner.value(value) for value in wanted]
    activity = Activity(r.builder, values)
    activity.extend(ops)
    seeds = [(value, g, Masking.CHOICE) for value, g in sums.items()]
    results = zip(block.results, cotangents, maskings, strict=True)
    seeds += [(cloner.value(value), g, masking) for value, g, masking in results if g is not None]
    return cotangents_of(r.builder, r.span, ops, activity, seeds, values, r.rules, gathers)


def _without_dead_ops(block: Block) -> Block:
    """The block without ops whose results are not read; ops that define sizes stay."""
    live, ops = set(block.results), list[Op]()
    for op in reversed(block.ops):
        if defined_sizes(op) or not live.isdisjoint(results_of(op)):
            ops.append(op)
            live |= set(operands_of(op)).union(*map(captured, blocks_of(op)))
    return Block(block.params, tuple(reversed(ops)), block.results)


def _active_captures(r: ReversePass, *blocks: Block) -> list[ValueId]:
    outer = frozenset[ValueId]().union(*map(captured, blocks))
    return sorted(value for value in outer if r.is_active(value))


def _operands(r: ReversePass, values: Sequence[ValueId]) -> list[Operand]:
    return [Operand(value, r.builder.types[value]) for value in values]


# ---------------------------------------------------------------------------------------------------- maps

def _map(r: ReversePass, op: MapCells) -> None:
    t, builder = r.terms, r.builder
    given = [number for number, result in enumerate(op.results) if result in r.cotangents and r.is_active(result)]
    active = [number for number, arg in enumerate(op.args) if r.is_active(arg)]
    outer = _active_captures(r, op.body)
    depth = len(op.frame)
    cells = [_plain(builder.types[value]) for value in op.body.results]
    params = builder.open_block([*[builder.types[value] for value in op.body.params], *[cells[i] for i in given]], r.span)
    values = [param.value for param in params[: len(op.args)]]
    inner = dict(zip(op.body.params, values, strict=True))
    of_results: list[ValueId | None] = [None] * len(op.results)
    for number, param in zip(given, params[len(op.args) :], strict=True):
        of_results[number] = param.value
    wanted = [*[op.body.params[i] for i in active], *outer]
    gathers: dict[ValueId, list[Cell]] = {value: [] for value in outer}
    parts, selected = _block_adjoint(r, op.body, inner, {}, of_results, wanted, _maskings(r, op.results), gathers=gathers)
    present = [number for number, part in enumerate(parts) if part is not None]
    gathered = [cell for cells in gathers.values() for cell in cells]
    added = [part for part in parts if part is not None] + [value for gather, g, _ in gathered for value in (g, gather.indices)]
    block = builder.close_block(_operands(r, added))
    if not added:
        return
    types = [ArrayType(Element(t.kind(value)), op.frame + t.shape(value)) for value in block.results]
    args = (*op.args, *[r.cotangents[op.results[i]] for i in given])
    frames = (*op.frames, *(depth for _ in given))
    results = builder.emit_many(lambda ids: MapCells(ids, args, frames, op.frame, block), types, r.span)
    for number, result in zip(present, results, strict=False):
        if number < len(active):
            arg, frame = op.args[active[number]], op.frames[active[number]]
            r.add(arg, _sum_axes(r, result.value, frame, depth), selected[number])
        else:
            r.add(outer[number - len(active)], t.sum_leading(result.value, depth), selected[number])
    of_gathers = [result.value for result in results[len(present) :]]
    for (gather, _, masking), items, indices in zip(gathered, of_gathers[::2], of_gathers[1::2], strict=True):
        if gather.indices in values and op.frames[number := values.index(gather.indices)] == depth:
            indices = op.args[number]
        _gathered(r, gather, items, indices, depth, masking)


def _maskings(r: ReversePass, results: Sequence[ValueId]) -> list[Masking]:
    return [r.masking_of((result,)) for result in results]


def _gathered(r: ReversePass, op: Gather, items: ValueId, indices: ValueId, depth: int, masking: Masking) -> None:
    """Add to the cotangent of an array the cotangents of a selection in each cell of a map with `depth` axes, as one
    selection."""
    t, at = r.terms, constant(r.terms, op.indices)
    if at is not None:
        items, indices = t.sum_leading(items, depth), t.literal(int(at), Kind.I64)
    else:
        rank = len(t.shape(items))
        items = t.transpose(items, [*range(op.axis, op.axis + depth), *range(op.axis), *range(op.axis + depth, rank)])
    selected = r.builder.fresh(_plain(r.builder.types[items]), r.span)
    r.activity.add((selected,))
    r.add(selected, items, masking)
    r.run([replace(op, result=selected, indices=indices)])


def _sum_axes(r: ReversePass, x: ValueId, first: int, last: int) -> ValueId:
    """The sum over axes `first` up to, not including, `last`."""
    for axis in reversed(range(first, last)):
        x = r.terms.sum(x, axis)
    return x


# ---------------------------------------------------------------------------------------------------- loops

def _loop(r: ReversePass, op: CoreLoop) -> None:
    """Emit the backward loop.

    Its state has the cotangents of the active states, of the cells of active arrays, and of outer active values.  Only states
    that the adjoint reads are stored.
    """
    if op.until is not None:
        _loop_with_condition(r, op)
        return
    t, builder, body, span, trip = r.terms, r.builder, op.body, r.span, op.trip
    mark = builder.mark()
    count = len(op.cells)
    states, outer = body.params[count:], _active_captures(r, body)
    active = [i for i, value in enumerate(states) if r.is_active(value)]
    cells = [i for i in range(count) if r.is_active(op.cells[i])]
    given = [i for i in active if op.keep and op.results[i] in r.cotangents]
    first = [_last_cotangent(r, op, i, states[i]) for i in active]
    first += [t.zeros_like(op.cells[i]) for i in cells]
    first += [r.cotangents.get(value) or t.zeros_like(value) for value in outer]
    of_cells = [_plain(builder.types[states[i]]) for i in given]
    params = builder.open_block(
        [*[builder.types[value] for value in body.params], *of_cells, *[_plain(builder.types[x]) for x in first]], span
    )
    values = [param.value for param in params]
    last, why = truncated_subtract(trip, 1), "the number of the iteration"
    index = builder.runtime_size("i", last, span, why, origin=SizeOrigin.LOOP_INDEX)
    at = trip - 1 - variable(index)
    inner = dict(zip(body.params, values, strict=False))
    reads = len(body.params) + len(given)
    of_states = values[reads:]
    of_results: list[ValueId | None] = [None] * len(states)
    for i, g in zip(active, of_states, strict=False):
        of_results[i] = g
    wanted = [*[states[i] for i in active], *[body.params[i] for i in cells], *outer]
    sizes = {} if op.index is None else {op.index: at}
    sums = dict(zip(outer, of_states[len(active) + len(cells) :], strict=True))
    unread = [value not in r.cotangents for value in op.results]
    maskings = [Masking.CHOICE if is_unread else one for is_unread, one in zip(unread, _maskings(r, op.results), strict=True)]
    start, recomputed = builder.mark(), len(builder.recomputed)
    while True:  # until an iteration raises no masking
        parts, part_maskings = _block_adjoint(r, body, inner, sizes, of_results, wanted, maskings, sums=sums)
        more = [i for i, part, one in zip(active, parts, part_maskings, strict=False) if part is not None and one > maskings[i]]
        if not more:
            break
        builder.rollback(start)
        del builder.recomputed[recomputed:]
        maskings = [Masking.CHOICE if i in more else one for i, one in enumerate(maskings)]
    result: list[ValueId] = []
    for number, part in enumerate(parts):
        state = of_states[number]
        if number < len(active):
            cotangent = part if part is not None else t.zeros_like(state)
            if active[number] in given:
                cotangent = t.add(cotangent, values[len(body.params) + given.index(active[number])])
            result.append(cotangent)
        elif part is None:
            result.append(state)
        elif number >= len(active) + len(cells):
            result.append(part)
        else:
            indices = (t.size(at), *(None for _ in t.shape(part)))
            update = partial(Update, arg=state, indices=indices, value=part, checked=False)
            result.append(t.emit(update, t.kind(state), t.shape(state)))
    block = _without_dead_ops(builder.close_block(_operands(r, result)))
    read = defined_and_read(block)[1]
    used = [number for number in range(reads) if values[number] in read]
    reads_states = any(count <= number < len(body.params) for number in used)
    strips = _strips(r, op) if reads_states and not op.keep else None
    if strips is not None:
        builder.rollback(mark)
        _strip_mine(r, op, *strips)
        return
    history = op.results if op.keep or not reads_states else _keep_states(r, op)
    arrays = [_backwards(r, op, number, history, given) for number in used]
    params_of_block = (*[values[number] for number in used], *of_states)
    block = Block(params_of_block, block.ops, block.results)
    types = [_plain(builder.types[value]) for value in first]
    results = builder.emit_many(
        lambda ids: CoreLoop(ids, tuple(first), trip, block, None, False, tuple(arrays), index, True), types, span
    )
    for value, total in zip(outer, results[len(active) + len(cells) :], strict=True):
        r.replace(value, total.value, Masking.CHOICE)
    for i, total in zip(active, results, strict=False):
        r.add(op.initial[i], total.value, maskings[i])
    for i, total, one in zip(cells, results[len(active) :], part_maskings[len(active) :], strict=False):
        r.add(op.cells[i], total.value, one)


_MANY_BYTES: Final = 1 << 26
"""The most bytes of states that a loop stores without strip mining."""
_MANY_STATES: Final = 256
"""The number of states from which a loop is strip-mined if the bytes of a state are unknown."""


def _strips(r: ReversePass, op: CoreLoop) -> tuple[Size, int] | None:
    """The number and length of the strips of a loop that stores only the state at the start of each strip; None for one that
    stores all.

    Without `checkpoints`, only loops with a literal trip count and many bytes of states are strip-mined.  For a trip count n that
    is a size, n÷256 states are stored, and at most 48 in the rest.
    """
    trip, state = op.trip.constant, _bytes_of_state(r, op)
    length = r.builder.strip_mined.get(op.results[0], _MANY_STATES if r.builder.checkpoints else 0)
    if trip is None:
        return (quotient(op.trip, length), length) if length else None
    if trip < 4 or not (trip >= (16 if length else _MANY_STATES) if state is None else length or trip * state > _MANY_BYTES):
        return None
    count = isqrt(trip) if not state else min(isqrt(trip), max(2, _MANY_BYTES // state))
    return as_size(count), trip // count


def _bytes_of_state(r: ReversePass, op: CoreLoop) -> int | None:
    """The bytes of a loop's state; None if they are not known."""
    types = [r.builder.types[value] for value in op.initial]
    counts = [product(type.shape).constant for type in types]
    pairs = zip(counts, types, strict=True)
    return None if None in counts else sum((count or 0) * type.element.kind.bytes for count, type in pairs)


def _strip_mine(r: ReversePass, op: CoreLoop, count: Size, length: int) -> None:
    """Strip-mine a loop into `count` strips of `length` iterations, preceded by the rest, and differentiate the result.

    It stores the state at the start of each strip, and all states of one strip at a time.  If states are large, strips are fewer
    and longer and are strip-mined again.
    """
    builder, t, span = r.builder, r.terms, r.span
    rest = remainder(op.trip, length) if op.trip.constant is None else op.trip - count * length
    if op.results[0] not in builder.strip_mined:
        builder.recomputed.append(Recomputed(span, op.trip))
    start = builder.position
    states: Sequence[ValueId] = op.initial
    if rest != ZERO:
        cells = tuple([t.slice_any(value, rest) for value in op.cells])
        body, index = _body_at(r, op, ZERO, rest)
        states = _emit_loop(r, states, rest, body, cells, keep=False, index=index)
        builder.strip_mined[states[0]] = isqrt(length) if length == _MANY_STATES else 0
    strips = [t.slice_any(value, op.trip - rest, rest) for value in op.cells]
    shapes = [(count, as_size(length), *t.shape(value)[1:]) for value in strips]
    arrays = [
        t.emit_typed(partial(Reshape, arg=value), ArrayType(builder.types[value].element, shape))
        for value, shape in zip(strips, shapes, strict=True)
    ]
    cell_types = [ArrayType(builder.types[value].element, t.shape(value)[1:]) for value in arrays]
    outer = _index(r, count)
    params = [param.value for param in builder.open_block([*cell_types, *[builder.types[value] for value in states]], span)]
    body, index = _body_at(r, op, rest + variable(outer) * length, as_size(length))
    given = tuple(params[: len(arrays)])
    inner = _emit_loop(r, params[len(arrays) :], as_size(length), body, given, keep=False, index=index)
    builder.strip_mined[inner[0]] = 0
    block = builder.close_block(_operands(r, inner))
    results = _emit_loop(r, states, count, block, tuple(arrays), keep=False, index=outer)
    builder.strip_mined[results[0]] = 0
    ops = builder.take(start)
    ops += [Reshape(result, value) for result, value in zip(op.results, results, strict=True)]
    builder.replace(op, ops)
    r.activity.extend(ops)
    r.run(ops)


def _index(r: ReversePass, trip: Size) -> SizeVariable:
    why = "the number of the iteration"
    return r.builder.runtime_size("i", truncated_subtract(trip, 1), r.span, why, origin=SizeOrigin.LOOP_INDEX)


def _body_at(r: ReversePass, op: CoreLoop, start: Size, trip: Size) -> tuple[Block, SizeVariable]:
    """The body of a loop for `trip` iterations from `start` on, and the loop index."""
    index = _index(r, trip)
    cloner = Cloner(r.builder, r.span, {}, {} if op.index is None else {op.index: start + variable(index)})
    return cloner.block(op.body), index


def _last_cotangent(r: ReversePass, op: CoreLoop, number: int, state: ValueId) -> ValueId:
    """The cotangent of a state after the last iteration."""
    g = r.cotangents.get(op.results[number])
    if g is None:
        return r.terms.full(0.0, r.terms.kind(state), r.terms.shape(state))
    return r.terms.cell(g, 0, op.trip) if op.keep else g


def _backwards(r: ReversePass, op: CoreLoop, number: int, history: Sequence[ValueId], given: Sequence[int]) -> ValueId:
    """The array that the backward loop iterates over, in reverse order: cells, states before the iteration, or cotangents of
    stored states."""
    t, count, params = r.terms, len(op.cells), len(op.body.params)
    if number < count:
        return t.reversed_any(op.cells[number])
    values = history[number - count] if number < params else r.cotangents[op.results[given[number - params]]]
    return t.reversed_any(t.slice_any(values, op.trip))


def _keep_states(r: ReversePass, op: CoreLoop) -> list[ValueId]:
    """All states of a loop, the initial one first: the loop is replaced by one that stores them, and its results by the last
    ones."""
    t, builder = r.terms, r.builder
    types = [ArrayType(builder.types[value].element, (op.trip + 1, *t.shape(value))) for value in op.initial]
    states = [builder.fresh(type, r.span) for type in types]
    keeping = CoreLoop(
        tuple(states), op.initial, op.trip, op.body, None, True, op.cells, op.index, op.needs_iteration
    )
    replacement: list[Op] = [keeping]
    for value, result in zip(states, op.results, strict=True):
        type = builder.types[result]
        last = builder.fresh(ArrayType(type.element, (ONE, *type.shape)), r.span)
        replacement += [Slice(last, value, (op.trip,)), Reshape(result, last)]
    builder.replace(op, replacement)
    return states


def _loop_with_condition(r: ReversePass, op: CoreLoop) -> None:
    """Replace a loop with a stopping condition by one that counts its iterations, followed by a loop with that trip count."""
    assert op.until is not None
    t, builder, span = r.terms, r.builder, r.span
    number = ArrayType(Element(Kind.I64), ())
    params = builder.open_block([*[builder.types[value] for value in op.body.params], number], span)
    cloner = Cloner(builder, span, dict(zip(op.body.params, (p.value for p in params), strict=False)))
    index = op.index
    if index is not None:
        fresh = builder.sizes.create(index.name, index.origin, index.cap)
        cloner.sizes[index], index = variable(fresh), fresh
    cloner.ops(op.body.ops)
    states = [cloner.value(value) for value in op.body.results]
    counted = t.apply("add", params[-1].value, t.literal(1, Kind.I64))
    body = builder.close_block(_operands(r, [*states, counted]))
    size = len(op.initial)
    types = [builder.types[value] for value in op.until.params]
    params = builder.open_block([*types[:size], number, *types[size:], number], span)
    news = [*params[:size], *params[size + 1 : -1]]
    cloner = Cloner(builder, span, dict(zip(op.until.params, (p.value for p in news), strict=True)))
    cloner.ops(op.until.ops)
    until = builder.close_block(_operands(r, [cloner.value(value) for value in op.until.results]))
    zero = t.literal(0, Kind.I64)
    results = builder.emit_many(
        lambda ids: CoreLoop(ids, (*op.initial, zero), op.trip, body, until, False, op.cells, index, op.needs_iteration),
        [*[builder.types[value] for value in op.results], number], span,
    )  # fmt: skip

    def emit() -> list[ValueId]:
        trip = builder.runtime_size("k", op.trip, span, "the number of iterations")
        builder.effect(BindSize(results[-1].value, trip))
        cells = tuple([t.slice_any(value, variable(trip)) for value in op.cells])
        cloner, index = Cloner(builder, span, {}), op.index
        if index is not None:
            fresh = builder.sizes.create(index.name, index.origin, index.cap)
            cloner.sizes[index], index = variable(fresh), fresh
        block = cloner.block(op.body)
        return _emit_loop(r, op.initial, variable(trip), block, cells, keep=False, index=index)

    _as_loop(r, emit, op.results)


# ---------------------------------------------------------------------------------------------------- folds

def _as_loop(r: ReversePass, emit: Callable[[], Sequence[ValueId]], results: Sequence[ValueId]) -> None:
    """Differentiate other ops in place of an op with the same results."""
    cotangents = [r.cotangents.get(result) for result in results]
    values: list[ValueId] = []
    ops = r.emitted(lambda: values.extend(emit()))
    r.activity.extend(ops)
    for value, cotangent, masking in zip(values, cotangents, _maskings(r, results), strict=True):
        r.add(value, cotangent, masking)
    r.run(ops)


def _fold(r: ReversePass, op: CoreFold | FoldScan) -> None:
    t, count, keep = r.terms, len(op.args), isinstance(op, FoldScan)

    def emit() -> list[ValueId]:
        body = Cloner(r.builder, r.span, {}).block(op.body)
        if keep:  # whose params are states, then items
            body = Block((*body.params[count:], *body.params[:count]), body.ops, body.results)
        return _emit_fold(r, op.args, body, t.shape(op.args[0])[0], keep=keep)

    _as_loop(r, emit, op.results)


def reduce_or_scan(r: ReversePass, op: Reduce | Scan, cotangent: ValueId) -> None:
    """Differentiate a reduction or scan by any function along its axis, which has at least one item, as a loop over its cells."""
    t, keep = r.terms, isinstance(op, Scan)

    def emit() -> list[ValueId]:
        x = t.to_front(op.arg, op.axis)
        results = _emit_fold(r, [x], _function_block(r, op.function, x, swap=keep), t.shape(x)[0], keep=keep)
        return [t.from_front(states, op.axis) for states in results] if keep else results

    _as_loop(r, emit, (op.result,))


def _emit_fold(r: ReversePass, args: Sequence[ValueId], body: Block, length: Size, *, keep: bool) -> list[ValueId]:
    """A loop from the last item over the others, last first; with `keep`, from the first over the others, with all its states."""
    t, trip = r.terms, truncated_subtract(length, 1)
    first = [t.cell_of(value, ZERO if keep else trip) for value in args]
    cells = tuple([t.slice_any(x, trip, ONE) if keep else t.reversed_any(t.slice_any(x, trip)) for x in args])
    states = _emit_loop(r, first, trip, body, cells, keep=keep)
    return [t.slice_any(value, length) for value in states] if keep else states


def _emit_loop(
    r: ReversePass, first: Sequence[ValueId], trip: Size, body: Block, cells: tuple[ValueId, ...], *, keep: bool,
    index: SizeVariable | None = None,
) -> list[ValueId]:  # fmt: skip
    types = [r.builder.types[value] for value in first]
    if keep:
        types = [ArrayType(type.element, (trip + 1, *type.shape)) for type in types]
    results = r.builder.emit_many(
        lambda ids: CoreLoop(ids, tuple(first), trip, body, None, keep, cells, index, False), types, r.span
    )
    return [result.value for result in results]


def _function_block(r: ReversePass, function: str, x: ValueId, *, swap: bool) -> Block:
    """A block of two params that applies a scalar function to cells of x without its first axis; with `swap`, its
    operands are exchanged."""
    cell = ArrayType(r.builder.types[x].element, r.terms.shape(x)[1:])
    params = r.builder.open_block([cell, cell], r.span)
    a, b = (param.value for param in params)
    value = r.terms.apply(function, *((b, a) if swap else (a, b)))
    return r.builder.close_block(_operands(r, [value]))


# ---------------------------------------------------------------------------------------------------- branches

def _branch(r: ReversePass, op: CoreBranch) -> None:
    t, builder = r.terms, r.builder
    outer = _active_captures(r, op.then, op.otherwise)
    for arm in (op.then, op.otherwise):  # results that an arm takes from outside
        outer += [value for value in arm.results if r.is_active(value) and value not in outer and not _defines(arm, value)]
    if not outer:
        return
    arms: list[Block] = []
    scopes: list[Arm] = []
    for arm in (op.then, op.otherwise):
        builder.open_block((), r.span)
        scopes.append(builder.open_arm(statements_if(builder, op.condition, holds=arm is op.then)))
        seeds = [_fitted(r, r.cotangents.get(result), value) for result, value in zip(op.results, arm.results, strict=True)]
        parts, _ = _block_adjoint(r, arm, {}, {}, seeds, outer, _maskings(r, op.results))
        values = [part if part is not None else t.zeros_like(value) for part, value in zip(parts, outer, strict=True)]
        builder.close_scope()
        arms.append(builder.close_block(_operands(r, values)))
    types = [_plain(builder.types[value]) for value in outer]
    needed = op.needs_condition or any(scope.needs_condition for scope in scopes)
    results = builder.emit_many(
        lambda ids: CoreBranch(ids, op.condition, arms[0], arms[1], needs_condition=needed), types, r.span
    )
    for value, result in zip(outer, results, strict=True):
        r.add(value, result.value, Masking.CHOICE)


def _defines(block: Block, value: ValueId) -> bool:
    return value not in captured(block)


def _fitted(r: ReversePass, cotangent: ValueId | None, value: ValueId) -> ValueId | None:
    """The cotangent of a branch's result, in the shape of the result of one arm."""
    if cotangent is None or not r.is_active(value):
        return None
    shape = r.terms.shape(value)
    if r.terms.shape(cotangent) == shape:
        return cotangent
    starts = tuple(ZERO for _ in shape)
    return r.terms.emit(lambda v: Slice(v, cotangent, starts), r.terms.kind(cotangent), shape)


RULES: Final[dict[type, Callable[[ReversePass, Any], None]]] = {
    MapCells: _map, CoreLoop: _loop, CoreFold: _fold, FoldScan: _fold, CoreBranch: _branch,
}  # fmt: skip
