"""Annotated definitions are proved once, and guards agree with concrete sizes (signatures.md: what is refused and accepted)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import pytest

from rho.lang.syntax.source import Source
from rho.typechecker.check import CheckResult, check
from rho.typechecker.proof import constraints, prover
from rho.typechecker.proof.obligations import SizeFact


def checked(text: str) -> CheckResult:
    return check(Source("<test>", text))


def test_what_is_proved_is_not_proved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SizeFact] = []
    real = prover.prove

    def watching(fact: SizeFact, premises: Sequence[SizeFact] = ()) -> prover.ProofResult:
        if fact.left.variables() | fact.right.variables():
            asked.append(fact)
        return real(fact, premises)

    definition = "f : f64[n] → f64[n÷2] where 2∣n\nf ← {h←⌊(≢⍵)÷2 ⋄ (h↑⍵)+h↓⍵}\ninput x : f64[n m] where 2∣m\n"
    monkeypatch.setattr(constraints, "prove", watching)
    assert checked(definition).core is not None
    once = len(asked)
    assert checked(definition + "f x").core is not None
    assert [str(fact) for fact in asked[2 * once :]] == ["m = m", "2 ∣ m"]  # of the call, none of the body


GUARDED = [
    ("{0}x + {0}y", "n m"),
    ("2 _⍴x", "n"),
    ("⌈/x", "n"),
    ("3↕x", "n"),
    ("(2↓x) - ¯1↓y", "n m"),
    ("x +.× y", "n m"),
    ("(x∘.×y) + 3 2⍴1", "n m"),
    ("f : f64[a] → f64 where 2∣a, a≥3\nf ← {{+/⍵}}\nf x", "n"),
    ("f : f64[a] → f64[b] → f64 where a≤b\nf ← {{(+/⍺)+(+/⍵)}}\nx f y", "n m"),
]


@pytest.mark.parametrize(("body", "names"), GUARDED)
def test_guards_agree_with_concrete_sizes(body: str, names: str) -> None:
    """All guards hold for some sizes exactly if the program with those sizes written in is accepted."""
    body = body.format("")
    symbolic = checked(f"input x : f64[n]\ninput y : f64[m]\n{body}")
    assert symbolic.core is not None
    assert symbolic.core.guards
    sizes = {v.name: v for g in symbolic.core.guards for v in g.fact.left.variables() | g.fact.right.variables()}
    for n, m in product(range(7), range(7) if "m" in names else [0]):
        known = {sizes[name]: value for name, value in (("n", n), ("m", m)) if name in sizes}
        concrete = checked(f"input x : f64[{n}]\ninput y : f64[{m}]\n{body}")
        assert all(g.fact.holds(known) for g in symbolic.core.guards) is (concrete.core is not None), (n, m)


def test_a_permutation_without_its_length_is_no_element_type() -> None:
    """A mutant that takes the shape of every `perm` from its argument says that n is not determined."""
    text = "f : perm[n] → i64[n]\nf ← {⍵}\ninput z : f64[n]\nf ⍋z"
    assert [d.code for d in check(Source("<test>", text)).diagnostics] == ["E011"]
