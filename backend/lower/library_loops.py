"""Lowers library phases inside a region: those that move items or scan become loops, the others calls of their routines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from math import prod
from typing import Final

from ...lang.support.records import replace
from ...lang.syntax.source import Span
from ...typechecker.core.operations import Indexing
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable, number
from ..graph import traverse
from ..graph.bind_sizes import IndexSteps, KnownValues
from ..graph.phases import (
    Affine,
    LibraryPhase,
    Projection,
    Read,
    ReadNode,
    SizeNode,
    Structured,
    ValueId,
    sum_of_products,
    uses_ordered_sums,
)
from ..loopir.ir import MOST_VALUES, ZERO, Box, Call, Fail, Index, LoopKind, at, plus, times
from ..scalar.function_table import REDUCTIONS
from .phase import copy, lower_structured
from .scope import Check, LoweringScope, NotLowerable, Registers, Routine, ValueLocation

# -------------------------------------------------------------------------------------------- routine calls
#
# Calls of routines for phases that do not become loops: the region calls the same routine that runs the phase outside regions, so
# that the bits are the same.
#
# A routine reads operands in memory; a deferred one is stored first.  Run-time sizes that the region has defined so far are
# arguments of the call, for which the routine is specialized anew; so a size on which only the items of a phase depend, such as
# the index of a loop, is passed as an operand instead.  A size that the phase defines is written to an i64 in memory.  Guards
# that wait for a size are checked by a call too, as soon as the size is defined.

def call_routine(scope: LoweringScope, phase: Structured | LibraryPhase) -> None:
    """Lower a phase to a call of its routine."""
    operands, results, defines = tuple(dict.fromkeys(traverse.operands(phase))), traverse.results(phase), traverse.defines(phase)
    known = scope.transposed
    transposed = tuple((v, *known[v]) for v in operands if v in known and known[v][0] in operands)
    operands = tuple(v for v in operands if v not in [value for value, _, _ in transposed])
    numbers = _size_operands(scope, phase)
    reads = [_box(scope, _stored(scope, operand), scope.shape(operand)) for operand in operands]
    reads += [_box(scope, _stored_size(scope, size), ()) for size in numbers.values()]
    targets = [scope.destination_of(result) for result in results]
    words = [scope.scratch(Kind.I64, ()) for _ in defines]
    writes = [
        _box(scope, target, [_upper_bound(scope, size, defines) for size in scope.shape(result)])
        for target, result in zip(targets, results, strict=True)
    ]
    writes += [_box(scope, word, ()) for word in words]
    sizes = _call_sizes(scope, phase, numbers)
    scope.routines.append(Routine(phase, (*operands, *numbers), results, sizes, defines, transposed, numbers))
    _call(scope, reads, writes, sizes)
    for variable, word in zip(defines, words, strict=True):
        (register,) = scope.read(word, ())
        define_size(scope, variable, register, phase.span)
    for result, target in zip(results, targets, strict=True):
        scope.values[result] = target if scope.shape(result) else scope.read(target, ())


def _size_operands(scope: LoweringScope, phase: Structured | LibraryPhase) -> dict[ValueId, Size]:
    """The sizes in a phase's body that mention run-time sizes of the region, with values that stand for them as operands."""
    sizes = [node.size for node in phase.body if isinstance(node, SizeNode)] if isinstance(phase, Structured) else []
    found_sizes = [size for size in dict.fromkeys(sizes) if any(variable in scope.sizes for variable in size.variables())]
    return {ValueId(-1 - at): size for at, size in enumerate(found_sizes)}


def _stored_size(scope: LoweringScope, size: Size) -> ValueLocation:
    target = scope.scratch(Kind.I64, ())
    scope.write(target, (), (scope.b.number(scope.index_of(size)),))
    return target


def with_size_operands(phase: Structured, numbers: Mapping[ValueId, Size]) -> Structured:
    """The phase with these sizes read as values of rank 0."""
    nodes = {size: ReadNode(len(phase.reads) + at, Kind.I64) for at, size in enumerate(numbers.values())}
    body = tuple([nodes.get(node.size, node) if isinstance(node, SizeNode) else node for node in phase.body])
    reads = [Read(value, Projection((Affine((), ()),))) for value in numbers]
    return replace(phase, body=body, reads=(*phase.reads, *reads))


