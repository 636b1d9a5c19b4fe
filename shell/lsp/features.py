"""Every request an editor may make about a document, each a line that asks a plain function.

Neighbours: `server` (state and failures), `wire` (types of the protocol).
"""

from __future__ import annotations

import gc

from lsprotocol import types as lsp
from pygls.exceptions import JsonRpcInvalidParams

from . import actions, calls, completing, formatting, glyphs, hints, lenses, navigation, outline, semantic, wire
from .hover import hover
from .server import COLLECT, RhoServer, life, texts

_LEGEND = lsp.SemanticTokensLegend(list(semantic.LEGEND), list(semantic.MODIFIERS))


def create() -> RhoServer:
    """A server with every feature."""
    server = RhoServer()
    gc.set_threshold(*COLLECT)
    life(server)
    texts(server)
    _looking(server)
    _typing(server)
    _moving(server)
    _changing(server)
    return server


def _looking(server: RhoServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    def hovered(params: lsp.HoverParams) -> lsp.Hover | None:
        found = server.ask(params.text_document.uri, lambda d: hover(d, wire.position(params.position)))
        return None if found is None else lsp.Hover(wire.markdown(found.markdown), wire.range_(found.range))

    @server.feature(lsp.TEXT_DOCUMENT_INLAY_HINT)
    def hinted(params: lsp.InlayHintParams) -> list[lsp.InlayHint]:
        found = server.every(params.text_document.uri, lambda d: hints.hints(d, wire.place(params.range)))
        return [wire.hint(one) for one in found]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def outlined(params: lsp.DocumentSymbolParams) -> list[lsp.DocumentSymbol]:
        return [wire.symbol(one) for one in server.every(params.text_document.uri, outline.outline)]

    @server.feature(lsp.WORKSPACE_SYMBOL)
    def sought(params: lsp.WorkspaceSymbolParams) -> list[lsp.WorkspaceSymbol]:
        entries = [(uri, one) for uri in server.folder.documents for one in server.every(uri, outline.outline)]
        return [wire.workspace_symbol(uri, one) for uri, one in entries if outline.is_meant(one, params.query)]

    @server.feature(lsp.TEXT_DOCUMENT_FOLDING_RANGE)
    def folded(params: lsp.FoldingRangeParams) -> list[lsp.FoldingRange]:
        return [wire.fold(one) for one in server.every(params.text_document.uri, outline.folds)]

    @server.feature(lsp.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _LEGEND)
    def coloured(params: lsp.SemanticTokensParams) -> lsp.SemanticTokens:
        return lsp.SemanticTokens(server.every(params.text_document.uri, semantic.encoded))

    @server.feature(lsp.TEXT_DOCUMENT_CODE_LENS, lsp.CodeLensOptions(resolve_provider=True))
    def lensed(params: lsp.CodeLensParams) -> list[lsp.CodeLens]:
        uri = params.text_document.uri
        found = server.every(uri, lenses.lenses)
        return [lsp.CodeLens(wire.range_(one.range), data={"uri": uri, "name": one.name}) for one in found]

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

    first, *more = glyphs.TRIGGERS

    @server.feature(lsp.TEXT_DOCUMENT_ON_TYPE_FORMATTING, lsp.DocumentOnTypeFormattingOptions(first, more))
    def typed(params: lsp.DocumentOnTypeFormattingParams) -> list[lsp.TextEdit]:
        at = wire.position(params.position)
        found = server.every(params.text_document.uri, lambda d: glyphs.on_type(d, at, params.ch))
        return [wire.edit(one) for one in found]

    @server.feature(lsp.TEXT_DOCUMENT_SIGNATURE_HELP, lsp.SignatureHelpOptions(trigger_characters=[" "]))
    def helped(params: lsp.SignatureHelpParams) -> lsp.SignatureHelp | None:
        found = server.every(params.text_document.uri, lambda d: calls.calls(d, wire.position(params.position)))
        if not found:
            return None
        last = max(len(found[0].parameters) - 1, 0)
        return lsp.SignatureHelp([wire.signature(one) for one in found], active_signature=0, active_parameter=last)


def _moving(server: RhoServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_DEFINITION)
    def defined(params: lsp.DefinitionParams) -> lsp.Location | None:
        found = server.ask(params.text_document.uri, lambda d: navigation.definition(d, wire.position(params.position)))
        return None if found is None else lsp.Location(found.uri, wire.range_(found.range))

    @server.feature(lsp.TEXT_DOCUMENT_REFERENCES)
    def referred(params: lsp.ReferenceParams) -> list[lsp.Location]:
        at, declaration = wire.position(params.position), params.context.include_declaration
        found = server.every(params.text_document.uri, lambda d: navigation.references(d, at, declaration=declaration))
        return [lsp.Location(one.uri, wire.range_(one.range)) for one in found]

    @server.feature(lsp.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
    def highlighted(params: lsp.DocumentHighlightParams) -> list[lsp.DocumentHighlight]:
        found = server.every(params.text_document.uri, lambda d: navigation.highlights(d, wire.position(params.position)))
        kinds = {False: lsp.DocumentHighlightKind.Read, True: lsp.DocumentHighlightKind.Write}
        return [lsp.DocumentHighlight(wire.range_(one.range), kinds[one.writes]) for one in found]


def _changing(server: RhoServer) -> None:
    @server.feature(lsp.TEXT_DOCUMENT_FORMATTING)
    def formatted(params: lsp.DocumentFormattingParams) -> list[lsp.TextEdit]:
        return [wire.edit(one) for one in server.every(params.text_document.uri, formatting.formatting)]

    @server.feature(lsp.TEXT_DOCUMENT_RANGE_FORMATTING)
    def partly_formatted(params: lsp.DocumentRangeFormattingParams) -> list[lsp.TextEdit]:
        where = wire.place(params.range)
        return [wire.edit(one) for one in server.every(params.text_document.uri, lambda d: formatting.formatting(d, where))]

    kinds_made = lsp.CodeActionOptions([lsp.CodeActionKind.QuickFix, lsp.CodeActionKind.RefactorRewrite])

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, kinds_made)
    def acted(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        found = server.every(params.text_document.uri, lambda d: actions.actions(d, wire.place(params.range)))
        wanted = params.context.only
        kinds = None if wanted is None else tuple(str(getattr(kind, "value", kind)) for kind in wanted)
        return [wire.action(one) for one in found if kinds is None or one.kind.value.startswith(kinds)]

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
