"""What an unknown name is taken for is of a kind that fits where it stands; where that does not decide it is no fix."""

from __future__ import annotations

import pytest

from rho.lang.diagnostics.model import Diagnostic
from rho.lang.syntax.source import Source
from rho.typechecker.check import check

BEFORE = "fun ← {⍵+1}\narr ← 1 2\n"


def problem(text: str) -> Diagnostic:
    first = check(Source("<test>", f"{BEFORE}{text}\n")).diagnostics[0]
    assert first.code.name == "E001", first
    return first


@pytest.mark.parametrize(
    "text",
    ["ars + 3", "ars[0]", "+/ars", "3 + ars", "ars {⍺+⍵} 3", "ars[0] ← 3", "{ars + ⍵} 3", "(ars+1)", "ars fun arr", "ars",
     "(ars)", "{ars} 3", "g ← ars", "3 ⋄ ars", "(1 ⋄ ars)", "output g ← ars"],
)
def test_an_array_fits(text: str) -> None:
    (fix,) = problem(text).fixes
    assert fix.title == "write `arr`" and not problem(text).notes


@pytest.mark.parametrize("text", ["fum¨arr", "+∘.fum arr", "∘.fum⍨arr", "fum⍤1 ⊢ arr", "{fum¨⍵} arr", "arr+⍥fum arr"])
def test_a_function_fits(text: str) -> None:
    (fix,) = problem(text).fixes
    assert fix.title == "write `fun`" and not problem(text).notes


@pytest.mark.parametrize(
    "text", ["fum + 3", "fum[0]", "+/fum", "3 + fum", "fum[0] ← 3", "{fum + ⍵} 3", "ars¨arr", "ars⍤1 ⊢ arr", "ars 2", "ars 'a'"]
)
def test_nothing_of_another_kind_is_offered(text: str) -> None:
    assert "did you mean" not in problem(text).message and not problem(text).fixes


@pytest.mark.parametrize(
    ("text", "kind"),
    [("fum 2", "a function"), ("arr fum 2", "a function"), ("fum arr", "a function"), ("fum/arr", "a function"),
     ("ars/3 4", "an array"), ("fum⍨arr", "a function"), ("g ← fum", "a function"), ("fum", "a function"),
     ("fun⍤ars ⊢ arr", "an array")],
)  # fmt: skip
def test_a_note_says_the_kind_where_both_fit(text: str, kind: str) -> None:
    found = problem(text)
    name = "fun" if kind == "a function" else "arr"
    assert f"did you mean `{name}`?" in found.message and found.notes == (f"`{name}` is {kind}",) and not found.fixes


def test_of_two_as_near_the_one_that_fits() -> None:
    (fix,) = problem("fus ← 3\nfut+1").fixes
    assert fix.title == "write `fus`"
    (fix,) = problem("fus ← 3\nfut¨arr").fixes
    assert fix.title == "write `fun`"
