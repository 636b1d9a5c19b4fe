"""A notebook's session: runs, completes and explains cells; the results are plain data for any front end.

A cell has statements, or commands of the session (`)type x`, `)plot x`) on lines of their own, which run in order.  A cell that
fails leaves the session as it was before the statements that failed.
"""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import TypeAlias

from ...lang.bind.statement_dependencies import StatementKind, statements_of, unfinished
from ...lang.diagnostics.help_pages import primitive_text
from ...lang.diagnostics.model import Code, Diagnostic
from ...lang.diagnostics.render import Ink, render_text
from ...lang.primitives.table import by_key, find, rows
from ...lang.support.records import dataclass, field
from ...lang.syntax.source import NAME, Source, lexemes
from ...typechecker.elements import Kind
from ..console.process_exit import Exit, interruptible
from ..console.standard_streams import Console
from ..display import documentation
from ..display.values import LIMIT, WHOLE_TEXT_LIMIT, DisplayedValue, display, matrix_cells
from ..execution.params import Permissions
from ..lsp.hover import glyph_page, library_page
from ..pipeline import Session
from ..plotting import figures
from ..plotting.charts import HEIGHT, Picture, picture_lines
from ..repl.commands import COMMANDS, CommandContext, picture_of, reporting_errors, run_command
from ..repl.status_line import ReplSettings, concrete_type
from ..repl.terminal import session_completions
from ..workspace.exchange import statements_of_transcript
from ..workspace.workspace import EntryResult, Workspace

# ---------------------------------------------------------------------------------------------------- rendering
#
# Values as text, matrices also as HTML tables, plots also as images; messages in colour.

Bundle: TypeAlias = dict[str, str]
"""Representations by their media type."""
WIDTH = 80

_STYLE = "text-align: right; font-family: monospace"


def value_bundle(shown: DisplayedValue, settings: ReplSettings) -> Bundle:
    """The representations of a value: its type, unless it is a scalar, then its elements, cut as in a session."""
    limit = WHOLE_TEXT_LIMIT if shown.kind is Kind.CHAR else LIMIT
    lines = display(shown.value, shown.write, kind=shown.kind, digits=settings.digits, limit=limit, width=WIDTH)
    header = concrete_type(shown) if shown.shape and settings.types else ""
    data = {"text/plain": "\n".join([*([header] if header else []), *lines])}
    if len(shown.shape) == 2 and shown.kind is not Kind.CHAR:
        data["text/html"] = _table(shown, header, settings)
    return data


def _table(shown: DisplayedValue, header: str, settings: ReplSettings) -> str:
    rows = matrix_cells(shown.value, kind=shown.kind, digits=settings.digits, limit=LIMIT)
    cells = [[f'<td style="{_STYLE}">{escape(cell.strip())}</td>' for cell in row] for row in rows]
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    caption = f'<caption style="text-align: left; caption-side: top">{escape(header)}</caption>' if header else ""
    return f'<table class="rho">{caption}{body}</table>'


def picture_bundle(picture: Picture) -> Bundle:
    """The representations of a picture: characters, and an image if matplotlib is installed."""
    data = {"text/plain": "\n".join(picture_lines(picture, WIDTH, HEIGHT, colour=False))}
    if figures.has_matplotlib():
        data["image/png"] = base64.b64encode(figures.figure(picture, "png")).decode("ascii")
    return data


def messages_text(diagnostics: Sequence[Diagnostic], sources: Mapping[str, Source], ink: Ink = Ink.ANSI) -> str:
    return render_text(diagnostics, sources, ink=ink).rstrip("\n")


# ---------------------------------------------------------------------------------------------------- notebook

_COMMAND = re.compile(r"\)([a-z]+)\b")
_NAMES = frozenset(name for name, _ in COMMANDS)
_GLYPH_KEY = re.compile(r"`(\S)$")


@dataclass(frozen=True, slots=True)
class CellText:
    """Lines for a stream: `stdout` or `stderr`."""

    stream: str
    text: str


@dataclass(frozen=True, slots=True)
class CellValue:
    """A value that a cell displays; `result`: it is the value of the cell."""

    data: Bundle
    result: bool = False


@dataclass(frozen=True, slots=True)
class CellFailure:
    """A cell that failed: the first code, its message, all messages as coloured and as plain lines."""

    name: str
    message: str
    lines: tuple[str, ...]
    plain: str


Output: TypeAlias = CellText | CellValue


@dataclass(slots=True)
class CellResult:
    """The outputs of a cell, in order, and its failure if it failed."""

    outputs: list[Output] = field(default_factory=list)
    failure: CellFailure | None = None


