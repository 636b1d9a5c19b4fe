"""Programs of one library op each: an expression, its inputs, and the sizes of a decade.

Each runs as the executor runs it; the step of its library phase is timed.  The table and size it counts for are those that the
cost model would ask for, found by asking it.

Neighbours: `programs` (what is run), `measure`, `backend.devices.library` (what is asked).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isqrt, prod
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...devices.cost import numbers_of
from ...devices.library import library_grains
from ...devices.profile import DeviceProfile
from ...devices.rates import Rates
from ...devices.reuse import surroundings
from ...devices.tables import Grains, Table
from ...graph.phases import LibraryPhase
from .probes import Probe, Section
from .programs import Program, library, prepared
from .samples import data

FLOATS: Final = (Kind.F64, Kind.F32)
WHOLE: Final = (Kind.I64,)
BOTH: Final = (Kind.F64, Kind.I64)
TOGETHER: Final = 6
"""Programs that take turns, so that what one leaves in caches and predictors is gone, and their data are there at once."""


@dataclass(frozen=True, slots=True)
class Row:
    """`inputs`: names to types, in which K is the kind and `n`, and `s` (its square root) are sizes."""

    expression: str
    inputs: Mapping[str, str]
    kinds: tuple[Kind, ...] = (Kind.F64,)
    sizes: tuple[int, ...] = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 20, (1 << 22) - (1 << 13))


_GRADED: Final = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 21, (1 << 22) - (1 << 13))
_MATRIX: Final = (1 << 6, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20)
_JOINED: Final = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 19, (1 << 21) - (1 << 13), (1 << 21) + (1 << 13), 1 << 22)
_SMALL: Final = (1 << 4, 1 << 8, 1 << 12, 1 << 15)

ROWS: Final = (
    Row("A+.×B", {"A": "K[s s]", "B": "K[s s]"}, FLOATS, _MATRIX),
    Row("(⍉A)+.×A", {"A": "K[s s]"}, FLOATS, _MATRIX[2:]),
    Row("A+.×B", {"A": "K[n 16]", "B": "K[16 16]"}, sizes=(1 << 10, 1 << 13, 1 << 17)),
    Row("A+.×B", {"A": "K[16 16]", "B": "K[16 n]"}, sizes=(1 << 10, 1 << 13, 1 << 17)),
    Row("A+.×x", {"A": "K[s s]", "x": "K[s]"}, FLOATS, (1 << 6, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)),
    Row("A+.×B", {"A": "K[s s]", "B": "K[s 3]"}, sizes=(1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)),
    Row("x+.×A", {"A": "K[s s]", "x": "K[s]"}, sizes=(1 << 12, 1 << 19)),
    Row("+\\x", {"x": "K[n]"}, (*FLOATS, Kind.I64)),
    Row("-\\x", {"x": "K[n]"}),
    Row("⌈\\x", {"x": "K[n]"}),
    Row("+⍀A", {"A": "K[s s]"}, BOTH),
    Row("x[i]", {"x": "K[n]", "i": "idx<n>[n]"}, (Kind.F64,)),
    Row("x[⍋x]", {"x": "K[n]"}, (*BOTH, Kind.F32)),
    Row("A[i;]", {"A": "K[s 16]", "i": "idx<s>[s]"}, sizes=(1 << 6, 1 << 12, 1 << 20, 1 << 30)),
    Row("x,y", {"x": "K[n]", "y": "K[n]"}, (*BOTH, Kind.F32), _JOINED),
    Row("3⌽x", {"x": "K[n]"}, (Kind.F64, Kind.BOOL)),
    Row("(1+≢x)⍴x", {"x": "K[n]"}),
    Row("m⌿x", {"m": "bool[n]", "x": "K[n]"}, (*BOTH, Kind.F32)),
    Row("⍸m", {"m": "bool[n]"}, (Kind.BOOL,)),
    Row("≠x", {"x": "K[n]"}, BOTH),
    Row("⍋x", {"x": "K[n]"}, (*BOTH, Kind.F32), _GRADED),
    Row("x⍳y", {"x": "K[n]", "y": "K[n]"}, BOTH),
    Row("x∊y", {"x": "K[n]", "y": "K[n]"}, BOTH),
    Row("(x[⍋x])⍸y", {"x": "K[s]", "y": "K[n]"}),
    Row("(x[⍋x])⍸y", {"x": "K[8]", "y": "K[n]"}),
    Row("i∊x", {"x": "K[8]", "i": "K[n]"}, BOTH),
    Row("x⍳i", {"x": "K[8]", "i": "K[n]"}, BOTH),
    Row("x≡y", {"x": "K[n]", "y": "K[n]"}),
    Row("2⊥x", {"x": "K[n]"}, BOTH),
    Row("10 10 10⊤x", {"x": "K[n]"}, WHOLE),
    Row("2 2 2⊤x", {"x": "K[n]"}, WHOLE),
    Row("5 6⍷x", {"x": "K[n]"}, WHOLE),
    Row("x@i⊢y", {"x": "K[s]", "y": "K[n]", "i": "idx<n>[s]"}),
    Row("256+⌸(k ⋄ x)", {"k": "idx<256>[n]", "x": "K[n]"}, BOTH),
    Row("256+⌸(k ⋄ A)", {"k": "idx<256>[s]", "A": "K[s 8]"}, BOTH, (1 << 6, 1 << 14, 1 << 20, 1 << 26)),
    Row("7?≢x", {"x": "K[n]"}),
    Row("⍕x", {"x": "K[n]"}, BOTH, (1 << 8, 1 << 13)),
    Row("⌹A", {"A": "K[s s]"}, sizes=_MATRIX[:5]),
    Row("x⌹A", {"A": "K[s s]", "x": "K[s]"}, sizes=_MATRIX[:5]),
    Row("⎕cholesky A", {"A": "spd[s s]"}, sizes=_MATRIX[:5]),
    Row("{(u s v)←⎕svd ⍵ ⋄ s}A", {"A": "K[s s]"}, sizes=_SMALL),
    Row("{(w v)←⎕eigh ⍵ ⋄ w}A", {"A": "spd[s s]"}, sizes=_SMALL),
    Row("⎕fft c", {"c": "c128[n]"}, (Kind.C128,), (1 << 10, 1 << 14, 1 << 18)),
    Row("⎕rfft x", {"x": "K[n]"}, (Kind.F64,), (1 << 10, 1 << 14, 1 << 18)),
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


def made(row: Row, kind: Kind, size: int, threads: int) -> Program:
    """The program of a row at a size."""
    types = {name: text.replace("K", kind.value) for name, text in row.inputs.items()}
    sides = {"n": size, "s": isqrt(size)}
    declared = "".join(f"input {name} : {text.replace('spd', kind.value)}\n" for name, text in types.items())
    values = {name: _value(text, sides, place) for place, (name, text) in enumerate(types.items())}
    return prepared(f"{declared}output result ← {row.expression}\n", values, threads)


def asked_for(program: Program) -> tuple[str, int]:
    """The table, and the size, that the cost model asks for of its library step."""
    recorder, number = Recorder(), numbers_of(program.bound)
    recorder.around = surroundings(program.bound, number)
    last = [phase for phase in program.bound.graph.phases if isinstance(phase, LibraryPhase)][-1]
    library_grains(last, program.bound.graph.types, recorder, number, None)
    assert recorder.asked is not None
    return recorder.asked


def measure(section: Section, threads: int, rounds: int, longest_ns: int, until: int) -> None:
    """Small sizes first: what there is no time for are the largest.  A row ends before a size that would take longer than
    `longest_ns`."""
    growing: list[tuple[Row, Kind, Probe | None]] = [(row, kind, None) for row in ROWS for kind in row.kinds]
    for place in range(max(len(row.sizes) for row in ROWS)):
        timed: list[tuple[Row, Kind, Probe | None]] = []
        growing = [
            (row, kind, probe) for row, kind, probe in growing if place < len(row.sizes)
            and (probe is None or probe.ns * row.sizes[place] <= longest_ns * row.sizes[place - 1])
        ]  # fmt: skip
        for first in range(0, len(growing), TOGETHER):
            if place and section.clock.now() > until:
                return
            for row, kind, _ in growing[first : first + TOGETHER]:
                program = made(row, kind, row.sizes[place], threads)
                probe = section.probe(program.timed(library))
                section.point(*asked_for(program), probe.usual)
                timed.append((row, kind, probe))
            section.again(rounds, until)
            section.let_go()
        growing = timed


def _value(text: str, sides: Mapping[str, int], seed: int) -> Any:
    element, _, shape_text = text.rstrip("]").rpartition("[")
    shape = tuple(sides.get(part) or int(part) for part in shape_text.split())
    count = prod(shape)
    if element.startswith("idx<"):
        below = sides.get(element[4:-1]) or int(element[4:-1])
        return np.random.default_rng(seed).integers(0, below, count).reshape(shape)
    if element == "i64":  # in a range as wide as there are of them
        return np.random.default_rng(seed).integers(0, max(8, count), count).reshape(shape)
    if element == "spd":
        values = data(Kind.F64, count, seed).reshape(shape)
        return values + values.T + 2 * shape[0] * np.eye(shape[0])
    return data(Kind(element), count, seed).reshape(shape)
