"""The instructions of a program, how they are assembled from the steps of a plan, and the words of a native program.

Instructions are plain data.  A value is named by its id, which is unique in a program.  A number is a size or a *register*: a
loop counter or the outcome of a condition.  A body's values are in the same memory as values outside it; they are freed once its
results have become the next state, so that the buffers of a loop's state can be reused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import IntEnum
from itertools import zip_longest
from typing import Any, Final, TypeAlias

import numpy as np

from ...lang.diagnostics.model import Code
from ...lang.support.records import dataclass, field_names
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
from ..schedule.program_facts.scratch_memory import shared_buffers
from ..schedule.single_device import member_steps
from .run_state import MovedArray, RunState
from .runtime import Native
from .specialization import Layouts

# ---------------------------------------------------------------------------------------------------- instructions

Register: TypeAlias = int


@dataclass(frozen=True, slots=True)
class RunUnit:
    """Run a phase without inner phases; the first result may reuse the buffer of the value `overwrite`."""

    phase: Structured | LibraryPhase | Constant | InputPhase | Print | Output
    overwrite: ValueId | None = None


@dataclass(frozen=True, slots=True)
class RunFusedRows:
    """Run the phases of a chain together, row by row."""

    members: tuple[Structured, ...]
    results: tuple[ValueId, ...]
    overwrite: ValueId | None = None


@dataclass(frozen=True, slots=True)
class StreamInstruction:
    """A pass over stored inputs, tile by tile (`backend.streams`)."""

    step: StreamStep


@dataclass(frozen=True, slots=True)
class Free:
    """Free values that no later instruction reads."""

    values: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class InstructionScope:
    """A phase with inner phases: one kernel runs all of it if the back end has one, else `instructions` do."""

    phase: Phase
    instructions: tuple[Instruction, ...]


@dataclass(frozen=True, slots=True)
class LoopInstruction:
    """Run `instructions` `trip` times.

    `of`: the phase whose iterations these are.  `at`: a register that counts up from `first`, or down to 0 if `backwards`.
    `state`, `initial`: before the first iteration `state` gets the values of `initial`.  `yielded`: after each iteration `state`
    gets these values.  `locals`: values of an iteration, freed after it.  `results`: get the values of `state` after the last
    iteration.  `stop`: a register; the loop ends after the iteration that sets it to a nonzero number.  `index`: the size
    variable that is the iteration's number inside the body.
    """

    of: Loop | Fold | Map
    trip: Size
    first: int
    backwards: bool
    at: Register
    state: tuple[ValueId, ...]
    initial: tuple[ValueId, ...]
    instructions: tuple[Instruction, ...]
    yielded: tuple[ValueId, ...]
    locals: tuple[ValueId, ...]
    results: tuple[ValueId, ...]
    stop: Register | None = None
    index: SizeVariable | None = None


@dataclass(frozen=True, slots=True)
class BranchArm:
    """An arm of a branch.  `results`: the arm's values for the branch's results; `locals`: values freed after it; `sizes`: the
    arm's values of the run-time sizes that the branch defines."""

    instructions: tuple[Instruction, ...]
    results: tuple[ValueId, ...]
    locals: tuple[ValueId, ...]
    sizes: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class BranchInstruction:
    """Run the first arm if `condition` is nonzero, else the second.  `defines`: run-time sizes whose values come from the arm."""

    condition: Register | Size
    arms: tuple[BranchArm, BranchArm]
    results: tuple[ValueId, ...]
    defines: tuple[SizeVariable, ...]


@dataclass(frozen=True, slots=True)
class LoadPredicate:
    """Load a boolean into a register, as 0 or 1."""

    register: Register
    value: ValueId


@dataclass(frozen=True, slots=True)
class AliasInstruction:
    """Bind the names in `names` to the same arrays as `values`, pairwise."""

    names: tuple[ValueId, ...]
    values: tuple[ValueId, ...]


