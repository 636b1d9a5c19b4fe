"""Prefix agreement: frames line up from the left, and missing axes replicate whole cells.

The longest frame is the principal frame; every other one must be a prefix of it.  Each pair of sizes that meet is an obligation
E101, whose message names the axes, gives a counterexample, and offers the row-wise or transposed form where that would line up.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Protocol

from ..lang.diagnostics.model import Code, Edit, Fix, Label
from ..lang.syntax.source import Span
from .diagnostics import SourceNames, show_type
from .elements import Kind
from .proof.obligations import Obligation, Relation, SizeFact
from .sizes.polynomials import ONE, Size
from .values.facts import Operand


class FrameContext(Protocol):
    """The part of a builder that `agree` uses."""

    glyph: str
    source_names: SourceNames

    def require(self, obligation: Obligation) -> bool: ...

    def selection(self, x: Operand) -> Span | None: ...

    def span_of(self, x: Operand) -> Span: ...

    def text(self, span: Span) -> str: ...


_MOST_CHARACTERS = 24  # of the program's text within a message


def principal_frame(b: FrameContext, args: Sequence[Operand], span: Span) -> tuple[Size, ...] | None:
    """The result shape of an elementwise application; None after an error."""
    return agree(b, args, [a.type.shape for a in args], span)


def agree(b: FrameContext, args: Sequence[Operand], frames: Sequence[tuple[Size, ...]], span: Span) -> tuple[Size, ...] | None:
    """The principal frame of arguments with these frames; None after E101 or E140."""
    principal = max(range(len(frames)), key=lambda i: (len(frames[i]), -i))
    frame = frames[principal]
    good = True
    for i, other in enumerate(frames):
        if i == principal:
            continue
        for axis, (size, principal_size) in enumerate(zip(other, frame, strict=False)):
            if size == principal_size:
                continue
            good = b.require(_obligation(b, args, frames, principal, i, axis, span)) and good
            if not good:
                return None
    return _most_precise(frames, principal)


def _most_precise(frames: Sequence[tuple[Size, ...]], principal: int) -> tuple[Size, ...]:
    """The principal frame; a size that another frame states as a number is that number."""
    frame = list(frames[principal])
    for other in frames:
        for axis, size in enumerate(other):
            if size.constant is not None:
                frame[axis] = size
    return tuple(frame)


def _obligation(
    b: FrameContext, args: Sequence[Operand], frames: Sequence[tuple[Size, ...]], principal: int, i: int, axis: int, span: Span
) -> Obligation:  # fmt: skip
    size, principal_size = frames[i][axis], frames[principal][axis]
    first, second = (args[principal], args[i]) if principal < i else (args[i], args[principal])
    one, two = (principal_size, size) if principal < i else (size, principal_size)
    selections = [(x, selection) for x in (first, second) if (selection := b.selection(x)) is not None]
    if axis == 0 and selections and size.constant is not None and principal_size.constant is not None:
        x, selection = selections[0]
        count = str(one if x is first else two)
        message = f"lengths {one} and {two} differ: {count} is the number of elements that a mask keeps"
        labels = (
            *[Label(b.span_of(x), show_type(x.type)) for x in (first, second)],
            Label(selection, f"this mask keeps {count}"),
        )
        hint = "select from both with the same mask: `(m⌿x) … m⌿y`"
        return Obligation(SizeFact(Relation.EQUAL, one, two), Code.E140, span, message, labels, (hint,))
    if size.constant is not None and principal_size.constant is not None:
        message = f"these arrays do not line up: axis {axis} is {one} on the left and {two} on the right"
    elif size.is_runtime() or principal_size.is_runtime():
        message = f"lengths {one} and {two} are not known to be equal"
    elif axis == 0:
        message = f"these arrays do not line up: leading axes {one} and {two} may differ"
    else:
        message = f"these arrays do not line up: axes {axis} ({one} and {two}) may differ"
    labels = tuple(Label(b.span_of(x), show_type(x.type)) for x in (first, second))
    notes, fixes = hints(b, args[principal], frames[principal], args[i], frames[i], span)
    mistake_fixes = tuple([fix for x in (first, second) if (fix := _one_character(b, x)) is not None])
    mistake_fixes = mistake_fixes or _rows_compared(b, first, second, span)
    return Obligation(SizeFact(Relation.EQUAL, one, two), Code.E101, span, message, labels, notes, fixes, mistake_fixes)


def _one_character(b: FrameContext, x: Operand) -> Fix | None:
    """The fix that writes `" "`, a vector of one character, as the scalar `' '`."""
    at = b.span_of(x)
    text = b.text(at)
    if x.type.shape != (ONE,) or len(text) != 3 or text[0] != '"' or text[-1] != '"' or text[1] == "'":
        return None
    return Fix(f"write `'{text[1]}'`, one character: `{text}` is a vector of one", (Edit(at, f"'{text[1]}'"),))


_MATCHES: Final = {"=": "≡", "≠": "≢"}


def _rows_compared(b: FrameContext, left: Operand, right: Operand, span: Span) -> tuple[Fix, ...]:
    """The fix of `pay = "CASH"` for a table of text: compare each row with the text, padded to the width of a row."""
    table, word = (left, right) if left.type.rank == 2 else (right, left)
    at, width = b.span_of(word), str(table.type.shape[-1])
    written, length = b.text(at), word.type.shape[0].constant if word.type.rank == 1 else None
    if table.type.element.kind is not Kind.CHAR or b.text(span) not in _MATCHES or written[:1] not in ("'", '"'):
        return ()
    if written.count(written[0]) != 2 or written[-1] != written[0] or length is None or not width.isalnum():
        return ()
    if width.isdigit() and int(width) < length:
        return ()
    filled = written if width == str(length) else f"{width if width.isdigit() else f'({width}⌈{length})'}↑{written}"
    filled = filled if word is right or filled is written else f"({filled})"
    text = f"{_MATCHES[b.text(span)]}⍤1 ⊢"
    shown = [_short_text(b, table) or "…", text, filled]
    title = f"compare each row with the text: `{' '.join(shown if word is right else reversed(shown))}`"
    return (Fix(title, (Edit(span, text), Edit(at, filled))),)


def hints(
    b: FrameContext, long: Operand, long_frame: tuple[Size, ...], short: Operand, short_frame: tuple[Size, ...], span: Span
) -> tuple[tuple[str, ...], tuple[Fix, ...]]:  # fmt: skip
    """(notes, fixes): forms that would line up.  A fix needs the text of the function at `span`."""
    rank = len(short_frame)
    if rank and rank < len(long_frame) and short_frame == long_frame[len(long_frame) - rank :]:
        cells = "row" if rank == 1 else f"cell of rank {rank}"
        left, right = sorted((long, short), key=lambda x: b.span_of(x).start)
        texts = [_short_text(b, x, left=x is left) for x in (left, right, short)]
        if not all(texts):
            return (f"frames match from the left; to pair one argument with every {cells} of the other use `⍤{rank}`",), ()
        rewritten = f"`{texts[0]} {b.glyph}⍤{rank} ⊢ {texts[1]}`"
        note = f"frames match from the left; to use {texts[2]} with every {cells} write {rewritten}"
        if b.text(span) not in ("", b.glyph):  # not for derived functions
            return ("frames match from the left; here one has the other's last axes (rows: `⍤1`)",), ()
        if _is_adjacent(b, left, span) and _is_adjacent(b, right, span):
            return (), (Fix(note, (Edit(Span(span.file, span.end, span.end), f"⍤{rank} ⊢"),)),)
        return (note,), ()
    if rank == len(long_frame) and rank > 1 and short_frame == long_frame[::-1]:
        return transpose_hint(b, short, span)
    if any(a != b and ONE in (a, b) for a, b in zip(long_frame, short_frame, strict=False)):
        return ("an axis of length 1 is not stretched: use a scalar (`⊃x`)",), ()
    if any(s.is_runtime() for s in (*long_frame, *short_frame)):
        return ("select from both with the same mask: `(m⌿x) … m⌿y`",), ()
    return (), ()


def transpose_hint(b: FrameContext, x: Operand, span: Span) -> tuple[tuple[str, ...], tuple[Fix, ...]]:
    """(notes, fixes): the suggestion to transpose an argument of the function at `span`."""
    operand = b.span_of(x)
    if not _is_adjacent(b, x, span):
        return ("the axes of one in reverse order (`⍉`) line up with the other's",), ()
    note = f"did you mean `⍉{_short_text(b, x) or b.text(operand)}`? its axes in reverse order line up"
    text = b.text(operand)
    return (), (Fix(note, (Edit(operand, f"⍉{text}" if operand.start >= span.end else f"(⍉{text})"),)),)


def _is_adjacent(b: FrameContext, x: Operand, span: Span) -> bool:
    """Is the value written right beside the function, as its argument?"""
    operand = b.span_of(x)
    if operand.file != span.file or not b.text(operand):
        return False
    if operand.start >= span.end:
        return b.text(Span(span.file, span.end, operand.start)).strip() in ("", "(")
    return operand.end <= span.start and b.text(Span(span.file, operand.end, span.start)).strip() in ("", ")")


def _short_text(b: FrameContext, x: Operand, *, left: bool = False) -> str:
    """The text of a value for a message: the program's, if that is short, else its name, else empty."""
    text = b.text(b.span_of(x))
    if text.isidentifier() or text in ("⍺", "⍵"):
        return text
    if x.value in b.source_names.names or not 0 < len(text) <= _MOST_CHARACTERS or "\n" in text:
        return b.source_names.names.get(x.value, "")
    return f"({text})" if left else text
