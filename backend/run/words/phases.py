"""Words that run phases which have no others inside, and chains of them along rows.

A kernel is made at the first execution of its word and kept while the run-time sizes it depends on keep their values.

Neighbours: `interpret` (asks), `device` (what a back end offers).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....typechecker.sizes import SizeVariable
from ...graph import traverse
from ...graph.phases import Constant, Input, LibraryPhase, Output, Phase, Print, Structured, ValueId
from ..device import Backend, Kernel
from ..machine import Action, Machine, Shown
from ..memory import Memory, sole_owner
from .program import Chain


def compile_run(machine: Machine, phase: Phase, overwrite: ValueId | None, backend: Backend) -> Action:
    """A phase that has no others inside."""
    match phase:
        case Structured():
            return _kernel_action(machine, phase, lambda: backend.structured(phase, machine), backend, overwrite)
        case LibraryPhase():
            return _kernel_action(machine, phase, lambda: backend.library(phase, machine), backend, None)
        case Constant():
            return _constant(machine, phase, backend)
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
        case _:
            raise AssertionError(f"phase {phase.id} is not run by one step")


def _constant(machine: Machine, phase: Constant, backend: Backend) -> Action:
    made: list[Any] = []

    def place(memory: Memory) -> None:
        if not made:
            made.append(backend.constant(phase, machine))
        memory[phase.result] = made[0]

    return place


def _kernel_action(
    machine: Machine, phase: Structured | LibraryPhase, make: Callable[[], Kernel], backend: Backend, overwrite: ValueId | None
) -> Action:
    results = traverse.results(phase)
    defined = phase.defines if isinstance(phase, LibraryPhase) else ()
    run = _launch(machine, (phase,), results, make, overwrite)
    if not defined:
        return run

    def act(memory: Memory) -> None:
        run(memory)
        assert isinstance(phase, LibraryPhase)
        _define(machine, phase, backend, [memory[value] for value in results], memory)

    return act


def compile_chain(machine: Machine, word: Chain, backend: Backend) -> Action:
    """Several phases together, row by row."""
    members, results = word.members, word.results
    return _launch(machine, members, results, lambda: backend.rows(members, results, machine), word.overwrite)


def _launch(
    machine: Machine, phases: Sequence[Structured | LibraryPhase], results: Sequence[ValueId], make: Callable[[], Kernel],
    overwrite: ValueId | None,
) -> Action:  # fmt: skip
    """Run a kernel, made at first need and again when a run-time size it depends on has changed (the index of a loop is one)."""
    only = results[0] if len(results) == 1 else None
    varying = tuple(dict.fromkeys(size for phase in phases for size in runtime_sizes(machine, phase)))
    kept: dict[tuple[int, ...], Kernel] = {}
    sizes, first = machine.sizes, phases[0]

    def act(memory: Memory) -> None:
        machine.current = first
        key = tuple([sizes[v] for v in varying]) if varying else ()
        kernel = kept.get(key)
        if kernel is None:
            kept.clear()
            with machine.making:
                kernel = kept[key] = make()
        target = memory[overwrite] if overwrite is not None and sole_owner(memory, overwrite) else None
        made = kernel(memory, target)
        if only is not None:
            memory[only] = made[0]
        else:
            for value, array in zip(results, made, strict=True):
                memory[value] = array

    return act


def runtime_sizes(machine: Machine, phase: Structured | LibraryPhase) -> tuple[SizeVariable, ...]:
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
            value = backend.item(memory[phase.args[0]])
            cap = variable.cap
            machine.define(variable, int(value) if value is not None else 0 if cap is None else machine.number(cap))
        case "compress":
            axis = phase.attributes["axis"]
            assert isinstance(axis, int)
            machine.define(variable, made[0].shape[axis])
        case "format":
            machine.define(variable, made[0].shape[-1])
        case _:
            machine.define(variable, made[0].shape[0])
