"""Patterns that passes rewrite, on random operands: at least one for every name in `stepping.NAMES`.

A pattern defines values in a `Drawing` and returns a result; the program around it is random too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from drawing import Drawing, Term

Pattern = Callable[["Drawing"], "Term"]
PATTERNS: dict[str, list[Pattern]] = {}
ORDERED = ("i64", "f64", "f32")


def pattern(*names: str) -> Callable[[Pattern], Pattern]:
    """Register a pattern for the passes of these names."""

    def register(make: Pattern) -> Pattern:
        for name in names:
            PATTERNS.setdefault(name, []).append(make)
        return make

    return register


def any_dims(d: Drawing, low: int = 0, high: int = 2) -> tuple[str, ...]:
    return d.dims(d.chance.randint(low, high))


def vector(d: Drawing, dim: str = "") -> Term:
    return d.number((dim or d.dim(),), d.chance.choice([0, 1, 2]))


def pick_ordered(d: Drawing) -> None:
    if d.kind == "c128":
        d.kind = d.chance.choice(ORDERED)


def some(d: Drawing) -> str:
    """An axis of a size that is not 0."""
    return d.chance.choice([dim for dim in ("n", "m", "p", "2", "3", "5") if d.extent(dim)])


@pattern("drop_unread", "drop_dead")
def unread(d: Drawing) -> Term:
    d.define(d.number(any_dims(d), 2))
    return d.number(any_dims(d), 2)


@pattern("fold_views")
def views(d: Drawing) -> Term:
    made = d.number(any_dims(d, 1), 1)
    for _ in range(d.chance.randint(1, 4)):
        name = d.chance.choice(["transposed", "turned", "diagonal", "repeated", "replicated", "gathered", "picked"])
        fits, make = d.productions[name]
        if fits(made.dims, d.kind):
            d.shared.append(made)
            drawn = make(made.dims, 0, d.kind)
            made = made if drawn is None else d.term(drawn, made.dims)
    return d.term((f"{made.text}+{made.text}", made.value + made.value, 2 * made.bound), made.dims)


@pattern("fold_constants")
def constants(d: Drawing) -> Term:
    dims = any_dims(d)
    a, b, c = d.literal(d.kind, ()), d.literal(d.kind, ()), d.literal(d.kind, dims)
    x = d.number(dims, 1)
    made = d.term((f"({a.text}×{b.text}+{a.text})+{c.text}", a.value * (b.value + a.value) + c.value, 40.0), dims)
    return d.term((f"{made.text}×{x.text}", made.value * x.value, 2 * made.bound * x.bound), dims)


@pattern("take_known_arms")
def arms_that_sizes_decide(d: Drawing) -> Term:
    """Arms of one length, of two (whose sum is taken), in a loop, and one in another."""
    (a, b), (n, m, p) = (d.chance.choice("nmp") for _ in range(2)), (d.extent(dim) for dim in "nmp")
    text, holds = d.chance.choice([(f"{a}>{b}", d.extent(a) > d.extent(b)), ("(n>m)∧m≤p", n > m and m <= p), ("~m=p", m != p)])
    dims = any_dims(d)
    x, y, draw = d.number(dims, 2), d.number(dims, 2), d.chance.randrange(4)
    taken = x if holds else y
    made = f"{{{text} : {x.text} ⋄ {y.text}}} 0"
    if draw == 0:
        return d.term((made, taken.value, taken.bound), dims)
    if draw == 1:
        z = d.number(dims, 1)
        inner, value = (z, y.value) if holds else (x, x.value)
        made = f"{{{text} : {{~{text} : {z.text} ⋄ {y.text}}} 0 ⋄ {{{text} : {y.text} ⋄ {x.text}}} 0}} 0"
        return d.term((made, value, y.bound + inner.bound), dims)
    if draw == 2:
        made = f"{{{text} : ⍵+{x.text} ⋄ ⍵-{y.text}}}⍣2⊢{x.text}"
        return d.term((made, 3 * x.value if holds else x.value - 2 * y.value, 3 * x.bound + 2 * y.bound), dims)
    long, short = d.number(("n",), 1), d.number(("2",), 1)
    value = (long if holds else short).value.sum()
    return d.term((f"+/{d.define_text(f'{{{text} : {long.text} ⋄ {short.text}}} 0')}", value, 9 * (long.bound + short.bound)), ())


@pattern("gathers_to_views")
def stepping_gather(d: Drawing) -> Term:
    count, step, first = d.chance.randint(0, 4), d.chance.choice([-2, -1, 0, 1, 2, 3]), d.chance.randint(0, 2)
    first += max(0, -step) * max(0, count - 1)
    extent = first + max(0, step) * max(0, count - 1) + 1 + d.chance.randint(0, 2)
    rest = any_dims(d, 0, 1)
    x = d.number((str(extent), *rest), 1)
    places = first + step * np.arange(count)
    shown = f"{first}+{str(step).replace('-', '¯')}×⍳{count}"
    if d.chance.random() < 0.5:
        shown = d.define_text(shown)
    return d.term((f"{x.text}[{shown}{';' * len(rest)}]", x.value[places], x.bound), (str(count), *rest))


@pattern("hoist_invariants", "hoist_unfused_invariants")
def invariant(d: Drawing) -> Term:
    dims = any_dims(d)
    a, b, times = d.number(dims, 1), d.number(dims, 3), d.chance.choice([0, 1, 2, 3])
    c = d.number((), 2)
    draw = d.chance.randrange(3)
    if draw == 0:
        value, bound = a.value, a.bound
        for _ in range(times):
            value, bound = value * c.value + b.value, bound * c.bound * 2 + b.bound
        return d.term((f"{{(⍵×{c.text})+{b.text}}}⍣{times}⊢{a.text}", value, bound), dims)
    rows = d.number((d.dim(), *dims), 1)
    if draw == 1:
        return d.term((f"{{⍵+{b.text}×{c.text}}}⍤{len(dims)}⊢{rows.text}", rows.value + b.value * c.value,
                       rows.bound + 2 * b.bound * c.bound), rows.dims)  # fmt: skip
    m = d.leaf_mask(rows.dims)
    x = d.define(rows)
    value = np.where(m.value, x.value + b.value, 0).sum(-1) if dims else None
    if value is None:
        return d.number(dims, 1)
    text = f"{x.text} {{+/(⍵⌿⍺+{b.text})}}⍤1⊢{m.text}"
    if len(dims) != 1:
        return d.number(dims, 1)
    return d.term((text, value, (x.bound + b.bound) * d.count(rows.dims)), rows.dims[:-1])


@pattern("hoist_unfused_invariants")
def turned_operand(d: Drawing) -> Term:
    """A cheap invariant value is an operand of a variant one."""
    d.kind = "i64"
    dim, times = d.dim(), d.chance.choice([1, 2, 3])
    a, y = d.number((dim, dim), 1), d.number((dim,), 1)
    value = y.value
    for _ in range(times):
        value = a.value.T @ value
    return d.term((f"{{(⍉{a.text})+.×⍵}}⍣{times}⊢{y.text}", value, 1.0), (dim,))


@pattern("share_common")
def shared(d: Drawing) -> Term:
    a = d.number(any_dims(d), 3)
    b = d.define(a)
    return d.term((f"{a.text}+{b.text}×{a.text}", a.value + a.value * a.value, a.bound + 2 * a.bound**2), a.dims)


@pattern("fuse", "drop_dead")
def fused(d: Drawing) -> Term:
    made = d.number(any_dims(d), 1)
    for _ in range(d.chance.randint(1, 5)):
        b = d.number(made.dims, 1)
        glyph, function = d.chance.choice([("+", np.add), ("-", np.subtract)])
        made = d.define(d.term((f"{made.text}{glyph}{b.text}", function(made.value, b.value), made.bound + b.bound), made.dims))
    return made


@pattern("join_siblings")
def siblings(d: Drawing) -> Term:
    dim, rest = d.dim(), any_dims(d, 0, 1)
    x, y = d.define(d.number((*rest, dim), 2)), d.define(d.number((*rest, dim), 1))
    count = d.count((dim,))
    d.output(d.term((f"+/{x.text}×{y.text}", (x.value * y.value).sum(-1), 2 * x.bound * y.bound * count), rest))
    d.output(d.term((f"+/{x.text}", x.value.sum(-1), x.bound * count), rest))
    d.output(d.term((f"{x.text}-{y.text}", x.value - y.value, x.bound + y.bound), x.dims))
    return d.term((f"+/{y.text}+{x.text}", (x.value + y.value).sum(-1), (y.bound + x.bound) * count), rest)


@pattern("reduce_by_masks")
def reduced_by_a_mask(d: Drawing) -> Term:
    d.kind = "i64"
    dim, rest = d.dim(), any_dims(d, 0, 1)
    m, x, y = d.named_mask((dim,), 2), d.number((dim, *rest), 2), d.number((dim,), 1)
    k = d.define_text(f"{m.text}⌿{x.text}")
    kept = x.value[m.value]
    draw = d.chance.randrange(5)
    if draw == 0:
        return d.term((f"≢{k}", np.asarray(len(kept)), 9.0), ())
    if draw == 1:
        return d.term((f"(≢{k})×+⌿{k}", len(kept) * kept.sum(0), 1.0), rest)
    if draw == 2:
        d.output(d.term((f"+⌿{k}×{k}", (kept * kept).sum(0), 1.0), rest))
    if draw == 3:
        z = (y.value[m.value].reshape((-1,) + (1,) * len(rest)) * kept).sum(0)
        return d.term((f"+⌿({m.text}⌿{y.text})×{k}", z, 1.0), rest)
    return d.term((f"+⌿{k}", kept.sum(0), 1.0), rest)


@pattern("batch_maps", "sink")
def cells_of_a_mask(d: Drawing) -> Term:
    """A function of cells, each of which has its own run-time size."""
    if d.chance.random() < 0.6:
        d.kind = "i64"
    dim, rows = d.dim(), d.dim()
    x, y, c = d.define(d.number((dim,), 1)), d.define(d.number((rows,), 1, "i64")), d.define(d.number((dim,), 1, "i64"))
    a = d.define(d.number((rows, dim), 2))
    held = y.value[:, None] > c.value[None, :]
    draw = d.chance.randrange(4)
    if draw == 0:
        value, bound = (held * x.value).sum(-1), x.bound * d.count((dim,))
        return d.term((f"{{+/(⍵>{c.text})/{x.text}}}¨{y.text}", value, bound), (rows,))
    if draw == 1:
        value = np.array([np.cumsum(x.value[row])[-1:].sum() for row in held]).reshape(len(held))
        return d.term((f"{{k←+\\(⍵>{c.text})/{x.text} ⋄ +/(0⌈¯1+≢k)↓k}}¨{y.text}", value, x.bound * d.count((dim,))), (rows,))
    if draw == 2:
        value = np.array([np.sum(np.cumsum(row[flags])) for row, flags in zip(a.value, held, strict=True)]).reshape(len(held))
        text = f"{y.text} {{+/+\\(⍺>{c.text})/⍵}}⍤0 1⊢{a.text}"
        return d.term((text, value, a.bound * d.count((dim,)) ** 2), (rows,))
    b = d.define(d.term((f"{a.text}+{x.text}+⍤1⊢{a.text}", 2 * a.value + x.value, 2 * a.bound + x.bound), a.dims))
    mean = np.array([row[row.real > 0].sum() + (row.real > 0).sum() for row in b.value]).reshape(len(b.value))
    if d.kind == "c128":
        return d.number((rows,), 1)
    return d.term((f"{{k←(⍵>0)/⍵ ⋄ (≢k)+ +/⌽k}}⍤1⊢{b.text}", mean, (b.bound + 1) * d.count((dim,))), (rows,))


MULTIPLYING = {"": 0.05, "product": 2, "repeated": 3, "replicated": 1, "outer": 2, "diagonal": 1, "transposed": 1, "reduced": 1}


@pattern("regroup")
def contraction(d: Drawing) -> Term:
    """Products and sums with a cheaper order, on operands that repeat, transpose and share axes."""
    saved, d.weights = d.weights, MULTIPLYING
    i, j, k = d.dims(3)
    depth = d.chance.choice([0, 0, 1])
    a, b, v, w = (d.number(dims, depth) for dims in ((i, j), (j, k), (k,), (i,)))
    ab = a.value @ b.value
    bound = 4 * a.bound * b.bound * d.count((i, j, k))
    draw = d.chance.randrange(9)
    if draw == 0:
        made = d.term((f"({a.text}+.×{b.text})+.×{v.text}", ab @ v.value, bound * v.bound), (i,))
    elif draw == 1:
        made = d.term((f"{w.text}+.×{a.text}+.×{b.text}", w.value @ ab, bound * w.bound), (k,))
    elif draw == 2:
        made = d.term((f"+/{a.text}+.×{b.text}", ab.sum(1), bound), (i,))
    elif draw == 3:
        made = d.term((f"+⌿{a.text}+.×{b.text}", ab.sum(0), bound), (k,))
    elif draw == 4:
        made = d.term((f"+/+/{a.text}+.×{b.text}", ab.sum(), bound), ())
    elif draw == 5:
        c, extent = d.dim(), d.number((i,), depth)
        value, bound = d.extent(c) * (w.value @ extent.value), 4 * w.bound * extent.bound * d.count((c, i))
        made = d.term((f"{w.text}+.×+⌿{d.shape_text((c, i))}⍴{extent.text}", value, bound), ())
    elif draw == 6:
        value = d.extent(j) * (w.value @ w.value) * w.value.sum()
        text = f"+/+/{d.shape_text((j, i))}⍴({w.text}+.×{w.text})×{w.text}"
        made = d.term((text, value, 8 * w.bound**3 * d.count((i, i, j))), ())
    elif draw == 7:
        other = d.number((k, i), depth)
        value, bound = np.trace(ab @ other.value), 2 * bound * other.bound * d.count((i,))
        made = d.term((f"+/0 0⍉({a.text}+.×{b.text})+.×{other.text}", value, bound), ())
    else:
        made = d.term((f"+/{w.text}×{a.text}+.×{b.text}", (w.value[:, None] * ab).sum(1), bound * w.bound), (i,))
    d.weights = saved
    return made


@pattern("unroll_reductions")
def short_reduction(d: Drawing) -> Term:
    dims, short = any_dims(d, 1), str(d.chance.randint(1, 9))
    a, b = d.number((*dims, short), 2), d.number((*dims, short), 1)
    glyph, value = d.chance.choice([("+/", (a.value + b.value).sum(-1)), ("×/", None), ("-/", None), ("⌈/", None)])
    both = a.value + b.value
    bound = (a.bound + b.bound) * int(short)
    if glyph == "×/":
        value, bound = both.prod(-1), (2 * (a.bound + b.bound)) ** int(short)
    elif glyph == "-/":
        value = both[..., ::2].sum(-1) - both[..., 1::2].sum(-1)
    elif glyph == "⌈/":
        if d.kind == "c128":
            return a
        value = both.max(-1)
    return d.term((f"{glyph}{a.text}+{b.text}", value, bound), dims)


@pattern("unroll_parallel_axes")
def short_side(d: Drawing) -> Term:
    if d.kind == "c128":
        d.kind = "f64"
    long, short = str(d.chance.randint(5, 9)), str(d.chance.randint(2, 4))
    x, y, a = d.number((long,), 2), d.number((long,), 1), d.number((short, long), 0)
    made = d.define(d.term((f"{x.text}×{y.text}", x.value * y.value, x.bound * y.bound), (long,)))
    bound = made.bound * a.bound * int(long)
    if d.chance.random() < 0.5:
        return d.term((f"+/{made.text}×⍤1⊢{a.text}", (made.value * a.value).sum(-1), bound), (short,))
    b = d.number((long, short), 0)
    return d.term((f"+⌿{made.text}×{b.text}", (made.value[:, None] * b.value).sum(0), bound), (short,))


@pattern("recompute")
def made_again(d: Drawing) -> Term:
    if d.kind == "c128":
        d.kind = "f64"
    x, c = d.number((d.dim(),), 1), d.number((), 1)
    low = d.define(d.term((f"{x.text}-{c.text}", x.value - c.value, x.bound + c.bound), x.dims))
    total = d.define(d.term((f"+/{low.text}×{low.text}", (low.value**2).sum(), low.bound**2 * d.count(x.dims)), ()))
    return d.term((f"{low.text}+{total.text}", low.value + total.value, low.bound + total.bound), x.dims)
