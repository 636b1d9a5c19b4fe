"""The language server's process: converts requests and answers, schedules checks, and survives failing requests.

`documents` holds the texts, not pygls, which counts lines differently.  A request that fails is logged and returns an empty
result.  Checking waits until the editor pauses, so that only the last of several edits is checked; garbage is collected when
nothing has been typed for a while.  Everything runs on one thread.
"""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

from lsprotocol import types as lsp
from lsprotocol.validators import UINTEGER_MAX_VALUE
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer
from pygls.protocol import LanguageServerProtocol, lsp_method

from ... import __version__
from ...lang.diagnostics.model import Severity
from ...lang.tree.expressions import SymbolKind
from ..searching.results import CompletionKind
from . import (
    completion,
    diagnostics,
    documents,
    hints,
    hover as hovers,
    navigation,
)
from .diagnostics import Action, DocumentReport, page_uri, reports
from .documents import Document, OpenDocuments, PositionEncoding
from .hints import Hint, HintKind, Lens
from .navigation import CallSignature, DocumentRange, Highlight, OutlineEntry

# ---------------------------------------------------------------------------------------------------- conversion
#
# Conversion between the plain values of this room and the types of `lsprotocol`.

_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}
_COMPLETION_KINDS = {
    CompletionKind.ARRAY: lsp.CompletionItemKind.Variable, CompletionKind.FUNCTION: lsp.CompletionItemKind.Function,
    CompletionKind.OPERATOR: lsp.CompletionItemKind.Operator, CompletionKind.MODULE: lsp.CompletionItemKind.Module,
    CompletionKind.PARAM: lsp.CompletionItemKind.Constant, CompletionKind.SIZE: lsp.CompletionItemKind.TypeParameter,
    CompletionKind.TYPE: lsp.CompletionItemKind.Class, CompletionKind.KEYWORD: lsp.CompletionItemKind.Keyword,
    CompletionKind.GLYPH: lsp.CompletionItemKind.Function,
}  # fmt: skip
_SYMBOLS = {
    SymbolKind.ARRAY: lsp.SymbolKind.Variable, SymbolKind.FUNCTION: lsp.SymbolKind.Function,
    SymbolKind.OPERATOR: lsp.SymbolKind.Operator, SymbolKind.MODULE: lsp.SymbolKind.Module,
    SymbolKind.INPUT: lsp.SymbolKind.Variable, SymbolKind.PARAM: lsp.SymbolKind.Constant,
    SymbolKind.SIZE: lsp.SymbolKind.TypeParameter, SymbolKind.ELEMENT: lsp.SymbolKind.TypeParameter,
}  # fmt: skip


# ------------------------------------------------------------------------------------------ from the protocol


def position(source: lsp.Position) -> documents.TextPosition:
    return documents.TextPosition(source.line, source.character)


def text_range(source: lsp.Range) -> documents.Range:
    return documents.Range(position(source.start), position(source.end))


def change(source: Any) -> documents.TextChange:
    """A change of the text; without a range, of the whole text."""
    where = getattr(source, "range", None)
    return documents.TextChange(None if where is None else text_range(where), source.text)


def kinds(asked: lsp.CodeActionContext) -> tuple[str, ...] | None:
    """The kinds of code actions that are requested; None for all."""
    return None if asked.only is None else tuple(str(getattr(kind, "value", kind)) for kind in asked.only)


# ------------------------------------------------------------------------------------------ to the protocol


def range_(source: documents.Range) -> lsp.Range:
    return lsp.Range(lsp.Position(*source.start), lsp.Position(*source.end))


def markdown(text: str) -> lsp.MarkupContent:
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, text)


def hover(source: hovers.Hover) -> lsp.Hover:
    return lsp.Hover(markdown(source.markdown), range_(source.range))


def location(source: DocumentRange) -> lsp.Location:
    return lsp.Location(source.uri, range_(source.range))


