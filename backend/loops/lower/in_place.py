"""Which phases may write over what they read, and what may show its operand's memory: liveness in one block.

Note [In place].  The new value of a component of the state may be written over the old one where nothing reads the old one
later, and where whoever writes it reads each old item before that item is written: an update of some items, a map that reads the
old value at its own point only, an inner loop or branch of which the same holds.  Otherwise the component has two buffers, and
turns say which is now.

Neighbours: `control` (asks).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from math import prod
from typing import Final

from ....typechecker.sizes import Size
from ...graph import traverse
from ...graph.phases import (
    Affine,
    AffineIndex,
    AxisKind,
    Branch,
    LibraryPhase,
    Loop,
    Phase,
    ReadNode,
    Reshaped,
    Structured,
    SubGraph,
    Term,
    ValueId,
)
from .library import LAZY, box_of, writes_over
from .values import Scope


def in_place(block: SubGraph, old: ValueId, new: ValueId) -> tuple[ValueId, ...] | None:
    """The values on the way from `old` to the result `new` of a block that may all have its place; see Note [In place]."""
    makers = {value: (at_, phase) for at_, phase in enumerate(block.phases) for value in traverse.results(phase)}
    chain: list[ValueId] = []
    moved: set[ValueId] = set()
    for phase in block.phases:
        if isinstance(phase, LibraryPhase) and phase.op in LAZY and not moved.union((old,)).isdisjoint(phase.args):
            moved.add(phase.results[0])
    value = new
    while value != old:
        if value not in makers or value in chain:
            return None
        chain.append(value)
        position, phase = makers[value]
        source = _written_over(phase, value, old, moved)
        if source is None:
            return None
        later = [v for following in block.phases[position + 1 :] for v in traverse.uses(following)]
        if source in later or (source in block.results and source != new):
            return None
        value = source
    return tuple(chain)


def _written_over(phase: Phase, value: ValueId, old: ValueId, moved: set[ValueId]) -> ValueId | None:
    """The operand over which a phase may write `value`; not where it reads what has only been moved, which needs no copy then."""
    match phase:
        case LibraryPhase():
            source = writes_over(phase)
            return None if source is None or source in phase.args[1:] else source
        case Structured():
            if any(axis.kind is AxisKind.REDUCE for axis in phase.axes):
                return None
            if moved & set(traverse.operands(phase)):
                return None
            reads = [read for read in phase.reads if read.value == old]
            return old if reads and all(not read.projection.stages for read in reads) else None
        case Loop():
            place = phase.results.index(value)
            source = phase.initial[place]
            inside = [v for graph in traverse.subgraphs(phase) for v in _free(graph)]
            return None if phase.keep or source in inside or phase.initial.count(source) > 1 else source
        case Branch():
            place = phase.results.index(value)
            for arm in (phase.then, phase.otherwise):
                if in_place(arm, old, arm.results[place]) is None:
                    return None
            return old
        case _:
            return None


def _free(graph: SubGraph) -> Iterable[ValueId]:
    for phase in graph.phases:
        yield from traverse.uses(phase)
    yield from graph.results


def _shows(phase: Phase) -> tuple[ValueId, ...]:
    """The operands whose items are those of a phase, in another order: of a rotation, a join, or what only renames indices."""
    match phase:
        case LibraryPhase(op="join"):
            return phase.args
        case LibraryPhase(op="gather" | "rotate"):
            return phase.args[:1]
        case Structured(reads=(read,), body=(ReadNode(),), results=(result,)) if result.reduction is None:
            return (read.value,) if all(map(_is_known, read.projection.stages)) else ()
        case _:
            return ()


def _is_known(stage: Affine | Reshaped) -> bool:
    """Is it known which item each point reads?"""
    if isinstance(stage, Affine):
        return not stage.fills
    return all(size.constant is not None for size in (*stage.source, *stage.target))


def aliased(block: SubGraph, overwritten: AbstractSet[ValueId], shape: Callable[[ValueId], Sequence[Size]]
            ) -> set[ValueId]:  # fmt: skip
    """Results of gathers by one index, rotations, joins and views that may show their operands, not overwritten before that.

    A view is worth it where gathers alone read it, which read fewer items than it has."""
    writers: dict[ValueId, int] = {}
    last: dict[ValueId, int] = {}
    for position, phase in enumerate(block.phases):
        for value in traverse.uses(phase):
            last[value] = position
        if any(result in overwritten for result in traverse.results(phase)):
            for value in traverse.uses(phase):
                writers.setdefault(value, position)
    last.update(dict.fromkeys(block.results, len(block.phases)))
    nested = set(block.results) | {v for phase in block.phases if not isinstance(phase, Structured) for v in traverse.uses(phase)}
    written: dict[ValueId, int] = {}
    for phase in block.phases:
        shown = _shows(phase)
        if not shown:
            continue
        (result,) = traverse.results(phase)
        if isinstance(phase, Structured) and not _is_read_in_few(block, result, shape):
            continue
        if isinstance(phase, LibraryPhase) and phase.op in LAZY and result in nested:
            continue
        first = min(min(written.get(arg, _NEVER), writers.get(arg, _NEVER)) for arg in shown)
        if result not in block.results and result not in overwritten and last.get(result, 0) < first:
            written[result] = first
    return set(written)


def _is_read_in_few(block: SubGraph, value: ValueId, shape: Callable[[ValueId], Sequence[Size]]) -> bool:
    """Do only gathers of several items read a value, and fewer items than it has?"""
    readers = [phase for phase in block.phases if value in traverse.uses(phase)]
    if not readers or value in block.results:
        return False
    read = 0
    for phase in readers:
        if not isinstance(phase, LibraryPhase) or phase.op != "gather" or phase.args.count(value) != 1 or value != phase.args[0]:
            return False
        own = [size.constant for size in shape(phase.results[0])]
        if not shape(phase.args[1]) or None in own:
            return False
        read += prod(n or 0 for n in own)
    have = [size.constant for size in shape(value)]
    return None not in have and read < prod(n or 0 for n in have)


_NEVER: Final = 1 << 60


def chains_of(body: SubGraph, until: SubGraph | None) -> list[tuple[ValueId, ...] | None]:
    """For each component how it may stay in place."""
    chains: list[tuple[ValueId, ...] | None] = []
    for place, (old, new) in enumerate(zip(body.params, body.results, strict=True)):
        chain = in_place(body, old, new)
        seen = until is not None and until.params[len(body.params) + place] in set(_free(until))
        chains.append(None if seen or body.results.count(new) > 1 else chain)
    return chains


def is_made_beside(body: SubGraph, old: ValueId, chain: Sequence[ValueId], scope: Scope) -> bool:
    """Is the first update of a box, of half of the items or more, made of items of `old` at other points?  It needs memory of its
    own then, which may as well be the next state."""
    makers = {value: phase for phase in body.phases for value in traverse.results(phase)}
    update = makers.get(chain[-1]) if chain else None
    if not isinstance(update, LibraryPhase) or update.op != "update":
        return False
    shape, made = scope.shape(old), makers.get(update.args[-1])
    start = box_of(update, scope.known, shape)
    if start is None or not isinstance(made, Structured) or any(axis.kind is AxisKind.REDUCE for axis in made.axes):
        return False
    whole, part = (prod(size.constant or 0 for size in scope.shape(value)) for value in (old, update.args[-1]))
    here = tuple(AffineIndex((Term(axis, 1),), first) for axis, first in enumerate(start))
    stages = [read.projection.stages for read in made.reads if read.value == old]
    return 2 * part >= whole and any(own != (Affine(here, shape),) for own in stages)


def read_outside(phase: Branch) -> set[ValueId]:
    """Values that the arms read and do not make."""
    made = {v for arm in (phase.then, phase.otherwise) for p in traverse.all_phases(arm) for v in traverse.results(p)}
    return {v for v in traverse.uses(phase) if v not in made}
