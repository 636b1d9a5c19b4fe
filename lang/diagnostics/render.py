"""Renders diagnostics as text, JSON, SARIF 2.1.0 and GitHub annotations.

`render_text` is for people; `to_json` gives the schema of `--json`, with 0-based UTF-16 ranges as in the language server
protocol; `to_sarif` and `to_github` are for continuous integration.  All are pure functions of the diagnostics and the sources; a
span whose source is missing gets an empty range at 0:0.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeAlias
from unicodedata import category, east_asian_width

from ..support.records import dataclass, field
from ..syntax.source import Source, Span
from .model import Code, Diagnostic, Fix, Severity, Verdict

# ---------------------------------------------------------------------------------------------------- display columns
#
# The width of source text on a screen in terminal cells: combining marks and joiners take none, wide characters two, a tab
# reaches the next multiple of four.  Control and text-direction characters are shown as visible replacements, so that the printed
# line cannot misrepresent the program.

TAB = 4
_DIRECTION = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def displayed_character(character: str, column: int) -> tuple[str, int]:
    """The text to print for a character at a display column, and the cells that it takes."""
    code = ord(character)
    if 0x20 <= code < 0x7F:
        return character, 1
    if character == "\t":
        width = TAB - column % TAB
        return " " * width, width
    if code < 0x20:
        return chr(0x2400 + code), 1
    if code == 0x7F:
        return "␡", 1
    if 0x80 <= code < 0xA0 or character in _DIRECTION or 0xD800 <= code <= 0xDFFF or character in "\u2028\u2029":
        return "�", 1
    if category(character) in ("Mn", "Me", "Cf"):
        return character, 0
    return character, 2 if east_asian_width(character) in ("W", "F") else 1


@dataclass(frozen=True, slots=True)
class DisplayLine:
    """A source line as printed: `columns[i]` is the display column at which character `first + i` starts (with one for the end).

    Of a long line only a window around the spans of interest is shown; `…` marks a cut end.
    """

    text: str
    columns: tuple[int, ...]
    first: int = 0

    def column(self, index: int) -> int:
        return self.columns[min(max(index - self.first, 0), len(self.columns) - 1)]


def display_line(line: str, interest: list[tuple[int, int]], limit: int) -> DisplayLine:
    """The display of `line` in at most `limit` cells (at least 20), with the character ranges of `interest` if they fit."""
    line = line.removesuffix("\r")
    offset = 0
    total = len(line)
    if total > 64 * limit:
        offset = max(min((start for start, _ in interest), default=0) - 2 * limit, 0)
        line = line[offset : offset + 8 * limit]
        interest = [(start - offset, end - offset) for start, end in interest]
    pieces: list[str] = []
    columns = [0]
    for character in line:
        text, width = displayed_character(character, columns[-1])
        pieces.append(text)
        columns.append(columns[-1] + width)
    if columns[-1] <= limit and len(line) == total:
        return DisplayLine("".join(pieces).rstrip(), tuple(columns))
    first, last = _window(columns, interest, max(limit, 20))
    head = "…" if first + offset > 0 else ""
    tail = "…" if last + offset < total else ""
    shift = columns[first] - len(head)
    end = columns[last] - shift
    clipped = tuple(min(max(column - shift, 0), end) for column in columns)
    return DisplayLine(head + "".join(pieces[first:last]) + tail, clipped, offset)


def _window(columns: list[int], interest: list[tuple[int, int]], limit: int) -> tuple[int, int]:
    """The character range to show in `limit` cells, two of which mark cut ends."""
    cells = limit - 2
    count = len(columns) - 1
    low = min((start for start, _ in interest), default=0)
    high = min(max((end for _, end in interest), default=0), count)
    low = min(low, count)
    wanted = columns[high] - columns[low]
    before = max((cells - wanted) // 3, 0) if wanted < cells else min(8, cells // 4)
    first = low
    while first > 0 and columns[low] - columns[first - 1] <= before:
        first -= 1
    last = first
    while last < count and columns[last + 1] - columns[first] <= cells:
        last += 1
    while first > 0 and last == count and columns[count] - columns[first - 1] <= cells:
        first -= 1
    return first, last


# ---------------------------------------------------------------------------------------------------- text
#
# ```
# error[E101]: these arrays do not line up: leading axes n and m may differ
#   ┌─ wave.rho:4:7
# 4 │ y ← A + b
#   │     ┬ ┬ ┬
#   │     │ │ ╰ f64[m]
#   │     │ ╰ its axis 0 meets A's axis 0
#   │     ╰ f64[n m]
#   = example that breaks it: n=1, m=2
# ```
#
# Under a marked line there is one row of underlines for each tier (overlapping spans are in separate tiers), then the labels from
# right to left.  A span over several lines is drawn as a rail left of the text.

class Ink(Enum):
    """Whether to colour the text with ANSI escapes."""

    PLAIN = "plain"
    ANSI = "ansi"


class _TextRole(Enum):
    TEXT = ""
    BOLD = "1"
    ERROR = "1;31"
    WARNING = "1;33"
    NOTE = "1;36"
    GUTTER = "34"
    SECONDARY = "36"


_SEVERITY_ROLE = {Severity.ERROR: _TextRole.ERROR, Severity.WARNING: _TextRole.WARNING, Severity.NOTE: _TextRole.NOTE}
_VERDICT_WORDS = {
    Verdict.PROVED: "", Verdict.NEVER: ", which never holds", Verdict.DEPENDS: ", which depends on the sizes",
    Verdict.UNKNOWN: ", which is not proved",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Mark:
    """A span to underline: character positions within its first and last line, and its labels."""

    first: int
    start: int
    last: int
    end: int
    role: _TextRole
    labels: tuple[str, ...]


@dataclass(slots=True)
class _RenderedRow:
    """One output row as coloured cells."""

    cells: list[tuple[str, _TextRole]] = field(default_factory=list)

    def put(self, column: int, text: str, role: _TextRole) -> None:
        """Write `text` from `column` on, overwriting cells."""
        while len(self.cells) < column:
            self.cells.append((" ", _TextRole.TEXT))
        for offset, character in enumerate(text):
            if column + offset < len(self.cells):
                self.cells[column + offset] = (character, role)
            else:
                self.cells.append((character, role))

    def extend(self, text: str, role: _TextRole) -> None:
        self.put(len(self.cells), text, role)


def render_text(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], ink: Ink = Ink.PLAIN, width: int = 120
) -> str:  # fmt: skip
    """All diagnostics as text, a blank line between them, ending in a newline (empty for none).

    `width` bounds the source lines shown, in terminal cells; messages are never cut.
    """
    blocks = ["\n".join(_emit(row, ink) for row in _diagnostic_rows(d, sources, width)) + "\n" for d in diagnostics]
    return "\n".join(blocks)


def _emit(row: _RenderedRow, ink: Ink) -> str:
    cells = row.cells
    while cells and cells[-1][0] == " ":
        cells = cells[:-1]
    out: list[str] = []
    current = _TextRole.TEXT
    for character, role in cells:
        if ink is Ink.ANSI and role is not current:
            if current is not _TextRole.TEXT:
                out.append("\x1b[0m")
            if role is not _TextRole.TEXT:
                out.append(f"\x1b[{role.value}m")
            current = role
        out.append(character)
    if current is not _TextRole.TEXT:
        out.append("\x1b[0m")
    return "".join(out)


def _diagnostic_rows(diagnostic: Diagnostic, sources: Mapping[str, Source], width: int) -> list[_RenderedRow]:
    main = _SEVERITY_ROLE[diagnostic.severity]
    spans: dict[str, list[tuple[Span, str, _TextRole]]] = {diagnostic.span.file: [(diagnostic.span, diagnostic.label, main)]}
    for label in diagnostic.labels:
        spans.setdefault(label.span.file, []).append((label.span, label.message, _TextRole.SECONDARY))
    known = {file: _marks(sources[file], marked) for file, marked in spans.items() if file in sources}
    gutter = max((len(str(mark.last + 1)) for marks in known.values() for mark in marks), default=1)

    first, *rest = diagnostic.message.splitlines() or [""]
    header = _RenderedRow()
    header.extend(f"{diagnostic.severity.value}[{diagnostic.code}]", main)
    header.extend(f": {first}", _TextRole.BOLD)
    rows = [header] + [_row(gutter + 3, line, _TextRole.TEXT) for line in rest]
    for file, marked in spans.items():
        opening = _row(gutter + 1, "┌─ ", _TextRole.GUTTER)
        if file in known:
            line, column = sources[file].position(_clamp(marked[0][0].start, sources[file]))
            opening.extend(f"{file}:{line + 1}:{column + 1}", _TextRole.TEXT)
            rows.append(opening)
            rows += _snippet(sources[file], known[file], gutter, width)
        else:
            opening.extend(file, _TextRole.TEXT)
            rows += [opening] if file else []  # a diagnostic without a file has no frame
            rows += [_note_rows(gutter, message)[0] for _, message, _ in marked if message]
    for note, tail in _notes(diagnostic):
        noted = _note_rows(gutter, note)
        if tail:
            noted[-1].extend(f"      {tail}", _TextRole.NOTE)
        rows += noted
    return rows


def _row(column: int, text: str, role: _TextRole) -> _RenderedRow:
    row = _RenderedRow()
    row.put(column, text, role)
    return row


def _note_rows(gutter: int, note: str) -> list[_RenderedRow]:
    first, *rest = note.splitlines() or [""]
    row = _row(gutter + 1, "= ", _TextRole.GUTTER)
    row.extend(first, _TextRole.TEXT)
    return [row] + [_row(gutter + 3, line, _TextRole.TEXT) for line in rest]


def _notes(diagnostic: Diagnostic) -> list[tuple[str, str]]:
    """The `=` lines, each with its right-hand end."""
    lines: list[tuple[str, str]] = []
    goal = diagnostic.goal
    if goal and not diagnostic.counterexample and not any(goal in text for text in (diagnostic.message, *diagnostic.notes)):
        lines.append((f"needed: {goal}{_VERDICT_WORDS[diagnostic.verdict] if diagnostic.verdict else ''}", ""))
    if diagnostic.counterexample and diagnostic.code != Code.E701:  # the sizes of E701 are in its message
        sizes = ", ".join(f"{name}={value}" for name, value in diagnostic.counterexample.items())
        lines.append((f"example that breaks it: {sizes}", ""))
    lines += [(note, "") for note in diagnostic.notes]
    lines += [(fix.title, "[fix]" if fix.edits else "") for fix in diagnostic.fixes]
    return lines


def _clamp(offset: int, source: Source) -> int:
    return min(max(offset, 0), len(source.text))


def _marks(source: Source, marked: Sequence[tuple[Span, str, _TextRole]]) -> list[_Mark]:
    """One mark for each distinct span, in order of appearance, with the labels of equal spans."""
    gathered: dict[tuple[int, int], tuple[list[str], _TextRole]] = {}
    for span, message, role in marked:
        start = _clamp(span.start, source)
        key = (start, max(_clamp(span.end, source), start))
        labels, _ = gathered.setdefault(key, ([], role))
        if message:
            labels.append(" ".join(message.split("\n")))
    marks = []
    for (start, end), (labels, role) in gathered.items():
        first, from_ = source.position(start)
        last, to = source.position(end)
        if last > first and (to == 0 or not source.line(last)[:to].strip()):
            last -= 1
            while last > first and not source.line(last).strip():
                last -= 1
            to = len(source.line(last).rstrip())
        marks.append(_Mark(first, from_, last, to, role, tuple(labels)))
    return marks


def _snippet(source: Source, marks: Sequence[_Mark], gutter: int, width: int) -> list[_RenderedRow]:
    tall = sorted((mark for mark in marks if mark.last > mark.first), key=lambda mark: (mark.first, -mark.last))
    rails = {id(mark): index for index, mark in enumerate(tall)}
    indent = 2 * len(tall)
    lines = sorted({line for mark in marks for line in _lines_of(mark)})
    rows: list[_RenderedRow] = []
    previous: int | None = None
    for line in lines:
        if previous is not None and line > previous + 2:
            gap = _row(gutter + 1, "·", _TextRole.GUTTER)
            _rails(gap, tall, rails, gutter, previous, line)
            rows.append(gap)
        elif previous is not None and line == previous + 2:
            rows += _line_rows(source, previous + 1, [], tall, rails, gutter, indent, width)
        rows += _line_rows(source, line, marks, tall, rails, gutter, indent, width)
        previous = line
    return rows


def _lines_of(mark: _Mark) -> set[int]:
    """The lines of a mark that are shown: all of a short one, the first and last of a long one."""
    if mark.last - mark.first <= 4:
        return set(range(mark.first, mark.last + 1))
    return {mark.first, mark.first + 1, mark.last}


def _rails(row: _RenderedRow, tall: Sequence[_Mark], rails: Mapping[int, int], gutter: int, after: int, before: int) -> None:
    """Draw the rails of the tall marks that are open between the lines `after` and `before`."""
    for mark in tall:
        if mark.first <= after and before <= mark.last:
            row.put(gutter + 3 + 2 * rails[id(mark)], "│", mark.role)


def _line_rows(
    source: Source,
    line: int,
    marks: Sequence[_Mark],
    tall: Sequence[_Mark],
    rails: Mapping[int, int],
    gutter: int,
    indent: int,
    width: int,
) -> list[_RenderedRow]:
    """The rows of a source line: its text, underlines and labels, and the starts and ends of rails."""
    flat = [mark for mark in marks if mark.first == mark.last == line]
    starts = [mark for mark in tall if mark.first == line]
    ends = [mark for mark in reversed(tall) if mark.last == line]
    interest = [(mark.start, max(mark.end, mark.start + 1)) for mark in flat]
    interest += [(mark.start, mark.start + 1) for mark in starts] + [(mark.end - 1, mark.end) for mark in ends]
    displayed = display_line(source.line(line), interest, width)
    base = gutter + 3 + indent
    text = _row(0, f"{line + 1:>{gutter}} │", _TextRole.GUTTER)
    _rails(text, [mark for mark in tall if mark.first < line <= mark.last], rails, gutter, line - 1, line)
    text.put(base, displayed.text, _TextRole.TEXT)
    rows = [text]

    def under() -> _RenderedRow:
        row = _row(gutter + 1, "│", _TextRole.GUTTER)
        _rails(row, open_marks, rails, gutter, line, line)
        return row

    open_marks = [mark for mark in tall if mark.first < line <= mark.last]
    for tier in _tiers(flat, displayed):
        row = under()
        for mark in tier:
            left, cells = _extent(mark, displayed)
            row.put(base + left, ("┬" if mark.labels else "─") + "─" * (cells - 1), mark.role)
        rows.append(row)
        labelled = [mark for mark in tier if mark.labels]
        while labelled:
            mark = labelled.pop()
            for number, message in enumerate(mark.labels):
                row = under()
                for other in labelled:
                    row.put(base + _extent(other, displayed)[0], "│", other.role)
                row.put(base + _extent(mark, displayed)[0], "╰" if number == len(mark.labels) - 1 else "├", mark.role)
                row.extend(f" {message}", _TextRole.TEXT)
                rows.append(row)
    for mark in starts:
        row = under()
        rail = gutter + 3 + 2 * rails[id(mark)]
        row.put(rail, "╭" + "─" * (base + displayed.column(mark.start) - rail - 1) + "╯", mark.role)
        rows.append(row)
        open_marks.append(mark)
    for mark in ends:
        open_marks.remove(mark)
        row = under()
        rail = gutter + 3 + 2 * rails[id(mark)]
        row.put(rail, "╰" + "─" * (base + max(displayed.column(mark.end) - 1, 0) - rail - 1) + "╯", mark.role)
        if mark.labels:
            row.extend(f" {'; '.join(mark.labels)}", _TextRole.TEXT)
        rows.append(row)
    return rows


def _extent(mark: _Mark, line: DisplayLine) -> tuple[int, int]:
    """The display column and the cells (at least one) of a one-line mark."""
    left = line.column(mark.start)
    return left, max(line.column(mark.end) - left, 1)


def _tiers(marks: Sequence[_Mark], line: DisplayLine) -> list[list[_Mark]]:
    """Marks in rows without overlaps, each from left to right; shorter spans come first."""
    tiers: list[list[_Mark]] = []
    for mark in sorted(marks, key=lambda mark: (_extent(mark, line)[1], _extent(mark, line)[0])):
        left, cells = _extent(mark, line)
        for tier in tiers:
            if all(left >= other + size or other >= left + cells for other, size in (_extent(m, line) for m in tier)):
                tier.append(mark)
                break
        else:
            tiers.append([mark])
    for tier in tiers:
        tier.sort(key=lambda mark: _extent(mark, line)[0])
    return tiers


# ---------------------------------------------------------------------------------------------------- JSON, SARIF, GitHub

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
    """A 0-based range in UTF-16 columns, as in the language server protocol."""
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
    """GitHub workflow commands, one line for each diagnostic; columns only where the range is within one line, as GitHub
    requires."""
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