def highlight(source: Highlight) -> lsp.DocumentHighlight:
    kind = lsp.DocumentHighlightKind.Write if source.writes else lsp.DocumentHighlightKind.Read
    return lsp.DocumentHighlight(range_(source.range), kind)


def lens(uri: str, source: Lens) -> lsp.CodeLens:
    return lsp.CodeLens(range_(source.range), data={"uri": uri, "name": source.name})


def edit(source: documents.TextEdit) -> lsp.TextEdit:
    return lsp.TextEdit(range_(source.range), source.text)


def diagnostic(report: DocumentReport) -> lsp.Diagnostic:
    """A diagnostic with its related locations and a link to the page of its code."""
    page = page_uri(report.code)
    related = [lsp.DiagnosticRelatedInformation(lsp.Location(one.uri, range_(one.range)), one.message) for one in report.related]
    return lsp.Diagnostic(
        range_(report.range), report.message, _SEVERITIES[report.severity], report.code, source="rho",
        related_information=related or None, code_description=None if page is None else lsp.CodeDescription(page),
    )  # fmt: skip


def item(source: completion.CompletionEntry) -> lsp.CompletionItem:
    """A completion, ranked by its order and matched with its filter."""
    return lsp.CompletionItem(
        source.label, kind=_COMPLETION_KINDS[source.kind], detail=source.detail or None, text_edit=edit(source.edit),
        filter_text=source.filter,
        sort_text=f"{source.order}{source.filter}", additional_text_edits=[edit(one) for one in source.additional_edits] or None,
        documentation=markdown(source.documentation) if source.documentation else None,
    )  # fmt: skip


def hint(source: Hint) -> lsp.InlayHint:
    kind = lsp.InlayHintKind.Parameter if source.kind is HintKind.QUANTITY else lsp.InlayHintKind.Type
    return lsp.InlayHint(lsp.Position(*source.position), source.text, kind, tooltip=source.detail or None)


def action(source: Action) -> lsp.CodeAction:
    """A code action with its edits by URI."""
    changes = {uri: [edit(one) for one in edits] for uri, edits in source.edits.items()}
    resolved = None if source.resolves is None else [diagnostic(source.resolves)]
    return lsp.CodeAction(
        source.title, lsp.CodeActionKind(source.kind.value), diagnostics=resolved, is_preferred=source.is_only_fix or None,
        edit=lsp.WorkspaceEdit(changes=changes),
    )  # fmt: skip


def symbol(source: OutlineEntry) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        source.name, _SYMBOLS[source.kind], range_(source.range), range_(source.name_range), source.detail or None,
        children=[symbol(one) for one in source.inside] or None,
    )  # fmt: skip


def fold(source: documents.Range) -> lsp.FoldingRange:
    return lsp.FoldingRange(source.start.line, source.end.line)


def workspace_symbol(uri: str, source: OutlineEntry) -> lsp.WorkspaceSymbol:
    return lsp.WorkspaceSymbol(lsp.Location(uri, range_(source.name_range)), source.name, _SYMBOLS[source.kind])


def signatures(source: list[CallSignature]) -> lsp.SignatureHelp:
    """The signatures of a function whose last argument is being typed."""
    information = [
        lsp.SignatureInformation(
            one.label, markdown(one.doc) if one.doc else None, [lsp.ParameterInformation(part) for part in one.parameters]
        )
        for one in source
    ]
    return lsp.SignatureHelp(information, active_signature=0, active_parameter=max(len(source[0].parameters) - 1, 0))


# ---------------------------------------------------------------------------------------------------- server

LOG = logging.getLogger("rho.lsp")
CHECK_DELAY = 0.003
"""Seconds to wait for another edit before checking.  Edits that arrive during a check are all read before the next one."""
IDLE_DELAY = 2.0
"""Seconds without a check after which `run_idle_work` is called."""

_POSITION_KEYS = {"line", "character"}

