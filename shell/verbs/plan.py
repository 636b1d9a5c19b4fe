"""`rho plan FILE`: the schedule of a script for its data's sizes, as text, JSON (`plan/2`) or a picture.  Computes nothing."""

from __future__ import annotations

import os
from dataclasses import replace

from ...lang.diagnostics import about
from ..cli import messages
from ..cli.arguments import Arguments, UsageError
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.overwriting import require_unread
from ..cli.requests import check_names, permissions_of, request_of
from ..cli.results import give, wants_json
from ..cli.sources import read_source
from ..display.plan_output import picture, picture_asked, plan_lines
from ..display.progress import planning
from ..execution.clusters import let_go
from ..execution.scheduling import Scheduling, Use, require_optimal, scheduling_of
from ..execution.stored_plans import read_plan
from ..session import Session
from ..stages import Loaded, PlanDetail, Strictness
from . import plan_cut, plan_front

ONE_PLAN = ("--objective", "--deadline", "--diff", "--require-optimal", "--loops")
"""Options for which there is one plan."""


def run(arguments: Arguments, console: Console) -> Exit:
    if arguments.has("--instance"):
        from . import plan_instance

        return plan_instance.run(arguments, console)
    if arguments.has("--check"):
        from . import plan_check

        return plan_check.run(arguments, console)
    if not arguments.positional:
        raise UsageError("rho plan: needs a FILE, or --instance FILE", "for example: rho plan examples/kmeans.rho")
    if arguments.has("--contention"):
        raise UsageError("rho plan: --contention is for --instance FILE", "a profile's link groups say it for programs")
    drawn = picture_asked(arguments)
    scheduling = scheduling_of(arguments, Use.LOOK)
    stored = arguments.has("-o") and (arguments.value("--format") is None or wants_json(arguments))
    if scheduling is None and (drawn is not None or stored or arguments.has("--diff")):
        scheduling = Scheduling(Use.LOOK)  # pictures, comparisons and plans that are run need ticks
    if unfit := [name for name in ("--points", "--point", "--weights") if arguments.has(name) and not arguments.has("--pareto")]:
        raise UsageError(f"rho plan: {unfit[0]} is for a front", "add --pareto time,energy")
    if arguments.has("--pareto"):
        scheduling = _front_only(arguments, scheduling)
    if arguments.has("--explain-cut"):
        scheduling = _cut_only(arguments, scheduling)
    request = request_of(arguments, console)
    path = arguments.positional[0]
    strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
    session = Session("", permissions_of(arguments, request, path, os.path.dirname(path)), strictness)
    checked = session.check(read_source(path))
    core = checked.require()
    messages.show(console, checked.diagnostics, checked.sources)
    check_names(core, request, planned=True)
    with about(checked.sources):
        with planning(console), let_go(None if scheduling is None else scheduling.cluster):
            known = Scheduling(Use.CHECK) if arguments.has("--pareto") or arguments.has("--explain-cut") else scheduling
            loaded = session.load(checked, request, PlanDetail.FULL, known)
            front = None
            if scheduling is not None and arguments.has("--pareto"):
                front = plan_front.front(arguments, loaded, scheduling)
        messages.show(console, loaded.warnings, checked.sources)
        require_unread(arguments, loaded)
        taken = None if front is None else plan_front.chosen(arguments, front)
        if taken is not None:
            loaded = replace(loaded, plan=taken.planned.plan)
        if arguments.has("--require-optimal"):
            require_optimal(loaded.plan, path)
        if scheduling is not None and arguments.has("--explain-cut"):
            text = plan_cut.text(arguments, loaded, scheduling)
        elif front is not None and taken is None:
            text = plan_front.text(arguments, front, os.path.basename(path))
        else:
            text = _text(arguments, loaded, scheduling)
    give(arguments, console, text)
    return Exit.OK


def _cut_only(arguments: Arguments, scheduling: Scheduling | None) -> Scheduling:
    """How to look at cuts.  UsageError: there is one device, or an option that this has no use for."""
    if arguments.value("--devices") is None and not arguments.has("--cluster"):
        raise UsageError("rho plan --explain-cut: on one device nothing is cut", "add --devices workstation, or a profile")
    if unfit := [name for name in ("--pareto", *ONE_PLAN) if arguments.has(name)]:
        raise UsageError(f"rho plan --explain-cut: {unfit[0]} is for a plan")
    if arguments.value("--format") not in (None, "text", "json"):
        raise UsageError("rho plan --explain-cut is shown as text or json")
    return scheduling or Scheduling(Use.LOOK)


def _front_only(arguments: Arguments, scheduling: Scheduling | None) -> Scheduling:
    """How to plan a front.  UsageError: options that it has no use for."""
    plan_front.require_options(arguments)
    for name in ONE_PLAN:
        if arguments.has(name):
            raise UsageError(f"rho plan --pareto: {name} is for one plan")
    return scheduling or Scheduling(Use.LOOK)


def _text(arguments: Arguments, loaded: Loaded, scheduling: Scheduling | None) -> str:
    """The plan in the format asked for.  A plan of declared devices that is saved is JSON, for `run --plan`."""
    from ...backend.schedule.plan.stored import encode_plan
    from ..execution.streaming import require_one_run, require_sizes_known

    plan = loaded.plan
    older, drawn = arguments.value("--diff"), picture_asked(arguments)
    if drawn is not None:
        require_one_run(loaded, "a picture of its plan")
    is_json = wants_json(arguments) or (scheduling is not None and arguments.has("-o") and arguments.value("--format") is None)
    if older is not None or is_json:
        require_sizes_known(loaded, "a plan that is kept or compared")
    if older is not None:
        from ...backend.schedule.plan.diff import diff_text

        return diff_text(read_plan(older), plan)
    if drawn is not None:
        from ...backend.schedule.pictures.of_plan import chart_of_plan

        return picture(chart_of_plan(plan, os.path.basename(loaded.checked.source.name)), drawn)
    if is_json:
        return encode_plan(plan)
    return plan_lines(loaded, programs=arguments.has("--loops"))
