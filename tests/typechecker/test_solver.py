"""The solver: its questions, its verdicts against brute force, what it keeps, and when it is not asked at all."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from rho.lang.diagnostics.model import Verdict
from rho.typechecker.proof import solver, z3_process
from rho.typechecker.proof.obligations import Relation, SizeFact
from rho.typechecker.proof.prover import ProofResult, connected, prove
from rho.typechecker.proof.solver import smt_query
from rho.typechecker.sizes.polynomials import Size, SizeOrigin, SizeVariable, as_size, number, variable
from rho.typechecker.sizes.size import maximum, minimum, quotient, remainder

pytestmark = pytest.mark.long

N, M, K, H, D = (SizeVariable(name, i, SizeOrigin.RIGID) for i, name in enumerate("nmkhd"))
n, m, k, h, d = (variable(v) for v in (N, M, K, H, D))
CAPPED = SizeVariable("c", 9, SizeOrigin.RIGID, cap=n)


def fact(left: Size | int, relation: str, right: Size | int) -> SizeFact:
    return SizeFact(Relation(relation), as_size(left), as_size(right))


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.delenv(solver.SWITCH, raising=False)
    monkeypatch.setattr(solver, "_verdicts", {})
    return tmp_path / "rho" / "verdicts"


def only_entry(folder: Path) -> Path:
    """What is kept, beside the key."""
    (stored,) = folder.glob("*.json")
    return stored


def text_of(stored: Path) -> Any:
    """The entry below the line that says who wrote it."""
    return json.loads(stored.read_text().partition("\n")[2])


LARGE = number(1000)
ROWS = [
    (fact(quotient(n * (n + 1), 2) * 2, "=", n * (n + 1)), [], Verdict.PROVED),
    (fact(quotient(quotient(n, m), k), "=", quotient(n, m * k)), [fact(1, "≤", m), fact(1, "≤", k)], Verdict.PROVED),
    (fact(n * n + 1, "≠", m * 4 + 4), [], Verdict.PROVED),
    (fact(n * n + 1, "=", m * 4 + 4), [], Verdict.NEVER),
    (fact(n, "=", m), [fact(n * 3, "=", m * 3)], Verdict.PROVED),
    (fact(n, "=", m), [fact(n, "≤", m), fact(m, "≤", n)], Verdict.PROVED),
    (fact(n, "=", m), [fact(n, "≤", k), fact(k, "≤", h), fact(h, "≤", d), fact(d, "≤", m), fact(m, "≤", n)], Verdict.PROVED),
    (fact(n + k, "≤", m + h), [fact(n, "≤", m), fact(k, "≤", h)], Verdict.PROVED),
    (fact(2, "∣", n + m), [fact(2, "∣", n), fact(2, "∣", m)], Verdict.PROVED),
    (fact(3, "∣", n * 2), [fact(3, "∣", n)], Verdict.PROVED),
    (fact(2, "∣", n + 1), [fact(2, "∣", n)], Verdict.NEVER),
    (fact(remainder(n, 6), "≤", remainder(n, 3) + 3), [], Verdict.PROVED),
    (fact(maximum(n, m) + minimum(n, m), "=", n + m), [], Verdict.PROVED),
    (fact(n * h, "≤", m * h), [fact(n, "≤", m)], Verdict.PROVED),
    (fact(n, "≤", n * n), [], Verdict.PROVED),
    (fact(n * m, "≤", k), [fact(n, "≤", 3), fact(m, "≤", 3), fact(9, "≤", k)], Verdict.PROVED),
    (fact(variable(CAPPED) * m, "≤", n * m), [], Verdict.PROVED),
    (fact(n + m + k + h + d, "≤", LARGE), [], Verdict.DEPENDS),
    (fact(n + m + k + h + d, "=", n + LARGE), [], Verdict.DEPENDS),
    (fact(n * m, "=", 391), [fact(2, "≤", n), fact(n, "≤", m)], Verdict.DEPENDS),
    (fact(n * m, "≠", 391), [fact(2, "≤", n), fact(n, "≤", m)], Verdict.DEPENDS),
    (fact(n * n * n + m * m * m, "≠", k * k * k), [fact(1, "≤", n), fact(1, "≤", m), fact(1, "≤", k)], Verdict.UNKNOWN),
]


@pytest.mark.parametrize(("goal", "premises", "verdict"), ROWS, ids=[f"{g} if {p}" for g, p, _ in ROWS])
def test_verdicts(goal: SizeFact, premises: list[SizeFact], verdict: Verdict) -> None:
    decision = prove(goal, premises)
    assert decision.verdict is verdict
    assert (decision.counterexample is not None) is (verdict is Verdict.DEPENDS)
    breaks(decision, goal, premises)


def breaks(decision: ProofResult, goal: SizeFact, premises: list[SizeFact]) -> None:
    if decision.counterexample is not None:
        env = dict(decision.counterexample)
        assert not goal.holds(env)
        assert all(p.holds(env) for p in connected(goal, premises))


atoms = st.sampled_from([n, m, k, number(2), number(3), variable(CAPPED)])
sums = st.builds(lambda a, b, c: a * c + b, atoms, atoms, st.integers(1, 3))
opaque = st.one_of(
    sums, st.builds(quotient, sums, atoms), st.builds(remainder, sums, atoms), st.builds(maximum, sums, sums),
    st.builds(minimum, sums, sums), st.builds(lambda a, b: a * b, atoms, atoms),
)  # fmt: skip
facts = st.builds(SizeFact, st.sampled_from(list(Relation)), opaque, opaque)


def test_powers_are_not_asked() -> None:
    """`n+2` is no power of `2×n` where n is 0; of such a premise the solver knows a part, and no more."""
    assert solver.query_solver(SizeFact(Relation.POWER, n * 2, n + 2), []).verdict is Verdict.UNKNOWN


@example(SizeFact(Relation.EQUAL, n + n, n * 3), [SizeFact(Relation.POWER, n + n, n + n)])  # 0 is a power of 0
@settings(max_examples=120, deadline=None)
@given(facts, st.lists(facts, max_size=2))
def test_agrees_with_brute_force(goal: SizeFact, premises: list[SizeFact]) -> None:
    """The solver alone, on facts that smaller steps would often settle."""
    related = connected(goal, premises)
    answered = solver.query_solver(goal, related)
    if answered.example is not None:
        breaks(ProofResult(answered.verdict, answered.example), goal, related)
    if answered.verdict is Verdict.UNKNOWN:
        return
    for a, b, c in product(range(5), repeat=3):
        for low in range(a + 1):
            env = {N: a, M: b, K: c, CAPPED: low}
            if all(p.holds(env) for p in related):
                holds = goal.holds(env)
                assert holds or answered.verdict is not Verdict.PROVED, env
                assert not holds or answered.verdict is not Verdict.NEVER, env


def test_names_do_not_matter() -> None:
    def asked(a: SizeVariable, b: SizeVariable) -> str:
        return smt_query(fact(variable(a) * 2, "≤", quotient(variable(b), 3)), [fact(variable(b), "≠", 7)]).key

    assert asked(N, M) == asked(K, D)
    assert asked(N, M) != smt_query(fact(n * 2, "≤", quotient(m, 4)), [fact(m, "≠", 7)]).key


def hard() -> SizeFact:
    return fact(quotient(n * (n + 1), 2) * 2, "=", n * (n + 1))


def test_a_verdict_is_kept_on_disk(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert prove(hard()).verdict is Verdict.PROVED
    assert text_of(only_entry(own_cache))["verdict"] == "proved"
    monkeypatch.setattr(solver, "_verdicts", {})
    monkeypatch.setattr(z3_process, "solve", lambda *_: pytest.fail("asked again"))
    assert prove(hard()).verdict is Verdict.PROVED


OTHER = '{"format": 1, "verdict": "proved", "model": [], "question": "another"}'
DAMAGE = ["", "{", "[]", "null", '{"format": 1}', "[" * 5000, OTHER]


@pytest.mark.parametrize("text", DAMAGE, ids=range(len(DAMAGE)))
def test_damaged_entries_are_ignored(own_cache: Path, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    prove(hard())
    stored = only_entry(own_cache)
    whole, key = stored.read_text(), text_of(stored)["question"]
    solver.CACHE.write(key, text.encode())
    assert stored.read_text().endswith(text)
    monkeypatch.setattr(solver, "_verdicts", {})
    assert prove(hard()).verdict is Verdict.PROVED
    assert stored.read_text() == whole


def test_an_example_from_the_cache_is_checked(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    goal = fact(n + m + k + h + d, "≤", LARGE)
    prove(goal)
    entry = text_of(only_entry(own_cache))
    solver.write(entry["question"], {**entry, "model": [0] * 5})
    monkeypatch.setattr(solver, "_verdicts", {})
    found = prove(goal)
    assert found.verdict is Verdict.DEPENDS
    breaks(found, goal, [])


def test_the_cache_can_be_off_or_out_of_reach(own_cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(solver.SWITCH, "off")
    assert prove(hard()).verdict is Verdict.PROVED
    assert not own_cache.exists()
    monkeypatch.delenv(solver.SWITCH)
    monkeypatch.setattr(solver, "_verdicts", {})
    own_cache.parent.write_text("a file where the folder would be")
    assert prove(hard()).verdict is Verdict.PROVED


def test_a_question_leaves_this_process_without_z3() -> None:
    code = (
        "import sys\nfrom rho.lang.syntax.source import Source\nfrom rho.typechecker.check import check\n"
        "text = 'f : f64[n] → f64[m] → f64[n] where 2×n = 2×m\\nf ← {⍺+⍵}'\n"
        "assert not check(Source('t', text)).diagnostics\nprint('z3' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, solver.SWITCH: "off"})
    assert done.stdout.strip() == "False", done.stderr


def test_runs_in_turn_give_the_same_verdicts(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the same process and in a fresh one, nothing kept: what was asked before does not matter."""
    monkeypatch.setenv(solver.SWITCH, "off")

    def run(order: int) -> list[tuple[Verdict, object]]:
        monkeypatch.setattr(solver, "_verdicts", {})
        rows = ROWS[::order]
        found = [prove(goal, premises) for goal, premises, _ in rows]
        return [(decision.verdict, decision.counterexample) for decision in found][::order]

    first = run(1)
    assert run(-1) == first
    z3_process._process.stop()
    assert run(-1) == first


