"""Errors of a compiled function in the caller's own text: the lines that apply it to its arguments are nobody's.

`functions` names the last statement of a text, `∆function ← …`, and applies it to inputs.  What a diagnostic says of these lines
is left out or said of the last statement, and positions in that statement count from its own start.

Neighbours: `functions` (makes the text), `showing` (renders).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from ...lang.diagnostics import Diagnostic, Edit, Fix, Label
from ...lang.source import Source, Span

FUNCTION, LEFT, RIGHT, RESULT = "∆function", "∆left", "∆right", "∆result"
NAMED: Final = f"{FUNCTION} ← "
_SAID: Final = {FUNCTION: "the function", LEFT: "⍺", RIGHT: "⍵", RESULT: "the result"}


class OwnText(NamedTuple):
    """A text's statements as its caller wrote them, for a program that goes on behind them."""

    source: Source
    last: int
    """Where the last statement starts."""

    @classmethod
    def of(cls, name: str, statements: Sequence[str]) -> OwnText:
        text = "\n".join(statements) + "\n"
        return cls(Source(name, text), len(text) - len(statements[-1]) - 1)

    def among(self, sources: Mapping[str, Source]) -> dict[str, Source]:
        """The sources, this one in the place of the program's."""
        return {**sources, self.source.name: self.source}

    def told(self, diagnostics: Sequence[Diagnostic]) -> list[Diagnostic]:
        """The diagnostics in this text."""
        return [self._told(found) for found in diagnostics]

    def _told(self, found: Diagnostic) -> Diagnostic:
        whole = Span(self.source.name, self.last, len(self.source.text) - 1)
        labels = [Label(span, _said(label.message)) for label in found.labels if (span := self._own(label.span)) is not None]
        fixes = [fix for one in found.fixes if (fix := self._fix(one)) is not None]
        own = self._own(found.span)
        return replace(
            found, message=_said(found.message), span=own or whole, label=found.label if own else "", labels=tuple(labels),
            notes=tuple(map(_said, found.notes)), fixes=tuple(fixes),
        )  # fmt: skip

    def _fix(self, fix: Fix) -> Fix | None:
        edits = [Edit(span, edit.text) for edit in fix.edits if (span := self._own(edit.span)) is not None]
        return Fix(fix.title, tuple(edits)) if len(edits) == len(fix.edits) else None

    def _own(self, span: Span) -> Span | None:
        """The place in this text; None if it is in lines that the caller did not write."""
        if span.file != self.source.name or span.end <= self.last:
            return span
        start, end = span.start - len(NAMED), span.end - len(NAMED)
        return Span(span.file, start, end) if self.last <= start and end < len(self.source.text) else None


def _said(text: str) -> str:
    for name, said in _SAID.items():
        text = text.replace(f"`{name}`", said).replace(name, said)
    return text
