"""Phases that are no loops: the region calls the routine that runs them one by one, so their bits are the same.

A routine reads operands where they lie; what lies nowhere is written first.  Sizes that the region has found so far are numbers
of the call, for which the routine is made anew; so what only the items of a phase depend on, such as the index of a loop, is an
operand instead.  A size that the phase finds is written to a word, and known from then on.  Guards that wait for a size are
checked by a routine, too, as soon as it is known.

Neighbours: `control` (asks where there are no loops), `backend.library.routines` (runs them).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from ....lang.source import Span
from ....typechecker.elements import Kind
from ....typechecker.sizes import Size, SizeVariable, number
from ...graph import traverse
from ...graph.cells import is_unread
from ...graph.phases import Affine, LibraryPhase, Projection, Read, ReadNode, SizeNode, Structured, ValueId
from ..builder import at
from ..ir import ZERO, Box, Call, Fail, Index
from .values import Check, Place, Routine, Scope


def call_routine(scope: Scope, phase: Structured | LibraryPhase) -> None:
    """Results of a phase by its routine; nothing is done where nobody reads them."""
    if is_unread(phase):
        scope.values.update((result, scope.place_for(result)) for result in traverse.results(phase))
        return
    operands, results, defines = tuple(dict.fromkeys(traverse.operands(phase))), traverse.results(phase), traverse.defines(phase)
    turned = tuple((v, *scope.turned[v]) for v in operands if v in scope.turned and scope.turned[v][0] in operands)
    operands = tuple(v for v in operands if v not in [own for own, _, _ in turned])
    numbers = _numbers(scope, phase)
    reads = [_box(scope, _where(scope, operand), scope.shape(operand)) for operand in operands]
    reads += [_box(scope, _number(scope, size), ()) for size in numbers.values()]
    targets = [scope.place_for(result) for result in results]
    words = [scope.room(Kind.I64, ()) for _ in defines]
    writes = [
        _box(scope, target, [_most(scope, size, defines) for size in scope.shape(result)])
        for target, result in zip(targets, results, strict=True)
    ]
    writes += [_box(scope, word, ()) for word in words]
    sizes = _sizes(scope, phase, numbers)
    scope.routines.append(Routine(phase, (*operands, *numbers), results, sizes, defines, turned, numbers))
    _call(scope, reads, writes, sizes)
    for variable, word in zip(defines, words, strict=True):
        (register,) = scope.read(word, ())
        found(scope, variable, register, phase.span)
    for result, target in zip(results, targets, strict=True):
        scope.values[result] = target if scope.shape(result) else scope.read(target, ())


def _numbers(scope: Scope, phase: Structured | LibraryPhase) -> dict[ValueId, Size]:
    """The sizes that the region has found and that items of a phase are made of."""
    sizes = [node.size for node in phase.body if isinstance(node, SizeNode)] if isinstance(phase, Structured) else []
    own = [size for size in dict.fromkeys(sizes) if any(variable in scope.sizes for variable in size.variables())]
    return {ValueId(-1 - at): size for at, size in enumerate(own)}


def _number(scope: Scope, size: Size) -> Place:
    place = scope.room(Kind.I64, ())
    scope.write(place, (), (scope.b.number(scope.index_of(size)),))
    return place


def with_numbers(phase: Structured, numbers: Mapping[ValueId, Size]) -> Structured:
    """A phase that reads these sizes as values of rank 0."""
    nodes = {size: ReadNode(len(phase.reads) + at, Kind.I64) for at, size in enumerate(numbers.values())}
    body = tuple([nodes.get(node.size, node) if isinstance(node, SizeNode) else node for node in phase.body])
    reads = [Read(value, Projection((Affine((), ()),))) for value in numbers]
    return replace(phase, body=body, reads=(*phase.reads, *reads))


def check_guards(scope: Scope, variable: SizeVariable) -> None:
    """The guards that wait for a size that is known now."""
    if variable in scope.waits_for:
        sizes = tuple(scope.sizes)
        scope.routines.append(Routine(None, (), (), sizes, (variable,)))
        _call(scope, (), (), sizes)


def hear(scope: Scope, index: str, every: int) -> None:
    """An interrupt is heard in iterations whose index is a multiple of a power of two: the caller's code is entered."""
    b = scope.b
    scope.routines.append(Routine(None, (), (), ()))
    with b.block() as there:
        _call(scope, (), (), ())
    if every == 1:
        b.statements += there
        return
    place = b.apply("band", (index, b.constant(Kind.I64, every - 1)), Kind.I64, Kind.I64)
    b.choose(b.compare("le", at(place), ZERO), there, ())


def found(scope: Scope, variable: SizeVariable, register: str, span: Span) -> None:
    """A size is known, and fails where it is outside its bounds."""
    b = scope.b
    low = b.compare("lt", at(register), ZERO)
    bad, values = low, [register]
    if variable.cap is not None:
        cap = scope.index_of(variable.cap)
        bad = b.apply("or", (low, b.compare("lt", cap, at(register))), Kind.BOOL, Kind.BOOL)
        values.append(b.number(cap))
    b.statements.append(Fail(scope.check(Check(span, f"size {variable.name}")), bad, tuple(values)))
    scope.sizes[variable] = register


def _call(scope: Scope, reads: Sequence[Box], writes: Sequence[Box], sizes: Sequence[SizeVariable]) -> None:
    numbers = tuple(at(scope.sizes[variable]) for variable in sizes)
    scope.b.statements.append(Call(len(scope.routines) - 1, tuple(reads), tuple(writes), numbers))


def _sizes(scope: Scope, phase: Structured | LibraryPhase, numbers: Mapping[ValueId, Size]) -> tuple[SizeVariable, ...]:
    """What the region has found of the sizes that a phase depends on, but for what it reads as numbers; all of it where guards
    wait for what the phase finds."""
    defines = traverse.defines(phase)
    if scope.waits_for.intersection(defines):
        return tuple(scope.sizes)
    shapes = [size for value in (*traverse.results(phase), *traverse.operands(phase)) for size in scope.shape(value)]
    read = with_numbers(phase, numbers) if isinstance(phase, Structured) else phase
    needed = {variable for size in (*traverse.sizes(read), *shapes) for variable in size.variables()}
    return tuple(variable for variable in scope.sizes if variable in needed and variable not in defines)


def _most(scope: Scope, size: Size, defines: Sequence[SizeVariable]) -> Size:
    """A size, or if it is not known yet the greatest that it can be."""
    return number(scope.most(size)) if size.variables() & set(defines) else size


def _where(scope: Scope, value: ValueId) -> Place:
    """The memory of a value."""
    where = scope.where(value) if value not in scope.lazy else None
    if isinstance(where, Place):
        return where
    shape, place = scope.shape(value), scope.room(scope.kind(value), scope.shape(value))
    with scope.points(shape) as point:
        scope.write(place, point, scope.items(value, tuple(point)))
    return place


def _box(scope: Scope, place: Place, shape: Sequence[Size]) -> Box:
    """All items of a value of this shape that lies at a place."""
    free = iter(shape)
    axes: list[tuple[Index, Index | None]] = [
        (ZERO, scope.index_of(next(free))) if fixed is None else (fixed, None) for fixed in place.fixed
    ]
    axes += [(ZERO, scope.index_of(size)) for size in free]
    axes += [(ZERO, Index((), 2))] if place.parts > 1 else []
    return Box(place.view, tuple(first for first, _ in axes), tuple(size for _, size in axes))
