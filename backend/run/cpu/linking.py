"""A prepared plan as one native call: arguments checked, results made, every kernel launched, without a step of Python.

Only plans whose phases all have kernels, for arrays of one layout: element-wise phases, reductions, constants and renamings.
Arguments of another layout, and anything that fails, come back as `OTHER`; the caller then runs the plan as ever, so that errors
are the same.  Results are fresh arrays.

Note [As planned].  Values are made and freed in the order of the plan; what the plan would write over a dying value is made
beside it, which is why a plan with a large one of these is not linked.

Neighbours: `launching` (words of launches), `run.native` (functions of words), `run.prepared` (asks for this).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Final, TypeVar

import numpy as np

from ....typechecker.elements import Kind
from ...graph.phases import Constant, Input, Output, Phase, PhaseId, Print, ReadNode, Structured, ValueId
from ...kernels import policy
from ...kernels.ir import Kernel, Stores
from ...kernels.native_text import Operation
from ...kernels.rows import RowKernel
from ...schedule.plan import FreeStep, RowsStep, RunStep, Step
from ..device import Types
from ..native import Native, native
from ..pool import ALIGNMENT, LEAST, room
from .compiled import Bound, CompiledRun, layout_of
from .kinds import DTYPES, NumArray, constants
from .launching import HELPERS_PLACE, Base, Block, combining_words, launch_words, moved, words_of
from .row_kernels import BoundRows, RowBinding
from .rows import RowsRun, compile_rows
from .structured import compile_structured, compiled_of
from .views import View

OTHER: Final = object()
"""What a linked call returns for arguments that it is not for."""
MOST_NANOSECONDS: Final = 5e6
"""Work of plans that are linked at most: of more, the calls are nothing."""
SAVED_NANOSECONDS: Final = 8_000
"""What a linked call saves over a run of the plan."""
MOST_VALUES: Final = 64


Ready = TypeVar("Ready")


class Take(Enum):
    """What is given for an argument; numbers become 0-d arrays."""

    ARRAY = -1
    FLOAT = 0
    INT = 1


def printed_name(place: int) -> str:
    """By which a printed value is asked for; no output is named so."""
    return f"print {place}"


class Verdict(Enum):
    """Why there is no linked call."""

    LATER = "a kernel is not there yet"
    NEVER = "the plan is of another sort"


class _Refused(Exception):
    """With the verdict."""


def link(
    steps: Sequence[Step], phases: Mapping[PhaseId, Phase], types: Types, threads: int,
    arguments: Sequence[tuple[str, NumArray, Take]], outputs: Sequence[str], runs: int,
) -> Callable[..., Any] | Verdict:  # fmt: skip
    """The call for arguments like these, by the names of inputs; a tuple if there are several outputs.

    `runs`: how often the plan has run since this was asked last."""
    if policy.mode() is policy.Mode.OFF:
        return Verdict.NEVER
    linker = _Linker(types, threads, arguments, runs)
    try:
        for step in steps:
            linker.step(step, phases)
        if policy.mode() is policy.Mode.AUTO and not linker.is_ready:
            return Verdict.LATER
        made = native()
        return Verdict.NEVER if made is None else linker.finish(made, outputs)
    except _Refused as refusal:
        verdict: Verdict = refusal.args[0]
        return verdict


class _Linker:
    """`examples`: arrays as the values will be, whose contents nobody looks at; `roots`: which base a value lies in."""

    def __init__(self, types: Types, threads: int, arguments: Sequence[tuple[str, NumArray, Take]], runs: int) -> None:
        self.types, self.threads, self.runs = types, threads, runs
        self.arguments = {name: place for place, (name, _, _) in enumerate(arguments)}
        self.checks: list[int] = []
        self.bases: list[NumArray | None] = []
        for _, array, take in arguments:
            self.checks += [id(array.dtype) if take is Take.ARRAY else take.value, array.ndim]
            for length, stride in zip(array.shape, array.strides, strict=True):
                self.checks += [length, stride]
            self.bases.append(array)
        self.data: list[int] = []
        self.operations: list[int] = []
        self.keep: list[object] = [array.dtype for _, array, _ in arguments]
        self.examples: dict[ValueId, NumArray] = {}
        self.roots: dict[ValueId, int | None] = {}
        self.outputs: dict[str, int] = {}
        self.prints = 0
        self.duration, self.helpers, self.is_ready = 0.0, 0, True

    # ------------------------------------------------------------------------------------------- steps

    def step(self, step: Step, phases: Mapping[PhaseId, Phase]) -> None:
        match step:
            case RunStep():
                self.phase(phases[step.phase], step.overwrite)
            case RowsStep():
                members = [phases[id] for id in step.phases]
                self.rows([member for member in members if isinstance(member, Structured)], step.results, step.overwrite)
            case FreeStep():
                for value in step.values:
                    self.forget(value)
            case _:
                raise _Refused(Verdict.NEVER)

    def phase(self, phase: Phase, overwrite: ValueId | None) -> None:
        match phase:
            case Input():
                place = self.arguments[phase.name]
                array = self.bases[place]
                assert array is not None
                if self.types.kind(phase.result) is Kind.CHAR or array.dtype is not DTYPES[self.types.kind(phase.result)]:
                    raise _Refused(Verdict.NEVER)
                self.examples[phase.result], self.roots[phase.result] = array, place
            case Constant():
                array = constants(self.types.kind(phase.result), phase.data, self.types.shape(phase.result))
                self.keep.append(array)
                self.examples[phase.result], self.roots[phase.result] = array, None
            case Output():
                self.outputs[phase.name] = self.given(phase.arg)
            case Print():
                self.outputs[printed_name(self.prints)] = self.given(phase.arg)
                self.prints += 1
            case Structured():
                if overwrite is not None and self.examples[overwrite].nbytes >= LEAST:
                    raise _Refused(Verdict.NEVER)
                self.structured(phase)
            case _:
                raise _Refused(Verdict.NEVER)

    def structured(self, phase: Structured) -> None:
        run = compile_structured(phase, self.types.kind, self.types.number, self.threads)
        compiled = compiled_of(run)
        if isinstance(compiled, CompiledRun):
            self.kernel(phase, compiled)
        elif all(r.reduction is None and isinstance(phase.body[r.node], ReadNode) for r in phase.results):
            for result, value in zip(phase.results, run(self.examples, None), strict=True):
                node = phase.body[result.node]
                assert isinstance(node, ReadNode)
                self.view(result.value, value, phase.reads[node.index].value)
        else:
            raise _Refused(Verdict.NEVER)

    def view(self, value: ValueId, array: NumArray, source: ValueId) -> None:
        """A value that shows part of another."""
        if array.size == 0 or not np.may_share_memory(array, self.examples[source]):
            raise _Refused(Verdict.NEVER)
        self.examples[value], self.roots[value] = array, self.roots[source]

    def kernel(self, phase: Structured, run: CompiledRun) -> None:
        arrays = [np.asarray(view(self.examples[value])) for value, view in run.views]
        operands = [self.base(array, value, view) for array, (value, view) in zip(arrays, run.views, strict=True)]
        bound = self.bound(run, arrays)
        if bound is None:
            for result in phase.results:
                self.settle(result.value, self.make(run.result_shape(), DTYPES[self.types.kind(result.value)]))
            return
        self.work(bound.duration)
        if run.body.steps or bound.packs or (bound.partials > 1 and not bound.combine):
            raise _Refused(Verdict.NEVER)
        results = [self.make(bound.shape, dtype) for dtype in bound.dtypes]
        rows = results if bound.partials == 1 else [self.make((bound.partials, *bound.shape), dtype) for dtype in bound.dtypes]
        self.launch(launch_words(bound, operands, [(row, 0) for row in rows]))
        for place, (row, result) in enumerate(zip(rows, results, strict=True)):
            if row != result:
                self.launch(combining_words(bound, place, (row, 0), (result, 0)))
                self.drop(row)
        for entry, result in zip(phase.results, results, strict=True):
            self.settle(entry.value, result)
            if list(bound.order) != sorted(bound.order):
                order = sorted(range(len(bound.order)), key=bound.order.__getitem__)
                self.examples[entry.value] = self.examples[entry.value].transpose(order)

    def rows(self, members: Sequence[Structured], wanted: Sequence[ValueId], overwrite: ValueId | None) -> None:
        """A chain along rows."""
        if overwrite is not None and self.examples[overwrite].nbytes >= LEAST:
            raise _Refused(Verdict.NEVER)
        run = compiled_of(compile_rows(members, wanted, self.types.kind, self.types.number, self.threads))
        if not isinstance(run, RowsRun) or run.compiled is None:
            raise _Refused(Verdict.NEVER)
        arrays = [np.asarray(view(self.examples[value])) for value, view in run.reads]
        operands = [self.base(array, value, view) for array, (value, view) in zip(arrays, run.reads, strict=True)]
        bound = self.bound_rows(run.compiled, arrays)
        made = [(run.space[:-1] if on_row else run.space, DTYPES[kind])
                for kind, on_row in zip(run.kinds, run.chain.is_row, strict=True)]  # fmt: skip
        results = [self.make(shape, dtype) for shape, dtype in made]
        if bound is not None:
            pitch, duration = -(-bound.scratch // ALIGNMENT) * ALIGNMENT, policy.work(run.compiled.body, run.points)
            scratch = self.make((len(bound.pieces) * pitch + ALIGNMENT,), np.dtype(np.uint8))
            self.operations += [Operation.ALIGN, scratch]
            self.work(duration)
            blocks = []
            bases: list[Base] = [*operands, *((result, 0) for result in results)]
            for number, (words, sources, ahead) in enumerate(bound.pieces):
                addresses = moved((*bound.operand_places, *bound.result_places), bases, (*sources, *ahead))
                blocks.append(Block(words, [*addresses, (len(words) - 1, (scratch, number * pitch))]))
            address = ctypes.cast(bound.call, ctypes.c_void_p).value or 0  # type: ignore[arg-type]
            self.launch(words_of(address, blocks, min(self.threads, len(blocks)) - 1, duration))
            self.drop(scratch)
        for value, result in zip(wanted, results, strict=True):
            self.settle(value, result)

    def bound_rows(self, run: RowBinding, arrays: Sequence[NumArray]) -> BoundRows | None:
        """The same for chains along rows."""
        key = (Stores.PLAIN, *layout_of(arrays))
        found = run.kept[key] if key in run.kept else run.kernel(arrays, Stores.PLAIN)
        if isinstance(found, RowKernel) and self.wants(found):
            found = run.bind(found, arrays)
        run.kept[key] = found
        return self.checked(found, BoundRows)

    def bound(self, run: CompiledRun, arrays: Sequence[NumArray]) -> Bound | None:
        """The kernel for these operands; None if it is not there yet.  Refused: there never is one."""
        key = (Stores.PLAIN, layout_of(arrays))
        found = run.kept[key] if key in run.kept else run.kernel_for(arrays, Stores.PLAIN)
        if isinstance(found, Kernel) and self.wants(found):
            found = run.bind(found, arrays)
        run.kept[key] = found
        return self.checked(found, Bound)

    def checked(self, found: object, type: type[Ready]) -> Ready | None:
        if found is None:
            raise _Refused(Verdict.NEVER)
        if isinstance(found, type):
            return found
        self.is_ready = False
        return None

    def wants(self, kernel: Kernel | RowKernel) -> bool:
        """Is a kernel there, or is it time to make it?"""
        return policy.is_worth(kernel, self.runs * SAVED_NANOSECONDS)

    def work(self, duration: float) -> None:
        self.duration += duration
        if self.duration > MOST_NANOSECONDS:
            raise _Refused(Verdict.NEVER)

    # ------------------------------------------------------------------------------------------ pieces

    def base(self, array: NumArray, source: ValueId, view: View) -> Base:
        """Where a view of a value begins.  Refused: it is a copy."""
        example, root = self.examples[source], self.roots[source]
        start = _address(example)
        if array.size and np.may_share_memory(array, example):
            start = _address(array)
        elif array.size == 1:  # NumPy copies an item that is taken out
            ahead = int(np.asarray(view(_distances(example))).reshape(())) - 1
            if ahead % example.itemsize or (ahead < 0 and example.itemsize == 1):
                raise _Refused(Verdict.NEVER)
            start += ahead
        else:
            raise _Refused(Verdict.NEVER)
        if root is None:
            return None, start
        whole = self.bases[root]
        assert whole is not None
        return root, start - _address(whole)

    def make(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> int:
        """A new value."""
        number, example = len(self.bases), np.empty(shape, dtype)
        if number >= MOST_VALUES:
            raise _Refused(Verdict.NEVER)
        self.bases.append(example)
        self.keep += [dtype, shape, room]
        if example.nbytes >= LEAST:
            self.operations += [Operation.ROOM, number, id(room), id(shape), id(dtype)]
        else:
            self.operations += [Operation.MAKE, number, id(dtype), len(shape), self.put(shape)]
        return number

    def settle(self, value: ValueId, number: int) -> None:
        """A value of the plan is that new value."""
        example = self.bases[number]
        assert example is not None
        self.examples[value], self.roots[value] = example, number

    def drop(self, number: int) -> None:
        self.operations += [Operation.FREE, number]
        self.bases[number] = None

    def launch(self, words: list[int] | None) -> None:
        if words is None:
            raise _Refused(Verdict.NEVER)
        self.helpers = max(self.helpers, words[HELPERS_PLACE])
        self.operations += [Operation.LAUNCH, self.put(words)]

    def put(self, words: Sequence[int]) -> int:
        """The place of words of the data."""
        place = _HEAD + len(self.checks) + len(self.data)
        self.data += words
        return place

    def given(self, value: ValueId) -> int:
        """Which value an output is.  Refused: it is not fresh, or is given already, or is a part."""
        root = self.roots[value]
        if root is None or root < len(self.arguments) or root in self.outputs.values():
            raise _Refused(Verdict.NEVER)
        if self.types.kind(value) is Kind.CHAR or self.examples[value] is not self.bases[root]:
            raise _Refused(Verdict.NEVER)
        return root

    def forget(self, value: ValueId) -> None:
        """A value is not needed again; what it lies in goes with the last of its values."""
        root = self.roots.pop(value, None)
        self.examples.pop(value, None)
        if root is None or root < len(self.arguments):
            return
        if root not in self.roots.values() and root not in self.outputs.values():
            self.drop(root)

    def finish(self, made: Native, names: Sequence[str]) -> Callable[..., Any]:
        if set(names) != set(self.outputs):
            raise _Refused(Verdict.NEVER)
        given = [self.outputs[name] for name in names]
        for root, array in enumerate(self.bases):
            if array is not None and root >= len(self.arguments) and root not in given:
                self.operations += [Operation.FREE, root]
        self.operations += [Operation.GIVE, given[0]] if len(given) == 1 else [Operation.GIVE_ALL, len(given), *given]
        begin = _HEAD + len(self.checks) + len(self.data)
        head = [len(self.arguments), len(self.bases), id(OTHER), id(np.ndarray), begin]
        words = np.array([*head, *self.checks, *self.data, *self.operations, 0, 0, 0], np.int64)
        made.ask_for_helpers(self.helpers)
        return made.function(words, self.keep)


_HEAD: Final = 5


def _address(array: NumArray) -> int:
    address: int = array.__array_interface__["data"][0]
    return address


def _distances(array: NumArray) -> NumArray:
    """Each item's distance in bytes from the first one, and one more (so that no fill looks like one)."""
    found = np.ones(array.shape, np.int64)
    for axis, (length, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        found += (np.arange(length) * stride).reshape(-1, *(1,) * (array.ndim - axis - 1))
    return found
