"""Lowers a region (a loop, fold, scan or map with its body) to one loop program.

The caller runs the iterations in ranges (parameters `first` and `last`), so that it can poll for interrupts between ranges and
use threads where cells are independent.  State that passes from one range to the next is in views: the state of a loop, which of
two buffers holds it, and whether the loop has exited early.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet
from enum import Enum
from math import prod
from typing import Final

from ...lang.support.records import dataclass, replace
from ...typechecker.core.operations import CoreGuard, Payload
from ...typechecker.elements import ArrayType, Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable, number
from ..graph import traverse
from ..graph.bind_sizes import NO_KNOWN_VALUES, KnownValues
from ..graph.fusion_groups import flatten_loop, merge_elementwise_loop
from ..graph.phases import (
    Affine,
    AffineIndex,
    AxisKind,
    Branch,
    Constant,
    Fold,
    LibraryPhase,
    Loop,
    Map,
    Phase,
    ReadNode,
    Reshaped,
    Structured,
    SubGraph,
    Term,
    ValueId,
    bits_of,
    payload_key,
)
from ..loopir.facts import DEFERRED_OPS, in_place_chain, in_place_chains, trips_and_points
from ..loopir.ir import ONE, ZERO, Fail, Index, LoopBuilder, LoopKind, LoopProgram, Statement, ViewRole, at, plus, times
from .body import legalize
from .library_loops import (
    call_routine,
    check_guards,
    define_size,
    lower_library,
    poll,
    start_of_updated_box,
)
from .phase import copy, lower_structured
from .scope import (
    Check,
    ConstantData,
    CurrentBuffer,
    ExitFlag,
    InitialState,
    LoweringScope,
    NotLowerable,
    Registers,
    Routine,
    ScopeOutput,
    ScratchView,
    Source,
    StateView,
    Storage,
    ValueLocation,
)


# ------------------------------------------------------------------------------------------------ buffer reuse
#
# Liveness in one block: the phases that may overwrite their operands, and the results that may alias them.
#
def _viewed_operands(phase: Phase) -> tuple[ValueId, ...]:
    """The operands of which the phase is a view: of a rotation, a join, a gather or a structured view; of other phases none."""
    match phase:
        case LibraryPhase(op="join"):
            return phase.args
        case LibraryPhase(op="gather" | "rotate"):
            return phase.args[:1]
        case Structured(reads=(read,), body=(ReadNode(),), results=(result,)) if result.reduction is None:
            return (read.value,) if all(map(_is_computable, read.projection.stages)) else ()
        case _:
            return ()


def _is_computable(stage: Affine | Reshaped) -> bool:
    """Can lowering express the item that each point reads?"""
    if isinstance(stage, Affine):
        return not stage.fills
    return all(size.constant is not None for size in (*stage.source, *stage.target))


def aliased_results(block: SubGraph, overwritten: AbstractSet[ValueId], shape: Callable[[ValueId], Sequence[Size]]
            ) -> set[ValueId]:  # fmt: skip
    """The results of gathers by one index, rotations, joins and views that may alias their operands, since these are not
    overwritten before the last read.  A structured view aliases only if gathers alone read it, and fewer items than it has."""
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
        shown = _viewed_operands(phase)
        if not shown:
            continue
        (result,) = traverse.results(phase)
        if isinstance(phase, Structured) and not _is_read_in_few(block, result, shape):
            continue
        if isinstance(phase, LibraryPhase) and phase.op in DEFERRED_OPS and result in nested:
            continue
        first = min(min(written.get(arg, _NEVER), writers.get(arg, _NEVER)) for arg in shown)
        if result not in block.results and result not in overwritten and last.get(result, 0) < first:
            written[result] = first
    return set(written)


def _is_read_in_few(block: SubGraph, value: ValueId, shape: Callable[[ValueId], Sequence[Size]]) -> bool:
    """Is a value read only by gathers of several items, which together read fewer items than it has?"""
    readers = [phase for phase in block.phases if value in traverse.uses(phase)]
    if not readers or value in block.results:
        return False
    read = 0
    for phase in readers:
        if not isinstance(phase, LibraryPhase) or phase.op != "gather" or phase.args.count(value) != 1 or value != phase.args[0]:
            return False
        lengths = [size.constant for size in shape(phase.results[0])]
        if not shape(phase.args[1]) or None in lengths:
            return False
        read += prod(n or 0 for n in lengths)
    have = [size.constant for size in shape(value)]
    return None not in have and read < prod(n or 0 for n in have)


_NEVER: Final = 1 << 60


def needs_second_buffer(body: SubGraph, old: ValueId, chain: Sequence[ValueId], scope: LoweringScope) -> bool:
    """Does the first update of the chain write a box of half the items or more, computed from items of `old` at other points?

    The box would need scratch memory of its own then; a second buffer for the state costs no more."""
    makers = {value: phase for phase in body.phases for value in traverse.results(phase)}
    update = makers.get(chain[-1]) if chain else None
    if not isinstance(update, LibraryPhase) or update.op != "update":
        return False
    shape, maker = scope.shape(old), makers.get(update.args[-1])
    start = start_of_updated_box(update, scope.known, shape)
    if start is None or not isinstance(maker, Structured) or any(axis.kind is AxisKind.REDUCE for axis in maker.axes):
        return False
    items, part = (prod(size.constant or 0 for size in scope.shape(value)) for value in (old, update.args[-1]))
    here = tuple(AffineIndex((Term(axis, 1),), first) for axis, first in enumerate(start))
    stages = [read.projection.stages for read in maker.reads if read.value == old]
    return 2 * part >= items and any(stages_of_read != (Affine(here, shape),) for stages_of_read in stages)


def captured_values(phase: Branch) -> set[ValueId]:
    """The values that the arms of a branch read but do not define."""
    defined = {v for arm in (phase.then, phase.otherwise) for p in traverse.all_phases(arm) for v in traverse.results(p)}
    return {v for v in traverse.uses(phase) if v not in defined}


# ----------------------------------------------------------------------------------------------------- loop state
#
# The state of loops and folds: its components and their storage.
#
# Note [State].  Components of rank 0 are loop-carried registers.  Others are updated in place (`in_place_chain`), or have two
# buffers and a loop-carried parity that says which is current; if all states are kept, iteration i reads cell i and writes cell i
# + 1.  A loop inside a region allocates scratch for its state; the caller passes the state of the region's own loop.  A fold is a
# loop backwards over the cells of its argument, and a scan a loop forwards that keeps all states.

class StateStorage(Enum):
    """The storage of a component of a loop's state; see Note [State]."""

    REGISTERS = "registers"
    IN_PLACE = "in place"
    DOUBLE_BUFFERED = "two buffers in turn"
    STACKED = "every state is kept"


