"""The read-eval-print loop (reads an entry, runs it and prints its values; handles interrupts) and the `)` commands of a
session.

A command gets the rest of its line and writes to the console; errors never end the session.
"""

from __future__ import annotations

import atexit
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from enum import Enum
from itertools import zip_longest
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from ...lang.diagnostics.help_pages import explain, suggested_word
from ...lang.diagnostics.model import Diagnostic, Rejected, RhoError, pointing_into
from ...lang.primitives.table import did_you_mean
from ...lang.support.records import dataclass
from ...lang.syntax.source import Source
from ..console import standard_streams
from ..console.process_exit import Exit, UsageError, interruptible, nearest
from ..console.standard_streams import Console, read_source, save_text
from ..display.costs import duration, function_cost_line, predicted_ns, uncalibrated_note, value_cost_line, with_one_name
from ..display.values import line_of
from ..workspace.exchange import CONTINUATION
from . import status_line as setting
from .status_line import ReplSettings, concrete_type, repl_folder, show_value

if TYPE_CHECKING:
    from ...typechecker.check import CheckResult
    from ..pipeline_types import LoadedProgram
    from ..plotting.charts import Picture
    from ..workspace.workspace import CheckedEntry, Workspace


class CommandResult(Enum):
    """The result of a command: whether the session goes on, and the exit code."""

    CONTINUE = "the session goes on"
    QUIT = "the session ends"


@dataclass(frozen=True, slots=True)
class LastEntry:
    """The text that was entered last, what was said about it, and whether it was accepted."""

    source: Source
    diagnostics: tuple[Diagnostic, ...]
    accepted: bool


class CommandContext:
    """The workspace, console and settings that commands work on.

    A workspace given as a function is made when it is first used, so that the prompt appears at once.
    """

    def __init__(self, workspace: Workspace | Callable[[], Workspace], console: Console, settings: ReplSettings) -> None:
        self._source = workspace
        self._lock = Lock()
        self.console, self.settings = console, settings
        self.last: LastEntry | None = None
        self.explains_fixes = console.interactive

    @property
    def workspace(self) -> Workspace:
        with self._lock:
            if callable(self._source):
                self._source = self._source()
            return self._source

    @workspace.setter
    def workspace(self, workspace: Workspace) -> None:
        self._source = workspace

    @property
    def types(self) -> Mapping[str, str]:
        """The types of the session's names; empty until there is a workspace.  Never waits."""
        source = self._source
        return {} if callable(source) else source.state.types


