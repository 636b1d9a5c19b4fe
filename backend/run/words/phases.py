"""Words that run phases which have no others inside, and chains of them along rows.

A kernel is made at the first execution of its word and kept while the run-time sizes it depends on keep their values.

Neighbours: `interpret` (asks), `device` (what a back end offers).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....typechecker.sizes import SizeVariable
from ...graph import traverse
from ...graph.phases import Constant, Input, LibraryPhase, Output, Print, Structured
from ..device import Backend, Kernel
from ..machine import Action, Machine, Shown
from ..memory import Memory, sole_owner
from .program import Chain, Run


def compile_run(machine: Machine, word: Run, backend: Backend) -> Action:
    """A phase that has no others inside."""
    phase = word.phase
    match phase:
        case Structured() | LibraryPhase() | Constant():
            return compile_executed(machine, word, backend)
        case Input():
            taken, name, result = machine.kind(phase.result), phase.name, phase.result

            def read(memory: Memory) -> None:
                machine.current = phase
                memory[result] = backend.bring(machine.inputs[name], taken)

            return read
        case Print():

            def show(memory: Memory) -> None:
                machine.current = phase
                kind = machine.kind(phase.arg)
                machine.printed.append(Shown(kind, backend.fetch(memory[phase.arg], kind)))

            return show
        case Output():
            given = machine.kind(phase.arg)

            def keep(memory: Memory) -> None:
                machine.current = phase
                machine.outputs[phase.name] = Shown(given, backend.fetch(memory[phase.arg], given))

            return keep


class Executed:
    """Phases that one kernel does: made at first need, and again when a run-time size that it depends on has changed."""

    def __init__(
        self, machine: Machine, phases: Sequence[Structured | LibraryPhase | Constant], backend: Backend,
        make: Callable[[], Kernel],
    ) -> None:  # fmt: skip
        self.machine, self.phases, self.backend, self.make = machine, phases, backend, make
        self.sizes = tuple(dict.fromkeys(size for phase in phases for size in runtime_sizes(machine, phase)))
        caps = [size.cap for phase in phases for size in traverse.defines(phase) if size.cap is not None]
        self.needed = tuple(dict.fromkeys((*self.sizes, *(size for cap in caps for size in cap.variables()))))
        """The sizes that a run asks for."""
        self.kept: dict[tuple[int, ...], Kernel] = {}

    def kernel(self) -> Kernel:
        sizes = self.machine.sizes
        key = tuple([sizes[v] for v in self.sizes]) if self.sizes else ()
        kernel = self.kept.get(key)
        if kernel is None:
            self.kept.clear()
            with self.machine.making:
                kernel = self.kept[key] = self.make()
        return kernel

    def run(self, memory: Memory, target: Any) -> Sequence[Any]:
        """The results, the sizes that they are known; `target`: what the first may be written over."""
        self.machine.current = first = self.phases[0]
        made = self.kernel()(memory, target)
        if isinstance(first, LibraryPhase) and first.defines:
            _define(self.machine, first, self.backend, made, memory)
        return made


def executed(machine: Machine, word: Run | Chain, backend: Backend) -> Executed:
    """A phase that is computed, or a chain of them."""
    if isinstance(word, Run):
        phase = word.phase
        assert isinstance(phase, Structured | LibraryPhase | Constant)
        return Executed(machine, (phase,), backend, lambda: _kernel(machine, phase, backend))
    return Executed(machine, word.members, backend, lambda: backend.rows(word.members, word.results, machine))


def _kernel(machine: Machine, phase: Structured | LibraryPhase | Constant, backend: Backend) -> Kernel:
    match phase:
        case Structured():
            return backend.structured(phase, machine)
        case LibraryPhase():
            return backend.library(phase, machine)
        case Constant():
            made = (backend.constant(phase, machine),)
            return lambda memory, overwrite: made


def compile_executed(machine: Machine, word: Run | Chain, backend: Backend) -> Action:
    """What it does on a memory."""
    run = executed(machine, word, backend)
    results = word.results if isinstance(word, Chain) else traverse.results(word.phase)
    only, overwrite = results[0] if len(results) == 1 else None, word.overwrite

    def act(memory: Memory) -> None:
        target = memory[overwrite] if overwrite is not None and sole_owner(memory, overwrite) else None
        made = run.run(memory, target)
        if only is not None:
            memory[only] = made[0]
        else:
            for value, array in zip(results, made, strict=True):
                memory[value] = array

    return act


def runtime_sizes(machine: Machine, phase: Structured | LibraryPhase | Constant) -> tuple[SizeVariable, ...]:
    """The run-time sizes that a kernel of the phase depends on, but for those the phase defines itself."""
    types = machine.types
    found: dict[SizeVariable, None] = {}
    for size in traverse.sizes(phase):
        if size.constant is None:
            found.update(dict.fromkeys(size.variables()))
    for value in (*traverse.results(phase), *traverse.operands(phase)):
        for size in types[value].shape:
            if size.constant is None:
                found.update(dict.fromkeys(size.variables()))
    for variable in traverse.defines(phase):
        found.pop(variable, None)
    return tuple(found)


def _define(machine: Machine, phase: LibraryPhase, backend: Backend, made: Sequence[Any], memory: Memory) -> None:
    """The sizes that a library phase defines are those of its result, or its operand's value."""
    variable = phase.defines[0]
    match phase.op:
        case "runtime_size":
            machine.define(variable, int(backend.item(memory[phase.args[0]])))
        case "compress":
            axis = phase.attributes["axis"]
            assert isinstance(axis, int)
            machine.define(variable, made[0].shape[axis])
        case "format":
            machine.define(variable, made[0].shape[-1])
        case _:
            machine.define(variable, made[0].shape[0])
