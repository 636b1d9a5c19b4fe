"""Open documents: their versions, symbol indexes and check results, each computed on demand and memoised.

A module that is open in the editor is read from there, not from disk.  Not thread-safe.  All versions of a document share one
`Checker` of `typechecker.check`, so that checking costs what changed.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlsplit

from ...lang.bind.scopes import SymbolIndex
from ...lang.diagnostics.model import Code, Diagnostic, RhoError
from ...lang.foreign import hints
from ...lang.support.records import cached_property, dataclass, field, replace
from ...lang.syntax.parser import parse
from ...lang.syntax.source import LIBRARY_PREFIX, Source, Span
from ...typechecker.check import Checker
from ..console.process_exit import UsageError
from ..display.documentation import STDLIB
from ..execution.modules import ModuleLoader
from ..execution.params import UNRESTRICTED
from ..pipeline import Session
from ..pipeline_types import Checked

# ---------------------------------------------------------------------------------------------------- positions
#
# Positions as editors count them, and texts that change by ranges.
#
# A character is a code point here and in spans; in an editor it is one or two UTF-16 units (or UTF-8 bytes, or a code point,
# as agreed when the editor connects).  A line ends at ``\n``, ``\r\n`` or ``\r`` and nowhere else.

class PositionEncoding(Enum):
    """The unit of columns."""

    UTF16 = "utf-16"
    UTF8 = "utf-8"
    UTF32 = "utf-32"

    def units(self, text: str) -> int:
        """The number of columns of a text."""
        match self:
            case PositionEncoding.UTF32:
                return len(text)
            case PositionEncoding.UTF8:
                return len(text.encode("utf-8", "surrogatepass"))
            case PositionEncoding.UTF16:
                return len(text) + sum(1 for character in text if character > "\uffff")


class TextPosition(NamedTuple):
    """A line and a column, both from 0; the encoding says what a column counts."""

    line: int
    column: int


class Range(NamedTuple):
    start: TextPosition
    end: TextPosition


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace `range` by `text`."""

    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class TextChange:
    """An edit that an editor reports: a new text for a range, or (None) for the whole document."""

    range: Range | None
    text: str


_LINE_END = re.compile("\r\n|\n|\r")


class TextLines:
    """A text with its lines; a position outside of it stands for the nearest one inside."""

    def __init__(self, text: str, encoding: PositionEncoding = PositionEncoding.UTF16) -> None:
        self.text = text
        self.encoding = encoding
        ends = [(match.start(), match.end()) for match in _LINE_END.finditer(text)]
        self._starts = [0, *[after for _, after in ends]]
        self._ends = [*[before for before, _ in ends], len(text)]

    def __len__(self) -> int:
        return len(self._starts)

    def line(self, number: int) -> str:
        """A line without its end; empty if there is none of that number."""
        return self.text[self._starts[number] : self._ends[number]] if 0 <= number < len(self._starts) else ""

    def start(self, number: int) -> int:
        """The offset of a line's first character."""
        return self._starts[min(max(number, 0), len(self._starts) - 1)]

    def offset(self, position: TextPosition) -> int:
        """The character offset of a position; a position inside a character counts as its start."""
        line, column = position
        if line < 0:
            return 0
        if line >= len(self._starts):
            return len(self.text)
        start, end = self._starts[line], self._ends[line]
        text = self.text[start:end]
        if text.isascii() or self.encoding is PositionEncoding.UTF32:
            return min(start + max(column, 0), end)
        left = column
        for at, character in enumerate(text):
            width = self.encoding.units(character)
            if left < width:
                return start + at
            left -= width
        return end

    def position(self, offset: int) -> TextPosition:
        """The position of a character offset."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset) - 1
        start = self._starts[line]
        return TextPosition(line, self.encoding.units(self.text[start : min(offset, self._ends[line])]))

    def range(self, start: int, end: int) -> Range:
        return Range(self.position(start), self.position(max(start, end)))

    def range_of(self, span: Span) -> Range:
        """The range of a span of this text."""
        return self.range(span.start, span.end)

    def full_range(self) -> Range:
        return Range(TextPosition(0, 0), self.position(len(self.text)))


def apply_changes(lines: TextLines, changes: Sequence[TextChange]) -> TextLines:
    """The text after changes; the range of each refers to the text that the previous one left."""
    for change in changes:
        if change.range is None:
            lines = TextLines(change.text, lines.encoding)
            continue
        start, end = lines.offset(change.range.start), lines.offset(change.range.end)
        if end < start:
            start, end = end, start
        lines = TextLines(lines.text[:start] + change.text + lines.text[end:], lines.encoding)
    return lines


# ---------------------------------------------------------------------------------------------------- URIs
#
# Editors name files by URIs (`file:///…`), the checker by paths or `<stdlib>/…`.

def path_of(uri: str) -> str:
    """The path of a `file:` URI; any other URI (`untitled:1`) in angle brackets, which no path has."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return f"<{uri}>"
    path = unquote(parts.path)
    if os.name == "nt":
        path = path.removeprefix("/").replace("/", "\\")
    return os.path.normpath(path)


