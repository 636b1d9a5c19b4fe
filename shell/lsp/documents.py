"""Open documents: their versions, symbol indexes and check results, each computed on demand and memoised.

A module that is open is read as it stands in the editor, not as it was saved.  One thread at a time.
Each document has one `Checker` of `typechecker.check`.
"""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from enum import Enum
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, unquote, urlsplit

from ...lang.bind.names import LIBRARY_PREFIX
from ...lang.bind.scopes import SymbolIndex
from ...lang.diagnostics.model import Code, Diagnostic, RhoError
from ...lang.foreign import hints
from ...lang.support.records import cached_property, dataclass
from ...lang.syntax.parser import parse
from ...lang.syntax.source import Source, Span
from ...typechecker.check import Checker
from ..console.usage_errors import UsageError
from ..display.documentation import STDLIB
from ..execution.modules import ModuleLoader
from ..execution.params import UNRESTRICTED
from ..pipeline import Session
from ..pipeline_types import Checked

# ---------------------------------------------------------------------------------------------------- places
#
# Positions as editors count them, and texts that change by ranges.
#
# A character is a code point here and in spans; in an editor it is one or two UTF-16 units (or UTF-8 bytes, or a code point,
# as agreed when the editor connects).  A line ends at ``\n``, ``\r\n`` or ``\r`` and nowhere else.
# Neighbours: every module of the language server.

class PositionEncoding(Enum):
    """What a column counts."""

    UTF16 = "utf-16"
    UTF8 = "utf-8"
    UTF32 = "utf-32"

    def units(self, text: str) -> int:
        """How far a text moves the column."""
        match self:
            case PositionEncoding.UTF32:
                return len(text)
            case PositionEncoding.UTF8:
                return len(text.encode("utf-8", "surrogatepass"))
            case PositionEncoding.UTF16:
                return len(text) + sum(1 for character in text if character > "\uffff")


class TextPosition(NamedTuple):
    """Both count from 0."""

    line: int
    column: int


