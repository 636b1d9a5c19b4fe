"""Counting reads: the reference interpreter, keeping account of how often each element of every value is read.

Every element that an op makes gets a *label*; views hand the labels of their operand on, so that reading a view reads
what it shows, and each read adds one to its label's count.  What counts as a read is types.md 4.1: an op that is
demanded loads its operands as its own definition moves or combines them, blocks copy their results into what they make,
and a value that nothing demands is not made.  Which ops are demanded is given (`live`); the rest is counted as it runs.

The plain interpreter knows nothing of this and pays nothing for it.

Neighbours: `interpret` (the machine), `typechecker.quantities` (the static bounds these counts must respect).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from rho.backend.reference import arrays
from rho.backend.reference.arrays import assemble, cells, offset, positions
from rho.backend.reference.interpreter import Evaluator, execute_program, replicated, results_of
from rho.backend.vm.values import Array, Results
from rho.typechecker.core import operations as c
from rho.typechecker.core.operations import Block, Core, Payload, ValueId
from rho.typechecker.elements import Kind
from rho.typechecker.sizes.polynomials import SizeVariable
from rho.typechecker.usage.backward_analysis import SizeContext, plain_operands, prints


@dataclass(frozen=True, slots=True)
class Made:
    """One making of a value (in a block that runs often, one of several): the number of reads of each of its elements."""

    value: ValueId
    reads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    results: Results
    made: tuple[Made, ...]
    sizes: Mapping[SizeVariable, int]


def count_reads(
    core: Core, inputs: Mapping[str, Array], params: Mapping[str, int], live: Callable[[ValueId], bool]
) -> Counted:  # fmt: skip
    """Run a program and count.  `live` tells which values are demanded; refusals and failures are `interpret`'s."""
    machine, results = execute_program(lambda core, sizes: CountingMachine(core, sizes, live), core, inputs, params)
    assert isinstance(machine, CountingMachine)
    for output in core.outputs:
        machine.read(machine.label(output.value).data)
    made = [Made(value, tuple(machine.reads[start : start + count])) for value, start, count in machine.made]
    return Counted(results, tuple(made), dict(machine.sizes))