def uri_of(name: str) -> str | None:
    """The URI of a source by its name; None if it is not a file."""
    if name.startswith(LIBRARY_PREFIX):
        name = str(STDLIB / name.removeprefix(LIBRARY_PREFIX))
    if name.startswith("<"):
        return name[1:-1] if ":" in name else None
    path = os.path.abspath(name).replace("\\", "/")
    return "file://" + quote(path if path.startswith("/") else "/" + path, safe="/:")


# ---------------------------------------------------------------------------------------------------- documents

T = TypeVar("T")


class Document:
    """One version of an open text.  `checked` and `index` are computed at most once."""

    def __init__(self, uri: str, version: int, lines: TextLines, checker: Checker, folder: OpenDocuments) -> None:
        self.uri = uri
        self.name = path_of(uri)
        self.version = version
        self.lines = lines
        self._checker = checker
        self._folder = folder
        self._memo: dict[Callable[[Document], Any], Any] = {}

    @property
    def text(self) -> str:
        return self.lines.text

    @cached_property
    def source(self) -> Source:
        return Source(self.name, self.text)

    @cached_property
    def index(self) -> SymbolIndex:
        """The symbols and references of the text; needs no checking."""
        try:
            return self._checker.read(self.source, self._folder.modules().load).index
        except (RhoError, UsageError):
            return parse(self.source).index

    @cached_property
    def checked(self) -> Checked:
        """The result of checking this version; modules are read, data is not."""
        session = Session(texts=self._folder.texts(), devices=self._folder.devices)
        try:
            checked = session.check(self.source, self._checker)
        except RhoError as error:
            return self._refused(error.diagnostics)
        except UsageError as error:
            return self._refused((Diagnostic(Code.E019, error.message, Span(self.name, 0, 0)),))
        except RecursionError:
            deep = "the program is too deeply nested for Rho to check; name its parts to make it flatter"
            return self._refused((Diagnostic(Code.E610, deep, Span(self.name, 0, 0)),))
        notes = hints.lint_foreign_syntax(
            self.source, checked.diagnostics, lambda text: session.check(text, self._checker).diagnostics
        )
        return replace(checked, diagnostics=(*checked.diagnostics, *notes))

    def _refused(self, diagnostics: Sequence[Diagnostic]) -> Checked:
        return Checked(self.source, None, tuple(diagnostics), {self.name: self.source})

    @property
    def has_commands(self) -> bool:
        """May links name commands of the editor?"""
        return self._folder.has_commands

    def memoised(self, work: Callable[[Document], T]) -> T:
        """`work(self)`, computed once for this version."""
        if work not in self._memo:
            self._memo[work] = work(self)
        value: T = self._memo[work]
        return value

    def edited(self, version: int, changes: Sequence[TextChange]) -> Document:
        """The next version, after changes."""
        return Document(self.uri, version, apply_changes(self.lines, changes), self._checker, self._folder)

    def fresh_copy(self) -> Document:
        """The same version without its results, since a module has changed."""
        return Document(self.uri, self.version, self.lines, self._checker, self._folder)

    def other_documents(self) -> list[Document]:
        """The other open documents."""
        return [one for one in self._folder.documents.values() if one.uri != self.uri]

    def module(self, path: str) -> Source | None:
        """The text of a module by the path in `use`; None if it cannot be read."""
        try:
            return self._folder.modules().load(path, self.name)
        except (RhoError, UsageError):
            return None


@dataclass(slots=True)
class OpenDocuments:
    """The open documents by URI, and the editor's options: strictness, devices of schedule blocks, encoding of columns, and
    whether it has the command `rho.costs`, which links may name."""

    strict: bool = False
    devices: str | None = None
    has_commands: bool = False
    encoding: PositionEncoding = PositionEncoding.UTF16
    documents: dict[str, Document] = field(default_factory=dict)

    def texts(self) -> dict[str, Source]:
        """The sources of the open documents, by name."""
        return {document.name: document.source for document in self.documents.values()}

    def modules(self) -> ModuleLoader:
        """A loader that reads modules from open documents, then from disk."""
        return ModuleLoader("", UNRESTRICTED, self.texts())

    def open(self, uri: str, version: int, text: str) -> Document:
        document = Document(uri, version, TextLines(text, self.encoding), Checker(strict=self.strict), self)
        self.documents[uri] = document
        return document

    def change(self, uri: str, version: int, changes: Sequence[TextChange]) -> Document | None:
        """The new version of a document; None if it is not open."""
        known = self.documents.get(uri)
        if known is None:
            return None
        self.documents[uri] = known.edited(version, changes)
        return self.documents[uri]

    def close(self, uri: str) -> None:
        self.documents.pop(uri, None)

    def invalidate_importers(self) -> list[str]:
        """Drop the results of all documents that use modules, after a file has changed; returns their URIs."""
        importers = [uri for uri, one in self.documents.items() if any(symbol.path for symbol in one.index.symbols)]
        for uri in importers:
            self.documents[uri] = self.documents[uri].fresh_copy()
        return importers

    def invalidate_users(self, document: Document) -> list[Document]:
        """Drop the results of the open documents that have read `document` as a module; returns these documents."""
        users = []
        for uri, other in self.documents.items():
            if other is not document and "checked" in vars(other) and document.name in other.checked.sources:
                self.documents[uri] = other.fresh_copy()
                users.append(self.documents[uri])
        return users
