"""Programs and calls that can be run again and again, at a size, and phases made for measuring, so that no pass changes them.

Data are drawn with a fixed seed: floats from 0.1 to 0.95 (inside every function's domain), as many true as false.

Neighbours: `timing` (measures), `probes`, `scalars` (what is run).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import isqrt, prod
from typing import Any, TypeAlias

import numpy as np

from ....lang.source import Source, Span
from ....typechecker.check import check
from ....typechecker.core_blocks import Core
from ....typechecker.elements import Element, Kind
from ....typechecker.sizes import number
from ....typechecker.types import ArrayType
from ...graph import bind, lower, optimise
from ...graph.bind import BoundGraph
from ...graph.phases import (
    Affine,
    AffineIndex,
    Axis,
    AxisKind,
    LibraryPhase,
    Loop,
    Node,
    PhaseId,
    Projection,
    Read,
    Result,
    Structured,
    Term,
    ValueId,
)
from ...kernels import policy
from ...schedule.plan.model import Plan
from ...schedule.plan.parts import Device
from ...schedule.single.one_device import HOME, Detail, plan_one_device
from ..binding import bind_sizes
from ..cpu import CpuBackend
from ..cpu.kinds import DTYPES
from ..device import Types
from ..executor import execute_plan
from ..machine import Took
from .tier import kernels_as
from .timing import Clock, Run, Times

Seen: TypeAlias = list[Took]
Of: TypeAlias = Callable[[Seen], int]
"""Which of the observed times is meant."""
Make: TypeAlias = Callable[[int], Callable[[], object]]


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """Of Python: made at a size, and with kernels in a mode."""

    make: Make
    mode: policy.Mode

    def ready(self, size: int, threads: int, clock: Clock) -> Run:
        with kernels_as(self.mode):
            call = self.make(size)

        def run() -> int:
            with kernels_as(self.mode):
                start = clock()
                call()
                return clock() - start

        return run


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """Statements of which the last is the output.  `inputs`: names to types, in which `n` is the size, `s` its square root, `b`
    so many bytes of f64, `h` half of them and `r` their square root.  `team`: on all threads; `stepwise`: loops are no machine
    code, so that their steps are seen."""

    text: str
    inputs: Mapping[str, str]
    of: Of
    team: bool = True
    stepwise: bool = False

    def ready(self, size: int, threads: int, clock: Clock | None = None) -> Ready:
        sides = {"n": size, "s": isqrt(size), "b": size >> 3, "h": size >> 4, "r": isqrt(size >> 3)}
        values = {name: value(type_, sides, place) for place, (name, type_) in enumerate(self.inputs.items())}
        declared = [f"input {name} : {type_.replace('spd', 'f64')}\n" for name, type_ in self.inputs.items()]
        *before, result = self.text.split("\n")
        core = _core("".join((*declared, *(f"{line}\n" for line in before), f"output result ← {result}\n")))
        bound = bind(optimise(lower(core)), bind_sizes(core, {name: value.shape for name, value in values.items()}, {}))
        device = Device(HOME, "cpu", threads if self.team else 1)
        plan = plan_one_device(bound, device, detail=Detail.STEPS)
        return Ready(bound, plan, values, device.threads, _Stepwise if self.stepwise else CpuBackend, self.of)


@dataclass(frozen=True, slots=True)
class Ready:
    """A program with its data; called, it gives the time that is meant."""

    bound: BoundGraph
    plan: Plan
    values: Mapping[str, Any]
    threads: int
    backend: type[CpuBackend]
    of: Of

    def run(self) -> Seen:
        seen: Seen = []
        execute_plan(self.plan, self.bound, self.values, {HOME: self.backend(self.threads)}, seen.append)
        return seen

    def __call__(self) -> int:
        return self.of(self.run())


class _Stepwise(CpuBackend):
    def whole(self, *_: Any) -> None:
        return None


@cache
def _core(text: str) -> Core:
    checked = check(Source("<calibration>", text))
    assert checked.core is not None, (text, checked.diagnostics)
    return checked.core


def last(sort: type[Structured | LibraryPhase | Loop] = Structured) -> Of:
    """The last step of a sort."""
    return lambda seen: [took.ns for took in seen if isinstance(took.step, sort)][-1]


def program(text: str, inputs: Mapping[str, str], of: Of | None = None, **options: bool) -> Times:
    return Times(((Program(text, inputs, of or last(), **options), None, 1),))


def call(make: Make, mode: policy.Mode = policy.Mode.WARM) -> Times:
    return Times(((Call(make, mode), None, 1),))


def value(type_: str, sides: Mapping[str, int], seed: int) -> Any:
    """Data of a type, whose sizes are numbers or named.  `idx<n>` are indices, and `spd` is a matrix with a square root."""
    element, _, shape_text = type_.rstrip("]").rpartition("[")
    shape = tuple(sides.get(part) or int(part) for part in shape_text.split())
    generator, count = np.random.default_rng(seed), prod(shape)
    if element.startswith("idx<"):
        return generator.integers(0, sides.get(element[4:-1]) or int(element[4:-1]), count).reshape(shape)
    if element == "spd":
        values = generator.random(shape)
        return values + values.T + 2 * shape[0] * np.eye(shape[0])
    kind = Kind(element)
    if kind.is_integer:  # in a range as wide as there are of them
        return generator.integers(0, max(8, count), count).reshape(shape)
    return drawn(kind, count, seed).reshape(shape)


@lru_cache(maxsize=8)
def drawn(kind: Kind, count: int, seed: int) -> Any:
    """Integers are from 1 to 7."""
    generator = np.random.default_rng(seed)
    if kind.is_integer:
        return generator.integers(1, 8, count).astype(DTYPES[kind])
    real = generator.random(count)
    if kind is Kind.BOOL:
        return real < 0.5
    real = real * 0.85 + 0.1
    return (real + 1j * generator.permutation(real) if kind.is_complex else real).astype(DTYPES[kind])


# ------------------------------------------------------------------------------------- phases as they are

_NOWHERE = Span("<calibration>", 0, 0)


@dataclass(frozen=True, slots=True)
class Operand:
    """Of an array of this shape, the item at the coordinates of the space on `axes` (none given: the point itself)."""

    kind: Kind
    shape: tuple[int, ...]
    axes: tuple[int, ...] = ()

    @property
    def projection(self) -> Projection:
        indices = tuple(AffineIndex((Term(axis, 1),), number(0)) for axis in self.axes)
        return Projection((Affine(indices, tuple(map(number, self.shape))),) if self.axes else ())


@dataclass(frozen=True, slots=True)
class Sample:
    """`body` over `space` (its last axis reduced with `reduction`); the result is its last node."""

    space: Sequence[int]
    operands: Sequence[Operand]
    body: Sequence[Node]
    result: Kind
    reduction: str | None = None

    @property
    def phase(self) -> Structured:
        kinds = [AxisKind.PARALLEL] * (len(self.space) - 1) + [AxisKind.REDUCE if self.reduction else AxisKind.PARALLEL]
        axes = tuple(Axis(number(n), kind) for n, kind in zip(self.space, kinds, strict=True))
        reads = tuple(Read(ValueId(place), operand.projection) for place, operand in enumerate(self.operands))
        result = Result(ValueId(len(self.operands)), len(self.body) - 1, self.reduction)
        return Structured(PhaseId(0), _NOWHERE, axes, reads, tuple(self.body), (result,))

    def kernel(self) -> Callable[[], object]:
        """A call of the phase's kernel on data."""
        made = Operand(self.result, tuple(self.space[:-1] if self.reduction else self.space))
        types = {
            ValueId(place): ArrayType(Element(operand.kind), tuple(map(number, operand.shape)))
            for place, operand in enumerate((*self.operands, made))
        }
        kernel = CpuBackend(1).structured(self.phase, Types(types, {}))
        memory = {
            ValueId(place): drawn(operand.kind, prod(operand.shape), place).reshape(operand.shape)
            for place, operand in enumerate(self.operands)
        }
        return lambda: kernel(memory, None)
