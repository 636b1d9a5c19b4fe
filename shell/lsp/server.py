"""The language server's process: open texts, when they are checked, and what happens when something goes wrong.

Texts are kept by `documents`, not by pygls, whose notion of a line is another.  A request that fails is reported to the
log and returns an empty result; the server goes on.  Checking waits until the editor pauses for a moment, so that of several
edits in a row the last is checked; memory is tidied up when nothing has been typed for a while.  Everything runs on one thread.

Neighbours: `features` (the requests), `wire` (their types), `shell.verbs.lsp` (which starts it).
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable
from typing import Any, TypeVar

from lsprotocol import types as lsp
from lsprotocol.validators import UINTEGER_MAX_VALUE
from pygls.exceptions import JsonRpcException
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from ... import __version__
from . import wire
from .documents import Document, Folder
from .places import Encoding
from .reports import Report, reports

LOG = logging.getLogger("rho.lsp")
PAUSE = 0.003
"""Seconds to wait for another edit.  Edits that arrive during a check are all read before the next one."""
IDLE = 2.0
"""Seconds without a check after which there is time to `rest`."""

_POSITION = {"line", "character"}

COLLECT = (1_000_000, 20, 1_000)
"""So seldom that a keystroke waits for it only after some hundred without a rest."""

_T = TypeVar("_T")


class Protocol(LanguageServerProtocol):
    """Leaves the texts of documents to our handlers.  Positions outside of what the protocol allows mean the nearest inside; what
    is no request by it is answered by an error."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Of every object of a message that is read, the innermost first."""
        if "jsonrpc" not in data:
            return _within(data)
        try:
            return super().structure_message(data)
        except JsonRpcException as error:
            if "id" in data and "method" in data:
                self._send_response(data["id"], error=error.to_response_error())
            raise

    @lsp_method(lsp.TEXT_DOCUMENT_DID_OPEN)
    def lsp_text_document__did_open(self, params: lsp.DidOpenTextDocumentParams) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_OPEN], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def lsp_text_document__did_change(self, params: lsp.DidChangeTextDocumentParams) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CHANGE], (params,), None

    @lsp_method(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def lsp_text_document__did_close(self, params: lsp.DidCloseTextDocumentParams) -> Any:
        yield self.fm.features[lsp.TEXT_DOCUMENT_DID_CLOSE], (params,), None


def _within(data: dict[str, Any]) -> dict[str, Any]:
    """A position with whole numbers from 0 to what the protocol allows; any other object as it is."""
    if not data.keys() >= _POSITION or not all(type(data[name]) is int for name in _POSITION):
        return data
    return data | {name: min(max(data[name], 0), UINTEGER_MAX_VALUE) for name in _POSITION}


class RhoServer(LanguageServer):
    """The server and its state."""

    def __init__(self) -> None:
        super().__init__("rho", __version__, protocol_cls=Protocol)
        self.folder = Folder()
        self.waiting: dict[str, asyncio.TimerHandle] = {}
        self.resting: asyncio.TimerHandle | None = None
        self.told_to_stop = False
        self.left_early = False

    def ask(self, uri: str, question: Callable[[Document], _T | None]) -> _T | None:
        """The answer about an open document; None if it is not open, and (with a line in the log) if Rho has a bug."""
        document = self.folder.documents.get(uri)
        return None if document is None else safely(lambda: question(document))

    def every(self, uri: str, question: Callable[[Document], list[_T]]) -> list[_T]:
        """As `ask`, for what may be many."""
        return self.ask(uri, question) or []

    def check_soon(self, uri: str) -> None:
        """Check when nothing more has come for a moment."""
        known = self.waiting.pop(uri, None)
        if known is not None:
            known.cancel()
        self.waiting[uri] = asyncio.get_running_loop().call_later(PAUSE, self.check, uri)

    def check(self, uri: str) -> None:
        """Publish what is wrong with the latest version."""
        self.waiting.pop(uri, None)
        document = self.folder.documents.get(uri)
        if document is None:
            return
        self.publish(uri, document.version, safely(lambda: reports(document)) or [])
        if self.resting is not None:
            self.resting.cancel()
        self.resting = asyncio.get_running_loop().call_later(IDLE, rest)

    def publish(self, uri: str, version: int | None, found: list[Report]) -> None:
        shown = [wire.diagnostic(one) for one in found]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, version))


def safely(answer: Callable[[], _T | None]) -> _T | None:
    """The answer to a request; None, and a line in the log, if Rho has a bug there."""
    try:
        return answer()
    except Exception:  # one request's bug must not take the editor's server away
        LOG.exception("a request failed")
        return None


def rest() -> None:
    """What is best done while nobody waits: old versions are forgotten, and what costs are worked out with is imported."""
    from ..display import costs  # noqa: F401

    gc.collect()


def life(server: RhoServer) -> None:
    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        encoding = server.workspace.position_encoding
        server.folder.encoding = Encoding(str(getattr(encoding, "value", encoding or "utf-16")))
        options = params.initialization_options
        strict = options.get("strict") if isinstance(options, dict) else getattr(options, "strict", False)
        server.folder.strict = strict is True
        devices = options.get("devices") if isinstance(options, dict) else getattr(options, "devices", None)
        server.folder.devices = devices if isinstance(devices, str) and devices else None

    @server.feature(lsp.SHUTDOWN)
    def stopping(params: None) -> None:
        server.told_to_stop = True

    @server.feature(lsp.EXIT)
    def leaving(params: None) -> None:
        server.left_early = not server.told_to_stop


def texts(server: RhoServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        document = server.folder.open(item.uri, item.version, item.text)
        for one in [document, *server.folder.users_of(document)]:
            server.check_soon(one.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        item = params.text_document
        document = server.folder.change(item.uri, item.version, [wire.change(one) for one in params.content_changes])
        if document is not None:
            for one in [document, *server.folder.users_of(document)]:
                server.check_soon(one.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        """Nothing: what is open is what counts."""

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: lsp.DidChangeWatchedFilesParams) -> None:
        for uri in server.folder.read_again():
            server.check_soon(uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        document = server.folder.documents.get(uri)
        server.folder.close(uri)
        server.publish(uri, None, [])
        for one in server.folder.users_of(document) if document is not None else []:
            server.check_soon(one.uri)