class CountingMachine(Evaluator):
    """`labels` of a value's elements index `reads`; label 0 belongs to no element (a fill)."""

    def __init__(self, core: Core, sizes: dict[SizeVariable, int], live: Callable[[ValueId], bool]) -> None:
        super().__init__(core, sizes)
        self.live = live
        self.setting = SizeContext(core.types, core.facts())
        self.labels: dict[ValueId, Array] = {}
        self.reads: list[int] = [0]
        self.made: list[tuple[ValueId, int, int]] = []
        self.counting = True

    # -------------------------------------------------------------------- labels

    def start(self, which: ValueId, value: Array) -> None:
        self.store(which, value)
        self.make(which)

    def label(self, which: ValueId) -> Array:
        known = self.labels.get(which)
        return known if known is not None else _nobody(self.value(which))

    def fresh(self, shape: tuple[int, ...]) -> Array:
        """Labels of elements just made."""
        first, count = len(self.reads), math.prod(shape)
        self.reads += [0] * count
        return Array(Kind.I64, shape, tuple(range(first, first + count)))

    def make(self, which: ValueId) -> None:
        labels = self.fresh(self.value(which).shape)
        self.labels[which] = labels
        self.made.append((which, labels.data[0] if labels.data else 0, len(labels.data)))  # type: ignore[arg-type]

    def read(self, labels: Iterable[Payload], times: int = 1) -> None:
        for one in labels:
            self.reads[one] += times  # type: ignore[index]

    def copy(self, labels: Array) -> Array:
        """Read every element once into something new."""
        self.read(labels.data)
        return self.fresh(labels.shape)

    # ----------------------------------------------------------------------- ops

    def _execute(self, op: c.Op) -> None:
        results = results_of(op)
        wanted = not results or any(self.live(r) for r in results) or (isinstance(op, c.CoreBranch) and prints(op))
        if not (self.counting and wanted):
            before, self.counting = self.counting, False
            super()._execute(op)
            self.counting = before
            return
        super()._execute(op)
        match op:
            case c.CorePrint():
                self.read(self.label(op.arg).data)
            case c.BindSize():
                self.read(self.label(op.value).data)
            case c.CoreBranch():
                pass  # its results are those of the arm
            case c.MapCells() | c.CoreFold() | c.FoldScan() | c.CoreLoop():
                for result in results:
                    self.make(result)
            case c.Reshape() if self.setting.keeps_elements(op):
                self.labels[op.result] = arrays.reshape(self.label(op.arg), self.shape(op.result))
            case c.Transpose() | c.Broadcast() | c.Reverse() | c.Rotate() | c.Slice() | c.SlidingWindows():
                self.labels[op.result] = self._view(op)
            case _:
                self._load(op)
                for result in results:
                    self.make(result)

    def _view(self, op: c.Op) -> Array:
        match op:
            case c.Transpose():
                return arrays.transpose(self.label(op.arg), op.axes)
            case c.Broadcast():
                return arrays.spread(self.label(op.arg), op.axes, self.shape(op.result))
            case c.Reverse():
                return arrays.reverse(self.label(op.arg), op.axis)
            case c.Rotate():
                self.read(self.label(op.amount).data)
                return arrays.rotate(self.label(op.arg), self.value(op.amount), op.axis)
            case c.Slice():
                starts = [self.size(size) for size in op.starts]
                return arrays.slice_box(self.label(op.arg), starts, self.shape(op.result))
            case c.SlidingWindows():
                return arrays.windows(self.label(op.arg), op.count, self.shape(op.result))
        raise AssertionError(op)

    def _load(self, op: c.Op) -> None:
        """The reads of an op that makes its result."""
        match op:
            case c.Reshape():
                self.read(arrays.reshape(self.label(op.arg), self.shape(op.result)).data)
            case c.Scalar():
                for arg in op.args:
                    self.read(replicated(self.label(arg), self.shape(op.result)))
            case c.Gather():
                indices = self.value(op.indices)
                self.read(arrays.gather(self.label(op.arg), indices, op.axis, op.checked, op.fills).data)
                self.read(self.label(op.indices).data)
            case c.Compress():
                self.read(arrays.compress(self.value(op.mask), self.label(op.arg), op.axis).data)
                self.read(self.label(op.mask).data)
            case c.Expand():
                self.read(arrays.expand(self.value(op.mask), self.label(op.arg), op.axis).data)
                self.read(self.label(op.mask).data)
            case c.Where():
                self.read(self.label(op.mask).data)
            case c.Update() | c.MaskedUpdate():
                self._update(op)
            case c.Contract():
                self._paired(op.left, op.right)
            case c.Library(name="decode", args=(radix, arg)):
                self._paired(radix, arg)
            case c.Library(name="encode", args=(radix, arg)):
                self.read(self.label(radix).data, math.prod(self.value(arg).shape))
                self.read(self.label(arg).data, math.prod(self.value(radix).shape[1:]))
            case _:
                for value in plain_operands(op):
                    self.read(self.label(value).data)

    def _update(self, op: c.Update | c.MaskedUpdate) -> None:
        """What stays of the old array is read, the replacement as often as there are places for it."""
        old, replacement = self.label(op.arg), self.value(op.value)
        if isinstance(op, c.MaskedUpdate):
            mask = self.value(op.mask)
            self.read(self.label(op.mask).data)
            kept = arrays.mask_update(old, mask, _nobody(replacement))
            places = sum(map(bool, mask.data)) * math.prod(old.shape[mask.rank :])
        else:
            indices = [None if i is None else self.value(i) for i in op.indices]
            for i in op.indices:
                if i is not None:
                    self.read(self.label(i).data)
            kept = arrays.update(old, indices, _nobody(replacement), op.checked)
            places = math.prod(old.shape[axis] if i is None else len(i.data) for axis, i in enumerate(indices))
        self.read(kept.data)
        self.read(self.label(op.value).data, 1 if replacement.rank else places)

    def _paired(self, left: ValueId, right: ValueId) -> None:
        """Every row of the left with every column of the right."""
        rows, columns = self.value(left).shape[:-1], self.value(right).shape[1:]
        self.read(self.label(left).data, math.prod(columns))
        self.read(self.label(right).data, math.prod(rows))

    # -------------------------------------------------------------------- blocks

    def enter(self, block: Block, args: Sequence[Array], labels: Sequence[Array]) -> tuple[list[Array], list[Array]]:
        """Run a block on labelled arguments; its results and their labels."""
        for parameter, arg, own in zip(block.params, args, labels, strict=True):
            self.store(parameter, arg)
            self.labels[parameter] = own
        self.run(block)
        return [self.value(r) for r in block.results], [self.label(r) for r in block.results]

    def _lift(self, op: c.MapCells) -> tuple[Array, ...]:
        if not self.counting:
            return super()._lift(op)
        frame = tuple(self.size(size) for size in op.frame)
        split = [cells(self.value(a), rank) for a, rank in zip(op.args, op.frames, strict=True)]
        marked = [cells(self.label(a), rank) for a, rank in zip(op.args, op.frames, strict=True)]
        collected: list[list[Array]] = [[] for _ in op.results]
        for p in positions(frame):
            at = [offset(p[:rank], frame[:rank]) for rank in op.frames]
            own = [parts[i] for parts, i in zip(split, at, strict=True)]
            results, labels = self.enter(op.body, own, [parts[i] for parts, i in zip(marked, at, strict=True)])
            for slot, which, result, label in zip(collected, op.results, results, labels, strict=True):
                slot.append(result)
                if self.live(which):
                    self.read(label.data)
        return tuple(self._collect(which, frame, parts) for which, parts in zip(op.results, collected, strict=True))

    def _fold(self, op: c.CoreFold) -> tuple[Array, ...]:
        if not self.counting or not self.value(op.args[0]).shape[0]:
            return super()._fold(op)
        columns = [cells(self.value(a), 1) for a in op.args]
        marked = [cells(self.label(a), 1) for a in op.args]
        state, labels = [column[-1] for column in columns], [column[-1] for column in marked]
        for i in reversed(range(len(columns[0]) - 1)):
            items, own = [column[i] for column in columns], [column[i] for column in marked]
            state, made = self.enter(op.body, [*items, *state], [*own, *labels])
            labels = [self.copy(one) for one in made]
        if len(columns[0]) == 1:
            for one in labels:
                self.read(one.data)
        return tuple(state)

    def _fold_scan(self, op: c.FoldScan) -> tuple[Array, ...]:
        if not self.counting:
            return super()._fold_scan(op)
        columns = [cells(self.value(a), 1) for a in op.args]
        marked = [cells(self.label(a), 1) for a in op.args]
        states: list[list[Array]] = []
        labels: list[Array] = []
        for i in range(len(columns[0])):
            items, own = [column[i] for column in columns], [column[i] for column in marked]
            made = own
            if states:
                items, made = self.enter(op.body, [*states[-1], *items], [*labels, *own])
            states.append(items)
            labels = [self.copy(one) for one in made]
        kinds = [self.kind(which) for which in op.results]
        shapes = [self.shape(which)[1:] for which in op.results]
        frame = (len(states),)
        return tuple(
            assemble(kind, frame, shape, [state[j] for state in states])
            for j, (kind, shape) in enumerate(zip(kinds, shapes, strict=True))
        )

    def _loop(self, op: c.CoreLoop) -> tuple[Array, ...]:
        if not self.counting:
            return super()._loop(op)
        state, labels = [self.value(v) for v in op.initial], [self.label(v) for v in op.initial]
        trips = self.size(op.trip)
        if op.keep or trips == 0:
            labels = [self.copy(one) for one in labels]
        states = [state]
        columns, marked = [cells(self.value(v), 1) for v in op.cells], [cells(self.label(v), 1) for v in op.cells]
        known = frozenset(self.sizes)
        for i in range(trips):
            self.enter_iteration(op, i, known)
            own = [column[i] for column in columns], [column[i] for column in marked]
            new, made = self.enter(op.body, [*own[0], *state], [*own[1], *labels])
            copied = [self.copy(one) for one in made]
            stop = False
            if op.until is not None:
                (verdict,), told = self.enter(op.until, [*new, *state], [*copied, *labels])
                self.read(told[0].data)
                stop = bool(verdict.item)
            state, labels = new, copied
            states.append(state)
            if stop:
                break
        self.keep_only_sizes(known)
        return tuple(arrays.stack([s[j] for s in states], 0) for j in range(len(state))) if op.keep else tuple(state)

    def _branch(self, op: c.CoreBranch) -> tuple[Array, ...]:
        if not self.counting:
            return super()._branch(op)
        self.read(self.label(op.condition).data)
        taken = bool(self.value(op.condition).item)
        results, labels = self.enter(op.then if taken else op.otherwise, (), ())
        for variable, then, otherwise in op.sizes:
            self.define(variable, self.size(then if taken else otherwise))
        self.labels.update(zip(op.results, labels, strict=True))
        return tuple(results)


def _nobody(value: Array) -> Array:
    """Labels that belong to no element."""
    return Array(Kind.I64, value.shape, (0,) * len(value.data))