def check_guards(scope: LoweringScope, variable: SizeVariable) -> None:
    """Calls the check of the guards that wait for a size, which has just been defined."""
    if variable in scope.waits_for:
        sizes = tuple(scope.sizes)
        scope.routines.append(Routine(None, (), (), sizes, (variable,)))
        _call(scope, (), (), sizes)


def poll(scope: LoweringScope, index: str, every: int) -> None:
    """Polls for interrupts, by a call to the caller, in iterations whose index is a multiple of `every`, a power of two."""
    b = scope.b
    scope.routines.append(Routine(None, (), (), ()))
    with b.block() as call:
        _call(scope, (), (), ())
    if every == 1:
        b.statements += call
        return
    phase_of_count = b.apply("band", (index, b.constant(Kind.I64, every - 1)), Kind.I64, Kind.I64)
    b.choose(b.compare("le", at(phase_of_count), ZERO), call, ())


def define_size(scope: LoweringScope, variable: SizeVariable, register: str, span: Span) -> None:
    """Defines a run-time size by a register; a check fails if the value is outside the size's bounds."""
    b = scope.b
    low = b.compare("lt", at(register), ZERO)
    bad, values = low, [register]
    if variable.cap is not None:
        cap = scope.index_of(variable.cap)
        bad = b.apply("or", (low, b.compare("lt", cap, at(register))), Kind.BOOL, Kind.BOOL)
        values.append(b.number(cap))
    b.statements.append(Fail(scope.check(Check(span, f"size {variable.name}")), bad, tuple(values)))
    scope.sizes[variable] = register


def _call(scope: LoweringScope, reads: Sequence[Box], writes: Sequence[Box], sizes: Sequence[SizeVariable]) -> None:
    numbers = tuple(at(scope.sizes[variable]) for variable in sizes)
    scope.b.statements.append(Call(len(scope.routines) - 1, tuple(reads), tuple(writes), numbers))


def _call_sizes(
    scope: LoweringScope, phase: Structured | LibraryPhase, numbers: Mapping[ValueId, Size]
) -> tuple[SizeVariable, ...]:
    """The run-time sizes of the region that a phase depends on, without those that it reads as operands; all of the region's
    sizes if a guard waits for a size that the phase defines."""
    defines = traverse.defines(phase)
    if scope.waits_for.intersection(defines):
        return tuple(scope.sizes)
    shapes = [size for value in (*traverse.results(phase), *traverse.operands(phase)) for size in scope.shape(value)]
    read = with_size_operands(phase, numbers) if isinstance(phase, Structured) else phase
    needed = {variable for size in (*traverse.sizes(read), *shapes) for variable in size.variables()}
    return tuple(variable for variable in scope.sizes if variable in needed and variable not in defines)


def _upper_bound(scope: LoweringScope, size: Size, defines: Sequence[SizeVariable]) -> Size:
    """The size, or its upper bound if it mentions a size of `defines`."""
    return number(scope.upper_bound(size)) if size.variables() & set(defines) else size


def _stored(scope: LoweringScope, value: ValueId) -> ValueLocation:
    """The memory of a value; a deferred value, or one in registers, is stored first."""
    where = scope.storage_of(value) if value not in scope.deferred else None
    if isinstance(where, ValueLocation):
        return where
    shape, target = scope.shape(value), scope.scratch(scope.kind(value), scope.shape(value))
    with scope.points(shape) as point:
        scope.write(target, point, scope.items(value, tuple(point)))
    return target


def _box(scope: LoweringScope, location: ValueLocation, shape: Sequence[Size]) -> Box:
    """The box that contains all items of a value of this shape at a location."""
    free = iter(shape)
    axes: list[tuple[Index, Index | None]] = [
        (ZERO, scope.index_of(next(free))) if fixed is None else (fixed, None) for fixed in location.fixed
    ]
    axes += [(ZERO, scope.index_of(size)) for size in free]
    axes += [(ZERO, Index((), 2))] if location.parts > 1 else []
    return Box(location.view, tuple(first for first, _ in axes), tuple(size for _, size in axes))


# ---------------------------------------------------------------------------------------------------- library

def lower_library(scope: LoweringScope, phase: LibraryPhase) -> None:
    lowered = _OPS.get(phase.op)
    if lowered is None or phase.attributes.get("frame"):
        raise NotLowerable(f"`{phase.op}` is a routine" if lowered is None else f"`{phase.op}` of many cells is a routine")
    lowered(scope, phase)


