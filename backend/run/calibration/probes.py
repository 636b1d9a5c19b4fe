"""The table of what programs and calls are measured for: each row a table of the profile, the sum of times that it is, and sizes.

Running a phase, moving bytes, what a team makes of it, loops.  A small phase behind a large one says what a step takes when the
interpreter's own data have left the caches.  Reading is told from a greatest element, writing from a product; sizes are of all
bytes that go round (`points`, Note [Moving]).  Whether a phase was cut, and whether helpers woke for it, is what the cost model
says of it.

Library operations, each as the executor runs it: its step is timed.  The table and size it counts for are those that the cost
model would ask for, found by asking it.

The disk of the folder for temporary files: calls on a file that has no name.

Neighbours: `ways` (what a row is made of), `timing` (measures), `scalars` (other rows), `backend.devices` (asks for the tables).
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ....typechecker.elements import Kind
from ...devices.cost import numbers_of
from ...devices.disks import READ, SCRATCH_READ, SCRATCH_WRITE, WRITE
from ...devices.forms import Tier, work_of
from ...devices.library import library_grains
from ...devices.profile import DeviceProfile
from ...devices.rates import Rates
from ...devices.reuse import surroundings
from ...devices.tables import Grains, Table
from ...devices.teams import Sharing, shared_out
from ...graph.phases import LibraryPhase, Loop, Structured
from .tier import has_kernels
from .timing import Curve, Row, Times, low
from .ways import Of, Ready, Seen, call, last, program

WIDTH: Final = Kind.F64.bytes
ROUND: Final = (1 << 16, 1 << 18, 1 << 19, 3 << 18, 1 << 20, 3 << 19, 1 << 21, 5 << 19, 3 << 20, 1 << 22, 3 << 21, 1 << 23,
                1 << 24, 1 << 25, 1 << 26, 1 << 27)  # fmt: skip
"""Bytes that go round; caches end somewhere between them."""
FRESH: Final = (1 << 18, 1 << 20, 1 << 22, 1 << 24, (1 << 25) - (1 << 16), (1 << 25) + (1 << 16), 1 << 26)
BEHIND: Final = (1 << 10, 1 << 18, 1 << 20, 1 << 21, 1 << 22, 1 << 24, 1 << 26)
SQUARES: Final = tuple(side * side * WIDTH for side in (100, 300, 500, 700, 1100, 1700))
COMPUTED: Final = (1 << 16, 1 << 17, 1 << 18, 1 << 20)
CHAINED: Final = (1000, 2000, 4000)
_TRIPS, _TURNS, _LONG_TURNS, _MANY_TURNS = 12, 40, 20, 200
_REPEATS: Final = 150


def _of_turns(sort: type[LibraryPhase | Structured]) -> Of:
    """The smallest such phase of a turn, after the first turn."""

    def of(seen: Seen) -> int:
        by_phase: dict[int, list[int]] = {}
        for took in seen:
            if isinstance(took.step, sort):
                by_phase.setdefault(took.step.id, []).append(took.ns)
        return min(low(times[1:]) for times in by_phase.values() if len(times) > 1)

    return of


def _beside(seen: Seen) -> int:
    """What the executor takes for an iteration beside its step."""
    known = [took for took in seen if isinstance(took.step, Loop | LibraryPhase)]
    return max(1, sum(took.ns if isinstance(took.step, Loop) else -took.ns for took in known) // _MANY_TURNS)


def _handed_over() -> None:
    """From one thread to another and back, so many times."""
    there, back = threading.Event(), threading.Event()

    def answer() -> None:
        for _ in range(_REPEATS):
            there.wait()
            there.clear()
            back.set()

    helper = threading.Thread(target=answer, daemon=True)
    helper.start()
    for _ in range(_REPEATS):
        there.set()
        back.wait()
        back.clear()
    helper.join()


# -------------------------------------------------------------------------------------- running at all

_FEW: Final = {"x": "f64[64]"}
_BEHIND: Final = {**_FEW, "y": "f64[b]"}
_AGAIN = program(f"{{⍵×⌈/y+⌈/⍵}}⍣{_TRIPS}⊢x", _BEHIND, _of_turns(Structured), stepwise=True)
_KERNEL, _CALLED, _OFTEN = (
    program(f"s ← ⌈/y\n{applied}x×s", _BEHIND, stepwise=True) for applied in ("*", "s-", "s-x×x⌈x-")
)  # fmt: skip
_FIRST = (_KERNEL + _CALLED) * 0.5
_START = _FIRST.fixed(BEHIND[0])
"""Of programs of one phase: see `Around.before`."""
_LIBRARY = program("output s ← ⌈/y\n+\\x", _BEHIND, last(LibraryPhase), stepwise=True)
_SCANNED = program(f"{{+\\⍵}}⍣{_TRIPS}⊢x", _FEW, _of_turns(LibraryPhase), stepwise=True).fixed(1)
_KNOWN, _MADE = (program(f"y ← {made}\n2+y÷3+y", _FEW, stepwise=True) for made in ("⌽+\\x", "(x>0.4)⌿x"))
_TURNED = program(f"{{1⌽⍵}}⍣{_MANY_TURNS} ⊢ x", {"x": "f64[8]"}, _beside, stepwise=True)

_STEPS: Final = (
    Row("step.f64", _AGAIN, BEHIND, Curve.LEVEL),
    Row("first.f64", _FIRST - _AGAIN, BEHIND, Curve.LEVEL),
    Row("call.f64", (_OFTEN - _CALLED) * 0.25, BEHIND, Curve.LEVEL),
    Row("first.library.f64", _LIBRARY - _SCANNED, BEHIND, Curve.LEVEL),
    Row("first.made.f64", _MADE - _KNOWN, curve=Curve.LEVEL),
    Row("launch", _TURNED),
    Row("wait", call(lambda _: _handed_over) * (0.5 / _REPEATS)),
    Row("alloc", call(lambda _: lambda: np.empty(1 << 12))),
)

# ---------------------------------------------------------------------------------------------- moving

_TWO, _TWO_SQUARES = {"x": "f64[b]", "y": "f64[b]"}, {"x": "f64[r r]", "y": "f64[r r]"}
_GREATEST, _DOUBLED = program("⌈/x", {"x": "f64[b]"}, team=False), program("x×0.5", {"x": "f64[h]"}, team=False)
_ADDED, _SQUARES = program("x+y", _TWO, team=False), program("x+y", _TWO_SQUARES, team=False)


def _filled_again(size: int) -> Callable[[], object]:
    kept = np.empty(size // WIDTH)
    return lambda: kept.fill(1.0)


def _filled_anew(size: int) -> Callable[[], object]:
    return lambda: np.empty(size // WIDTH).fill(1.0)


_MOVED: Final = (
    Row("read.f64", _GREATEST - _START, ROUND, Curve.RATES),
    Row("write.f64", _DOUBLED * 2 - _GREATEST - _START, ROUND, Curve.RATES),
    Row("add.f64", (_GREATEST + _DOUBLED * 2) * (1 / 3) - _START, ROUND, Curve.RATES),
    Row("strided.f64", program("x+⍉y", _TWO_SQUARES, team=False) - _SQUARES, SQUARES, Curve.RATES),
    Row("pad.f64", program("x+(≢x)↑1↓y", _TWO, team=False) - _ADDED, ROUND[1:-2:2], Curve.RATES),
    Row("fresh.f64", call(_filled_anew) - call(_filled_again), FRESH, Curve.RATES),
)

# ----------------------------------------------------------------------------------------------- teams


def _as_shared(row: Row, ready: Ready) -> Row | None:
    """What the cost model takes a phase for: cut, where pieces take more while helpers sleep on, or one that wakes them."""
    phase = next(phase for phase in ready.bound.graph.phases if isinstance(phase, Structured))
    number = numbers_of(ready.bound)
    extents = tuple(number(axis.size) for axis in phase.axes)
    work = work_of(phase, ready.bound.graph.types, extents, number, kernels=has_kernels())
    shared = shared_out(work.nest, bool(work.reduced), work.nanoseconds, ready.threads)
    if work.tier is not Tier.KERNEL or shared.sharing not in (Sharing.CUT, Sharing.WOKEN):
        return None
    own = "reduced.f64" if shared.joined else "f64"
    if shared.sharing is Sharing.WOKEN:
        return replace(row, table=f"team.{own}")
    assert isinstance(row.at, Times)
    return Row(f"cut.{own}", row.ns - row.at, curve=Curve.LEVEL, at=1)


def _team(
    table: str | Callable[[Row, Any], Row | None], text: str, type_: str, sizes: Sequence[int], before: Times = _START,
    of: Of | None = None,
) -> Row:  # fmt: skip
    """What all threads take for what one takes."""
    alone, together = program(text, {"x": type_}, of, team=False), program(text, {"x": type_}, of)
    return Row(table, together - before, sizes, Curve.RISING, alone - before)


_TEAMS: Final = (
    _team(_as_shared, "⌈/x", "f64[b]", ROUND),
    _team(_as_shared, "x×0.5", "f64[h]", ROUND),
    _team(_as_shared, "*x", "f64[n]", COMPUTED),
    _team("team.rows.f64", "√+/x×x", "f64[n 500]", CHAINED),
    _team("team.handed.f64", "⌈/5⌽x", "f64[b]", BEHIND[1:6], _FIRST),
)

# ----------------------------------------------------------------------------------------------- loops

_POINTS: Final = 1 << 15
_PLAIN, _SERIES = (
    (program(f"{body}⍣{_TURNS} ⊢ x", {"x": f"f64[{_POINTS}]"}, last(Loop), team=False) - _START) * (1 / _TURNS)
    for body in ("{0.5+⍵×0.5}", "{*-⍵}")
)  # fmt: skip
_TURNING: Final = (
    Row("turn.f64", _PLAIN * 0.5, at=_POINTS * 3 * WIDTH),
    Row("turn.exp.f64", _SERIES - _PLAIN * 0.5, at=_POINTS * 2 * WIDTH),
)
_LONG: Final = (_team("team.long.f64", f"{{0.5+⍵×0.5}}⍣{_LONG_TURNS} ⊢ x", "f64[n]", (1 << 21,), of=last(Loop)),)

# ------------------------------------------------------------------------------------------------ disk

BYTES: Final = 32 << 20
_PAGE: Final = 1 << 12
"""A table has what one takes: more are in proportion."""


_ACTS: Final[dict[str, Callable[[int, bytearray], object]]] = {
    "write": lambda file, room: os.pwrite(file, room, 0),
    "sync": lambda file, _: os.fsync(file),
    "forget": lambda file, _: os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED) if hasattr(os, "posix_fadvise") else None,
    "read": lambda file, room: os.preadv(file, [room], 0),
}


def _on_disk(table: str, *acts: str) -> Row:
    def make(size: int) -> Callable[[], object]:
        file = tempfile.TemporaryFile()  # noqa: SIM115 (it goes with the call)
        room = bytearray(np.random.default_rng(0).bytes(size))  # which no file system makes shorter
        if os.pwrite(file.fileno(), room, 0) < size:
            raise OSError
        return lambda: [_ACTS[act](file.fileno(), room) for act in acts]

    return Row(table, call(make) * (_PAGE / BYTES), (BYTES,), at=_PAGE)


DISK: Final = (
    _on_disk(SCRATCH_WRITE, "write"), _on_disk(WRITE, "write", "sync"), _on_disk(SCRATCH_READ, "read"),
    _on_disk(READ, "sync", "forget", "read"),  # what is not on the disk is not forgotten
)  # fmt: skip

# ---------------------------------------------------------------------------------- library operations

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


class _Asked(Exception):
    """The first table that is asked for, and at which size."""


class _Asking(Rates):
    def table(self, stems: Iterable[str], kind: Kind) -> Table | None:
        return Table((1,), (1,))

    def grains(self, stems: Iterable[str], kind: Kind, size: int) -> Grains:
        raise _Asked(f"{next(iter(stems))}.{kind.value}", size)


def asked_for(row: Row, ready: Ready) -> Row:
    """With the table, and the size, that the cost model asks for of a program's library step."""
    number = numbers_of(ready.bound)
    asking = _Asking(DeviceProfile("asking", "asking"), around=surroundings(ready.bound, number))
    phase = [phase for phase in ready.bound.graph.phases if isinstance(phase, LibraryPhase)][-1]
    try:
        library_grains(phase, ready.bound.graph.types, asking, number, None)
    except _Asked as asked:
        return replace(row, table=asked.args[0], at=asked.args[1])
    raise AssertionError(row)


