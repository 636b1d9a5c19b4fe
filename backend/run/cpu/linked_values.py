"""The values of a linked call that is drafted: where each lies, and kernels that make, copy and fill them.

Neighbours: `linker` (the steps of a plan), `drafting` (the operations), `launching` (words of launches).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import replace
from typing import Any, Final, TypeVar

import numpy as np

from ....lang.source import Span
from ....typechecker.elements import Kind
from ....typechecker.sizes import SizeVariable, number
from ...graph.phases import (
    Axis,
    AxisKind,
    Phase,
    PhaseId,
    Read,
    ReadNode,
    Result,
    Structured,
    ValueId,
)
from ...graph.projections import IDENTITY
from ...kernels import policy
from ...kernels.build import joining_body
from ...kernels.complexes import PART
from ...kernels.ir import Kernel
from ...kernels.store import Code, address_of
from ...loops.lower.kernel import KernelCode
from ..native.words import Operation
from ..pool import LEAST
from ..words.program import Register, Word
from .compiled import CompiledRun, compile_kernel, layout_of
from .copying import drafted
from .drafting import Draft, Refused, Take, Verdict, address_of_array, distances
from .kinds import DTYPES, NumArray
from .launching import Base, Block, Bound, combining_words, launch_words, words_of
from .linked_sizes import ExampleTypes, conditions
from .structured import compiled_of
from .views import View

COPY_NANOSECONDS: Final = 0.3
"""A byte of items that are copied into rows."""
SAVED_NANOSECONDS: Final = 8_000
"""What a linked call saves over a run of the plan."""
Ready = TypeVar("Ready")


class Values(Draft, ABC):
    """`examples`: arrays as the values will be, whose contents nobody looks at; `roots`: which base a value lies in; `found`:
    the bases of sizes that the run finds, each of at least `least`; `pinned`: values that are not to be dropped or written over;
    `registers`: the bases of registers' numbers."""

    def __init__(
        self, types: ExampleTypes, phases: Mapping[PhaseId, Phase], threads: int, arguments: Sequence[tuple[str, NumArray, Take]],
        runs: int, least: int, shared: dict[Any, NumArray],
    ) -> None:  # fmt: skip
        super().__init__(arguments)
        self.types, self.phases, self.threads, self.runs, self.least, self.shared = types, phases, threads, runs, least, shared
        self.examples: dict[ValueId, NumArray] = {}
        self.roots: dict[ValueId, int | None] = {}
        self.outputs: dict[str, int] = {}
        self.origins: list[int] = []
        self.found: dict[SizeVariable, int] = {}
        self.pinned: frozenset[int] = frozenset()
        self.registers: dict[Register, int] = {}
        self.prints, self.labels, self.is_ready = 0, 0, True

    @abstractmethod
    def word(self, word: Word) -> None:
        """What a word becomes."""

    @abstractmethod
    def structured(self, phase: Structured, overwrite: ValueId | None) -> None:
        """What a structured phase becomes."""

    def define(self, variable: SizeVariable, base: int) -> None:
        """A size is the number that a base holds."""
        self.found[variable] = base
        self.steps += [(Operation.CHECK, value) for value in conditions(self.types, variable, self.least)]

    def constant(self, array: NumArray) -> NumArray:
        """The one array with these contents for all drafts of a call."""
        kept = self.shared.setdefault((array.dtype, array.shape, array.tobytes()), array)
        self.keep.append(kept)
        return kept

    def workspace(self, name: object, array: NumArray) -> int:
        """The address of memory that every call has; nobody reads what a call writes there."""
        kept = self.shared.setdefault(name, array)
        self.keep.append(kept)
        return address_of_array(kept)

    def code(self, code: Code) -> int:
        """The address of a kernel that is no phase's; 0 if it is not there yet."""
        if not policy.is_worth(code, self.runs * SAVED_NANOSECONDS):
            self.is_ready = False
            return 0
        address = address_of(code)
        if address is None:
            raise Refused(Verdict.NEVER)
        return address

    def unless_none(self, count: int) -> int:
        """Up to the label that this gives, only where a number is not 0."""
        label = self.label()
        if self.found:
            at = self.new(None)
            self.steps += [(Operation.SET, at, count), (Operation.BRANCH, at, label)]
        return label

    def label(self) -> int:
        self.labels += 1
        return self.labels

    def fill(self, number: int, item: NumArray, kind: Kind) -> None:
        """A value that is made has this item everywhere."""
        example = self.bases[number]
        assert example is not None
        self.copy(np.broadcast_to(item, example.shape), (None, address_of_array(item)), kind, number)

    def run(
        self, run: CompiledRun, arrays: Sequence[NumArray], operands: Sequence[Base], made: Sequence[ValueId], turns: int = 0,
        overwrite: ValueId | None = None, empty: tuple[int, Sequence[NumArray]] | None = None,
    ) -> None:  # fmt: skip
        """Launch the kernel for these operands, which makes those values.

        `empty`: a number that the run finds; where it is 0 the values have these items everywhere."""
        if run.body.split:
            self._run_in_parts(run, arrays, operands, [(value, self.types.kind(value)) for value in made])
            return
        bound = self.bound(run, arrays, overwrite)
        if bound is None:
            for value, kind in zip(made, [result.kind for result in run.body.results], strict=True):
                self.settle(value, self.make(run.result_shape(), DTYPES[kind]))
            return
        self.work(bound.duration * max(1, turns))
        if bound.packs or (bound.partials > 1 and not bound.combine):
            raise Refused(Verdict.LAYOUT)
        target = None if overwrite is None else self.target(overwrite, bound)
        results = [self.make(bound.shape, dtype) for dtype in (bound.dtypes if target is None else bound.dtypes[1:])]
        if target is not None:
            results.insert(0, target)
        rows = results if bound.partials == 1 else [self.make((bound.partials, *bound.shape), dtype) for dtype in bound.dtypes]
        if empty is not None:
            if rows is not results or target is not None:
                raise Refused(Verdict.NEVER)
            length, nothing, end = self.new(None), self.label(), self.label()
            self.steps += [(Operation.SET, length, empty[0]), (Operation.BRANCH, length, nothing)]
        self.launch(launch_words(bound, operands, [(row, 0) for row in rows], turns), rows)
        if empty is not None:
            self.steps += [(Operation.JUMP, end), (Operation.LABEL, nothing)]
            for item, result, kept in zip(empty[1], results, run.body.results, strict=True):
                self.fill(result, self.constant(item), kept.kind)
            self.steps.append((Operation.LABEL, end))
        for place, (row, result) in enumerate(zip(rows, results, strict=True)):
            if row != result:
                self.launch(combining_words(bound, place, (row, 0), (result, 0)), [result])
                self.drop(row)
        for value, result in zip(made, results, strict=True):
            self.settle(value, result)
            if list(bound.order) != sorted(bound.order):
                order = sorted(range(len(bound.order)), key=bound.order.__getitem__)
                self.examples[value] = self.examples[value].transpose(order)

    def _run_in_parts(
        self, run: CompiledRun, arrays: Sequence[NumArray], operands: Sequence[Base], made: Sequence[tuple[ValueId, Kind]]
    ) -> None:
        """Launch a kernel some of whose results are two parts; each value has its kind."""
        parts: list[ValueId] = []
        whole: list[tuple[ValueId, Kind, tuple[ValueId, ValueId]]] = []
        for value, kind in made:
            if len(parts) in run.body.split:
                first = -1000 - 2 * len(self.bases) - len(parts)
                both = ValueId(first), ValueId(first - 1)
                whole.append((value, kind, both))
                parts += both
            else:
                parts.append(value)
        plain = copy(run)
        plain.body = replace(run.body, split=frozenset())
        self.run(plain, arrays, operands, parts)
        for value, kind, both in whole:
            shown = [self.examples[part] for part in both]
            views: list[tuple[ValueId, View]] = [(part, np.asarray) for part in both]
            body, kinds = joining_body(kind), [PART[kind]] * 2
            joining = CompiledRun(body, views, shown[0].shape, kinds, [], run.threads, run.mode, _nothing, 0)
            self.run(joining, shown, [self.base(array, part, None) for array, part in zip(shown, both, strict=True)], [value])
            for part in both:
                self.forget(part)

    def target(self, overwrite: ValueId, bound: Bound) -> int | None:
        """What the first result is written over.  Refused: a large value is beside it instead."""
        root, example = self.roots[overwrite], self.examples[overwrite]
        alone = [*self.roots.values()].count(root) == 1 and root not in self.origins and example is self.bases[root or 0]
        fits = bound.partials == 1 and bound.shape == example.shape and bound.dtypes[0] == example.dtype
        if root is not None and root >= len(self.arguments) and root not in self.pinned | self.lent and alone and fits:
            return root
        if example.nbytes >= LEAST:
            raise Refused(Verdict.NEVER)
        return None

    def bound(self, run: CompiledRun, arrays: Sequence[NumArray], overwrite: ValueId | None) -> Bound | None:
        """The kernel for these operands; None if it is not there yet.  Refused: there never is one."""
        stores = run.stores(overwrite is not None)
        key = (stores, layout_of(arrays))
        found = run.kept[key] if key in run.kept else run.kernel_for(arrays, stores)
        if isinstance(found, Kernel) and self.wants(KernelCode(found)):
            found = run.bind(found, arrays)
        run.kept[key] = found
        return self.checked(found, Bound)

    def checked(self, found: object, type: type[Ready]) -> Ready | None:
        if found is None:
            raise Refused(Verdict.NEVER)
        if isinstance(found, type):
            return found
        self.is_ready = False
        return None

    def wants(self, kernel: Code) -> bool:
        """Is a kernel there, or is it time to make it?"""
        return policy.is_worth(kernel, self.runs * SAVED_NANOSECONDS)

    def may_be_one(self, operands: Sequence[tuple[int | None, int]]) -> bool:
        """May values begin at one place?  Arguments may, which the caller gives, and cells, which lie in others."""
        return all(number is not None and (number < len(self.arguments) or number in self.lent) for number, _ in operands)

    def base(self, array: NumArray, source: ValueId, view: View | None) -> Base:
        """Where a view of a value begins.  Refused: it is a copy."""
        example, root = self.examples[source], self.roots[source]
        start = address_of_array(example)
        if array.size and np.may_share_memory(array, example):
            start = address_of_array(array)
        elif array.size == 1 and view is not None:  # NumPy copies an item that is taken out
            ahead = int(np.asarray(view(distances(example))).reshape(())) - 1
            if ahead % example.itemsize or (ahead < 0 and example.itemsize == 1):
                raise Refused(Verdict.LAYOUT)
            start += ahead
        else:
            raise Refused(Verdict.LAYOUT)
        if root is None:
            return None, start
        whole = self.bases[root]
        assert whole is not None
        return root, start - address_of_array(whole)

    def settle(self, value: ValueId, number: int) -> None:
        """A value of the plan is that new value."""
        example = self.bases[number]
        assert example is not None
        self.examples[value], self.roots[value] = example, number
        self.steps.append((Operation.SETTLED, number))

    def copied(self, value: ValueId, kind: Kind) -> ValueId:
        """A copy, in the order of its memory."""
        example, copy = self.examples[value], ValueId(-1 - len(self.bases))
        run = self.copying([(value, np.asarray)], example.shape, kind)
        if not example.size:
            raise Refused(Verdict.NEVER)
        self.run(run, [example], [self.base(example, value, None)], [copy])
        return copy

    def in_rows(self, array: NumArray, source: Base) -> int | None:
        """The number of a copy of these items, which lie in rows; None where there is no kernel for it."""
        number = self.make(array.shape, array.dtype)
        target = self.bases[number]
        assert target is not None
        draft = drafted(target, array, 1, streams=False)
        if draft is None:
            self.drop(number)
            return None
        bases, duration = (source, (number, 0)), array.nbytes * COPY_NANOSECONDS
        blocks = []
        for block in draft.blocks:
            moved = [(at, (bases[which or 0][0], bases[which or 0][1] + ahead)) for at, (which, ahead) in block.addresses]
            blocks.append(Block(block.words, moved))
        self.work(duration)
        self.launch(words_of(self.code(draft.kernel), blocks, 0, duration), [number])
        return number

    def own(self, value: ValueId, first: int, taken: Sequence[int]) -> int:
        """The number of a value that is made, from that number on, and nobody else's: the value itself, or a copy."""
        example, root = self.examples[value], self.roots[value]
        alone = [*self.roots.values()].count(root) == 1 and root not in taken and root not in self.lent
        if root is not None and root >= first and alone and example is self.bases[root] and example.flags.c_contiguous:
            return root
        target = self.make(example.shape, example.dtype)
        if example.size:
            self.copy(example, self.base(example, value, None), self.types.kind(value), target)
        return target

    def loaded(self, value: ValueId) -> int:
        """The base of a truth value or a whole number that is a value."""
        example, root = self.examples[value], self.roots[value]
        if root is None or example.dtype.kind not in "bi":
            raise Refused(Verdict.NEVER)
        whole, number = self.bases[root], self.new(None)
        assert whole is not None
        ahead = address_of_array(example) - address_of_array(whole)
        self.steps.append((Operation.LOAD, number, root, ahead, example.itemsize))
        return number

    def kind_of(self, array: NumArray) -> Kind:
        """The kind that is stored so."""
        return next(kind for kind, dtype in DTYPES.items() if dtype is array.dtype or dtype == array.dtype)

    def copying(self, views: list[tuple[ValueId, View]], shape: tuple[int, ...], kind: Kind) -> CompiledRun:
        """What copies."""
        axes = tuple(Axis(number(length), AxisKind.PARALLEL) for length in shape)
        reads, results = (Read(views[0][0], IDENTITY),), (Result(ValueId(-1), 0, None),)
        phase = Structured(PhaseId(-1), Span("", 0, 0), axes, reads, (ReadNode(0, kind),), results)
        run = compiled_of(compile_kernel(phase, views, shape, lambda _: kind, self.types.number, self.threads, _nothing))
        if not isinstance(run, CompiledRun):
            raise Refused(Verdict.NEVER)
        return run

    def copy(self, array: NumArray, source: Base, kind: Kind, target: int, ahead: int = 0) -> None:
        """Items like those of this array, from a base on, into a value from some byte on."""
        run = self.copying([(ValueId(-1), np.asarray)], array.shape, kind)
        bound = self.bound(run, [array], None)
        if bound is None:
            return
        self.work(bound.duration)
        if bound.packs or bound.partials > 1 or list(bound.order) != sorted(bound.order):
            raise Refused(Verdict.LAYOUT)
        self.launch(launch_words(bound, [source], [(target, ahead)]), [target])

    def forget(self, value: ValueId) -> None:
        """A value is not needed again; what it lies in goes with the last of its values."""
        root = self.roots.pop(value, None)
        self.examples.pop(value, None)
        if root is None or root < len(self.arguments):
            return
        if root not in self.roots.values() and root not in self.origins and root not in self.pinned:
            self.drop(root)


def _nothing(values: Mapping[ValueId, Any], overwrite: NumArray | None) -> tuple[Any, ...]:
    return ()