@dataclass(frozen=True, slots=True)
class LoadCell:
    """Make `value` a view of a cell of the value `of`.

    `at` numbers the points of `frame` in row-major order; the first `axes` coordinates of that point select the cell."""

    value: ValueId
    of: ValueId
    at: Register | Size
    frame: tuple[Size, ...]
    axes: int


@dataclass(frozen=True, slots=True)
class AllocInstruction:
    """Allocate memory for a value; its cells are stored later."""

    value: ValueId


@dataclass(frozen=True, slots=True)
class StoreCell:
    """Copy the value `cell` into `value`, at the point numbered `at + ahead` of `frame` in row-major order."""

    value: ValueId
    cell: ValueId
    at: Register | Size
    ahead: int
    frame: tuple[Size, ...]


@dataclass(frozen=True, slots=True)
class RequireNonZero:
    """Fail with `code` and `message` if a size is 0."""

    size: Size
    code: Code
    message: str


Instruction: TypeAlias = (
    RunUnit | RunFusedRows | StreamInstruction | Free | InstructionScope | LoopInstruction | BranchInstruction | LoadPredicate
    | AliasInstruction | LoadCell | AllocInstruction | StoreCell | RequireNonZero
)  # fmt: skip


# ---------------------------------------------------------------------------------------------------- assembler
#
# From the steps of a queue to instructions.  This defines what loops, branches, maps and folds do.

def assemble(
    steps: Sequence[Step], phases: Mapping[PhaseId, Phase], types: Mapping[ValueId, ArrayType]
) -> tuple[Instruction, ...]:
    """The instructions for the steps of one queue."""
    words = _Assembler(phases, types).words(steps)
    if is_wanted():

        text = show(words)
        write(name_of(text), "words", text)
    return words


