"""The `)` commands of a session.

Each takes the rest of its line and writes to the console; what goes wrong is a message, never the end of the session.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from enum import Enum
from threading import Lock
from typing import TYPE_CHECKING

from ...lang.diagnostics.help_pages import explain, suggested_word
from ...lang.diagnostics.model import Rejected, RhoError, pointing_into
from ...lang.primitives.table import did_you_mean
from ..console import messages
from ..console.messages import read_source, write_text
from ..console.process_exit import Exit
from ..console.standard_streams import Console
from ..console.usage_errors import UsageError, nearest
from ..display.estimates import duration, predicted_ns, uncalibrated_note
from . import status_line as setting
from .status_line import ReplSettings, show

if TYPE_CHECKING:
    from ..pipeline_types import LoadedProgram
    from ..plotting.charts import Picture
    from ..workspace.workspace import EvaluationRequest, Workspace


class CommandResult(Enum):
    GO_ON = "the session goes on"
    LEAVE = "the session ends"


class Desk:
    """What commands work on.  A workspace given as a function is made when it is first needed, so that a prompt comes first."""

    def __init__(self, workspace: Workspace | Callable[[], Workspace], console: Console, settings: ReplSettings) -> None:
        self._given = workspace
        self._lock = Lock()
        self.console, self.settings = console, settings

    @property
    def workspace(self) -> Workspace:
        with self._lock:
            if callable(self._given):
                self._given = self._given()
            return self._given

    @workspace.setter
    def workspace(self, workspace: Workspace) -> None:
        self._given = workspace

    @property
    def types(self) -> Mapping[str, str]:
        """The types of the names; none while there is no workspace yet.  Never waits."""
        given = self._given
        return {} if callable(given) else given.state.types


COMMANDS: tuple[tuple[str, str], ...] = (
    (")type", "EXPR            type and quantities of an expression"),
    (")explain", "CODE or ⍤       the page of an error code or a glyph"),
    (")plan", "EXPR            how it would run: phases, memory, cost"),
    (")time", "EXPR            run it and time it, beside the estimate"),
    (")plot", "[KIND] EXPR     draw it; KIND is line, bars, scatter or hist; of `a ⋄ b ⋄ …` a is the x axis"),
    (")help", "[⍤ or NAME]     what a glyph, its name or a library function does"),
    (")search", "WORDS or TYPE   functions by what they do, or by type: f64[n] → f64"),
    (")names", "[START]         what has been named, with types"),
    (")forget", "NAME…           take names away"),
    (")undo", "                take back the last entry"),
    (")load", "FILE            enter a saved session or a program"),
    (")save", "FILE.md         write the session as Markdown that `rho test` accepts"),
    (")set", "[NAME VALUE]    settings"),
    (")quit", "                leave"),
)
HELP = """\
      x ← ⍳5          names a value; an expression alone prints, and is `ans` then
      `iota or `i      types ⍳; a pause after ` shows all keys; Tab completes"""


def perform(line: str, desk: Desk) -> tuple[CommandResult, Exit]:
    """Do what a line that starts with `)` says."""
    word, _, rest = line.strip().partition(" ")
    if word in (")quit", ")exit", ")off"):
        return CommandResult.LEAVE, Exit.OK
    action = _ACTIONS.get(word)
    if action is None:
        guess = nearest(word, [name for name, _ in COMMANDS])
        desk.console.note(f"unknown command {word}; " + (f"did you mean {guess}?" if guess else ")help lists them"))
        return CommandResult.GO_ON, Exit.USAGE
    return CommandResult.GO_ON, answered(lambda: action(rest.strip(), desk), desk)


def answered(action: Callable[[], Exit], desk: Desk) -> Exit:
    """What a command does; what is wrong with what it is asked is shown."""
    try:
        return action()
    except UsageError as error:
        desk.console.note(f"{error.message}" + (f"\n  {error.hint}" if error.hint else ""))
        return error.exit
    except RhoError as error:
        messages.show_diagnostics(desk.console, error.diagnostics, error.sources)
        return messages.exit_of(error)


def _asked(rest: str, desk: Desk) -> EvaluationRequest:
    """An expression checked.  UsageError: there is none.  Rejected."""
    if not rest:
        raise UsageError("an expression is needed", "for example: )type 1 2+3 4")
    asked = desk.workspace.ask(rest)
    if not asked.checked.accepted:
        raise Rejected(asked.diagnostics, asked.sources)
    messages.show_diagnostics(desk.console, asked.diagnostics, asked.sources)
    return asked


def _type(rest: str, desk: Desk) -> Exit:
    if desk.workspace.state.types.get(rest) in ("function", "operator", "module"):
        for line in desk.workspace.describe(rest):
            desk.console.print(line)
        return Exit.OK
    asked = _asked(rest, desk)
    checked = asked.checked
    desk.console.print(checked.last or "nothing")
    if desk.console.interactive and checked.result is not None:
        from ...lang.bind.statement_dependencies import words

        mentioned = words(rest)
        for quantity in checked.result.quantities():
            if quantity.name in mentioned:
                desk.console.print(f"  {quantity.line()}")
    return Exit.OK


def _plan(rest: str, desk: Desk) -> Exit:
    asked = _asked(rest, desk)
    from ...backend.schedule.plan.plan_text import plan_text
    from ..display.analysis import regrouped_graph, rewritten_lines
    from ..display.costs import cost_of_program
    from ..pipeline_types import PlanDetail

    prepared = desk.workspace.prepare(asked, PlanDetail.FULL)
    peak = max(prepared.plan.peak.values(), default=0)
    costs = cost_of_program(prepared.core).lines(prepared.bound.sizes, peak, regrouped_graph(prepared.bound.graph))
    desk.console.print("\n".join([plan_text(prepared.plan), *rewritten_lines(prepared.bound.graph, {}), *costs]))
    estimate = predicted_ns(prepared.bound)
    if estimate:
        desk.console.print(f"time    ~{duration(estimate)}{uncalibrated_note()}")
    return Exit.OK


RUNS, MOST_SECONDS = 20, 2.0


def _time(rest: str, desk: Desk) -> Exit:
    asked = _asked(rest, desk)
    from statistics import median

    from ...backend.schedule.plan.plan_text import bytes_text

    prepared = desk.workspace.prepare(asked)
    first, times = _spent(prepared, desk), list[int]()
    while len(times) < RUNS and first + sum(times) < MOST_SECONDS * 1e9:
        times.append(_spent(prepared, desk))
    times = times or [first]
    estimate = predicted_ns(prepared.bound)
    parts = [duration(median(times)), f"first {duration(first)}", f"{len(times)} run{'s' * (len(times) != 1)}"]
    parts += [f"estimate ~{duration(estimate)}{uncalibrated_note()}"] if estimate else []
    desk.console.print(" · ".join([*parts, bytes_text(sum(prepared.plan.peak.values()))]))
    return Exit.OK


def _spent(prepared: LoadedProgram, desk: Desk) -> int:
    """Nanoseconds of a run."""
    start = time.perf_counter_ns()
    desk.workspace.session.run(prepared)
    return time.perf_counter_ns() - start


def _plot(rest: str, desk: Desk) -> Exit:
    picture = pictured(rest, desk)
    from ..plotting.charts import draw

    for line in draw(picture, desk.console):
        desk.console.print(line)
    return Exit.OK


def pictured(rest: str, desk: Desk) -> Picture:
    """The value of an expression made ready to be drawn.  UsageError: it cannot be.  RhoError: it has none."""
    from ..plotting.charts import Chart, NotDrawable, chart_of

    word, _, expression = rest.partition(" ")
    kinds = {kind.value: kind for kind in Chart if kind is not Chart.PLAIN}
    chart = kinds.get(word, Chart.PLAIN) if word not in desk.types else Chart.PLAIN
    asked = _asked(rest if chart is Chart.PLAIN else expression.strip(), desk)
    with pointing_into(asked.sources):
        outcome = desk.workspace.session.run(desk.workspace.prepare(asked))
    if not outcome.printed:
        raise UsageError("this has no value to draw", "for example: )plot 1○(⍳100)÷10")
    if len(outcome.printed) > 1 and chart is Chart.PLAIN:
        chart = Chart.LINE
    try:
        return chart_of(chart, outcome.printed, [one.name for one in outcome.printed])
    except NotDrawable as error:
        raise UsageError(str(error), error.hint) from None


def _explain(rest: str, desk: Desk) -> Exit:
    text = explain(rest)
    if text is None:
        raise UsageError(f"`{rest}` is neither a code nor a glyph{did_you_mean(suggested_word(rest) if rest else None)}")
    desk.console.print(text.rstrip("\n"))
    return Exit.OK


def _help(rest: str, desk: Desk) -> Exit:
    if not rest:
        desk.console.print("\n".join([HELP, *(f"{name:<9} {about}" for name, about in COMMANDS)]))
        return Exit.OK
    text = explain(rest)
    if text is None:
        from ..display import documentation

        entries = documentation.entries_named(rest)
        if not entries:
            raise UsageError(f"`{rest}` means nothing here{did_you_mean(suggested_word(rest))}", ")search looks in descriptions")
        text = "\n\n".join(documentation.entry_text(entry) for entry in entries)
    desk.console.print(text.rstrip("\n"))
    return Exit.OK


def _search(rest: str, desk: Desk) -> Exit:
    if not rest:
        raise UsageError("words or a type are needed", "for example: )search running sum")
    from ..searching.results import search

    answer = search(rest.split())
    for line in answer.lines():
        desk.console.print(line)
    for note in answer.notes:
        desk.console.note(note.replace("rho search", ")search").replace("'", ""))
    return Exit.OK if answer.hits else Exit.FAILED


def _names(rest: str, desk: Desk) -> Exit:
    for name, type in desk.workspace.state.types.items():
        if name.startswith(rest):
            desk.console.print(f"{name} : {type}")
    return Exit.OK


def _forget(rest: str, desk: Desk) -> Exit:
    unknown = [name for name in rest.split() if name not in desk.workspace.state.types]
    if unknown or not rest:
        raise UsageError(f"there is no name `{unknown[0]}`" if unknown else "names are needed")
    desk.workspace.forget(*rest.split())
    return Exit.OK


def _undo(rest: str, desk: Desk) -> Exit:
    undone = desk.workspace.undo()
    if undone is None:
        raise UsageError("there is nothing to take back")
    desk.console.note(f"taken back: {undone}")
    return Exit.OK


def _load(rest: str, desk: Desk) -> Exit:
    if not rest:
        raise UsageError("a file is needed", "for example: )load session.md")
    return load(rest, desk, show_values=True)


def load(path: str, desk: Desk, *, show_values: bool) -> Exit:
    """Enter a file as one: if something in it fails the session stays as it was."""
    source = read_source(path)
    from ..workspace.exchange import title_of, typed

    workspace = desk.workspace
    text = typed(source.text) if path.endswith(".md") else source.text
    state = workspace.state
    entered = workspace.enter(text, source.name if text == source.text else f"<{title_of(path)}>")
    messages.show_diagnostics(desk.console, entered.diagnostics, workspace.sources)
    for note in entered.notes:
        desk.console.note(note)
    if entered.exit is not Exit.OK:
        workspace.state = state
        return entered.exit
    for shown in entered.printed if show_values else ():
        show(shown, desk.console, desk.settings)
    return Exit.OK


def _save(rest: str, desk: Desk) -> Exit:
    if not rest:
        raise UsageError("a file is needed", "for example: )save session.md")
    from ..workspace.exchange import markdown, problems, title_of

    path = rest if rest.endswith(".md") else rest + ".md"
    text = markdown(desk.workspace.state, title_of(path))
    if not desk.workspace.session.permissions.may_write(path):
        raise UsageError(f"`{path}` may not be written")
    write_text(path, text)
    wrong = problems(text, path)
    count = len(desk.workspace.state.log)
    desk.console.note(f"{count} entr{'y' if count == 1 else 'ies'} saved in {path}")
    for problem in wrong:
        desk.console.note(f"as a program it does not hold ({problem})")
    return Exit.OK


def _set(rest: str, desk: Desk) -> Exit:
    name, _, value = rest.partition(" ")
    if not value.strip():
        for line in setting.shown(desk.settings):
            if line.split()[0] == name or not name:
                desk.console.print(line)
        return Exit.OK
    settings = setting.changed(desk.settings, name, value.strip())
    if isinstance(settings, str):
        raise UsageError(settings)
    desk.settings = settings
    if desk.console.interactive:
        setting.save(settings, desk.console.environment)
    return Exit.OK


_ACTIONS: dict[str, Callable[[str, Desk], Exit]] = {
    ")type": _type, ")explain": _explain, ")plan": _plan, ")time": _time, ")plot": _plot, ")help": _help, ")search": _search,
    ")names": _names, ")forget": _forget, ")undo": _undo, ")load": _load, ")save": _save, ")set": _set,
}  # fmt: skip
