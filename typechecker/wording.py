"""How the program writes its values: their names and where it mentions them, for messages.

Neighbour: `builder`.
"""

from __future__ import annotations

from dataclasses import field

from ..lang.records import dataclass
from ..lang.source import Source, Span
from .core import ValueId


@dataclass(slots=True)
class Wording:
    """`names`: the first name of a value; `uses`: where it was mentioned last; `said`: what this statement added to either."""

    names: dict[ValueId, str] = field(default_factory=dict)
    uses: dict[ValueId, Span] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    said: list[tuple[ValueId, str | Span]] = field(default_factory=list)

    def trial(self) -> Wording:
        """For work that is to leave no trace."""
        return Wording(dict(self.names), dict(self.uses), self.sources)

    def add(self, value: ValueId, word: str | Span) -> None:
        """A name, which counts if it is the first, or a mention."""
        if isinstance(word, Span):
            self.uses[value] = word
        elif self.names.setdefault(value, word) is not word:
            return
        self.said.append((value, word))

    def text(self, span: Span) -> str:
        """The program's text there; empty if its source is not at hand."""
        return next((source.text[span.start : span.end] for source in self.sources if source.name == span.file), "")
