"""Inlay hints and code lenses: types of bindings, usage grades of parameters and inputs, frames of lifted calls, costs.
"""

from __future__ import annotations

import os
import re
from dataclasses import replace
from enum import Enum
from typing import Final

from ...lang.diagnostics.model import RhoError
from ...lang.support.records import dataclass
from ...lang.syntax.glyph_input import to_glyphs
from ...lang.syntax.source import Source, Span
from ...lang.tree.expressions import Symbol, SymbolKind
from ...typechecker.core.arrays import Reduce, Scalar, Scan
from ...typechecker.core.blocks import Core, MapCells, Op, all_ops
from ...typechecker.sizes.polynomials import Size, show_short
from .documents import Document, Range, TextPosition
from .hover import cost_of, is_latest, types_of

# ---------------------------------------------------------------------------------------------------- frames
#
# Frames of lifted calls: over which axes a function is applied to cells, `norm⟨n⟩ x`.
#
# A lift in the typed core has the span of the function that is lifted.  Reductions, scans and element-wise work over cells need
# no loop and leave none in the core; their frame is what `⍤` and `˘`, as they are written, leave of the result's axes.  Inside a
# function that is elaborated once for each use the frame is shown where every use has the same one.

_RANKS: Final = re.compile(r"(?:⍤\s*((?:¯?\d+\s*){1,3})|(˘))$")


def frames(document: Document) -> dict[Span, str]:
    """The frame of every function that is lifted, as `⟨n m⟩`; none while anything is wrong."""
    core = document.checked.core
    if core is None:
        return {}
    texts_of: dict[Span, set[str]] = {}
    for op in all_ops(core.block.ops):
        value = op.results[0] if isinstance(op, MapCells) and op.results else op.result if isinstance(op, _DIRECT) else None
        span = None if value is None else core.spans.get(value)
        if span is None or span.file != document.name:
            continue
        frame = op.frame if isinstance(op, MapCells) else _direct_frame(core, op, document.text[span.start : span.end])
        if frame:
            texts_of.setdefault(span, set()).add(f"⟨{' '.join(map(show_short, frame))}⟩")
    return {span: texts.pop() for span, texts in texts_of.items() if len(texts) == 1}


_DIRECT: Final = (Reduce, Scan, Scalar)


def _direct_frame(core: Core, op: Op, written: str) -> tuple[Size, ...]:
    """What is left of the result before the result's cells, by the ranks that are written; empty where that is not certain."""
    if "`" in written:
        written = to_glyphs(Source("<function>", written)).text
    asked = _RANKS.search(written)
    if asked is None or not isinstance(op, _DIRECT):
        return ()
    numbers = [-1] if asked[2] else [int(word.replace("¯", "-")) for word in asked[1].split()]
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


# ---------------------------------------------------------------------------------------------------- hints

_TYPE = re.compile(r"[A-Za-z]\w*(?:<[^<>]*>)?(?:\[[^\]]*\])?|\(")


MOST_CHARACTERS = 40
"""Of a hint; the rest is in its detail."""


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
            shown += _type(document, symbol)
        elif symbol.kind is SymbolKind.INPUT:
            shown += _input(document, symbol)
        elif symbol.kind is SymbolKind.FUNCTION and is_latest(document, symbol):
            shown += _function(document, symbol)
    for span, frame in document.memoised(frames).items():
        if start <= span.end <= end:
            shown.append(_hint(document, span.end, frame, HintKind.FRAME, f"applied to each cell of the frame {frame}"))
    return sorted(shown, key=lambda hint: hint.position)


def _type(document: Document, symbol: Symbol) -> list[Hint]:
    """`centres`<sub> : f64[k 4]</sub>` ← …`, where no type is written and there is only one."""
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


def _input(document: Document, symbol: Symbol) -> list[Hint]:
    result = document.checked.result
    lines = () if result is None else result.describe(symbol.name)
    at = document.text.find(":", symbol.span.end, symbol.statement.end)
    reads = quantities_in(lines[0])[:1] if len(lines) == 1 else []
    if at == -1 or not reads or not is_latest(document, symbol):
        return []
    return [_hint(document, at + 1, f" {reads[0]}", HintKind.QUANTITY, f"each element is read {reads[0]} times")]


