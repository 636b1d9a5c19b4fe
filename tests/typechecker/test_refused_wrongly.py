"""Programs that were refused although they are right, and refusals that named the wrong code; what is accepted also runs."""

from __future__ import annotations

from itertools import permutations

import pytest

from rho import backend
from rho.lang.source import Source
from rho.typechecker.check import check

PART = "part : f64[n] → bool[n] → f64[n]\npart ← {(⍵⌿⍺),(~⍵)⌿⍺}\n"
TOEPLITZ = "toeplitz : f64[(2×n)-1] → f64[n n] where n≥1\ntoeplitz ← {⌽(⌊(1+≢⍵)÷2)↕⍵}\n"

ACCEPTED = (
    (PART + "x ← 3 0 5 1.5\n(x part x>1)+x", "6 5 6.5 1.5"),
    ("f : i64[n] → i64[n]\nf ← {((⍵>2)⌿⍵),(⍵≤2)⌿⍵}\nf 1 5 2 7", "5 7 1 2"),
    ("f : f64[n] → f64[n]\nf ← {((⍵=2)⌿⍵),(⍵≠2)⌿⍵}\nf 1 2 3", "2 1 3"),
    (TOEPLITZ + "toeplitz 1 2 3", "2 1 3 2"),
    ("f : f64[n-1] → f64[n] where n≥1\nf ← {⍵,0}\nf 5 6", "5 6 0"),
    ("f : f64[n m] → f64[m n]\nf ← {(n m)←⍴⍵ ⋄ (m n)⍴⍵}\nf 2 3⍴⍳6", "0 1 2 3 4 5"),
    ("x ← 2 3 4⍴⍳24\n(a b c)←⍴x\n+/(a (b×c))⍴x", "66 210"),
    ("f ← {(k _)←⍴⍵ ⋄ k↑,⍵}\nf 2 3⍴⍳6", "0 1"),
    ("x ← 4 3⍴⍳12\n(n m)←¯1+⍴x\n(n m)↑x", "0 1 3 4 6 7"),
    ("f : f64[n] → perm<k≤n>\nf ← {⍋(⍵>1)⌿⍵}\nf 3 0 2", "1 0"),
    ("f : f64[n] → (idx<k>[k] ⋄ f64[k≤n])\nf ← {y←(⍵>1)⌿⍵ ⋄ (⍋y ⋄ y)}\n(a b)←f 3 0 2\nb[a]", "2 3"),
    ("f : 1..2 f64 → f64\nf ← {⍵>0 : ⍵ ⋄ 3}\ng : 1..2 f64 → f64\ng ← {f ⍵}\ng 5", "5"),
)

REFUSED = (
    ("x ← 3 0 5 1.5 ⋄ ((x>1)⌿x)+x", "E140", "3 is the number of elements that a mask keeps"),
    ("x ← 3 0 5 1.5 ⋄ (-(x>1)⌿x)×x", "E140", "3 is the number of elements that a mask keeps"),
    ("x ← 3 0 5 1.5 ⋄ (1 0 1 1⌿x)+x", "E101", "axis 0 is 3 on the left and 4 on the right"),
    ("f : f64[n] → f64[n]\nf ← {((⍵>2)⌿⍵),(⍵≤2)⌿⍵}", "E201", "declared f64[n]"),  # a NaN is in neither
    ("f : f64[n] → bool[n] → f64[n]\nf ← {(⍵⌿⍺),(~~⍵)⌿⍺}", "E201", "declared f64[n]"),
    ("f : f64[n] → idx<k>[k]\nf ← {⍋(⍵>1)⌿⍵}", "E122", "k is not determined"),
    ("f : f64[(2×n)-1] → f64[n]\nf ← {(⌊(1+≢⍵)÷2)⍴0.5}", "E202", "may be negative"),
    (TOEPLITZ + "toeplitz 1 2 3 4", "E200", "declared f64[3]"),
    ("f : 1 f64 → f64\nf ← {⍵+⍵}", "E500", "read 2 times"),
)


@pytest.mark.parametrize(("text", "wanted"), ACCEPTED)
def test_accepted(text: str, wanted: str) -> None:
    core = check(Source("<test>", text)).core
    assert core is not None, check(Source("<test>", text)).diagnostics
    bound = backend.load(core, {}, {})
    shown = backend.execute(backend.plan(bound), bound, {}).printed[-1]
    assert shown.value.ravel().tolist() == [float(item.replace("¯", "-")) for item in wanted.split()]


@pytest.mark.parametrize(("text", "code", "said"), REFUSED)
def test_refused(text: str, code: str, said: str) -> None:
    (error,) = [d for d in check(Source("<test>", text)).diagnostics if d.is_error]
    assert error.code == code
    assert said in error.message


FACTS = ("2∣k-1", "k≥m+1", "m≥1", "(k-1)≥2×m")


@pytest.mark.parametrize("order", list(permutations(FACTS)))
def test_the_order_of_facts_means_nothing(order: tuple[str, ...]) -> None:
    stated = ", ".join(order)
    signature = f"f : f64[k-m] → f64[k] → f64[m] → f64[k] where {stated}\nf ← {{⍵}}"
    function = f"f : f64[k] → f64[m] → f64[(k+1)-m] where {stated}\nf ← {{⍵,(((≢⍺)+1)-2×≢⍵)⍴0.5}}"
    inputs = f"input x : f64[k]\ninput y : f64[m] where {stated}\n(≢x)-≢y"
    assert [d.code for d in check(Source("<test>", signature)).diagnostics] == ["E011"]  # at most two arguments
    for text in (function, inputs):
        assert check(Source("<test>", text)).diagnostics == (), text


def test_facts_that_need_one_another_are_refused() -> None:
    """Neither can be read without the other: nothing shows that the subtractions are sizes."""
    text = "f : f64[n] → f64[m] → f64[n] where (n-m) ≥ 0, (m-n) ≥ 0\nf ← {⍺}"
    assert {d.code for d in check(Source("<test>", text)).diagnostics} == {"E202"}