@dataclass(frozen=True, slots=True)
class Component:
    """One component of a loop's state.  `memory`: its buffers (None: it is in registers); `chain`: the values of its in-place
    chain, which share one buffer."""

    param: ValueId
    storage: StateStorage
    memory: ValueLocation | None = None
    chain: tuple[ValueId, ...] = ()

    def buffers(self, iteration: Index, parity: Index) -> tuple[ValueLocation, ValueLocation]:
        """The locations of the old and of the new value in this iteration."""
        assert self.memory is not None
        match self.storage:
            case StateStorage.DOUBLE_BUFFERED:
                return self.memory.cell(0, parity), self.memory.cell(0, plus(ONE, times(parity, -1)))
            case StateStorage.STACKED:
                return self.memory.cell(0, iteration), self.memory.cell(0, plus(iteration, ONE))
        return self.memory, self.memory


@dataclass(frozen=True, slots=True)
class LoopState:
    """A loop or fold in one form: `body` maps the state to the next one, in the iterations `first` … `length`-1.

    `initial` returns the first state.  `enter(i)` defines, at the start of iteration i, the index and the cells of that
    iteration. `is_pointwise`: does each item of the next state depend only on the item at the same index, and on values from
    outside?"""

    phase: Loop | Fold
    body: SubGraph
    until: SubGraph | None
    first: int
    length: Size
    keep: bool
    initial: Callable[[], Sequence[Storage]]
    enter: Callable[[str], None]
    is_pointwise: bool = False

    @property
    def results(self) -> tuple[ValueId, ...]:
        return self.phase.results

    def storages(self, scope: LoweringScope) -> list[tuple[StateStorage, tuple[ValueId, ...]]]:
        """By component: its storage and its in-place chain."""
        if self.keep:
            return [(StateStorage.STACKED, ())] * len(self.results)
        rows: list[tuple[StateStorage, tuple[ValueId, ...]]] = []
        for param, chain in zip(self.body.params, in_place_chains(self.body, self.until), strict=True):
            is_apart = chain is None or needs_second_buffer(self.body, param, chain, scope)
            in_memory = StateStorage.DOUBLE_BUFFERED if is_apart else StateStorage.IN_PLACE
            storage = in_memory if scope.shape(param) else StateStorage.REGISTERS
            rows.append((storage, chain or ()))
        return rows


