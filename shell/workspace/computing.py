"""Running the program of an entry: its hidden inputs are arrays, what it declares itself is read from files.

Neighbours: `program` (layouts), `shell.execution.loading` (files), `backend` (the rest).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused
from ...typechecker.core import Core, CoreInput
from ..execution.params import settings_of
from ..session import Session
from ..stages import Checked
from .program import Layout

if TYPE_CHECKING:
    from ...backend.graph.bind import BoundGraph
    from ...backend.schedule.plan.model import Plan
    from ..execution.outcome import Outcome


@dataclass(frozen=True, slots=True)
class Ready:
    """A checked program with its sizes bound and a plan, and the arrays of the session that it takes."""

    core: Core
    bound: BoundGraph
    plan: Plan
    layout: Layout
    files: Mapping[str, Any]


def ready(session: Session, layout: Layout, checked: Checked, *, full: bool = False) -> Ready:
    """Bind the sizes and plan.  Refused: files, permissions, guards."""
    from ...backend import Detail, Device, bind_shapes, plan
    from ...backend.schedule.single.one_device import HOME
    from ..execution.loading import find_inputs
    from ..execution.machine import cores

    core = checked.core
    assert core is not None
    own = [entry for entry in core.data if entry.name not in layout.arrays]
    pathless = [entry for entry in own if entry.path is None]
    if pathless:
        raise Refused([_without_file(entry) for entry in pathless])
    files = find_inputs(replace(core, inputs=tuple(own)), {}, session.folder, session.permissions) if own else {}
    given = {**settings_of(core, {}).arrays, **layout.arrays}
    shapes = {name: array.shape for name, array in given.items()} | {name: file.shape for name, file in files.items()}
    bound = bind_shapes(core, shapes, {})
    made = plan(bound, Device(HOME, "cpu", cores()), detail=Detail.FULL if full else Detail.STEPS)
    return Ready(core, bound, made, layout, files)


def _without_file(entry: CoreInput) -> Diagnostic:
    return Diagnostic(
        Code.E704, f"the input `{entry.name}` names no file", entry.span,
        notes=('in a session write the file too: input x : f64[n] ← "x.npy"',),
    )  # fmt: skip


def compute(prepared: Ready) -> Outcome:
    """Run.  RunFailed: a run-time check, a file that cannot be read, memory."""
    from ..execution.loading import read_inputs
    from ..execution.outcome import outcome_of

    core, bound = prepared.core, prepared.bound
    folded = _folded(bound) if not core.inputs else None
    if folded is not None:
        return outcome_of(core, folded[0], folded[1])
    from ...backend import execute

    own = replace(core, inputs=tuple([entry for entry in core.inputs if entry.name in prepared.files]))
    values = {**settings_of(core, {}).arrays, **prepared.layout.arrays}
    if own.inputs:
        values |= read_inputs(own, prepared.files, bound.sizes)
    results = execute(prepared.plan, bound, values)
    outputs = {name: shown.value for name, shown in results.outputs.items()}
    return outcome_of(core, [shown.value for shown in results.printed], outputs)


def _folded(bound: BoundGraph) -> tuple[list[Any], dict[str, Any]] | None:
    """Results known without running, as NumPy arrays would be; None if there is something to run or to keep."""
    from ..execution.folded import folded_results

    found = folded_results(bound)
    return None if found is None or found[1] else found


def estimate_ns(prepared: Ready) -> int | None:
    """What the cost model says that running takes; None without tables for it."""
    from ..display.estimates import predicted_ns

    return predicted_ns(prepared.bound)


def memory_of(prepared: Ready) -> int:
    """The most bytes live at once."""
    return sum(count for _, count in prepared.plan.main.peak)
