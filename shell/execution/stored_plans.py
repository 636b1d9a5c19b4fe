"""Plans that were stored: read, with the program they hold, and refused where they are wrong.

Neighbours: `scheduling` (runs them in place of a plan of its own), `streaming` (those with passes), `verbs.plan_check`.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused
from ...lang.opening import Pipes, read_text
from ...lang.records import dataclass
from ...lang.source import Source, Span

if TYPE_CHECKING:
    from ...backend.schedule.plan.model import Plan


@dataclass(frozen=True, slots=True)
class Kept:
    """A plan with passes that was stored, and where."""

    plan: Plan
    path: str


def read_plan(path: str) -> Plan:
    """Refused: E704 unreadable, E705 not a plan."""
    from ...backend.schedule.plan.stored import LARGEST_PLAN, PlanFormatError, decode_plan

    try:
        text = read_text(path, 4 * LARGEST_PLAN, Pipes.READ)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise Refused([Diagnostic(Code.E704, f"`{path}` cannot be read: {reason}", Span(path, 0, 0))]) from None
    try:
        return decode_plan(text)
    except PlanFormatError as error:
        message = f"`{path}` is not a plan that can be read: {error}"
        notes = (f"make it again from its script: `rho plan SCRIPT -o {path}`",)
        raise Refused([Diagnostic(Code.E705, message, Span(path, 0, 0), notes=notes)]) from None


def passes_kept(path: str) -> Kept | None:
    """A stored plan, if it has passes over its inputs.  Raises as `read_plan`."""
    plan = read_plan(path)
    if not plan.stores:
        return None
    return Kept(plan, path)


def program_in(plan: Plan, path: str) -> tuple[Source, dict[str, Source]]:
    """The program that a stored plan holds, as if it stood beside the plan, and its modules by name.  Refused: E705, none."""
    if not plan.program:
        raise Refused([Diagnostic(Code.E705, f"`{path}` holds no program: name its script too", Span(path, 0, 0))])
    folder, old = os.path.dirname(path), os.path.dirname(plan.program[0].name)

    if nameless := [place for place, file in enumerate(plan.program) if not file.name]:
        message = f"`{path}` is not a plan that can be read: program[{nameless[0]}] has no name"
        raise Refused([Diagnostic(Code.E705, message, Span(path, 0, 0), notes=("make it again from its script",))])

    def moved(name: str) -> str:
        return name if name.startswith("<") else os.path.normpath(os.path.join(folder, os.path.relpath(name, old or ".")))

    sources = [Source(moved(file.name), file.text) for file in plan.program]
    return sources[0], {source.name: source for source in sources[1:] if not source.name.startswith("<")}


def require_right(faults: list[str], path: str) -> None:
    if faults:
        more = tuple(faults[1:4])
        raise Refused([Diagnostic(Code.E705, f"the plan in `{path}` is wrong: {faults[0]}", Span(path, 0, 0), notes=more)])
