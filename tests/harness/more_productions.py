"""More productions of random programs: those that move, look up and select items, and those that apply functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from productions import PRODUCTIONS, always, combined, factor, is_ordered, production, rank

if TYPE_CHECKING:
    from drawing import Dims, Drawing, Made

__all__ = ["PRODUCTIONS"]


@production(rank(0, 2))
def joined(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    """The sum over a join of two arrays."""
    i, j = d.dim(), d.dim()
    a, b = d.number((i, *dims), depth, kind), d.number((j, *dims), depth, kind)
    glyph = "⍪" if dims else ","
    bound = a.bound * d.count((i,)) + b.bound * d.count((j,))
    return f"+⌿{a.text}{glyph}{b.text}", a.value.sum(0) + b.value.sum(0), bound


@production(lambda dims, kind: 0 < len(dims) < 3 and dims[0].isdigit())
def taken(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    """A take of rows from one end, with fills beyond the other."""
    source, count = d.dim(), int(dims[0])
    a, back = d.number((source, *dims[1:]), depth, kind), d.chance.random() < 0.3
    missing = np.zeros((max(0, count - len(a.value)), *a.value.shape[1:]), a.value.dtype)
    value = np.concatenate([missing, a.value[max(0, len(a.value) - count) :]] if back else [a.value[:count], missing])
    return f"{'¯' if back and count else ''}{count}↑{a.text}", value, a.bound


@production(lambda dims, kind: 0 < len(dims) < 3 and dims[0].isdigit())
def dropped(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    by, back = d.chance.randint(0, 2), d.chance.random() < 0.4
    a = d.number((str(int(dims[0]) + by), *dims[1:]), depth, kind)
    return f"{'¯' if back and by else ''}{by}↓{a.text}", a.value[: len(a.value) - by] if back else a.value[by:], a.bound


@production(lambda dims, kind: 0 < len(dims) < 3 and dims[0].isdigit() and int(dims[0]) > 0)
def updated(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    place, a, b = d.chance.randrange(int(dims[0])), d.number(dims, depth, kind), d.literal(kind, ())
    value = a.value.copy()
    value[place] = b.value
    return f"{b.text}@{place}⊢{a.text}", value, max(a.bound, b.bound)


@production(lambda dims, kind: len(dims) == 1 and dims[0].isdigit() and int(dims[0]) > 0)
def keyed(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    along = d.dim()
    keys, a = d.places((along,), dims[0]), d.number((along,), depth, kind)
    value = np.zeros(int(dims[0]), a.value.dtype)
    np.add.at(value, keys.value, a.value)
    return f"{dims[0]} +⌸ ({keys.text} ⋄ {a.text})", value, a.bound * d.count((along,))


@production(rank(0, 2))
def folded(d: Drawing, dims: Dims, depth: int, kind: str) -> Made | None:
    """A fold by a dfn, from the right."""
    along = d.chance.choice(["1", "2", "3", "4"])
    a = d.number((along, *dims), depth, kind)
    value, bound = a.value[-1], a.bound
    for row in a.value[-2::-1]:
        value, bound = row + 2 * value, a.bound + 2 * factor(kind) * bound
    return f"{{⍺+⍵+⍵}}⌿{a.text}", value, bound


@production(always)
def guarded(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    """A guard, one arm of which is computed."""
    c, a, b = d.number((), depth, "i64"), d.number(dims, depth, kind), d.number(dims, depth, kind)
    text = f"{{0<{c.text}:⍵+{b.text} ⋄ ⍵-{b.text}}}{a.text}"
    return text, a.value + b.value if c.value > 0 else a.value - b.value, a.bound + b.bound


@production(rank(1, 2))
def turned_by_cell(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a, by = d.number(dims, depth, kind), d.number((), min(depth, 1), "i64")
    return f"{by.text}⊖{a.text}", np.roll(a.value, -int(by.value % max(1, len(a.value))), 0), a.bound


@production(rank(0, 2))
def kept(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    """Two selections of the same run-time size, and their count."""
    along = d.dim()
    m, a, b = d.named_mask((along,), depth), d.number((along, *dims), depth, kind), d.number((along,), depth, kind)
    k, w = d.define_text(f"{m.text}⌿{a.text}"), d.define_text(f"{m.text}⌿{b.text}")
    chosen, weights = a.value[m.value], b.value[m.value].reshape((-1,) + (1,) * len(dims))
    glyph, function, bound = combined(d, b, a, kind)
    draw, count = d.chance.randrange(4), d.count((along,))
    if draw == 0:
        return f"+⌿(⊖{k}){glyph}{k}", function(chosen[::-1], chosen).sum(0), (a.bound**2 * factor(kind) + 2 * a.bound) * count
    if draw == 1:
        return f"+⌿+⍀{k}", np.cumsum(chosen, 0).sum(0), a.bound * count**2
    return f"+⌿{w}{glyph}{k}", function(weights, chosen).sum(0), bound * count


@production(lambda dims, kind: len(dims) == 1)
def looked_up(d: Drawing, dims: Dims, depth: int, kind: str) -> Made | None:
    """Positions in a table, also of absent items."""
    if kind != "i64":
        return None
    of = d.dim()
    table, a = d.number((of,), depth, kind), d.number(dims, depth, kind)
    places = [next((place for place, item in enumerate(table.value) if item == wanted), len(table.value)) for wanted in a.value]
    if d.chance.random() < 0.5:
        return f"{table.text}⍳{a.text}", np.array(places, np.int64), d.count((of,))
    return f"1×{a.text}∊{table.text}", np.isin(a.value, table.value) * 1, 1.0


@production(lambda dims, kind: 0 < len(dims) < 3 and kind != "c128")
def extreme(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    """The extreme of each row, combined with the row."""
    along = d.chance.choice(["1", "2", "3", "4"])
    a = d.define(d.number((*dims, along), depth, kind))
    return f"(⌈/{a.text})-⌊/{a.text}", a.value.max(-1) - a.value.min(-1), 2 * a.bound


@production(is_ordered)
def halved(d: Drawing, dims: Dims, depth: int, kind: str) -> Made | None:
    """Floats rounded to whole numbers."""
    if kind not in ("f64", "f32"):
        return None
    a = d.number(dims, depth, kind)
    half = "2.0" if kind == "f64" else "(f32 2.0)"
    return f"{kind} ⌊{a.text}÷{half}", np.floor(a.value / a.value.dtype.type(2)), a.bound
