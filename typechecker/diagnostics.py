"""The sink of diagnostics, the program's names of values for messages, and types as text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..lang.diagnostics.model import Code, Diagnostic, Label
from ..lang.support.records import dataclass, field, replace
from ..lang.syntax.source import LIBRARY_PREFIX, Source, Span
from .core.operations import ValueId
from .elements import ArrayType, show_element
from .sizes.polynomials import Size, show, show_short, variable
from .sizes.size import upper_bound

# ---------------------------------------------------------------------------------------------------- sink

IN_THIS_CALL = "in this call"


@dataclass(slots=True)
class DiagnosticSink:
    """The diagnostics so far, each reported once.  `calls` are the calls being inlined, outermost first; `warnings` are the spans
    of warnings about indices."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    calls: list[Span] = field(default_factory=list)
    warnings: dict[tuple[ValueId, str], Span] = field(default_factory=dict)

    def trial(self) -> DiagnosticSink:
        """An empty sink for speculative work."""
        return DiagnosticSink([], list(self.calls), self.warnings)

    def outside(self, span: Span) -> Span:
        """The span of the program's call, for a span in a library function that is being inlined."""
        if not span.file.startswith(LIBRARY_PREFIX):
            return span
        return next((call for call in reversed(self.calls) if not call.file.startswith(LIBRARY_PREFIX)), span)

    def add(self, diagnostic: Diagnostic) -> None:
        """Collect a diagnostic, once for each span."""
        call = self.outside(diagnostic.span)
        if call != diagnostic.span:
            diagnostic = self._at_call(diagnostic, call)
        same = (diagnostic.code, diagnostic.message, diagnostic.span)
        if any((d.code, d.message, d.span) == same for d in self.diagnostics[-50:]):
            return
        if diagnostic.code == Code.W310 and any(d.code == Code.W310 and d.span == diagnostic.span for d in self.diagnostics):
            return  # the same check of a function that is inlined several times
        if self.calls and diagnostic.code[:2] not in ("E0", "E6"):
            labelled = {label.span for label in diagnostic.labels}
            call_spans = [span for span in dict.fromkeys((self.calls[0], self.calls[-1])) if span not in labelled]
            diagnostic = replace(diagnostic, labels=(*diagnostic.labels, *[Label(span, IN_THIS_CALL) for span in call_spans]))
        self.diagnostics.append(diagnostic)

    def _at_call(self, diagnostic: Diagnostic, call: Span) -> Diagnostic:
        """A diagnostic in a library function, reported at the call of that function, without labels and fixes in the library."""
        labels = tuple([label for label in diagnostic.labels if self.outside(label.span) == label.span])
        fixes = tuple([fix for fix in diagnostic.fixes if all(self.outside(edit.span) == edit.span for edit in fix.edits)])
        return replace(diagnostic, span=call, label="", labels=labels, fixes=fixes)

    def warned(self, index: ValueId, message: str, span: Span) -> bool:
        """Was the same warning about this index given for another span?  If several checks of one index fail, a run reports the
        first."""
        before = self.warnings.get((index, message))
        if before is not None and any(d.code == Code.W310 and d.span == before for d in self.diagnostics):
            return True
        self.warnings[index, message] = span
        return False


# ---------------------------------------------------------------------------------------------------- names of values

@dataclass(slots=True)
class SourceNames:
    """The first name of each value and the span of its last use, for messages."""

    names: dict[ValueId, str] = field(default_factory=dict)
    uses: dict[ValueId, Span] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)

    def trial(self) -> SourceNames:
        """A copy for speculative work."""
        return SourceNames(dict(self.names), dict(self.uses), self.sources)

    def add(self, value: ValueId, word: str | Span) -> None:
        """Record a name (the first one counts) or a use of a value."""
        if isinstance(word, Span):
            self.uses[value] = word
        else:
            self.names.setdefault(value, word)

    def text(self, span: Span) -> str:
        """The program's text at a span; empty if its source is unknown."""
        return next((source.text[span.start : span.end] for source in self.sources if source.name == span.file), "")

    def comment(self, span: Span) -> str:
        """The comment at the end of the line of a span; empty if there is none."""
        text = next((source.text for source in self.sources if source.name == span.file), "")
        return text[span.end :].partition("\n")[0].partition("⍝")[2].strip()


# ---------------------------------------------------------------------------------------------------- types as text
#
# `f64[n 3]`, `idx<n>[n]`, `perm<n>`, `f64[k≤n 2]`; the type of a scalar is its element.

def show_type(type: ArrayType) -> str:
    """A type as text (docs/types.md)."""
    if type.permutation:
        return f"perm<{show_short(type.shape[0])}>"
    if not type.shape:
        return show_element(type.element)
    return f"{show_element(type.element)}{show_shape(type.shape)}"


def show_shape(shape: Sequence[Size]) -> str:
    """A shape as text, `[n 3]`; runtime sizes are shown with their caps: `[k≤n]`, `[k+k2≤2·n]`."""
    return f"[{' '.join(_show_size(s) for s in shape)}]"


def _show_size(size: Size) -> str:
    return f"{show_short(size)}≤{show_short(upper_bound(size))}" if size.is_runtime() else show_short(size)


# ------------------------------------------------------------------------------ as signatures are written


def names_of_sizes(arguments: Sequence[ArrayType], results: Sequence[ArrayType]) -> dict[Size, str]:
    """The names of the runtime sizes in the results of a signature, such as k in `k≤n`; a sum of sizes gets a new name."""
    open_sizes = {size: None for type_ in results for size in _sizes(type_) if size.is_runtime()}
    used = {v.name for type_ in (*arguments, *results) for size in _sizes(type_) for v in size.variables()}
    names: dict[Size, str] = {}
    for size in open_sizes:
        (lone, *others) = size.variables()
        name, count = lone.name, 1
        if others or size != variable(lone):
            while (name := "k" if count == 1 else f"k{count}") in used:
                count += 1
            used.add(name)
        names[size] = name
    return names


def _sizes(type_: ArrayType) -> list[Size]:
    element = type_.element
    return [*type_.shape, *[size for size in (element.index_bound, element.symbolic_max) if size is not None]]


def show_signature_type(type: ArrayType, names: Mapping[Size, str]) -> str:
    """A type as a signature states it, never cut; `names` are those of runtime sizes."""

    def open_size(size: Size) -> str:
        return f"{names[size]}≤{show(upper_bound(size))}" if size in names else show(size)

    if type.permutation:
        return f"perm<{open_size(type.shape[0])}>"
    element = type.element
    if element.index_bound is not None:
        is_named = element.index_bound in type.shape and element.index_bound in names
        text = f"idx<{names[element.index_bound] if is_named else open_size(element.index_bound)}>"
    elif element.symbolic_max is not None and element.low is not None and not element.weak:
        most = upper_bound(element.symbolic_max) if element.symbolic_max.is_runtime() else element.symbolic_max
        text = f"int<{str(element.low).replace('-', '¯')}..{show(most)}>"
    else:
        text = element.kind.value
    return f"{text}[{' '.join(open_size(size) for size in type.shape)}]" if type.shape else text