def _axis(phase: LibraryPhase) -> int:
    axis = phase.attributes["axis"]
    assert isinstance(axis, int)
    return axis


# ---------------------------------------------------------------------------------------------- indices


def _function(phase: LibraryPhase) -> str:
    """The name of the check that fails for an index out of range."""
    return f"shift {phase.attributes['shift']}" if "shift" in phase.attributes else "index"


_NONE: Final[Mapping[int, str]] = {}


def _check_index(
    scope: LoweringScope, phase: LibraryPhase, register: str, length: Size, indexing: Indexing | None,
    other_indices: Mapping[int, str] = _NONE, *, absent: bool = False,
) -> str:  # fmt: skip
    """Returns the register of an index, after a check if the phase is `checked`.

    `absent`: ¯1 is valid, as it reads a fill.  `other_indices`: the indices of other axes, for the message of a failure."""
    b = scope.b
    if phase.attributes["checked"]:
        low = b.compare("lt", at(register), Index((), -1 if absent else 0))
        high = b.compare("le", scope.index_of(length), at(register))
        outside = b.apply("or", (low, high), Kind.BOOL, Kind.BOOL)
        size = b.number(scope.index_of(length))
        reported = tuple(other_indices)[: MOST_VALUES - 2]
        check = Check(phase.span, _function(phase), indexing=indexing, other_axes=reported)
        b.statements.append(Fail(scope.check(check), outside, (register, size, *(other_indices[axis] for axis in reported))))
    return register


def _checked_index(scope: LoweringScope, phase: LibraryPhase, point: Sequence[Index]) -> str:
    """The checked index of a gather at a point; scalar indices of earlier axes are checked first, for each item."""
    arg, indices, *others = phase.args
    axis, indexing, shape = _axis(phase), phase.indexing, scope.shape(arg)
    other_axes, register = phase.attributes.get("other_axes", ()), scope.integer(indices, tuple(point))
    assert isinstance(other_axes, tuple)
    registers = {other: scope.integer(value, ()) for other, value in zip(other_axes, others, strict=True)}
    if indexing is not None and indexing.axis == axis:
        every = {**registers, axis: register}
        for other in sorted(other for other in registers if other < axis):
            rest = {checked_axis: number for checked_axis, number in every.items() if checked_axis != other}
            _check_index(scope, phase, registers[other], shape[other], indexing.on(other), rest)
    return _check_index(scope, phase, register, shape[axis], indexing, registers, absent=bool(phase.attributes["fills"]))


def _unchecked_index(scope: LoweringScope, phase: LibraryPhase, point: Sequence[Index]) -> str:
    """The index of a gather at a point, where all indices have been checked already."""
    return scope.integer(phase.args[1], tuple(point))


def _gather(scope: LoweringScope, phase: LibraryPhase) -> None:
    """result[a… i… b…] = arg[a… indices[i…] b…]"""
    (arg, indices), (result,), axis = phase.args[:2], phase.results, _axis(phase)
    fills = bool(phase.attributes["fills"])
    b, shape, rank = scope.b, scope.shape(result), len(scope.shape(indices))
    if not rank:
        index = _checked_index(scope, phase, ())
        where = scope.storage_of(arg)
        assert isinstance(where, ValueLocation)
        if shape and not fills and result in scope.aliases:
            scope.values[result] = where.cell(axis, at(index))
            return
        mask = b.compare("le", ZERO, at(index)) if fills else None
        if not shape:
            scope.define_scalar(result, scope.items(arg, (at(index),), mask))
            return
        target = scope.destination_of(result)
        with scope.points(shape) as point:
            scope.write(target, point, scope.items(arg, (*point[:axis], at(index), *point[axis:]), mask))
        scope.values[result] = target
        return
    target = scope.destination_of(result)
    pick = _checked_index
    if phase.attributes["checked"] and len(shape) > rank:  # all indices are checked, even if the other axes are empty
        with scope.points(scope.shape(indices)) as point:
            _checked_index(scope, phase, point)
        pick = _unchecked_index
    with scope.points(shape) as point:
        index = pick(scope, phase, point[axis : axis + rank])
        mask = b.compare("le", ZERO, at(index)) if fills else None
        scope.write(target, point, scope.items(arg, (*point[:axis], at(index), *point[axis + rank :]), mask))
    scope.values[result] = target


