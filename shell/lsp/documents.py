"""The open texts: their versions, their names and what checking them found, each worked out when asked for and kept.

A module that is open is read as it stands in the editor, not as it was saved.  One thread at a time.
Neighbours: `typechecker.incremental` (one `Checker` a document), `index`, every answer of the server.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from ...lang import habits_told
from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, RhoError
from ...lang.parser import parse
from ...lang.properties import cached_property
from ...lang.resolution.symbols import Index
from ...lang.source import Source, Span
from ...typechecker.incremental import Checker
from ..cli.arguments import UsageError
from ..execution.modules import ModuleLoader
from ..execution.permissions import EVERYTHING
from ..session import Session
from ..stages import Checked
from .places import Change, Encoding, Lines, changed
from .uris import path_of

T = TypeVar("T")


class Document:
    """One version of an open text.  `checked` and `index` are worked out once."""

    def __init__(self, uri: str, version: int, lines: Lines, checker: Checker, folder: Folder) -> None:
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
    def index(self) -> Index:
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
            found = session.check(self.source, self._checker)
        except RhoError as error:
            return self._refused(error.diagnostics)
        except UsageError as error:
            return self._refused((Diagnostic(Code.E019, error.message, Span(self.name, 0, 0)),))
        except RecursionError:
            deep = "the program is too deeply nested for Rho to check; name its parts to make it flatter"
            return self._refused((Diagnostic(Code.E610, deep, Span(self.name, 0, 0)),))
        return replace(found, diagnostics=(*found.diagnostics, *habits_told.notes(self.source, found.diagnostics)))

    def _refused(self, diagnostics: Sequence[Diagnostic]) -> Checked:
        return Checked(self.source, None, tuple(diagnostics), {self.name: self.source})

    def kept(self, work: Callable[[Document], T]) -> T:
        """What is worked out of this version once."""
        if work not in self._kept:
            self._kept[work] = work(self)
        made: T = self._kept[work]
        return made

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
class Folder:
    """Everything that is open, by URI, and how columns and strictness were agreed on."""

    strict: bool = False
    devices: str | None = None
    encoding: Encoding = Encoding.UTF16
    documents: dict[str, Document] = field(default_factory=dict)

    def texts(self) -> dict[str, Source]:
        """What is open, by name."""
        return {document.name: document.source for document in self.documents.values()}

    def modules(self) -> ModuleLoader:
        """Reads modules from the editor's texts, then from disk."""
        return ModuleLoader("", EVERYTHING, self.texts())

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
        found = [uri for uri, one in self.documents.items() if any(symbol.path for symbol in one.index.symbols)]
        for uri in found:
            self.documents[uri] = self.documents[uri].again()
        return found

    def users_of(self, document: Document) -> list[Document]:
        """The open documents that have read another, made ready to be checked again."""
        found = []
        for uri, other in self.documents.items():
            if other is not document and "checked" in vars(other) and document.name in other.checked.sources:
                self.documents[uri] = other.again()
                found.append(self.documents[uri])
        return found