class Range(NamedTuple):
    start: TextPosition
    end: TextPosition


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Put `text` where `range` is."""

    range: Range
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """What an editor reports: a new text for a range, or (None) for the whole document."""

    range: Range | None
    text: str


_LINE_END = re.compile("\r\n|\n|\r")


class Lines:
    """A text with its lines; every position outside of it means the nearest place inside."""

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
        """The character offset of a position; the inside of a character is its start."""
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

    def of(self, span: Span) -> Range:
        """The range of a span of this text."""
        return self.range(span.start, span.end)

    def full_range(self) -> Range:
        return Range(TextPosition(0, 0), self.position(len(self.text)))


def changed(lines: Lines, changes: Sequence[Change]) -> Lines:
    """The text after changes, each of which counts in what the one before it left."""
    for change in changes:
        if change.range is None:
            lines = Lines(change.text, lines.encoding)
            continue
        start, end = lines.offset(change.range.start), lines.offset(change.range.end)
        if end < start:
            start, end = end, start
        lines = Lines(lines.text[:start] + change.text + lines.text[end:], lines.encoding)
    return lines


# ---------------------------------------------------------------------------------------------------- uris
#
# Files as editors name them (`file:///…`) and as the checker does (paths, `<stdlib>/…`).

def path_of(uri: str) -> str:
    """The path of a file; of anything else (`untitled:1`) a name in angle brackets, which no file has."""
    parts = urlsplit(uri)
    if parts.scheme != "file":
        return f"<{uri}>"
    path = unquote(parts.path)
    if os.name == "nt":
        path = path.removeprefix("/").replace("/", "\\")
    return os.path.normpath(path)


def uri_of(name: str) -> str | None:
    """The address of a source by its name; None if it is not a file."""
    if name.startswith(LIBRARY_PREFIX):
        name = str(STDLIB / name.removeprefix(LIBRARY_PREFIX))
    if name.startswith("<"):
        return name[1:-1] if ":" in name else None
    path = os.path.abspath(name).replace("\\", "/")
    return "file://" + quote(path if path.startswith("/") else "/" + path, safe="/:")


# ---------------------------------------------------------------------------------------------------- documents

T = TypeVar("T")


class Document:
    """One version of an open text.  `checked` and `index` are worked out once."""

    def __init__(self, uri: str, version: int, lines: Lines, checker: Checker, folder: WorkspaceFolder) -> None:
        self.uri = uri
        self.name = path_of(uri)
        self.version = version
        self.lines = lines
        self._checker = checker
        self._folder = folder
        self._kept: dict[Callable[[Document], Any], Any] = {}

    @property
    def text(self) -> str:
        return self.lines.text

    @cached_property
    def source(self) -> Source:
        return Source(self.name, self.text)

    @cached_property
    def index(self) -> SymbolIndex:
        """What its names stand for, which needs no checking."""
        try:
            return self._checker.read(self.source, self._folder.modules().load).index
        except (RhoError, UsageError):
            return parse(self.source).index

    @cached_property
    def checked(self) -> Checked:
        """What checking this version found; modules are read, data is not."""
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
        return replace(checked, diagnostics=(*checked.diagnostics, *hints.lint_foreign_syntax(self.source, checked.diagnostics)))

    def _refused(self, diagnostics: Sequence[Diagnostic]) -> Checked:
        return Checked(self.source, None, tuple(diagnostics), {self.name: self.source})

    def memoised(self, work: Callable[[Document], T]) -> T:
        """What is worked out of this version once."""
        if work not in self._kept:
            self._kept[work] = work(self)
        value: T = self._kept[work]
        return value

    def after(self, version: int, changes: Sequence[Change]) -> Document:
        """The next version."""
        return Document(self.uri, version, changed(self.lines, changes), self._checker, self._folder)

    def again(self) -> Document:
        """The same version, to be checked once more because a module changed."""
        return Document(self.uri, self.version, self.lines, self._checker, self._folder)

    def others(self) -> list[Document]:
        """The other open documents."""
        return [one for one in self._folder.documents.values() if one.uri != self.uri]

    def module(self, path: str) -> Source | None:
        """The text of a module that this document uses, by what `use` says."""
        try:
            return self._folder.modules().load(path, self.name)
        except (RhoError, UsageError):
            return None


@dataclass(slots=True)
class WorkspaceFolder:
    """Everything that is open, by URI, and how columns and strictness were agreed on."""

    strict: bool = False
    devices: str | None = None
    encoding: PositionEncoding = PositionEncoding.UTF16
    documents: dict[str, Document] = field(default_factory=dict)

    def texts(self) -> dict[str, Source]:
        """What is open, by name."""
        return {document.name: document.source for document in self.documents.values()}

    def modules(self) -> ModuleLoader:
        """Reads modules from the editor's texts, then from disk."""
        return ModuleLoader("", UNRESTRICTED, self.texts())

    def open(self, uri: str, version: int, text: str) -> Document:
        document = Document(uri, version, Lines(text, self.encoding), Checker(strict=self.strict), self)
        self.documents[uri] = document
        return document

    def change(self, uri: str, version: int, changes: Sequence[Change]) -> Document | None:
        """The new version; None if the document is not open."""
        known = self.documents.get(uri)
        if known is None:
            return None
        self.documents[uri] = known.after(version, changes)
        return self.documents[uri]

    def close(self, uri: str) -> None:
        self.documents.pop(uri, None)

    def read_again(self) -> list[str]:
        """The documents that use files, made ready to be checked again because a file changed."""
        importers = [uri for uri, one in self.documents.items() if any(symbol.path for symbol in one.index.symbols)]
        for uri in importers:
            self.documents[uri] = self.documents[uri].again()
        return importers

    def users_of(self, document: Document) -> list[Document]:
        """The open documents that have read another, made ready to be checked again."""
        users = []
        for uri, other in self.documents.items():
            if other is not document and "checked" in vars(other) and document.name in other.checked.sources:
                self.documents[uri] = other.again()
                users.append(self.documents[uri])
        return users
