"""Annotated definitions: what is refused and where, counterexamples that break what they should, repairs that repair, guards that
agree with concrete sizes, and what is accepted for all sizes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import pytest

from rho.lang.diagnostics import Diagnostic, Edit
from rho.lang.source import Source
from rho.typechecker import decide, ledger
from rho.typechecker.check import CheckResult, check
from rho.typechecker.obligations import SizeFact

TABLE = (Path(__file__).parent / "rejected_signatures.txt").read_text(encoding="utf-8").splitlines()[1:]
ROWS = [(m[1], m[2], m[3].replace(" ⏎ ", "\n")) for line in TABLE if (m := re.fullmatch(r"(E\d+) ‹(.*?)› (.*)", line))]


def checked(text: str) -> CheckResult:
    return check(Source("<test>", text))


def underlined(text: str, diagnostic: Diagnostic) -> str:
    return text[diagnostic.span.start : diagnostic.span.end]


def test_the_table_is_read_whole() -> None:
    assert len(ROWS) == len(TABLE) > 100


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> list[SizeFact]:
    """Every counterexample that `decide` gives is evaluated; the facts it gave one for."""
    broken: list[SizeFact] = []

    def watching(fact: SizeFact, premises: Sequence[SizeFact] = ()) -> decide.Decision:
        decision = decide.decide(fact, premises)
        if decision.counterexample is not None:
            sizes = dict(decision.counterexample)
            assert not fact.holds(sizes)
            assert all(premise.holds(sizes) for premise in decide.connected(fact, premises))
            broken.append(fact)
        return decision

    monkeypatch.setattr(ledger, "decide", watching)
    return broken


@pytest.mark.parametrize(("code", "text", "program"), ROWS, ids=[program for _, _, program in ROWS])
def test_refused(code: str, text: str, program: str, watched: list[SizeFact]) -> None:
    result = checked(program)
    assert result.core is None
    (error,) = [d for d in result.diagnostics if d.is_error]
    assert (error.code, underlined(program, error)) == (code, text)
    if error.counterexample is not None:
        assert error.goal in [str(fact) for fact in watched]
    for fix in error.fixes:
        if fix.edits:
            repaired = checked(edited(program, fix.edits))
            assert (code, text, error.goal) not in [(d.code, underlined(program, d), d.goal) for d in repaired.diagnostics]


def edited(text: str, edits: tuple[Edit, ...]) -> str:
    for edit in sorted(edits, key=lambda e: -e.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


REPAIRED = [
    ("f : f64[n] → f64[m] → f64[n]\nf ← {⍺-⍵}", "where n = m"),
    ("f : f64[n] → f64[2 n÷2]\nf ← {2 _⍴⍵}", "where 2∣n"),
    ("f : f64[n m] → f64[4 (n×m)÷4]\nf ← {4 _⍴⍵}", "where 4∣n×m"),
    ("f : f64[n] → f64\nf ← {⌈/⍵}", "where n ≥ 1"),
    ("f : f64[n m] → f64[m n]\nf ← {⍵}", "where n = m"),
    ("f : f64[n] → f64[(n-3)+1 3]\nf ← {3↕⍵}", "where n ≥ 3"),
    ("f : f64[n] → f64 where 2∣n\nf ← {⌈/⍵}", ", n ≥ 1"),
    ("f : f64[n m] → f64[n+m]\nf ← {,⍵}", "where n+m = n×m"),
    ("g : f64[n] → f64[m] → f64 where n≤m\ng ← {(+/⍺)+(+/⍵)}\nf : f64[a] → f64[b] → f64\nf ← {⍺ g ⍵}", "where a ≤ b"),
    ("f : f64[n] → f64[(n×n×n)+5×n] → f64\nf ← {+/,6 _⍴⍵}", "where 6∣(n×n×n)+(5×n)"),
    ("f : T[n] → T\nf ← {+/⍵}", "where T num"),
]


@pytest.mark.parametrize(("program", "clause"), REPAIRED, ids=[clause for _, clause in REPAIRED])
def test_the_clause_that_is_offered_repairs(program: str, clause: str) -> None:
    (error,) = checked(program).diagnostics
    (fix,) = [fix for fix in error.fixes if fix.edits]
    repaired = edited(program, fix.edits)
    assert clause in repaired
    assert checked(repaired).core is not None


ACCEPTED = [
    "f : f64[n k] → f64[k m] → f64[n m]\nf ← {⍺+.×⍵}",
    "f : f64[n m] → f64[m n]\nf ← {⍉⍵}",
    "f : f64[n] → f64[m] → f64[(2×n)+m]\nf ← {⍺,⍵,⍺}",
    "f : f64[n] → f64[0⌈n-1]\nf ← {(1↓⍵)-¯1↓⍵}",
    "f : f64[n] → f64[n÷2] where 2∣n\nf ← {h←⌊(≢⍵)÷2 ⋄ (h↑⍵)+h↓⍵}",
    "f : f64[n] → f64[8×(n+7)÷8]\nf ← {(8×⌊(7+≢⍵)÷8)↑⍵}",
    "f : f64[n] → perm<n>\nf ← {⍋⍵}",
    "f : perm<n> → f64[n] → f64[n]\nf ← {⍵[⍺]}",
    "f : f64[n] → idx<m>[p] → f64[p] where m≤n\nf ← {⍺[⍵]}",
    "f : (f64[n] ⋄ f64[m]) → (f64[m] ⋄ f64[n])\nf ← {(a b)←⍵ ⋄ (b ⋄ a)}",
    "f : f64[n] → f64[k≤n]\nf ← {(⍵>0)⌿⍵}",
    "f : f64[n] → f64[m≤n]\nf ← {∪⍵}",
    "f : bool[n] → f64[n] → f64[k≤2×n]\nf ← {(⍺⌿⍵),⍺⌿⍵}",
    "f : int<0..n> → f64[n] → f64[k≤n]\nf ← {⍺↑⍵}",
    "f : f64[k≤n] → f64[k]\nf ← {⍵×2}\ninput x : f64[n]\nf (x>0)⌿x",
    "f : f64[..s m] → f64[..s]\nf ← {+/⍵×⍵}\nf 2 3 4⍴⍳24",
    "f : f64[..s m] → f64[..s m]\nf ← {⍵÷⍤¯1⊢√+/⍵×⍵}",
    "f : T[n] → T[n]\nf ← {⌽⍵}\nf 'abc'",
    "f : T[n] → T where T num\nf ← {+/⍵}\nf 1 2 3 ⋄ f 1.5 2 ⋄ f 1J2 3",
    "f : f64[n] → f64[m] → f64[n] where n≤m, m≤n\nf ← {⍺+⍵}",
    "f : f64[n] → f64[m] → f64[n] where 3×n = 3×m\nf ← {⍺+⍵}",
    "f : f64[n] → f64[m] → f64[n] where n = (m÷2)×2, m = (n÷2)×2\nf ← {⍺+⍵}",
    "g : f64[n] → f64 where n≥1\ng ← {⌈/⍵}\nf : f64[n m] → f64[n] where m≥2\nf ← {g 1↓⍤1⊢⍵}",
    "f : f64[n] → f64[n] where n≥1\nf ← {e←*⍵-⌈/⍵ ⋄ e÷+/e}\ng : f64[n m] → f64[n m] where m≥1\ng ← {f⍤1⊢⍵}",
    "param k ← 3\nf : f64[n] → f64[k] where k≤n\nf ← {k↑⍵}",
]


@pytest.mark.parametrize("program", ACCEPTED)
def test_accepted_for_all_sizes(program: str) -> None:
    result = checked(program)
    assert [f"{d.code}: {d.message}" for d in result.diagnostics] == []


def test_what_is_proved_is_not_proved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[SizeFact] = []
    real = decide.decide

    def watching(fact: SizeFact, premises: Sequence[SizeFact] = ()) -> decide.Decision:
        if fact.left.variables() | fact.right.variables():
            asked.append(fact)
        return real(fact, premises)

    definition = "f : f64[n] → f64[n÷2] where 2∣n\nf ← {h←⌊(≢⍵)÷2 ⋄ (h↑⍵)+h↓⍵}\ninput x : f64[n m] where 2∣m\n"
    monkeypatch.setattr(ledger, "decide", watching)
    assert checked(definition).core is not None
    once = len(asked)
    assert checked(definition + "f x").core is not None
    assert [str(fact) for fact in asked[2 * once :]] == ["m = m", "2 ∣ m"]  # of the call, none of the body


def test_a_fact_about_params_is_checked_at_load_wherever_it_is_needed() -> None:
    result = checked("param k ← 3\nf : f64[n] → f64[n k]\nf ← {⍵∘.+(k⍴1)×⌈/k⍴1}\nf 1 2 3")
    assert [(d.code, d.goal) for d in result.diagnostics] == [("W201", "1 ≤ k")]
    assert result.core is not None
    assert [str(g.fact) for g in result.core.guards] == ["1 ≤ k"]


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
