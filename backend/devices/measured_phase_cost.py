"""The cost of a structured phase on a measured device, in the form in which it will run: memory traffic, computation, dispatch.

Time = dispatch + the longer of traffic and computation + a part of the shorter, since a processor overlaps both imperfectly.

Note [Moving].  The cost of a byte depends on its reuse distance (the bytes touched since it was touched last), which decides the
cache level that has it.  `read` and `write` are measured by the size of the working set.

Note [Computing].  `point.…` is one more application in a kernel on one thread, `ufunc.…` one in a NumPy call; `row.…` and
`column.…` reduce runs of so many numbers (1024 runs).  `teams` converts the time of one thread to that of the executor's threads.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from ...lang.support.records import replace
from ...typechecker.elements import Kind, is_sequential
from ..scalar.function_table import class_of
from .cost_functions import largest
from .kernel_form import ALONG, Applied, ReducedWork, SharedWork, Tier, Work, overlapped, rows_shared_out, shared_out, together
from .op_tables import Around, Rates
from .profile import CostTable, Grains, scalar_stems

RUNS: Final = 1024
"""The number of runs in the tables `row` and `column`."""
APART: Final = (4, 5)
"""(n, d): n/d of a step's additional time after other phases is due to its own code and data."""
_SAME: Final = {"square": "mul", "half_power": "sqrt"}


ALONE: Final = Around()


def work_grains(work: Work, rates: Rates, around: Around = ALONE) -> Grains:
    """The grains of a phase in a given form.  Raises NoTable where the device has no table for an application."""
    start = step(rates, around, more(work))
    moved, computed = moved_grains(work, rates, around), applied_grains(work, rates)
    if work.tier is Tier.KERNEL:
        return Grains(start + together(moved, computed, shared_work(work, rates, handed=around.handed), rates))
    fresh = sum(_fresh(size, rates) for _, size in work.written if not work.reduced)
    return Grains(start + fresh + overlapped(moved, computed))


def shared_work(work: Work, rates: Rates, iterations: int = 1, *, handed: bool = False) -> SharedWork:
    threads = rates.device.threads
    if work.chained:
        written = sum(size for _, size in work.written)
        return rows_shared_out(work.nest, work.nanoseconds, threads, 2 * written >= work.footprint - written)
    return replace(shared_out(work.nest, bool(work.reduced), work.nanoseconds, threads, iterations), handed=handed)


def _fresh(size: int, rates: Rates) -> int:
    """The grains of the first access to fresh memory."""
    table = rates.table(("fresh",), Kind.F64)
    return 0 if table is None or size < table.size[0] else table.at(size)


def more(work: Work) -> int:
    """The operands of a kernel beyond the first, or the NumPy calls beyond the first."""
    return max(0, len(work.reads) - 1 if work.tier is Tier.KERNEL else len(work.applied) + len(work.reduced) - 1)


def step(rates: Rates, around: Around, calls: int = 0) -> Grains:
    """The dispatch grains of a phase; `calls`: NumPy calls after the first."""
    table = rates.table(("call",), Kind.F64)
    step_table = rates.require(("step",), Kind.F64)
    return Grains(cooled(step_table, around) + (0 if table is None else calls * table.at(max(1, around.before))))


def cooled(table: CostTable, around: Around) -> Grains:
    """The grains of a step after other phases: the table at the bytes of the phase just before or, if that is more, the warm time
    plus a part of the increase at the bytes of all other phases."""
    warm = table.at(1)
    part = (table.at(max(1, around.apart)) - warm) * APART[0] // APART[1]
    return Grains(max(table.at(max(1, around.before)), warm + part))