GC_THRESHOLDS = (1_000_000, 20, 1_000)
"""Thresholds of `gc`, so large that a keystroke waits for a collection at most once in some hundred."""

_T = TypeVar("_T")


class RhoProtocol(LanguageServerProtocol):
    """The protocol without pygls's own handling of texts.  Positions outside of the allowed range are clamped; a message that is
    no valid request is answered with an error."""

    def structure_message(self, data: dict[str, Any]) -> Any:
        """Called by the JSON decoder for every object of a message, the innermost first."""
        if "jsonrpc" not in data:
            return _clamped(data)
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


def _clamped(data: dict[str, Any]) -> dict[str, Any]:
    """A position with its numbers clamped to the range of the protocol; any other object as it is."""
    if not data.keys() >= _POSITION_KEYS or not all(type(data[name]) is int for name in _POSITION_KEYS):
        return data
    return data | {name: min(max(data[name], 0), UINTEGER_MAX_VALUE) for name in _POSITION_KEYS}


class RhoServer(LanguageServer):
    """The server and its state."""

    def __init__(self) -> None:
        super().__init__("rho", __version__, protocol_cls=RhoProtocol)
        self.folder = OpenDocuments()
        self.pending_checks: dict[str, asyncio.TimerHandle] = {}
        self.idle_timer: asyncio.TimerHandle | None = None
        self.shutdown_requested = False
        self.exited_early = False

    def answer(self, uri: str, question: Callable[[Document], _T | None]) -> _T | None:
        """The result of `question` for a document; None if it is not open or the question fails (which is logged)."""
        document = self.folder.documents.get(uri)
        return None if document is None else safely(lambda: question(document))

    def answers(self, uri: str, question: Callable[[Document], list[_T]]) -> list[_T]:
        """Like `answer`, for a question with a list of answers."""
        return self.answer(uri, question) or []

    def schedule_check(self, uri: str) -> None:
        """Check a document unless another edit comes within `CHECK_DELAY`."""
        known = self.pending_checks.pop(uri, None)
        if known is not None:
            known.cancel()
        self.pending_checks[uri] = asyncio.get_running_loop().call_later(CHECK_DELAY, self.check, uri)

    def check(self, uri: str) -> None:
        """Publish the diagnostics of the latest version."""
        self.pending_checks.pop(uri, None)
        document = self.folder.documents.get(uri)
        if document is None:
            return
        self.publish(uri, document.version, safely(lambda: reports(document)) or [])
        if self.idle_timer is not None:
            self.idle_timer.cancel()
        self.idle_timer = asyncio.get_running_loop().call_later(IDLE_DELAY, run_idle_work)

    def publish(self, uri: str, version: int | None, problems: list[DocumentReport]) -> None:
        shown = [diagnostic(one) for one in problems]
        self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, shown, version))


def safely(answer: Callable[[], _T | None]) -> _T | None:
    """The result of `answer()`; None, with a line in the log, if it raises an exception."""
    try:
        return answer()
    except Exception:  # a bug in one request must not end the server
        LOG.exception("a request failed")
        return None


def run_idle_work() -> None:
    """Work for idle time: collect garbage (old versions) and import what lenses need."""
    from ..display import costs  # noqa: F401

    gc.collect()


def register_lifecycle(server: RhoServer) -> None:
    """Register the handlers of initialization, with the editor's options, and of shutdown."""

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        encoding = server.workspace.position_encoding
        server.folder.encoding = PositionEncoding(str(getattr(encoding, "value", encoding or "utf-16")))
        options = params.initialization_options

        def option(name: str) -> object:
            return options.get(name) if isinstance(options, dict) else getattr(options, name, None)

        server.folder.strict = option("strict") is True
        server.folder.has_commands = option("commands") is True
        devices = option("devices")
        server.folder.devices = devices if isinstance(devices, str) and devices else None

    @server.feature(lsp.SHUTDOWN)
    def stopping(params: None) -> None:
        server.shutdown_requested = True

    @server.feature(lsp.EXIT)
    def leaving(params: None) -> None:
        server.exited_early = not server.shutdown_requested


