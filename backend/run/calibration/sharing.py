"""What the team makes of one thread's time: programs on one thread and on all, by how their work is shared.

Moving bytes is measured with the rest of it (`moving`), computing here.  Whether a phase was cut, and whether helpers woke for
it, is what the cost model says of it.  Helpers that came too late are left alone for a while: rounds of a program lie apart.

Neighbours: `timed`, `backend.devices.teams` (Note [Sharing]).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Final, TypeAlias

import numpy as np

from ...devices.cost import numbers_of
from ...devices.forms import Tier, work_of
from ...devices.tables import Table
from ...devices.teams import Shared, Sharing, shared_out
from ...graph.phases import Structured
from ...kernels import policy
from ...kernels.llvm_leaf import is_installed
from .clock import rising
from .overheads import Ready, prepared
from .timed import Program, structured

COMPUTED: Final = (1 << 16, 1 << 17, 1 << 18, 1 << 20)
_FLAT: Final = 1 << 50
MADE: Final = (1 << 16, 1 << 17, 1 << 18, 1 << 20, 1 << 22)
CHAINED: Final = (500_000, 1_000_000, 2_000_000)
LINE: Final = 500
LEADING: Final = frozenset({"team.rows.f64"})
"""Tables whose programs are one phase."""
_ROWS: Final = "input A : f64[r c]\noutput y ← √+/A×A\n"
_HANDED: Final = "input x : f64[n]\noutput y ← ⌈/5⌽x\n"
_COMPUTED: Final = "input x : f64[n]\noutput y ← *x\n"

Pair: TypeAlias = tuple[int, int]


@dataclass(slots=True)
class Pairs:
    """Times of one thread and of all, by how phases were shared."""

    woken: list[Pair] = field(default_factory=list)
    joined: list[Pair] = field(default_factory=list)
    cut: list[int] = field(default_factory=list)
    cut_joined: list[int] = field(default_factory=list)

    def add(self, run: Ready, alone: int, together: int) -> None:
        shared = sharing_of(run)
        match shared.sharing:
            case Sharing.CUT:
                (self.cut_joined if shared.joined else self.cut).append(max(1, together - alone))
            case Sharing.WOKEN:
                (self.joined if shared.joined else self.woken).append((alone, together))

    def tables(self) -> Mapping[str, Table]:
        found = {}
        for name, pairs in (("team.f64", self.woken), ("team.reduced.f64", self.joined)):
            if pairs:
                found[name] = mapped(pairs)
        for name, taken in (("cut.f64", self.cut), ("cut.reduced.f64", self.cut_joined)):
            if taken:
                found[name] = Table((1, _FLAT), (int(median(taken)),) * 2)
        return found


def sharing_of(run: Ready, place: int = 0) -> Shared:
    """How the cost model takes a program's phase to be shared."""
    phase = [phase for phase in run.bound.graph.phases if isinstance(phase, Structured)][place]
    number = numbers_of(run.bound)
    extents = tuple(number(axis.size) for axis in phase.axes)
    kernels = is_installed() and policy.mode() is not policy.Mode.OFF
    work = work_of(phase, run.bound.graph.types, extents, number, kernels=kernels)
    if work.tier is not Tier.KERNEL:
        return Shared(Sharing.ALONE)
    return shared_out(work.nest, bool(work.reduced), work.nanoseconds, run.threads)


def mapped(pairs: list[Pair]) -> Table:
    """From what one thread takes to what the team takes: more work never takes less."""
    found: dict[int, list[int]] = {}
    for alone, together in pairs:
        found.setdefault(max(1, alone), []).append(together)
    sizes = sorted(found)
    times = rising([median(found[alone]) for alone in sizes])
    return Table(tuple(sizes), tuple(max(1, round(time)) for time in times))


def computing(threads: int) -> list[tuple[Program, Program]]:
    """Programs that compute much, on one thread and on all."""
    return [_both(_COMPUTED, {"x": _values(count)}, threads) for count in COMPUTED]


def others(threads: int) -> dict[str, list[tuple[Program, Program]]]:
    """Programs with tables of their own: chains that make a number of each row, and operands that one thread has made."""
    rows = [_both(_ROWS, {"A": _values(count).reshape(-1, LINE)}, threads) for count in CHAINED]
    handed = [_both(_HANDED, {"x": _values(count)}, threads) for count in MADE]
    return {"team.rows.f64": rows, "team.handed.f64": handed} if threads > 1 else {}


def _values(count: int) -> Any:
    return np.random.default_rng(count).random(count) * 0.85 + 0.1


def _both(text: str, values: dict[str, Any], threads: int) -> tuple[Program, Program]:
    alone, team = (Program(prepared(text, values, those), structured(-1)) for those in (1, threads))
    return alone, team