def pointwise(loop: Loop, types: Mapping[ValueId, ArrayType]) -> Structured | None:
    """One iteration as a single phase, if it is element-wise on the state and kernels support its functions; else None."""
    merged = merge_elementwise_loop(loop, lambda value: types[value].element.kind, lambda value: types[value].shape)
    return None if merged is None or legalize(merged, complexes=True, loops=True) is None else merged


def loop_state_of(scope: LoweringScope, phase: Loop | Fold) -> LoopState:
    if isinstance(phase, Fold):
        return _of_fold(scope, phase)
    if phase.keep and phase.until is not None:
        raise NotLowerable("every state of a loop that may end early")
    merged = pointwise(phase, scope.types)
    body = SubGraph(phase.state, phase.body.phases, phase.body.results)
    if merged is not None:
        body = SubGraph(phase.state, (merged,), phase.results)
    cells = [scope.storage_of(value) for value in phase.cells]

    def enter(index: str) -> None:
        if phase.index is not None:
            scope.sizes[phase.index] = index
            check_guards(scope, phase.index)
        for param, cell in zip(phase.body.params, cells, strict=False):
            scope.cell(param, cell, [at(index)])

    def initial() -> Sequence[Storage]:
        return [scope.storage_of(value) for value in phase.initial]

    return LoopState(phase, body, phase.until, 0, phase.trip, phase.keep, initial, enter, merged is not None)


def _of_fold(scope: LoweringScope, phase: Fold) -> LoopState:
    """A fold (right to left) or scan (left to right) as a loop whose first state is a cell of the argument."""
    count, length = len(phase.args), scope.shape(phase.args[0])[0]
    args = [scope.storage_of(arg) for arg in phase.args]
    params = phase.body.params[:count], phase.body.params[count:]
    state, cells = params if phase.scan else params[::-1]

    def position(number: Index) -> Index:
        return number if phase.scan else plus(plus(scope.index_of(length), Index((), -1)), times(number, -1))

    def enter(index: str) -> None:
        for param, arg in zip(cells, args, strict=True):
            scope.cell(param, arg, [position(at(index))])

    def initial() -> Sequence[Storage]:
        return [arg.cell(0, position(ZERO)) for arg in args if isinstance(arg, ValueLocation)]

    return LoopState(phase, SubGraph(state, phase.body.phases, phase.body.results), None, 1, length, phase.scan, initial, enter)


# ----------------------------------------------------------------------------------------------- control flow
#
# Blocks of phases, and the phases with sub-graphs: loops, branches, maps and folds.
#
# Note [Interrupts].  The caller polls for interrupts between ranges of the outermost iterations.  If one iteration is long
# because of an inner loop, that loop polls too, once in `_POLL_POINTS` points.

# --------------------------------------------------------------------------------------------- blocks


def lower_block(scope: LoweringScope, block: SubGraph, overwritten: AbstractSet[ValueId] = frozenset()) -> list[Storage]:
    """Lower every phase in order; returns the storage of the results, which is that of `scope.destinations` where it is given."""
    scope.aliases |= aliased_results(block, overwritten, scope.shape)
    destinations = [scope.destinations.get(result) for result in block.results]
    for phase in block.phases:
        lower_phase(scope, phase)
    places: list[Storage] = []
    for result, target in zip(block.results, destinations, strict=True):
        source = scope.storage_of(result)
        if target is not None:
            scope.destinations.pop(result, None)
            if isinstance(source, ValueLocation):
                copy(scope, scope.shape(result), source, target)
                source = target
        places.append(source)
    return places


