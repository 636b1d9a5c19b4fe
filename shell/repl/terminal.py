"""The session in a terminal: prompt_toolkit's editor with Rho's keys, colours, completion, language bar and status line."""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.processors import HighlightMatchingBracketProcessor
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.output import ColorDepth, Output
from prompt_toolkit.styles import Style

from ...lang.primitives.record import Primitive
from ...lang.primitives.table import PRIMITIVES, by_key, by_name, glyph_of
from ...lang.support.files import open_regular
from ...lang.support.records import dataclass
from ...lang.syntax import formatter
from ...lang.syntax.formatter import WordClass
from ...lang.syntax.source import Source, in_prose
from ...lang.tree.expressions import SymbolKind
from ..display.documentation import LibraryEntry
from ..searching.results import NameCompletion, Named, library_entries, name_completions, pending_glyph_name
from ..workspace.exchange import CONTINUATION, statements_of_transcript
from .commands import COMMANDS, PROMPT, CommandContext
from .status_line import PreviewThread, repl_folder

if TYPE_CHECKING:
    from ..workspace.workspace import Workspace


# ---------------------------------------------------------------------------------------------------- glyphs
#
# A prefix with a name or key becomes a glyph as soon as it cannot be the beginning of a longer name.
#
# `` `rho `` and a blank gives `⍴` (without the blank), `` `rho( `` gives `⍴(`, and `` `ix `` begins no name, so it is `⍳x`.
# The prefix twice is `⋄` for the backtick and the prefix itself for another one.  Nothing is replaced in comments and texts.

_NAMES = tuple(sorted({name for row in PRIMITIVES for name in row.names}))


@dataclass(frozen=True, slots=True)
class GlyphReplacement:
    """A replacement of the last `length` characters by `text`."""

    length: int
    text: str


def glyph_replacement(before: str, prefix: str, after: int = 0) -> GlyphReplacement | None:
    """The replacement at the end of the text `before` the cursor, after its last character was typed; None if there is none.

    `after`: prefixes before this offset are not replaced."""
    if not before or ("`" not in before and prefix not in before):
        return None
    letters = pending_glyph_name(before, prefix, after)
    if letters:
        return _letters_replacement(letters)
    typed = before[-1]
    minus = re.search(rf"[`{re.escape(prefix)}]-(.)$", before, re.DOTALL)
    if minus is not None and minus.start() >= after and not in_prose(before, minus.start()):
        return GlyphReplacement(3, ("¯" if typed.isdigit() else "×") + (typed if typed != " " else ""))
    match = re.search(rf"([`{re.escape(prefix)}])([A-Za-z]*)$", before[:-1])
    if match is None or match.start() < after or typed.isalpha() or in_prose(before, match.start()):
        return None
    mark, word = match.group(1), match.group(2)
    if word:
        glyph = glyph_of(word)
        rest = "" if typed == " " else typed
        return None if glyph is None else GlyphReplacement(len(word) + 2, glyph + rest)
    if typed == mark and mark != "`":
        return GlyphReplacement(2, mark)
    if typed.isspace() or typed == "-":
        return None  # `-5 is ¯5
    row = by_key(typed)
    if row is None and typed.isdigit():
        return None
    return None if row is None else GlyphReplacement(2, row.glyph)


def _letters_replacement(letters: str) -> GlyphReplacement | None:
    """The replacement for letters that begin no name: the glyph of their longest prefix that is a name or key, then the rest."""
    longer = [name for name in _NAMES if name.startswith(letters) and name != letters]
    if longer:
        return None
    if by_name(letters) is not None:
        return None
    for length in range(len(letters) - 1, 0, -1):
        glyph = glyph_of(letters[:length])
        if glyph is not None:
            rest = letters[length:]
            return GlyphReplacement(len(letters) + 1, glyph + (" " if glyph[-1].isalnum() else "") + rest)
    return None


def with_backticks(text: str, prefix: str) -> str:
    """An entry in which the user's prefix is a backtick where it starts a name."""
    if prefix == "`" or prefix not in text:
        return text
    lines = []
    for line in text.split("\n"):
        places = [m.start() for m in re.finditer(re.escape(prefix) + r"(?=[A-Za-z])", line) if not in_prose(line, m.start())]
        lines.append("".join("`" if at in places else character for at, character in enumerate(line)))
    return "\n".join(lines)


