"""Frames of lifted calls: over which axes a function is applied to cells, `norm⟨n⟩ x`.

A lift in the typed core has the span of the function that is lifted.  Inside a function that is elaborated once for each use the
frame is shown where every use has the same one.

Neighbours: `hints` (who shows them), `typechecker.core.Lift`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from ...lang.source import Span
from ...typechecker.core import Block, Lift
from ...typechecker.size_text import show_short
from .documents import Document


def frames(document: Document) -> dict[Span, str]:
    """The frame of every function that is lifted, as `⟨n m⟩`; none while anything is wrong."""
    known: dict[Span, str] | None = vars(document).get("frames")
    if known is None:
        known = vars(document)["frames"] = _found(document)
    return known


def _found(document: Document) -> dict[Span, str]:
    core = document.checked.core
    if core is None:
        return {}
    found: dict[Span, set[str]] = {}
    for lift in _lifts(core.block):
        span = core.spans.get(lift.results[0]) if lift.results else None
        if span is not None and span.file == document.name:
            found.setdefault(span, set()).add(f"⟨{' '.join(map(show_short, lift.frame))}⟩")
    return {span: texts.pop() for span, texts in found.items() if len(texts) == 1}


def _lifts(block: Block) -> Iterator[Lift]:
    """Every lift of a block and of the blocks inside it."""
    pending = [block]
    while pending:
        for op in pending.pop().ops:
            if isinstance(op, Lift):
                yield op
            values = [getattr(op, field.name) for field in fields(op)]
            pending += [value for value in values if isinstance(value, Block)]
            pending += [part for value in values if isinstance(value, tuple) for part in value if isinstance(part, Block)]