def _each(expression: str, inputs: str, kinds: str = "f64", sizes: tuple[int, ...] = _DECADE) -> list[Row]:
    """A row for each kind.  `inputs`: name and type of each, in which K is the kind."""
    split = [one.split(":") for one in inputs.split(", ")]
    return [
        Row(asked_for, program(expression, {name: text.replace("K", kind) for name, text in split}, last(LibraryPhase)), sizes)
        for kind in kinds.split()
    ]


LIBRARY: Final = (
    *_each("A+.×B", "A:K[s s], B:K[s s]", _FLOATS, _MATRIX),
    *_each("(⍉A)+.×A", "A:K[s s]", _FLOATS, _MATRIX[2:]),
    *_each("A+.×B", "A:K[n 16], B:K[16 16]", sizes=_THIN),
    *_each("A+.×B", "A:K[16 16], B:K[16 n]", sizes=_THIN),
    *_each("A+.×x", "A:K[s s], x:K[s]", _FLOATS, (1 << 6, 1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)),
    *_each("A+.×B", "A:K[s s], B:K[s 3]", sizes=(1 << 12, 1 << 14, 1 << 16, 1 << 18, 1 << 20, 1 << 22)),
    *_each("x+.×A", "A:K[s s], x:K[s]", sizes=(1 << 12, 1 << 19)),
    *_each("+\\x", "x:K[n]", "f64 f32 i64"),
    *_each("-\\x", "x:K[n]"),
    *_each("⌈\\x", "x:K[n]"),
    *_each("+⍀A", "A:K[s s]", _BOTH),
    *_each("x[i]", "x:K[n], i:idx<n>[n]"),
    *_each("x[⍋x]", "x:K[n]", _SORTED),
    *_each("A[i;]", "A:K[s 16], i:idx<s>[s]", sizes=(1 << 6, 1 << 12, 1 << 20, 1 << 30)),
    *_each("x,y", "x:K[n], y:K[n]", _SORTED, _JOINED),
    *_each("3⌽x", "x:K[n]", "f64 bool"),
    *_each("(1+≢x)⍴x", "x:K[n]"),
    *_each("m⌿x", "m:bool[n], x:K[n]", _SORTED),
    *_each("⍸m", "m:bool[n]"),
    *_each("≠x", "x:K[n]", _BOTH),
    *_each("⍋x", "x:K[n]", _SORTED, _GRADED),
    *_each("x⍳y", "x:K[n], y:K[n]", _BOTH),
    *_each("x∊y", "x:K[n], y:K[n]", _BOTH),
    *_each("(x[⍋x])⍸y", "x:K[s], y:K[n]"),
    *_each("(x[⍋x])⍸y", "x:K[8], y:K[n]"),
    *_each("i∊x", "x:K[8], i:K[n]", _BOTH),
    *_each("x⍳i", "x:K[8], i:K[n]", _BOTH),
    *_each("x≡y", "x:K[n], y:K[n]"),
    *_each("2⊥x", "x:K[n]", _BOTH),
    *_each("10 10 10⊤x", "x:K[n]", "i64"),
    *_each("2 2 2⊤x", "x:K[n]", "i64"),
    *_each("5 6⍷x", "x:K[n]", "i64"),
    *_each("x@i⊢y", "x:K[s], y:K[n], i:idx<n>[s]"),
    *_each("256+⌸(k ⋄ x)", "k:idx<256>[n], x:K[n]", _BOTH),
    *_each("256+⌸(k ⋄ A)", "k:idx<256>[s], A:K[s 8]", _BOTH, (1 << 6, 1 << 14, 1 << 20, 1 << 26)),
    *_each("7?≢x", "x:K[n]"),
    *_each("⍕x", "x:K[n]", _BOTH, (1 << 8, 1 << 13)),
    *_each("⌹A", "A:K[s s]", sizes=_MATRIX[:5]),
    *_each("x⌹A", "A:K[s s], x:K[s]", sizes=_MATRIX[:5]),
    *_each("⎕cholesky A", "A:spd[s s]", sizes=_MATRIX[:5]),
    *_each("{(u s v)←⎕svd ⍵ ⋄ s}A", "A:K[s s]", sizes=_SMALL),
    *_each("{(w v)←⎕eigh ⍵ ⋄ w}A", "A:spd[s s]", sizes=_SMALL),
    *_each("⎕fft c", "c:c128[n]", sizes=_LINES),
    *_each("⎕rfft x", "x:K[n]", sizes=_LINES),
)


def rows(threads: int) -> list[Row]:
    """All but library operations.  Loops and teams where there are any: without kernels a loop is no machine code."""
    loops, team = has_kernels(), threads > 1
    return [*DISK, *_STEPS, *_MOVED, *(_TEAMS if team else ()), *(_TURNING if loops else ()), *(_LONG if loops and team else ())]
