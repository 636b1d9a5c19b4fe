"""Programs of one library op each, for measuring: an expression, its inputs, and the sizes of a decade.

Each runs as the executor runs it; the step of its library phase is timed by the executor's observer.  The table and size
it counts for are those that the cost model would ask for, found by asking it.

Neighbours: `bodies` (structured phases), `measure`, `backend.devices.library` (what is asked).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from math import isqrt
from typing import Any, Final

import numpy as np

from ....lang.source import Source
from ....typechecker.check import check
from ....typechecker.core import Core
from ....typechecker.elements import Kind
from ...devices.cost import numbers_of
from ...devices.library import library_grains
from ...devices.profile import DeviceProfile
from ...devices.rates import Rates
from ...devices.reuse import surroundings
from ...devices.tables import Grains, Table
from ...graph import bind, lower, optimise
from ...graph.bind import BoundGraph
from ...graph.phases import LibraryPhase, Phase
from ...schedule.plan.model import Plan
from ...schedule.plan.parts import Device
from ...schedule.single.one_device import HOME, Detail, plan_one_device
from ..binding import bind_sizes
from ..cpu import CpuBackend
from ..executor import execute_plan
from .bodies import data

COLUMNS: Final = 16
FLOATS: Final = (Kind.F64, Kind.F32)
WHOLE: Final = (Kind.I64,)
BOTH: Final = (Kind.F64, Kind.I64)


@dataclass(frozen=True, slots=True)
class Program:
    """`inputs`: names to types, in which K is the kind and `n`, `s` (its square root) and `t` (its cube root) are sizes."""

    expression: str
    inputs: Mapping[str, str]
    kinds: tuple[Kind, ...] = (Kind.F64,)
    sizes: tuple[int, ...] = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 20, (1 << 22) - (1 << 13))


_GRADED: Final = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 21, (1 << 22) - (1 << 13))
_MATRIX: Final = (1 << 6, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20)
_JOINED: Final = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 19, (1 << 21) - (1 << 13), (1 << 21) + (1 << 13), 1 << 22)
_SMALL: Final = (1 << 4, 1 << 8, 1 << 12, 1 << 15)

PROGRAMS: Final = (
    Program("A+.×B", {"A": "K[s s]", "B": "K[s s]"}, FLOATS, _MATRIX),
    Program("(⍉A)+.×A", {"A": "K[s s]"}, FLOATS, _MATRIX[2:]),
    Program("A+.×B", {"A": "K[n 16]", "B": "K[16 16]"}, sizes=(1 << 10, 1 << 13, 1 << 17)),
    Program("A+.×B", {"A": "K[16 16]", "B": "K[16 n]"}, sizes=(1 << 10, 1 << 13, 1 << 17)),
    Program("A+.×x", {"A": "K[s s]", "x": "K[s]"}, FLOATS, (1 << 6, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)),
    Program("A+.×B", {"A": "K[s s]", "B": "K[s 3]"}, sizes=(1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)),
    Program("x+.×A", {"A": "K[s s]", "x": "K[s]"}, sizes=(1 << 12, 1 << 19)),
    Program("+\\x", {"x": "K[n]"}, (*FLOATS, Kind.I64)),
    Program("-\\x", {"x": "K[n]"}),
    Program("⌈\\x", {"x": "K[n]"}),
    Program("+⍀A", {"A": "K[s s]"}, BOTH),
    Program("x[i]", {"x": "K[n]", "i": "idx<n>[n]"}, (Kind.F64,)),
    Program("x[⍋x]", {"x": "K[n]"}, (*BOTH, Kind.F32)),
    Program("A[i;]", {"A": "K[s 16]", "i": "idx<s>[s]"}, sizes=(1 << 6, 1 << 12, 1 << 20, 1 << 30)),
    Program("x,y", {"x": "K[n]", "y": "K[n]"}, (*BOTH, Kind.F32), _JOINED),
    Program("3⌽x", {"x": "K[n]"}, (Kind.F64, Kind.BOOL)),
    Program("(1+≢x)⍴x", {"x": "K[n]"}),
    Program("m⌿x", {"m": "bool[n]", "x": "K[n]"}, (*BOTH, Kind.F32)),
    Program("⍸m", {"m": "bool[n]"}, (Kind.BOOL,)),
    Program("≠x", {"x": "K[n]"}, BOTH),
    Program("⍋x", {"x": "K[n]"}, (*BOTH, Kind.F32), _GRADED),
    Program("x⍳y", {"x": "K[n]", "y": "K[n]"}, BOTH),
    Program("x∊y", {"x": "K[n]", "y": "K[n]"}, BOTH),
    Program("(x[⍋x])⍸y", {"x": "K[s]", "y": "K[n]"}),
    Program("(x[⍋x])⍸y", {"x": "K[8]", "y": "K[n]"}),
    Program("i∊x", {"x": "K[8]", "i": "K[n]"}, BOTH),
    Program("x⍳i", {"x": "K[8]", "i": "K[n]"}, BOTH),
    Program("x≡y", {"x": "K[n]", "y": "K[n]"}),
    Program("2⊥x", {"x": "K[n]"}, BOTH),
    Program("10 10 10⊤x", {"x": "K[n]"}, WHOLE),
    Program("2 2 2⊤x", {"x": "K[n]"}, WHOLE),
    Program("5 6⍷x", {"x": "K[n]"}, WHOLE),
    Program("x@i⊢y", {"x": "K[s]", "y": "K[n]", "i": "idx<n>[s]"}),
    Program("256+⌸(k ⋄ x)", {"k": "idx<256>[n]", "x": "K[n]"}, BOTH),
    Program("256+⌸(k ⋄ A)", {"k": "idx<256>[s]", "A": "K[s 8]"}, BOTH, (1 << 6, 1 << 14, 1 << 20, 1 << 26)),
    Program("7?≢x", {"x": "K[n]"}),
    Program("⍕x", {"x": "K[n]"}, BOTH, (1 << 8, 1 << 13)),
    Program("⌹A", {"A": "K[s s]"}, sizes=_MATRIX[:5]),
    Program("x⌹A", {"A": "K[s s]", "x": "K[s]"}, sizes=_MATRIX[:5]),
    Program("⎕cholesky A", {"A": "spd[s s]"}, sizes=_MATRIX[:5]),
    Program("{(u s v)←⎕svd ⍵ ⋄ s}A", {"A": "K[s s]"}, sizes=_SMALL),
    Program("{(w v)←⎕eigh ⍵ ⋄ w}A", {"A": "spd[s s]"}, sizes=_SMALL),
    Program("⎕fft c", {"c": "c128[n]"}, (Kind.C128,), (1 << 10, 1 << 14, 1 << 18)),
    Program("⎕rfft x", {"x": "K[n]"}, (Kind.F64,), (1 << 10, 1 << 14, 1 << 18)),
)  # fmt: skip


class Recorder(Rates):
    """Notes the first table that is asked for, and at which size."""

    def __init__(self) -> None:
        super().__init__(DeviceProfile("recorder", "recorder"))
        self.asked: tuple[str, int] | None = None

    def table(self, stems: Iterable[str], kind: Kind) -> Table | None:
        return Table((1,), (1,))

    def grains(self, stems: Iterable[str], kind: Kind, size: int) -> Grains:
        if self.asked is None:
            self.asked = (f"{next(iter(stems))}.{kind.value}", size)
        return Grains(0)


@dataclass(slots=True)
class Prepared:
    """A program bound at one size: the table and size it is for, and a run that gives the nanoseconds of its library step."""

    key: str
    size: int
    bound: BoundGraph
    plan: Plan
    values: Mapping[str, Any]
    threads: int

    def run(self) -> int:
        spent: list[int] = []

        def observe(phase: Phase, ns: int) -> None:
            if isinstance(phase, LibraryPhase):
                spent.append(ns)

        execute_plan(self.plan, self.bound, self.values, {HOME: CpuBackend(self.threads)}, observe)
        return spent[-1]


def prepare(program: Program, kind: Kind, size: int, threads: int) -> Prepared | None:
    """None where the program has no library step at this kind."""
    types = {name: text.replace("K", kind.value) for name, text in program.inputs.items()}
    sides = {"n": size, "s": isqrt(size)}
    declared = "".join(f"input {name} : {text.replace('spd', kind.value)}\n" for name, text in types.items())
    core = _core(f"{declared}output result ← {program.expression}\n")
    values = {name: _value(text, sides, place) for place, (name, text) in enumerate(types.items())}
    sizes = bind_sizes(core, {name: value.shape for name, value in values.items()}, {})
    bound = bind(optimise(lower(core)), sizes)
    found = [phase for phase in bound.graph.phases if isinstance(phase, LibraryPhase)]
    if not found:
        return None
    recorder = Recorder()
    recorder.around = surroundings(bound, numbers_of(bound))
    library_grains(found[-1], bound.graph.types, recorder, numbers_of(bound), None)
    assert recorder.asked is not None
    plan = plan_one_device(bound, Device(HOME, "cpu", threads), detail=Detail.STEPS)
    return Prepared(*recorder.asked, bound, plan, values, threads)


@cache
def _core(text: str) -> Core:
    checked = check(Source("<calibration>", text))
    assert checked.core is not None, (text, checked.diagnostics)
    return checked.core


def _value(text: str, sides: Mapping[str, int], seed: int) -> Any:
    element, _, shape_text = text.rstrip("]").rpartition("[")
    shape = tuple(sides.get(part) or int(part) for part in shape_text.split())
    count = int(np.prod(shape))
    if element.startswith("idx<"):
        below = element[4:-1]
        return np.random.default_rng(seed).integers(0, sides.get(below) or int(below), count).reshape(shape)
    if element == "spd":
        side = shape[0]
        made = data(Kind.F64, count, seed).reshape(shape)
        return made + made.T + 2 * side * np.eye(side)
    made = _spread(count, seed) if element == "i64" else data(Kind(element), count, seed)
    return made.reshape(shape)


def _spread(count: int, seed: int) -> Any:
    """Integers in a range as wide as there are of them."""
    return np.random.default_rng(seed).integers(0, max(8, count), count)
