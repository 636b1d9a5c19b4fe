"""Prefix agreement: frames line up from the left, missing axes replicate whole cells.

The longest frame is the principal frame; every other must be a prefix of it.  Each pair of sizes
that meet is an obligation E101, whose message says which axes, offers the row-wise or transposed
form where that would line up, and gives a counterexample.

Neighbours: `builder.scalar`, `elaborate` (lifts).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..lang.diagnostics import Label
from ..lang.source import Span
from .display import show_type
from .obligations import Obligation, Relation, SizeFact
from .operands import Operand
from .sizes import Size

if TYPE_CHECKING:
    from .builder import Builder


def principal_frame(b: Builder, args: Sequence[Operand], span: Span) -> tuple[Size, ...] | None:
    """The result shape of an element-wise application, None after an error."""
    return agree(b, args, [a.type.shape for a in args], span)


def agree(b: Builder, args: Sequence[Operand], frames: Sequence[tuple[Size, ...]], span: Span) -> tuple[Size, ...] | None:
    """The principal frame of `args` whose frames are given; None after E101 (or E140)."""
    principal = max(range(len(frames)), key=lambda i: (len(frames[i]), -i))
    frame = frames[principal]
    good = True
    for i, other in enumerate(frames):
        if i == principal:
            continue
        for axis, (mine, theirs) in enumerate(zip(other, frame, strict=False)):
            if mine == theirs:
                continue
            good = b.require(_obligation(b, args, frames, principal, i, axis, span)) and good
            if not good:
                return None
    return _most_precise(frames, principal)


def _most_precise(frames: Sequence[tuple[Size, ...]], principal: int) -> tuple[Size, ...]:
    """The principal frame, with a number wherever another frame has one (they are equal)."""
    frame = list(frames[principal])
    for other in frames:
        for axis, size in enumerate(other):
            if size.constant is not None:
                frame[axis] = size
    return tuple(frame)


def _obligation(
    b: Builder, args: Sequence[Operand], frames: Sequence[tuple[Size, ...]], principal: int, i: int, axis: int, span: Span
) -> Obligation:  # fmt: skip
    mine, theirs = frames[i][axis], frames[principal][axis]
    first, second = (args[principal], args[i]) if principal < i else (args[i], args[principal])
    one, two = (theirs, mine) if principal < i else (mine, theirs)
    if mine.constant is not None and theirs.constant is not None:
        message = f"these arrays do not line up: axis {axis} is {one} on the left and {two} on the right"
    elif mine.is_runtime() or theirs.is_runtime():
        message = f"lengths {one} and {two} are not known to be equal"
    elif axis == 0:
        message = f"these arrays do not line up: leading axes {one} and {two} may differ"
    else:
        message = f"these arrays do not line up: axes {axis} ({one} and {two}) may differ"
    labels = tuple(Label(b.where(x), show_type(x.type)) for x in (first, second))
    notes = hints(b, args[principal], frames[principal], args[i], frames[i])
    return Obligation(SizeFact(Relation.EQUAL, one, two), "E101", span, message, labels, notes)


def hints(
    b: Builder, long: Operand, long_frame: tuple[Size, ...], short: Operand, short_frame: tuple[Size, ...]
) -> tuple[str, ...]:  # fmt: skip
    """Forms that would line up."""
    long_name = b.names.get(long.value, "A")
    short_name = b.names.get(short.value, "b")
    rank = len(short_frame)
    if rank and rank < len(long_frame) and short_frame == long_frame[len(long_frame) - rank :]:
        cells = "row" if rank == 1 else f"cell of rank {rank}"
        return (f"frames match from the left; to use {short_name} with every {cells} write "
                f"`{long_name} {b.glyph}⍤{rank} ⊢ {short_name}`",)  # fmt: skip
    if rank == len(long_frame) and rank > 1 and short_frame == long_frame[::-1]:
        return (f"did you mean `⍉{short_name}`? its axes in reverse order line up",)
    if any(s.is_runtime() for s in (*long_frame, *short_frame)):
        return ("select from both with the same mask: `(m⌿x) … m⌿y`",)
    return ()
