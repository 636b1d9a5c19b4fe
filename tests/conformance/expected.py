"""The right-hand notation of the tables: what a case prints, in the little APL that every reader of the tables knows.

An expected line is one value or several joined by ` ⋄ `; a value is `items`, `shape⍴items`, `,item` (one item, a vector) or an
error code.  Items are numbers or one quoted text; one item without a shape is a scalar.  Bits count as numbers.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

Item = complex | str


@dataclass(frozen=True, slots=True)
class Value:
    shape: tuple[int, ...]
    items: tuple[Item, ...]

    def __str__(self) -> str:
        text = all(isinstance(item, str) for item in self.items)
        items = "".join(map(str, self.items)) if text else " ".join(map(_spelled, self.items))
        return f"{' '.join(map(str, self.shape))}⍴{items}"


def _spelled(item: Item) -> str:
    if isinstance(item, str):
        return item
    return _real(item.real) + (f"J{_real(item.imag)}" if item.imag else "")


def _real(part: float) -> str:
    return f"{part:.12g}".replace("-", "¯").replace("inf", "∞")


def number(token: str) -> complex:
    real, _, imaginary = token.replace("¯", "-").replace("∞", "inf").replace("NaN", "nan").upper().partition("J")
    return complex(float(real), float(imaginary or 0))


def value(text: str) -> Value:
    text = text.strip()
    quoted = re.search(r"'((?:[^']|'')*)'$", text)
    head, items = (text[: quoted.start()], tuple(quoted[1].replace("''", "'"))) if quoted else ("", ())
    if not quoted:
        head, mark, tail = text.partition("⍴") if "⍴" in text else ("", "", text)
        if not mark and text.startswith(","):
            head, tail = ",", text[1:]
        elif mark:
            head += mark
        items = tuple(number(token) for token in tail.split())
    head = head.strip()
    if head == ",":
        return Value((len(items),), items)
    if head:
        shape = tuple(int(size) for size in head.rstrip("⍴").split())
        count = 1
        for size in shape:
            count *= size
        return Value(shape, tuple(items[i % len(items)] for i in range(count)) if items else ())
    return Value(() if len(items) == 1 else (len(items),), items)


def same(left: Value, right: Value) -> bool:
    return left.shape == right.shape and len(left.items) == len(right.items) and all(map(close, left.items, right.items))


def close(left: Item, right: Item) -> bool:
    if isinstance(left, str) or isinstance(right, str):
        return left == right
    if left == right or (left != left and right != right):
        return True
    return abs(left - right) <= 1e-9 * max(abs(left), abs(right)) + 1e-14
