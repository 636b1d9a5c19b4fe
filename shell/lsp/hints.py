"""Inlay hints and code lenses: types of bindings, usage grades of parameters and inputs, frames of lifted calls, costs."""

from __future__ import annotations

import os
import re
from enum import Enum
from typing import Final

from ...lang.support.records import dataclass
from ...lang.syntax.glyph_input import to_glyphs
from ...lang.syntax.source import Source, Span
from ...lang.tree.expressions import Symbol, SymbolKind
from ...typechecker.core.operations import Core, MapCells, Op, Reduce, Scalar, Scan, all_ops
from ...typechecker.sizes.polynomials import Size, show_short
from ..display.costs import function_cost_line, program_cost_line
from .documents import Document, Range, TextPosition
from .hover import is_latest, types_of

# ---------------------------------------------------------------------------------------------------- frames
#
# The frame of a lifted call: the axes over which a function is applied to cells, `norm⟨n⟩ x`.
#
# A `MapCells` in the typed core has the span of the function that is lifted.  Reductions, scans and element-wise operations on
# cells have no lift in the core; their frame is derived from the ranks that `⍤` and `˘` state and the axes of the result.
# Inside a function that is elaborated for each use, a frame is shown only if all uses have the same one.

_RANKS: Final = re.compile(r"(?:⍤\s*((?:¯?\d+\s*){1,3})|(˘))$")


def frame_hints(document: Document) -> dict[Span, str]:
    """The frame of every lifted function, as `⟨n m⟩`, by its span; empty for a rejected program."""
    core = document.checked.core
    if core is None:
        return {}
    texts_of: dict[Span, set[str]] = {}
    for op in all_ops(core.block.ops):
        value = op.results[0] if isinstance(op, MapCells) and op.results else op.result if isinstance(op, _WITHOUT_MAP) else None
        span = None if value is None else core.spans.get(value)
        if span is None or span.file != document.name:
            continue
        frame = op.frame if isinstance(op, MapCells) else _written_frame(core, op, document.text[span.start : span.end])
        if frame:
            texts_of.setdefault(span, set()).add(f"⟨{' '.join(map(show_short, frame))}⟩")
    return {span: texts.pop() for span, texts in texts_of.items() if len(texts) == 1}


_WITHOUT_MAP: Final = (Reduce, Scan, Scalar)


def _written_frame(core: Core, op: Op, written: str) -> tuple[Size, ...]:
    """The axes of the result before its cells, by the ranks in the text `written`; empty if they do not determine it."""
    if "`" in written:
        written = to_glyphs(Source("<function>", written)).text
    ranks = _RANKS.search(written)
    if ranks is None or not isinstance(op, _WITHOUT_MAP):
        return ()
    numbers = [-1] if ranks[2] else [int(word.replace("¯", "-")) for word in ranks[1].split()]
    monadic, left, right = {1: numbers * 3, 2: [numbers[-1], *numbers], 3: numbers}[len(numbers)]
    shape = core.types[op.result].shape
    if not isinstance(op, Scalar):
        cells = [monadic]
    elif len(op.args) == 2:
        cells = [left, right]
        if any(0 <= core.types[arg].rank < cell for arg, cell in zip(op.args, cells, strict=True)):
            return ()  # clipped
    else:
        cells = [monadic]
    if max(cells) < 0:
        return shape[: -min(cells)]
    if min(cells) < 0:
        return ()
    inside = max(cells) - isinstance(op, Reduce)
    return shape[: max(0, len(shape) - inside)]


# ---------------------------------------------------------------------------------------------------- inlay hints

_TYPE = re.compile(r"[A-Za-z]\w*(?:<[^<>]*>)?(?:\[[^\]]*\])?|\(")


MOST_CHARACTERS = 40
"""The most characters of a hint; a longer one is cut, and its detail has the whole text."""


class HintKind(Enum):
    TYPE = "type"
    QUANTITY = "quantity"
    FRAME = "frame"


@dataclass(frozen=True, slots=True)
class Hint:
    position: TextPosition
    text: str
    kind: HintKind
    detail: str = ""


def hints(document: Document, within: Range) -> list[Hint]:
    """The hints of a range, in the order of the text."""
    start, end = document.lines.offset(within.start), document.lines.offset(within.end)
    shown: list[Hint] = []
    for symbol in document.index.symbols:
        if symbol.statement.end < start or symbol.statement.start > end or document.checked.result is None:
            continue
        if symbol.kind is SymbolKind.ARRAY:
            shown += _type_hint(document, symbol)
        elif symbol.kind is SymbolKind.INPUT:
            shown += _input_hint(document, symbol)
        elif symbol.kind is SymbolKind.FUNCTION and is_latest(document, symbol):
            shown += _function_hints(document, symbol)
    for span, frame in document.memoised(frame_hints).items():
        if start <= span.end <= end:
            shown.append(_hint(document, span.end, frame, HintKind.FRAME, f"applied to each cell of the frame {frame}"))
    return sorted(shown, key=lambda hint: hint.position)


