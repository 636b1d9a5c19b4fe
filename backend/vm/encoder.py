"""Encodes instructions for the interpreter in C (`run.c`): as 64-bit words, with slots for values and call sites for phases."""

from __future__ import annotations

import ctypes
from bisect import bisect
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np

from ...lang.diagnostics.model import RunFailed
from ...typechecker.elements import Kind
from ...typechecker.sizes.polynomials import Size, SizeVariable, variable
from ..cpu.backend import CpuBackend
from ..cpu.views import DTYPES, NumArray, start_of
from ..graph import traverse
from ..graph.phases import Constant, Fold, Input, LibraryPhase, Loop, Map, Output, Phase, Print, ValueId
from .bytecode import (
    HEADER_WORDS,
    INPUT_WORDS,
    MAX_LAYOUTS,
    NOT_APPLICABLE,
    AliasInstruction,
    AllocInstruction,
    BranchArm,
    BranchInstruction,
    BytecodeProgram,
    Free,
    Instruction,
    InstructionScope,
    LoadCell,
    LoadPredicate,
    LoopInstruction,
    Opcode,
    Register,
    RequireNonZero,
    RunFusedRows,
    RunUnit,
    StoreCell,
)
from .call_sites import AllocSite, CallSite, RegionSite, UnitSite, with_failures_located
from .check_failures import CheckFailed, add_iteration, iteration_label
from .interpreter import lazy_kernel
from .run_state import MovedArray, PooledBuffer, RunState
from .runtime import Native

MAX_VALUES: Final = 4096
_NUMBERS: Final = {Kind.F64: float, Kind.I64: int}
"""The Python number types that are accepted for scalars of a kind."""


class NotEncodable(Exception):
    """Raised where the program cannot be encoded; Python then runs it."""


def encode(
    native: Native, words: Sequence[Instruction], machine: RunState, backend: CpuBackend, inputs: Sequence[str],
    exhausted: Callable[[Phase | None], RunFailed], reset: Callable[[], int] | None,
) -> BytecodeProgram:  # fmt: skip
    """The native program.  Raises NotEncodable.

    `exhausted`: makes the error of running out of memory at a phase; `reset`: called at the start of a run, if given."""
    program = BytecodeProgram(native, machine, backend.threads)
    encoder = _Encoder(program, machine, backend, inputs)
    if reset is not None:
        encoder.emit(Opcode.EVALUATE, 0, encoder.id(reset), 0)
    ending = len(words)
    while ending and _may_be_last(words[ending - 1]):
        ending -= 1
    encoder.all(words[:ending])
    encoder.is_ending = True
    encoder.all([word for word in words[ending:] if not isinstance(word, Free)])
    program.begin(encoder.finished(exhausted), encoder.inputs, encoder.keep)
    return program