class _Assembler:
    def __init__(self, phases: Mapping[PhaseId, Phase], types: Mapping[ValueId, ArrayType]) -> None:
        self.phases, self.types = phases, types
        self.registers = 0

    def words(self, steps: Sequence[Step]) -> tuple[Instruction, ...]:
        words: list[Instruction] = []
        for step, following in zip_longest(steps, steps[1:]):
            frees = following.values if isinstance(following, FreeStep) else ()
            words.append(self.together(step, frees) if isinstance(step, RowsStep) else self.word(step))
        return tuple(words)

    def body(self, plan: SubPlan) -> tuple[Instruction, ...]:
        (queue,) = plan.queues
        return self.words(queue.steps)

    def register(self) -> Register:
        self.registers += 1
        return self.registers - 1

    def word(self, step: Step) -> Instruction:
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

    def together(self, step: RowsStep, frees: Sequence[ValueId]) -> Instruction:
        """A row chain as one instruction; a stencil group as one kernel if the back end has one, else as one instruction per
        member.

        `frees`: values that are freed afterwards."""
        members = [self.phases[id] for id in step.phases]
        chain = [member for member in members if isinstance(member, Structured)]
        if len(chain) == len(members):
            return RunFusedRows(tuple(chain), step.results, step.overwrite)
        group, shared = group_as_map(members, step.results), shared_buffers(self.phases.values())
        dying = [value for value in traverse.uses(group) if value in frees and value not in shared]
        return InstructionScope(group, self.words(member_steps(members, step.results, dying, self.types)))

    def loop(self, phase: Loop, step: LoopStep) -> tuple[Instruction, ...]:
        """A loop: the body runs `trip` times or until the condition holds; with `keep` the results are all states."""
        at, stop = self.register(), None
        cells = phase.body.params[: len(phase.cells)]
        words: list[Instruction] = [LoadCell(v, of, at, (phase.trip,), 1) for v, of in zip(cells, phase.cells, strict=True)]
        until = None if phase.keep else phase.until
        if until is not None and step.until is not None:
            new, old = until.params[: len(phase.state)], until.params[len(phase.state) :]
            stop = self.register()
            words += [AliasInstruction(old, phase.state), *self.body(step.body)]
            words += [AliasInstruction(new, phase.body.results), *self.body(step.until)]
            words += [LoadPredicate(stop, until.results[0]), Free(_own(until))]
        else:
            words += self.body(step.body)
        initialization: list[Instruction] = []
        if phase.keep:
            initialization += map(AllocInstruction, phase.results)
            initialization += _put(phase.results, phase.initial, ZERO, 0, (phase.trip + ONE,))
            words += _put(phase.results, phase.body.results, at, 1, (phase.trip + ONE,))
        results = () if phase.keep else phase.results
        loop = LoopInstruction(
            phase, phase.trip, 0, False, at, phase.state, phase.initial, tuple(words), phase.body.results, _own(phase.body),
            results, stop, phase.index,
        )  # fmt: skip
        return (*initialization, loop)

    def branch(self, phase: Branch, step: BranchStep) -> tuple[Instruction, ...]:
        """A branch: the condition selects the arm that runs."""
        register = self.register()
        first = BranchArm(
            self.body(step.then), phase.then.results, _own(phase.then), tuple([size for _, size, _ in phase.defines])
        )
        second = BranchArm(
            self.body(step.otherwise), phase.otherwise.results, _own(phase.otherwise), tuple([size for *_, size in phase.defines])
        )
        defines = tuple([variable for variable, _, _ in phase.defines])
        return LoadPredicate(register, phase.condition), BranchInstruction(register, (first, second), phase.results, defines)

    def map(self, phase: Map, step: CellsStep) -> tuple[Instruction, ...]:
        """A map: the body runs once for each cell."""
        at, results, body_results = self.register(), phase.results, phase.body.results
        words: list[Instruction] = [
            LoadCell(param, arg, at, phase.frame, axes)
            for param, arg, axes in zip(phase.body.params, phase.args, phase.frames, strict=True)
        ]
        words += self.body(step.body)
        words += _put(results, body_results, at, 0, phase.frame)
        loop = LoopInstruction(phase, product(phase.frame), 0, False, at, (), (), tuple(words), (), _own(phase.body), ())
        return (*map(AllocInstruction, results), loop)

    def fold(self, phase: Fold, step: CellsStep) -> tuple[Instruction, ...]:
        """A fold, which goes backwards from the last item, or a scan, which goes forwards from the first item and stores every
        state."""
        at, length, params, outcome = self.register(), self.types[phase.args[0]].shape[0], phase.body.params, phase.body.results
        half = len(params) // 2
        state, items = (params[:half], params[half:]) if phase.scan else (params[half:], params[:half])
        first = ZERO if phase.scan else length - ONE

        def cells(values: Sequence[ValueId], index: Register | Size) -> list[Instruction]:
            return [LoadCell(value, arg, index, (length,), 1) for value, arg in zip(values, phase.args, strict=True)]

        start, words = cells(state, first), [*cells(items, at), *self.body(step.body)]
        if phase.scan:
            start += _put(phase.results, state, ZERO, 0, (length,))
            words += _put(phase.results, outcome, at, 0, (length,))
        loop = LoopInstruction(
            phase, length - ONE, int(phase.scan), not phase.scan, at, state, state, tuple(words), outcome, _own(phase.body),
            () if phase.scan else phase.results,
        )  # fmt: skip
        if not phase.scan:
            return (RequireNonZero(length, Code.E204, "a reduction with a function needs at least one item"), *start, loop)
        arms = BranchArm((*start, loop), (), (), ()), BranchArm((), (), (), ())
        return (*map(AllocInstruction, phase.results), BranchInstruction(length, arms, (), ()))


def _own(graph: SubGraph) -> tuple[ValueId, ...]:
    """The parameters and results of a body that are defined in it."""
    defined = {*graph.params, *(value for phase in graph.phases for value in traverse.results(phase))}
    return tuple([value for value in dict.fromkeys((*graph.results, *graph.params)) if value in defined])


