"""The session in a terminal: prompt_toolkit's editor with Rho's keys, colours, completion, language bar and bottom line.

Everything is decided elsewhere (`glyphs`, `completing`, `colours`, `preview`); this wires it.  `input` and `output` are
prompt_toolkit's and are given by tests.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

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

from ...lang.opening import open_regular
from ..searching.completing import pending
from ..workspace.pasting import CONTINUED, typed
from . import glyphs
from .colours import coloured
from .commands import COMMANDS, Desk
from .completing import offers
from .loop import PROMPT
from .preview import Watcher
from .settings import folder

_LARGEST_HISTORY = 16 << 20

STYLE = Style.from_dict({
    "rho.function": "ansiblue", "rho.operator": "ansimagenta", "rho.defined": "bold", "rho.module": "ansicyan",
    "rho.argument": "ansicyan", "rho.type": "ansiyellow", "rho.keyword": "ansired", "rho.comment": "ansibrightblack italic",
    "rho.text": "ansigreen", "rho.number": "", "rho.bracket": "", "rho.command": "ansiyellow",
    "rho.line": "noreverse ansibrightblack", "rho.wrong": "noreverse ansired", "rho.bar": "noreverse",
    "bottom-toolbar": "noreverse", "matching-bracket.cursor": "bold ansiyellow", "matching-bracket.other": "bold ansiyellow",
})  # fmt: skip


class _Colours(Lexer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        lines, types = document.lines, self._desk.types

        def line(number: int) -> StyleAndTextTuples:
            if number >= len(lines):
                return []
            return [(f"class:rho.{kind}" if kind else "", text) for kind, text in coloured(lines[number], types)]

        return line


class _Completer(Completer):
    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        for offer in offers(document.text_before_cursor, self._desk.workspace, self._desk.settings.prefix, COMMANDS):
            yield Completion(offer.text, -offer.length, display=offer.label, display_meta=offer.about)


class Terminal:
    """Reads entries from a terminal until Ctrl-D."""

    def __init__(self, desk: Desk, input: Input | None = None, output: Output | None = None) -> None:
        self._desk = desk
        self._last_key = 0.0
        self._pasting = False
        self._after = 0
        self.editor: PromptSession[str] = PromptSession(
            lexer=_Colours(desk), completer=_Completer(desk), complete_while_typing=False, history=_history(desk),
            auto_suggest=AutoSuggestFromHistory(), key_bindings=self._keys(), bottom_toolbar=self.bottom, style=STYLE,
            multiline=True, enable_history_search=True, input_processors=[HighlightMatchingBracketProcessor()],
            prompt_continuation=lambda *_: CONTINUED, input=input, output=output, include_default_pygments_style=False,
            reserve_space_for_menu=6,
            color_depth=None if desk.console.colours_results else ColorDepth.DEPTH_1_BIT,
        )  # fmt: skip
        self.editor.default_buffer.on_text_insert += self._inserted
        self.editor.default_buffer.on_text_changed += self._changed
        self.watcher = Watcher(lambda: desk.workspace, self.editor.app.invalidate)
        self.editor.app.after_render += lambda _: self.watcher.start()

    def entries(self) -> Iterator[str]:
        """Entries as finished with Enter; Ctrl-C clears the line, Ctrl-D on an empty one ends."""
        return self

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        """Not a generator, which an interrupt at the wrong moment would end."""
        while True:
            self._after = 0
            try:
                text = glyphs.finished(self.editor.prompt(PROMPT), self._desk.settings.prefix)
                if text.strip():
                    self.watcher.pause()
                    return text
            except KeyboardInterrupt:
                continue
            except EOFError:
                raise StopIteration from None

    def close(self) -> None:
        self.watcher.stop()

    # ------------------------------------------------------------------------------------------ typing

    def _inserted(self, buffer: Buffer) -> None:
        """After a character was typed: a finished spelling becomes its glyph."""
        if self._pasting:
            return
        before, prefix = buffer.document.text_before_cursor, self._desk.settings.prefix
        self._after = min(self._after, len(before))
        found = glyphs.replacement(before, prefix, self._after)
        if found is None:
            return
        if found.text == prefix:
            self._after = len(before) - found.length + 1
        self._pasting = True
        try:
            buffer.delete_before_cursor(found.length)
            buffer.insert_text(found.text)
        finally:
            self._pasting = False

    def _changed(self, buffer: Buffer) -> None:
        self._last_key = time.monotonic()
        if self._desk.settings.preview:
            self.watcher.want(buffer.text)
        if pending(buffer.document.text_before_cursor, self._desk.settings.prefix, self._after) is not None:
            try:
                loop = asyncio.get_running_loop()
            except RuntimeError:
                return
            loop.call_later(self._desk.settings.pause / 1000 + 0.01, self.editor.app.invalidate)

    def _keys(self) -> KeyBindings:
        keys = KeyBindings()
        buffered = Condition(lambda: self.editor.app.layout.current_buffer is self.editor.default_buffer)

        @keys.add("enter", filter=buffered)
        def _(event: KeyPressEvent) -> None:
            from ...lang.resolution.entries import unfinished

            buffer = event.current_buffer
            if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
                buffer.complete_state = None
                return
            document = buffer.document
            ended = buffer.text.endswith("\n") or not document.current_line.strip()
            if not buffer.text.lstrip().startswith(")") and not ended and unfinished(buffer.text):
                buffer.insert_text("\n" + _indent(document))
            elif document.cursor_position < len(buffer.text) and "\n" in document.text_after_cursor:
                buffer.cursor_position = len(buffer.text)
            else:
                buffer.validate_and_handle()

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
            text = typed(event.data.replace("\r\n", "\n").replace("\r", "\n"))
            self._pasting = True
            try:
                event.current_buffer.insert_text(text)
            finally:
                self._pasting = False

        return keys

    def _complete(self, buffer: Buffer) -> None:
        """What all offers begin with is put in at once; of several a menu opens."""
        found = offers(buffer.document.text_before_cursor, self._desk.workspace, self._desk.settings.prefix, COMMANDS)
        if not found:
            return
        common = _common([offer.text for offer in found])
        if len({offer.text for offer in found}) == 1 or len(common) > max(offer.length for offer in found):
            buffer.delete_before_cursor(found[0].length)
            buffer.insert_text(common, fire_event=False)
        else:
            buffer.start_completion()

    # ------------------------------------------------------------------------------------------ below

    def bottom(self) -> StyleAndTextTuples:
        """The language bar after a prefix and a pause, else the line about what is typed."""
        buffer = self.editor.default_buffer
        width = self.editor.app.output.get_size().columns
        prefix = self._desk.settings.prefix
        letters = pending(buffer.document.text_before_cursor, prefix, self._after)
        if letters is not None and time.monotonic() - self._last_key >= self._desk.settings.pause / 1000:
            return [("class:rho.bar", "\n".join(glyphs.bar(letters, width)))]
        latest = self.watcher.latest
        if not self._desk.settings.preview or not latest.line or not buffer.text.strip():
            return [("class:rho.line", "")]
        line = latest.line.splitlines()[0]
        return [("class:rho.wrong" if latest.wrong else "class:rho.line", line if len(line) < width else line[: width - 2] + "…")]


def _common(texts: Sequence[str]) -> str:
    """What all of them begin with."""
    first, last = min(texts), max(texts)
    length = next((at for at, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    return first[:length]


def _indent(document: Document) -> str:
    """Blanks of the line, and two more after an opening bracket."""
    line = document.current_line
    blanks = line[: len(line) - len(line.lstrip())]
    return blanks + ("  " if line.rstrip()[-1:] in ("{", "(", "[") else "")


def _history(desk: Desk) -> History:
    """On disk; in memory where the home cannot be written."""
    place = folder(desk.console.environment)
    if place is None:
        return InMemoryHistory()
    try:
        place.mkdir(parents=True, exist_ok=True)
        place.joinpath("history").touch()
        with open_regular(place / "history") as file:
            whole = file.seek(0, os.SEEK_END) <= _LARGEST_HISTORY
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(place / "history")) if whole else InMemoryHistory()
