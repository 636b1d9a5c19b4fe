"""`rho plan FILE`: the schedule of a script for its data's sizes, as text or JSON (`plan/1`).  Computes nothing."""

from __future__ import annotations

import os
from pathlib import Path

from ...lang.diagnostics import Diagnostic, RhoError
from ...lang.source import Span
from .. import messages
from ..arguments import Arguments, UsageError
from ..console import Console
from ..exits import Exit
from ..requests import check_names, permissions_of, request_of
from ..results import wants_json, write_whole
from ..scheduling import Use, scheduling_of
from ..session import PlanDetail, Session, Strictness
from ..sources import Undecodable, read_source


def run(arguments: Arguments, console: Console) -> Exit:
    if arguments.has("--instance"):
        from . import plan_instance

        return plan_instance.run(arguments, console)
    if not arguments.positional:
        raise UsageError("rho plan: needs a FILE, or --instance FILE", "for example: rho plan examples/kmeans.rho")
    if arguments.has("--contention"):
        raise UsageError("rho plan: --contention is for --instance FILE", "a profile's link groups say it for programs")
    scheduling = scheduling_of(arguments, Use.LOOK)
    request = request_of(arguments)
    path = arguments.positional[0]
    try:
        source = read_source(path)
    except Undecodable as error:
        messages.show(console, error.diagnostics, {path: error.source})
        return Exit.REJECTED
    strictness = Strictness.STRICT if arguments.has("--strict") else Strictness.GUARDED
    session = Session("", permissions_of(arguments, request, path, os.path.dirname(path)), strictness)
    checked = session.check(source)
    messages.show(console, checked.diagnostics, checked.sources)
    if checked.core is None:
        return Exit.REJECTED
    check_names(checked.core, request)
    try:
        loaded = session.load(checked, request, PlanDetail.FULL, scheduling)
    except RhoError as error:
        messages.show(console, error.diagnostics, checked.sources)
        return messages.exit_of(error)
    from ...backend.schedule.explain import plan_text
    from ...backend.schedule.plan_json import encode_plan
    from ...backend.schedule.problem import Status

    if scheduling is not None:
        from ...backend.schedule.explain_queues import queues_text

        # a plan that is saved is for `run --plan`
        text = encode_plan(loaded.plan) if wants_json(arguments) or arguments.has("-o") else queues_text(loaded.plan)
    elif wants_json(arguments):
        text = encode_plan(loaded.plan)
    else:
        from ..costs import cost_of_program

        text = "\n".join([plan_text(loaded.plan), *cost_of_program(checked.core).lines(loaded.bound.sizes)])
    proved = loaded.plan.prediction is None or loaded.plan.prediction.status is not Status.GAP
    if arguments.has("--require-optimal") and not proved:
        span = Span(path, 0, 0)
        messages.show(console, [Diagnostic("SCH302", "the plan is not proved optimal", span)], checked.sources)
        return Exit.BUDGET
    target = arguments.value("-o")
    if target is None:
        console.print(text.rstrip("\n"))
        return Exit.OK
    try:
        write_whole(Path(target), text.rstrip("\n") + "\n")
    except OSError as error:
        raise UsageError(f"`{target}` cannot be written: {error.strerror}") from error
    return Exit.OK
