"""A literal that a conversion was applied to has the kind that data has: `x+i64 5` is as `x+y` with y : i64."""

from __future__ import annotations

import itertools

import pytest
from share import share

from rho.lang.syntax.source import Source
from rho.typechecker.check import check

KINDS = ("bool", "u8", "i32", "i64", "f32", "f64", "c64", "c128")
FORMS = ("{a}", "{b}", "⌽{b}", "⊃{b}", "{a},{b}", "2⌽{b}", "{b}[2]", "{b}[0 2 1]", "1⌷{b}", "3⍴{a}", "2↓{b}", "+{a}",
         "-{a}", "×{b}", "|{b}", "{a}×{a}", "{a}+1", "1-{b}", "2×{a}", "{b}⌊{a}", "1 0 1⌿{b}", "⍉{b}", "1⊃{b}",
         "{a}*2", "2|{b}", "⌈{a}")  # fmt: skip
FUNCTIONS = "+-×⌊|,="


def kind_of(text: str) -> str:
    """The kind of a program's output, or the code that it is refused with."""
    checked = check(Source("<test>", text))
    errors = [d.code for d in checked.diagnostics if d.is_error]
    core = checked.core
    return errors[0] if errors or core is None else core.types[core.outputs[0].value].element.kind.value


@pytest.mark.parametrize(("form", "kind", "other"), share(list(itertools.product(FORMS, KINDS, KINDS)), seed=130))
def test_converted_literals_are_as_data(form: str, kind: str, other: str) -> None:
    literal, data = form.format(a=f"({kind} 1)", b=f"({kind} 1 0 1)"), form.format(a="a", b="b")
    inputs = f"input x : {other}[3]\ninput a : {kind}\ninput b : {kind}[3]\n"
    for function in FUNCTIONS:
        inline, late = (kind_of(f"{inputs}output z ← x{function}{operand}") for operand in (literal, data))
        assert inline == late or {inline, late} & {"E330"}, (function, literal)


def test_what_a_conversion_of_a_literal_widens() -> None:
    assert kind_of("input x : i32[3]\noutput z ← x+5") == "i32"
    assert kind_of("input x : i32[3]\noutput z ← x+i64 5") == "i64"
    assert kind_of("input x : f32[3]\noutput z ← x⌊i64 6") == "f64"
    assert kind_of("input x : i32[3]\noutput z ← x×≢x") == "i32"
    assert kind_of("input x : i32[3]\noutput z ← x×i64 ≢x") == "i64"