def _type_hint(document: Document, symbol: Symbol) -> list[Hint]:
    """The hint ` : f64[k 4]` after a bound name, if the text states no type and all uses have the same one."""
    types = types_of(document, symbol)
    if len(types) != 1 or symbol.declared is not None or _is_annotated(document, symbol):
        return []
    return [_hint(document, symbol.span.end, f" : {types[0]}", HintKind.TYPE)]


def _hint(document: Document, offset: int, text: str, kind: HintKind, detail: str = "") -> Hint:
    """A hint, cut if it is long."""
    position = document.lines.position(offset)
    if len(text) <= MOST_CHARACTERS:
        return Hint(position, text, kind, detail)
    return Hint(position, text[: MOST_CHARACTERS - 1].rstrip() + "…" + text[len(text.rstrip()) :], kind, detail or text.strip())


def _is_annotated(document: Document, symbol: Symbol) -> bool:
    after = document.text[symbol.span.end : symbol.statement.end].lstrip()
    return symbol.span.start == symbol.statement.start and after.startswith(":")


def _input_hint(document: Document, symbol: Symbol) -> list[Hint]:
    result = document.checked.result
    lines = () if result is None else result.describe(symbol.name)
    at = document.text.find(":", symbol.span.end, symbol.statement.end)
    reads = _quantity(lines[0].partition(" : ")[2]) if len(lines) == 1 else ""
    if at == -1 or not reads or not is_latest(document, symbol) or _quantity(document.text[at + 1 : symbol.statement.end]):
        return []
    return [_hint(document, at + 1, f" {reads}", HintKind.QUANTITY, f"each element is read {reads} times")]


def _function_hints(document: Document, symbol: Symbol) -> list[Hint]:
    """The inferred signature of a function without one; for a written signature, the quantities that it leaves out."""
    result = document.checked.result
    lines = () if result is None else result.describe(symbol.name)
    if not lines or " → " not in lines[0]:
        return []
    if symbol.declared is None:
        more = " …" if len(lines) > 1 else ""
        text = lines[0].removeprefix(symbol.name) + more
        return [_hint(document, symbol.span.end, text, HintKind.TYPE, "\n".join(lines))]
    start = symbol.declared.end
    statement = document.index.statement_at(symbol.declared.start)
    end = symbol.declared.end if statement is None else statement.end
    return [
        _hint(document, start + at, f"{reads} ", HintKind.QUANTITY)
        for (at, stated), (_, reads) in zip(_parameters(document.text[start:end]), _parameters(lines[0]), strict=False)
        if reads and not stated
    ]


def _quantity(part: str) -> str:
    """The quantity before a type; empty if there is none."""
    first, blank, rest = part.strip().partition(" ")
    return first if blank and _TYPE.match(rest) is not None and first.count("[") == first.count("]") else ""


def _parameters(text: str) -> list[tuple[int, str]]:
    """For every parameter in `: τ → τ → τ` the offset where it starts, and its quantity."""
    parameters = []
    at = text.find(":") + 1
    for part in text[at:].split("→")[:-1]:
        parameters.append((at + len(part) - len(part.lstrip()), _quantity(part)))
        at += len(part) + 1
    return parameters


# ---------------------------------------------------------------------------------------------------- code lenses
#
# A line above a function or the program with its costs, its predicted time and the number of facts that are checked when it is
# loaded.
#
# The range of a lens is computed at once, its text when the editor asks for it, since the back end computes costs.  The time of a
# program is for the sizes in the headers of its data, that of a function for sizes of 1000; `rho type FILE --cost` has formulas.

PROGRAM = ""


@dataclass(frozen=True, slots=True)
class Lens:
    """A lens of the function `name`, or of the program (`PROGRAM`)."""

    range: Range
    name: str


def lenses(document: Document) -> list[Lens]:
    """A lens for the program at its first statement and one for each function; none for a rejected program."""
    if not document.checked.accepted:
        return []
    pieces = document.index.raw_statements
    shown = []
    if pieces:
        start = document.index.glyphs.span(pieces[0].start, pieces[0].start).start
        shown.append(Lens(document.lines.range(start, start), PROGRAM))
    for symbol in document.index.symbols:
        if symbol.kind is SymbolKind.FUNCTION and is_latest(document, symbol):
            shown.append(Lens(document.lines.range_of(symbol.declared or symbol.span), symbol.name))
    return shown


def lens_text(document: Document, name: str) -> str:
    """The text of a lens."""
    if name == PROGRAM:
        return _program_text(document)
    if name not in document.checked.types:
        return "generic: costs at each use"
    result = document.checked.result
    return (result and function_cost_line(result, name)) or "generic: costs at each use"


def _program_text(document: Document) -> str:
    core = document.checked.core
    if core is None:
        return "rejected"
    parts = []
    if core.block.ops or core.inputs:
        try:
            parts += [cost] if (cost := program_cost_line(core, os.path.dirname(document.name))) else []
        except RecursionError:
            parts.append("too deep to cost")
    count = len(core.guards)
    if count:
        parts.append(f"{count} {'fact' if count == 1 else 'facts'} checked when loaded")
    return " · ".join(parts) or "nothing to compute"
