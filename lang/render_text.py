"""Diagnostics as text for people, in the layout of `ux.md`, Errors.

```
error[E101]: these arrays do not line up: leading axes n and m may differ
  ┌─ wave.rho:4:7
4 │ y ← A + b
  │     ┬ ┬ ┬
  │     │ │ ╰ f64[m]
  │     │ ╰ its axis 0 meets A's axis 0
  │     ╰ f64[n m]
  = example that breaks it: n=1, m=2
```

A marked line is followed by one underline row a tier (spans that overlap go to separate tiers), and under
it the labels from right to left.  A span over several lines is a rail left of the text.  Pure: sources
come in, text goes out; nothing here knows what any code means.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum

from .codes import Code
from .diagnostics import Diagnostic, Severity, Verdict
from .records import dataclass
from .render_columns import DisplayLine, lay_out
from .source import Source, Span


class Ink(Enum):
    """Whether to colour the text with ANSI escapes."""

    PLAIN = "plain"
    ANSI = "ansi"


class _Role(Enum):
    TEXT = ""
    BOLD = "1"
    ERROR = "1;31"
    WARNING = "1;33"
    NOTE = "1;36"
    GUTTER = "34"
    SECONDARY = "36"


_SEVERITY_ROLE = {Severity.ERROR: _Role.ERROR, Severity.WARNING: _Role.WARNING, Severity.NOTE: _Role.NOTE}
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
    role: _Role
    labels: tuple[str, ...]


@dataclass(slots=True)
class _Row:
    """One output row as coloured cells."""

    cells: list[tuple[str, _Role]] = field(default_factory=list)

    def put(self, column: int, text: str, role: _Role) -> None:
        """Write `text` from `column`, over what is there."""
        while len(self.cells) < column:
            self.cells.append((" ", _Role.TEXT))
        for offset, character in enumerate(text):
            if column + offset < len(self.cells):
                self.cells[column + offset] = (character, role)
            else:
                self.cells.append((character, role))

    def extend(self, text: str, role: _Role) -> None:
        self.put(len(self.cells), text, role)


def render_text(
    diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source], ink: Ink = Ink.PLAIN, width: int = 120
) -> str:  # fmt: skip
    """All diagnostics as text, a blank line between them, ending in a newline (empty for none).

    `width` bounds the source lines shown, in terminal cells; messages are never cut.
    """
    blocks = ["\n".join(_emit(row, ink) for row in _diagnostic_rows(d, sources, width)) + "\n" for d in diagnostics]
    return "\n".join(blocks)


def _emit(row: _Row, ink: Ink) -> str:
    cells = row.cells
    while cells and cells[-1][0] == " ":
        cells = cells[:-1]
    out: list[str] = []
    current = _Role.TEXT
    for character, role in cells:
        if ink is Ink.ANSI and role is not current:
            if current is not _Role.TEXT:
                out.append("\x1b[0m")
            if role is not _Role.TEXT:
                out.append(f"\x1b[{role.value}m")
            current = role
        out.append(character)
    if current is not _Role.TEXT:
        out.append("\x1b[0m")
    return "".join(out)


def _diagnostic_rows(diagnostic: Diagnostic, sources: Mapping[str, Source], width: int) -> list[_Row]:
    main = _SEVERITY_ROLE[diagnostic.severity]
    spans: dict[str, list[tuple[Span, str, _Role]]] = {diagnostic.span.file: [(diagnostic.span, diagnostic.label, main)]}
    for label in diagnostic.labels:
        spans.setdefault(label.span.file, []).append((label.span, label.message, _Role.SECONDARY))
    known = {file: _marks(sources[file], marked) for file, marked in spans.items() if file in sources}
    gutter = max((len(str(mark.last + 1)) for marks in known.values() for mark in marks), default=1)

    first, *rest = diagnostic.message.splitlines() or [""]
    header = _Row()
    header.extend(f"{diagnostic.severity.value}[{diagnostic.code}]", main)
    header.extend(f": {first}", _Role.BOLD)
    rows = [header] + [_row(gutter + 3, line, _Role.TEXT) for line in rest]
    for file, marked in spans.items():
        opening = _row(gutter + 1, "┌─ ", _Role.GUTTER)
        if file in known:
            line, column = sources[file].position(_clamp(marked[0][0].start, sources[file]))
            opening.extend(f"{file}:{line + 1}:{column + 1}", _Role.TEXT)
            rows.append(opening)
            rows += _snippet(sources[file], known[file], gutter, width)
        else:
            opening.extend(file, _Role.TEXT)
            rows.append(opening)
            rows += [_noted(gutter, message)[0] for _, message, _ in marked if message]
    for note, tail in _notes(diagnostic):
        noted = _noted(gutter, note)
        if tail:
            noted[-1].extend(f"      {tail}", _Role.NOTE)
        rows += noted
    return rows


def _row(column: int, text: str, role: _Role) -> _Row:
    row = _Row()
    row.put(column, text, role)
    return row


def _noted(gutter: int, note: str) -> list[_Row]:
    first, *rest = note.splitlines() or [""]
    row = _row(gutter + 1, "= ", _Role.GUTTER)
    row.extend(first, _Role.TEXT)
    return [row] + [_row(gutter + 3, line, _Role.TEXT) for line in rest]


def _notes(diagnostic: Diagnostic) -> list[tuple[str, str]]:
    """The `=` lines and what stands at their right end."""
    lines: list[tuple[str, str]] = []
    goal = diagnostic.goal
    if goal and not diagnostic.counterexample and not any(goal in text for text in (diagnostic.message, *diagnostic.notes)):
        lines.append((f"needed: {goal}{_VERDICT_WORDS[diagnostic.verdict] if diagnostic.verdict else ''}", ""))
    if diagnostic.counterexample and diagnostic.code != Code.E701:  # these are not an example: the message has them
        sizes = ", ".join(f"{name}={value}" for name, value in diagnostic.counterexample.items())
        lines.append((f"example that breaks it: {sizes}", ""))
    lines += [(note, "") for note in diagnostic.notes]
    lines += [(fix.title, "[fix]" if fix.edits else "") for fix in diagnostic.fixes]
    return lines


def _clamp(offset: int, source: Source) -> int:
    return min(max(offset, 0), len(source.text))


def _marks(source: Source, marked: Sequence[tuple[Span, str, _Role]]) -> list[_Mark]:
    """One mark a distinct span, in order of appearance; labels of equal spans are gathered."""
    gathered: dict[tuple[int, int], tuple[list[str], _Role]] = {}
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


def _snippet(source: Source, marks: Sequence[_Mark], gutter: int, width: int) -> list[_Row]:
    tall = sorted((mark for mark in marks if mark.last > mark.first), key=lambda mark: (mark.first, -mark.last))
    rails = {id(mark): index for index, mark in enumerate(tall)}
    indent = 2 * len(tall)
    lines = sorted({line for mark in marks for line in _lines_of(mark)})
    rows: list[_Row] = []
    previous: int | None = None
    for line in lines:
        if previous is not None and line > previous + 2:
            gap = _row(gutter + 1, "·", _Role.GUTTER)
            _rails(gap, tall, rails, gutter, previous, line)
            rows.append(gap)
        elif previous is not None and line == previous + 2:
            rows += _line_rows(source, previous + 1, [], tall, rails, gutter, indent, width)
        rows += _line_rows(source, line, marks, tall, rails, gutter, indent, width)
        previous = line
    return rows


def _lines_of(mark: _Mark) -> set[int]:
    """The lines of a mark to show: all of a short one, the ends of a long one."""
    if mark.last - mark.first <= 4:
        return set(range(mark.first, mark.last + 1))
    return {mark.first, mark.first + 1, mark.last}


def _rails(row: _Row, tall: Sequence[_Mark], rails: Mapping[int, int], gutter: int, after: int, before: int) -> None:
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
) -> list[_Row]:
    """The source line, its underlines and labels, and the starts and ends of rails."""
    flat = [mark for mark in marks if mark.first == mark.last == line]
    starts = [mark for mark in tall if mark.first == line]
    ends = [mark for mark in reversed(tall) if mark.last == line]
    interest = [(mark.start, max(mark.end, mark.start + 1)) for mark in flat]
    interest += [(mark.start, mark.start + 1) for mark in starts] + [(mark.end - 1, mark.end) for mark in ends]
    shown = lay_out(source.line(line), interest, width)
    base = gutter + 3 + indent
    text = _row(0, f"{line + 1:>{gutter}} │", _Role.GUTTER)
    _rails(text, [mark for mark in tall if mark.first < line <= mark.last], rails, gutter, line - 1, line)
    text.put(base, shown.text, _Role.TEXT)
    rows = [text]

    def under() -> _Row:
        row = _row(gutter + 1, "│", _Role.GUTTER)
        _rails(row, open_marks, rails, gutter, line, line)
        return row

    open_marks = [mark for mark in tall if mark.first < line <= mark.last]
    for tier in _tiers(flat, shown):
        row = under()
        for mark in tier:
            left, cells = _extent(mark, shown)
            row.put(base + left, ("┬" if mark.labels else "─") + "─" * (cells - 1), mark.role)
        rows.append(row)
        labelled = [mark for mark in tier if mark.labels]
        while labelled:
            mark = labelled.pop()
            for number, message in enumerate(mark.labels):
                row = under()
                for other in labelled:
                    row.put(base + _extent(other, shown)[0], "│", other.role)
                row.put(base + _extent(mark, shown)[0], "╰" if number == len(mark.labels) - 1 else "├", mark.role)
                row.extend(f" {message}", _Role.TEXT)
                rows.append(row)
    for mark in starts:
        row = under()
        rail = gutter + 3 + 2 * rails[id(mark)]
        row.put(rail, "╭" + "─" * (base + shown.column(mark.start) - rail - 1) + "╯", mark.role)
        rows.append(row)
        open_marks.append(mark)
    for mark in ends:
        open_marks.remove(mark)
        row = under()
        rail = gutter + 3 + 2 * rails[id(mark)]
        row.put(rail, "╰" + "─" * (base + max(shown.column(mark.end) - 1, 0) - rail - 1) + "╯", mark.role)
        if mark.labels:
            row.extend(f" {'; '.join(mark.labels)}", _Role.TEXT)
        rows.append(row)
    return rows


def _extent(mark: _Mark, shown: DisplayLine) -> tuple[int, int]:
    """Display column and cells of a one-line mark, at least one cell."""
    left = shown.column(mark.start)
    return left, max(shown.column(mark.end) - left, 1)


def _tiers(marks: Sequence[_Mark], shown: DisplayLine) -> list[list[_Mark]]:
    """Split marks into rows in which none overlap, each from left to right; shorter spans come first."""
    tiers: list[list[_Mark]] = []
    for mark in sorted(marks, key=lambda mark: (_extent(mark, shown)[1], _extent(mark, shown)[0])):
        left, cells = _extent(mark, shown)
        for tier in tiers:
            if all(left >= other + size or other >= left + cells for other, size in (_extent(m, shown) for m in tier)):
                tier.append(mark)
                break
        else:
            tiers.append([mark])
    for tier in tiers:
        tier.sort(key=lambda mark: _extent(mark, shown)[0])
    return tiers
