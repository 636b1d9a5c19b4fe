"""The words of a program: plain data about values, numbers and phases.

Values are named by their ids, which are unique in a program.  Numbers are sizes, or *registers*: what a turn of a loop counts,
and what conditions gave.  A body's values lie beside those around it; what it made is dropped once it has been handed on, so
that the buffers of a loop's state can be written again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields
from enum import IntEnum
from itertools import zip_longest
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass
from ...typechecker.elements import ArrayType
from ...typechecker.sizes.polynomials import ONE, ZERO, Size, SizeVariable, product
from ..graph import traverse
from ..graph.fusion_groups import group_as_map
from ..graph.phases import (
    Branch,
    Constant,
    Fold,
    Input as InputPhase,
    LibraryPhase,
    Loop,
    Map,
    Output,
    Phase,
    PhaseId,
    Print,
    Structured,
    SubGraph,
    ValueId,
)
from ..jit.compiler import is_wanted, name_of, write
from ..schedule.plan.plan import BranchStep, CellsStep, FreeStep, LoopStep, RowsStep, RunStep, Step, StreamStep, SubPlan
from ..schedule.single_device import member_steps, shared_buffers
from .run_state import RunState
from .runtime import Native
from .specialization import Layouts

# ---------------------------------------------------------------------------------------------------- instructions

Register: TypeAlias = int


@dataclass(frozen=True, slots=True)
class RunUnit:
    """A phase that has no others inside; `overwrite`: a value whose buffer the first result may take."""

    phase: Structured | LibraryPhase | Constant | InputPhase | Print | Output
    overwrite: ValueId | None = None


@dataclass(frozen=True, slots=True)
class RunFusedRows:
    """A chain along rows: phases together, row by row."""

    members: tuple[Structured, ...]
    results: tuple[ValueId, ...]
    overwrite: ValueId | None = None


@dataclass(frozen=True, slots=True)
class StreamInstruction:
    """A pass over stored inputs, tile by tile (`run.streams`)."""

    step: StreamStep


@dataclass(frozen=True, slots=True)
class Free:
    """The values are not needed again."""

    values: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class InstructionScope:
    """A phase that has others inside: by machine code for all of it where the device has that, else by these words."""

    phase: Phase
    words: tuple[Word, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """The words once for each of `trip` turns.

    Register `at` counts from `first` upwards, or down to 0.  What `initial` names is `state` in the first turn; after each, what
    `next` names is, and `own` (which the turn made) is dropped; after the last, `results` are what `state` is.  `stop`: a
    register; the turn after which it is not 0 is the last.  `index`: the loop whose index it is, known in each turn alone.
    `of`: what these are the turns of."""

    of: Loop | Fold | Map
    trip: Size
    first: int
    backwards: bool
    at: Register
    state: tuple[ValueId, ...]
    initial: tuple[ValueId, ...]
    words: tuple[Word, ...]
    next: tuple[ValueId, ...]
    locals: tuple[ValueId, ...]
    results: tuple[ValueId, ...]
    stop: Register | None = None
    index: SizeVariable | None = None


@dataclass(frozen=True, slots=True)
class Arm:
    """One side of a choice: what it gives for the results, what of it is dropped then, and the sizes that it finds."""

    words: tuple[Word, ...]
    gives: tuple[ValueId, ...]
    locals: tuple[ValueId, ...]
    sizes: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Choose:
    """The first arm where a register or a size is not 0, else the second."""

    by: Register | Size
    arms: tuple[Arm, Arm]
    results: tuple[ValueId, ...]
    defines: tuple[SizeVariable, ...]


@dataclass(frozen=True, slots=True)
class Test:
    """A truth value becomes a register's number."""

    register: Register
    value: ValueId


@dataclass(frozen=True, slots=True)
class Share:
    """Values under further names."""

    names: tuple[ValueId, ...]
    values: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class LoadCell:
    """A value is the cell of another at a point of some leading axes: those of `frame`, as place `at` among all its points (a
    register, or a size) says."""

    value: ValueId
    of: ValueId
    at: Register | Size
    frame: tuple[Size, ...]
    axes: int


