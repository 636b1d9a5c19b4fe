"""Diagnostics in the form of the protocol (range, severity, related locations), and code actions that fix them."""

from __future__ import annotations

import re
from enum import Enum
from pathlib import Path
from typing import Final

from ...lang.diagnostics.model import Code, Diagnostic, Edit, Fix, Severity
from ...lang.support.records import dataclass
from ...lang.syntax.source import Source, Span
from ...lang.tree.expressions import Symbol, SymbolKind
from .documents import Change, Document, Lines, PositionEncoding, Range, TextEdit, uri_of
from .hover import is_latest

# ---------------------------------------------------------------------------------------------------- reports

@dataclass(frozen=True, slots=True)
class Related:
    """Another place, and what it has to do with it."""

    uri: str
    range: Range
    message: str


@dataclass(frozen=True, slots=True)
class DocumentReport:
    range: Range
    severity: Severity
    code: str
    message: str
    related: tuple[Related, ...] = ()


_PAGE: Final = Path(__file__).parents[2] / "docs" / "errors.md"


def page_of(code: str) -> str | None:
    """Where the page of a code is, in the clone that this runs from; None where there is none."""
    return _PAGE.as_uri() + f"#{code.lower()}" if _PAGE.is_file() else None


def reports(document: Document) -> list[DocumentReport]:
    """All that is wrong with a document, from top to bottom.  What is wrong with a module is shown where it is used."""
    return [_report(document, diagnostic) for diagnostic in document.checked.diagnostics]


def _report(document: Document, diagnostic: Diagnostic) -> DocumentReport:
    related = [location for label in diagnostic.labels if (location := _related(document, label.span, label.message)) is not None]
    if diagnostic.span.file == document.name:
        at = place_of(document, diagnostic.span)
        message = message_of(diagnostic)
        if diagnostic.label:
            related.insert(0, Related(document.uri, at, diagnostic.label))
    else:
        at = place_of(document, _use_of(document, diagnostic.span.file))
        message = f"in {diagnostic.span.file}: {message_of(diagnostic)}"
        location = _related(document, diagnostic.span, diagnostic.label or diagnostic.message)
        related[:0] = [] if location is None else [location]
    return DocumentReport(at, diagnostic.severity, diagnostic.code, message, tuple(related))


def message_of(diagnostic: Diagnostic) -> str:
    """The message, then the example that breaks it, notes, and advice that no edit carries out."""
    lines = [diagnostic.message]
    if diagnostic.counterexample and diagnostic.code != Code.E701:
        sizes = ", ".join(f"{name}={value}" for name, value in diagnostic.counterexample.items())
        lines.append(f"example that breaks it: {sizes}")
    lines += diagnostic.notes
    lines += [fix.title for fix in diagnostic.fixes if not fix.edits]
    return "\n".join(lines)


def place_of(document: Document, span: Span) -> Range:
    """A range that can be seen: an empty one gets the character after it, or the one before it at the end of a line."""
    lines = document.lines
    at = lines.of(span)
    if at.start != at.end:
        return at
    text, start = lines.text, min(max(span.start, 0), len(lines.text))
    if start < len(text) and text[start] not in "\r\n":
        return lines.range(start, start + 1)
    if start > 0 and text[start - 1] not in "\r\n":
        return lines.range(start - 1, start)
    return at


def _related(document: Document, span: Span, message: str) -> Related | None:
    if span.file == document.name:
        return Related(document.uri, place_of(document, span), message)
    source, uri = document.checked.sources.get(span.file), uri_of(span.file)
    if source is None or uri is None:
        return None
    return Related(uri, range_in(source, span, document.lines.encoding), message)


def range_in(source: Source, span: Span, encoding: PositionEncoding) -> Range:
    """A range in another text."""
    return Lines(source.text, encoding).of(span)


def _use_of(document: Document, file: str) -> Span:
    """Where the document says `use` of a file; its start if another module does."""
    for symbol in document.index.symbols:
        if symbol.path:
            module = document.module(symbol.path)
            if module is not None and module.name == file:
                return symbol.span
    return Span(document.name, 0, 0)


# ---------------------------------------------------------------------------------------------------- actions
#
# What an editor can do about a place: apply the fixes of diagnostics, write down the signature that was worked out, take offers.
#
# A signature is offered only if the program with it has no error that it did not have before.
# Neighbours: `lang.diagnostics.model` (fixes), `typechecker.check` (signatures), `reports`.

MOST_SIGNATURES = 3
_REDUCTION = re.compile(r"\+\s*[/⌿`]")
"""In all programs with something to offer."""


class ActionKind(Enum):
    FIX = "quickfix"
    REWRITE = "refactor.rewrite"


@dataclass(frozen=True, slots=True)
class Action:
    """`edits` by URI; `solves` is what is no longer wrong then; `only` if it is the only fix."""

    title: str
    kind: ActionKind
    edits: dict[str, tuple[TextEdit, ...]]
    solves: DocumentReport | None = None
    only: bool = False


