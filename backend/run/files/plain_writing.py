"""`.txt`, the other way: a char vector as it is (with a final newline), a matrix as lines; other values as they display.

The columns of a matrix of numbers line up, as `run.text` says, so its items are looked at before any is written: which columns
need exponents, then how wide they are.  Texts are made block by block.

Neighbours: `run.text` (how a number reads), `blocks`, `writing`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ....lang.codes import Code
from ....typechecker.elements import Kind
from ..text import DIGITS, needs_exponent, number_text, split_at_point, widened
from .blocks import blocks_of, characters_of
from .trouble import FileTrouble

_ELSEWHERE = "write it to an npy or a json file"
_LEAST, _MOST = 1e-4, 10.0 ** (DIGITS - 2)
"""Numbers of this size need no exponent, whatever rounding does."""


def texts(kind: Kind, values: Any) -> Iterator[str]:
    """The whole text; `values` is a NumPy array of the kind."""
    if kind is Kind.CHAR:
        return _characters(values)
    return _line(kind, values) if values.ndim < 2 else _table(kind, values)


def require_lines(values: Any) -> None:
    """E708: text whose file would be read as another."""
    import numpy

    if values.size and characters_of(values.reshape(-1)[:1]) == "\ufeff":
        raise FileTrouble(Code.E708, "begins with a byte order mark, which is not read as a character", _ELSEWHERE)
    if values.ndim < 2 or not values.size:
        return
    codes = numpy.ascontiguousarray(values).view("=u4").reshape(-1, values.shape[-1])
    broken = (codes == ord("\n")).any(axis=1) | (codes[:, -1] == ord("\r"))
    if broken.any():
        raise FileTrouble(Code.E708, f"has a row that is no line: row {int(broken.argmax())} holds the end of one", _ELSEWHERE)


def _characters(values: Any) -> Iterator[str]:
    import numpy

    if values.ndim < 2:
        last = ""
        for block in blocks_of(values):
            last = characters_of(block)
            yield last
        if not last.endswith("\n"):
            yield "\n"
        return
    for number, place in enumerate(numpy.ndindex(values.shape[:-1])):
        yield _blank_lines(number, values.shape)
        for block in blocks_of(values[place]):
            yield characters_of(block)
        yield "\n"


def _line(kind: Kind, values: Any) -> Iterator[str]:
    between = ""
    for block in blocks_of(values):
        yield between + " ".join(number_text(item, DIGITS) for item in _items(kind, block))
        between = " "
    yield "\n"


def _items(kind: Kind, block: Any) -> list[Any]:
    items: list[Any] = block.tolist()
    return [widened(item) for item in items] if kind in (Kind.F32, Kind.C64) else items


def _table(kind: Kind, values: Any) -> Iterator[str]:
    import numpy

    width = values.shape[-1]
    if not values.size:
        lines = math.prod(values.shape[:-1])
        for number in range(lines):
            yield _blank_lines(number, values.shape) + "\n"
        return
    forced = numpy.zeros(width, numpy.bool_)
    for column, items in _by_column(kind, values):
        for at, item in enumerate(items, column):
            if not _LEAST <= abs(item) < _MOST and needs_exponent(item, DIGITS):
                forced[at % width] = True
    left, right = numpy.zeros(width, numpy.int32), numpy.zeros(width, numpy.int32)
    for column, parts in _split(kind, values, forced):
        for at, (before, after) in enumerate(parts, column):
            which = at % width
            left[which] = max(left[which], len(before))
            right[which] = max(right[which], len(after))
    number = 0
    for column, parts in _split(kind, values, forced):
        texts: list[str] = []
        for at, (before, after) in enumerate(parts, column):
            which = at % width
            if not which:
                texts.append(_blank_lines(number, values.shape))
                number += 1
            last = which == width - 1
            texts.append(before.rjust(left[which]) + ("" if last else after.ljust(right[which])))
            texts.append(after.rstrip() + "\n" if last else " ")
        yield "".join(texts)


def _by_column(kind: Kind, values: Any) -> Iterator[tuple[int, list[Any]]]:
    """Blocks of items, and the column of the first."""
    column = 0
    for block in blocks_of(values):
        yield column, _items(kind, block)
        column = (column + len(block)) % values.shape[-1]


def _split(kind: Kind, values: Any, forced: Any) -> Iterator[tuple[int, list[tuple[str, str]]]]:
    """Blocks of texts, each cut at its point, and the column of the first."""
    exponents = forced.tolist()
    for column, items in _by_column(kind, values):
        texts = (number_text(item, DIGITS, exponent=exponents[at % len(exponents)]) for at, item in enumerate(items, column))
        yield column, [split_at_point(text) for text in texts]


def _blank_lines(row: int, shape: tuple[int, ...]) -> str:
    """A blank line where each enclosing axis steps."""
    return "\n" * sum(1 for axis in range(len(shape) - 2) if row and row % math.prod(shape[axis + 1 : -1]) == 0)