def _update_indices(
    scope: LoweringScope, phase: LibraryPhase, choices: Mapping[int, ValueId], point: Sequence[Index], *, checks: bool
) -> dict[int, str]:
    """By axis, the indices of an update at a point of the axes of all index arrays."""
    registers, used, shape = dict[int, str](), 0, scope.shape(phase.args[0])
    for axis, choice in choices.items():
        rank = len(scope.shape(choice))
        registers[axis] = scope.integer(choice, tuple(point[used : used + rank]))
        used += rank
    for axis, register in registers.items() if checks else ():
        others = {other: number for other, number in registers.items() if other != axis}
        indexing = phase.indexing
        _check_index(scope, phase, register, shape[axis], indexing and indexing.on(axis), others)
    return registers


def _update(scope: LoweringScope, phase: LibraryPhase) -> None:
    """arg[i; j; …] ← value, in place where nothing reads arg later."""
    indexed = phase.attributes["indexed"]
    assert isinstance(indexed, tuple)
    arg, *present, value = phase.args
    (result,), shape = phase.results, scope.shape(phase.args[0])
    target, source = scope.destination_of(result), scope.storage_of(arg)
    index_values = iter(present)
    choices = {axis: next(index_values) for axis, has in enumerate(indexed) if has}
    start = start_of_updated_box(phase, scope.known, shape)
    if start is not None and source != target and scope.shape(value):
        _update_box(scope, shape, [scope.index_of(size) for size in start], arg, value, target)
        scope.values[result] = target
        return
    copy(scope, shape, source, target)
    spread = [scope.shape(choices[axis]) if axis in choices else (size,) for axis, size in enumerate(shape)]
    selection = [size for sizes in spread for size in sizes]
    rank = len(scope.shape(value))
    if rank not in (0, len(selection)):
        raise NotLowerable("an update by cells that are spread")
    checks_first = len(choices) < len(shape)  # indices are checked even if an axis without indices is empty
    if checks_first:
        with scope.points([size for axis in choices for size in spread[axis]], LoopKind.SERIAL) as point:
            _update_indices(scope, phase, choices, point, checks=True)
    with scope.points(selection, LoopKind.SERIAL if len(shape) - 1 in choices else LoopKind.VECTOR) as point:
        axes = [axis for axis, sizes in enumerate(spread) for _ in sizes]
        picked = [index for axis, index in zip(axes, point, strict=True) if axis in choices]
        registers = _update_indices(scope, phase, choices, picked, checks=not checks_first)
        places = [at(registers[axis]) if axis in choices else point[axes.index(axis)] for axis in range(len(shape))]
        scope.write(target, places, scope.items(value, tuple(point) if rank else ()))
    scope.values[result] = target


def start_of_updated_box(phase: LibraryPhase, known: KnownValues, shape: Sequence[Size]) -> Sequence[Size] | None:
    """The origin of the box that an update writes; None if its indices are not a box that is known to be in range."""
    indexed = phase.attributes["indexed"]
    assert isinstance(indexed, tuple)
    present = iter(phase.args[1:-1])
    steps = [known.steps.get(next(present)) if has else IndexSteps((1,), number(0)) for has in indexed]
    starts = [step.constant for step in steps if step is not None and step.coefficients == (1,)]
    return starts if len(starts) == len(shape) and not phase.attributes["checked"] else None


def _update_box(
    scope: LoweringScope, shape: Sequence[Size], start: Sequence[Index], old: ValueId, box: ValueId, target: ValueLocation
) -> None:
    """Writes the items of a box and, around it, those of `old`; each item of the result is written once."""
    stop = [plus(first, scope.index_of(size)) for first, size in zip(start, scope.shape(box), strict=True)]

    def along(point: tuple[Index, ...], is_inside: bool) -> None:
        axis = len(point)
        if axis == len(shape):
            items = [plus(index, times(first, -1)) for index, first in zip(point, start, strict=True)]
            scope.write(target, point, scope.items(box, tuple(items)) if is_inside else scope.items(old, point))
            return
        kind, end = LoopKind.VECTOR if axis == len(shape) - 1 else LoopKind.SERIAL, scope.index_of(shape[axis])
        parts = ((ZERO, start[axis]), (start[axis], stop[axis]), (stop[axis], end)) if is_inside else ((ZERO, end),)
        for part, (lower, upper) in enumerate(parts):
            if lower != upper:
                with scope.b.loop(kind, (lower,), (upper,)) as loop:
                    along((*point, at(loop.index)), is_inside and part == 1)

    along((), True)


