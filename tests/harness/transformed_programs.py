"""Programs that transformations of graphs change, with their values in NumPy: see `each_transformation`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import Drawing, Term
from patterns import any_dims


def step(d: Drawing, state: str, value: Any, x: Term, scalar: Term, times: int) -> tuple[list[str], Callable[[Any], Any]]:
    """Lines that update a state some times, and the same in NumPy."""
    rank = value.ndim
    lines: list[str] = []
    functions: list[Callable[[Any], Any]] = []
    for _ in range(times):
        k, axis = d.chance.choice([1, -1, 2, -3, 0]), d.chance.randrange(rank)
        shown, glyph, last = str(k).replace("-", "¯"), "⊖" if axis == 0 else "⌽", axis == rank - 1
        draws: list[tuple[str, Callable[[Any], Any]]] = [
            (f"{shown}{glyph}{state}", lambda s, k=k, axis=axis: np.roll(s, -k, axis)),
            (f"{state}+{shown}{glyph}{state}", lambda s, k=k, axis=axis: s + np.roll(s, -k, axis)),
            (f"({shown}{glyph}{state})-{x.text}×¯1{glyph}{state}",
             lambda s, k=k, axis=axis: np.roll(s, -k, axis) - x.value * np.roll(s, 1, axis)),
            (f"{state}+{x.text}", lambda s: s + x.value),
            (f"({state}×{scalar.text})-{x.text}", lambda s: s * scalar.value - x.value),
            (f"({state}>{x.text})¿({state} ⋄ {x.text}+1)", lambda s: np.where(s > x.value, s, x.value + 1)),
            (f"⊖{state}" if axis == 0 else f"⌽{state}", lambda s, axis=axis: np.flip(s, axis)),
            (f"{state}-+/,{state}" if rank == 1 else f"{state}-+/{state}", lambda s: s - s.sum(-1, keepdims=rank > 1)),
            (f"{state}⌈{shown}", lambda s, k=k: np.maximum(s, k)),
        ]  # fmt: skip
        if x.dims[axis].isdigit():  # else the length is not known to stay
            fill = d.chance.choice([0, 1])
            edge = f"((1↑{state})×0)+{fill}" if axis == 0 else f"{{({fill}+0×1↑⍵)}}⍤1 ⊢ {state}"
            if rank == 1 or axis == 0:
                join = "," if rank == 1 else "⍪"
                draws.append((f"({edge}){join}¯1↓{state}", lambda s, fill=fill, axis=axis: _pushed(s, fill, axis)))
        text, function = d.chance.choice(draws[:2] * (1 + (not last)) + draws)
        lines.append(f"  {state} ← {text}")
        functions.append(function)

    def together(s: Any) -> Any:
        for function in functions:
            s = function(s)
        return s

    return lines, together


def _pushed(s: Any, fill: int, axis: int) -> Any:
    """The rows moved by one, with a row of `fill` at the front."""
    return np.concatenate([np.full_like(np.take(s, [0], axis), fill), np.delete(s, -1, axis)], axis)


def loops(d: Drawing) -> None:
    """One or two loops of a few iterations, over one state or two, whose operands and results are random expressions."""
    d.kind = "i64"
    for number_of_loop in range(d.chance.choice([1, 1, 2])):
        dims = any_dims(d, 1, 2)
        a, x, scalar = d.number(dims, 1), d.define(d.number(dims, 1)), d.define(d.number((), 1))
        trips, name = d.chance.choice([0, 1, 2, 3, 4]), f"step{number_of_loop}"
        with np.errstate(all="ignore"):
            if d.chance.random() < 0.3:
                lines, function = step(d, "S", a.value, x, scalar, d.chance.randint(1, 2))
                others, other = step(d, "T", a.value, x, scalar, d.chance.randint(1, 2))
                b = d.define(d.number(dims, 1))
                d.lines += [f"{name} ← {{", "  (S T) ← ⍵", *lines, *others, "  (S ⋄ T+S)", "}"]
                s, t = a.value, b.value
                for _ in range(trips):
                    s = function(s)
                    t = other(t) + s
                d.lines.append(f"(s{number_of_loop} t{number_of_loop}) ← {name}⍣{trips} ⊢ ({a.text} ⋄ {b.text})")
                d.output(Term(f"s{number_of_loop}", s, dims, 1.0))
                d.output(Term(f"1+t{number_of_loop}", 1 + t, dims, 1.0))
                continue
            lines, function = step(d, "S", a.value, x, scalar, d.chance.randint(1, 3))
            d.lines += [f"{name} ← {{", "  S ← ⍵", *lines, "  S", "}"]
            s = a.value
            for _ in range(trips):
                s = function(s)
            d.lines.append(f"s{number_of_loop} ← {name}⍣{trips} ⊢ {a.text}")
            d.output(Term(f"s{number_of_loop}", s, dims, 1.0))
            if d.chance.random() < 0.5:
                d.output(Term(f"+/s{number_of_loop}", s.sum(-1), dims[:-1], 1.0))


def elementwise_loops(d: Drawing) -> None:
    """Loops whose body is element-wise in the state."""
    d.kind = d.chance.choice(["i64", "i64", "f64"])
    dims = any_dims(d, 1, 3)
    a, x, y = d.number(dims, 1), d.define(d.number(dims, 2)), d.define(d.number((), 1))
    s, trips = a.value, d.chance.choice([0, 1, 2, 3, 5])
    glyph, function = d.chance.choice([("⌈", np.maximum), ("⌊", np.minimum), ("-", np.subtract)])
    for _ in range(trips):
        s = function(x.value, s) + y.value
    d.lines.append(f"s ← {{({x.text}{glyph}⍵)+{y.text}}}⍣{trips} ⊢ {a.text}")
    d.output(Term("s", s, dims, 1.0))


def branches(d: Drawing) -> None:
    """Functions that choose one of two or three values by the data, inside one another too."""
    if d.kind == "c128":
        d.kind = "f64"
    for place in range(d.chance.choice([1, 1, 2])):
        dims = any_dims(d, 0, 2)
        b, c = d.named_mask(any_dims(d, 1, 1), 1), d.named_mask(any_dims(d, 1, 1), 1)
        p, q, r = (d.number(dims, d.chance.choice([1, 2])) for _ in range(3))
        first, second = bool(b.value.all()), bool(c.value.any())
        d.lines.append(f"c{place} ← ∧/{b.text} ⋄ e{place} ← ∨/{c.text}")
        if d.chance.random() < 0.4:
            d.lines.append(f"z{place} ← {{⍵ : {{⍵ : {p.text} ⋄ {q.text}}}e{place} ⋄ {r.text}}}c{place}")
            value = (p if second else q).value if first else r.value
        else:
            d.lines.append(f"z{place} ← {{⍵ : {p.text} ⋄ {q.text}}}c{place}")
            value = (p if first else q).value
        d.output(Term(f"z{place}", value, dims, 1.0))


FACTORS = {
    6: ["6", "2 3", "3 2", "1 6", "2 1 3"], 12: ["12", "3 4", "2 6", "2 2 3", "6 2", "4 3", "1 12"],
    24: ["24", "4 6", "2 3 4", "2 12", "8 3", "3 2 4"],
}  # fmt: skip


def phases(d: Drawing) -> None:
    """Random expressions, and arrays that are read through reshapes, transpositions and rotations."""
    for _ in range(d.chance.choice([1, 2])):
        if d.chance.random() < 0.5:
            d.output(d.number(any_dims(d, 1, 3), d.chance.choice([1, 2, 3])))
            continue
        shapes = d.chance.choice(list(FACTORS.values()))
        made = d.number(tuple(d.chance.choice(shapes).split()), 1)
        for _ in range(d.chance.choice([1, 2, 2])):
            dims = tuple(d.chance.choice(shapes).split())
            text, value = f"{d.shape_text(dims)}⍴{made.text}", made.value.reshape(d.shape(dims))
            if d.chance.random() < 0.5:
                text, value, dims = f"⍉({text})", value.T, dims[::-1]
            x = d.number(dims, 1)
            made = d.term((f"({text})+{x.text}", value + x.value, made.bound + x.bound), dims)
        d.output(made)
        if d.chance.random() < 0.5:
            d.output(d.term((f"+/{made.text}", made.value.sum(-1), made.bound * 24), made.dims[:-1]))


def rows(d: Drawing) -> None:
    """Reductions of rows beside what reads them along the rows."""
    d.kind = "i64"
    dims = (*any_dims(d, 0, 2), d.chance.choice(["5", "6", "9", "33", "40"]))
    a, b = d.define(d.number(dims, 2)), d.define(d.number(dims, 1))
    reductions = {"+": np.sum, "⌈": np.max, "⌊": np.min}
    glyph, other = d.chance.choice(list(reductions)), d.chance.choice(list(reductions))
    low = a.value - reductions[glyph](b.value, -1, keepdims=True)
    total = (low * b.value) + reductions[other](low, -1, keepdims=True)
    d.lines.append(f"l ← {a.text}-{glyph}/{b.text}")
    d.lines.append(f"t ← (l×{b.text})+{other}/l")
    d.output(Term("t", total, dims, 1.0))
    if d.chance.random() < 0.5:
        d.output(Term("+/t×l", (total * low).sum(-1), dims[:-1], 1.0))


def stencils(d: Drawing) -> None:
    """Rotations and the element-wise values that read them."""
    d.kind = "i64"
    dims = any_dims(d, 1, 2)
    a, b = d.define(d.number(dims, 1)), d.define(d.number(dims, 1))
    value, text = b.value, b.text
    for place in range(d.chance.randint(1, 3)):
        k, axis = d.chance.choice([1, -1, 2, -3]), d.chance.randrange(len(dims))
        of, shown = d.chance.choice([(a.value, a.text), (value, text)]), f"{k}".replace("-", "¯")
        glyph, function = d.chance.choice([("+", np.add), ("-", np.subtract), ("×", np.multiply)])
        value = function(np.roll(of[0], -k, axis), value)
        d.lines.append(f"g{place} ← ({shown}{'⊖' if axis == 0 else '⌽'}{of[1]}){glyph}{text}")
        text = f"g{place}"
    d.output(Term(text, value, dims, 1.0))
    d.output(Term(f"{text}×2", value * 2, dims, 1.0))


def coordinates(d: Drawing) -> None:
    """Expressions with the coordinates of their items along some of the axes."""
    d.kind = d.chance.choice(["i64", "i64", "f64"])
    made = d.number(any_dims(d, 1, 3), 1)
    for _ in range(d.chance.choice([1, 2, 2])):
        axis = d.chance.choice([0, len(made.dims) - 1])
        length = made.value.shape[axis]
        k, at = d.chance.choice([1, 2, -1]), np.arange(length).reshape([-1 if i == axis else 1 for i in range(made.value.ndim)])
        shown = f"({str(k).replace('-', '¯')}×⍳{made.dims[axis]})"
        glyph, function = d.chance.choice([("+", np.add), ("-", np.subtract), ("⌈", np.maximum), (">", np.greater)])
        with np.errstate(all="ignore"):
            text, value = f"{shown}{glyph}{'' if axis == 0 else '⍤1⊢'}{made.text}", function(k * at, made.value)
            if glyph == ">":
                text, value = f"{made.text}×{text}", made.value * value
        made = d.term((text, value, made.bound + 40), made.dims)
        if d.chance.random() < 0.4:
            x = d.number(made.dims, 1)
            made = d.term((f"{made.text}-{x.text}", made.value - x.value, made.bound + x.bound), made.dims)
        if d.chance.random() < 0.3:
            made = d.term((f"⍉{made.text}", made.value.T, made.bound), made.dims[::-1])
    d.output(made)
    if d.chance.random() < 0.5:
        d.output(d.term((f"+/{made.text}", made.value.sum(-1), made.bound * d.count(made.dims)), made.dims[:-1]))
    if len(made.dims) == 1 and d.chance.random() < 0.5:
        other = d.dim()
        value = made.value[:, None] * np.arange(d.extent(other))
        d.output(d.term((f"{made.text}∘.×⍳{other}", value, made.bound * 40), (*made.dims, other)))


def rotated_rows(d: Drawing) -> None:
    """Rotations of what rotations made, along both axes, so that rows of some values depend on other rows."""
    d.kind = "i64"
    dims = (d.chance.choice(["n", "m", "4", "5", "7"]), d.dim(), *any_dims(d, 0, 1))
    made = [d.define(d.number(dims, 1)) for _ in range(2)]
    for _ in range(d.chance.randint(2, 5)):
        k, axis = d.chance.choice([1, -1, 2, -3]), d.chance.choice([0, 0, len(dims) - 1])
        of, beside = d.chance.choice(made[-2:]), d.chance.choice(made)
        glyph, function = d.chance.choice([("+", np.add), ("-", np.subtract), ("×", np.multiply), ("⌈", np.maximum)])
        text = f"({str(k).replace('-', '¯')}{'⊖' if axis == 0 else '⌽'}{of.text}){glyph}{beside.text}"
        with np.errstate(all="ignore"):
            made.append(d.define(Term(text, function(np.roll(of.value, -k, axis), beside.value), dims, 1.0)))
    for term in made[-d.chance.randint(1, 3) :]:
        d.output(Term(f"1+{term.text}", 1 + term.value, dims, 1.0))
    d.output(Term(made[-1].text, made[-1].value, dims, 1.0))
