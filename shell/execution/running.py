"""One program from its text to its outcome, with every problem turned into diagnostics and an exit code.

`run`, `eval`, `eval --lines`, `test` and the REPL share this; nothing here prints.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from ...lang.diagnostics.model import Code, Diagnostic, RhoError, RunFailed
from ...lang.diagnostics.render import diagnostic_json
from ...lang.support.records import dataclass
from ...lang.syntax.source import Source, Span
from ..console.messages import exit_of, print_json, show, with_options
from ..console.process_exit import Exit, LastWords
from ..console.standard_streams import DEFAULT_DIGITS, Console
from ..pipeline import Session
from ..pipeline_types import Checked, Engine, Loaded
from .outcome import DisplayedValue, Outcome, nothing
from .progress_events import UNWATCHED, Stage, Watch, time_limit
from .run_request import RunRequest, check_names
from .scheduling import Scheduling

# ---------------------------------------------------------------------------------------------------- running

@dataclass(frozen=True, slots=True)
class RunReport:
    """What happened: the outcome (empty unless `exit` is OK), all diagnostics, the sources they point into."""

    exit: Exit
    outcome: Outcome
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]

    def json(self, digits: int = DEFAULT_DIGITS) -> dict[str, Any]:
        return self.outcome.json([diagnostic_json(one, self.sources) for one in self.diagnostics], digits)


Save = Callable[[Loaded, Outcome], None]


def run_program(
    source: Source, session: Session, request: RunRequest, *, verify: bool = False, analyze: bool = False,
    save: Save | None = None, ready: Callable[[Loaded], None] | None = None, scheduling: Scheduling | None = None,
    watch: Watch = UNWATCHED, json: bool = False,
) -> RunReport:  # fmt: skip
    """Check, load, run, verify, save.  `ready` is called before any data is read, `save` once everything has succeeded.

    The limit on time is that of everything but checking.  `json`: how a process that it ends says so."""
    watch.stage(Stage.CHECK)
    checked = session.check(source)
    if not checked.accepted:
        return RunReport(_rejection(checked), nothing(), checked.diagnostics, checked.sources)
    core = checked.core
    assert core is not None
    check_names(core, request)

    def failed(error: RhoError) -> RunReport:
        explained = with_options(error.diagnostics, checked.sources, request.inputs)
        return RunReport(exit_of(error), nothing(), (*checked.diagnostics, *explained), checked.sources)

    try:
        with time_limit(request.limits.seconds, source, lambda up: last_words(failed(up), json=json)) as allowance:
            watch.stage(Stage.LOAD)
            loaded = session.load(checked, request, scheduling=scheduling)
            if analyze or verify:
                from .streaming import require_one_run

                require_one_run(loaded, "--analyze" if analyze else "--verify")
            if ready is not None:
                ready(loaded)
            watch.stage(Stage.RUN, loaded)
            outcome = _measured(session, loaded, watch) if analyze else session.run(loaded, observe=watch.observer)
            with outcome.kept_or_discarded():
                if verify:
                    watch.stage(Stage.VERIFY, loaded)
                    compare(outcome.read_back(), session.run(loaded, Engine.REFERENCE), source)
                if save is not None:
                    watch.stage(Stage.SAVE, loaded)
                    allowance.saving = True
                    save(loaded, outcome)
    except RhoError as error:
        return failed(error)
    return RunReport(Exit.OK, outcome, (*checked.diagnostics, *loaded.warnings), checked.sources)


def last_words(report: RunReport, *, json: bool) -> LastWords:
    """What a process says that ends with this report."""
    from io import StringIO

    out, err = StringIO(), StringIO()
    console = Console(out, err, StringIO(), {})
    show(console, report.diagnostics, report.sources)
    if json:
        print_json(console, report.json(console.digits))
    return LastWords(out.getvalue(), err.getvalue(), report.exit)


def _measured(session: Session, loaded: Loaded, watch: Watch) -> Outcome:
    from ..display.costs import measured

    return measured(loaded, lambda observe: session.run(loaded, observe=observe or watch.observer))


def _rejection(checked: Checked) -> Exit:
    """A permission refused while modules were read is not the checker's."""
    return Exit.REFUSED if any(one.code == Code.E707 for one in checked.diagnostics) else Exit.REJECTED


# ---------------------------------------------------------------------------------------------------- verifying
#
# `--verify`: the planned run compared with the reference interpreter, value by value.
#
# Integers, bool and text must be equal; floats within a relative tolerance of the largest magnitude in the array, because the
# orders of contractions and the methods of linear algebra differ between the two.

_TOLERANCE = {"f32": 1e-4, "c64": 1e-4, "f64": 1e-9, "c128": 1e-9}


def compare(planned: Outcome, reference: Outcome, source: Source) -> None:
    """RunFailed with one diagnostic for every value that differs."""
    problems: list[str] = []
    if len(planned.printed) != len(reference.printed):
        problems.append(f"{len(planned.printed)} values were printed, the reference prints {len(reference.printed)}")
    pairs = list(zip(planned.printed, reference.printed, strict=False))
    pairs += [(shown, reference.outputs[name]) for name, shown in planned.outputs.items()]
    for number, (shown, expected) in enumerate(pairs, 1):
        difference = differs(shown, expected)
        if difference:
            problems.append(f"{shown.name or f'printed value {number}'}: {difference}")
    if problems:
        span = Span(source.name, 0, 0)
        raise RunFailed([Diagnostic(Code.BUG, f"the planned run differs from the reference: {text}", span) for text in problems])


def differs(shown: DisplayedValue, expected: DisplayedValue) -> str:
    """What is different, or nothing."""
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
