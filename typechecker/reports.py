"""What checking has found wrong so far, each once, with the calls that are being expanded.

Neighbour: `builder`.
"""

from __future__ import annotations

from dataclasses import field, replace

from ..lang.codes import Code
from ..lang.diagnostics import Diagnostic, Label
from ..lang.records import dataclass
from ..lang.source import Span
from .core import ValueId


@dataclass(slots=True)
class Reports:
    """`calls` are being expanded, the outermost first; `warnings`: where an index was warned of."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    calls: list[Span] = field(default_factory=list)
    warnings: dict[tuple[ValueId, str], Span] = field(default_factory=dict)

    def trial(self) -> Reports:
        """For work whose reports are apart from what was reported before."""
        return Reports([], list(self.calls), self.warnings)

    def add(self, diagnostic: Diagnostic) -> None:
        """Collect a diagnostic; the same one at the same place only once."""
        same = (diagnostic.code, diagnostic.message, diagnostic.span)
        if any((d.code, d.message, d.span) == same for d in self.diagnostics[-50:]):
            return
        if diagnostic.code == Code.W310 and any(d.code == Code.W310 and d.span == diagnostic.span for d in self.diagnostics):
            return  # one check in the text, however often it is expanded
        if self.calls and diagnostic.code[:2] not in ("E0", "E6"):
            labelled = {label.span for label in diagnostic.labels}
            places = [span for span in dict.fromkeys((self.calls[0], self.calls[-1])) if span not in labelled]
            diagnostic = replace(diagnostic, labels=(*diagnostic.labels, *[Label(span, "in this call") for span in places]))
        self.diagnostics.append(diagnostic)

    def warned(self, index: ValueId, message: str, span: Span) -> bool:
        """Was this said of the same index elsewhere?  Of several checks that fail a program meets the first."""
        before = self.warnings.get((index, message))
        if before is not None and any(d.code == Code.W310 and d.span == before for d in self.diagnostics):
            return True
        self.warnings[index, message] = span
        return False