class _Encoder:
    def __init__(self, program: BytecodeProgram, machine: RunState, backend: CpuBackend, inputs: Sequence[str]) -> None:
        self.program, self.machine, self.backend = program, machine, backend
        self.names = list(inputs)
        self.inputs: list[tuple[np.dtype[Any], tuple[int, ...]]] = [(np.dtype(np.uint8), ())] * len(inputs)
        self.takes: list[object] = [None] * len(inputs)
        self.first = HEADER_WORDS + INPUT_WORDS * len(inputs)
        self.code: list[int] = []
        self.values: dict[ValueId | str, int] = {name: slot for slot, name in enumerate(inputs)}
        self.count, self.numbers = len(inputs), 1  # number slot 0 is unused
        self.registers: dict[Register | SizeVariable, int] = {}
        self.constants: list[tuple[int, NumArray]] = []
        self.outputs: list[int] = []
        self.printed: list[int] = []
        self.keep: list[object] = []
        self.spans: list[tuple[int, Phase]] = []
        self.loops: list[tuple[int, int, int, Loop | Fold | Map]] = []
        """(first word, end word, number slot of the counter, phase) of each loop, inner loops first."""
        self.inside: Phase | None = None
        self.is_ending = False
        """Are all remaining instructions outputs and prints?"""

    # -------------------------------------------------------------------------------------------- parts

    def emit(self, operation: Opcode, *operands: int) -> int:
        """Append an instruction; returns its offset in words."""
        offset = self.first + len(self.code)
        self.code += (operation, *operands)
        return offset

    @property
    def here(self) -> int:
        return self.first + len(self.code)

    def set(self, offset: int, word: int) -> None:
        self.code[offset - self.first] = word

    def id(self, referent: object) -> int:
        self.keep.append(referent)
        return id(referent)

    def new(self) -> int:
        self.count += 1
        if self.count > MAX_VALUES:
            raise NotEncodable
        return self.count - 1

    def value(self, value: ValueId) -> int:
        slot = self.values.get(value)
        if slot is None:
            slot = self.values[value] = self.new()
        return slot

    def number(self, name: Register | SizeVariable | None = None) -> int:
        """The number slot of a register or a size; a new slot for `None`."""
        if name is None or name not in self.registers:
            self.numbers += 1
            if name is None:
                return self.numbers - 1
            self.registers[name] = self.numbers - 1
        return self.registers[name]

    def size(self, size: Register | Size) -> int:
        """The number slot that will contain a size at run time."""
        if not isinstance(size, Size):
            return self.number(size)
        at = self.number()
        if size.constant is not None:
            self.emit(Opcode.SET, at, size.constant)
        else:
            self.evaluate(at, lambda: self.machine.number(size), size.variables())
        return at

    def evaluate(
        self, number: int, function: Callable[[], int], sizes: Iterable[SizeVariable], phase: Phase | None = None
    ) -> None:  # fmt: skip
        """Set a number slot by a call of `function`, whose arguments are the run-time sizes among `sizes`.

        `phase`: the phase to blame for a failure, if it is not the surrounding one."""
        known = [size for size in sizes if size in self.registers]
        asked = self.id(with_failures_located(phase or self.inside, self.machine, known, function))
        self.emit(Opcode.EVALUATE, number, asked, len(known), *map(self.number, known))

    # -------------------------------------------------------------------------------------------- words

    def all(self, words: Sequence[Instruction]) -> None:
        for word in words:
            self.word(word)

    def word(self, word: Instruction) -> None:
        match word:
            case RunUnit():
                self.run(word)
            case RunFusedRows():
                self.computed(word, word.members[0], word.results, word.overwrite)
            case Free():
                for value in word.values:
                    self.emit(Opcode.FREE, self.value(value))
            case InstructionScope():
                self.within(word)
            case LoopInstruction():
                self.repeat(word)
            case BranchInstruction():
                self.choose(word)
            case LoadPredicate():
                self.emit(Opcode.LOAD, self.number(word.register), self.value(word.value))
            case AliasInstruction():
                for name, value in zip(word.names, word.values, strict=True):
                    self.emit(Opcode.SHARE, self.value(name), self.value(value))
            case LoadCell():
                self.cell(word)
            case AllocInstruction():
                variables = [v for size in self.machine.types[word.value].shape for v in size.variables()]
                self.site(AllocSite, self.inside, (), (word.value,), None, variables)
            case StoreCell():
                at = self.size(word.at)
                self.emit(Opcode.PUT, self.value(word.value), self.value(word.cell), at, word.ahead)
            case RequireNonZero() if word.size.constant:  # never fails
                pass
            case RequireNonZero():
                self.evaluate(0, lambda: _require_nonzero(word, self.machine.number(word.size)), word.size.variables())
            case _:
                raise NotEncodable

    def run(self, word: RunUnit) -> None:
        phase = word.phase
        match phase:
            case Input():
                self.input(phase)
            case Constant():
                self.constant(phase.result, np.asarray(self.backend.constant(phase, self.machine)))
            case Output() | Print():
                if self.inside is not None or self.machine.kind(phase.arg) is Kind.CHAR:
                    raise NotEncodable
                shown = self.value(phase.arg)
                if not self.is_ending:  # the following arm may overwrite it
                    shown = self.new()
                    self.emit(Opcode.SHARE, shown, self.value(phase.arg))
                (self.outputs if isinstance(phase, Output) else self.printed).append(shown)
            case LibraryPhase(op="runtime_size"):
                (which,) = phase.defines
                self.emit(Opcode.LOAD, self.number(which), self.value(phase.args[0]))
                self.define(which, variable(which), phase)
            case LibraryPhase(op="size_vector") if all(size.constant is not None for size in traverse.sizes(phase)):
                self.constant(phase.results[0], np.asarray(self.backend.library(phase, self.machine)({}, None)[0]))
            case _:
                overwrite = None if isinstance(phase, LibraryPhase) else word.overwrite
                self.computed(word, phase, traverse.results(phase), overwrite)

    def is_known(self, value: ValueId) -> bool:
        return all(size.constant is not None for size in self.machine.types[value].shape)

    def input(self, phase: Input) -> None:
        slot, value, kind = self.names.index(phase.name), phase.result, self.machine.kind(phase.result)
        if kind is Kind.CHAR or self.inside is not None:
            raise NotEncodable
        shape = self.machine.shape(value)
        self.inputs[slot] = DTYPES[kind], shape
        self.takes[slot] = MovedArray if shape else _NUMBERS.get(kind)
        self.values[value] = slot

    def constant(self, value: ValueId, array: NumArray) -> None:
        slot = self.new()
        self.constants.append((slot, array))
        if self.inside is None:
            self.values[value] = slot
        else:  # each iteration frees its own values
            self.emit(Opcode.SHARE, self.value(value), slot)

    def computed(self, word: RunUnit | RunFusedRows, phase: Phase, results: Sequence[ValueId], overwrite: ValueId | None) -> None:
        run = lazy_kernel(self.machine, word, self.backend)
        members = word.members if isinstance(word, RunFusedRows) else (phase,)
        defined = {value for member in members for value in traverse.results(member)}
        operands = [value for value in dict.fromkeys(v for m in members for v in traverse.operands(m)) if value not in defined]
        defines = getattr(phase, "defines", ())
        self.site(lambda *given: UnitSite(run, *given), phase, operands, results, overwrite, run.needed, defines)

    def site(
        self, make: Callable[..., CallSite], phase: Phase | None, operands: Sequence[ValueId], results: Sequence[ValueId],
        overwrite: ValueId | None, sizes: Sequence[SizeVariable] = (), defines: Sequence[SizeVariable] = (),
    ) -> int:  # fmt: skip
        """Append a `struct run` for a new call site; returns its offset."""
        offset = self.here
        assert phase is not None
        sizes = [size for size in sizes if size in self.registers]
        over = operands.index(overwrite) if overwrite in operands else -1
        site = make(self.program, offset, phase, operands, results, over, sizes)
        slots = [*map(self.value, operands), *map(self.value, results), *map(self.number, sizes), *map(self.number, defines)]
        counts = [over, len(operands), len(results), len(sizes), len(defines)]
        length = 5 + len(counts) + len(slots)
        self.emit(Opcode.RUN, length, offset + length, self.id(site), 0, *counts, *slots)
        self.spans.append((offset, phase))
        return offset

    def within(self, word: InstructionScope) -> None:
        phase, around = word.phase, self.inside
        self.inside = phase
        offset = 0
        if isinstance(phase, Loop | Map | Fold):
            operands = tuple(dict.fromkeys(value for value in traverse.uses(phase) if value in self.values))
            variables = [name for name in self.registers if isinstance(name, SizeVariable)]
            offset = self.site(partial(RegionSite, self.backend), phase, operands, traverse.results(phase), None, variables)
        self.all(word.instructions)
        if offset:
            self.set(offset + 2, self.here)
        self.inside = around

    def repeat(self, word: LoopInstruction) -> None:
        left, at = self.number(), self.number(word.at)
        self.counted(left, word.trip, 0)
        if word.backwards:
            self.counted(at, word.trip, -1)
        else:
            self.emit(Opcode.SET, at, word.first)
        self.rotate_state(word.initial, (), word.state)
        top = self.here
        branch = self.emit(Opcode.BRANCH, left, 0)
        if word.index is not None:
            if any(word.index in guard.variables() for guard in self.machine.guards):
                raise NotEncodable
            self.registers[word.index] = at
        self.all(word.instructions)
        self.registers.pop(word.index, None)  # type: ignore[arg-type]
        self.rotate_state(word.yielded, word.locals, word.state)
        self.emit(Opcode.ADD, left, -1)
        self.emit(Opcode.ADD, at, -1 if word.backwards else 1)
        self.emit(Opcode.POLL)
        if word.stop is None:
            self.emit(Opcode.JUMP, top)
        else:
            self.emit(Opcode.BRANCH, self.number(word.stop), top)
        self.set(branch + 2, self.here)
        self.loops.append((top, self.here, at, word.of))
        if word.results:
            self.rotate_state(word.state, word.state, word.results)

    def counted(self, number: int, size: Size, more: int) -> None:
        """Set a number slot to `max(0, size) + more`."""
        if size.constant is not None:
            self.emit(Opcode.SET, number, max(0, int(size.constant)) + more)
        else:
            self.evaluate(number, lambda: max(0, self.machine.number(size)) + more, size.variables())

    def rotate_state(self, values: Sequence[ValueId], local: Sequence[ValueId], names: Sequence[ValueId]) -> None:
        """Bind `names` to the values, after `local` has been freed."""
        copies = [self.new() for _ in values]
        for slot, value in zip(copies, values, strict=True):
            self.emit(Opcode.SHARE, slot, self.value(value))
        for value in local:
            self.emit(Opcode.FREE, self.value(value))
        for slot, name in zip(copies, names, strict=True):
            self.emit(Opcode.MOVE, self.value(name), slot)

    def choose(self, word: BranchInstruction) -> None:
        branch = self.emit(Opcode.BRANCH, self.size(word.condition), 0)
        if isinstance(word.condition, Size):
            branch = self.here - 3
        self.arm(word, word.arms[0])
        jump = self.emit(Opcode.JUMP, 0)
        self.set(branch + 2, self.here)
        self.arm(word, word.arms[1])
        self.set(jump + 1, self.here)

    def arm(self, word: BranchInstruction, arm: BranchArm) -> None:
        self.all(arm.instructions)
        for which, size in zip(word.defines, arm.sizes, strict=True):
            self.define(which, size)
        self.rotate_state(arm.results, arm.locals, word.results)

    def define(self, which: SizeVariable, size: Size, phase: Phase | None = None) -> None:
        """Set the number slot of a run-time size, and check the size."""

        def defined() -> int:
            value = self.machine.number(size)
            self.machine.define(which, value)
            return value

        caps = () if which.cap is None else which.cap.variables()
        self.evaluate(self.number(which), defined, (*size.variables(), *caps), phase)

    def cell(self, word: LoadCell) -> None:
        if word.axes not in (0, len(word.frame)):
            raise NotEncodable
        at, layouts, axes = self.size(word.at), self.program.layouts, word.axes
        known = self.id(lambda layout: layouts.cell(layout, axes))
        self.emit(Opcode.CELL, self.value(word.value), self.value(word.of), at, axes, 0, 0, known)

    # -------------------------------------------------------------------------------------------- the end

    def finished(self, exhausted: Callable[[Phase | None], RunFailed]) -> list[int]:
        """All words of `struct program`."""
        layouts, given = self.program.layouts, [*self.outputs, *self.printed]
        if not given:
            raise NotEncodable
        self.emit(Opcode.GIVE, len(given), *given)
        rows = [[slot, start_of(array), layouts.of(array), self.id(array)] for slot, array in self.constants]
        places = [offset for offset, _ in self.spans]

        def blame(offset: int, numbers: int, error: object) -> None:
            """Completes the exception raised at a word: names the phase where memory ran out, or the iteration of a failed
            check."""
            if isinstance(error, MemoryError) or error is MemoryError:
                which = bisect(places, offset) - 1
                raise exhausted(self.spans[which][1] if which >= 0 else None)
            for first, last, number, phase in self.loops:
                if first <= offset < last and isinstance(error, RunFailed):
                    add_iteration(error, iteration_label(phase, ctypes.c_int64.from_address(numbers + 8 * number).value))

        inputs: list[int] = []
        for (dtype, shape), number in zip(self.inputs, self.takes, strict=True):
            first = layouts.row_major(shape, dtype)
            inputs += [0 if number is None else id(number), 1, first, *[0] * (MAX_LAYOUTS - 1)]
        head = [
            len(self.names), self.count, self.numbers, self.here, self.first, 0, int(bool(self.machine.guards) or self.finds), 0,
            id(NOT_APPLICABLE), id(None), id(np.ndarray), id(PooledBuffer), self.id(self.backend.copy), self.id(blame),
        ]  # fmt: skip
        return [*head, *inputs, *self.code, *[word for row in rows for word in row], -1, 0, 0, 0]

    @property
    def finds(self) -> bool:
        """Does the program define run-time sizes, which differ between runs?"""
        return any(traverse.defines(phase) for phase in self.machine.phases.values())


def _may_be_last(word: Instruction) -> bool:
    return isinstance(word, Free) or (isinstance(word, RunUnit) and isinstance(word.phase, Output | Print))


def _require_nonzero(word: RequireNonZero, size: int) -> int:
    if not size:
        raise CheckFailed(word.code, word.message)
    return 0