NOT_ASKED = [
    "1 2 3 + 10 20 30",
    "f ← {2 _⍴⍵}\nf ⍳6",
    "b ← 1 0 1\n(b⌿4 5 6) + b⌿1 2 3",
    "f : f64[n] → f64\nf ← {+/⍵×⍵}\nf 1 2 3",
    "f : f64[n] → f64[2 n÷2] where 2∣n\nf ← {2 _⍴⍵}\nf 1 2 3 4",
    "input x : f64[n]\n2 _⍴x",
    "input x : f64[n]\n3 _⍴x",
    "input x : f64[n m]\n100 200⍴x\n8 _⍴x",
    "param k ← 3\ninput x : f64[n]\nk↑x\nk↕x",
]


@pytest.mark.parametrize("program", NOT_ASKED)
def test_what_needs_no_solver_imports_none(program: str) -> None:
    code = (
        "import sys\nfrom rho.lang.syntax.source import Source\nfrom rho.typechecker.check import check\n"
        f"found = check(Source('t', {program!r}))\n"
        "assert found.core is not None, found.diagnostics\n"
        "print('z3' in sys.modules or 'rho.typechecker.proof.z3_process' in sys.modules)"
    )
    env = {**os.environ, solver.SWITCH: "off"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, check=True)
    assert done.stdout.strip() == "False"