def _put(
    values: Sequence[ValueId], cells: Sequence[ValueId], at: Register | Size, ahead: int, frame: tuple[Size, ...]
) -> list[Instruction]:
    return [StoreCell(value, cell, at, ahead, frame) for value, cell in zip(values, cells, strict=True)]


# ---------------------------------------------------------------------------------------------------- listing
#
# Instructions as text, for `RHO_DUMP`.
#
#     InstructionScope phase=Loop 7
#       instructions
#         RunUnit phase=Structured 5 overwrite=3
#         Free values=(4, 5)

def show(words: Sequence[Instruction]) -> str:
    """The instructions as text, one per line; inner ones are indented."""
    return "\n".join(line for word in words for line in _lines(word, "")) + "\n"


def _lines(word: Any, indent: str) -> Iterator[str]:
    facts: list[str] = []
    inner: list[tuple[str, tuple[Any, ...]]] = []
    for name in field_names(type(word)):
        value = getattr(word, name)
        if name in ("instructions", "arms"):
            inner.append((name, value))
        elif value is not None and value is not False and value != ():
            facts.append(f"{name}={_short(value)}")
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
# A native program: a sequence of 64-bit words (`run.c`, Note [Words]), some of which change while it runs.

NOT_APPLICABLE: Final = object()
"""The result of a native program for arguments with types or layouts that it does not support."""
MAX_LAYOUTS: Final = 16
"""The most layouts of an argument that a program accepts."""
HEADER_WORDS: Final = 14
INPUT_WORDS: Final = 2 + MAX_LAYOUTS
"""Words of `struct program` before its inputs, and words of each input."""
_RETIRED: Final = 5
NativeInput: TypeAlias = tuple[np.dtype[Any], tuple[int, ...]]
"""The dtype and the shape of an argument."""


class Opcode(IntEnum):
    """The operation codes of `enum operation` in `run.c`."""

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


class BytecodeProgram:
    """A native program.

    `function(*inputs)` returns the outputs followed by the printed values (a tuple if there are several), or `NOT_APPLICABLE`."""

    function: Callable[..., Any]
    words: np.ndarray[Any, np.dtype[np.int64]]
    inputs: Sequence[NativeInput]

    def __init__(self, native: Native, machine: RunState, threads: int) -> None:
        self.native, self.machine, self.threads, self.layouts = native, machine, threads, Layouts()
        self.keep: list[object] = []
        self.before = 0
        """Runs of the plan before the program was made."""

    def begin(self, words: Sequence[int], inputs: Sequence[NativeInput], keep: Sequence[object]) -> None:
        """Set the words; `keep`: objects that must stay alive, since the words contain their addresses."""
        self.words, self.inputs = np.array(words, np.int64), inputs
        self.function = self.native.function(self.words, [self, *keep])

    @property
    def is_retired(self) -> bool:
        return bool(self.words[_RETIRED])

    def retire(self) -> None:
        """Retire a program that has met more layouts than it can hold; a new one is made."""
        self.words[_RETIRED] = 1

    def admit(self, arrays: Sequence[Any]) -> bool:
        """Accept arguments with these layouts from now on.  False if there is no space for more layouts, or a dtype or shape
        differs."""
        admitted = False
        for number, (given, (dtype, shape)) in enumerate(zip(arrays, self.inputs, strict=True)):
            array = given[0] if type(given) is MovedArray else given
            if type(array) is not np.ndarray or array.dtype is not dtype or array.shape != shape:
                return False
            at = HEADER_WORDS + number * INPUT_WORDS
            layout, count = self.layouts.of(array), int(self.words[at + 1])
            if layout in self.words[at + 2 : at + 2 + count]:
                continue
            if count == MAX_LAYOUTS:
                return False
            self.words[at + 2 + count], self.words[at + 1], admitted = layout, count + 1, True
        return admitted
