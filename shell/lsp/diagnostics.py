"""Diagnostics with ranges and related locations, and code actions: fixes, signatures to insert, faster expressions."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Final

from ...lang.diagnostics.model import Code, Diagnostic, Edit, Fix, Severity
from ...lang.support.records import dataclass
from ...lang.syntax.source import Source, Span
from ...lang.tree.expressions import Symbol, SymbolKind
from .documents import Document, PositionEncoding, Range, TextChange, TextEdit, TextLines, uri_of
from .hover import is_latest


@dataclass(frozen=True, slots=True)
class RelatedLocation:
    """A range that is related to a diagnostic, with a message."""

    uri: str
    range: Range
    message: str


@dataclass(frozen=True, slots=True)
class DocumentReport:
    """A diagnostic in the form that editors show."""

    range: Range
    severity: Severity
    code: str
    message: str
    related: tuple[RelatedLocation, ...] = ()


_PAGE: Final = Path(__file__).parents[2] / "docs" / "errors.md"


def page_uri(code: str) -> str | None:
    """The URI of a code's page in the source tree; None if Rho runs without its documentation."""
    return _PAGE.as_uri() + f"#{code.lower()}" if _PAGE.is_file() else None


def reports(document: Document) -> list[DocumentReport]:
    """The diagnostics of a document, from top to bottom.  Those of a module are reported at the `use` of it."""
    return [_report(document, diagnostic) for diagnostic in document.checked.diagnostics]


def _report(document: Document, diagnostic: Diagnostic) -> DocumentReport:
    related = [location for label in diagnostic.labels if (location := _related(document, label.span, label.message)) is not None]
    if diagnostic.span.file == document.name:
        at = visible_range(document, diagnostic.span)
        message = message_of(diagnostic)
        if diagnostic.label:
            related.insert(0, RelatedLocation(document.uri, at, diagnostic.label))
    else:
        at = visible_range(document, _import_span(document, diagnostic.span.file))
        message = f"in {diagnostic.span.file}: {message_of(diagnostic)}"
        location = _related(document, diagnostic.span, diagnostic.label or diagnostic.message)
        related[:0] = [] if location is None else [location]
    return DocumentReport(at, diagnostic.severity, diagnostic.code, message, tuple(related))


def message_of(diagnostic: Diagnostic) -> str:
    """The message, then a counterexample, notes, and the titles of fixes that have no edits."""
    lines = [diagnostic.message]
    if diagnostic.counterexample and diagnostic.code != Code.E701:
        sizes = ", ".join(f"{name}={value}" for name, value in diagnostic.counterexample.items())
        lines.append(f"example that breaks it: {sizes}")
    lines += diagnostic.notes
    lines += [fix.title for fix in diagnostic.fixes if not fix.edits]
    return "\n".join(lines)


def visible_range(document: Document, span: Span) -> Range:
    """The range of a span; an empty one is extended to the next character, or at the end of a line to the previous one."""
    lines = document.lines
    at = lines.range_of(span)
    if at.start != at.end:
        return at
    text, start = lines.text, min(max(span.start, 0), len(lines.text))
    if start < len(text) and text[start] not in "\r\n":
        return lines.range(start, start + 1)
    if start > 0 and text[start - 1] not in "\r\n":
        return lines.range(start - 1, start)
    return at


def _related(document: Document, span: Span, message: str) -> RelatedLocation | None:
    if span.file == document.name:
        return RelatedLocation(document.uri, visible_range(document, span), message)
    source, uri = document.checked.sources.get(span.file), uri_of(span.file)
    if source is None or uri is None:
        return None
    return RelatedLocation(uri, range_in(source, span, document.lines.encoding), message)


def range_in(source: Source, span: Span, encoding: PositionEncoding) -> Range:
    """The range of a span in another text."""
    return TextLines(source.text, encoding).range_of(span)


def _import_span(document: Document, file: str) -> Span:
    """The span of the `use` of a file; the document's start if another module uses it."""
    for symbol in document.index.symbols:
        if symbol.path:
            module = document.module(symbol.path)
            if module is not None and module.name == file:
                return symbol.span
    return Span(document.name, 0, 0)


# ---------------------------------------------------------------------------------------------------- code actions
#
# Code actions apply the fixes of diagnostics, insert the inferred signature of a function, or write an expression that is faster.
#
# A signature is offered only if it causes no new error.

MOST_SIGNATURES = 3
_REDUCTION = re.compile(r"\+\s*[/⌿`]")
"""A word that occurs in every program with an offer for a faster expression."""


class ActionKind(Enum):
    FIX = "quickfix"
    REWRITE = "refactor.rewrite"


@dataclass(frozen=True, slots=True)
class Action:
    """A code action with its edits by URI; `resolves`: the diagnostic that it fixes; `is_only_fix`: it has no other fix."""

    title: str
    kind: ActionKind
    edits: dict[str, tuple[TextEdit, ...]]
    resolves: DocumentReport | None = None
    is_only_fix: bool = False


def actions(document: Document, where: Range, kinds: tuple[str, ...] | None = None) -> list[Action]:
    """The code actions for the lines of a range; `kinds` restricts them to these kinds and kinds below them (`refactor` includes
    `refactor.rewrite`)."""
    actions_here = [*_fixes(document, where), *_signatures(document, where), *_rewrite_actions(document, where)]
    return [one for one in actions_here if kinds is None or one.kind.value.startswith(kinds)]