def register_documents(server: RhoServer) -> None:
    """Register the handlers of opened, changed and closed documents, and of files that change on disk."""

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    def opened(params: lsp.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        document = server.folder.open(item.uri, item.version, item.text)
        for one in [document, *server.folder.invalidate_users(document)]:
            server.schedule_check(one.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    def changed(params: lsp.DidChangeTextDocumentParams) -> None:
        item = params.text_document
        document = server.folder.change(item.uri, item.version, [change(one) for one in params.content_changes])
        if document is not None:
            for one in [document, *server.folder.invalidate_users(document)]:
                server.schedule_check(one.uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    def saved(params: lsp.DidSaveTextDocumentParams) -> None:
        """Do nothing: the open text counts, not the saved one."""

    @server.feature(lsp.WORKSPACE_DID_CHANGE_WATCHED_FILES)
    def changed_on_disk(params: lsp.DidChangeWatchedFilesParams) -> None:
        for uri in server.folder.invalidate_importers():
            server.schedule_check(uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: lsp.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        document = server.folder.documents.get(uri)
        server.folder.close(uri)
        server.publish(uri, None, [])
        for one in server.folder.invalidate_users(document) if document is not None else []:
            server.schedule_check(one.uri)


# ---------------------------------------------------------------------------------------------------- features
#
# The requests of editors: rows of tables that call a plain function, or handlers.

_LEGEND = lsp.SemanticTokensLegend(list(navigation.LEGEND), list(navigation.MODIFIERS))
_ACTION_OPTIONS = lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite])
_SIGNATURE_OPTIONS = lsp.SignatureHelpOptions(trigger_characters=[" "])
_LENS_OPTIONS = lsp.CodeLensOptions(resolve_provider=True)
_TYPING_OPTIONS = lsp.DocumentOnTypeFormattingOptions(completion.GLYPH_TRIGGERS[0], completion.GLYPH_TRIGGERS[1:])


class _EditorRequest(NamedTuple):
    """A request about a document: the function that answers it, and the conversion of one result (or of each) to the protocol."""

    question: Callable[[Document, Any], Any]
    answer: Callable[[Any], object]
    options: object = None


_SINGLE_RESULT = {
    lsp.TEXT_DOCUMENT_HOVER: _EditorRequest(lambda d, p: hovers.hover(d, position(p.position)), hover),
    lsp.TEXT_DOCUMENT_DEFINITION: _EditorRequest(lambda d, p: navigation.definition(d, position(p.position)), location),
    lsp.TEXT_DOCUMENT_SIGNATURE_HELP: _EditorRequest(
        lambda d, p: navigation.call_signatures(d, position(p.position)) or None, signatures, _SIGNATURE_OPTIONS
    ),
}  # fmt: skip
_LIST_RESULT = {
    lsp.TEXT_DOCUMENT_INLAY_HINT: _EditorRequest(lambda d, p: hints.hints(d, text_range(p.range)), hint),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _EditorRequest(lambda d, p: navigation.outline(d), symbol),
    lsp.TEXT_DOCUMENT_CODE_LENS: _EditorRequest(
        lambda d, p: [(d.uri, one) for one in hints.lenses(d)], lambda pair: lens(*pair), _LENS_OPTIONS
    ),
    lsp.TEXT_DOCUMENT_FOLDING_RANGE: _EditorRequest(lambda d, p: navigation.folding_ranges(d), fold),
    lsp.TEXT_DOCUMENT_ON_TYPE_FORMATTING: _EditorRequest(
        lambda d, p: completion.on_type(d, position(p.position), p.ch), edit, _TYPING_OPTIONS
    ),
    lsp.TEXT_DOCUMENT_REFERENCES: _EditorRequest(
        lambda d, p: navigation.references(d, position(p.position), declaration=p.context.include_declaration), location
    ),
    lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: _EditorRequest(
        lambda d, p: navigation.highlights(d, position(p.position)), highlight
    ),
    lsp.TEXT_DOCUMENT_FORMATTING: _EditorRequest(lambda d, p: navigation.format_edits(d), edit),
    lsp.TEXT_DOCUMENT_RANGE_FORMATTING: _EditorRequest(lambda d, p: navigation.format_edits(d, text_range(p.range)), edit),
    lsp.TEXT_DOCUMENT_CODE_ACTION: _EditorRequest(
        lambda d, p: diagnostics.actions(d, text_range(p.range), kinds(p.context)), action, _ACTION_OPTIONS
    ),
}  # fmt: skip


def create() -> RhoServer:
    """A server with every feature."""
    server = RhoServer()
    gc.set_threshold(*GC_THRESHOLDS)
    register_lifecycle(server)
    register_documents(server)
    for name, request in _SINGLE_RESULT.items():
        server.feature(name, request.options)(_handler(server, request))
    for name, request in _LIST_RESULT.items():
        server.feature(name, request.options)(_list_handler(server, request))
    _register_symbols(server)
    _register_completion(server)
    _register_renaming(server)
    return server


def _handler(server: RhoServer, request: _EditorRequest) -> Callable[[Any], object]:
    def answer(params: Any) -> object:
        result = server.answer(params.text_document.uri, lambda document: request.question(document, params))
        return None if result is None else request.answer(result)

    return answer


def _list_handler(server: RhoServer, request: _EditorRequest) -> Callable[[Any], list[object]]:
    def answer(params: Any) -> list[object]:
        results = server.answers(params.text_document.uri, lambda document: request.question(document, params))
        return [request.answer(one) for one in results]

    return answer


def _register_symbols(server: RhoServer) -> None:
    @server.feature(lsp.WORKSPACE_SYMBOL)
    def sought(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        entries = [(uri, one) for uri in server.folder.documents for one in server.answers(uri, navigation.outline)]
        return [workspace_symbol(uri, one) for uri, one in entries if navigation.matches_query(one, params.query)]

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)
    def coloured(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        return lsp.SemanticTokens(server.answers(params.text_document.uri, navigation.encode_tokens))

    @server.feature(lsp.CODE_LENS_RESOLVE)
    def lens_read(lens: lsp.CodeLens) -> lsp.CodeLens:
        data = lens.data
        uri = data["uri"] if isinstance(data, dict) else getattr(data, "uri", "")
        name = data["name"] if isinstance(data, dict) else getattr(data, "name", "")
        lens.command = lsp.Command(server.answer(str(uri), lambda d: hints.lens_text(d, str(name))) or "", "")
        return lens


def _register_completion(server: RhoServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=list(completion.TRIGGERS)))
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        completions = server.answers(params.text_document.uri, lambda d: completion.completion(d, position(params.position)))
        return lsp.CompletionList(is_incomplete=True, items=[item(one) for one in completions])


def _register_renaming(server: RhoServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def rename_requested(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        document = server.folder.documents.get(params.text_document.uri)
        if document is None:
            return None
        try:
            range_at = navigation.renameable_range(document, position(params.position))
        except navigation.CannotRename as error:
            raise JsonRpcInvalidParams(str(error)) from None
        return None if range_at is None else range_(range_at)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        uri = params.text_document.uri
        document = server.folder.documents.get(uri)
        if document is None:
            return None
        at = position(params.position)
        try:
            edits = {uri: navigation.rename(document, at, params.new_name)}
        except navigation.CannotRename as error:
            raise JsonRpcInvalidParams(str(error)) from None
        edits.update(navigation.rename_in_users(document, at, params.new_name))
        return lsp.WorkspaceEdit(changes={where: [edit(one) for one in edits] for where, edits in edits.items()})