@dataclass(frozen=True, slots=True)
class AllocInstruction:
    """Memory for a value, as its type says; cells are put there."""

    value: ValueId


@dataclass(frozen=True, slots=True)
class Put:
    """A cell of a value is another: that at place `at` (and `ahead`) among the points of `frame`."""

    value: ValueId
    cell: ValueId
    at: Register | Size
    ahead: int
    frame: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class Refuse:
    """The program fails where a size is 0."""

    size: Size
    code: Code
    message: str


Word: TypeAlias = (
    RunUnit | RunFusedRows | StreamInstruction | Free | InstructionScope | Repeat | Choose | Test | Share | LoadCell
    | AllocInstruction | Put | Refuse
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- assembler
#
# Programs of words from the steps of a queue: here it is said what loops, branches, maps and folds do.

def assemble(steps: Sequence[Step], phases: Mapping[PhaseId, Phase], types: Mapping[ValueId, ArrayType]) -> tuple[Word, ...]:
    """The program of steps of one queue, on whole values."""
    words = _Assembler(phases, types).words(steps)
    if is_wanted():

        text = show(words)
        write(name_of(text), "words", text)
    return words


class _Assembler:
    def __init__(self, phases: Mapping[PhaseId, Phase], types: Mapping[ValueId, ArrayType]) -> None:
        self.phases, self.types = phases, types
        self.registers = 0

    def words(self, steps: Sequence[Step]) -> tuple[Word, ...]:
        words: list[Word] = []
        for step, following in zip_longest(steps, steps[1:]):
            frees = following.values if isinstance(following, FreeStep) else ()
            words.append(self.together(step, frees) if isinstance(step, RowsStep) else self.word(step))
        return tuple(words)

    def body(self, plan: SubPlan) -> tuple[Word, ...]:
        (queue,) = plan.queues
        return self.words(queue.steps)

    def register(self) -> Register:
        self.registers += 1
        return self.registers - 1

    def word(self, step: Step) -> Word:
        match step:
            case RunStep():
                phase = self.phases[step.phase]
                assert not isinstance(phase, Loop | Branch | Map | Fold)
                return RunUnit(phase, step.overwrite)
            case StreamStep():
                return StreamInstruction(step)
            case FreeStep():
                return Free(step.values)
            case LoopStep():
                loop = self.phases[step.phase]
                assert isinstance(loop, Loop)
                return InstructionScope(loop, self.loop(loop, step))
            case BranchStep():
                branch = self.phases[step.phase]
                assert isinstance(branch, Branch)
                return InstructionScope(branch, self.branch(branch, step))
            case CellsStep():
                cells = self.phases[step.phase]
                assert isinstance(cells, Map | Fold)
                return InstructionScope(cells, self.map(cells, step) if isinstance(cells, Map) else self.fold(cells, step))
            case _:
                raise AssertionError("one queue has nothing to wait for")

    def together(self, step: RowsStep, frees: Sequence[ValueId]) -> Word:
        """A chain along rows, or a group of neighbours: by machine code for all of it, else its members one by one.

        `frees`: what nothing needs afterwards."""
        members = [self.phases[id] for id in step.phases]
        chain = [member for member in members if isinstance(member, Structured)]
        if len(chain) == len(members):
            return RunFusedRows(tuple(chain), step.results, step.overwrite)
        group, shared = group_as_map(members, step.results), shared_buffers(self.phases.values())
        dying = [value for value in traverse.uses(group) if value in frees and value not in shared]
        return InstructionScope(group, self.words(member_steps(members, step.results, dying, self.types)))

    def loop(self, phase: Loop, step: LoopStep) -> tuple[Word, ...]:
        """A body so many times, or until something holds; all its states where they are kept."""
        at, stop = self.register(), None
        cells = phase.body.params[: len(phase.cells)]
        words: list[Word] = [LoadCell(v, of, at, (phase.trip,), 1) for v, of in zip(cells, phase.cells, strict=True)]
        until = None if phase.keep else phase.until
        if until is not None and step.until is not None:
            new, old = until.params[: len(phase.state)], until.params[len(phase.state) :]
            stop = self.register()
            words += [Share(old, phase.state), *self.body(step.body), Share(new, phase.body.results), *self.body(step.until)]
            words += [Test(stop, until.results[0]), Free(_own(until))]
        else:
            words += self.body(step.body)
        initialization: list[Word] = []
        if phase.keep:
            initialization += map(AllocInstruction, phase.results)
            initialization += _put(phase.results, phase.initial, ZERO, 0, (phase.trip + ONE,))
            words += _put(phase.results, phase.body.results, at, 1, (phase.trip + ONE,))
        results = () if phase.keep else phase.results
        loop = Repeat(
            phase, phase.trip, 0, False, at, phase.state, phase.initial, tuple(words), phase.body.results, _own(phase.body),
            results, stop, phase.index,
        )  # fmt: skip
        return (*initialization, loop)

    def branch(self, phase: Branch, step: BranchStep) -> tuple[Word, ...]:
        """One of two."""
        register = self.register()
        first = Arm(self.body(step.then), phase.then.results, _own(phase.then), tuple([size for _, size, _ in phase.defines]))
        second = Arm(
            self.body(step.otherwise), phase.otherwise.results, _own(phase.otherwise), tuple([size for *_, size in phase.defines])
        )
        defines = tuple([variable for variable, _, _ in phase.defines])
        return Test(register, phase.condition), Choose(register, (first, second), phase.results, defines)

    def map(self, phase: Map, step: CellsStep) -> tuple[Word, ...]:
        """A body once a cell."""
        at, results, body_results = self.register(), phase.results, phase.body.results
        words: list[Word] = [
            LoadCell(param, arg, at, phase.frame, axes)
            for param, arg, axes in zip(phase.body.params, phase.args, phase.frames, strict=True)
        ]
        words += self.body(step.body)
        words += _put(results, body_results, at, 0, phase.frame)
        loop = Repeat(phase, product(phase.frame), 0, False, at, (), (), tuple(words), (), _own(phase.body), ())
        return (*map(AllocInstruction, results), loop)

    def fold(self, phase: Fold, step: CellsStep) -> tuple[Word, ...]:
        """A body between items, the last with the state first; from the front, and all states, if it is a scan."""
        at, length, params, outcome = self.register(), self.types[phase.args[0]].shape[0], phase.body.params, phase.body.results
        half = len(params) // 2
        state, items = (params[:half], params[half:]) if phase.scan else (params[half:], params[:half])
        first = ZERO if phase.scan else length - ONE

        def cells(values: Sequence[ValueId], index: Register | Size) -> list[Word]:
            return [LoadCell(value, arg, index, (length,), 1) for value, arg in zip(values, phase.args, strict=True)]

        start, words = cells(state, first), [*cells(items, at), *self.body(step.body)]
        if phase.scan:
            start += _put(phase.results, state, ZERO, 0, (length,))
            words += _put(phase.results, outcome, at, 0, (length,))
        loop = Repeat(
            phase, length - ONE, int(phase.scan), not phase.scan, at, state, state, tuple(words), outcome, _own(phase.body),
            () if phase.scan else phase.results,
        )  # fmt: skip
        if not phase.scan:
            return (Refuse(length, Code.E204, "a reduction with a function needs at least one item"), *start, loop)
        arms = Arm((*start, loop), (), (), ()), Arm((), (), (), ())
        return (*map(AllocInstruction, phase.results), Choose(length, arms, (), ()))


def _own(graph: SubGraph) -> tuple[ValueId, ...]:
    """The params and results that are a body's own."""
    defined = {*graph.params, *(value for phase in graph.phases for value in traverse.results(phase))}
    return tuple([value for value in dict.fromkeys((*graph.results, *graph.params)) if value in defined])


def _put(
    values: Sequence[ValueId], cells: Sequence[ValueId], at: Register | Size, ahead: int, frame: tuple[Size, ...]
) -> list[Word]:
    return [Put(value, cell, at, ahead, frame) for value, cell in zip(values, cells, strict=True)]


# ---------------------------------------------------------------------------------------------------- listing
#
# Programs of words as text, for people (`RHO_DUMP`).
#
#     Inside phase=Loop 7
#       words
#         Run phase=Structured 5 overwrite=3
#         Free values=(4, 5)

def show(words: Sequence[Word]) -> str:
    """One line a word; words inside words are indented."""
    return "\n".join(line for word in words for line in _lines(word, "")) + "\n"


def _lines(word: Any, indent: str) -> Iterator[str]:
    facts: list[str] = []
    inner: list[tuple[str, tuple[Any, ...]]] = []
    for field in fields(word):
        value = getattr(word, field.name)
        if field.name in ("words", "arms"):
            inner.append((field.name, value))
        elif value is not None and value is not False and value != ():
            facts.append(f"{field.name}={_short(value)}")
    yield " ".join([f"{indent}{type(word).__name__}", *facts])
    for name, words in inner:
        yield f"{indent}  {name}"
        for each in words:
            yield from _lines(each, indent + "    ")


def _short(value: Any) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_short, value))})"
    if isinstance(value, Phase):
        results = ", ".join(map(str, traverse.results(value)))
        return f"{type(value).__name__} {value.id}" + (f" → {results}" if results else "")
    return str(value)


