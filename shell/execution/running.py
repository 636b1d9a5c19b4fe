"""One program from its text to its outcome, with every problem turned into diagnostics and an exit code.

`run`, `eval`, `eval --lines`, `test` and the REPL share this; nothing here prints.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, RhoError
from ...lang.records import dataclass
from ...lang.render import diagnostic_json
from ...lang.source import Source
from ..cli.console import DEFAULT_DIGITS, Console
from ..cli.ending import LastWords
from ..cli.exits import Exit
from ..cli.messages import exit_of, show, with_options
from ..cli.requests import Request, check_names
from ..cli.results import print_json
from ..cli.timing import time_limit
from ..session import Session
from ..stages import Checked, Engine, Loaded
from .outcome import Outcome, nothing
from .scheduling import Scheduling
from .watching import UNWATCHED, Stage, Watch


@dataclass(frozen=True, slots=True)
class Report:
    """What happened: the outcome (empty unless `exit` is OK), all diagnostics, the sources they point into."""

    exit: Exit
    outcome: Outcome
    diagnostics: tuple[Diagnostic, ...]
    sources: Mapping[str, Source]

    def json(self, digits: int = DEFAULT_DIGITS) -> dict[str, Any]:
        return self.outcome.json([diagnostic_json(found, self.sources) for found in self.diagnostics], digits)


Save = Callable[[Loaded, Outcome], None]


def run_program(
    source: Source, session: Session, request: Request, *, verify: bool = False, analyze: bool = False,
    save: Save | None = None, ready: Callable[[Loaded], None] | None = None, scheduling: Scheduling | None = None,
    watch: Watch = UNWATCHED, json: bool = False,
) -> Report:  # fmt: skip
    """Check, load, run, verify, save.  `ready` is called before any data is read, `save` once everything has succeeded.

    The limit on time is that of everything but checking.  `json`: how a process that it ends says so."""
    watch.stage(Stage.CHECK)
    checked = session.check(source)
    if not checked.accepted:
        return Report(_rejection(checked), nothing(), checked.diagnostics, checked.sources)
    core = checked.core
    assert core is not None
    check_names(core, request)

    def failed(error: RhoError) -> Report:
        told = with_options(error.diagnostics, checked.sources, request.inputs)
        return Report(exit_of(error), nothing(), (*checked.diagnostics, *told), checked.sources)

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
                    from .verifying import compare

                    watch.stage(Stage.VERIFY, loaded)
                    compare(outcome.whole(), session.run(loaded, Engine.REFERENCE), source)
                if save is not None:
                    watch.stage(Stage.SAVE, loaded)
                    allowance.saving = True
                    save(loaded, outcome)
    except RhoError as error:
        return failed(error)
    return Report(Exit.OK, outcome, (*checked.diagnostics, *loaded.warnings), checked.sources)


def last_words(report: Report, *, json: bool) -> LastWords:
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
    return Exit.REFUSED if any(found.code == Code.E707 for found in checked.diagnostics) else Exit.REJECTED
