"""What is not written but known, shown between the words: types of bindings, how often parameters and inputs are read, the
frames of lifted calls.

Neighbours: `values` (types), `typechecker.check` (reads), `frames`, `index`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from ...lang.definitions import Symbol, SymbolKind
from .documents import Document
from .frames import frames
from .places import Position, Range
from .values import is_latest, types_of

_TYPE = re.compile(r"[A-Za-z]\w*(?:<[^<>]*>)?(?:\[[^\]]*\])?|\(")


MOST_CHARACTERS = 40
"""Of a hint; the rest is in its detail."""


class HintKind(Enum):
    TYPE = "type"
    QUANTITY = "quantity"
    FRAME = "frame"


@dataclass(frozen=True, slots=True)
class Hint:
    position: Position
    text: str
    kind: HintKind
    detail: str = ""


def hints(document: Document, within: Range) -> list[Hint]:
    """The hints of a range, in the order of the text."""
    start, end = document.lines.offset(within.start), document.lines.offset(within.end)
    found: list[Hint] = []
    for symbol in document.index.symbols:
        if symbol.statement.end < start or symbol.statement.start > end or document.checked.result is None:
            continue
        if symbol.kind is SymbolKind.ARRAY:
            found += _type(document, symbol)
        elif symbol.kind is SymbolKind.INPUT:
            found += _input(document, symbol)
        elif symbol.kind is SymbolKind.FUNCTION and is_latest(document, symbol):
            found += _function(document, symbol)
    for span, frame in document.kept(frames).items():
        if start <= span.end <= end:
            found.append(_hint(document, span.end, frame, HintKind.FRAME, f"applied to each cell of the frame {frame}"))
    return sorted(found, key=lambda hint: hint.position)


def _type(document: Document, symbol: Symbol) -> list[Hint]:
    """`centres`<sub> : f64[k 4]</sub>` ← …`, where no type is written and there is only one."""
    types = types_of(document, symbol)
    if len(types) != 1 or symbol.declared is not None or _is_annotated(document, symbol):
        return []
    return [_hint(document, symbol.span.end, f" : {types[0]}", HintKind.TYPE)]


def _hint(document: Document, offset: int, text: str, kind: HintKind, detail: str = "") -> Hint:
    """A hint, cut if it is long."""
    place = document.lines.position(offset)
    if len(text) <= MOST_CHARACTERS:
        return Hint(place, text, kind, detail)
    return Hint(place, text[: MOST_CHARACTERS - 1].rstrip() + "…" + text[len(text.rstrip()) :], kind, detail or text.strip())


def _is_annotated(document: Document, symbol: Symbol) -> bool:
    after = document.text[symbol.span.end : symbol.statement.end].lstrip()
    return symbol.span.start == symbol.statement.start and after.startswith(":")


def _input(document: Document, symbol: Symbol) -> list[Hint]:
    result = document.checked.result
    lines = () if result is None else result.described(symbol.name)
    at = document.text.find(":", symbol.span.end, symbol.statement.end)
    reads = quantities_in(lines[0])[:1] if len(lines) == 1 else []
    if at == -1 or not reads or not is_latest(document, symbol):
        return []
    return [_hint(document, at + 1, f" {reads[0]}", HintKind.QUANTITY, f"each element is read {reads[0]} times")]


def _function(document: Document, symbol: Symbol) -> list[Hint]:
    """The signature of a function without one; the quantities that a signature leaves out."""
    result = document.checked.result
    lines = () if result is None else result.described(symbol.name)
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
    found = []
    at = text.find(":") + 1
    parts = text[at:].split("→")
    for part in parts[:-1]:
        blanks = len(part) - len(part.lstrip())
        found.append((at + blanks, _stated(part.strip())))
        at += len(part) + 1
    return found
