"""What would be quicker if the program allowed it, at its places: sums of products that another expression makes, whose sums are
then in another order.

Nothing is run; sizes are those of the headers of the program's data, or `ASSUMED`.

Neighbours: `backend.graph.passes.contractions` (finds them), `rewritten` (lines of a plan), `lsp.actions` (puts them in).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Final

from ...lang.diagnostics import RhoError
from ..execution.sizing import sized_by_headers
from .estimates import bound_at_assumed_sizes

if TYPE_CHECKING:
    from ...backend.graph.phases import Rewritten
    from ...lang.source import Source, Span
    from ...typechecker.core_blocks import Core

_OPENING: Final = "([{"
_CLOSING: Final = ")]}"
_REDUCTIONS: Final = frozenset({"+/", "+⌿"})


def offers(core: Core, file: str) -> tuple[Rewritten, ...]:
    """The offers of a program, in no order."""
    from ...backend.graph.phases import OFFER

    try:
        bound = sized_by_headers(core, os.path.dirname(file)) or bound_at_assumed_sizes(core)
    except (RhoError, RecursionError, OverflowError):
        return ()
    return tuple(note for note in bound.graph.rewritten if note.rule == OFFER)


def replaced_by(offer: Rewritten, source: Source, statement: Span) -> tuple[int, int] | None:
    """From where to where the offered text stands instead: the reduction with all that it applies to; None if that is not plain
    to see, or inside a function, whose names may be others."""
    text, start = source.text, offer.span.start
    before = text[statement.start : start]
    if not offer.text or text[start : offer.span.end] not in _REDUCTIONS or "{" in before:
        return None
    if any(mark in text[statement.start : statement.end] for mark in "'\"⍝"):
        return None
    if before.rstrip()[-1:] not in ("", "←", "(", "/", "⌿", "⋄", *"+-×÷"):
        return None
    depth = 0
    for place in range(offer.span.end, statement.end + 1):
        mark = text[place : place + 1]
        depth += (mark in _OPENING) - (mark in _CLOSING) if mark else 0
        if depth < 0 or not mark or (depth == 0 and mark in "⋄\n;") or place == statement.end:
            return start, place
    return None