COMMANDS: tuple[tuple[str, str], ...] = (
    (")type", "EXPR            type and quantities of an expression"),
    (")explain", "CODE or ⍤       the page of an error code or a glyph"),
    (")tree", "EXPR            how it groups: with all parentheses, and as a tree"),
    (")trace", "STATEMENT       the value of each step, in order"),
    (")fix", "                apply what was marked [fix] in the last entry, and enter that"),
    (")plan", "EXPR            how it would run: phases, memory, cost; of a function, its cost as formulas"),
    (")time", "EXPR            run it and time it, beside the estimate"),
    (")plot", "[KIND] EXPR     draw it; KIND is line, bars, scatter or hist; of `a ⋄ b ⋄ …` a is the x axis"),
    (")help", "[⍤ or NAME]     what a glyph, its name or a library function does"),
    (")search", "WORDS or TYPE   functions by what they do, or by type: f64[n] → f64"),
    (")names", "[START]         what has been named: types and signatures"),
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


def run_command(line: str, context: CommandContext) -> tuple[CommandResult, Exit]:
    """Run the command in a line that starts with `)`; returns whether the session goes on, and the exit code."""
    word, _, rest = line.strip().partition(" ")
    if word in (")quit", ")exit", ")off"):
        return CommandResult.QUIT, Exit.OK
    action = _ACTIONS.get(word)
    if action is None:
        guess = nearest(word, [name for name, _ in COMMANDS])
        hint = _FOREIGN_COMMANDS.get(word) or (f"did you mean {guess}?" if guess else ")help lists them")
        context.console.note(f"unknown command {word}; {hint}")
        return CommandResult.CONTINUE, Exit.USAGE
    return CommandResult.CONTINUE, reporting_errors(lambda: action(rest.strip(), context), context)


_FOREIGN_COMMANDS = {
    **dict.fromkeys((")vars", ")fns", ")ops", ")nms"), ")names lists values and functions"),
    **dict.fromkeys((")clear", ")erase", ")drop"), ")forget NAME… takes names away, )undo the last entry"),
    **dict.fromkeys((")copy", ")pcopy"), ")load enters a file, `use` a module"),
    ")lib": ")search looks in the library",
}
"""The commands for those of other languages' sessions."""


def reporting_errors(action: Callable[[], Exit], context: CommandContext) -> Exit:
    """`action()`, with its usage errors and diagnostics shown; returns the exit code."""
    try:
        return action()
    except UsageError as error:
        context.console.note(f"{error.message}" + (f"\n  {error.hint}" if error.hint else ""))
        return error.exit
    except RhoError as error:
        standard_streams.show_diagnostics(context.console, error.diagnostics, error.sources)
        return standard_streams.exit_of(error)


def _checked_expression(rest: str, context: CommandContext) -> CheckedEntry:
    """Check an expression in the session.  UsageError: it is empty; Rejected: it has errors."""
    if not rest:
        raise UsageError("an expression is needed", "for example: )type 1 2+3 4")
    entry = context.workspace.check(rest)
    if not entry.checked.accepted:
        raise Rejected(entry.diagnostics, entry.sources)
    standard_streams.show_diagnostics(context.console, entry.diagnostics, entry.sources)
    return entry


def _type(rest: str, context: CommandContext) -> Exit:
    function = _function(rest, context)
    if function is not None:
        known = rest in context.types
        for line in context.workspace.describe(rest) if known else function.describe(_FUNCTION):
            context.console.print(line if known else line.replace(_FUNCTION, rest, 1))
        if context.console.interactive and (cost := function_cost_line(function, _FUNCTION)):
            context.console.print(f"  {cost}; `)plan {rest}` has formulas")
        return Exit.OK
    if context.types.get(rest) in ("operator", "module"):
        context.console.print("\n".join(context.workspace.describe(rest)))
        return Exit.OK
    entry = _checked_expression(rest, context)
    checked = entry.checked
    context.console.print(checked.last or "nothing")
    if context.console.interactive and checked.result is not None:
        from ...lang.bind.statement_dependencies import words

        mentioned = words(rest)
        for quantity in checked.result.quantities():
            if quantity.name in mentioned:
                context.console.print(f"  {quantity.line()}")
        cost = value_cost_line(context.workspace.prepare(entry).bound) if checked.core and checked.core.block.ops else ""
        if cost:
            context.console.print(f"  {cost}")
    return Exit.OK


_FUNCTION = "∆∆function"


def _function(text: str, context: CommandContext) -> CheckResult | None:
    """The program `∆∆function ← text`, if the text (a name, a member of a module, an expression) is a function."""
    if not text or "←" in text or context.types.get(text, "function") != "function":
        return None
    checked = context.workspace.check(f"{_FUNCTION} ← {text}").checked
    return checked.result if checked.accepted and checked.types.get(_FUNCTION) == "function" else None


def _tree(rest: str, context: CommandContext) -> Exit:
    from .grouping import grouping_of

    if not rest:
        raise UsageError("an expression is needed", "for example: )tree (+/x)÷≢x")
    for line in grouping_of(rest, context.workspace.state.kinds).lines():
        context.console.print(line)
    return Exit.OK


def _trace(rest: str, context: CommandContext) -> Exit:
    """Show the value of each part of a statement, in the order of evaluation; the session stays as it is."""
    from .grouping import grouping_of, short

    if not rest:
        raise UsageError("a statement is needed", "for example: )trace (+/x)÷≢x")
    workspace = context.workspace
    before, rows = workspace.state, list[tuple[str, str, str]]()
    try:
        for step, name in grouping_of(rest, before.kinds).steps():
            entered, state = workspace.evaluate(step)
            if entered.exit is Exit.OK and name:
                workspace.state = state
                entered, _ = workspace.evaluate(name)
            for label, shown in zip_longest([short(step)], entered.printed, fillvalue=""):
                if not isinstance(shown, str):
                    type = concrete_type(shown) if shown.shape else ""
                    rows.append((label, type, line_of(shown.value, kind=shown.kind, digits=context.settings.digits)))
            if entered.exit is not Exit.OK:
                break
    finally:
        workspace.state = before
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for step, type, value in rows:
        columns = [f"{step:{widths[0]}}", *([f"{type:{widths[1]}}"] if widths[1] else []), value]
        context.console.print("  ".join(columns).rstrip())
    if entered.exit is not Exit.OK:
        standard_streams.show_diagnostics(context.console, entered.diagnostics, workspace.sources)
    return entered.exit


def _fix(rest: str, context: CommandContext) -> Exit:
    """Enter the last entry again with the fixes of its messages, in place of it if it was accepted."""
    from ..console.apply_fixes import independent_fixes, with_fixes

    last = context.last
    fixable = () if last is None else independent_fixes(last.diagnostics, last.source)
    if last is None or not fixable:
        elsewhere = [fix.title for one in (() if last is None else last.diagnostics) for fix in one.fixes]
        raise UsageError("the last entry has no [fix]", f"of an earlier entry: {elsewhere[0]}" if elsewhere else "")
    text = with_fixes(last.source, [diagnostic.fixes[0] for diagnostic in fixable]).text
    if last.accepted:
        context.workspace.undo()
    context.console.note("\n".join(f"      {line}" for line in text.splitlines()))
    return handle_entry(text, context)[1]


def _plan(rest: str, context: CommandContext) -> Exit:
    function = _function(rest, context)
    if function is not None:
        from ..display.costs import costs_of_definitions, definition_lines

        for line in definition_lines(costs_of_definitions(with_one_name(function, _FUNCTION))):
            context.console.print(line.replace(_FUNCTION, rest, 1))
        return Exit.OK
    entry = _checked_expression(rest, context)
    from ...backend.schedule.plan.plan_text import plan_text
    from ..display.analysis import regrouped_graph, rewritten_lines
    from ..display.costs import cost_of_program

    prepared = context.workspace.prepare(entry, full=True)
    peak = max(prepared.plan.peak.values(), default=0)
    costs = cost_of_program(prepared.core).lines(prepared.bound.sizes, peak, regrouped_graph(prepared.bound.graph))
    context.console.print("\n".join([plan_text(prepared.plan), *rewritten_lines(prepared.bound.graph, lambda span: ""), *costs]))
    estimate = predicted_ns(prepared.bound)
    if estimate:
        context.console.print(f"time    ~{duration(estimate)}{uncalibrated_note()}")
    return Exit.OK


RUNS, MAXIMUM_TIMING_SECONDS = 20, 2.0


def _time(rest: str, context: CommandContext) -> Exit:
    entry = _checked_expression(rest, context)
    from statistics import median

    from ...backend.schedule.plan.plan_text import bytes_text

    prepared = context.workspace.prepare(entry)
    first, times = _run_ns(prepared, context), list[int]()
    while len(times) < RUNS and first + sum(times) < MAXIMUM_TIMING_SECONDS * 1e9:
        times.append(_run_ns(prepared, context))
    times = times or [first]
    estimate = predicted_ns(prepared.bound)
    parts = [duration(median(times)), f"first {duration(first)}", f"{len(times)} run{'s' * (len(times) != 1)}"]
    parts += [f"estimate ~{duration(estimate)}{uncalibrated_note()}"] if estimate else []
    context.console.print(" · ".join([*parts, bytes_text(sum(prepared.plan.peak.values()))]))
    return Exit.OK


def _run_ns(prepared: LoadedProgram, context: CommandContext) -> int:
    """Run a program; returns the nanoseconds that it took."""
    start = time.perf_counter_ns()
    context.workspace.session.run(prepared)
    return time.perf_counter_ns() - start


def _plot(rest: str, context: CommandContext) -> Exit:
    picture = picture_of(rest, context)
    from ..plotting.charts import draw

    for line in draw(picture, context.console):
        context.console.print(line)
    return Exit.OK


def picture_of(rest: str, context: CommandContext) -> Picture:
    """Run `[KIND] EXPR` and make the picture of its values.  UsageError: they cannot be drawn; RhoError: the run fails."""
    from ..plotting.charts import Chart, NotDrawable, chart_of

    word, _, expression = rest.partition(" ")
    kinds = {kind.value: kind for kind in Chart if kind is not Chart.PLAIN}
    chart = kinds.get(word, Chart.PLAIN) if word not in context.types else Chart.PLAIN
    entry = _checked_expression(rest if chart is Chart.PLAIN else expression.strip(), context)
    with pointing_into(entry.sources):
        outcome = context.workspace.session.run(context.workspace.prepare(entry))
    if not outcome.printed:
        raise UsageError("this has no value to draw", "for example: )plot 1○(⍳100)÷10")
    if len(outcome.printed) > 1 and chart is Chart.PLAIN:
        chart = Chart.LINE
    try:
        return chart_of(chart, outcome.printed, [one.name for one in outcome.printed])
    except NotDrawable as error:
        raise UsageError(str(error), error.hint) from None


def _explain(rest: str, context: CommandContext) -> Exit:
    text = explain(rest)
    if text is None:
        raise UsageError(f"`{rest}` is neither a code nor a glyph{did_you_mean(suggested_word(rest) if rest else None)}")
    context.console.print(text.rstrip("\n"))
    return Exit.OK


def _help(rest: str, context: CommandContext) -> Exit:
    if not rest:
        context.console.print("\n".join([HELP, *(f"{name:<9} {about}" for name, about in COMMANDS)]))
        return Exit.OK
    from ..display import documentation

    text = explain(rest) or "\n\n".join(map(documentation.entry_text, documentation.entries_named(rest)))
    if not text:
        raise UsageError(f"`{rest}` means nothing here{did_you_mean(suggested_word(rest))}", ")search looks in descriptions")
    context.console.print(text.rstrip("\n"))
    return Exit.OK


def _search(rest: str, context: CommandContext) -> Exit:
    if not rest:
        raise UsageError("words or a type are needed", "for example: )search running sum")
    from ..searching.results import search

    answer = search(rest.split())
    for line in answer.lines():
        context.console.print(line)
    for note in answer.notes:
        context.console.note(note.replace("rho search", ")search").replace("'", ""))
    return Exit.OK if answer.hits else Exit.FAILED


def _names(rest: str, context: CommandContext) -> Exit:
    for name, type in context.workspace.state.types.items():
        if name.startswith(rest):
            lines = context.workspace.describe(name) if type == "function" else ()
            context.console.print("\n".join(lines or [f"{name} : {type}"]))
    return Exit.OK


def _forget(rest: str, context: CommandContext) -> Exit:
    unknown = [name for name in rest.split() if name not in context.workspace.state.types]
    if unknown or not rest:
        raise UsageError(f"there is no name `{unknown[0]}`" if unknown else "names are needed")
    context.workspace.forget(*rest.split())
    return Exit.OK


def _undo(rest: str, context: CommandContext) -> Exit:
    undone = context.workspace.undo()
    if undone is None:
        raise UsageError("there is nothing to take back")
    context.console.note(f"taken back: {undone}")
    return Exit.OK


def _load(rest: str, context: CommandContext) -> Exit:
    if not rest:
        raise UsageError("a file is needed", "for example: )load session.md")
    return load_file(rest, context, show_values=True)


def load_file(path: str, context: CommandContext, *, show_values: bool) -> Exit:
    """Enter a file (a program, or a saved session in Markdown) as one entry: if it fails the session stays as it was."""
    source = read_source(path)
    from ..workspace.exchange import statements_of_transcript, title_of

    workspace = context.workspace
    text = statements_of_transcript(source.text) if path.endswith(".md") else source.text
    state = workspace.state
    entered = workspace.enter(text, source.name if text == source.text else f"<{title_of(path)}>")
    standard_streams.show_diagnostics(context.console, entered.diagnostics, workspace.sources)
    for note in entered.notes:
        context.console.note(note)
    if entered.exit is not Exit.OK:
        workspace.state = state
        return entered.exit
    for shown in entered.printed if show_values else ():
        show_value(shown, context.console, context.settings)
    return Exit.OK


def _save(rest: str, context: CommandContext) -> Exit:
    if not rest:
        raise UsageError("a file is needed", "for example: )save session.md")
    from ..workspace.exchange import doctest_problems, session_markdown, title_of

    path = rest if rest.endswith(".md") else rest + ".md"
    text = session_markdown(context.workspace.state, title_of(path))
    if not context.workspace.session.permissions.may_write(path):
        raise UsageError(f"`{path}` may not be written")
    save_text(path, text)
    wrong = doctest_problems(text, path)
    count = len(context.workspace.state.log)
    context.console.note(f"{count} entr{'y' if count == 1 else 'ies'} saved in {path}")
    for problem in wrong:
        context.console.note(f"as a program it does not hold ({problem})")
    return Exit.OK


def _set(rest: str, context: CommandContext) -> Exit:
    name, _, value = rest.partition(" ")
    if not value.strip():
        for line in setting.settings_lines(context.settings):
            if line.split()[0] == name or not name:
                context.console.print(line)
        return Exit.OK
    settings = setting.with_setting(context.settings, name, value.strip())
    if isinstance(settings, str):
        raise UsageError(settings)
    context.settings = settings
    if context.console.interactive:
        setting.save_settings(settings, context.console.environment)
    return Exit.OK


_ACTIONS: dict[str, Callable[[str, CommandContext], Exit]] = {
    ")type": _type, ")tree": _tree, ")trace": _trace, ")fix": _fix, ")explain": _explain, ")plan": _plan,
    ")time": _time, ")plot": _plot, ")help": _help, ")search": _search,
    ")names": _names, ")forget": _forget, ")undo": _undo, ")load": _load, ")save": _save, ")set": _set,
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------- entries

_NEWCOMER_COMMANDS = {"help": ")help", "?": ")help", "help()": ")help", "exit": ")quit", "quit": ")quit", "exit()": ")quit",
          "quit()": ")quit"}  # fmt: skip
"""Words that newcomers type for a command; not replaced if they are names of the session."""


def handle_entry(entry: str, context: CommandContext) -> tuple[CommandResult, Exit]:
    """Run one entry or command; returns whether the session goes on, and the exit code."""
    entry = _NEWCOMER_COMMANDS.get(entry.strip(), entry) if entry.strip() not in context.types else entry
    if entry.lstrip().startswith(")"):
        return run_command(entry, context)
    workspace, console = context.workspace, context.console
    if console.interactive:
        try:
            entered, state = interruptible(lambda: workspace.evaluate(entry))
        except KeyboardInterrupt:
            workspace.abandon()
            raise
    else:
        entered, state = workspace.evaluate(entry)
    standard_streams.show_diagnostics(console, entered.diagnostics, workspace.sources)
    context.last = LastEntry(Source(workspace.entry_name, entry), entered.diagnostics, entered.exit is Exit.OK)
    if context.explains_fixes and any(one.fixes for one in entered.diagnostics):
        context.explains_fixes = False
        console.note(")fix applies what is marked [fix], and enters that")
    for note in entered.notes:
        console.note(note)
    for shown in entered.printed:
        show_value(shown, console, context.settings)
    workspace.state = state  # last, so that an interrupt before leaves the session as it was
    return CommandResult.CONTINUE, entered.exit


# ---------------------------------------------------------------------------------------------------- loop

PROMPT = "      "


class PlainEntryReader:
    """Reads entries line by line; an open bracket continues on the next line, and Ctrl-C drops an unfinished entry.

    An iterator class, since an interrupt would end a generator."""

    def __init__(self, console: Console, *, edited: bool = False) -> None:
        """`edited`: with Python's own line editor (readline), if there is one."""
        self._console = console
        self._edited = edited and enable_line_editing(console.environment)

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while True:
            try:
                entry = self._entry()
            except KeyboardInterrupt:
                if not self._console.interactive:
                    raise
                self._console.print("")
                continue
            if entry is None:
                raise StopIteration
            return entry

    def _line(self, prompt: str) -> str:
        """The next line with its line end; empty at the end of input."""
        console = self._console
        if self._edited:
            try:
                return input(prompt) + "\n"
            except EOFError:
                return ""
        if console.interactive:
            console.out.write(prompt)
            console.out.flush()
        return console.input.readline()

    def _entry(self) -> str | None:
        """The next entry; None at the end of input."""
        from ...lang.bind.statement_dependencies import unfinished

        pending = ""
        while True:
            line = self._line(CONTINUATION if pending else PROMPT)
            if not line:
                return pending if pending.strip() else None
            pending += line.rstrip("\r\n")
            if line.strip() and unfinished(pending) and not pending.lstrip().startswith(")"):
                pending += "\n"
            elif pending.strip():
                return pending
            else:
                pending = ""


def enable_line_editing(environment: Mapping[str, str]) -> bool:
    """Give Python's `input` a line editor with a history; False if Python has no readline."""
    try:
        import readline
    except ImportError:
        return False
    directory = repl_folder(environment)
    readline.set_history_length(MOST_HISTORY_LINES)
    if directory is not None:
        with suppress(OSError):
            readline.read_history_file(directory / "lines")
        atexit.register(_write_history, directory)
    return True


def _write_history(directory: Path) -> None:
    import readline

    with suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        readline.write_history_file(directory / "lines")


MOST_HISTORY_LINES = 1_000


def run_session(entries: Iterator[str], context: CommandContext) -> Exit:
    """Handle entries until they end, `)quit`, or (if nobody is typing) the first error; returns the exit code."""
    while True:
        try:
            return _run_until_interrupt(entries, context)
        except KeyboardInterrupt:
            if not context.console.interactive:
                raise
            context.console.note("interrupted; the session is as it was before")


def _run_until_interrupt(entries: Iterator[str], context: CommandContext) -> Exit:
    """Like `run_session`, but an interrupt is raised."""
    for entry in entries:
        after, code = handle_entry(entry, context)
        if after is CommandResult.QUIT:
            break
        if code is not Exit.OK and not context.console.interactive:
            return code
    return Exit.OK
