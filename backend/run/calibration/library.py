"""Programs of one library op each: an expression, its inputs, and the sizes of a decade.

Each runs as the executor runs it; the step of its library phase is timed.  The table and size it counts for are those that the
cost model would ask for, found by asking it.

Neighbours: `ways` (what is run), `timing` (measures), `backend.devices.library` (what is asked).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

from ....typechecker.elements import Kind
from ...devices.cost import numbers_of
from ...devices.library import library_grains
from ...devices.profile import DeviceProfile
from ...devices.rates import Rates
from ...devices.reuse import surroundings
from ...devices.tables import Grains, Table
from ...graph.phases import LibraryPhase
from .timing import Row
from .ways import Ready, last, program

_FLOATS: Final = "f64 f32"
_BOTH: Final = "f64 i64"
_SORTED: Final = "f64 i64 f32"
_DECADE: Final = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 18, 1 << 20, (1 << 22) - (1 << 13))
_GRADED: Final = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 21, (1 << 22) - (1 << 13))
_MATRIX: Final = (1 << 6, 1 << 10, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20)
_JOINED: Final = (1 << 5, 1 << 12, 1 << 14, 1 << 16, 1 << 17, 1 << 19, (1 << 21) - (1 << 13), (1 << 21) + (1 << 13), 1 << 22)
_SMALL: Final = (1 << 4, 1 << 8, 1 << 12, 1 << 15)
_THIN: Final = (1 << 10, 1 << 13, 1 << 17)
_LINES: Final = (1 << 10, 1 << 14, 1 << 18)


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


def asked_for(row: Row, ready: Ready) -> Row:
    """With the table, and the size, that the cost model asks for of a program's library step."""
    recorder, number = Recorder(), numbers_of(ready.bound)
    recorder.around = surroundings(ready.bound, number)
    phase = [phase for phase in ready.bound.graph.phases if isinstance(phase, LibraryPhase)][-1]
    library_grains(phase, ready.bound.graph.types, recorder, number, None)
    assert recorder.asked is not None
    return replace(row, table=recorder.asked[0], at=recorder.asked[1])


def _rows(expression: str, inputs: str, kinds: str = "f64", sizes: tuple[int, ...] = _DECADE) -> list[Row]:
    """A row for each kind.  `inputs`: name and type of each, in which K is the kind."""
    split = [one.split(":") for one in inputs.split(", ")]
    return [
        Row(asked_for, program(expression, {name: text.replace("K", kind) for name, text in split}, last(LibraryPhase)), sizes)
        for kind in kinds.split()
    ]


ROWS: Final = (
    *_rows("A+.×B", "A:K[s s], B:K[s s]", _FLOATS, _MATRIX),
    *_rows("(⍉A)+.×A", "A:K[s s]", _FLOATS, _MATRIX[2:]),
    *_rows("A+.×B", "A:K[n 16], B:K[16 16]", sizes=_THIN),
    *_rows("A+.×B", "A:K[16 16], B:K[16 n]", sizes=_THIN),
    *_rows("A+.×x", "A:K[s s], x:K[s]", _FLOATS, (1 << 6, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)),
    *_rows("A+.×B", "A:K[s s], B:K[s 3]", sizes=(1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)),
    *_rows("x+.×A", "A:K[s s], x:K[s]", sizes=(1 << 12, 1 << 19)),
    *_rows("+\\x", "x:K[n]", "f64 f32 i64"),
    *_rows("-\\x", "x:K[n]"),
    *_rows("⌈\\x", "x:K[n]"),
    *_rows("+⍀A", "A:K[s s]", _BOTH),
    *_rows("x[i]", "x:K[n], i:idx<n>[n]"),
    *_rows("x[⍋x]", "x:K[n]", _SORTED),
    *_rows("A[i;]", "A:K[s 16], i:idx<s>[s]", sizes=(1 << 6, 1 << 12, 1 << 20, 1 << 30)),
    *_rows("x,y", "x:K[n], y:K[n]", _SORTED, _JOINED),
    *_rows("3⌽x", "x:K[n]", "f64 bool"),
    *_rows("(1+≢x)⍴x", "x:K[n]"),
    *_rows("m⌿x", "m:bool[n], x:K[n]", _SORTED),
    *_rows("⍸m", "m:bool[n]"),
    *_rows("≠x", "x:K[n]", _BOTH),
    *_rows("⍋x", "x:K[n]", _SORTED, _GRADED),
    *_rows("x⍳y", "x:K[n], y:K[n]", _BOTH),
    *_rows("x∊y", "x:K[n], y:K[n]", _BOTH),
    *_rows("(x[⍋x])⍸y", "x:K[s], y:K[n]"),
    *_rows("(x[⍋x])⍸y", "x:K[8], y:K[n]"),
    *_rows("i∊x", "x:K[8], i:K[n]", _BOTH),
    *_rows("x⍳i", "x:K[8], i:K[n]", _BOTH),
    *_rows("x≡y", "x:K[n], y:K[n]"),
    *_rows("2⊥x", "x:K[n]", _BOTH),
    *_rows("10 10 10⊤x", "x:K[n]", "i64"),
    *_rows("2 2 2⊤x", "x:K[n]", "i64"),
    *_rows("5 6⍷x", "x:K[n]", "i64"),
    *_rows("x@i⊢y", "x:K[s], y:K[n], i:idx<n>[s]"),
    *_rows("256+⌸(k ⋄ x)", "k:idx<256>[n], x:K[n]", _BOTH),
    *_rows("256+⌸(k ⋄ A)", "k:idx<256>[s], A:K[s 8]", _BOTH, (1 << 6, 1 << 14, 1 << 20, 1 << 26)),
    *_rows("7?≢x", "x:K[n]"),
    *_rows("⍕x", "x:K[n]", _BOTH, (1 << 8, 1 << 13)),
    *_rows("⌹A", "A:K[s s]", sizes=_MATRIX[:5]),
    *_rows("x⌹A", "A:K[s s], x:K[s]", sizes=_MATRIX[:5]),
    *_rows("⎕cholesky A", "A:spd[s s]", sizes=_MATRIX[:5]),
    *_rows("{(u s v)←⎕svd ⍵ ⋄ s}A", "A:K[s s]", sizes=_SMALL),
    *_rows("{(w v)←⎕eigh ⍵ ⋄ w}A", "A:spd[s s]", sizes=_SMALL),
    *_rows("⎕fft c", "c:c128[n]", sizes=_LINES),
    *_rows("⎕rfft x", "x:K[n]", sizes=_LINES),
)
