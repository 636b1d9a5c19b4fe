"""Integers of known ranges through drawn expressions: all items lie in the range that the checker states, and what is looked up,
sorted and counted by these ranges is the same in every tier."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from share import is_drawn, seeds

from rho.lang.syntax.source import Source
from rho.tests.harness.tiers import agree, outcome
from rho.typechecker.check import check
from rho.typechecker.core.operations import Core
from rho.typechecker.elements import Element
from rho.typechecker.sizes.polynomials import Size

SIZES = [(5, 3), (0, 2), (1, 1), (9, 4), (40, 7), (2, 0), (300, 5)]
TYPES = {
    "int<¯3..4>": (-3, 4), "int<0..5>": (0, 5), "int<2..2>": (2, 2), "int<¯128..127>": (-128, 127), "int<1..12>": (1, 12),
    "idx<7>": (0, 6), "u8": (0, 255), "bool": (0, 1), "i64": (-50, 50), "i32": (-(2**31), 2**31 - 1),
}  # fmt: skip
KINDS = {"u8": np.uint8, "bool": np.bool_, "i32": np.int32}
LITERALS = ["0", "1", "2", "3", "5", "7", "10", "¯1", "¯2", "¯7", "100"]
FORMS = (
    "({a}+{b})", "({a}-{b})", "({a}×{b})", "({a}⌊{b})", "({a}⌈{b})", "({b}|{a})", "(|{a})", "(-{a})", "(×{a})", "(⌊{a}÷2)",
    "(⌊{a}÷¯2)", "(⌊{a}÷7)", "(⌽{a})", "(¯1⌽{a})", "({n}↑{a})", "({n}↑2↓{a})", "({n}↑({a}>{b})⌿{a})", "(+\\{a})", "(⌈\\{a})",
    "(⌊\\{a})", "({a}+(+/0⍪{a}))", "({a}+(⌈/0⍪{a}))", "(({a}>{b})¿({a} ⋄ {b}))", "(⍋{a})", "(⍋⍋{a})", "({a}[⍒{a}])", "({a}=1)",
    "({a}⍳{n}⍴{b})", "({a}∊{n}⍴{b})", "(3|{a})", "(256|{a})", "({a} ⎕band {b})", "({a} ⎕bor {b})", "({a} ⎕bxor {b})",
    "(u8 255⌊0⌈{a})", "(u8 {a})", "(i32 {a})", "({{⍵⌈3|⍵+1}}⍣3 ⊢ {a})", "({n}↑2+/{a}⍪0)", "(+/{a}∘.=0 1 2)", "(+/3|{a}∘.+1 2)",
    "((12 +⌸ (0⌈11⌊{a} ⋄ 1))[0⌈11⌊{a}])", "({a}*2)", "({a}*3)",
)  # fmt: skip
ENDS = (
    "∪{a}", "⍋{a}", "⍒{a}", "{a}⍳{b}", "{a}∊{b}", "({a}[⍋{a}])⍸{b}", "≠{a}", "{a}[⍋{a}]", "{a}~{b}", "{a}∩{b}", "∪{a}⍪{b}",
    "⍋⍋{a}", "20 +⌸ (0⌈19⌊{a} ⋄ {a})", "30 +⌸ (29⌊|{a} ⋄ 1)", "≢∪{a}", "{a}", "{a}",
)  # fmt: skip


class Writer:
    """Writes programs of integer vectors of n or m items."""

    def __init__(self, seed: int) -> None:
        self.chance, items = random.Random(seed), np.random.default_rng(seed)
        sizes = self.sizes = dict(zip("nm", self.chance.choice(SIZES), strict=True))
        self.inputs: dict[str, Any] = {"y": np.zeros(sizes["n"], np.int64), "z": np.zeros(sizes["m"], np.int64)}
        self.lines, self.names = ["input y : i64[n]", "input z : i64[m]"], {"n": ["(⍳n)", "(n⍴2)"], "m": ["(⍳m)", "(m⍴¯1)"]}
        for number in range(self.chance.randint(2, 4)):
            type, axis, name = self.chance.choice([*TYPES]), "n" if number < 2 else self.chance.choice("nm"), f"x{number}"
            low, high = TYPES[type]
            values = items.integers(low, high, sizes[axis], endpoint=True)
            if self.chance.random() < 0.5:
                values[:1], values[-1:] = low, high
            self.inputs[name] = values.astype(KINDS.get(type, np.int64))
            self.lines.append(f"input {name} : {type}[{axis}]")
            self.names[axis] += [name, name]

    def vector(self, depth: int, axis: str) -> str:
        return self.filled(self.chance.choice(FORMS), depth - 1, axis) if depth > 0 else self.chance.choice(self.names[axis])

    def filled(self, text: str, depth: int, axis: str) -> str:
        b = self.vector(depth, axis) if self.chance.random() < 0.5 else self.chance.choice(LITERALS)
        return text.format(a=self.vector(depth, axis), b=b, n=axis)

    def program(self) -> str:
        for number in range(2):
            axis = self.chance.choice("nnm")
            self.lines.append(f"v{number} ← {self.vector(self.chance.choice([1, 2]), axis)}")
            self.names[axis].append(f"v{number}")
        for number in range(6):
            end = self.filled(self.chance.choice(ENDS), self.chance.choice([0, 1, 2]), self.chance.choice("nm"))
            self.lines.append(f"output r{number} ← {end}")
        return "\n".join(self.lines) + "\n"


def stated(element: Element, sizes: dict[str, int]) -> tuple[int | None, int | None]:
    """The range of an element for these sizes, as far as they decide it."""

    def number(size: Size | None) -> int | None:
        if size is None or any(variable.name not in sizes for variable in size.variables()):
            return None
        return size.evaluate({variable: sizes[variable.name] for variable in size.variables()})

    low, high = element.low, element.high
    if (top := number(element.symbolic_max)) is not None:
        high = top if high is None else min(high, top)
    if element.index_bound is not None:
        low, high = 0, None if (end := number(element.index_bound)) is None else end - 1
    return low, high


def outside(core: Core, inputs: dict[str, Any], sizes: dict[str, int]) -> list[str]:
    """The outputs with an item outside the range of their types."""
    values = outcome(core, inputs, "off")
    if isinstance(values, str):
        return []
    wrong, arrays = [], {value.name: value.array for value in values}
    for output in core.outputs:
        items = arrays[output.name].astype(object)
        low, high = stated(core.types[output.value].element, sizes)
        if items.size and ((low is not None and items.min() < low) or (high is not None and items.max() > high)):
            wrong.append(f"{output.name}: {items.min()} to {items.max()}, not {low} to {high}")
    return wrong


@pytest.mark.parametrize("seed", seeds(100, least=4))
def test_items_are_in_their_ranges_and_alike_in_every_tier(seed: int) -> None:
    writer = Writer(seed)
    core = check(Source("<drawn>", writer.program())).core
    if core is None:
        return  # a literal that does not fit u8
    assert outside(core, writer.inputs, writer.sizes) == [], seed
    assert agree(core, writer.inputs, ("auto", "always") if is_drawn(f"always {seed}", 8) else ("auto",)) == [], seed