# ------------------------------------------------------------------------------------------ language bar


def matching_primitives(letters: str) -> list[Primitive]:
    """The primitives with a name that begins with `letters` or that have them as key; all with a key if there are no letters."""
    rows = [row for row in PRIMITIVES if row.names or row.key]
    if not letters:
        return [row for row in rows if row.key]
    return [row for row in rows if row.key == letters or any(name.startswith(letters) for name in row.names)]


def language_bar(letters: str, width: int, most: int = 8) -> list[str]:
    """The lines of the language bar: keys and glyphs, or after letters glyphs, names and the help of the first match.

    `most`: lines at most."""
    rows = matching_primitives(letters)
    if not rows:
        return [f"`{letters} begins no name"]
    if not letters:
        return _columns([f"{row.key} {row.glyph}" for row in rows], width, most)
    lines = _columns([f"{row.glyph} {_spelling(row, letters)}" for row in rows], width, most - 1)
    exact = [row for row in rows if row.key == letters or letters in row.names]
    chosen = exact or rows[:1]
    return [*lines, _help(chosen[0], width)]


def _spelling(row: Primitive, letters: str) -> str:
    name = next((name for name in row.names if name.startswith(letters)), row.names[0] if row.names else "")
    return name + (f" ({row.key})" if row.key else "")


def _help(row: Primitive, width: int) -> str:
    docs = [use.doc for use in (row.monadic, row.dyadic) if use is not None] or [row.doc]
    line = f"{row.glyph}  {row.title}: {' '.join(docs[0].split())}"
    return line if len(line) <= width else line[: width - 1] + "…"


