"""What regions mean: their loop programs interpreted, as they are lowered and after all transformations, against the phases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from share import share

import rho
from rho.backend.cpu import regions, regions as pointwise, regions as ranges
from rho.backend.cpu.backend import CpuBackend
from rho.backend.cpu.views import DTYPES, in_parts
from rho.backend.graph.phases import Structured
from rho.backend.jit.compiler import LruCache
from rho.backend.library import operation_table
from rho.backend.loopir.ir import ViewRole
from rho.backend.loopir.text import parse, show
from rho.backend.loopir.verifier import verify
from rho.backend.lower.library_loops import with_size_operands
from rho.backend.lower.scope import InitialState, Routine, StateView
from rho.backend.transform.pipeline import optimise
from rho.tests.loops import interpreter

from .programs import REGIONS, ROUTINES, Make
from .running import meaning
from .test_regions import outcome, same

_MOST_ITEMS = 40
PROGRAMS = [(text, makes) for text, makes in REGIONS] + [(text, makes) for text, makes, _ in ROUTINES]


class Called:
    """The routines of a launch on items."""

    def __init__(self, launch: Any) -> None:
        self.around = launch.types
        self.routines: Sequence[Routine] = launch.region.routines

    def __call__(self, number: int, reads: Sequence[interpreter.Items], writes: Sequence[tuple[int, ...]], numbers: Sequence[int]
                 ) -> list[list[Any]]:  # fmt: skip
        routine = self.routines[number]
        types = operation_table._Sizes(self.around, routine.numbers)
        sizes = types.sizes
        sizes.update(zip(routine.sizes, numbers, strict=True))
        if routine.phase is None:
            for variable in routine.defines:
                types.check(variable)
            return []
        memory = {v: _array(DTYPES[types.kind(v)], *given) for v, given in zip(routine.operands, reads, strict=True)}
        memory.update((own, memory[other].transpose(axes)) for own, other, axes in routine.transposed)
        backend: Any = CpuBackend(1)
        phase = routine.phase
        kernel = backend.structured(with_size_operands(phase, routine.numbers), types) if isinstance(phase, Structured) else (
            backend.library(phase, types))  # fmt: skip
        made = [np.asarray(array) for array in kernel(memory, None)]
        made += [np.array(sizes[variable]) for variable in routine.defines]
        return [_padded(in_parts(array), shape) for array, shape in zip(made, writes, strict=True)]


def _array(dtype: Any, shape: tuple[int, ...], items: Sequence[Any]) -> Any:
    """Items as an array; what nobody has written is 0, so that a routine that reads it is found out by its result."""
    part = np.array([0 if item is None else item for item in items], np.empty(0, dtype).real.dtype).reshape(shape)
    return part.view(dtype)[..., 0] if dtype.kind == "c" else part


def _padded(array: Any, shape: tuple[int, ...]) -> list[Any]:
    whole = np.full(shape, None, object)
    items = array.ravel().tolist()
    whole[tuple(map(slice, array.shape))] = np.array([*items, None], object)[:-1].reshape(array.shape)
    return list(whole.ravel())


def interpreted(launch: Any, first: int, last: int, *, is_optimised: bool) -> None:
    """A range of iterations of a launch."""
    program = launch.region.program
    verify(program)
    assert parse(show(program)) == program
    if is_optimised:
        program = optimise(program)
        assert parse(show(program)) == program
    sizes = [launch.types.number(size) for size in launch.region.sizes]
    parameters = dict(zip(program.parameters, (first, last, *sizes), strict=True))
    arrays: dict[str, Any] = {}
    for view in program.views:
        if view.role is not ViewRole.SCRATCH:
            array, other = launch.arrays[view.name], launch.others.get(view.name)
            arrays[view.name] = array.copy() if other is None else np.stack([array, other])
    record = interpreter.run(program, parameters, arrays, meaning, routines=Called(launch))
    for view in program.views:
        if view.role is ViewRole.OUTPUT:
            array, other = launch.arrays[view.name], launch.others.get(view.name)
            if other is None:
                array[...] = arrays[view.name]
            else:
                array[...], other[...] = arrays[view.name]
    if record is not None:
        launch.fail(launch.region.checks[record.check], [int(value) for value in record.values if not isinstance(value, str)])


@pytest.mark.parametrize("is_optimised", [False, True], ids=["lowered", "optimised"])
@pytest.mark.parametrize(("text", "makes"), share([pytest.param(*row, id=row[0]) for row in PROGRAMS], seed=11))
def test_the_interpreter(text: str, makes: list[Make], is_optimised: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regions, "_runs", LruCache(256))

    ran: list[int] = []

    def call(self: Any, block: Any, first: int, last: int) -> None:
        ran.append(last)
        interpreted(self, first, last, is_optimised=is_optimised)

    def repeated(self: Any, compiled: Any, arrays: Any, types: Any, trips: int, threads: int) -> Any:
        """In two ranges."""
        made = [np.empty(types.shape(value), DTYPES[types.kind(value)]) for value in self.loop.results]
        given = {**arrays, **self.shown(compiled, made, StateView)}
        launch = ranges.RegionExecution(self.loop, self.iteration, self.region, compiled, given, types, CpuBackend, threads)
        call(launch, None, 0, trips // 2)
        launch.arrays.update(self.shown(compiled, made, InitialState))
        call(launch, None, trips // 2, trips)
        return tuple(made)

    monkeypatch.setattr(pointwise.PointwiseLoop, "repeated", repeated)
    monkeypatch.setattr(ranges.RegionExecution, "call", call)
    monkeypatch.setattr(ranges.RegionExecution, "cells", lambda self, count, points: self.call(None, 0, count))
    drawn = [make(np.random.default_rng(place)) for place, make in enumerate(makes)]
    small = [args for args in drawn if sum(np.size(arg) for arg in args) <= _MOST_ITEMS]
    for args in small:
        monkeypatch.setenv("RHO_KERNELS", "off")
        expected = outcome(rho.compile(text), args)
        monkeypatch.setenv("RHO_KERNELS", "always")
        assert same(outcome(rho.compile(text), args), expected), args
    assert ran or not any(np.size(arg) for args in small for arg in args)