@dataclass(frozen=True, slots=True)
class Completion:
    """Completions: each of `matches` (text, remark) can replace the characters from `start` to `end`."""

    matches: tuple[tuple[str, str], ...]
    start: int
    end: int


class Notebook:
    """A notebook's session.  `environment`: environment variables for the console (NO_COLOR, COLUMNS)."""

    def __init__(self, workspace: Workspace | None = None, environment: Mapping[str, str] | None = None) -> None:
        self._environment = environment or {}
        self.settings = ReplSettings()
        self.workspace = workspace or Workspace(Session("", Permissions.of(["."], [])))
        self._count = 0

    # ------------------------------------------------------------------------------------- executing

    def execute(self, code: str, name: str | None = None) -> CellResult:
        """Run a cell.  Never raises; an interrupt is a failure of the cell."""
        self._count += 1
        cell = CellResult()
        source, before = name or f"<cell {self._count}>", self.workspace.state
        try:
            self._run(list(_split_commands(statements_of_transcript(code))), source, cell)
        except KeyboardInterrupt:
            self.workspace.abandon()
            self.workspace.state = before
            cell.failure = _failure("KeyboardInterrupt", "interrupted; the session is as it was before")
        except RecursionError:
            cell.failure = _failure(Code.E610, "the cell is too deeply nested for Rho to check or run; name its parts")
        except MemoryError:
            cell.failure = _failure(Code.E703, "there is not enough memory to go on; nothing was kept")
        except Exception as error:  # a bug in Rho leaves a reproducer, and the kernel running
            cell.failure = _bug_failure(error, code)
        return cell

    def _run(self, pieces: Sequence[str], source: str, cell: CellResult) -> None:
        """Run statements and commands in order, up to the first that fails."""
        for index, piece in enumerate(pieces):
            if _is_command(piece):
                self._command(piece, cell)
            else:
                part = source if len(pieces) == 1 else f"{source[:-1]}, part {index + 1}>"
                self._enter(piece, part, cell, is_last=index == len(pieces) - 1)
            if cell.failure is not None:
                return

    def _enter(self, text: str, name: str, cell: CellResult, *, is_last: bool) -> None:
        workspace = self.workspace
        entered, state = interruptible(lambda: workspace.evaluate(text, name))
        if entered.exit is not Exit.OK:
            cell.failure = self.failure_of(entered)
            return
        workspace.state = state
        if entered.diagnostics:
            cell.outputs.append(CellText("stderr", messages_text(entered.diagnostics, workspace.sources) + "\n"))
        cell.outputs += [CellText("stderr", note + "\n") for note in entered.notes]
        last = statements_of(text)[-1:]
        has_result = is_last and bool(last) and last[0].kind is StatementKind.EXPRESSION and not last[0].prints_its_value
        for number, shown in enumerate(entered.printed, 1):
            cell.outputs.append(CellValue(value_bundle(shown, self.settings), has_result and number == len(entered.printed)))

    def failure_of(self, entered: EntryResult) -> CellFailure:
        """The failure of an entry: its first error, and all messages."""
        diagnostics = [one for one in entered.diagnostics if one.is_error] or list(entered.diagnostics)
        coloured = messages_text(entered.diagnostics, self.workspace.sources)
        plain = messages_text(entered.diagnostics, self.workspace.sources, Ink.PLAIN)
        return CellFailure(diagnostics[0].code, diagnostics[0].message, tuple(coloured.split("\n")), plain)

    def _command(self, line: str, cell: CellResult) -> None:
        out, err = io.StringIO(), io.StringIO()
        context = CommandContext(self.workspace, Console(out, err, io.StringIO(), self._environment), self.settings)
        if line.split()[0] in (")quit", ")exit", ")off"):
            cell.failure = _failure("command", "a notebook is closed where it was opened")
            return
        if line.startswith(")plot"):
            expression = line.removeprefix(")plot").strip()
            code = interruptible(lambda: reporting_errors(lambda: self._plot(expression, context, cell), context))
        else:
            code = interruptible(lambda: run_command(line, context)[1])
        self.settings = context.settings
        if out.getvalue():
            cell.outputs.append(CellText("stdout", out.getvalue()))
        if err.getvalue() and code is Exit.OK:
            cell.outputs.append(CellText("stderr", err.getvalue()))
        elif code is not Exit.OK:
            cell.failure = _failure("command", err.getvalue().rstrip("\n") or f"{line.split()[0]} failed")

    def _plot(self, rest: str, context: CommandContext, cell: CellResult) -> Exit:
        cell.outputs.append(CellValue(picture_bundle(picture_of(rest, context))))
        return Exit.OK

    # ------------------------------------------------------------------------------------- completing, explaining

    def complete(self, code: str, cursor: int) -> Completion:
        """The completions at the cursor: names, glyphs by name or key after a backtick, members, commands, files."""
        before = code[:cursor]
        keyed = _GLYPH_KEY.search(before)
        row = by_key(keyed[1]) if keyed and not keyed[1].isalpha() else None
        if row is not None:
            return Completion(((row.glyph, row.title),), cursor - 2, cursor)
        completions = session_completions(before, self.workspace, self.settings.prefix, COMMANDS)
        longest = max((offer.length for offer in completions), default=0)
        matches = {before[len(before) - longest : len(before) - offer.length] + offer.text: offer.about for offer in completions}
        return Completion(tuple(matches.items()), cursor - longest, cursor)

    def inspect(self, code: str, cursor: int) -> Bundle | None:
        """The page of the word at the cursor or right before it; None if there is none."""
        return page_at(self.workspace, code, cursor)

    def is_complete(self, code: str) -> tuple[str, str]:
        """`complete`, or `incomplete` with the blanks that the next line starts with."""
        if _is_command(code) or not code.strip():
            return "complete", ""
        if not unfinished(code):
            return "complete", ""
        last = code.rsplit("\n", 1)[-1]
        blanks = last[: len(last) - len(last.lstrip())]
        return "incomplete", blanks + ("  " if last.rstrip()[-1:] in ("{", "(", "[") else "")