def _fixes(document: Document, where: Range) -> list[Action]:
    fixes_here = []
    for diagnostic, report in zip(document.checked.diagnostics, reports(document), strict=True):
        if not _touches_lines_of(document, report, where):
            continue
        fixes = [fix for fix in diagnostic.fixes if fix.edits]
        for fix in fixes:
            edits = _edits(document, fix)
            if edits is not None:
                fixes_here.append(Action(fix.title, ActionKind.FIX, edits, report, len(fixes) == 1))
    return fixes_here


def _touches_lines_of(document: Document, report: DocumentReport, where: Range) -> bool:
    """Does a range touch a line of a report?  Editors send the cursor, which may be anywhere on the line."""
    places = [report.range, *(one.range for one in report.related if one.uri == document.uri)]
    return any(at.start.line <= where.end.line and where.start.line <= at.end.line for at in places)


def _edits(document: Document, fix: Fix) -> dict[str, tuple[TextEdit, ...]] | None:
    """The edits of a fix by URI; None if it changes a file that is not the user's."""
    edits_of: dict[str, list[TextEdit]] = {}
    for edit in fix.edits:
        located = _located_edit(document, edit)
        if located is None:
            return None
        uri, text_edit = located
        edits_of.setdefault(uri, []).append(text_edit)
    return {uri: tuple(edits) for uri, edits in edits_of.items()}


def _located_edit(document: Document, edit: Edit) -> tuple[str, TextEdit] | None:
    if edit.span.file == document.name:
        return document.uri, TextEdit(document.lines.range_of(edit.span), edit.text)
    source, uri = document.checked.sources.get(edit.span.file), uri_of(edit.span.file)
    if source is None or uri is None or edit.span.file.startswith("<"):
        return None
    return uri, TextEdit(TextLines(source.text, document.lines.encoding).range_of(edit.span), edit.text)


# ---------------------------------------------------------------------------------------- signatures


def _signatures(document: Document, where: Range) -> list[Action]:
    symbol = unannotated_function_at(document, where)
    if symbol is None:
        return []
    offered: dict[str, list[Action]] = vars(document).setdefault("offered_signatures", {})
    if symbol.name not in offered:
        lines = _signature_lines(document, symbol)
        offered[symbol.name] = [action for line in lines for action in _signature_actions(document, symbol, line)]
    return offered[symbol.name]


def unannotated_function_at(document: Document, where: Range) -> Symbol | None:
    """The function without a signature whose definition starts on the first line of a range."""
    for symbol in document.index.symbols:
        if symbol.kind is SymbolKind.FUNCTION and symbol.depth == 0 and symbol.declared is None:
            line = document.lines.position(symbol.span.start).line
            if line == where.start.line and symbol.span.start == symbol.statement.start and is_latest(document, symbol):
                return symbol
    return None


def _signature_lines(document: Document, symbol: Symbol) -> tuple[str, ...]:
    result = document.checked.result
    if result is None or symbol.name not in result.types:
        return ()
    lines = result.describe(symbol.name)
    return tuple([line for line in lines if " → " in line][:MOST_SIGNATURES])


def _signature_actions(document: Document, symbol: Symbol, line: str) -> list[Action]:
    start = symbol.statement.start
    own_line = not document.text[document.lines.start(document.lines.position(start).line) : start].strip()
    text = f"{line}\n" if own_line else f"{line} ⋄ "
    at = document.lines.range(start, start)
    before = {(one.code, one.message) for one in document.checked.diagnostics if one.is_error}
    after = document.edited(document.version, [TextChange(at, text)]).checked.diagnostics
    if any(_is_new_error(one, before) for one in after):
        return []
    return [Action(f"insert signature `{line}`", ActionKind.REWRITE, {document.uri: (TextEdit(at, text),)})]


def _rewrite_actions(document: Document, where: Range) -> list[Action]:
    """Faster expressions that add in another order, for the lines of a range."""
    offered = document.memoised(_rewrites)
    return [action for at, action in offered if at.start.line <= where.end.line and where.start.line <= at.end.line]


def _rewrites(document: Document) -> list[tuple[Range, Action]]:
    core = document.checked.core
    if core is None or not _REDUCTION.search(document.text):
        return []
    from ..display.plan_output import offer_span, rewrite_offers

    rewrites: list[tuple[Range, Action]] = []
    for offer in rewrite_offers(core, document.name):
        statement = document.index.statement_at(offer.span.start) if offer.span.file == document.name else None
        offsets = None if statement is None else offer_span(offer, document.source, statement)
        if offsets is None:
            continue
        at = document.lines.range(*offsets)
        after = document.edited(document.version, [TextChange(at, offer.text)])
        if after.checked.accepted and after.checked.types == document.checked.types:
            edit = TextEdit(at, offer.text)
            rewrites.append((at, Action(f"write `{offer.text}`: {offer.says}", ActionKind.REWRITE, {document.uri: (edit,)})))
    return rewrites


def _is_new_error(diagnostic: Diagnostic, before: set[tuple[Code, str]]) -> bool:
    return diagnostic.is_error and (diagnostic.code, diagnostic.message) not in before
