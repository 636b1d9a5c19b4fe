"""Every glyph of the table on every kind, at ranks 0 to 4 and with empty axes, held to the reference interpreter.

`programs.py` makes some 60,000 programs from the table; a run takes every `STRIDE`-th of each glyph (`RHO_TABLE_STRIDE=1` takes all).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice

import pytest

from .agreement import outcome
from .programs import dyadic_programs, functions, monadic_programs, operator_programs, scalar_functions

STRIDE = int(os.environ.get("RHO_TABLE_STRIDE", "11"))


def _sampled(programs: Iterable[tuple[str, bool]]) -> Iterator[tuple[str, bool]]:
    return islice(iter(programs), 0, None, STRIDE)


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


@pytest.mark.parametrize("glyph", functions(monadic=True))
def test_monadic(glyph: str) -> None:
    _hold(_sampled(monadic_programs(glyph)) if glyph != "⍳" else [("⍳5", True), ("⍳0", True), ("⍳2 3", True)])


@pytest.mark.parametrize("glyph", functions(monadic=False))
def test_dyadic(glyph: str) -> None:
    _hold(_sampled(dyadic_programs(glyph)))


@pytest.mark.parametrize("glyph", scalar_functions())
def test_under_operators(glyph: str) -> None:
    _hold(_sampled(operator_programs(glyph)))