def _split_commands(code: str) -> Iterator[str]:
    """The statements between commands, and the commands, in order; a line inside an open bracket is no command."""
    pending: list[str] = []
    for line in code.split("\n"):
        if _is_command(line) and not unfinished("\n".join(pending)):
            if "".join(pending).strip():
                yield "\n".join(pending)
            yield line.strip()
            pending = []
        else:
            pending.append(line)
    if "".join(pending).strip():
        yield "\n".join(pending)


def _is_command(line: str) -> bool:
    match = _COMMAND.match(line)
    return match is not None and (match.group() in _NAMES or "\n" not in line.strip())


def _failure(name: str, message: str) -> CellFailure:
    return CellFailure(name, message, tuple(message.split("\n")), message)


def _bug_failure(error: Exception, code: str) -> CellFailure:
    from ..console.error_boundary import report_bug

    err = io.StringIO()
    report_bug(error, ["eval", code], Console(io.StringIO(), err, io.StringIO(), {}), traceback=False)
    return _failure("bug", err.getvalue().strip())


# ---------------------------------------------------------------------------------------------------- pages
#
# The page of the word at a cursor: a name of the session, a member of a module, a glyph.

_MEMBER = re.compile(rf"({NAME})\.({NAME})")
_GLYPH_NAME = re.compile(r"`([A-Za-z]+|\S)")


def page_at(workspace: Workspace, code: str, cursor: int) -> Bundle | None:
    """The page of the word at a cursor, as text and as Markdown; None if there is none."""
    start = code.rfind("\n", 0, cursor) + 1
    end = code.find("\n", cursor)
    line, at = code[start : len(code) if end < 0 else end], cursor - start
    for match in (*_MEMBER.finditer(line), *_GLYPH_NAME.finditer(line)):
        if match.start() <= at <= match.end():
            page = _member_page(workspace, *match.groups()) if match.re is _MEMBER else _glyph_page(match[1], match[0])
            if page is not None:
                return page
    around = [(first, line[first:last]) for _, first, last in lexemes(line) if first <= at <= last]
    for _, word in sorted(around, reverse=True):  # the word that starts at the cursor before the one that ends there
        page = _word_page(workspace, word)
        if page is not None:
            return page
    return None


def _word_page(workspace: Workspace, word: str) -> Bundle | None:
    type_ = workspace.state.types.get(word)
    if type_ is not None:
        lines = (workspace.describe(word) if type_ == "function" else ()) or (f"{word} : {type_}",)
        return {"text/plain": "\n".join(lines), "text/markdown": documentation.code(*lines)}
    return _glyph_page(word, word)


def _glyph_page(name: str, spelt: str) -> Bundle | None:
    primitives = rows(name) or find(spelt) or (find(name) if len(name) > 1 else ())
    if not primitives:
        return None
    text = "\n".join(primitive_text(row) for row in primitives).rstrip("\n")
    page = glyph_page(primitives[0].glyph)
    return {"text/plain": text, **({"text/markdown": page} if page else {})}


def _member_page(workspace: Workspace, module: str, name: str) -> Bundle | None:
    if workspace.state.types.get(module, "module") != "module":
        return None
    entry = next((one for one in documentation.entries() if one.name == f"{module}.{name}"), None)
    return None if entry is None else {"text/plain": documentation.entry_text(entry), "text/markdown": library_page(entry)}
