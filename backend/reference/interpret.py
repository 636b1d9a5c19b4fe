"""The reference interpreter: the core, executed op by op on plain Python values.  It is the oracle of every back end.

Every value is verified against its declared type when it is made: kind, shape under the bound sizes, integer range,
`idx` bound.  A mismatch is an `InternalError` (a bug in the elaborator); a failed run-time check is `RunFailed` with
the span of the op.

Nested blocks write into the same table of values, because ids are unique in the whole program and each block's ops run
again from its own parameters.

Neighbours: `operations` (pure ops), `run.binding` (sizes at load), `typechecker.core` (the language executed).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from ...lang.codes import Code
from ...lang.diagnostics import RunFailed
from ...lang.source import Span
from ...typechecker import core as c
from ...typechecker import core_blocks
from ...typechecker.core import ValueId
from ...typechecker.core_blocks import Block, Core
from ...typechecker.core_walk import blocks_of
from ...typechecker.elements import Kind
from ...typechecker.sizes import Size, SizeVariable
from ..run.binding import bind_sizes, broken_guard
from ..run.values import Array, Results
from .failures import CheckFailed, InternalError
from .indexing import assemble, cells, offset, positions
from .operations import compute
from .structure import stack

_FRAMES_A_BLOCK: Final = 8


def interpret(core: Core, inputs: Mapping[str, Array], params: Mapping[str, int]) -> Results:
    """Run a checked program on in-memory inputs.

    Refused: sizes or guards (see `run.binding`).  RunFailed: a run-time check."""
    return execute_program(Machine, core, inputs, params)[1]


def execute_program(
    make: Callable[[Core, dict[SizeVariable, int]], Machine], core: Core, inputs: Mapping[str, Array], params: Mapping[str, int]
) -> tuple[Machine, Results]:  # fmt: skip
    """Bind the sizes, make a machine, run the program on it."""
    sizes = bind_sizes(core, {name: value.shape for name, value in inputs.items()}, params)
    machine = make(core, sizes)
    for entry in core.inputs:
        machine.start(entry.value, inputs[entry.name])
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(max(limit, 1000 + _FRAMES_A_BLOCK * nesting(core.block)))
    try:
        machine.run(core.block)
    finally:
        sys.setrecursionlimit(limit)
    results = Results(tuple(machine.printed), {entry.name: machine.value(entry.value) for entry in core.outputs})
    return machine, results


def nesting(block: Block) -> int:
    """The greatest depth of blocks within blocks."""
    deepest, pending = 0, [(block, 1)]
    while pending:
        current, depth = pending.pop()
        deepest = max(deepest, depth)
        for op in current.ops:
            pending += [(inner, depth + 1) for inner in blocks_of(op)]
    return deepest


class Machine:
    """The state of one run: bound sizes, values by id, what was printed."""

    def __init__(self, core: Core, sizes: dict[SizeVariable, int]) -> None:
        self.core = core
        self.sizes = sizes
        self.values: dict[ValueId, Array] = {}
        self.printed: list[Array] = []

    # ------------------------------------------------------------ what an op sees

    def value(self, which: ValueId) -> Array:
        if which not in self.values:
            raise InternalError(f"value {which} is read before it is made")
        return self.values[which]

    def kind(self, which: ValueId) -> Kind:
        return self.core.types[which].element.kind

    def shape(self, which: ValueId) -> tuple[int, ...]:
        return tuple(self.size(size) for size in self.core.types[which].shape)

    def size(self, size: Size) -> int:
        try:
            return size.evaluate(self.sizes)
        except KeyError as missing:
            raise InternalError(f"size {size} mentions {missing.args[0]}, which is not bound") from None

    # ------------------------------------------------------------------- storing

    def start(self, which: ValueId, value: Array) -> None:
        """Keep the value of an input."""
        self.store(which, value)

    def store(self, which: ValueId, value: Array) -> None:
        """Keep a value after checking that it is what its type says."""
        self.verify(which, value)
        self.values[which] = value

    def verify(self, which: ValueId, value: Array) -> None:
        declared = self.core.types[which]
        element, shape = declared.element, self.shape(which)
        if value.kind is not element.kind or value.shape != shape:
            raise InternalError(
                f"value {which} is {value.kind.value}{list(value.shape)}, its type says {element.kind.value}{list(shape)}"
            )
        if element.low is None and element.high is None and element.below is None:
            return
        bounds = [int(item) for item in value.data if not isinstance(item, str | float | complex)]
        low, high = (min(bounds), max(bounds)) if bounds else (0, -1)
        below = None if element.below is None else self.size(element.below) - 1
        if bounds and (
            (element.low is not None and low < element.low)
            or (element.high is not None and high > element.high)
            or (below is not None and not 0 <= low <= high <= below)
        ):
            raise InternalError(f"value {which} has items {low}..{high}, outside its type {element}")
        if declared.permutation and sorted(bounds) != list(range(len(bounds))):
            raise InternalError(f"value {which} is not a permutation")

    def define(self, variable: SizeVariable, value: int) -> None:
        """Bind a run-time size and check the guards that waited for it."""
        cap = None if variable.cap is None else self.size(variable.cap)
        if value < 0 or (cap is not None and value > cap):
            raise CheckFailed(Code.E403, f"{variable.name} is {value}, outside 0 to {cap}")
        self.sizes[variable] = value
        for guard in self.core.guards:
            needed = guard.variables()
            if variable in needed and all(v in self.sizes for v in needed) and not guard.holds(self.sizes):
                raise RunFailed([broken_guard(guard, self.sizes)])

    # ----------------------------------------------------------------- executing

    def run(self, block: Block) -> None:
        for op in block.ops:
            self.execute(op)

    def call(self, block: Block, args: Sequence[Array]) -> tuple[Array, ...]:
        """Bind the parameters, run the block, return its results."""
        for parameter, arg in zip(block.params, args, strict=True):
            self.store(parameter, arg)
        self.run(block)
        return tuple(self.value(result) for result in block.results)

    def execute(self, op: core_blocks.Op) -> None:
        try:
            self._execute(op)
        except CheckFailed as failure:
            raise failure.at(self.span(op)) from None

    def span(self, op: core_blocks.Op) -> Span:
        match op:
            case c.Print():
                return self.core.spans[op.arg]
            case c.RuntimeSize():
                return self.core.spans[op.value]
        return self.core.spans[results_of(op)[0]]

    def _execute(self, op: core_blocks.Op) -> None:
        match op:
            case c.Print():
                self.printed.append(self.value(op.arg))
                return
            case c.RuntimeSize():
                self.define(op.size, int(self.value(op.value).item))  # type: ignore[arg-type]
                return
            case core_blocks.Lift():
                results = self._lift(op)
            case core_blocks.Fold():
                results = self._fold(op)
            case core_blocks.FoldScan():
                results = self._fold_scan(op)
            case core_blocks.Loop():
                results = self._loop(op)
            case core_blocks.Branch():
                results = self._branch(op)
            case _:
                results = compute(op, self)
                self._define_sizes(op, results)
        for which, value in zip(results_of(op), results, strict=True):
            self.store(which, value)

    def _define_sizes(self, op: core_blocks.Op, results: Sequence[Array]) -> None:
        match op:
            case c.Compress():
                self.define(op.size, results[0].shape[op.axis])
            case c.Where():
                self.define(op.size, results[0].shape[0])
            case c.Format():
                self.define(op.size, results[0].shape[-1])

    # -------------------------------------------------------------- control flow

    def _lift(self, op: core_blocks.Lift) -> tuple[Array, ...]:
        frame = tuple(self.size(size) for size in op.frame)
        args = [self.value(a) for a in op.args]
        for arg, rank in zip(args, op.frames, strict=True):
            if arg.shape[:rank] != frame[:rank]:
                raise InternalError(f"frame {arg.shape[:rank]} is not a prefix of the principal frame {frame}")
        split = [cells(arg, rank) for arg, rank in zip(args, op.frames, strict=True)]
        collected: list[list[Array]] = [[] for _ in op.results]
        for p in positions(frame):
            own = [parts[offset(p[:rank], frame[:rank])] for parts, rank in zip(split, op.frames, strict=True)]
            for slot, result in zip(collected, self.call(op.body, own), strict=True):
                slot.append(result)
        return tuple(self._collect(which, frame, parts) for which, parts in zip(op.results, collected, strict=True))

    def _collect(self, which: ValueId, frame: tuple[int, ...], parts: Sequence[Array]) -> Array:
        """Cells put together over a frame; of an empty frame the type alone tells the cell's shape."""
        cell_shape = parts[0].shape if parts else self.shape(which)[len(frame) :]
        if any(part.shape != cell_shape for part in parts):
            raise InternalError("the cells of a lift have different shapes")
        return assemble(self.kind(which), frame, cell_shape, parts)

    def _fold(self, op: core_blocks.Fold) -> tuple[Array, ...]:
        columns = [cells(self.value(a), 1) for a in op.args]
        length = len(columns[0])
        if length == 0:
            raise CheckFailed(Code.E204, "a reduction with a function needs at least one item")
        accumulated = tuple(column[-1] for column in columns)
        for i in reversed(range(length - 1)):
            accumulated = self.call(op.body, [*(column[i] for column in columns), *accumulated])
        return accumulated

    def _fold_scan(self, op: core_blocks.FoldScan) -> tuple[Array, ...]:
        columns = [cells(self.value(a), 1) for a in op.args]
        states: list[tuple[Array, ...]] = []
        for i in range(len(columns[0])):
            items = tuple(column[i] for column in columns)
            states.append(self.call(op.body, [*states[-1], *items]) if states else items)
        frame = (len(states),)
        return tuple(self._collect(which, frame, [state[j] for state in states]) for j, which in enumerate(op.results))

    def _loop(self, op: core_blocks.Loop) -> tuple[Array, ...]:
        state = tuple(self.value(v) for v in op.initial)
        states = [state]
        columns = [cells(self.value(v), 1) for v in op.cells]
        known = frozenset(self.sizes)
        for i in range(self.size(op.trip)):
            self.enter_turn(op, i, known)
            new = self.call(op.body, [*(column[i] for column in columns), *state])
            stop = op.until is not None and bool(self.call(op.until, [*new, *state])[0].item)
            state = new
            states.append(state)
            if stop:
                break
        self.forget_but(known)
        return tuple(stack([s[j] for s in states], 0) for j in range(len(state))) if op.keep else state

    def enter_turn(self, op: core_blocks.Loop, place: int, known: frozenset[SizeVariable]) -> None:
        """The index is known, and the sizes that the turn before found are not."""
        self.forget_but(known)
        if op.index is not None:
            self.define(op.index, place)

    def forget_but(self, known: frozenset[SizeVariable]) -> None:
        for size in self.sizes.keys() - known:
            del self.sizes[size]

    def _branch(self, op: core_blocks.Branch) -> tuple[Array, ...]:
        taken = bool(self.value(op.condition).item)
        results = self.call(op.then if taken else op.otherwise, ())
        for variable, then, otherwise in op.sizes:
            self.define(variable, self.size(then if taken else otherwise))
        return results


def results_of(op: core_blocks.Op) -> tuple[ValueId, ...]:
    """The ids an op defines."""
    match op:
        case c.Print() | c.RuntimeSize():
            return ()
        case c.Library() | core_blocks.Fold() | core_blocks.FoldScan():
            return op.results
        case core_blocks.Lift() | core_blocks.Loop() | core_blocks.Branch():
            return op.results
        case _:
            return (op.result,)
