"""Diagnostics as an editor shows them: where, how bad, in which words, with the places that have to do with it.

Neighbours: `lang.diagnostics` (what is shown), `actions` (the fixes).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ...lang.codes import Code
from ...lang.diagnostics import Diagnostic, Severity
from ...lang.source import Source, Span
from .documents import Document
from .places import Encoding, Lines, Range
from .uris import uri_of


@dataclass(frozen=True, slots=True)
class Related:
    """Another place, and what it has to do with it."""

    uri: str
    range: Range
    message: str


@dataclass(frozen=True, slots=True)
class Report:
    range: Range
    severity: Severity
    code: str
    message: str
    related: tuple[Related, ...] = ()


_PAGE: Final = Path(__file__).parents[2] / "docs" / "errors.md"


def page_of(code: str) -> str | None:
    """Where the page of a code is, in the clone that this runs from; None where there is none."""
    return _PAGE.as_uri() + f"#{code.lower()}" if _PAGE.is_file() else None


def reports(document: Document) -> list[Report]:
    """All that is wrong with a document, from top to bottom.  What is wrong with a module is shown where it is used."""
    return [_report(document, diagnostic) for diagnostic in document.checked.diagnostics]


def _report(document: Document, diagnostic: Diagnostic) -> Report:
    related = [place for label in diagnostic.labels if (place := _related(document, label.span, label.message)) is not None]
    if diagnostic.span.file == document.name:
        at = place_of(document, diagnostic.span)
        message = message_of(diagnostic)
        if diagnostic.label:
            related.insert(0, Related(document.uri, at, diagnostic.label))
    else:
        at = place_of(document, _use_of(document, diagnostic.span.file))
        message = f"in {diagnostic.span.file}: {message_of(diagnostic)}"
        place = _related(document, diagnostic.span, diagnostic.label or diagnostic.message)
        related[:0] = [] if place is None else [place]
    return Report(at, diagnostic.severity, diagnostic.code, message, tuple(related))


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


def range_in(source: Source, span: Span, encoding: Encoding) -> Range:
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
