"""Facts with sizes that no argument has: what they come to in the sizes that arguments have, at calls and when loading."""

from __future__ import annotations

import numpy as np
import pytest

from rho import backend
from rho.lang.diagnostics import RhoError
from rho.lang.source import Source
from rho.typechecker.check import check
from rho.typechecker.obligations import Relation, SizeFact
from rho.typechecker.sizes import number

ROWS = "f : f64[n] → f64[k] → f64[r k] where n = r×k, k≥1\nf ← {((⌊(≢⍺)÷≢⍵) (≢⍵))⍴⍺}\n"
POWER = "f : f64[n] → f64 where n = 2*p\nf ← {⊃⍵}\n"


def codes(text: str) -> list[str]:
    return [d.code for d in check(Source("<test>", text)).diagnostics]


@pytest.mark.parametrize(
    "text",
    [
        ROWS + "(⍳6) f 1 2 3.0",
        POWER + "f 1 2 3 4.0\nf ,1.0",
        "f : f64[n] → f64[r] where n = 1+2×r\nf ← {(⌊(≢⍵)÷2)↑⍵}\nf 1 2 3.0",
        "f : f64[n] → f64[r] where n = (r×2)-1, n≥1\nf ← {(⌊(1+≢⍵)÷2)↑⍵}\nf 1 2 3.0",
        "f : f64[n] → f64 where n = r×k\nf ← {+/⍵}\nf 1 2 3.0",
        "f : f64[n] → f64[n] where p≥1, n = 2*p\nf ← {1↓¯1↓2⌽⍵,⊃⍵ ⋄ ⍵}\nf 1 2 3 4.0",
        "f : f64[n] → f64[n-1] where n = r+1\nf ← {1↓⍵}\nf 1 2 3.0",
        "f : f64[n] → f64 where 4×r = n\nf ← {+/+/4 _⍴⍵}\nf 1 2 3 4.0",
        "f : f64[n] → f64 where n = r×4, r≥2\nf ← {7⊃⍵}\nf ⍳8",
    ],
)  # fmt: skip
def test_accepted(text: str) -> None:
    assert codes(text) == []


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        (ROWS + "(⍳7) f 1 2 3.0", "E200", "needs 3 ∣ 7"),
        (POWER + "f 1 2 3.0", "E200", "needs 3 = 2*p"),
        (POWER + "f 0⍴1.0", "E200", "needs 0 = 2*p"),
        ("f : f64[n] → f64[n] where p≥1, n = 2*p\nf ← {⍵}\nf ,1.0", "E200", "needs 2 ≤ 1"),
        ("f : f64[n] → f64 where n = r×k, r≥2\nf ← {+/⍵}", "E122", "r is not determined"),
        ("f : f64[n] → f64[2*n]\nf ← {⍵}", "E011", "a power is not a size"),
        ("f : f64[n] → f64[n] where n = 2*p, m = p\nf ← {⍵}", "E122", "is not determined"),
        ("input x : f64[n] where n = 2*p, p = n\nx", "E011", "a power is not a size"),
        ("input x : f64[n] where n ≥ m\nx", "E001", "no size `m`"),
    ],
)  # fmt: skip
def test_refused(text: str, code: str, said: str) -> None:
    errors = [d for d in check(Source("<test>", text)).diagnostics if d.is_error]
    assert errors[0].code == code
    assert said in errors[0].message


@pytest.mark.parametrize(
    ("text", "fits", "broken"),
    [
        ("input x : f64[n] where n = 2*p\n+/x", (1, 2, 8, 64), (0, 3, 12)),
        ("input x : f64[n] where n = 3*p\n+/x", (1, 3, 27), (2, 6, 0)),
        ("input x : f64[n] where n = r×5, r≥1\n+/5 _⍴x", (5, 15), (0, 7)),
        ("input x : f64[n] where n = 2*p, 2≤p≤3\n+/x", (4, 8), (2, 16)),
        ("input x : f64[n]\n" + POWER + "f x", (1, 16), (0, 5)),
        ("param k ← 3\ninput x : f64[n] where n = 1+r×k\n+/x", (1, 7), (0, 3)),
    ],
)
def test_what_is_open_is_a_guard_of_scripts(text: str, fits: tuple[int, ...], broken: tuple[int, ...]) -> None:
    found = check(Source("<test>", text))
    assert found.core is not None, found.diagnostics
    for n in fits:
        backend.load(found.core, {"x": np.ones(n)}, {})
    for n in broken:
        with pytest.raises(RhoError) as refused:
            backend.load(found.core, {"x": np.ones(n)}, {})
        assert refused.value.diagnostics[0].code == "E701"


def test_functions_must_hold_for_all_their_sizes() -> None:
    assert codes("f : f64[n] → f64\nf ← {g ⍵}\n")[0] == "E001"
    caller = "\nh : f64[n] → f64\nh ← {f ⍵}"
    assert codes(POWER.rstrip() + caller) == ["E201"]
    assert codes(POWER.rstrip() + caller.replace("f64\n", "f64 where n = 2*q\n", 1)) == []


@pytest.mark.parametrize(
    ("base", "value", "holds"),
    [(2, 1, True), (2, 0, False), (2, 1024, True), (2, 96, False), (10, 1000, True), (1, 1, True), (1, 2, False), (0, 0, True),
     (0, 1, True), (3, 2, False)],
)  # fmt: skip
def test_powers(base: int, value: int, holds: bool) -> None:
    assert SizeFact(Relation.POWER, number(base), number(value)).holds({}) is holds
