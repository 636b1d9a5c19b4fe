"""Random well-shaped programs over fixed inputs, for the property tests of quantities.

A program is one expression of a chosen shape.  Shapes are tuples of size names; most rules give a fixed shape for every
size, a few leave an obligation that becomes a guard, so that some sizes are refused when loading.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from hypothesis import strategies as st

HEADER = """\
input x : f64[n]
input z : f64[n]
input y : f64[m]
input A : f64[n m]
input B : f64[m n]
input W : f64[n n]
input s : f64
input c : bool
input b : bool[n]
input i : idx<n>[m]
param p ← 2
"""
INPUTS: dict[str, tuple[str, ...]] = {
    "x": ("n",), "z": ("n",), "y": ("m",), "A": ("n", "m"), "B": ("m", "n"), "W": ("n", "n"), "s": (),
}  # fmt: skip
SHAPES = [(), ("n",), ("m",), ("n", "m"), ("m", "n"), ("n", "n")]
Shape = tuple[str, ...]


@dataclass
class Writer:
    """Writes expressions; `names` are the float values in scope with their shapes."""

    chance: random.Random
    names: dict[str, Shape] = field(default_factory=lambda: dict(INPUTS))
    count: int = 0

    def expression(self, shape: Shape, depth: int) -> str:
        if depth <= 0:
            return self.leaf(shape)
        rules = [rule for rule in _RULES if rule[0](shape)]
        return self.chance.choice(rules)[1](self, shape, depth - 1)

    def leaf(self, shape: Shape) -> str:
        known = [name for name, own in self.names.items() if own == shape]
        return self.chance.choice(known) if known else f"({' '.join(self.size(a) for a in shape)}⍴s)" if shape else "s"

    def size(self, axis: str) -> str:
        return {"n": "(≢x)", "m": "(≢y)"}[axis]

    def fresh(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def within(self, names: dict[str, Shape], shape: Shape, depth: int) -> str:
        """An expression with more names in scope."""
        before = dict(self.names)
        self.names.update(names)
        try:
            return self.expression(shape, depth)
        finally:
            self.names = before

    def truth(self, depth: int) -> str:
        return self.chance.choice(["c", f"({self.expression((), depth)}>s)", f"({self.expression(('n',), depth)}≡x)"])

    def mask(self, depth: int) -> str:
        return self.chance.choice(["b", f"(0<{self.expression(('n',), depth)})"])

    def count_of(self) -> str:
        return self.chance.choice(["p", "p", "0", "1", "2", "(≢y)", "(+/b)"])


Rule = tuple[Callable[[Shape], bool], Callable[[Writer, Shape, int], str]]
_RULES: list[Rule] = []


def _rule(fits: Callable[[Shape], bool]) -> Callable[[Callable[[Writer, Shape, int], str]], Callable[[Writer, Shape, int], str]]:
    def add(write: Callable[[Writer, Shape, int], str]) -> Callable[[Writer, Shape, int], str]:
        _RULES.append((fits, write))
        return write

    return add


def _any(shape: Shape) -> bool:
    return True


def _leading(shape: Shape) -> bool:
    return bool(shape)


def _by_n(shape: Shape) -> bool:
    return shape[:1] == ("n",)


@_rule(_any)
def _leaf(w: Writer, shape: Shape, depth: int) -> str:
    return w.leaf(shape)


@_rule(_any)
@_rule(_any)
def _add(w: Writer, shape: Shape, depth: int) -> str:
    other = shape[: w.chance.randint(0, len(shape))]
    pair = [w.expression(shape, depth), w.expression(other, depth)]
    w.chance.shuffle(pair)
    return f"({pair[0]}{w.chance.choice('+-×⌈')}{pair[1]})"


@_rule(_any)
def _negate(w: Writer, shape: Shape, depth: int) -> str:
    return f"(-{w.expression(shape, depth)})"


@_rule(_any)
def _choice(w: Writer, shape: Shape, depth: int) -> str:
    return f"({{{w.truth(depth)} : {w.expression(shape, depth)} ⋄ {w.expression(shape, depth)}}}⍬)"


@_rule(_any)
def _bind(w: Writer, shape: Shape, depth: int) -> str:
    name, own = w.fresh(), w.chance.choice(SHAPES)
    return f"({{{name}←{w.expression(own, depth)} ⋄ {w.within({name: own}, shape, depth)}}}⍬)"


@_rule(_any)
def _iterate(w: Writer, shape: Shape, depth: int) -> str:
    name = w.fresh()
    body = w.within({name: shape}, shape, depth)
    return f"({{{name}←⍵ ⋄ {body}}}⍣{w.count_of()} ⊢ {w.expression(shape, depth)})"


@_rule(_any)
def _iterate_until(w: Writer, shape: Shape, depth: int) -> str:
    new, old = w.fresh(), w.fresh()
    body = w.within({new: shape}, shape, depth)
    test = w.within({new: shape, old: shape}, (), depth - 1)
    until = f"{{{new}←⍵ ⋄ {old}←⍺ ⋄ {test}>0}}"
    return f"({{{new}←⍵ ⋄ {body}}}⍣({w.chance.choice(['p', '2', '(≢y)'])} ⋄ {until}) ⊢ {w.expression(shape, depth)})"


@_rule(_any)
def _states(w: Writer, shape: Shape, depth: int) -> str:
    name = w.fresh()
    body = w.within({name: shape}, shape, depth)
    return f"(+⌿{{{name}←⍵ ⋄ {body}}}⍣\\{w.chance.choice(['p', '1', '0'])} ⊢ {w.expression(shape, depth)})"


@_rule(_leading)
@_rule(_leading)
def _cells(w: Writer, shape: Shape, depth: int) -> str:
    name = w.fresh()
    cell = w.chance.choice([own for own in SHAPES if (shape[0], *own) in SHAPES])
    body = w.within({name: cell}, shape[1:], depth)
    return f"({{{name}←⍵ ⋄ {body}}}⍤{len(cell)} ⊢ {w.expression((shape[0], *cell), depth)})"


@_rule(_leading)
def _pairs(w: Writer, shape: Shape, depth: int) -> str:
    """A dyadic function over cells; one side may lack the frame."""
    left, right = w.fresh(), w.fresh()
    cells = [w.chance.choice([own for own in SHAPES if (shape[0], *own) in SHAPES]) for _ in range(2)]
    body = w.within({left: cells[0], right: cells[1]}, shape[1:], depth)
    lacking = w.chance.choice([None, 0, 1])
    args = [w.expression(cell if side == lacking else (shape[0], *cell), depth) for side, cell in enumerate(cells)]
    return f"({args[0]} {{{left}←⍺ ⋄ {right}←⍵ ⋄ {body}}}⍤{len(cells[0])} {len(cells[1])} ⊢ {args[1]})"


@_rule(_leading)
def _reverse(w: Writer, shape: Shape, depth: int) -> str:
    return f"({w.chance.choice(['⌽', '⊖', '1⊖', '(≢y)⊖'])}{w.expression(shape, depth)})"


@_rule(_leading)
def _split(w: Writer, shape: Shape, depth: int) -> str:
    name = w.fresh()
    k = w.chance.choice(["1", "p", "(≢y)"])
    value = w.expression(shape, depth)
    return f"({{{name}←{value} ⋄ {w.chance.choice([f'({k}↑{name})⍪{k}↓{name}', f'(≢{name})↑{k}↓{name}'])}}}⍬)"


@_rule(lambda shape: len(shape) == 2)
def _transpose(w: Writer, shape: Shape, depth: int) -> str:
    return f"(⍉{w.expression((shape[1], shape[0]), depth)})"


@_rule(lambda shape: len(shape) == 1)
def _diagonal(w: Writer, shape: Shape, depth: int) -> str:
    if shape == ("n",):
        return f"(0 0⍉{w.expression(('n', 'n'), depth)})"
    return f"({w.size('m')}⍴{w.expression(('n',), depth)})"


@_rule(lambda shape: len(shape) == 2)
def _reshape(w: Writer, shape: Shape, depth: int) -> str:
    source = w.chance.choice([shape, (shape[1], shape[0]), ("n",)])
    return f"({w.size(shape[0])} {w.size(shape[1])}⍴,{w.expression(source, depth)})"


@_rule(lambda shape: len(shape) == 2)
def _outer(w: Writer, shape: Shape, depth: int) -> str:
    return f"({w.expression(shape[:1], depth)}∘.×{w.expression(shape[1:], depth)})"


@_rule(lambda shape: len(shape) == 2)
def _product(w: Writer, shape: Shape, depth: int) -> str:
    middle = w.chance.choice([k for k in ("n", "m") if (shape[0], k) in SHAPES and (k, shape[1]) in SHAPES])
    return f"({w.expression((shape[0], middle), depth)}+.×{w.expression((middle, shape[1]), depth)})"


@_rule(lambda shape: len(shape) < 2)
def _sum(w: Writer, shape: Shape, depth: int) -> str:
    axis = w.chance.choice([a for a in ("n", "m") if (a, *shape) in SHAPES])
    return f"(+⌿{w.expression((axis, *shape), depth)})"


@_rule(lambda shape: len(shape) < 2)
def _fold(w: Writer, shape: Shape, depth: int) -> str:
    left, right = w.fresh(), w.fresh()
    axis = w.chance.choice([a for a in ("n", "m") if (a, *shape) in SHAPES])
    body = w.within({left: shape, right: shape}, shape, depth)
    return f"({{{left}←⍺ ⋄ {right}←⍵ ⋄ {body}}}⌿{w.expression((axis, *shape), depth)})"


@_rule(_leading)
def _scan(w: Writer, shape: Shape, depth: int) -> str:
    if w.chance.random() < 0.4:
        return f"(+⍀{w.expression(shape, depth)})"
    left, right = w.fresh(), w.fresh()
    body = w.within({left: shape[1:], right: shape[1:]}, shape[1:], depth)
    return f"({{{left}←⍺ ⋄ {right}←⍵ ⋄ {body}}}⍀{w.expression(shape, depth)})"


@_rule(lambda shape: ("n", *shape) in SHAPES)
def _filter(w: Writer, shape: Shape, depth: int) -> str:
    return f"(+⌿{w.mask(depth)}⌿{w.expression(('n', *shape), depth)})"


@_rule(lambda shape: shape == ("n",))
def _filtered_table(w: Writer, shape: Shape, depth: int) -> str:
    return f"(+/{w.expression(('n',), depth)}∘.×{w.mask(depth)}⌿{w.expression(('n',), depth)})"


@_rule(_by_n)
def _sorted(w: Writer, shape: Shape, depth: int) -> str:
    return f"((⍋{w.expression(('n',), depth)})⌷{w.expression(shape, depth)})"


@_rule(lambda shape: shape[:1] == ("m",) and len(shape) == 1)
def _gather(w: Writer, shape: Shape, depth: int) -> str:
    return f"(i⌷{w.expression(('n',), depth)})"


@_rule(lambda shape: shape == ("n",))
def _windows(w: Writer, shape: Shape, depth: int) -> str:
    return f"(+/2↕{w.expression(('n',), depth)},s)"


@_rule(_by_n)
def _mask_update(w: Writer, shape: Shape, depth: int) -> str:
    name = w.fresh()
    if w.chance.random() < 0.5:
        return f"({{-⍵}}@{w.mask(depth)} ⊢ {w.expression(shape, depth)})"
    return f"({{{name}←{w.expression(shape, depth)} ⋄ {name}[i]←s ⋄ {name}}}⍬)"


@_rule(_by_n)
def _select(w: Writer, shape: Shape, depth: int) -> str:
    return f"(b¿({w.expression(shape, depth)} ⋄ {w.expression(shape, depth)}))"


@_rule(_leading)
def _by_length(w: Writer, shape: Shape, depth: int) -> str:
    return f"({w.expression(shape, depth)}÷≢{w.expression(shape, depth)})"


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A program whose only output is one expression; what Hypothesis shrinks are the draws, so failures are short."""
    chance = draw(st.randoms(use_true_random=False))
    writer = Writer(chance)
    return f"{HEADER}output result ← {writer.expression(chance.choice(SHAPES), chance.randint(1, 4))}\n"
