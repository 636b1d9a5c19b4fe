"""Patterns that rewrite rules match, on random operands; see `patterns`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from patterns import PATTERNS, any_dims, pattern, pick_ordered, some, vector

__all__ = ["PATTERNS"]

if TYPE_CHECKING:
    from drawing import Drawing, Term


def long(d: Drawing, least: int) -> str:
    """An axis of at least `least` items."""
    return d.chance.choice([dim for dim in ("n", "m", "p") if d.extent(dim) >= least] + [str(d.chance.randint(least, least + 4))])


@pattern("rule members")
def member(d: Drawing) -> Term:
    d.kind = d.chance.choice(["i64", "f64"])
    x, table = d.number(any_dims(d), 2), [d.chance.randint(-3, 5) for _ in range(d.chance.randint(1, 5))]
    shown = " ".join(map(str, table)).replace("-", "¯")
    return d.term((f"1×{x.text}∊{shown}", np.isin(x.value, table) * 1, 1.0), x.dims, "i64")


@pattern("rule compressed")
def places_of_a_mask(d: Drawing) -> Term:
    dim, rest = d.dim(), any_dims(d, 0, 1)
    m, x, y = d.named_mask((dim,), 1), d.define(d.number((dim, *rest), 1)), d.define(d.number((dim,), 1))
    w = d.define_text(f"⍸{m.text}")
    kept = x.value[m.value].sum(0)
    if not rest and d.chance.random() < 0.5:
        value = (x.value * y.value)[m.value].sum()
        return d.term((f"+/{x.text}[{w}]×{y.text}[{w}]", value, 2 * x.bound * y.bound * d.count((dim,))), ())
    return d.term((f"+⌿{x.text}[{w}{';' * len(rest)}]", kept, x.bound * d.count((dim,))), rest)


@pattern("rule solved")
def solution(d: Drawing) -> Term:
    """Linear systems whose matrices have exact inverses: signed permutations with powers of two."""
    d.kind = "f64"
    dim = some(d)
    size = d.extent(dim)
    order, scale = d.random.permutation(size), 2.0 ** d.random.integers(-1, 2, size)
    matrix = np.zeros((size, size))
    matrix[np.arange(size), order] = scale
    a = d.given("f64", (dim, dim), matrix)
    b = d.number((dim, *any_dims(d, 0, 1)), 1)
    value = np.zeros_like(b.value)
    value[order] = b.value / scale.reshape((size,) + (1,) * (b.value.ndim - 1))
    return d.term((f"(⌹{a.text})+.×{b.text}", value, 2 * b.bound), b.dims)


@pattern("rule sorted")
def sort(d: Drawing) -> Term:
    pick_ordered(d)
    x = d.define(vector(d))
    draw = d.chance.randrange(3)
    if draw == 0:
        return d.term((f"{x.text}[⍋{x.text}]", np.sort(x.value), x.bound), x.dims)
    if draw == 1:
        return d.term((f"⌽{x.text}[⍒{x.text}]", np.sort(x.value), x.bound), x.dims)
    a = d.number((d.dim(), *x.dims), 1)
    return d.term((f"{{⍵[⍒⍵]}}⍤1⊢{a.text}", -np.sort(-a.value), a.bound), a.dims)


@pattern("rule taken")
def part_of_an_order(d: Drawing) -> Term:
    pick_ordered(d)
    k = d.chance.randint(1, 3)
    x = d.define(d.number((long(d, k + 1),), 1))
    up = np.sort(x.value)
    draw = d.chance.randrange(3)
    if draw == 0:
        return d.term((f"{x.text}[{k}↑⍒{x.text}]", up[::-1][:k], x.bound), (str(k),))
    if draw == 1:
        return d.term((f"{x.text}[1↓{k + 1}↑⍋{x.text}]", up[1 : k + 1], x.bound), (str(k),))
    return d.term((f"{x.text}[(⍋{x.text})[{k}]]", up[k], x.bound), ())


@pattern("rule selected")
def few_of_an_order(d: Drawing) -> Term:
    pick_ordered(d)
    k = d.chance.randint(1, 2)
    x = d.define(d.number((long(d, 2 * k),), 1))
    order = np.argsort(x.value, kind="stable")
    draw = d.chance.randrange(5)
    if draw == 0:
        return d.term((f"{k}↑⍋{x.text}", order[:k], 9.0), (str(k),), "i64")
    if draw == 1:
        return d.term((f"¯{k}↑{x.text}[⍋{x.text}]", x.value[order][-k:], x.bound), (str(k),))
    if draw == 2:
        return d.term((f"⊃{x.text}[⍒{x.text}]", x.value[order][-1], x.bound), ())
    if draw == 3:
        return d.term((f"⊃⍒{x.text}", np.argmax(x.value), 9.0), (), "i64")
    a = d.number((some(d), *x.dims), 1)
    return d.term((f"{{{k}↑⍵[⍋⍵]}}⍤1⊢{a.text}", np.sort(a.value, -1)[:, :k], a.bound), (a.dims[0], str(k)))


@pattern("rule places")
def place_in_each_row(d: Drawing) -> Term:
    pick_ordered(d)
    a = d.number((some(d), long(d, 2)), d.chance.choice([0, 1, 2]))
    up = d.chance.random() < 0.5
    place = np.argmin(a.value, -1) if up else np.argmax(a.value, -1)
    return d.term((f"{{⊃{'⍋' if up else '⍒'}⍵}}⍤1⊢{a.text}", place, 9.0), a.dims[:-1], "i64")


@pattern("rule reshaped")
def reshape_to_fewer(d: Drawing) -> Term:
    a = d.number(any_dims(d, 1, 3), 2)
    new = any_dims(d, 1, 2)
    if not a.value.size:
        return a
    return d.term((f"{d.shape_text(new)}⍴{a.text}", np.resize(a.value, d.shape(new)), a.bound), new)


@pattern("rule extreme")
def place_of_extreme(d: Drawing) -> Term:
    pick_ordered(d)
    extent = str(d.chance.randint(1, 6))
    x = d.define(d.number((extent,), 2))
    draw = d.chance.randrange(4)
    if draw == 0:
        return d.term((f"{x.text}⍳⌈/{x.text}", np.argmax(x.value), 9.0), (), "i64")
    if draw == 1:
        return d.term((f"{x.text}⍳⌊/{x.text}", np.argmin(x.value), 9.0), (), "i64")
    a = d.number((d.dim(), extent), 1)
    return d.term((f"{{⍵⍳⌈/⍵}}⍤1⊢{a.text}", np.argmax(a.value, -1), 9.0), a.dims[:-1], "i64")


@pattern("rule summed")
def summed(d: Drawing) -> Term:
    along, rows = d.dim(), any_dims(d, 0, 1)
    a, b = d.number((*rows, along), 2), d.number((along,), 2)
    bound = 2 * a.bound * b.bound * d.count((along,))
    if d.chance.random() < 0.5:
        return d.term((f"{a.text}+.×{b.text}", a.value @ b.value, bound), rows)
    a = d.number((along, *rows), 2)
    return d.term((f"{b.text}+.×{a.text}", np.tensordot(b.value, a.value, 1), bound), rows)


@pattern("rule digits")
def digits(d: Drawing) -> Term:
    if d.kind == "c128":
        d.kind = "i64"
    count, rest = d.chance.randint(1, 5), any_dims(d, 0, 1)
    a = d.number((str(count), *rest), 2)
    base = d.chance.choice([2, 3, 10])
    shown = f"{base}" if d.kind in ("i64", "f64") else f"({d.kind} {base})"
    value = np.zeros(a.value.shape[1:], a.value.dtype)
    for row in a.value:
        value = value * np.asarray(base, a.value.dtype) + row
    return d.term((f"{shown}⊥{a.text}+0×{a.text}", value, a.bound * 2 * float(base) ** count), rest)


@pattern("rule encoded")
def encoded(d: Drawing) -> Term:
    d.kind = "i64"
    radices = [d.chance.choice([2, 3, 7, 10, 16, 60]) for _ in range(d.chance.randint(1, 4))]
    if d.chance.random() < 0.3:
        radices[0] = 0
    x = d.number(any_dims(d, 0, 1), 2)
    rest, rows = x.value, []
    for radix in reversed(radices):
        rows.append(np.mod(rest, radix) if radix else rest)
        rest = (rest - rows[-1]) // radix if radix else np.zeros_like(rest)
    shown = " ".join(map(str, radices)) if len(radices) > 1 else f"(,{radices[0]})"
    return d.term((f"{shown}⊤{x.text}", np.array(rows[::-1]), 1.0), (str(len(radices)), *x.dims))
