"""Runs a program from its text to its outcome: check, load, run, verify, save; errors become diagnostics and an exit code.

`run`, `eval`, `eval --lines`, `test` and the REPL share this; nothing here prints.  Callbacks report the stages of a run and, on
request, its phases.  A run may have a time limit.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from ...lang.diagnostics.model import Code, Diagnostic, RhoError, RunFailed
from ...lang.diagnostics.render import diagnostic_json
from ...lang.support.records import dataclass
from ...lang.syntax.source import Source, Span
from ..console.process_exit import RETRY_SECONDS, Alarm, Exit, ExitMessage, exit_on_alarm, is_importing
from ..console.standard_streams import DEFAULT_DIGITS, Console, exit_of, print_json, show_diagnostics, with_input_options
from ..display.values import DisplayedValue
from ..pipeline import Session
from ..pipeline_types import NO_CALLBACKS, Checked, LoadedProgram, RunCallbacks, Stage
from .run_request import Outcome, RunRequest, empty_outcome, require_complete
from .scheduling import Scheduling

if TYPE_CHECKING:
    pass


# ---------------------------------------------------------------------------------------------------- time limit
#
# `--max-time` stops a run that takes longer, with nothing printed (exit 5).
#
# It needs the process's interval timer and the main thread.  Elsewhere the limit is checked when the run is over, and its results
# are then withheld.  `shell.console.process_exit` ends a process whose main thread is in compiled code.

class TimeUp(RhoError):
    """The time limit has passed (exit code 5)."""


class TimeLimit:
    """The state of a time limit of `seconds`.  `saving`: outputs are being written; `expired`: the limit has passed."""

    def __init__(self, seconds: float, source: Source) -> None:
        self.seconds, self.source = seconds, source
        self.saving = self.expired = False

    def expired_error(self) -> TimeUp:
        left = "each output is complete or as it was before" if self.saving else "no output was written"
        return TimeUp([Diagnostic(
            Code.E709, f"this program ran longer than the {self.seconds:g} seconds it was given", Span(self.source.name, 0, 0),
            notes=(f"nothing was printed and {left}",),
        )])  # fmt: skip


@contextmanager
def time_limit(seconds: float | None, source: Source, message: Callable[[TimeUp], ExitMessage]) -> Iterator[TimeLimit]:
    """Raise TimeUp once `seconds` have passed inside the block; None is no limit.
    `message` makes the output of the process if the watchdog has to end it."""
    deadline = TimeLimit(seconds or 0.0, source)
    if seconds is None:
        yield deadline
        return
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        start = time.monotonic()
        yield deadline
        if time.monotonic() - start > seconds:
            raise deadline.expired_error()
        return

    def stop(number: int, frame: FrameType | None) -> None:
        deadline.expired = True
        if not is_importing(frame):
            raise Alarm
        signal.setitimer(signal.ITIMER_REAL, RETRY_SECONDS)

    before = signal.signal(signal.SIGALRM, stop)
    try:
        with exit_on_alarm(lambda: message(deadline.expired_error())):
            try:
                signal.setitimer(signal.ITIMER_REAL, seconds)
                yield deadline
                if deadline.expired:  # it expired during the last import
                    raise Alarm
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
    except BaseException:
        if deadline.expired:  # a library may raise an error of its own in place of Alarm
            raise deadline.expired_error() from None
        raise
    finally:
        signal.signal(signal.SIGALRM, before)


# ---------------------------------------------------------------------------------------------------- running

@dataclass(frozen=True, slots=True)
class RunReport:
    """The result of `run_program`: the outcome (empty unless `exit` is OK), all diagnostics, the sources they point into."""

    exit: Exit
    outcome: Outcome
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]

    def json(self, digits: int = DEFAULT_DIGITS) -> dict[str, Any]:
        return self.outcome.json([diagnostic_json(one, self.sources) for one in self.diagnostics], digits)


Save = Callable[[LoadedProgram, Outcome], None]


def run_program(
    source: Source, session: Session, request: RunRequest, *, verify: bool = False, analyze: bool = False,
    save: Save | None = None, ready: Callable[[LoadedProgram], None] | None = None, scheduling: Scheduling | None = None,
    callbacks: RunCallbacks = NO_CALLBACKS, json: bool = False, checked: Checked | None = None,
) -> RunReport:  # fmt: skip
    """Check, load, run, verify and save.

    `ready` is called before any data is read, `save` once everything has succeeded.  The time limit of `request` covers
    everything but checking.  `json`: a process that the limit ends prints JSON.  `checked`: the program's check, if there is one.
    UsageError: a name of the request that the program does not have; errors of stages are in the report.
    """
    callbacks.stage(Stage.CHECK)
    checked = checked or session.check_file(source)
    if not checked.accepted:
        return RunReport(_rejection_exit(checked), empty_outcome(), checked.diagnostics, checked.sources)
    core = checked.core
    assert core is not None
    require_complete(core, request)

    def failed(error: RhoError) -> RunReport:
        explained = with_input_options(error.diagnostics, checked.sources, request.inputs)
        sources = {**error.sources, **checked.sources}
        return RunReport(exit_of(error), empty_outcome(), (*checked.diagnostics, *explained), sources)

    try:
        with time_limit(request.limits.seconds, source, lambda up: exit_message(failed(up), json=json)) as deadline:
            callbacks.stage(Stage.LOAD)
            loaded = session.load(checked, request, scheduling=scheduling)
            if analyze or verify:
                from .streaming import require_one_run

                require_one_run(loaded, "--analyze" if analyze else "--verify")
            if ready is not None:
                ready(loaded)
            callbacks.stage(Stage.RUN, loaded)
            outcome = _measured(session, loaded, callbacks) if analyze else session.run(loaded, observe=callbacks.observer)
            with outcome.discarding_unsaved():
                if verify:
                    callbacks.stage(Stage.VERIFY, loaded)
                    compare(outcome.read_back(), session.interpret(loaded), source)
                if save is not None:
                    callbacks.stage(Stage.SAVE, loaded)
                    deadline.saving = True
                    save(loaded, outcome)
    except RhoError as error:
        return failed(error)
    return RunReport(Exit.OK, outcome, (*checked.diagnostics, *loaded.warnings), checked.sources)


def exit_message(report: RunReport, *, json: bool) -> ExitMessage:
    """The output of a process that ends with this report."""
    from io import StringIO

    out, err = StringIO(), StringIO()
    console = Console(out, err, StringIO(), {})
    show_diagnostics(console, report.diagnostics, report.sources)
    if json:
        print_json(console, report.json(console.digits))
    return ExitMessage(out.getvalue(), err.getvalue(), report.exit)


def _measured(session: Session, loaded: LoadedProgram, callbacks: RunCallbacks) -> Outcome:
    from ..display.costs import run_measured

    return run_measured(loaded, lambda observe: session.run(loaded, observe=observe or callbacks.observer))


def _rejection_exit(checked: Checked) -> Exit:
    """The exit code of a rejected program: REFUSED if a module may not be read, else REJECTED."""
    return Exit.REFUSED if any(one.code == Code.E707 for one in checked.diagnostics) else Exit.REJECTED


# ---------------------------------------------------------------------------------------------------- verification
#
# `--verify` compares the planned run with the reference interpreter, value by value.
#
# Integers, bool and text must be equal; floats within a relative tolerance of the largest magnitude in the array, because the
# two differ in the order of contractions and in the algorithms of linear algebra.

_TOLERANCE = {"f32": 1e-4, "c64": 1e-4, "f64": 1e-9, "c128": 1e-9}


def compare(planned: Outcome, reference: Outcome, source: Source) -> None:
    """Raise RunFailed with one diagnostic for every value that differs."""
    problems: list[str] = []
    if len(planned.printed) != len(reference.printed):
        problems.append(f"{len(planned.printed)} values were printed, the reference prints {len(reference.printed)}")
    pairs = list(zip(planned.printed, reference.printed, strict=False))
    pairs += [(shown, reference.outputs[name]) for name, shown in planned.outputs.items()]
    for number, (shown, expected) in enumerate(pairs, 1):
        difference = describe_difference(shown, expected)
        if difference:
            problems.append(f"{shown.name or f'printed value {number}'}: {difference}")
    if problems:
        span = Span(source.name, 0, 0)
        raise RunFailed([Diagnostic(Code.BUG, f"the planned run differs from the reference: {text}", span) for text in problems])


def describe_difference(shown: DisplayedValue, expected: DisplayedValue) -> str:
    """The text on how a value differs from the expected one; empty if it does not."""
    if shown.kind is not expected.kind or shown.shape != expected.shape:
        return f"{shown.kind.value}{list(shown.shape)} instead of {expected.kind.value}{list(expected.shape)}"
    left, right = _flat(shown.data()), _flat(expected.data())
    tolerance = _TOLERANCE.get(shown.kind.value, 0.0)
    finite = [abs(item) for item in right if isinstance(item, int | float) and math.isfinite(item)]
    allowed = tolerance * max(finite, default=0.0)
    for position, (one, other) in enumerate(zip(left, right, strict=True)):
        if one != other and not (isinstance(one, int | float) and isinstance(other, int | float) and abs(one - other) <= allowed):
            return f"item {position} is {one} instead of {other}"
    return ""


def _flat(data: Any) -> list[Any]:
    if not isinstance(data, list):
        return [data]
    return [item for row in data for item in _flat(row)]
