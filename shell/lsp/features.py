"""Every request an editor may make about a document: a row that asks a plain function, or a handler where more is to be said.

Neighbours: `server` (state and failures), `wire` (types of the protocol).
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any, NamedTuple

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from . import actions, calls, completing, formatting, glyphs, hints, lenses, navigation, outline, semantic, wire
from .documents import Document
from .hover import hover
from .server import COLLECT, RhoServer, life, texts

_LEGEND = lsp.SemanticTokensLegend(list(semantic.LEGEND), list(semantic.MODIFIERS))
_ACTIONS = lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite])
_APPLIED = lsp.SignatureHelpOptions(trigger_characters=[" "])
_RESOLVED = lsp.CodeLensOptions(resolve_provider=True)
_TYPED = lsp.DocumentOnTypeFormattingOptions(glyphs.TRIGGERS[0], glyphs.TRIGGERS[1:])


class _Request(NamedTuple):
    """Something an editor may ask about a document: the question, and how one answer, or each of many, looks in the protocol."""

    question: Callable[[Document, Any], Any]
    answer: Callable[[Any], object]
    options: object = None


_ONE = {
    lsp.TEXT_DOCUMENT_HOVER: _Request(lambda d, p: hover(d, wire.position(p.position)), wire.hover),
    lsp.TEXT_DOCUMENT_DEFINITION: _Request(lambda d, p: navigation.definition(d, wire.position(p.position)), wire.location),
    lsp.TEXT_DOCUMENT_SIGNATURE_HELP: _Request(
        lambda d, p: calls.calls(d, wire.position(p.position)) or None, wire.signatures, _APPLIED
    ),
}  # fmt: skip
_MANY = {
    lsp.TEXT_DOCUMENT_INLAY_HINT: _Request(lambda d, p: hints.hints(d, wire.place(p.range)), wire.hint),
    lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL: _Request(lambda d, p: outline.outline(d), wire.symbol),
    lsp.TEXT_DOCUMENT_CODE_LENS: _Request(
        lambda d, p: [(d.uri, one) for one in lenses.lenses(d)], lambda pair: wire.lens(*pair), _RESOLVED
    ),
    lsp.TEXT_DOCUMENT_FOLDING_RANGE: _Request(lambda d, p: outline.folds(d), wire.fold),
    lsp.TEXT_DOCUMENT_ON_TYPE_FORMATTING: _Request(
        lambda d, p: glyphs.on_type(d, wire.position(p.position), p.ch), wire.edit, _TYPED
    ),
    lsp.TEXT_DOCUMENT_REFERENCES: _Request(
        lambda d, p: navigation.references(d, wire.position(p.position), declaration=p.context.include_declaration), wire.location
    ),
    lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: _Request(
        lambda d, p: navigation.highlights(d, wire.position(p.position)), wire.highlight
    ),
    lsp.TEXT_DOCUMENT_FORMATTING: _Request(lambda d, p: formatting.formatting(d), wire.edit),
    lsp.TEXT_DOCUMENT_RANGE_FORMATTING: _Request(lambda d, p: formatting.formatting(d, wire.place(p.range)), wire.edit),
    lsp.TEXT_DOCUMENT_CODE_ACTION: _Request(
        lambda d, p: actions.actions(d, wire.place(p.range), wire.kinds(p.context)), wire.action, _ACTIONS
    ),
}  # fmt: skip


def create() -> RhoServer:
    """A server with every feature."""
    server = RhoServer()
    gc.set_threshold(*COLLECT)
    life(server)
    texts(server)
    for name, request in _ONE.items():
        server.feature(name, request.options)(_asked(server, request))
    for name, request in _MANY.items():
        server.feature(name, request.options)(_asked_for_many(server, request))
    _looking(server)
    _typing(server)
    _renaming(server)
    return server


def _asked(server: RhoServer, request: _Request) -> Callable[[Any], object]:
    def answer(params: Any) -> object:
        found = server.ask(params.text_document.uri, lambda document: request.question(document, params))
        return None if found is None else request.answer(found)

    return answer


def _asked_for_many(server: RhoServer, request: _Request) -> Callable[[Any], list[object]]:
    def answer(params: Any) -> list[object]:
        found = server.every(params.text_document.uri, lambda document: request.question(document, params))
        return [request.answer(one) for one in found]

    return answer


def _looking(server: RhoServer) -> None:
    @server.feature(lsp.WORKSPACE_SYMBOL)
    def sought(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        entries = [(uri, one) for uri in server.folder.documents for one in server.every(uri, outline.outline)]
        return [wire.workspace_symbol(uri, one) for uri, one in entries if outline.is_meant(one, params.query)]

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)
    def coloured(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        return lsp.SemanticTokens(server.every(params.text_document.uri, semantic.encoded))

    @server.feature(lsp.CODE_LENS_RESOLVE)
    def lens_read(lens: lsp.CodeLens) -> lsp.CodeLens:
        data = lens.data
        uri = data["uri"] if isinstance(data, dict) else getattr(data, "uri", "")
        name = data["name"] if isinstance(data, dict) else getattr(data, "name", "")
        lens.command = lsp.Command(server.ask(str(uri), lambda d: lenses.lens_text(d, str(name))) or "", "")
        return lens


def _typing(server: RhoServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_COMPLETION, lsp.CompletionOptions(trigger_characters=list(completing.TRIGGERS)))
    def completed(params: lsp.CompletionParams) -> lsp.CompletionList:
        found = server.every(params.text_document.uri, lambda d: completing.completion(d, wire.position(params.position)))
        return lsp.CompletionList(is_incomplete=True, items=[wire.item(one) for one in found])


def _renaming(server: RhoServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_PREPARE_RENAME)
    def rename_asked(params: lsp.PrepareRenameParams) -> lsp.Range | None:
        document = server.folder.documents.get(params.text_document.uri)
        if document is None:
            return None
        try:
            found = navigation.renamed_at(document, wire.position(params.position))
        except navigation.CannotRename as error:
            raise JsonRpcInvalidParams(str(error)) from None
        return None if found is None else wire.range_(found)

    @server.feature(lsp.TEXT_DOCUMENT_RENAME, lsp.RenameOptions(prepare_provider=True))
    def renamed(params: lsp.RenameParams) -> lsp.WorkspaceEdit | None:
        uri = params.text_document.uri
        document = server.folder.documents.get(uri)
        if document is None:
            return None
        at = wire.position(params.position)
        try:
            found = {uri: navigation.rename(document, at, params.new_name)}
        except navigation.CannotRename as error:
            raise JsonRpcInvalidParams(str(error)) from None
        found.update(navigation.rename_in_users(document, at, params.new_name))
        return lsp.WorkspaceEdit(changes={where: [wire.edit(one) for one in edits] for where, edits in found.items()})
