"""Functions that take no axis: refused.md has what the others refuse."""

from __future__ import annotations

import pytest

from rho.lang.syntax.source import AXIS_FUNCTIONS, Source
from rho.tests.primitives.programs import functions
from rho.typechecker.check import check

INPUTS = "input x : f64[n]\ninput A : f64[n m]\n"


@pytest.mark.parametrize("glyph", sorted({*functions(monadic=True), *functions(monadic=False)} - {*AXIS_FUNCTIONS, *"/⌿\\⍀"}))
def test_an_axis_is_refused_by_the_parser_where_a_function_takes_none(glyph: str) -> None:
    """So that the rules of these functions are never given one."""
    for text in (f"{glyph}[0]A", f"A{glyph}[0]A", f"A{glyph}⍨[0]A", f"g←{glyph}\ng[0]A"):
        assert [d.code for d in check(Source("<test>", INPUTS + text)).diagnostics] in (["E001"], ["E002"])