def lower_phase(scope: LoweringScope, phase: Phase) -> None:
    match phase:
        case Structured() | LibraryPhase():
            _lower_leaf(scope, phase)
        case Constant():
            _constant(scope, phase)
        case Loop() | Fold():
            _lower_inner_loop(scope, loop_state_of(scope, phase))
        case Branch():
            _branch(scope, phase)
        case Map():
            _lower_inner_map(scope, phase)
        case _:
            raise NotLowerable(f"{type(phase).__name__.lower()} inside a loop")


def _lower_leaf(scope: LoweringScope, phase: Structured | LibraryPhase) -> None:
    """Lower a phase without sub-graphs to loops or, if that is not possible, to a call of its routine."""
    statement_count, destinations = len(scope.b.statements), dict(scope.destinations)
    try:
        if isinstance(phase, Structured):
            lower_structured(scope, phase)
        else:
            lower_library(scope, phase)
    except NotLowerable:
        del scope.b.statements[statement_count:]
        scope.destinations = destinations
        call_routine(scope, phase)


def _constant(scope: LoweringScope, phase: Constant) -> None:
    kind, shape = scope.kind(phase.result), scope.shape(phase.result)
    if shape:
        scope.values[phase.result] = scope.external_view(kind, shape, ConstantData(phase))
    else:
        literal = phase.data[0]
        parts: tuple[Payload, ...] = (complex(literal).real, complex(literal).imag) if kind.is_complex else (literal,)
        rows = zip(scope.parts(phase.result), parts, strict=True)
        scope.values[phase.result] = tuple(scope.b.constant(part, bits_of(part, value)) for part, value in rows)


# --------------------------------------------------------------------------------------------- loops


@dataclass(frozen=True, slots=True)
class LoopExit:
    """Registers after a loop: its components of rank 0 (None for others), the current buffer, and whether it exited early."""

    items: tuple[Registers | None, ...]
    parity: str
    ended: str


def iterate(scope: LoweringScope, loop: LoopState, components: Sequence[Component], bounds: tuple[Index, Index],
            firsts: Sequence[Registers | None]) -> LoopExit:  # fmt: skip
    """The loop over iterations from `bounds[0]` to `bounds[1]`; `firsts`: the initial registers of components of rank 0."""
    b, flip = scope.b, any(c.storage is StateStorage.DOUBLE_BUFFERED for c in components)
    first = Index((), loop.first)
    carried: list[tuple[Kind, str, str | None]] = []
    for component, item in zip(components, firsts, strict=True):
        carried += [(part, r, None) for part, r in zip(scope.parts(component.param), item, strict=True)] if item else []
    registers = len(carried)
    if flip:
        done, two = plus(bounds[0], times(first, -1)), b.constant(Kind.I64, 2)
        carried.append((Kind.I64, b.apply("residue", (two, b.number(done)), Kind.I64, Kind.I64), None))
    if loop.until is not None:
        carried.append((Kind.BOOL, b.constant(Kind.BOOL, 0), None))

    def items(supply: Sequence[str]) -> list[Registers | None]:
        left = iter(supply)
        return [tuple(next(left) for _ in item) if item is not None else None for item in firsts]

    known = dict(scope.sizes)
    with b.loop(LoopKind.SERIAL, bounds[:1], bounds[1:], carried) as opened:
        parity = at(opened.inside[registers]) if flip else ZERO
        iteration = plus(at(opened.index), times(first, -1))
        buffers = [None if c.memory is None else c.buffers(iteration, parity) for c in components]
        old: list[Storage] = []
        for item, places in zip(items(opened.inside[:registers]), buffers, strict=True):
            assert item is not None or places is not None
            old.append(item if item is not None else places[0])  # type: ignore[index]
        loop.enter(opened.index)
        new = _step(scope, loop, components, old, [None if places is None else places[1] for places in buffers])
        registered = [where for item, where in zip(firsts, new, strict=True) if item is not None]
        following = [register for where in registered for register in scope.read(where, ())]
        if flip:
            following.append(b.number(plus(ONE, times(parity, -1))))
        if loop.until is not None:
            opened.until = _exit_condition(scope, loop.until, new, old)
            following.append(opened.until)
        opened.yields = tuple(following)
    scope.sizes = known
    last = opened.results
    return LoopExit(tuple(items(last[:registers])), last[registers] if flip else "", last[-1] if loop.until is not None else "")


