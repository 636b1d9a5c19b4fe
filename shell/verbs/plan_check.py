"""`rho plan --check PLAN [FILE]`: a stored plan verified independently of what made it; `--prove` proves its optimality again.

The script is FILE, or the one that the plan names, or, if that file is missing, the text in the plan.  The profile is that of
`--devices`, or the shipped one or this machine's that has the plan's fingerprint.  Exit codes: 0 the plan holds; 4 it does not
hold, cannot be read, is not a plan, or is out of date.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Refused
from ...lang.source import Source, Span
from ..cli.arguments import Arguments, UsageError
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.requests import Request, check_names, permissions_of, request_of
from ..cli.results import to_json, wants_json
from ..cli.sources import read_source
from ..display.progress import planning
from ..session import Session

if TYPE_CHECKING:
    from ...backend.devices.profile import Profile
    from ...backend.schedule.plan.model import Plan
    from ...typechecker.core_blocks import Core
    from ..stages import Loaded


_NOT_HERE = ("-o", "--diff", "--objective", "--budget", "--fast", "--without", "--require-optimal", "--contention", "--strict",
             "--pareto", "--points", "--point", "--weights")  # fmt: skip
"""Options of `rho plan` that would be ignored."""


def run(arguments: Arguments, console: Console) -> Exit:
    from ..execution.stored_plans import read_plan

    if ignored := [name for name in _NOT_HERE if arguments.has(name)]:
        raise UsageError(
            f"rho plan --check: {ignored[0]} is for making a plan", "--check reads a stored one and says whether it holds"
        )
    if (asked := arguments.value("--format")) not in (None, "text", "json"):
        raise UsageError(f"rho plan --check: --format cannot be `{asked}`", "it prints text or json")
    path = arguments.value("--check") or ""
    plan = read_plan(path)
    loaded = _program(arguments, console, plan, path)
    with planning(console):
        notes = _verify(plan, loaded, _profile(arguments, plan), path, prove=arguments.has("--prove"))
    if wants_json(arguments):
        console.print(to_json({"plan": path, "holds": True, "checked": notes}))
    else:
        console.print(f"`{path}` holds: " + "; ".join(notes))
    return Exit.OK


def _program(arguments: Arguments, console: Console, plan: Plan, path: str) -> Loaded:
    """The script of the plan, its sizes bound."""
    from ..execution.scheduling import Scheduling, Use
    from ..execution.stored_plans import program_in

    named = arguments.positional[0] if arguments.positional else next((file.name for file in plan.program), "")
    texts: dict[str, Source] = {}
    if arguments.positional or os.path.isfile(named):
        source = read_source(named)
    else:
        named = path
        source, texts = program_in(plan, path)
    request = request_of(arguments, console)
    session = Session("", permissions_of(arguments, request, named, os.path.dirname(named)), texts=texts)
    checked = session.check(source)
    core = checked.require()
    request = replace(request, sizes=_sizes(core, request, plan))
    check_names(core, request, planned=True)
    with_passes = path if plan.stores else None  # such a plan is compared with what is made with its tiles
    return session.load(checked, request, scheduling=Scheduling(Use.CHECK, plan=with_passes))


def _sizes(core: Core, request: Request, plan: Plan) -> dict[str, int]:
    """The sizes that are given, and the plan's own of inputs for which there is no file."""
    lacking = [entry for entry in core.data if entry.path is None and entry.name not in request.inputs]
    names = {variable.name for entry in lacking for size in core.types[entry.value].shape for variable in size.variables()}
    return {name: size for name, size in plan.sizes if name in names and name not in request.params} | dict(request.sizes)


def _profile(arguments: Arguments, plan: Plan) -> Profile | None:
    """The profile that the plan was made with, if it is known here."""
    from ...backend.devices.shipped import load_profile
    from ..execution.scheduling import known_profile

    asked = arguments.value("--devices")
    return known_profile(plan) if asked is None else load_profile(asked)


def _verify(plan: Plan, loaded: Loaded, profile: Profile | None, path: str, *, prove: bool) -> list[str]:
    """What was found to hold.  Refused: SCH301 out of date, E705 a check that fails, SCH302 a claim that cannot be proved."""
    from ...backend.schedule.plan.space_text import plans_text, space_lines
    from ...backend.schedule.program.described import UNCHECKED, single_faults
    from ...backend.schedule.program.planning import faults_of_stored, reproved, require_current
    from ...backend.schedule.verify.plans import needless_waits
    from ..execution.stored_plans import require_right

    require_current(plan, loaded.core, loaded.bound, profile, path)
    notes = ["program and sizes are those of the script"]
    if plan.stores:
        return [*notes, "every pass has the phases that flow to what it makes, tiles fill it, memory suffices"]
    if len(plan.devices) == 1 and plan.prediction is None:
        require_right(single_faults(plan, loaded.bound), path)
        notes.append("one device runs every phase in order")
        return notes
    require_right(faults_of_stored(plan, loaded.bound, loaded.core, profile), path)
    notes.append(
        "every phase runs once, its operands are where it runs, no queue waits for itself, memory suffices (V1 to V6, V8, V9)"
    )
    notes += [f"but {fault.message} (V7)" for fault in needless_waits(plan, loaded.bound)]
    if profile is None:
        notes.append(
            "labels are those of the script (V12); ticks and the lower bound were not compared: name the profile with --devices; "
            f"until then these say only what the plan says: {', '.join(UNCHECKED)}"
        )
    elif plan.prediction is not None:
        notes.append(
            f"ticks are those of the profile; the lower bound {plan.prediction.lower_bound} is not above the makespan (V10); "
            "what it says of phases, buffers and devices is so (V12)"
        )
        if not prove and plan.prediction.lower_bound:
            how = f"{plan.prediction.status.value}, by {plan.prediction.proof.method}"
            notes.append(f"that no {plans_text(plan)} is below that bound is only said ({how}): --prove derives it again")
            notes += space_lines(plan)
    if prove:
        if profile is None or plan.prediction is None:
            raise Refused(
                [Diagnostic(Code.SCH302, "a proof needs the plan's profile", Span(path, 0, 0), notes=("add --devices",))]
            )
        if not reproved(plan, loaded.bound, loaded.core, profile):
            raise Refused([Diagnostic(Code.SCH302, "the plan claims more than could be proved again", Span(path, 0, 0))])
        notes.append(f"proved again: no {plans_text(plan)} is better than {plan.prediction.lower_bound} ticks")
    return notes
