"""Programs of words from the steps of a queue: here it is said what loops, branches, maps and folds do.

Neighbours: `program` (the words), `schedule.plan` (steps).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import zip_longest

from ....lang.codes import Code
from ....typechecker.sizes import ONE, ZERO, Size, product
from ....typechecker.types import ArrayType
from ...graph import traverse
from ...graph.neighbours import as_map
from ...graph.phases import Branch, Fold, Loop, Map, Phase, PhaseId, Structured, SubGraph, ValueId
from ...kernels.dumping import is_wanted, name_of, write
from ...schedule.plan.model import BranchStep, CellsStep, FreeStep, LoopStep, RowsStep, RunStep, Step, StreamStep, SubPlan
from ...schedule.single.one_device import steps_apart
from ...schedule.single.storages import shared_buffers
from .program import Arm, Cell, Chain, Choose, Free, Inside, Put, Refuse, Register, Repeat, Room, Run, Share, Stream, Test, Word


def assemble(steps: Sequence[Step], phases: Mapping[PhaseId, Phase], types: Mapping[ValueId, ArrayType]) -> tuple[Word, ...]:
    """The program of steps of one queue, on whole values."""
    words = _Assembler(phases, types).words(steps)
    if is_wanted():
        from .text import show

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
                return Run(phase, step.overwrite)
            case StreamStep():
                return Stream(step)
            case FreeStep():
                return Free(step.values)
            case LoopStep():
                loop = self.phases[step.phase]
                assert isinstance(loop, Loop)
                return Inside(loop, self.loop(loop, step))
            case BranchStep():
                branch = self.phases[step.phase]
                assert isinstance(branch, Branch)
                return Inside(branch, self.branch(branch, step))
            case CellsStep():
                cells = self.phases[step.phase]
                assert isinstance(cells, Map | Fold)
                return Inside(cells, self.map(cells, step) if isinstance(cells, Map) else self.fold(cells, step))
            case _:
                raise AssertionError("one queue has nothing to wait for")

    def together(self, step: RowsStep, frees: Sequence[ValueId]) -> Word:
        """A chain along rows, or a group of neighbours: by machine code for all of it, else its members one by one.

        `frees`: what nothing needs afterwards."""
        members = [self.phases[id] for id in step.phases]
        chain = [member for member in members if isinstance(member, Structured)]
        if len(chain) == len(members):
            return Chain(tuple(chain), step.results, step.overwrite)
        group, shared = as_map(members, step.results), shared_buffers(self.phases.values())
        dying = [value for value in traverse.uses(group) if value in frees and value not in shared]
        return Inside(group, self.words(steps_apart(members, step.results, dying, self.types)))

    def loop(self, phase: Loop, step: LoopStep) -> tuple[Word, ...]:
        """A body so many times, or until something holds; all its states where they are kept."""
        at, stop = self.register(), None
        cells = phase.body.params[: len(phase.cells)]
        words: list[Word] = [Cell(v, of, at, (phase.trip,), 1) for v, of in zip(cells, phase.cells, strict=True)]
        until = None if phase.keep else phase.until
        if until is not None and step.until is not None:
            new, old = until.params[: len(phase.state)], until.params[len(phase.state) :]
            stop = self.register()
            words += [Share(old, phase.state), *self.body(step.body), Share(new, phase.body.results), *self.body(step.until)]
            words += [Test(stop, until.results[0]), Free(_own(until))]
        else:
            words += self.body(step.body)
        kept: list[Word] = []
        if phase.keep:
            kept += map(Room, phase.results)
            kept += _put(phase.results, phase.initial, ZERO, 0, (phase.trip + ONE,))
            words += _put(phase.results, phase.body.results, at, 1, (phase.trip + ONE,))
        results = () if phase.keep else phase.results
        turns = Repeat(
            phase, phase.trip, 0, False, at, phase.state, phase.initial, tuple(words), phase.body.results, _own(phase.body),
            results, stop, phase.index,
        )  # fmt: skip
        return (*kept, turns)

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
        at, results, made = self.register(), phase.results, phase.body.results
        words: list[Word] = [
            Cell(param, arg, at, phase.frame, axes)
            for param, arg, axes in zip(phase.body.params, phase.args, phase.frames, strict=True)
        ]
        words += self.body(step.body)
        words += _put(results, made, at, 0, phase.frame)
        turns = Repeat(phase, product(phase.frame), 0, False, at, (), (), tuple(words), (), _own(phase.body), ())
        return (*map(Room, results), turns)

    def fold(self, phase: Fold, step: CellsStep) -> tuple[Word, ...]:
        """A body between items, the last with the state first; from the front, and all states, if it is a scan."""
        at, length, params, made = self.register(), self.types[phase.args[0]].shape[0], phase.body.params, phase.body.results
        half = len(params) // 2
        state, items = (params[:half], params[half:]) if phase.scan else (params[half:], params[:half])
        first = ZERO if phase.scan else length - ONE

        def cells(values: Sequence[ValueId], place: Register | Size) -> list[Word]:
            return [Cell(value, arg, place, (length,), 1) for value, arg in zip(values, phase.args, strict=True)]

        start, words = cells(state, first), [*cells(items, at), *self.body(step.body)]
        if phase.scan:
            start += _put(phase.results, state, ZERO, 0, (length,))
            words += _put(phase.results, made, at, 0, (length,))
        turns = Repeat(
            phase, length - ONE, int(phase.scan), not phase.scan, at, state, state, tuple(words), made, _own(phase.body),
            () if phase.scan else phase.results,
        )  # fmt: skip
        if not phase.scan:
            return (Refuse(length, Code.E204, "a reduction with a function needs at least one item"), *start, turns)
        arms = Arm((*start, turns), (), (), ()), Arm((), (), (), ())
        return (*map(Room, phase.results), Choose(length, arms, (), ()))


def _own(graph: SubGraph) -> tuple[ValueId, ...]:
    """The params and results that are a body's own."""
    own = {*graph.params, *(value for phase in graph.phases for value in traverse.results(phase))}
    return tuple([value for value in dict.fromkeys((*graph.results, *graph.params)) if value in own])


def _put(
    values: Sequence[ValueId], cells: Sequence[ValueId], at: Register | Size, ahead: int, frame: tuple[Size, ...]
) -> list[Word]:
    return [Put(value, cell, at, ahead, frame) for value, cell in zip(values, cells, strict=True)]