def _step(
    scope: LoweringScope, loop: LoopState, components: Sequence[Component], old: Sequence[Storage],
    targets: Sequence[ValueLocation | None],
) -> list[Storage]:  # fmt: skip
    """Lowers one iteration; returns the storage of the next state, which is the component's target where it has one."""
    overwritten: set[ValueId] = set()
    for component, result, old_value, target in zip(components, loop.body.results, old, targets, strict=True):
        scope.values[component.param] = old_value
        if target is not None and scope.shape(component.param):
            for value in component.chain or (result,):
                scope.destinations.setdefault(value, target)
            overwritten.update(component.chain)
    new: list[Storage] = []
    for component, where, target in zip(components, lower_block(scope, loop.body, overwritten), targets, strict=True):
        shape = scope.shape(component.param)
        if shape:
            assert target is not None
            copy(scope, shape, where, target)
            new.append(target)
            continue
        item = scope.read(where, ())
        if target is not None:
            scope.write(target, (), item)
        new.append(item)
    return new


def _exit_condition(scope: LoweringScope, until: SubGraph, new: Sequence[Storage], old: Sequence[Storage]) -> str:
    """The register of the exit condition on this state."""
    scope.values.update(zip(until.params, (*new, *old), strict=True))
    (stop,) = lower_block(scope, until)
    (register,) = scope.read(stop, ())
    return register


# ---------------------------------------------------------------------------------- loops inside loops


def _lower_inner_loop(scope: LoweringScope, loop: LoopState) -> None:
    """A loop or fold inside a region: its initial state is copied to its storage, and its results stay there."""
    b, length, results = scope.b, scope.index_of(loop.length), loop.results
    loop = _with_polling(scope, loop)
    bounds = (Index((), loop.first), length)
    if isinstance(loop.phase, Fold) and not loop.keep:
        b.statements.append(Fail(scope.check(Check(loop.phase.span, "empty")), b.compare("lt", length, ONE), ()))
    with b.block() as statements:
        components: list[Component] = []
        firsts: list[Registers | None] = []
        rows = zip(loop.body.params, results, loop.initial(), loop.storages(scope), strict=True)
        for param, result, first, (storage, chain) in rows:
            kind, shape = scope.kind(param), scope.shape(param)
            memory: ValueLocation | None = None
            if storage is StateStorage.DOUBLE_BUFFERED:
                memory = scope.scratch(kind, (number(2), *shape))
            elif storage is not StateStorage.REGISTERS:
                memory = scope.destination_of(result)
            if memory is not None:
                copy(scope, shape, first, memory if storage is StateStorage.IN_PLACE else memory.cell(0, ZERO))
            components.append(Component(param, storage, memory, chain))
            firsts.append(None if shape else scope.read(first, ()))
        after = iterate(scope, loop, components, bounds, firsts)
    if loop.first and loop.keep:  # an empty scan has no first state
        b.choose(b.compare("lt", ZERO, length), statements, ())
    else:
        b.statements += statements
    for result, component, item in zip(results, components, after.items, strict=True):
        if component.memory is None:
            assert item is not None
            scope.define_scalar(result, item)
            continue
        where = component.memory
        if component.storage is StateStorage.DOUBLE_BUFFERED:
            where = where.cell(0, at(after.parity))
            if result in scope.destinations:
                destination = scope.destination_of(result)
                copy(scope, scope.shape(result), where, destination)
                where = destination
        scope.values[result] = where