def actions(document: Document, where: Range, kinds: tuple[str, ...] | None = None) -> list[Action]:
    """What can be done about the lines of a range; of these kinds only, which name what is above a kind too."""
    actions_here = [*_fixes(document, where), *_signatures(document, where), *_offers(document, where)]
    return [one for one in actions_here if kinds is None or one.kind.value.startswith(kinds)]


def _fixes(document: Document, where: Range) -> list[Action]:
    fixes_here = []
    for diagnostic, report in zip(document.checked.diagnostics, reports(document), strict=True):
        if not _on_lines_of(document, report, where):
            continue
        fixes = [fix for fix in diagnostic.fixes if fix.edits]
        for fix in fixes:
            edits = _edits(document, fix)
            if edits is not None:
                fixes_here.append(Action(fix.title, ActionKind.FIX, edits, report, len(fixes) == 1))
    return fixes_here


def _on_lines_of(document: Document, report: DocumentReport, where: Range) -> bool:
    """Does a range touch a line that a report is about?  An editor asks with the cursor, which may be elsewhere on the line."""
    places = [report.range, *(one.range for one in report.related if one.uri == document.uri)]
    return any(at.start.line <= where.end.line and where.start.line <= at.end.line for at in places)


def _edits(document: Document, fix: Fix) -> dict[str, tuple[TextEdit, ...]] | None:
    """The edits of a fix by document; None if it changes what is not a file of the user's."""
    edits_of: dict[str, list[TextEdit]] = {}
    for edit in fix.edits:
        located = _place(document, edit)
        if located is None:
            return None
        uri, text_edit = located
        edits_of.setdefault(uri, []).append(text_edit)
    return {uri: tuple(edits) for uri, edits in edits_of.items()}


def _place(document: Document, edit: Edit) -> tuple[str, TextEdit] | None:
    if edit.span.file == document.name:
        return document.uri, TextEdit(document.lines.of(edit.span), edit.text)
    source, uri = document.checked.sources.get(edit.span.file), uri_of(edit.span.file)
    if source is None or uri is None or edit.span.file.startswith("<"):
        return None
    return uri, TextEdit(Lines(source.text, document.lines.encoding).of(edit.span), edit.text)


# ---------------------------------------------------------------------------------------- signatures


def _signatures(document: Document, where: Range) -> list[Action]:
    symbol = unsigned_at(document, where)
    if symbol is None:
        return []
    offered: dict[str, list[Action]] = vars(document).setdefault("offered_signatures", {})
    if symbol.name not in offered:
        offered[symbol.name] = [action for line in _lines(document, symbol) for action in _offered(document, symbol, line)]
    return offered[symbol.name]


def unsigned_at(document: Document, where: Range) -> Symbol | None:
    """The function without a signature whose definition starts on the first line of a range."""
    for symbol in document.index.symbols:
        if symbol.kind is SymbolKind.FUNCTION and symbol.depth == 0 and symbol.declared is None:
            line = document.lines.position(symbol.span.start).line
            if line == where.start.line and symbol.span.start == symbol.statement.start and is_latest(document, symbol):
                return symbol
    return None


def _lines(document: Document, symbol: Symbol) -> tuple[str, ...]:
    result = document.checked.result
    if result is None or symbol.name not in result.types:
        return ()
    lines = result.describe(symbol.name)
    return tuple([line for line in lines if " → " in line][:MOST_SIGNATURES])


def _offered(document: Document, symbol: Symbol, line: str) -> list[Action]:
    start = symbol.statement.start
    own_line = not document.text[document.lines.start(document.lines.position(start).line) : start].strip()
    text = f"{line}\n" if own_line else f"{line} ⋄ "
    at = document.lines.range(start, start)
    before = {(one.code, one.message) for one in document.checked.diagnostics if one.is_error}
    after = document.after(document.version, [Change(at, text)]).checked.diagnostics
    if any(_new(one, before) for one in after):
        return []
    return [Action(f"insert signature `{line}`", ActionKind.REWRITE, {document.uri: (TextEdit(at, text),)})]


def _offers(document: Document, where: Range) -> list[Action]:
    """What is quicker in other words that have another order of sums: never done unless it is asked for."""
    offered = document.memoised(_offered_words)
    return [action for at, action in offered if at.start.line <= where.end.line and where.start.line <= at.end.line]


def _offered_words(document: Document) -> list[tuple[Range, Action]]:
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
        after = document.after(document.version, [Change(at, offer.text)])
        if after.checked.accepted and after.checked.types == document.checked.types:
            edit = TextEdit(at, offer.text)
            rewrites.append((at, Action(f"write `{offer.text}`: {offer.says}", ActionKind.REWRITE, {document.uri: (edit,)})))
    return rewrites


def _new(diagnostic: Diagnostic, before: set[tuple[Code, str]]) -> bool:
    return diagnostic.is_error and (diagnostic.code, diagnostic.message) not in before
