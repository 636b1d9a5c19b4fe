"""Every glyph of the table on every kind, at ranks 0 to 4 and with empty axes, held to the reference interpreter.

`programs.py` makes some 60,000 programs from the table; a run draws half a share of each glyph's (`RHO_SHARE=1` takes all).
"""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest
from share import SEED, SHARE

from rho.lang.syntax.source import Source
from rho.tests.harness.tiers import agree
from rho.typechecker.check import check

from .programs import dyadic_programs, functions, monadic_programs, operator_programs, scalar_functions

# Glyphs whose arguments the generator does not make.
BY_HAND = {
    "⍳": ("⍳5", "⍳0", "⍳,3", "⍳2 3", "⍳2 0", "⍳2 3 2"),
    "⊂": ("(⊂1 0)⌷2 3⍴⍳6", "(⊂2 2⍴0 1)⌷'ab'", "(⊂⍬)⌷2 3⍴⍳6"),
    "¿": ("1 0 1 ¿ (1 2 3 ⋄ 4.5)", "(2 2⍴1 0 0 1) ¿ ('a' ⋄ 'b')", "(⍬=1) ¿ (⍬ ⋄ ⍬)"),
}
PART = 1.0 if SHARE >= 1 else SHARE / 2
LEAST = 5  # programs of each glyph, however small the part


def _programs() -> Iterator[tuple[str, list[tuple[str, bool]]]]:
    """The programs of each glyph, by name of the set."""
    for glyph in functions(monadic=True):
        yield f"monadic:{glyph}", _by_hand(glyph) or [*monadic_programs(glyph)]
    for glyph in functions(monadic=False):
        yield f"dyadic:{glyph}", (glyph != "⍳" and _by_hand(glyph)) or [*dyadic_programs(glyph)]
    for glyph in scalar_functions():
        yield f"operators:{glyph}", [*operator_programs(glyph)]


def _by_hand(glyph: str) -> list[tuple[str, bool]]:
    return [(text, True) for text in BY_HAND.get(glyph, ())]


PROGRAMS = dict(_programs())


def _drawn() -> Iterator[object]:
    for name, programs in PROGRAMS.items():
        count = max(round(len(programs) * PART), min(len(programs), LEAST))
        for number in sorted(random.Random(f"{SEED} {name}").sample(range(len(programs)), count)):
            yield pytest.param(*programs[number], id=f"{name}:{number}")


def problems(program: str) -> tuple[set[str], list[str]]:
    """The codes of a refused program, or what differs from the reference in one that is accepted."""
    found = check(Source("<test>", program + "\n"))
    if found.core is None:
        return {d.code for d in found.diagnostics if d.is_error}, []
    return set(), agree(found.core, {}, ["plan"])


@pytest.mark.parametrize(("program", "accepted"), [*_drawn()])
def test_program(program: str, accepted: bool) -> None:
    refused, differing = problems(program)
    assert not differing
    assert not (accepted and refused - {"E330"})  # of known numbers some results leave their type


@pytest.mark.parametrize("name", PROGRAMS)
def test_some_program_of_each_glyph_is_accepted(name: str) -> None:
    assert any(not problems(program)[0] for program, _ in PROGRAMS[name])


@pytest.mark.parametrize("program", ["1 1-u8 2 3⍴3 1 4 1 5 9", "200 7+u8 2 2⍴60 4", "2 3×i64 2 2⍴4611686018427387904"])
def test_what_only_the_back_end_folds_wraps(program: str) -> None:
    """The checker folds constants of one shape (E330); of others it does not say that a result leaves its type."""
    assert problems(program) == (set(), [])