# ------------------------------------------------------------------------------------------------ moves


def _join(scope: LoweringScope, phase: LibraryPhase) -> None:
    (result,), axis, b = phase.results, _axis(phase), scope.b
    starts = [ZERO]
    for arg in phase.args:
        starts.append(plus(starts[-1], scope.index_of(scope.shape(arg)[axis])))
    pieces = list(zip(phase.args, starts, strict=False))

    def item(point: tuple[Index, ...], mask: str | None) -> Registers:
        """The item from the last piece that starts at or before the point."""
        first, *others = pieces
        before = None if not others else b.compare("lt", point[axis], starts[1])
        value = scope.items(first[0], point, b.both(mask, before))
        for part, (arg, start) in enumerate(others, 1):
            there = b.compare("le", start, point[axis])
            inside = there if part == len(others) else b.both(there, b.compare("lt", point[axis], starts[part + 1]))
            moved = tuple(plus(i, times(start, -1)) if at_ == axis else i for at_, i in enumerate(point))
            value = scope.select(there, scope.items(arg, moved, b.both(mask, inside)), value, scope.kind(result))
        return value

    if result in scope.aliases and len(pieces) <= _MAX_DEFERRED_PIECES:
        scope.deferred[result] = item
        return
    target = scope.destination_of(result)
    for arg, start in pieces:
        with scope.points(scope.shape(arg)) as point:
            moved = [plus(index, start) if a == axis else index for a, index in enumerate(point)]
            scope.write(target, moved, scope.items(arg, tuple(point)))
    scope.values[result] = target


def _stack(scope: LoweringScope, phase: LibraryPhase) -> None:
    (result,), axis = phase.results, _axis(phase)
    target = scope.destination_of(result)
    for layer, arg in enumerate(phase.args):
        with scope.points(scope.shape(arg)) as point:
            moved = (*point[:axis], Index((), layer), *point[axis:])
            scope.write(target, moved, scope.items(arg, tuple(point)))
    scope.values[result] = target


def _rotate(scope: LoweringScope, phase: LibraryPhase) -> None:
    """A rotation as two contiguous runs along the axis."""
    (arg, amount), (result,), axis, b = phase.args, phase.results, _axis(phase), scope.b
    if scope.shape(amount):
        raise NotLowerable("a rotation by many amounts")
    shape, length = scope.shape(arg), scope.index_of(scope.shape(arg)[axis])
    amount_index = _rotation_amount(scope, amount, scope.shape(arg)[axis])
    rest = plus(length, times(amount_index, -1))

    def item(point: tuple[Index, ...], mask: str | None) -> Registers:
        in_first_run = b.compare("lt", point[axis], rest)
        ahead, behind = plus(point[axis], amount_index), plus(point[axis], times(rest, -1))
        near, far = [tuple(shifted if at_ == axis else i for at_, i in enumerate(point)) for shifted in (ahead, behind)]
        first = scope.items(arg, near, b.both(mask, in_first_run))
        second = scope.items(arg, far, b.both(mask, b.compare("le", rest, point[axis])))
        return scope.select(in_first_run, first, second, scope.kind(result))

    if result in scope.aliases:
        scope.deferred[result] = item
        return
    target = scope.destination_of(result)
    for upper, there, in_first_run in ((rest, amount_index, ZERO), (amount_index, ZERO, rest)):
        with ExitStack() as loops:
            point: list[Index] = []
            for a, size in enumerate(shape):
                kind = LoopKind.VECTOR if a == len(shape) - 1 else LoopKind.SERIAL
                extent = scope.index_of(size)
                uppers = (upper, extent) if a == axis else (extent,)
                point.append(at(loops.enter_context(b.loop(kind, (ZERO,), uppers)).index))
            source = tuple(plus(i, there) if a == axis else i for a, i in enumerate(point))
            moved = [plus(i, in_first_run) if a == axis else i for a, i in enumerate(point)]
            scope.write(target, moved, scope.items(arg, source))
    scope.values[result] = target


