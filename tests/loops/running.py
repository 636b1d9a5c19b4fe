"""Loop programs interpreted on random arrays, with the reference's scalar functions."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from rho.backend.cpu.numpy_scalars import implementation
from rho.backend.loopir.ir import LoopProgram, ViewRole
from rho.backend.reference import scalars
from rho.backend.scalar.function_table import LONG, weight_of
from rho.backend.vm.check_failures import CheckFailed
from rho.tests.loops import interpreter
from rho.typechecker.elements import Kind

DTYPES = {
    Kind.BOOL: np.uint8, Kind.U8: np.uint8, Kind.I32: np.int32, Kind.I64: np.int64,
    Kind.F32: np.float32, Kind.F64: np.float64, Kind.CHAR: np.int32,
}  # fmt: skip


def meaning(function: str, kind: Kind, args: Sequence[Any], result: Kind, parameter: int) -> Any:
    if function == "square":
        function, args = "mul", (args[0], args[0])
    if function == "half_power":
        function, args = "pow", (args[0], 0.5)
    if function == "same":
        return len({np.array(arg, DTYPES[kind]).tobytes() for arg in args}) == 1
    if function == "outside":
        return not 0 <= args[0] < args[1]
    if weight_of(function) >= LONG and function != "ipow":  # the bits of kernels and of NumPy alone
        return implementation(function, kind, result, parameter)(*(np.array([arg], DTYPES[kind]) for arg in args))[0].item()
    try:
        return scalars.evaluate(function, kind, args, result, parameter)
    except CheckFailed as failure:
        raise interpreter.Failed(str(failure)) from None


def arrays(program: LoopProgram, sizes: Mapping[str, int], seed: int = 0) -> dict[str, np.ndarray]:
    """Random arrays for the views of INPUT and OUTPUT."""
    draw = random.Random(seed)
    drawn = {}
    for view in program.views:
        shape = tuple(form.constant + sum(sizes[name] * c for name, c in form.terms) for form in view.shape)
        count = int(np.prod(shape, dtype=np.int64))
        if view.kind.is_float:
            items: list[Any] = [draw.choice([0.0, -0.0, 1.0, draw.uniform(-3, 3)]) for _ in range(count)]
        else:
            items = [draw.randrange(2 if view.kind is Kind.BOOL else 9) for _ in range(count)]
        if view.role is not ViewRole.SCRATCH:
            drawn[view.name] = np.array(items, DTYPES[view.kind]).reshape(shape)
    return drawn


def mixed(routine: int, reads: Sequence[interpreter.Items], writes: Sequence[tuple[int, ...]], numbers: Sequence[int]
          ) -> list[list[float]]:  # fmt: skip
    """A routine whose every item follows from all that it is given."""
    total = float(routine + sum(numbers))
    for _, items in reads:
        for place, item in enumerate(items):
            total = total * 0.5 + place - (0.0 if item is None else item)
    return [[total + place for place in range(int(np.prod(shape)))] for shape in writes]


Order = Callable[[Sequence[int]], Sequence[int]]


def results(program: LoopProgram, sizes: Mapping[str, int], seed: int = 0, order: Order = interpreter.forwards) -> tuple[Any,
    ...]:
    """The bytes of all outputs and the record of a run on the arrays of `seed`; inputs must be as they were."""
    memory = arrays(program, sizes, seed)
    before = {name: array.copy() for name, array in memory.items()}
    record = interpreter.run(program, sizes, memory, meaning, order, mixed)
    for view in program.views:
        if view.role is ViewRole.INPUT:
            assert memory[view.name].tobytes() == before[view.name].tobytes()
    outputs = tuple(memory[view.name].tobytes() for view in program.views if view.role is ViewRole.OUTPUT)
    return (*outputs, None if record is None else (record.check, tuple(map(repr, record.values))))


def backwards(iterations: Sequence[int]) -> Sequence[int]:
    return iterations[::-1]
