"""Reading, writing and computing in programs, on one thread and on all: what a thread takes, and what the team makes of it.

Reading is told from a greatest element, writing from a product; sizes are of all bytes that go round (`points`, Note [Moving]).
Whether a phase was cut, and whether helpers woke for it, is what the cost model says of it.  Helpers that came too late are left
alone for a while: rounds of a program lie apart.

Neighbours: `programs` (what is run), `backend.devices.teams` (Note [Sharing]).
"""

from __future__ import annotations

from typing import Any, Final

from ...devices.cost import numbers_of
from ...devices.forms import Tier, work_of
from ...devices.tables import Table
from ...devices.teams import Shared, Sharing, shared_out
from ...graph.phases import Structured
from ...kernels import policy
from ...kernels.llvm_leaf import is_installed
from .moving import ROUND, WIDTH, values
from .probes import Curve, Probe, Section
from .programs import Program, prepared, structured

COMPUTED: Final = (1 << 16, 1 << 17, 1 << 18, 1 << 20)
MADE: Final = (1 << 16, 1 << 17, 1 << 18, 1 << 20, 1 << 22)
CHAINED: Final = (500_000, 1_000_000, 2_000_000)
LINE: Final = 500
_HEAD: Final = "input x : f64[n]\noutput y ← "


def add(section: Section, threads: int, most: int, step: Table, first: Table) -> None:
    """`most`: bytes that go round at most; `step` and `first`: what a step takes beside its work."""

    def own(size: int) -> int:
        return step.at(size) + first.at(size) >> 16

    start = own(1)  # programs of one phase: see `Around.before`

    def both(text: str, operands: dict[str, Any], table: str = "", beside: int = start) -> Probe:
        """On one thread, which is given back, and on all."""
        programs = [prepared(text, operands, those) for those in (1, threads)]
        alone, together = (section.probe(program.timed(structured(-1))) for program in programs)
        shared = Shared(Sharing.ALONE) if table else _sharing(programs[1])
        ending = ".reduced.f64" if shared.joined else ".f64"
        if shared.sharing is Sharing.CUT:
            section.point(f"cut{ending}", 1, lambda: together.ns - alone.ns, Curve.LEVEL)
        elif table or shared.sharing is Sharing.WOKEN:
            section.point(table or f"team{ending}", lambda: alone.ns - beside, lambda: together.ns - beside, Curve.RISING)
        return alone

    def moved(size: int) -> None:
        x = values(size // WIDTH)
        greatest, doubled = both(f"{_HEAD}⌈/x\n", {"x": x}), both(f"{_HEAD}x×0.5\n", {"x": x[: len(x) // 2]})
        section.point("read.f64", size, lambda: greatest.ns - start, Curve.RATES)
        section.point("write.f64", size, lambda: 2 * doubled.ns - greatest.ns - start, Curve.RATES)

    for size in (size for size in ROUND if size <= most):
        moved(size)
    for count in COMPUTED:
        both(f"{_HEAD}*x\n", {"x": values(count)})
    if threads > 1:
        for count in CHAINED:
            both("input A : f64[r c]\noutput y ← √+/A×A\n", {"A": values(count).reshape(-1, LINE)}, "team.rows.f64")
        for count in MADE:
            both(f"{_HEAD}⌈/5⌽x\n", {"x": values(count)}, "team.handed.f64", own(count * WIDTH))


def _sharing(program: Program) -> Shared:
    """How the cost model takes a program's phase to be shared."""
    phase = next(phase for phase in program.bound.graph.phases if isinstance(phase, Structured))
    number = numbers_of(program.bound)
    extents = tuple(number(axis.size) for axis in phase.axes)
    kernels = is_installed() and policy.mode() is not policy.Mode.OFF
    work = work_of(phase, program.bound.graph.types, extents, number, kernels=kernels)
    if work.tier is not Tier.KERNEL:
        return Shared(Sharing.ALONE)
    return shared_out(work.nest, bool(work.reduced), work.nanoseconds, program.threads)
