"""The sink of diagnostics: records each once, with the calls being expanded; names of values and sizes for messages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace

from ..lang.diagnostics.model import Code, Diagnostic, Label
from ..lang.support.records import dataclass
from ..lang.syntax.source import Source, Span
from .core.arrays import ValueId
from .elements import ArrayType, show_element
from .sizes.polynomials import Size, show, show_short, variable
from .sizes.size import upper_bound

# ---------------------------------------------------------------------------------------------------- reports

@dataclass(slots=True)
class DiagnosticSink:
    """`calls` are being expanded, the outermost first; `warnings`: where an index was warned of."""

    diagnostics: list[Diagnostic] = field(default_factory=list)
    calls: list[Span] = field(default_factory=list)
    warnings: dict[tuple[ValueId, str], Span] = field(default_factory=dict)

    def trial(self) -> DiagnosticSink:
        """For work whose reports are apart from what was reported before."""
        return DiagnosticSink([], list(self.calls), self.warnings)

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


# ---------------------------------------------------------------------------------------------------- wording
#
# How the program writes its values: their names and where it mentions them, for messages.

@dataclass(slots=True)
class SourceNames:
    """`names`: the first name of a value; `uses`: where it was mentioned last; `said`: what this statement added to either."""

    names: dict[ValueId, str] = field(default_factory=dict)
    uses: dict[ValueId, Span] = field(default_factory=dict)
    sources: list[Source] = field(default_factory=list)
    said: list[tuple[ValueId, str | Span]] = field(default_factory=list)

    def trial(self) -> SourceNames:
        """For work that is to leave no trace."""
        return SourceNames(dict(self.names), dict(self.uses), self.sources)

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


# ---------------------------------------------------------------------------------------------------- display
#
# How types are written: `f64[n 3]`, `idx<n>[n]`, `perm<n>`, `f64[k≤n 2]`; a scalar is its element.

def show_type(type: ArrayType) -> str:
    """A type in the notation of types.md."""
    if type.permutation:
        return f"perm<{show_short(type.shape[0])}>"
    if not type.shape:
        return show_element(type.element)
    return f"{show_element(type.element)}{show_shape(type.shape)}"


def show_shape(shape: Sequence[Size]) -> str:
    """`[n 3]`; a size known only at run time shows its cap: `[k≤n]`, `[k+k2≤2·n]`."""
    return f"[{' '.join(_show_size(s) for s in shape)}]"


def _show_size(size: Size) -> str:
    return f"{show_short(size)}≤{show_short(upper_bound(size))}" if size.is_runtime() else show_short(size)


# ------------------------------------------------------------------------------ as signatures are written


def names_of_sizes(arguments: Sequence[ArrayType], results: Sequence[ArrayType]) -> dict[Size, str]:
    """What a signature calls the sizes of its results that are known only when run: `k` of `k≤n`; a sum has a name of its own."""
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
    """A type as a signature states it, whole and readable: `names` are those of sizes known only when run."""

    def open_size(size: Size) -> str:
        return f"{names[size]}≤{show(upper_bound(size))}" if size in names else show(size)

    if type.permutation:
        return f"perm<{open_size(type.shape[0])}>"
    element = type.element
    if element.index_bound is not None:
        said = element.index_bound in type.shape and element.index_bound in names
        text = f"idx<{names[element.index_bound] if said else open_size(element.index_bound)}>"
    elif element.symbolic_max is not None and element.low is not None and not element.weak:
        most = upper_bound(element.symbolic_max) if element.symbolic_max.is_runtime() else element.symbolic_max
        text = f"int<{str(element.low).replace('-', '¯')}..{show(most)}>"
    else:
        text = element.kind.value
    return f"{text}[{' '.join(open_size(size) for size in type.shape)}]" if type.shape else text
