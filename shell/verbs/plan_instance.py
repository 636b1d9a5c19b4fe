"""`rho plan --instance FILE`: an abstract task graph scheduled, as text or JSON.  docs/instances.md has the formats.

Exit codes: 0 optimal or with a gap that is printed, 2 not an instance, 3 impossible (or directives that cannot be meant),
5 the search was cut off, or `--require-optimal` was asked and not reached.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ...backend.schedule.answer import Conflict, Status
from ...backend.schedule.files.devices_file import devices_of
from ...backend.schedule.files.directives import DirectivesRejected
from ...backend.schedule.files.read import read_instance
from ...backend.schedule.files.result import gap_of, result_json, result_text
from ...backend.schedule.files.solve import Solved, solve
from ...backend.schedule.problem import Contention, Objective, Problem
from ...lang.diagnostics import RhoError
from ...lang.opening import Pipes, read_text
from ..cli import messages
from ..cli.arguments import Arguments, UsageError
from ..cli.console import Console
from ..cli.exits import Exit
from ..cli.results import give, to_json, wants_json
from ..display.plan_output import picture, picture_asked
from ..display.progress import planning
from ..execution.scheduling import Scheduling, Use, budget_of, scheduling_of

_FOR_PROGRAMS = ("--check", "--diff", "--in", "--set", "--allow-read", "--max-memory", "--max-time", "--strict",
                 "--pareto", "--points", "--point", "--weights", "--deadline")  # fmt: skip
"""Options of `rho plan` that would be ignored."""

_MOST_BYTES = 256 << 20


def run(arguments: Arguments, console: Console) -> Exit:
    file = arguments.value("--instance") or ""
    if ignored := [name for name in _FOR_PROGRAMS if arguments.has(name)]:
        raise UsageError(
            f"rho plan --instance: {ignored[0]} is for programs", "a task graph has no inputs, no params and no plan/2"
        )
    if arguments.positional:
        raise UsageError(f"rho plan --instance takes one file: `{arguments.positional[0]}` is one too many")
    budget = budget_of(scheduling_of(arguments, Use.LOOK) or Scheduling(Use.LOOK))
    try:
        problem = _problem(file, arguments)
    except RhoError as error:
        code = messages.refuse(arguments, console, error)
        return code if isinstance(error, DirectivesRejected) else Exit.USAGE
    with planning(console):
        solved = solve(problem, budget)
    drawn = picture_asked(arguments)
    if drawn is not None and solved.answer.schedule is not None:
        from ...backend.schedule.pictures.of_answer import chart_of_answer

        give(arguments, console, picture(chart_of_answer(solved.problem, solved.answer, Path(file).name), drawn))
    else:
        give(arguments, console, to_json(result_json(solved)) if wants_json(arguments) else result_text(solved))
    return _outcome(solved, arguments, console)


def _problem(file: str, arguments: Arguments) -> Problem:
    devices = arguments.value("--devices")
    contention = arguments.value("--contention")
    try:
        text = read_text(file, _MOST_BYTES, Pipes.READ)
    except UnicodeDecodeError:
        raise UsageError(f"`{file}` is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"`{file}` cannot be read: {getattr(error, 'strerror', None) or error}") from None
    problem = read_instance(
        file, text, None if devices is None else devices_of(devices), None if contention is None else Contention(contention)
    )  # fmt: skip
    objectives = tuple(Objective(name) for name in dict.fromkeys(arguments.values("--objective")))
    return replace(problem, objectives=objectives) if objectives else problem


def _outcome(solved: Solved, arguments: Arguments, console: Console) -> Exit:
    answer = solved.answer
    if answer.conflict is not None:
        console.note(_conflict(answer.conflict))
    if answer.status is Status.IMPOSSIBLE:
        return Exit.REJECTED
    if answer.status is Status.ABORTED or answer.schedule is None:
        console.note("rho: the search was cut off before it was certain of anything; give it more with --budget or --prove")
        return Exit.BUDGET
    if answer.status is Status.GAP:
        gap = gap_of(answer.values[0], answer.lower_bound)
        asked = arguments.has("--require-optimal")
        kind = "error" if asked else "note"
        console.note(
            f"{kind}[SCH302]: not proved optimal: the value is {answer.values[0]}, the lower bound {answer.lower_bound}, the gap "
            f"{gap:.1f} %"
        )
        return Exit.BUDGET if asked else Exit.OK
    return Exit.OK


def _conflict(conflict: Conflict) -> str:
    lines = [f"error[{conflict.code}]: no schedule can be made"]
    lines += dict.fromkeys(f"  directive {d.line.number}: {d.line.text}" for d in conflict.directives)
    lines += [f"  {fact}" for fact in conflict.facts]
    if conflict.hint:
        lines.append(f"  help: {conflict.hint}")
    return "\n".join(lines)