def _function(document: Document, symbol: Symbol) -> list[Hint]:
    """The signature of a function without one; the quantities that a signature leaves out."""
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
    written = parameters_in(document.text[start:end])
    reads = quantities_in(lines[0])
    if len(written) != len(reads):
        return []
    return [
        _hint(document, start + at, f"{reads[index]} ", HintKind.QUANTITY)
        for index, (at, stated) in enumerate(written)
        if not stated
    ]


def quantities_in(line: str) -> list[str]:
    """The quantities of a described name: of a value its one, of a function those of its parameters."""
    _, _, types = line.partition(" : ")
    types = types.partition(" where ")[0]
    parts = types.split(" → ")
    return [part.split(" ", 1)[0] for part in (parts[:-1] or parts) if _stated(part)]


def _stated(part: str) -> bool:
    first, blank, rest = part.partition(" ")
    return bool(blank) and _TYPE.match(rest) is not None and first.count("[") == first.count("]")


def parameters_in(text: str) -> list[tuple[int, bool]]:
    """Of every parameter in `: τ → τ → τ` where it starts and whether it states a quantity."""
    parameters = []
    at = text.find(":") + 1
    parts = text[at:].split("→")
    for part in parts[:-1]:
        blanks = len(part) - len(part.lstrip())
        parameters.append((at + blanks, _stated(part.strip())))
        at += len(part) + 1
    return parameters


# ---------------------------------------------------------------------------------------------------- lenses
#
# Lines above definitions: what a function or the whole program costs, how long that takes, and how many facts are checked when
# it is loaded.
#
# A lens has its place at once and its text when it is looked at, because costs are worked out by the back end.  The time of a
# program is that for its data, whose headers are read; that of a function for sizes of a thousand.
# Neighbours: `shell.display.costs`, `shell.display.estimates`, `hover`.

PROGRAM = ""


@dataclass(frozen=True, slots=True)
class Lens:
    """`name` is that of a function, or `PROGRAM`."""

    range: Range
    name: str


def lenses(document: Document) -> list[Lens]:
    """One for the program where its first statement is, one for each function; none while anything is wrong."""
    if not document.checked.accepted:
        return []
    pieces = document.index.raw_statements
    shown = []
    if pieces:
        start = document.index.glyphs.span(pieces[0].start, pieces[0].start).start
        shown.append(Lens(document.lines.range(start, start), PROGRAM))
    for symbol in document.index.symbols:
        if symbol.kind is SymbolKind.FUNCTION and is_latest(document, symbol):
            shown.append(Lens(document.lines.of(symbol.declared or symbol.span), symbol.name))
    return shown


def lens_text(document: Document, name: str) -> str:
    """What a lens says."""
    if name == PROGRAM:
        return _program(document)
    if name not in document.checked.types:
        return "generic: costs at each use"
    cost = cost_of(document, name)
    lines = [] if cost is None else cost.splitlines()
    parts = [part for kind in ("work", "memory") if (part := _line(lines, kind))]
    parts += [time] if parts and (time := _time(document, name)) else []
    return " · ".join(parts) or "generic: costs at each use"


def _time(document: Document, name: str) -> str:
    """Of the first way to apply a function."""
    from ..display.estimates import time_at_assumed_sizes

    result = document.checked.result
    if result is None:
        return ""
    try:
        instances = replace(result, elaborated=replace(result.elaborated,
            names={name: result.elaborated.names[name]})).instances()
        params = {} if document.checked.core is None else {one.name: one.default for one in document.checked.core.params}
        return time_at_assumed_sizes(instances[name][0][1], params) if instances.get(name) else ""
    except RecursionError:
        return ""


def _line(lines: list[str], kind: str) -> str:
    line = next((line for line in lines if line.startswith(kind)), "")
    return " ".join(line.partition("operations (")[0].split()) + (" operations" if "operations (" in line else "")


def _program(document: Document) -> str:
    from ..display.costs import cost_of_program
    from ..display.estimates import time_of_program

    core = document.checked.core
    if core is None:
        return "rejected"
    parts = []
    if core.block.ops or core.inputs:
        try:
            lines = cost_of_program(core).lines()
            parts += [part for kind in ("work", "memory") if (part := _line(lines, kind))]
            parts += [time] if (time := time_of_program(core, os.path.dirname(document.name))) else []
        except (RhoError, RecursionError):
            parts.append("too deep to cost")
    count = len(core.guards)
    if count:
        parts.append(f"{count} {'fact' if count == 1 else 'facts'} checked when loaded")
    return " · ".join(parts) or "nothing to compute"
