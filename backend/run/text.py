"""How values read as text: numbers as APL writes them, arrays as aligned rows.

An integer shows all its digits.  A float shows at most `digits` significant digits (`⎕PP`, 10): plain between 1E¯6 and
10^digits, else with an exponent (an f32 counts as the shortest decimal that names it);
`¯` is the minus; NaN is `NaN`, infinities `∞ ¯∞`; a complex number is `reJim` and its real part alone when im = 0.
In an array of rank 2 or more the items of a column line up on their decimal points, and when one float of a column
needs an exponent all its numbers get one.  In a vector every item stands alone.

Neighbours: `reference` and `run.cpu` (`⍕`), `shell.display.values` (printing: planes, cutting, wrapping).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from ...typechecker.core import Payload
from ...typechecker.elements import Kind
from .values import round_f32

DIGITS: Final = 10
LEAST_EXPONENTIAL: Final = 1e15
SMALLEST_PLAIN_EXPONENT: Final = -6


def number_text(value: Payload, digits: int = DIGITS, *, exponent: bool = False) -> str:
    """One number; `exponent` forces the form with `E`."""
    if isinstance(value, complex):
        real = _real_text(value.real, digits, exponent)
        return real if value.imag == 0 else f"{real}J{_real_text(value.imag, digits, exponent)}"
    assert not isinstance(value, str)
    return _real_text(value, digits, exponent)


def _real_text(value: bool | int | float, digits: int, exponent: bool) -> str:
    if isinstance(value, int):
        return f"¯{-value:d}" if value < 0 else f"{value:d}"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "¯∞" if value < 0 else "∞"
    if value == 0:
        return "0E0" if exponent else "0"
    if not exponent:  # the usual case in one call: the same digits, rounded the same way
        text = f"{value:.{digits}g}"
        if "e" not in text:
            return "¯" + text[1:] if value < 0 else text
    sign = "¯" if value < 0 else ""
    figures, scale = _significant(abs(value), digits)
    plain = not exponent and SMALLEST_PLAIN_EXPONENT <= scale < digits
    return sign + (_plain(figures, scale) if plain else _exponential(figures, scale))


def needs_exponent(value: Payload, digits: int) -> bool:
    """Does the number not fit the plain form?  Integers always do."""
    if isinstance(value, complex):
        return needs_exponent(value.real, digits) or needs_exponent(value.imag, digits)
    assert not isinstance(value, str)
    if isinstance(value, int) or value == 0 or not math.isfinite(value):
        return False
    return not SMALLEST_PLAIN_EXPONENT <= _significant(abs(value), digits)[1] < digits


def _significant(magnitude: float, digits: int) -> tuple[str, int]:
    """The rounded significant figures without trailing zeros, and the decimal exponent of the first."""
    mantissa, _, exponent = f"{magnitude:.{digits - 1}e}".partition("e")
    return mantissa.replace(".", "").rstrip("0"), int(exponent)


def _plain(figures: str, scale: int) -> str:
    if scale < 0:
        return "0." + "0" * (-scale - 1) + figures
    whole, fraction = figures[: scale + 1].ljust(scale + 1, "0"), figures[scale + 1 :]
    return f"{whole}.{fraction}" if fraction else whole


def _exponential(figures: str, scale: int) -> str:
    mantissa = figures[0] + ("." + figures[1:] if len(figures) > 1 else "")
    return f"{mantissa}E{'¯' if scale < 0 else ''}{abs(scale)}"


def shortest_f32(value: float) -> float:
    """The binary64 of the shortest decimal that reads back as this binary32, so that 0.1 shows as 0.1 and not 0.1000000015."""
    if not math.isfinite(value):
        return value
    shortened = (float(f"{value:.{places}e}") for places in range(9))
    return next(candidate for candidate in shortened if round_f32(candidate) == value)


def widened(item: Payload) -> Payload:
    """An f32, or a c64, by the shortest decimals that name it."""
    if isinstance(item, complex):
        return complex(shortest_f32(item.real), shortest_f32(item.imag))
    return shortest_f32(item) if isinstance(item, float) else item


def fixed_text(value: Payload, digits: int) -> str:
    """A real number with so many digits after its point, of magnitude 1E15 and more with an exponent (`⎕text`)."""
    assert isinstance(value, bool | int | float)
    if isinstance(value, int):
        text = f"{value:d}" + ("." + "0" * digits if digits else "")
    elif math.isfinite(value) and abs(value) < LEAST_EXPONENTIAL:
        text = f"{value:z.{digits}f}"
    elif math.isfinite(value):
        mantissa, _, exponent = f"{value:.{digits}e}".partition("e")
        text = f"{mantissa}E{int(exponent)}"
    else:
        return _real_text(value, digits, False)
    return text.replace("-", "¯")


# -------------------------------------------------------------------------- tables


def column_texts(items: Sequence[Payload], digits: int = DIGITS) -> list[str]:
    """The items of one column, aligned and of one width."""
    forced = any(needs_exponent(item, digits) for item in items)
    return aligned([number_text(item, digits, exponent=forced) for item in items])


def aligned(texts: Sequence[str]) -> list[str]:
    """Line up on the first point, `E` or `J`: what is left of it flush right, what is right of it flush left."""
    splits = [split_at_point(text) for text in texts]
    left = max((len(a) for a, _ in splits), default=0)
    right = max((len(b) for _, b in splits), default=0)
    return [a.rjust(left) + b.ljust(right) for a, b in splits]


def split_at_point(text: str) -> tuple[str, str]:
    """What is left of the first point, `E` or `J`, and the rest."""
    places = [at for at in map(text.find, ".EJ") if at != -1]
    at = min(places, default=len(text))
    return text[:at], text[at:]


def table_of(kind: Kind, items: Sequence[Payload], shape: Sequence[int], digits: int = DIGITS) -> list[list[str]]:
    """The texts of each row (the last axis), aligned by column; a scalar or vector is one row and is not aligned.

    Rows are in row-major order of the leading axes; there are Π shape[:-1] of them.  Text is one column a character."""
    width = shape[-1] if shape else 1
    count = math.prod(shape[:-1])
    if kind is Kind.CHAR:
        return [list(map(str, items[i * width : (i + 1) * width])) for i in range(count)]
    if kind in (Kind.F32, Kind.C64):
        items = [widened(item) for item in items]
    if len(shape) <= 1:
        return [[number_text(item, digits) for item in items]]
    columns = [column_texts(items[j::width], digits) for j in range(width)]
    return [[column[i] for column in columns] for i in range(count)]


def separator(kind: Kind) -> str:
    """What stands between the columns of a row."""
    return "" if kind is Kind.CHAR else " "


def format_items(kind: Kind, items: Sequence[Payload], shape: Sequence[int], digits: int = DIGITS) -> tuple[str, tuple[int, ...]]:
    """`⍕`: the characters in row-major order and the shape of the text (rank at least 1)."""
    rows = [separator(kind).join(row) for row in table_of(kind, items, shape, digits)]
    if len(shape) <= 1:
        return rows[0], (len(rows[0]),)
    width = len(rows[0]) if rows else (shape[-1] if kind is Kind.CHAR else max(0, 2 * shape[-1] - 1))
    return "".join(rows), (*shape[:-1], width)


def fixed_items(kind: Kind, items: Sequence[Payload], shape: Sequence[int], digits: int) -> tuple[str, tuple[int, ...]]:
    """`⎕text`: a row for each item, flush right; the characters in row-major order and the shape of the text."""
    rows = [fixed_text(item, digits) for item in (map(widened, items) if kind is Kind.F32 else items)]
    width = max(map(len, rows), default=0)
    return "".join(row.rjust(width) for row in rows), (*shape, width)
