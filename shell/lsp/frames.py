"""Frames of lifted calls: over which axes a function is applied to cells, `norm⟨n⟩ x`.

A lift in the typed core has the span of the function that is lifted.  Reductions, scans and element-wise work over cells need no
loop and leave none in the core; their frame is what `⍤` and `˘`, as they are written, leave of the result's axes.  Inside a
function that is elaborated once for each use the frame is shown where every use has the same one.

Neighbours: `hints` (who shows them), `typechecker.core`.
"""

from __future__ import annotations

import re
from typing import Final

from ...lang.source import Source, Span
from ...lang.spelling import spell
from ...typechecker.core import Reduce, Scalar, Scan
from ...typechecker.core_blocks import Core, Lift, Op
from ...typechecker.core_walk import all_ops
from ...typechecker.size_text import show_short
from ...typechecker.sizes import Size
from .documents import Document

_RANKS: Final = re.compile(r"(?:⍤\s*((?:¯?\d+\s*){1,3})|(˘))$")


def frames(document: Document) -> dict[Span, str]:
    """The frame of every function that is lifted, as `⟨n m⟩`; none while anything is wrong."""
    core = document.checked.core
    if core is None:
        return {}
    found: dict[Span, set[str]] = {}
    for op in all_ops(core.block.ops):
        value = op.results[0] if isinstance(op, Lift) and op.results else op.result if isinstance(op, _DIRECT) else None
        span = None if value is None else core.spans.get(value)
        if span is None or span.file != document.name:
            continue
        frame = op.frame if isinstance(op, Lift) else _direct_frame(core, op, document.text[span.start : span.end])
        if frame:
            found.setdefault(span, set()).add(f"⟨{' '.join(map(show_short, frame))}⟩")
    return {span: texts.pop() for span, texts in found.items() if len(texts) == 1}


_DIRECT: Final = (Reduce, Scan, Scalar)


def _direct_frame(core: Core, op: Op, written: str) -> tuple[Size, ...]:
    """What is left of the result before the result's cells, by the ranks that are written; empty where that is not certain."""
    if "`" in written:
        written = spell(Source("<function>", written)).text
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
