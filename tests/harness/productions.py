"""The productions of random programs (`drawing`): each writes a text and computes its value, on operands with matching axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from drawing import Dims, Drawing, Made, Term

Fits = Callable[["Dims", str], bool]
Make = Callable[["Drawing", "Dims", int, str], "Made | None"]
PRODUCTIONS: dict[str, tuple[Fits, Make]] = {}


def production(fits: Fits) -> Callable[[Make], Make]:
    """Register a production for the axes and kinds of results that `fits` accepts."""

    def register(make: Make) -> Make:
        PRODUCTIONS[make.__name__] = (fits, make)
        return make

    return register


def always(dims: Dims, kind: str) -> bool:
    return True


def rank(low: int, high: int = 3) -> Fits:
    return lambda dims, kind: low <= len(dims) <= high


def is_ordered(dims: Dims, kind: str) -> bool:
    return kind != "c128"


def factor(kind: str) -> float:
    """The growth of bounds by a product: a complex product adds two products in each part."""
    return 2.0 if kind == "c128" else 1.0


def combined(d: Drawing, a: Term, b: Term, kind: str) -> tuple[str, Callable[[Any, Any], Any], float]:
    """A random arithmetic function of two terms: its glyph, its NumPy function, and the bound of its results."""
    choices: list[tuple[str, Callable[[Any, Any], Any], float]] = [
        ("+", np.add, a.bound + b.bound), ("-", np.subtract, a.bound + b.bound),
        ("×", np.multiply, a.bound * b.bound * factor(kind)), ("×", np.multiply, a.bound * b.bound * factor(kind)),
    ]  # fmt: skip
    if kind != "c128":
        choices += [("⌈", np.maximum, max(a.bound, b.bound)), ("⌊", np.minimum, max(a.bound, b.bound))]
    return d.chance.choice(choices)


@production(always)
def arithmetic(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a, b = d.number(dims, depth, kind), d.number(dims, depth, kind)
    glyph, function, bound = combined(d, a, b, kind)
    return f"{a.text}{glyph}{b.text}", function(a.value, b.value), bound


@production(rank(1))
def extended(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    """One operand has only leading axes of the other, whose cells its items apply to."""
    a, b = d.number(dims[: d.chance.randrange(len(dims))], depth, kind), d.number(dims, depth, kind)
    glyph, function, bound = combined(d, a, b, kind)
    short = a.value.reshape(a.value.shape + (1,) * (len(dims) - len(a.dims)))
    if d.chance.random() < 0.5:
        return f"{a.text}{glyph}{b.text}", function(short, b.value), bound
    return f"{b.text}{glyph}{a.text}", function(b.value, short), bound


@production(always)
def unary(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a = d.number(dims, depth, kind)
    if d.chance.random() < 0.5 or kind == "c128":
        return f"-{a.text}", -a.value, a.bound
    return f"|{a.text}", np.abs(a.value), a.bound


@production(is_ordered)
def residue(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a, modulus = d.number(dims, depth, kind), d.chance.choice([2, 3, 5])
    return f"{modulus}|{a.text}", np.mod(a.value, np.asarray(modulus, a.value.dtype)), float(modulus)


@production(rank(0, 2))
def reduced(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    along, last = d.dim(), d.chance.random() < 0.5
    a = d.number((*dims, along) if last else (along, *dims), depth, kind)
    glyph, axis = ("/", len(dims)) if last else ("⌿", 0)
    count = d.count((along,))
    draw = d.chance.randrange(8)
    if draw == 0 and kind != "c128":
        return f"⌈{glyph}{a.text},5" if last else f"⌈⌿{a.text}⍪5", np.max(a.value, axis, initial=5), max(5.0, a.bound)
    if draw == 1:
        items = np.moveaxis(a.value, axis, 0)
        return f"-{glyph}{a.text}", items[::2].sum(0) - items[1::2].sum(0), a.bound * count
    if draw == 2:
        bound = (a.bound * factor(kind)) ** count if count < 40 else float("inf")
        return f"×{glyph}{a.text}", np.prod(a.value, axis), bound
    return f"+{glyph}{a.text}", np.sum(a.value, axis), a.bound * count


@production(rank(2))
def transposed(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    if len(dims) == 2 or d.chance.random() < 0.3:
        a = d.number(dims[::-1], depth, kind)
        return f"⍉{a.text}", a.value.transpose(), a.bound
    order = d.chance.sample(range(len(dims)), len(dims))  # axis k of the operand becomes axis order[k]
    a = d.number(tuple(dims[axis] for axis in order), depth, kind)
    return f"{' '.join(map(str, order))}⍉{a.text}", a.value.transpose(np.argsort(order)), a.bound


@production(rank(1, 2))
def diagonal(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a = d.number((dims[0], *dims), depth, kind)
    places = np.arange(d.extent(dims[0]))
    return f"0 0{' 1' * (len(dims) - 1)}⍉{a.text}", a.value[places, places], a.bound


@production(rank(1))
def turned(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a, by, last = d.number(dims, depth, kind), d.chance.choice([0, 0, 1, 2, -1]), d.chance.random() < 0.5
    axis = len(dims) - 1 if last else 0
    if not by:
        return f"{'⌽' if last else '⊖'}{a.text}", np.flip(a.value, axis), a.bound
    shown = str(by).replace("-", "¯")
    return f"{shown}{'⌽' if last else '⊖'}{a.text}", np.roll(a.value, -by, axis), a.bound


@production(rank(1))
def repeated(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    """A reshape that repeats cells, which must not be empty."""
    a = d.number(dims[d.chance.randrange(1, len(dims) + 1) :], depth, kind)
    if not a.value.size and np.prod(d.shape(dims)):
        return f"{d.shape_text(dims)}⍴0", np.zeros(d.shape(dims)), 0.0
    return f"{d.shape_text(dims)}⍴{a.text}", np.broadcast_to(a.value, d.shape(dims)), a.bound


@production(rank(1, 2))
def replicated(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a = d.number(dims[1:], depth, kind)
    one = d.shape_text(("1", *dims[1:]))
    return f"{dims[0]}⌿{one}⍴{a.text}", np.broadcast_to(a.value, d.shape(dims)), a.bound


@production(rank(2))
def outer(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    split = d.chance.randrange(1, len(dims))
    a, b = d.number(dims[:split], depth, kind), d.number(dims[split:], depth, kind)
    glyph, function, bound = combined(d, a, b, kind)
    left = a.value.reshape(a.value.shape + (1,) * (len(dims) - split))
    return f"{a.text}∘.{glyph}{b.text}", function(left, b.value), bound


@production(rank(0, 2))
def product(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    along = d.dim()
    split = d.chance.randrange(len(dims) + 1)
    a, b = d.number((*dims[:split], along), depth, kind), d.number((along, *dims[split:]), depth, kind)
    return f"{a.text}+.×{b.text}", np.tensordot(a.value, b.value, 1), a.bound * b.bound * factor(kind) * d.count((along,))


@production(rank(2, 2))
def ranked(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a, b = d.number(dims, depth, kind), d.number(dims[1:] if d.chance.random() < 0.5 else dims[:1], depth, kind)
    glyph, function, bound = combined(d, a, b, kind)
    if b.dims == dims[1:]:
        return f"{b.text}{glyph}⍤1⊢{a.text}", function(b.value, a.value), bound
    return f"{b.text}{glyph}⍤0 1⊢{a.text}", function(b.value[:, None], a.value), bound


@production(rank(1))
def gathered(d: Drawing, dims: Dims, depth: int, kind: str) -> Made | None:
    axis, of = d.chance.randrange(len(dims)), d.dim()
    if not d.extent(of) and d.extent(dims[axis]):
        return None
    a, i = d.number((*dims[:axis], of, *dims[axis + 1 :]), depth, kind), d.places((dims[axis],), of)
    where = ";" * axis + i.text + ";" * (len(dims) - 1 - axis)
    return f"{a.text}[{where}]", np.take(a.value, i.value, axis), a.bound


@production(rank(0, 2))
def picked(d: Drawing, dims: Dims, depth: int, kind: str) -> Made | None:
    axis, of = d.chance.randrange(len(dims) + 1), d.dim()
    if not d.extent(of):
        return None
    place = d.chance.randrange(d.extent(of))
    a = d.number((*dims[:axis], of, *dims[axis:]), depth, kind)
    return f"{a.text}[{';' * axis}{place}{';' * (len(dims) - axis)}]", np.take(a.value, place, axis), a.bound


@production(always)
def chosen(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    m, a, b = d.mask(dims, depth), d.number(dims, depth, kind), d.number(dims, depth, kind)
    return f"{m.text} ¿ ({a.text} ⋄ {b.text})", np.where(m.value, a.value, b.value), max(a.bound, b.bound)


@production(rank(1))
def scanned(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a, last = d.number(dims, depth, kind), d.chance.random() < 0.5
    axis = len(dims) - 1 if last else 0
    if kind != "c128" and d.chance.random() < 0.3:
        return f"⌈{chr(92) if last else '⍀'}{a.text}", np.maximum.accumulate(a.value, axis), a.bound
    return f"+{chr(92) if last else '⍀'}{a.text}", np.cumsum(a.value, axis), a.bound * d.count((dims[axis],))


@production(rank(0, 2))
def masked(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    along = d.dim()
    m, a = d.mask((along,), depth), d.number((along, *dims), depth, kind)
    draw = d.chance.randrange(4 if kind == "c128" else 5)
    kept = a.value[m.value]
    if draw == 4:
        return f"⌈⌿({m.text}⌿{a.text})⍪5", np.max(kept, 0, initial=5), max(a.bound, 5.0)
    if draw == 3:
        return f"+⌿{a.text}[⍸{m.text}{';' * len(dims)}]", kept.sum(0), a.bound * d.count((along,))
    return f"+⌿{m.text}⌿{a.text}", kept.sum(0), a.bound * d.count((along,))


@production(lambda dims, kind: len(dims) == 1 and kind != "c128")
def ordered(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a = d.define(d.number(dims, depth, kind))
    if d.chance.random() < 0.5:
        return f"{a.text}[⍋{a.text}]", np.sort(a.value), a.bound
    return f"{a.text}[⍒{a.text}]", np.sort(a.value)[::-1], a.bound


@production(always)
def iterated(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    a, b, times = d.number(dims, depth, kind), d.number(dims, depth, kind), d.chance.choice([0, 1, 2, 3])
    return f"{{⍵+{b.text}}}⍣{times}⊢{a.text}", a.value + times * b.value, a.bound + times * b.bound


@production(rank(1, 2))
def mapped(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    """A function of the rows of a matrix."""
    along = d.dim()
    a = d.number((*dims, along), depth, kind)
    b = d.number((along,), depth, kind)
    count = d.count((along,))
    if d.chance.random() < 0.5:
        return f"{{+/⍵×⍵}}⍤1⊢{a.text}", (a.value * a.value).sum(-1), a.bound**2 * factor(kind) * count
    return f"{{+/⍵×{b.text}}}⍤1⊢{a.text}", (a.value * b.value).sum(-1), a.bound * b.bound * factor(kind) * count


@production(rank(1, 2))
def counted(d: Drawing, dims: Dims, depth: int, kind: str) -> Made | None:
    if kind != "i64":
        return None
    along = d.dim()
    m = d.mask((*dims, along), depth)
    return f"+/{m.text}", m.value.sum(-1), d.count((along,))


@production(lambda dims, kind: len(dims) == 1 and dims[0].isdigit())
def windowed(d: Drawing, dims: Dims, depth: int, kind: str) -> Made:
    width = d.chance.choice([1, 2, 3])
    a = d.number((str(int(dims[0]) + width - 1),), depth, kind)
    windows = np.lib.stride_tricks.sliding_window_view(a.value, width)
    return f"+/{width}↕{a.text}", windows.sum(-1), a.bound * width
