"""Every glyph of the table on every kind, at ranks 0 to 4 and with empty axes, held to the reference interpreter.

`programs.py` makes some 60,000 programs from the table; a run draws one in `SHARE` of each glyph's
(`RHO_TABLE_SHARE=1` takes all).
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterable

import pytest

from .agreement import outcome
from .programs import dyadic_programs, functions, monadic_programs, operator_programs, scalar_functions

SHARE = int(os.environ.get("RHO_TABLE_SHARE", "10"))
# Glyphs whose arguments the generator does not make.
BY_HAND = {
    "⍳": ("⍳5", "⍳0", "⍳,3", "⍳2 3", "⍳2 0", "⍳2 3 2"),
    "⊂": ("(⊂1 0)⌷2 3⍴⍳6", "(⊂2 2⍴0 1)⌷'ab'", "(⊂⍬)⌷2 3⍴⍳6"),
    "¿": ("1 0 1 ¿ (1 2 3 ⋄ 4.5)", "(2 2⍴1 0 0 1) ¿ ('a' ⋄ 'b')", "(⍬=1) ¿ (⍬ ⋄ ⍬)"),
}


def _sampled(glyph: str, programs: Iterable[tuple[str, bool]]) -> list[tuple[str, bool]]:
    if glyph in BY_HAND:
        return [(text, True) for text in BY_HAND[glyph]]
    every = [*programs]
    return random.Random(glyph).sample(every, max(len(every) // SHARE, min(len(every), 90)))


def _hold(programs: Iterable[tuple[str, bool]]) -> None:
    problems, accepted = [], 0
    for text, must in programs:
        found = outcome(text)
        accepted += not found.refused
        if found.difference is not None:
            problems.append(f"{text}: {found.difference}")
        if must and found.refused:
            problems.append(f"{text}: refused, {', '.join(found.refused)}")
    assert not problems, "\n".join(problems[:20])
    assert accepted, "no program of this glyph was accepted"


@pytest.mark.parametrize("glyph", [*functions(monadic=True)])
def test_monadic(glyph: str) -> None:
    _hold(_sampled(glyph, monadic_programs(glyph)))


@pytest.mark.parametrize("glyph", [*functions(monadic=False)])
def test_dyadic(glyph: str) -> None:
    _hold(_sampled(glyph if glyph != "⍳" else "", dyadic_programs(glyph)))


@pytest.mark.parametrize("glyph", [*scalar_functions()])
def test_under_operators(glyph: str) -> None:
    _hold(_sampled(glyph, operator_programs(glyph)))
