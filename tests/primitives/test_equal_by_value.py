"""Numbers of different kinds are equal, and in order, by value: all functions that compare, against Python's exact ones."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from share import SEED, repeats

import rho
from rho.backend.reference.interpreter import interpret
from rho.backend.vm.values import from_numpy
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

from .places import DTYPES

FOUND_IN_REPORTS = [
    ("(,9007199254740993)≡,9007199254740992.0", False),
    ("9007199254740993∊9007199254740992.0", False),
    ("(,9007199254740993)⍷,9007199254740992.0", [False]),
    ("9223372036854775807∊9223372036854775808.0", False),
    ("9007199254740993=9007199254740992J0", False),
    ("9007199254740992=9007199254740992J0", True),
    ("use table\n(p t)←9007199254740992.0 5 table.lookup 9007199254740993 5\nt", [False, True]),
]
NEAR = [2**53 - 1, 2**53, 2**53 + 1, -(2**53) - 1, 2**62 + 1, 2**63 - 1, 2**63 - 512, -(2**63), 2**24 + 1, 2**24, 255, 1, 0, -1]
SPECIAL = [2.0**53, 2.0**53 + 2, -(2.0**53), 2.0**63, -(2.0**63), 2.0**24, 0.0, -0.0, 0.5, np.inf, -np.inf, np.nan]
PROGRAMS = {
    "=": "x∘.=y", "≠": "x∘.≠y", "∊": "x∊y", "⍳": "x⍳y", "~": "x~y", "∩": "x∩y", "≡": "(3↑x)≡3↑y", "⍷": "(1↑x)⍷y",
    "<": "x∘.<y", "≤": "x∘.≤y", "≥": "x∘.≥y", ">": "x∘.>y", "⍸": "x⍸y",
}  # fmt: skip
ORDERED = "<≤≥>⍸"


@pytest.mark.parametrize(("text", "value"), FOUND_IN_REPORTS)
def test_beyond_the_floats(text: str, value: Any) -> None:
    assert np.array_equal(rho.eval(text), value)


def array(kind: str, drawn: random.Random) -> Any:
    dtype = np.dtype(DTYPES[kind])
    if dtype.kind in "biu":
        low, high = (0, 1) if kind == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        return np.array(drawn.choices([v for v in NEAR if low <= v <= high], k=6)).astype(dtype)
    with np.errstate(all="ignore"):
        return np.array(drawn.choices([*SPECIAL, *map(float, NEAR)], k=6)).astype(dtype)


def equal(a: Any, b: Any) -> bool:
    """Python compares numbers of all kinds by value."""
    return bool(a == b)


def expected(glyph: str, x: list[Any], y: list[Any]) -> Any:
    match glyph:
        case "=" | "≠":
            return [[equal(a, b) == (glyph == "=") for b in y] for a in x]
        case "<" | "≤" | "≥" | ">":
            orders = {"<": lambda a, b: a < b, "≤": lambda a, b: a <= b, "≥": lambda a, b: a >= b, ">": lambda a, b: a > b}
            return [[orders[glyph](a, b) for b in y] for a in x]
        case "∊":
            return [any(equal(a, b) for b in y) for a in x]
        case "⍳":
            return [next((i for i, a in enumerate(x) if equal(a, b)), len(x)) for b in y]
        case "~" | "∩":
            return [a for a in x if any(equal(a, b) for b in y) == (glyph == "∩")]
        case "≡":
            return all(equal(a, b) for a, b in zip(x[:3], y[:3], strict=True))
        case "⍷":
            return [equal(x[0], b) for b in y]
        case _:
            return [sum(1 for a in x if a <= b) - 1 for b in y]


def test_by_value() -> None:
    """On the reference, and planned."""
    kinds = list(itertools.product(DTYPES, repeat=2))
    drawn = random.Random(1_000_003 * SEED + 6)
    problems = []
    for _ in range(repeats(1000)):
        (one, other), glyph = drawn.choice(kinds), drawn.choice(list(PROGRAMS))
        if glyph in ORDERED and "c128" in (one, other):
            continue
        x, y = array(one, drawn), array(other, drawn)
        if glyph == "⍸":
            x, y = np.sort(x[~np.isnan(x)]), y[~np.isnan(y)]
        body = PROGRAMS[glyph]
        wanted = expected(glyph, x.tolist(), y.tolist())
        core = check(Source("<test>", f"input x : {one}[{len(x)}]\ninput y : {other}[{len(y)}]\n{body}\n")).core
        assert core is not None
        (printed,) = interpret(core, {"x": from_numpy(x), "y": from_numpy(y)}, {}).printed
        made = {"planned": rho.compile(f"{{x ← ⍺ ⋄ y ← ⍵ ⋄ {body}}}")(x, y),
                "reference": np.array(printed.data).reshape(printed.shape)}  # fmt: skip
        problems += [f"{one} {x.tolist()} {glyph} {other} {y.tolist()}: {how} {value.tolist()}, not {wanted}"
                     for how, value in made.items() if not np.array_equal(value, wanted, equal_nan=glyph in "~∩")]  # fmt: skip
    assert not problems, "\n".join([f"RHO_SEED={SEED}", *problems])
