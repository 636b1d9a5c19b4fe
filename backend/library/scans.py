"""Scans by built-in functions as library operations.

Neighbours: `run.cpu.sequential` (on NumPy), `run.cpu.scanning` (by kernels), `loops.scans` (the code).
"""

from __future__ import annotations

from typing import Final

from ..graph.cells import frame_of
from ..graph.phases import LibraryPhase
from ..run.cpu.bindings import Binding, Later, Unbound
from ..run.cpu.kinds import DTYPES, NumArray, start_of
from ..run.cpu.launching import Base
from ..run.cpu.scanning import scan_lines, scan_plan
from ..run.cpu.sequential import scanned_along
from .frames import Arrays, Call, Operation, cell_by_cell


def scan(call: Call, arg: NumArray) -> NumArray:
    return scanned_along(call.function(), call.kind(), arg, call.axis())


def _scan_lines(call: Call, arrays: Arrays) -> NumArray | None:
    return scan_lines(call.function(), call.kind(), arrays[0], call.axis() + call.rank, call.threads)


def _bind_scan(binding: Binding, phase: LibraryPhase) -> None:
    (source,), (value,), function, axis = phase.args, phase.results, phase.attributes["function"], phase.attributes["axis"]
    array, kind = binding.values[source], binding.types.kind(value)
    assert isinstance(function, str)
    assert isinstance(axis, int)
    plan = scan_plan(function, kind, array, axis + frame_of(phase), binding.threads, least=0, runs=binding.runs)
    if plan is None:
        raise Later if array.dtype == DTYPES[kind] else Unbound
    carry = plan.carry
    result = binding.result(value, array.shape, array.dtype)
    bases: list[Base] = [(binding.places[source], 0), (result, 0), (None, start_of(carry))]
    binding.share(plan.pieces, bases)


SCANS: Final[dict[str, Operation]] = {"scan": cell_by_cell(scan, _scan_lines, native=_bind_scan)}
