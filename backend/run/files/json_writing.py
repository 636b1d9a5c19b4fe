"""Outputs as JSON, block by block: `{"elem", "shape", "data"}` with nested lists.

Complex numbers are `[re, im]`, NaN and infinities text, the last axis of text a string.  Neighbours: `writing`, `blocks`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final

from ....typechecker.elements import Kind
from .blocks import blocks_of, characters_of, rows_of

_FLOATS: Final = (Kind.F32, Kind.F64)


def texts(kind: Kind, values: Any) -> Iterator[str]:
    """The whole text; `values` is a NumPy array of the kind."""
    yield f'{{"elem": "{kind.value}", "shape": {json.dumps(list(values.shape))}, "data": '
    yield from _strings(values) if kind is Kind.CHAR and values.ndim else _numbers(kind, values)
    yield "}\n"


def _numbers(kind: Kind, values: Any) -> Iterator[str]:
    if not values.size:
        yield _empty(values.shape)
        return
    lists, at = _Lists(values.shape), 0
    width = values.shape[-1] if values.ndim else 1
    for block in blocks_of(values):
        items, parts, first = _encoded(kind, block), [], 0
        while first < len(items):
            count = min(len(items) - first, width - at % width)
            parts += [lists.before(at), ", ".join(items[first : first + count]), lists.after(at + count - 1)]
            first, at = first + count, at + count
        yield "".join(parts)


def _strings(values: Any) -> Iterator[str]:
    shape = values.shape[:-1]
    if 0 in shape:
        yield _empty(shape)
        return
    lists = _Lists(shape)
    for number, row in enumerate(rows_of(values)):
        yield lists.before(number) + '"'
        for block in blocks_of(row):
            yield json.dumps(characters_of(block), ensure_ascii=False)[1:-1]
        yield '"' + lists.after(number)


def _encoded(kind: Kind, block: Any) -> list[str]:
    items = characters_of(block) if kind is Kind.CHAR else block.tolist()
    if not kind.is_complex and kind is not Kind.CHAR and (kind not in _FLOATS or all(map(math.isfinite, items))):
        return json.dumps(items)[1:-1].split(", ")
    return [json.dumps(_plain(item), ensure_ascii=False) for item in items]


def _plain(item: Any) -> Any:
    if isinstance(item, complex):
        return [_plain(item.real), _plain(item.imag)]
    if isinstance(item, float) and not math.isfinite(item):
        return "nan" if math.isnan(item) else "inf" if item > 0 else "-inf"
    return item


class _Lists:
    """What stands before and after the items of nested lists, by their numbers."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._sizes = [math.prod(shape[axis:]) for axis in range(len(shape))]

    def before(self, number: int) -> str:
        return (", " if number else "") + "[" * sum(number % size == 0 for size in self._sizes)

    def after(self, number: int) -> str:
        return "]" * sum((number + 1) % size == 0 for size in self._sizes)


def _empty(shape: tuple[int, ...]) -> str:
    """Lists of a shape without items."""
    if shape[0] == 0:
        return "[]"
    return "[" + ", ".join([_empty(shape[1:])] * shape[0]) + "]"
