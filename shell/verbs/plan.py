"""`rho plan FILE`: the schedule of a script for its data's sizes, as text or JSON (`plan/1`).  Computes nothing."""

from __future__ import annotations

import os
from pathlib import Path

from ...lang.diagnostics import RhoError
from .. import messages
from ..arguments import Arguments, UsageError
from ..console import Console
from ..exits import Exit
from ..requests import check_names, permissions_of, request_of
from ..results import wants_json, write_whole
from ..session import PlanDetail, Session, Strictness
from ..sources import Undecodable, read_source


def run(arguments: Arguments, console: Console) -> Exit:
    if arguments.has("--instance"):
        from . import plan_instance

        return plan_instance.run(arguments, console)
    if not arguments.positional:
        raise UsageError("rho plan: needs a FILE, or --instance FILE", "for example: rho plan examples/kmeans.rho")
    for option in ("--devices", "--contention", "--budget", "--prove", "--fast", "--require-optimal"):
        if arguments.has(option):
            raise UsageError(f"rho plan: {option} is for --instance FILE in this version")
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
        loaded = session.load(checked, request, PlanDetail.FULL)
    except RhoError as error:
        messages.show(console, error.diagnostics, checked.sources)
        return messages.exit_of(error)
    from ...backend.schedule.explain import plan_text
    from ...backend.schedule.plan_json import encode_plan

    if wants_json(arguments):
        text = encode_plan(loaded.plan)
    else:
        from ..costs import cost_of_program

        text = "\n".join([plan_text(loaded.plan), *cost_of_program(checked.core).lines(loaded.bound.sizes)])
    target = arguments.value("-o")
    if target is None:
        console.print(text.rstrip("\n"))
        return Exit.OK
    try:
        write_whole(Path(target), text.rstrip("\n") + "\n")
    except OSError as error:
        raise UsageError(f"`{target}` cannot be written: {error.strerror}") from error
    return Exit.OK