def applied_grains(work: Work, rates: Rates) -> int:
    """The computation grains of one thread.  See Note [Computing]."""
    if work.tier is Tier.KERNEL:
        computed = _applied(work, "point.", rates) + sum(_reduced(one, rates) for one in work.reduced)
        lines = rates.table(("line.column" if work.reduced else "line",), Kind.F64) if work.lines > 1 else None
        return computed + (0 if lines is None else lines.at(work.line) * work.lines // RUNS)
    reduced = sum(_looked_up(r.function, "ufunc.reduce.", r.kind, r.points * r.kind.bytes, rates) for r in work.reduced)
    return _applied(work, "ufunc.", rates) + reduced


def chained_grains(work: Work, rates: Rates) -> int:
    """The latency, in grains, of a chain of dependent applications that nothing overlaps."""
    loop_overhead = rates.require(("turn",), Kind.F64).rate(3 * Kind.F64.bytes * work.points)
    alone, among = rates.table(("turn.exp",), Kind.F64), rates.table(("point.exp",), Kind.F64)
    total = 0
    for one in work.chain:
        waits = loop_overhead
        if class_of(one.function) == "transcendental" and alone is not None and among is not None:
            size = among.size[0]  # a series depends on itself: longer by the ratio that `exp` has
            waits = largest(loop_overhead, _each(one, "point.", rates) * alone.rate(size) // among.rate(size))
        total += waits
    return total


def moved_grains(work: Work, rates: Rates, around: Around) -> int:
    """The memory traffic in grains.  See Note [Moving]."""
    moved, footprint = 0, work.footprint
    for stream in work.reads:
        where = largest(around.since.get(stream.value, footprint), stream.size)
        moved += _stream("read", stream.size, where, rates)
        if stream.across and (strided := rates.table(("strided",), stream.kind)) is not None:
            moved += strided.rate(stream.size)
    if not work.reduced:
        for _, size in work.written:
            where = size if rates.reuses else largest(footprint, around.total)
            moved += _stream("read" if rates.reuses else "write", size, where, rates)
    return moved


def _stream(name: str, size: int, where: int, rates: Rates) -> int:
    return rates.require((name,), Kind.F64).rate(size, where)


def _applied(work: Work, prefix: str, rates: Rates) -> int:
    total = 0
    for one in work.applied:
        if one.function.startswith(ALONG):  # in a chain along rows
            row = ReducedWork(one.function.removeprefix(ALONG), one.kind, along=True, points=work.points, run=max(1, work.line))
            size, called = row.points * row.kind.bytes, prefix == "ufunc."
            total += _looked_up(row.function, "ufunc.reduce.", row.kind, size, rates) if called else _reduced(row, rates)
            continue
        total += _each(one, prefix, rates)
    return total


def _each(one: Applied, prefix: str, rates: Rates) -> Grains:
    table = _table_of(one.function, one.compute, one.kind, one.parameter, prefix, rates, constant=one.constant)
    return table.rate(one.points * one.each)


def _table_of(function: str, compute: Kind, kind: Kind, parameter: int, prefix: str, rates: Rates, *,
    constant: bool) -> CostTable:
    function = _SAME.get(function, function)
    kind = kind if function.startswith("convert") else compute
    stems = scalar_stems(function, compute, parameter)
    if constant:
        stems = (f"{function}.constant", *stems)
    return _first(rates, (*(prefix + stem for stem in stems), *_class(prefix, function)), kind)


def application_rate(function: str, compute: Kind, kind: Kind, parameter: int, rates: Rates) -> float:
    """The grains per item of one more application in a kernel."""
    each = 2 * compute.bytes + kind.bytes
    return _table_of(function, compute, kind, parameter, "point.", rates, constant=False).rate(each * 1000) / 1000


def _class(prefix: str, function: str) -> tuple[str, ...]:
    """The names of the tables that stand in for a function that was not measured."""
    return (f"{prefix}exp", f"{prefix}add") if class_of(function) == "transcendental" else (f"{prefix}add",)


def _first(rates: Rates, stems: Iterable[str], kind: Kind) -> CostTable:
    return rates.require(tuple(stems), kind)


def _looked_up(function: str, prefix: str, kind: Kind, size: int, rates: Rates) -> int:
    from_the_right = (f"{prefix}div",) if is_sequential(function) else ()
    return rates.require((prefix + function, *from_the_right, f"{prefix}add"), kind).rate(size)


def _reduced(one: ReducedWork, rates: Rates) -> int:
    """The grains of runs of numbers that are reduced one after the other.  In a right fold each application (which is counted
    separately) waits for the one before."""
    if is_sequential(one.function):
        return rates.require(("turn", "point.add"), Kind.F64).rate(3 * Kind.F64.bytes * one.points) if one.along else 0
    name = "row" if one.along else "column"
    table = rates.require((f"{name}.{one.function}", f"{name}.add", f"row.{one.function}", "row.add"), one.kind)
    return table.at(one.run) * one.points // (one.run * RUNS)
