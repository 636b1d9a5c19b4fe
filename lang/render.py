"""Diagnostics for people and for programs: text, JSON, SARIF 2.1.0, GitHub annotations.

`render_text` (its layout lives in `render_text.py`) is for people; `to_json` is the schema of `ux.md`
with 0-based UTF-16 ranges as editors count; `to_sarif` and `to_github` are for continuous integration.
All are pure functions of the diagnostics and the sources; a span whose source is not given has an
empty range at 0:0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeAlias

from .diagnostics import Diagnostic, Fix, Severity
from .render_text import Ink, render_text
from .source import Source, Span

__all__ = ["Ink", "diagnostic_json", "range_json", "render_text", "to_github", "to_json", "to_sarif"]

Sources: TypeAlias = Mapping[str, Source]
JsonObject: TypeAlias = dict[str, Any]

_SARIF_LEVEL = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "note"}
_GITHUB_COMMAND = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.NOTE: "notice"}


def to_json(diagnostics: Sequence[Diagnostic], sources: Sources, files: Sequence[str], milliseconds: float) -> JsonObject:
    """The object `rho check --format json` prints."""
    return {
        "version": 1,
        "files": list(files),
        "summary": {
            "errors": sum(d.severity is Severity.ERROR for d in diagnostics),
            "warnings": sum(d.severity is Severity.WARNING for d in diagnostics),
            "ms": round(milliseconds, 1),
        },
        "diagnostics": [diagnostic_json(d, sources) for d in diagnostics],
    }


def diagnostic_json(diagnostic: Diagnostic, sources: Sources) -> JsonObject:
    """One diagnostic as a JSON object, with every field present."""
    return {
        "file": diagnostic.span.file,
        "range": range_json(diagnostic.span, sources),
        "severity": diagnostic.severity.value,
        "code": diagnostic.code,
        "message": diagnostic.message,
        "label": diagnostic.label,
        "related": [
            {"file": label.span.file, "range": range_json(label.span, sources), "message": label.message}
            for label in diagnostic.labels
        ],
        "notes": list(diagnostic.notes),
        "fixes": [_fix_json(fix, sources) for fix in diagnostic.fixes],
        "goal": diagnostic.goal,
        "verdict": diagnostic.verdict.value if diagnostic.verdict else None,
        "counterexample": dict(diagnostic.counterexample) if diagnostic.counterexample is not None else None,
    }


def range_json(span: Span, sources: Sources) -> JsonObject:
    """A 0-based range in UTF-16 columns, as the language server protocol has it."""
    (line, column), (end_line, end_column) = _positions(span, sources)
    return {"start": {"line": line, "character": column}, "end": {"line": end_line, "character": end_column}}


def _positions(span: Span, sources: Sources) -> tuple[tuple[int, int], tuple[int, int]]:
    source = sources.get(span.file)
    if source is None:
        return (0, 0), (0, 0)
    start = min(max(span.start, 0), len(source.text))
    end = min(max(span.end, start), len(source.text))
    return source.utf16_position(start), source.utf16_position(end)


def _fix_json(fix: Fix, sources: Sources) -> JsonObject:
    edits = [{"file": e.span.file, "range": range_json(e.span, sources), "newText": e.text} for e in fix.edits]
    return {"title": fix.title, "edits": edits}


def to_sarif(diagnostics: Sequence[Diagnostic], sources: Sources, version: str) -> JsonObject:
    """A SARIF 2.1.0 log with one run; `version` is Rho's own."""
    codes = sorted({d.code for d in diagnostics})
    rules = [{"id": code, "shortDescription": {"text": code.summary}} for code in codes]
    results = []
    for diagnostic in diagnostics:
        result: JsonObject = {
            "ruleId": diagnostic.code,
            "ruleIndex": codes.index(diagnostic.code),
            "level": _SARIF_LEVEL[diagnostic.severity],
            "message": {"text": "\n".join((diagnostic.message, *diagnostic.notes))},
            "locations": [{"physicalLocation": _sarif_location(diagnostic.span, sources)}],
        }
        if diagnostic.labels:
            result["relatedLocations"] = [
                {"id": number, "message": {"text": label.message}, "physicalLocation": _sarif_location(label.span, sources)}
                for number, label in enumerate(diagnostic.labels)
            ]
        fixes = [_sarif_fix(fix, sources) for fix in diagnostic.fixes if fix.edits]
        if fixes:
            result["fixes"] = fixes
        results.append(result)
    driver = {"name": "rho", "version": version, "rules": rules}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "columnKind": "utf16CodeUnits", "results": results}],
    }


def _sarif_location(span: Span, sources: Sources) -> JsonObject:
    location: JsonObject = {"artifactLocation": {"uri": _uri(span.file)}}
    if span.file in sources:
        location["region"] = _sarif_region(span, sources)
    return location


def _sarif_region(span: Span, sources: Sources) -> JsonObject:
    (line, column), (end_line, end_column) = _positions(span, sources)
    return {"startLine": line + 1, "startColumn": column + 1, "endLine": end_line + 1, "endColumn": end_column + 1}


def _sarif_fix(fix: Fix, sources: Sources) -> JsonObject:
    changes: dict[str, list[JsonObject]] = {}
    for edit in fix.edits:
        replacement = {"deletedRegion": _sarif_region(edit.span, sources), "insertedContent": {"text": edit.text}}
        changes.setdefault(edit.span.file, []).append(replacement)
    return {
        "description": {"text": fix.title},
        "artifactChanges": [{"artifactLocation": {"uri": _uri(file)}, "replacements": edits} for file, edits in changes.items()],
    }


def _uri(file: str) -> str:
    from urllib.parse import quote

    return quote(file.replace("\\", "/"))


def to_github(diagnostics: Iterable[Diagnostic], sources: Sources) -> str:
    """Workflow commands, one line a diagnostic; columns only where the range is within one line, as GitHub wants."""
    return "".join(_github_line(diagnostic, sources) + "\n" for diagnostic in diagnostics)


def _github_line(diagnostic: Diagnostic, sources: Sources) -> str:
    fields = [f"file={_github_property(diagnostic.span.file)}"]
    if diagnostic.span.file in sources:
        (line, column), (end_line, end_column) = _positions(diagnostic.span, sources)
        fields.append(f"line={line + 1},endLine={end_line + 1}")
        if line == end_line:
            fields.append(f"col={column + 1},endColumn={end_column + 1}")
    fields.append(f"title={_github_property(diagnostic.code)}")
    message = _github_text("\n".join((diagnostic.message, *diagnostic.notes, *(fix.title for fix in diagnostic.fixes))))
    return f"::{_GITHUB_COMMAND[diagnostic.severity]} {','.join(fields)}::{message}"


def _github_text(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _github_property(text: str) -> str:
    return _github_text(text).replace(":", "%3A").replace(",", "%2C")