def _rotation_amount(scope: LoweringScope, amount: ValueId, size: Size) -> Index:
    """The amount of a rotation modulo the length of the axis, in [0, length)."""
    b, length, literal = scope.b, scope.index_of(size), scope.known.literals.get(amount)
    if isinstance(literal, int) and size.constant:
        if 0 <= literal < size.constant:
            return scope.index_of(number(int(literal)))
        if -size.constant <= literal < 0:
            return plus(length, scope.index_of(number(int(literal))))
    return at(b.apply("residue", (b.number(length), scope.integer(amount)), Kind.I64, Kind.I64))


def _size_vector(scope: LoweringScope, phase: LibraryPhase) -> None:
    (result,), sizes, b = phase.results, phase.attributes["sizes"], scope.b
    assert isinstance(sizes, tuple)
    target = scope.destination_of(result)
    for position, size in enumerate(sizes):
        scope.write(target, (Index((), position),), (b.number(scope.index_of(size)),))
    scope.values[result] = target


# ----------------------------------------------------------------------------------------------- values


def _count(sizes: Sequence[Size]) -> int | None:
    numbers = [size.constant for size in sizes]
    return prod(n for n in numbers if n is not None) if None not in numbers else None


def _contract(scope: LoweringScope, phase: LibraryPhase) -> None:
    """A product with a vector, or of small or integer matrices, as a sum of products; other products of matrices go to BLAS."""
    left, right = phase.args
    (result,), shapes = phase.results, (scope.shape(phase.args[0]), scope.shape(phase.args[1]))
    rows, columns = _count(shapes[0][:-1]), _count(shapes[1][1:])
    numbers = [n for n in (rows, shapes[0][-1].constant, columns) if n is not None]
    vectors = 1 in (rows, columns) or (len(numbers) == 3 and uses_ordered_sums(*numbers))
    kind = scope.kind(result)
    if not vectors and not kind.is_integer:
        raise NotLowerable("a product of matrices is a routine")
    if scope.kind(left) is not kind or scope.kind(right) is not kind:
        raise NotLowerable("a product of two kinds")
    lower_structured(scope, sum_of_products(kind, shapes[0], shapes[1], 0, (left, right, result)))


def _runtime_size(scope: LoweringScope, phase: LibraryPhase) -> None:
    """Defines a run-time size by an integer value."""
    (variable,) = phase.defines
    define_size(scope, variable, scope.integer(phase.args[0]), phase.span)
    check_guards(scope, variable)


def _scan(scope: LoweringScope, phase: LibraryPhase) -> None:
    """A scan by a function that is exact in any order, as a sequential loop."""
    if len(phase.args) > 1:
        raise NotLowerable("a scan in two passes is a routine")
    (arg,), (result,), axis, b = phase.args, phase.results, _axis(phase), scope.b
    function, kind = phase.attributes["function"], scope.kind(phase.results[0])
    assert isinstance(function, str)
    if kind.is_float and function not in ("min", "max"):
        raise NotLowerable("a scan of floats is a routine")
    if kind.is_complex or function not in REDUCTIONS or scope.kind(arg) is not kind:
        raise NotLowerable(f"a scan by {function} is a routine")
    shape, target = scope.shape(arg), scope.destination_of(result)
    one = Index((), 1)
    with scope.points([s for a, s in enumerate(shape) if a != axis], LoopKind.SERIAL) as others:

        def point(index: Index) -> tuple[Index, ...]:
            return (*others[:axis], index, *others[axis:])

        with b.loop(LoopKind.SERIAL, (ZERO,), (scope.index_of(shape[axis]), one)):
            scope.write(target, point(ZERO), scope.items(arg, point(ZERO)))
        with b.loop(LoopKind.SERIAL, (one,), (scope.index_of(shape[axis]),)) as loop:
            (before,) = scope.read(target, point(plus(at(loop.index), Index((), -1))))
            total = b.apply(function, (before, scope.load(arg, point(at(loop.index)))), kind, kind)
            scope.write(target, point(at(loop.index)), (total,))
    scope.values[result] = target


_OPS: Final[dict[str, Callable[[LoweringScope, LibraryPhase], None]]] = {
    "gather": _gather, "update": _update, "join": _join, "stack": _stack, "rotate": _rotate, "size_vector": _size_vector,
    "contract": _contract, "runtime_size": _runtime_size, "scan": _scan,
}  # fmt: skip

_MAX_DEFERRED_PIECES: Final = 3
