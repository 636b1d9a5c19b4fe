"""One function on arrays of many lengths gives what a new function gives for each: checked by themselves or once for all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from share import share

import rho
from rho.shell.embedding.functions import SHAPES_CHECKED_SINGLY

from .cases import SIZES, Program, programs, values

LENGTHS = [5, 6, 7, 8, 1, 0, 9, 5, 33]
FOR_ALL = ["{+/⍵}", "{(⍵-(+/⍵)÷≢⍵)*2}", "{⌈/⍵}", "{⍵[⍋⍵]}", "{(⍵>0.25)/⍵}", "{⌽⍵,⍵}", "{(+/⍵ ⋄ ≢⍵)}", "{{⍵÷2}⍣3⊢⍵}"]
BY_THEMSELVES = ["{3↑⍵}", "{(2 ¯1)⍴⍵}", "{7⌷⍵}", "{(⍳5)+⍵}", "{⍵[4]}", "{¯6↓⍵}"]
PAIRS = ["{⍺+⍵}", "{⍺,⍵}", "{⍺∘.×⍵}", "{+/⍺×⍵}", "{⍺∊⍵}", "{(≢⍺)↑⍵}"]


def outcome(function: Any, *arguments: Any) -> Any:
    try:
        made = function(*arguments)
    except rho.RhoError as error:
        return [(one.code, one.message, one.span) for one in error.diagnostics], error.text
    items = [np.asarray(item) for item in (made if type(made) is tuple else [made])]
    return [(item.dtype, item.shape, item.tobytes()) for item in items]


@pytest.mark.parametrize("text", [*FOR_ALL, *share(BY_THEMSELVES, seed=3)])
def test_lengths(text: str) -> None:
    function = rho.compile(text)
    for length in LENGTHS:
        given = np.random.default_rng(length).random(length)
        assert outcome(function, given) == outcome(rho.compile(text), given), length


@pytest.mark.parametrize("program", share(programs(), seed=4), ids=lambda program: program.name)
def test_programs_of_many_sizes(program: Program) -> None:
    function, chance = rho.compile(program.text), np.random.default_rng(5)
    drawn = [{axis: int(chance.integers(2, 12)) for axis in SIZES[0]} for _ in range(SHAPES_CHECKED_SINGLY + 2)]
    for sizes in [*drawn, SIZES[3], *drawn]:
        given = [values(kind, program.shape(place, sizes), chance) for place, (kind, _) in enumerate(program.arguments)]
        assert outcome(function, *given) == outcome(rho.compile(program.text), *given), sizes


@pytest.mark.parametrize("text", PAIRS)
def test_pairs_of_lengths(text: str) -> None:
    """Equal lengths are one size, others two; also where they meet as such only later."""
    function = rho.compile(text)
    for left, right in [(5, 5), (6, 6), (7, 7), (8, 8), (5, 7), (7, 5), (8, 3), (9, 4), (1, 6), (6, 1), (0, 0), (9, 9), (2, 0)]:
        given = np.arange(left) / 2, np.arange(right) * 1.5
        assert outcome(function, *given) == outcome(rho.compile(text), *given), (left, right)


@pytest.mark.parametrize("text", FOR_ALL)
def test_what_is_accepted_for_all_lengths_is_checked_once(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, checks = rho.compile(text), list[object]()
    check = type(function._session).check
    monkeypatch.setattr(type(function._session), "check", lambda *given: checks.append(given) or check(*given))
    for length in range(2, 2 + SHAPES_CHECKED_SINGLY + 1):
        function(np.ones(length))
    checks.clear()
    for length in range(20, 60):
        function(np.ones(length))
        function(np.ones((3, length))[0])
    assert not checks
