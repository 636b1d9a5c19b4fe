"""Answers as the protocol has them: plain values in, `lsprotocol` types out, and back.

Neighbours: `server` and `features`, which with this one are the only modules that import pygls or lsprotocol.
"""

from __future__ import annotations

from typing import Any

from lsprotocol import types as lsp

from ...lang.definitions import SymbolKind
from ...lang.diagnostics import Severity
from ..searching.completing import Kind
from . import places
from .actions import Action
from .calls import Call
from .completing import Item
from .hints import Hint, HintKind
from .hover import Hover
from .lenses import Lens
from .navigation import Highlight, Place
from .outline import Entry
from .reports import Report, page_of

_SEVERITIES = {
    Severity.ERROR: lsp.DiagnosticSeverity.Error,
    Severity.WARNING: lsp.DiagnosticSeverity.Warning,
    Severity.NOTE: lsp.DiagnosticSeverity.Information,
}
_ITEMS = {
    Kind.ARRAY: lsp.CompletionItemKind.Variable, Kind.FUNCTION: lsp.CompletionItemKind.Function,
    Kind.OPERATOR: lsp.CompletionItemKind.Operator, Kind.MODULE: lsp.CompletionItemKind.Module,
    Kind.PARAM: lsp.CompletionItemKind.Constant, Kind.SIZE: lsp.CompletionItemKind.TypeParameter,
    Kind.TYPE: lsp.CompletionItemKind.Class, Kind.KEYWORD: lsp.CompletionItemKind.Keyword,
    Kind.GLYPH: lsp.CompletionItemKind.Function,
}  # fmt: skip
_SYMBOLS = {
    SymbolKind.ARRAY: lsp.SymbolKind.Variable, SymbolKind.FUNCTION: lsp.SymbolKind.Function,
    SymbolKind.OPERATOR: lsp.SymbolKind.Operator, SymbolKind.MODULE: lsp.SymbolKind.Module,
    SymbolKind.INPUT: lsp.SymbolKind.Variable, SymbolKind.PARAM: lsp.SymbolKind.Constant,
    SymbolKind.SIZE: lsp.SymbolKind.TypeParameter, SymbolKind.ELEMENT: lsp.SymbolKind.TypeParameter,
}  # fmt: skip


# ------------------------------------------------------------------------------------------ what comes in


def position(found: lsp.Position) -> places.Position:
    return places.Position(found.line, found.character)


def place(found: lsp.Range) -> places.Range:
    return places.Range(position(found.start), position(found.end))


def change(found: Any) -> places.Change:
    """A change of the text; without a range it is the whole text."""
    where = getattr(found, "range", None)
    return places.Change(None if where is None else place(where), found.text)


def kinds(asked: lsp.CodeActionContext) -> tuple[str, ...] | None:
    """The kinds of actions that are wanted; None for all."""
    return None if asked.only is None else tuple(str(getattr(kind, "value", kind)) for kind in asked.only)


# ------------------------------------------------------------------------------------------ what goes out


def range_(found: places.Range) -> lsp.Range:
    return lsp.Range(lsp.Position(*found.start), lsp.Position(*found.end))


def markdown(text: str) -> lsp.MarkupContent:
    return lsp.MarkupContent(lsp.MarkupKind.Markdown, text)


def hover(found: Hover) -> lsp.Hover:
    return lsp.Hover(markdown(found.markdown), range_(found.range))


def location(found: Place) -> lsp.Location:
    return lsp.Location(found.uri, range_(found.range))


def highlight(found: Highlight) -> lsp.DocumentHighlight:
    kind = lsp.DocumentHighlightKind.Write if found.writes else lsp.DocumentHighlightKind.Read
    return lsp.DocumentHighlight(range_(found.range), kind)


def lens(uri: str, found: Lens) -> lsp.CodeLens:
    return lsp.CodeLens(range_(found.range), data={"uri": uri, "name": found.name})


def edit(found: places.TextEdit) -> lsp.TextEdit:
    return lsp.TextEdit(range_(found.range), found.text)


def diagnostic(report: Report) -> lsp.Diagnostic:
    page = page_of(report.code)
    related = [lsp.DiagnosticRelatedInformation(lsp.Location(one.uri, range_(one.range)), one.message) for one in report.related]
    return lsp.Diagnostic(
        range_(report.range), report.message, _SEVERITIES[report.severity], report.code, source="rho",
        related_information=related or None, code_description=None if page is None else lsp.CodeDescription(page),
    )  # fmt: skip


def item(found: Item) -> lsp.CompletionItem:
    return lsp.CompletionItem(
        found.label, kind=_ITEMS[found.kind], detail=found.detail or None, text_edit=edit(found.edit), filter_text=found.filter,
        sort_text=f"{found.order}{found.filter}", additional_text_edits=[edit(one) for one in found.also] or None,
        documentation=markdown(found.page) if found.page else None,
    )  # fmt: skip


def hint(found: Hint) -> lsp.InlayHint:
    kind = lsp.InlayHintKind.Parameter if found.kind is HintKind.QUANTITY else lsp.InlayHintKind.Type
    return lsp.InlayHint(lsp.Position(*found.position), found.text, kind, tooltip=found.detail or None)


def action(found: Action) -> lsp.CodeAction:
    changes = {uri: [edit(one) for one in edits] for uri, edits in found.edits.items()}
    solves = None if found.solves is None else [diagnostic(found.solves)]
    return lsp.CodeAction(
        found.title, lsp.CodeActionKind(found.kind.value), diagnostics=solves, is_preferred=found.only or None,
        edit=lsp.WorkspaceEdit(changes=changes),
    )  # fmt: skip


def symbol(found: Entry) -> lsp.DocumentSymbol:
    return lsp.DocumentSymbol(
        found.name, _SYMBOLS[found.kind], range_(found.range), range_(found.name_range), found.detail or None,
        children=[symbol(one) for one in found.inside] or None,
    )  # fmt: skip


def fold(found: places.Range) -> lsp.FoldingRange:
    return lsp.FoldingRange(found.start.line, found.end.line)


def workspace_symbol(uri: str, found: Entry) -> lsp.WorkspaceSymbol:
    return lsp.WorkspaceSymbol(lsp.Location(uri, range_(found.name_range)), found.name, _SYMBOLS[found.kind])


def signatures(found: list[Call]) -> lsp.SignatureHelp:
    """Ways to apply a function, of which the last argument is being typed."""
    made = [
        lsp.SignatureInformation(
            one.label, markdown(one.doc) if one.doc else None, [lsp.ParameterInformation(part) for part in one.parameters]
        )
        for one in found
    ]
    return lsp.SignatureHelp(made, active_signature=0, active_parameter=max(len(found[0].parameters) - 1, 0))
