"""The protocol: what editors send goes to plain functions, what these answer goes back.  The only module that imports pygls.

Texts are kept by `documents`, not by pygls, whose notion of a line is another.  A request that fails is reported to the
log and answered with nothing; the server goes on.  Checking waits until the editor pauses for a moment, so that of several
edits in a row the last is checked.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any, TypeVar

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from ... import __version__
from ...lang.diagnostics import Severity
from . import places
from .documents import Document, Folder
from .hover import hover
from .places import Encoding
from .reports import Report, reports

LOG = logging.getLogger("rho.lsp")
SHORTEST_PAUSE, LONGEST_PAUSE = 0.005, 0.3  # seconds

_T = TypeVar("_T")
_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}


class Protocol(LanguageServerProtocol):
    """Leaves the texts of documents to our handlers."""

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE], (params,), None


class RhoServer(LanguageServer):
    """The server and its state."""

    def __init__(self) -> None:
        super().__init__("rho", __version__, protocol_cls=Protocol)
        self.folder = Folder()
        self.waiting: dict[str, asyncio.TimerHandle] = {}
        self.pause = SHORTEST_PAUSE
        self.told_to_stop = False
        self.left_early = False

    def document(self, uri: str) -> Document | None:
        return self.folder.documents.get(uri)

    def check_soon(self, uri: str) -> None:
        """Check when nothing more has come for a moment."""
        known = self.waiting.pop(uri, None)
        if known is not None:
            known.cancel()
        self.waiting[uri] = asyncio.get_running_loop().call_later(self.pause, self.check, uri)

    def check(self, uri: str) -> None:
        """Publish what is wrong with the latest version."""
        self.waiting.pop(uri, None)
        document = self.document(uri)
        if document is None:
            return
        started = time.perf_counter()
        found: list[Report] = safely(lambda: reports(document), [])
        self.pause = min(max((time.perf_counter() - started) / 2, SHORTEST_PAUSE), LONGEST_PAUSE)
        self.publish(uri, document.version, found)

    def publish(self, uri: str, version: int | None, found: list[Report]) -> None:
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, [diagnostic(one) for one in found], version))


def safely(answer: Callable[[], _T], otherwise: _T) -> _T:
    """The answer to a request; `otherwise`, and a line in the log, if Rho has a bug there."""
    try:
        return answer()
    except Exception:  # one request's bug must not take the editor's server away
        LOG.exception("a request failed")
        return otherwise


def range_(found: places.Range) -> lsp.Range:
    return lsp.Range(lsp.Position(*found.start), lsp.Position(*found.end))


def position(found: lsp.Position) -> places.Position:
    return places.Position(found.line, found.character)


def diagnostic(report: Report) -> lsp.Diagnostic:
    related = [
        lsp.DiagnosticRelatedInformation(lsp.Location(one.uri, range_(one.range)), one.message) for one in report.related
    ]
    return lsp.Diagnostic(
        range_(report.range), report.message, _SEVERITIES[report.severity], report.code, source="rho",
        related_information=related or None,
    )  # fmt: skip


def change(found: Any) -> places.Change:
    """A change of the text; without a range it is the whole text."""
    where = getattr(found, "range", None)
    return places.Change(None if where is None else places.Range(position(where.start), position(where.end)), found.text)


def create() -> RhoServer:
    """A server with every feature."""
    server = RhoServer()

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.folder.encoding = Encoding(str(getattr(server.workspace.position_encoding, "value", "utf-16")))
        options = params.initialization_options
        strict = options.get("strict") if isinstance(options, dict) else getattr(options, "strict", False)
        server.folder.strict = strict is True

    @server.feature(lsp.SHUTDOWN)
    def stopping(params: None) -> None:
        server.told_to_stop = True

    @server.feature(lsp.EXIT)
    def leaving(params: None) -> None:
        server.left_early = not server.told_to_stop

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        server.folder.open(item.uri, item.version, item.text)
        server.check_soon(item.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        item = params.text_document
        document = server.folder.change(item.uri, item.version, [change(one) for one in params.content_changes])
        if document is not None:
            for user in [document, *server.folder.users_of(document)]:
                server.check_soon(user.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        server.folder.close(params.text_document.uri)
        server.publish(params.text_document.uri, None, [])

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        document = server.document(params.text_document.uri)
        found = document and safely(lambda: hover(document, position(params.position)), None)
        if not found:
            return None
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, found.markdown), range_(found.range))

    return server