def _poll_interval(scope: LoweringScope, phase: Loop | Fold | Map) -> int:
    """The number of iterations, a power of two, after which an inner loop polls for interrupts; 0 for a short loop."""
    trips, points = trips_and_points(phase, scope.types)
    return 1 << max(0, (_POLL_POINTS // points).bit_length() - 1) if trips * points >= _POLL_POINTS else 0


_POLL_POINTS: Final = 1 << 22


def _with_polling(scope: LoweringScope, loop: LoopState) -> LoopState:
    """The inner loop; it polls for interrupts if it is long."""
    every = _poll_interval(scope, loop.phase)

    def enter(index: str) -> None:
        poll(scope, index, every)
        loop.enter(index)

    return replace(loop, enter=enter) if every else loop


# -------------------------------------------------------------------------------------------- branches


def _branch(scope: LoweringScope, phase: Branch) -> None:
    b = scope.b
    condition = scope.load(phase.condition, ())
    targets = [scope.destination_of(r) if scope.shape(r) else None for r in phase.results]
    arms: list[tuple[list[Statement], list[str]]] = []
    known, sizes = dict(scope.values), dict(scope.sizes)
    for arm in (phase.then, phase.otherwise):
        scope.values, scope.sizes = dict(known), dict(sizes)
        with b.block() as statements:
            overwritten: set[ValueId] = set()
            for result, target, position in zip(arm.results, targets, range(len(targets)), strict=True):
                if target is None:
                    continue
                source = next((v for v, w in known.items() if w == target), None)
                chain = None if source is None else in_place_chain(arm, source, arm.results[position])
                for value in chain or ():
                    scope.destinations[value] = target
                    overwritten.add(value)
                if chain is None and result in {v for p in arm.phases for v in traverse.results(p)}:
                    scope.destinations.setdefault(result, target)
            results = lower_block(scope, arm, overwritten)
            registers = [b.number(scope.index_of((then, otherwise)[len(arms)])) for _, then, otherwise in phase.defines]
            for result, where, target in zip(arm.results, results, targets, strict=True):
                if target is None:
                    registers += scope.read(where, ())
                else:
                    copy(scope, scope.shape(result), where, target)
        arms.append((list(statements), registers))
    outside = captured_values(phase)
    outer = {value: where for value, where in scope.values.items() if value in outside}
    scope.values, scope.sizes = known | outer, sizes
    kinds = [Kind.I64 for _ in phase.defines]
    kinds += [part for r, target in zip(phase.results, targets, strict=True) if target is None for part in scope.parts(r)]
    chosen = iter(b.choose(condition, arms[0][0], arms[1][0], list(zip(kinds, arms[0][1], arms[1][1], strict=True))))
    for variable, _, _ in phase.defines:
        define_size(scope, variable, next(chosen), phase.span)
        check_guards(scope, variable)
    for result, target in zip(phase.results, targets, strict=True):
        if target is None:
            scope.define_scalar(result, tuple(next(chosen) for _ in scope.parts(result)))
        else:
            scope.values[result] = target


# ------------------------------------------------------------------------------------------------ maps


def _lower_inner_map(scope: LoweringScope, phase: Map) -> None:
    """A map inside a region: a loop over its cells."""
    targets = [scope.destination_of(result) for result in phase.results]
    with scope.points(phase.frame, LoopKind.SERIAL) as point:
        if every := _poll_interval(scope, phase):
            poll(scope, scope.b.number(point[-1]), every)
        map_cell(scope, phase, point, targets)
    for result, target in zip(phase.results, targets, strict=True):
        scope.values[result] = target


def map_cell(scope: LoweringScope, phase: Map, point: Sequence[Index], targets: Sequence[ValueLocation]) -> None:
    """One cell of a map."""
    known = dict(scope.sizes)
    for param, arg, depth in zip(phase.body.params, phase.args, phase.frames, strict=True):
        scope.cell(param, scope.storage_of(arg), point[:depth])
    for result, target in zip(phase.body.results, targets, strict=True):
        if scope.shape(result) and result not in scope.destinations:
            scope.destinations[result] = target.cells(point)
    results = lower_block(scope, phase.body)
    for result, where, target in zip(phase.body.results, results, targets, strict=True):
        cell = target.cells(point)
        if scope.shape(result):
            copy(scope, scope.shape(result), where, cell)
        else:
            scope.write(cell, (), scope.read(where, ()))
    scope.sizes = known


# ---------------------------------------------------------------------------------------------------- region

FIRST, LAST = "first", "last"


@dataclass(frozen=True, slots=True)
class Region:
    """A lowered region.

    `sizes`: its parameters after `first` and `last`.  `sources`: the memory behind each view, by name.  `states`: by component of
    a loop's state, whether it has two buffers.  `cells`: is it a map, whose iterations are independent?  `is_flat`: are its
    arrays flattened to vectors?"""

    program: LoopProgram
    sizes: tuple[Size, ...]
    sources: Mapping[str, Source]
    checks: tuple[Check, ...]
    routines: tuple[Routine, ...]
    states: tuple[bool, ...]
    cells: bool
    is_flat: bool = False

    @property
    def calls(self) -> bool:
        """Does the region call routines of phases?"""
        return any(routine.phase is not None for routine in self.routines)

    @property
    def is_pointwise(self) -> bool:
        """Does each item of a loop's next state depend only on the item at the same index?"""
        return any(isinstance(source, InitialState) for source in self.sources.values())


def lower_region(phase: Loop | Fold | Map, types: Mapping[ValueId, ArrayType], guards: Iterable[CoreGuard] = (),
                 known: KnownValues = NO_KNOWN_VALUES, *, may_be_flat: bool = False) -> Region:  # fmt: skip
    """Lower a region.

    `guards`: guards of the program that wait for run-time sizes.  `known`: constants among the values from outside.
    `may_be_flat`: flatten a pointwise loop's arrays; the caller must then pass contiguous operands.
    Raises `NotLowerable` if something in the region cannot be lowered."""
    flat = None
    if may_be_flat and isinstance(phase, Loop) and (merged := pointwise(phase, types)) is not None:
        flat = flatten_loop(phase, merged, types)
    phase, types = flat or (phase, types)
    scope = LoweringScope(LoopBuilder(), types, known, waits_for=_variables(guards))
    states = _lower_outer_map(scope, phase) if isinstance(phase, Map) else _lower_outer_loop(scope, loop_state_of(scope, phase))
    b = scope.b
    views = tuple(b.views.values())
    parameters = (FIRST, LAST, *scope.parameters)
    facts = [at(FIRST), *(plus(at(name), Index((), -1)) for name, size in scope.parameters.items() if (size.constant or 0) > 0)]
    program = LoopProgram(type(phase).__name__.lower(), parameters, views, (*b.preamble, *b.statements), (*facts, *scope.facts))
    sources = {view.name: scope.sources.get(view.name) or _scratch(view.shape) for view in views}
    sizes = tuple(scope.parameters.values())
    checks, routines = tuple(scope.checks), tuple(scope.routines)
    return Region(program, sizes, sources, checks, routines, states, isinstance(phase, Map), flat is not None)


_MAX_KEYED_ITEMS: Final = 1 << 12
"""The most items of constants inside a region whose lowering has a key."""


def lowering_key(phase: Loop | Fold | Map, types: Mapping[ValueId, ArrayType], guards: Iterable[CoreGuard], known: KnownValues, *,
                 may_be_flat: bool) -> str:  # fmt: skip
    """All that determines the result of `lower_region`, as a text; empty for a region with calls of functions or large
    constants."""
    inner = [phase, *(member for graph in traverse.subgraphs(phase) for member in traverse.all_phases(graph))]
    data = [payload_key(item) for member in inner if isinstance(member, Constant) for item in member.data]
    if len(data) > _MAX_KEYED_ITEMS or any(isinstance(member, LibraryPhase) and member.op == "call" for member in inner):
        return ""
    params = [param for member in inner for graph in traverse.subgraphs(member) for param in graph.params]
    values = sorted({*params, *traverse.uses(phase), *(value for member in inner for value in traverse.results(member))})
    sizes = [size for member in inner for size in traverse.sizes(member)] + [n for value in values for n in types[value].shape]
    variables = sorted((variable for size in sizes for variable in size.variables()), key=lambda variable: variable.id)
    caps = [(variable.key, variable.cap, variable.minimum) for variable in dict.fromkeys(variables)]
    literals = [(value, payload_key(known.literals[value])) for value in values if value in known.literals]
    steps = [(value, known.steps[value]) for value in values if value in known.steps]
    waits = sorted(variable.id for variable in _variables(guards))
    return repr((may_be_flat, phase, data, [(value, types[value]) for value in values], caps, literals, steps, waits))


def _scratch(shape: tuple[Index, ...]) -> Source:
    """The source of a scratch view of constant shape."""
    return ScratchView(tuple(number(index.constant) for index in shape))


def _variables(guards: Iterable[CoreGuard]) -> frozenset[SizeVariable]:
    return frozenset(variable for guard in guards for variable in guard.variables())


def _lower_outer_loop(scope: LoweringScope, loop: LoopState) -> tuple[bool, ...]:
    """Lower the region's own loop or fold, whose state is in views that the caller fills and reads.

    Returns by component whether it has two buffers."""
    components: list[Component] = []
    places: list[ValueLocation] = []
    firsts: list[Registers | None] = []
    copies: list[tuple[tuple[Size, ...], ValueLocation, ValueLocation]] = []
    rows = zip(loop.body.params, loop.results, loop.storages(scope), strict=True)
    for position, (param, result, (storage, chain)) in enumerate(rows):
        shape, is_doubled = scope.shape(param), storage is StateStorage.DOUBLE_BUFFERED
        if storage is StateStorage.STACKED:
            memory = scope.external_view(scope.kind(result), scope.shape(result), ScopeOutput(position), ViewRole.OUTPUT)
        else:
            shown = (number(2), *shape) if is_doubled else shape
            memory = scope.external_view(scope.kind(param), shown, StateView(position, is_doubled), ViewRole.OUTPUT)
        places.append(memory)
        components.append(Component(param, storage, None if storage is StateStorage.REGISTERS else memory, chain))
        first = memory.cell(0, plus(at(FIRST), Index((), -loop.first))) if storage is StateStorage.STACKED else memory
        if loop.is_pointwise:
            first = scope.external_view(scope.kind(param), shape, InitialState(position))
            copies.append((shape, first, memory))
        firsts.append(None if shape else scope.read(first, ()))
    doubled = tuple(component.storage is StateStorage.DOUBLE_BUFFERED for component in components)
    parity = scope.external_view(Kind.I64, (), CurrentBuffer(), ViewRole.OUTPUT) if any(doubled) else None
    ended = scope.external_view(Kind.BOOL, (), ExitFlag(), ViewRole.OUTPUT) if loop.until is not None else None
    scope.facts += [plus(at(FIRST), Index((), -loop.first)), plus(scope.index_of(loop.length), times(at(LAST), -1))]
    for shape, first, memory in copies:
        if shape:
            copy(scope, shape, first, memory)
    after = iterate(scope, loop, components, (at(FIRST), at(LAST)), firsts)
    words = [
        (memory, item)
        for memory, item, c in zip(places, after.items, components, strict=True)
        if c.storage is StateStorage.REGISTERS
    ]
    for word, item in (*words, (parity, (after.parity,)), (ended, (after.ended,))):
        if word is not None and item is not None:
            scope.write(word, (), item)
    return doubled if not loop.keep else ()


def _lower_outer_map(scope: LoweringScope, phase: Map) -> tuple[bool, ...]:
    """Lower the region's own map: a parallel loop over its cells, or the single cell of an empty frame."""
    targets = [
        scope.external_view(scope.kind(v), scope.shape(v), ScopeOutput(position), ViewRole.OUTPUT)
        for position, v in enumerate(phase.results)
    ]
    b = scope.b
    if not phase.frame:
        map_cell(scope, phase, (), targets)
        return ()
    scope.facts.append(plus(scope.index_of(phase.frame[0]), times(at(LAST), -1)))
    with b.loop(LoopKind.PARALLEL, (at(FIRST),), (at(LAST),)) as outer, scope.points(phase.frame[1:], LoopKind.SERIAL) as rest:
        map_cell(scope, phase, [at(outer.index), *rest], targets)
    return ()