# ---------------------------------------------------------------------------------------------------- program
#
# A native program: its words (`run.c`, Note [Words]), and what changes in them while it is used.

OTHER: Final = object()
"""What a native program returns for arguments that it is not for."""
MOST_LAYOUTS: Final = 16
"""Layouts of an argument that a program takes."""
HEAD: Final = 15
INPUT: Final = 2 + MOST_LAYOUTS
"""Words of `struct program` before its inputs, and of each of these."""
_RETIRED: Final = 5
Input: TypeAlias = tuple[np.dtype[Any], tuple[int, ...]]
"""What an argument is."""


class Opcode(IntEnum):
    """Those of words, as `enum operation` of `run.c` has them."""

    RUN = 0
    FREE = 1
    SHARE = 2
    MOVE = 3
    CELL = 4
    PUT = 5
    SET = 6
    ADD = 7
    LOAD = 8
    EVALUATE = 9
    BRANCH = 10
    JUMP = 11
    POLL = 12
    GIVE = 13


def pause() -> None:
    """Called by loops now and then: Python looks for other threads, and for what they ask, as a function of its own begins."""


class BytecodeProgram:
    """`function`: takes the inputs in their order, gives the outputs, then what is printed (a tuple of several); `OTHER` for
    arguments that it is not for."""

    function: Callable[..., Any]
    words: np.ndarray[Any, np.dtype[np.int64]]
    inputs: Sequence[Input]

    def __init__(self, native: Native, machine: RunState, threads: int) -> None:
        self.native, self.machine, self.threads, self.layouts = native, machine, threads, Layouts()
        self.keep: list[object] = []
        self.asked = 0
        """How often sites have been."""

    def begin(self, words: Sequence[int], inputs: Sequence[Input], keep: Sequence[object]) -> None:
        """These are the words; they mention what is kept."""
        self.words, self.inputs = np.array(words, np.int64), inputs
        self.function = self.native.function(self.words, [self, *keep])

    @property
    def is_retired(self) -> bool:
        return bool(self.words[_RETIRED])

    def retire(self) -> None:
        """It has met more layouts than it can keep: another is to be made."""
        self.words[_RETIRED] = 1

    def admit(self, arrays: Sequence[Any]) -> bool:
        """Take arguments that lie like these from now on; False: there are none more, or they are of another type."""
        admitted = False
        for number, (array, (dtype, shape)) in enumerate(zip(arrays, self.inputs, strict=True)):
            if type(array) is not np.ndarray or array.dtype is not dtype or array.shape != shape:
                return False
            at = HEAD + number * INPUT
            layout, count = self.layouts.of(array), int(self.words[at + 1])
            if layout in self.words[at + 2 : at + 2 + count]:
                continue
            if count == MOST_LAYOUTS:
                return False
            self.words[at + 2 + count], self.words[at + 1], admitted = layout, count + 1, True
        return admitted