def _columns(cells: list[str], width: int, most: int) -> list[str]:
    """Cells in rows of equal columns, cut after `most` rows."""
    wide = max(len(cell) for cell in cells) + 2
    across = max(1, width // wide)
    lines = ["".join(cell.ljust(wide) for cell in cells[at : at + across]).rstrip() for at in range(0, len(cells), across)]
    return lines if len(lines) <= most else [*lines[: most - 1], lines[most - 1] + " …"]


# ---------------------------------------------------------------------------------------------------- colours
#
# The classes of words that have colours.

_STYLES = {
    WordClass.COMMENT: "comment", WordClass.NUMBER: "number", WordClass.TEXT: "text", WordClass.UNENDED: "text",
    WordClass.PUNCTUATION: "keyword", WordClass.KEYWORD: "keyword", WordClass.BRACKET: "bracket", WordClass.TYPE: "type",
    WordClass.ARGUMENT: "argument", WordClass.FUNCTION: "function", WordClass.OPERATOR: "operator", WordClass.NAME: "name",
    WordClass.LIBRARY: "function", WordClass.CONSTANT: "number",
}  # fmt: skip


def coloured_fragments(line: str, types: Mapping[str, str]) -> list[tuple[str, str]]:
    """The fragments (style or "", text) that make up a line; `types`: of the session's names."""
    if line.lstrip().startswith(")"):
        return [("command", line)]
    fragments: list[tuple[str, str]] = []
    at = 0
    for word in formatter.words(Source("<line>", line)):
        if word.start > at:
            fragments.append(("", line[at : word.start]))
        fragments.append((_style(word, types), line[word.start : word.end]))
        at = word.end
    if at < len(line):
        fragments.append(("", line[at:]))
    return fragments


def _style(word: formatter.FormattedWord, types: Mapping[str, str]) -> str:
    known = types.get(word.text) if word.kind is WordClass.NAME else None
    if known is None:
        return _STYLES.get(word.kind, "")
    return known if known in ("function", "operator", "module") else "defined"


# ---------------------------------------------------------------------------------------------------- completion
#
# Tab completes names, commands and files.

_FILE = re.compile(r"^\s*\)(?:load|save)\s+(.*)$|[\"']([^\"']*)$")
_COMMAND = re.compile(r"^\s*(\)\w*)$")
_STATEMENT_START = re.compile(r"(?:^|⋄)\s*\w*$")
MOST_COMPLETIONS = 200


@dataclass(frozen=True, slots=True)
class SessionCompletion:
    """A completion: `text` replaces the last `length` characters; the menu shows `label` and `about`."""

    text: str
    length: int
    label: str
    about: str


class _SessionScope:
    """The names of a session."""

    offers_unused_modules = False

    def __init__(self, line: str, workspace: Workspace) -> None:
        self._types, self._kinds = workspace.state.types, workspace.state.kinds
        self.is_statement_start = _STATEMENT_START.search(line) is not None
        self.is_declaration = ":" in line and not self.is_statement_start

    def names(self) -> Iterable[Named]:
        return [(name, self._kinds[name], type_) for name, type_ in self._types.items()]

    def sizes(self) -> Iterable[Named]:
        return ()

    def members(self, module: str) -> Iterable[tuple[Named, LibraryEntry | None]] | None:
        if self._kinds.get(module) is not SymbolKind.MODULE:
            return None
        members = [entry for entry in library_entries() if entry.name.startswith(f"{module}.")]
        return [((entry.name.partition(".")[2], SymbolKind.FUNCTION, entry.doc), entry) for entry in members]


def session_completions(
    before: str, workspace: Workspace, prefix: str, commands: tuple[tuple[str, str], ...]
) -> list[SessionCompletion]:  # fmt: skip
    """The completions of the text before the cursor (its last line), in the session's scope."""
    line = before.rpartition("\n")[2]
    command = _COMMAND.match(line)
    if command is not None:
        typed = command.group(1)
        return [SessionCompletion(name, len(typed), name, about) for name, about in commands if name.startswith(typed)]
    file = _FILE.search(line)
    if file is not None and (line.lstrip().startswith(")") or in_prose(line, len(line))):
        return list(_files(file.group(1) if file.group(1) is not None else file.group(2)))
    names = name_completions(line, _SessionScope(line, workspace), prefix)
    return [_completion_of(one) for one in names if _matches(one, line)][:MOST_COMPLETIONS]


def _matches(one: NameCompletion, line: str) -> bool:
    """Does a completion begin with the letters typed so far?  Without letters only members, modules and glyph names do."""
    typed = line[len(line) - one.length + one.is_glyph_name :] if one.length else ""
    needs_letters = not (one.is_glyph_name or line.endswith(".") or line.lstrip().startswith("use"))
    return one.name.startswith(typed) and (bool(typed) or not needs_letters)


def _completion_of(one: NameCompletion) -> SessionCompletion:
    label = f"{one.text} {one.name}" if one.row is not None and one.text != one.name else one.text
    return SessionCompletion(one.text, one.length, label, one.about)


def _files(typed: str) -> Iterator[SessionCompletion]:
    folder, _, start = typed.rpartition("/")
    where = os.path.expanduser(folder) if folder else ("/" if typed.startswith("/") else ".")
    try:
        names = sorted(os.listdir(where))
    except OSError:
        return
    for name in names:
        if name.startswith(start) and (start.startswith(".") or not name.startswith(".")):
            shown = name + "/" if os.path.isdir(os.path.join(where, name)) else name
            yield SessionCompletion(shown, len(start), shown, "")


# ---------------------------------------------------------------------------------------------------- terminal

_MOST_HISTORY_BYTES = 16 << 20

STYLE = Style.from_dict({
    "rho.function": "ansiblue", "rho.operator": "ansimagenta", "rho.defined": "bold", "rho.module": "ansicyan",
    "rho.argument": "ansicyan", "rho.type": "ansiyellow", "rho.keyword": "ansired", "rho.comment": "ansibrightblack italic",
    "rho.text": "ansigreen", "rho.number": "", "rho.bracket": "", "rho.command": "ansiyellow",
    "rho.line": "noreverse ansibrightblack", "rho.wrong": "noreverse ansired", "rho.bar": "noreverse",
    "bottom-toolbar": "noreverse", "matching-bracket.cursor": "bold ansiyellow", "matching-bracket.other": "bold ansiyellow",
})  # fmt: skip


class _Colours(Lexer):
    def __init__(self, context: CommandContext) -> None:
        self._context = context

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        lines, types = document.lines, self._context.types

        def line(number: int) -> StyleAndTextTuples:
            if number >= len(lines):
                return []
            return [(f"class:rho.{kind}" if kind else "", text) for kind, text in coloured_fragments(lines[number], types)]

        return line


class _Completer(Completer):
    def __init__(self, context: CommandContext) -> None:
        self._context = context

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        context = self._context
        for offer in session_completions(document.text_before_cursor, context.workspace, context.settings.prefix, COMMANDS):
            yield Completion(offer.text, -offer.length, display=offer.label, display_meta=offer.about)


class Terminal:
    """Reads entries from a terminal until Ctrl-D; `input` and `output` are prompt_toolkit's, for tests.

    An iterator class, since an interrupt would end a generator."""

    def __init__(self, context: CommandContext, input: Input | None = None, output: Output | None = None) -> None:
        self._context = context
        self._last_key = 0.0
        self._pasting = False
        self._blanks_to_skip = 0
        self._after = 0
        self.editor: PromptSession[str] = PromptSession(
            lexer=_Colours(context), completer=_Completer(context), complete_while_typing=False, history=_history(context),
            auto_suggest=AutoSuggestFromHistory(), key_bindings=self._keys(), bottom_toolbar=self.bottom_line, style=STYLE,
            multiline=True, enable_history_search=True, input_processors=[HighlightMatchingBracketProcessor()],
            prompt_continuation=lambda *_: CONTINUATION, input=input, output=output, include_default_pygments_style=False,
            reserve_space_for_menu=6,
            color_depth=None if context.console.colours_results else ColorDepth.DEPTH_1_BIT,
        )  # fmt: skip
        self.editor.default_buffer.on_text_insert += self._inserted
        self.editor.default_buffer.on_text_changed += self._changed
        self.preview = PreviewThread(lambda: context.workspace, self.editor.app.invalidate)
        self.editor.app.after_render += lambda _: self.preview.start()

    def entries(self) -> Iterator[str]:
        """The entries, each finished by Enter; Ctrl-C clears the line, Ctrl-D on an empty line ends."""
        return self

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        while True:
            self._after = 0
            try:
                text = with_backticks(self.editor.prompt(PROMPT), self._context.settings.prefix)
                if text.strip():
                    self.preview.cancel()
                    return text
            except KeyboardInterrupt:
                continue
            except EOFError:
                raise StopIteration from None

    def close(self) -> None:
        self.preview.stop()

    # ------------------------------------------------------------------------------------------ typing

    def _inserted(self, buffer: Buffer) -> None:
        """Called after a character was typed: replaces a finished glyph name."""
        if self._pasting:
            return
        before, prefix = buffer.document.text_before_cursor, self._context.settings.prefix
        self._after = min(self._after, len(before))
        replaced = glyph_replacement(before, prefix, self._after)
        if replaced is None:
            return
        if replaced.text == prefix:
            self._after = len(before) - replaced.length + 1
        self._pasting = True
        try:
            buffer.delete_before_cursor(replaced.length)
            buffer.insert_text(replaced.text)
        finally:
            self._pasting = False

    def _changed(self, buffer: Buffer) -> None:
        self._last_key = time.monotonic()
        if self._context.settings.preview:
            self.preview.request(buffer.text)
        if pending_glyph_name(buffer.document.text_before_cursor, self._context.settings.prefix, self._after) is not None:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                return
            loop.call_later(self._context.settings.pause / 1000 + 0.01, self.editor.app.invalidate)

    def _is_only_indented(self, document: Document) -> bool:
        """Is the cursor at the end of a further line that has only blanks so far?"""
        line = document.current_line
        return document.cursor_position_row > 0 and line.isspace() and document.is_cursor_at_the_end_of_line

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        buffered = Condition(lambda: self.editor.app.layout.current_buffer is self.editor.default_buffer)

        @keys.add("enter", filter=buffered)
        def _(event: KeyPressEvent) -> None:
            from ...lang.bind.statement_dependencies import unfinished

            buffer = event.current_buffer
            if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
                buffer.complete_state = None
                return
            document = buffer.document
            ended = buffer.text.endswith("\n") or not document.current_line.strip()
            if not buffer.text.lstrip().startswith(")") and not ended and unfinished(buffer.text):
                indentation = _indent(document)
                self._blanks_to_skip = len(indentation)
                buffer.insert_text("\n" + indentation)
            elif document.cursor_position < len(buffer.text) and "\n" in document.text_after_cursor:
                buffer.cursor_position = len(buffer.text)
            else:
                buffer.validate_and_handle()

        indented = Condition(lambda: self._is_only_indented(self.editor.default_buffer.document))

        @keys.add(" ", filter=buffered & indented & Condition(lambda: self._blanks_to_skip > 0))
        def _(event: KeyPressEvent) -> None:
            self._blanks_to_skip -= 1  # the blank is there already

        @keys.add("}", filter=buffered & indented)
        @keys.add("]", filter=buffered & indented)
        @keys.add(")", filter=buffered & indented)
        def _(event: KeyPressEvent) -> None:
            document = event.current_buffer.document
            opening = _line_of_open_bracket(document.text_before_cursor)
            blanks = len(opening) - len(opening.lstrip())
            event.current_buffer.delete_before_cursor(max(0, len(document.current_line_before_cursor) - blanks))
            event.current_buffer.insert_text(event.data)

        @keys.add("tab", filter=buffered)
        def _(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.complete_state is not None:
                buffer.complete_next()
            else:
                self._complete(buffer)

        @keys.add("escape", "enter", filter=buffered)
        def _(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @keys.add(Keys.BracketedPaste, filter=buffered)
        def _(event: KeyPressEvent) -> None:
            text = statements_of_transcript(event.data.replace("\r\n", "\n").replace("\r", "\n"))
            self._pasting = True
            try:
                event.current_buffer.insert_text(text)
            finally:
                self._pasting = False

        return keys

    def _complete(self, buffer: Buffer) -> None:
        """Insert the common prefix of all completions; open a menu if it adds nothing."""
        context = self._context
        completions = session_completions(
            buffer.document.text_before_cursor, context.workspace, context.settings.prefix, COMMANDS
        )  # fmt: skip
        if not completions:
            return
        common = _common_prefix([offer.text for offer in completions])
        if len({offer.text for offer in completions}) == 1 or len(common) > max(offer.length for offer in completions):
            buffer.delete_before_cursor(completions[0].length)
            buffer.insert_text(common, fire_event=False)
        else:
            buffer.start_completion()

    # ------------------------------------------------------------------------------------------ below

    def bottom_line(self) -> StyleAndTextTuples:
        """The language bar after a prefix and a pause, else the status line."""
        buffer = self.editor.default_buffer
        width = self.editor.app.output.get_size().columns
        prefix = self._context.settings.prefix
        letters = pending_glyph_name(buffer.document.text_before_cursor, prefix, self._after)
        if letters is not None and time.monotonic() - self._last_key >= self._context.settings.pause / 1000:
            return [("class:rho.bar", "\n".join(language_bar(letters, width)))]
        latest = self.preview.latest
        if not self._context.settings.preview or not latest.line or not buffer.text.strip():
            return [("class:rho.line", "")]
        line = latest.line.splitlines()[0]
        style = "class:rho.wrong" if latest.is_error else "class:rho.line"
        return [(style, line if len(line) < width else line[: width - 2] + "…")]


def _common_prefix(texts: Sequence[str]) -> str:
    """The longest common prefix of some texts."""
    first, last = min(texts), max(texts)
    length = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]


def _indent(document: Document) -> str:
    """The indentation of the line, and two more blanks after an opening bracket."""
    line = document.current_line
    blanks = line[: len(line) - len(line.lstrip())]
    return blanks + ("  " if line.rstrip()[-1:] in ("{", "(", "[") else "")


def _line_of_open_bracket(text: str) -> str:
    """The line with the last bracket that is not closed; empty if there is none."""
    from ...lang.syntax.source import TokenKind, lexemes

    opened: list[int] = []
    for kind, start, end in lexemes(text):
        if kind in (TokenKind.TEXT, TokenKind.UNENDED, TokenKind.COMMENT):
            continue
        if text[start:end] in ("{", "(", "["):
            opened.append(start)
        elif text[start:end] in ("}", ")", "]") and opened:
            opened.pop()
    return text[text.rfind("\n", 0, opened[-1]) + 1 : opened[-1]] if opened else ""


def _history(context: CommandContext) -> History:
    """The history, on disk; in memory if the home cannot be written."""
    directory = repl_folder(context.console.environment)
    if directory is None:
        return InMemoryHistory()
    try:
        directory.mkdir(parents=True, exist_ok=True)
        directory.joinpath("history").touch()
        with open_regular(directory / "history") as file:
            is_small = file.seek(0, os.SEEK_END) <= _MOST_HISTORY_BYTES
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(directory / "history")) if is_small else InMemoryHistory()
