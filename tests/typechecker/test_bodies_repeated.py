"""The body of a signature is elaborated once: what calls repeat of it means what it means when it is elaborated for the call.

Random chains of annotated functions (guards on sizes and data, masks, loops, tuples, quantities, any rank) are checked in both
ways: they have the same messages, types and quantities, and the reference interpreter computes the same values.
"""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

from rho.lang.syntax.source import Source
from rho.tests.harness.share import seeds
from rho.tests.harness.tiers import by_reference
from rho.typechecker.check import CheckResult, check
from rho.typechecker.core import cloning
from rho.typechecker.diagnostics import show_type
from rho.typechecker.elaborate import context
from rho.typechecker.signatures import calls

BODIES = (
    "{⍵+≢⍵}", "{n≤2 : -⍵ ⋄ ⌽⍵}", "{0=n : ⍵ ⋄ ⍵+⊃⍵}", "{(2×⍵)-+/(⍵>0)⌿⍵}", "{{⍵÷2}⍣3⊢⍵}", "{{⍵++/⍵}⍣n⊢⍵}", "{n⍴((⍵>1)⌿⍵),2}",
    "{⍵[⍋⍵]}", "{+/⍵∘.×⍵}", "{(a b) ← (⍵ ⋄ ⌽⍵) ⋄ a-b}", "{+\\⍵}", "{s ← ⍵>+/⍵÷1⌈n ⋄ ⍵+(+/s⌿⍵)-+/(~s)⌿⍵}", "{⍵+{⍵×n}¨⍵}",
    "{1=2|n : ⍵ ⋄ (n>5) : 2×⍵ ⋄ 1+⍵}", "{k ← +/⍵>0 ⋄ k=n : ⍵ ⋄ -⍵}", "{⍵+i64 +/⍳n}", "{m ← ⍵>0 ⋄ ⍵+≢m⌿⍵}",
    "{(⍵,⍵)[n+⍳n]}", "{1↓⍵,+/⍵}", "{⍵⌈n⍴(1↓⍵),0}", "{,⍉1 n⍴⍵}", "{⍵[(n-1)-⍳n]}",
    "{⍵+⍵[2]}", "{⍵[⌊+/⍵]+⍵}", "{⍵[⌊2⌊⍵]}", "{n>1 : ⍵+⍵[2] ⋄ ⍵}",
)  # fmt: skip
JOINS = (
    "{F G ⍵}", "{(F ⍵)+G ⍵}", "{n=3 : F ⍵ ⋄ G ⍵}", "{{F ⍵}⍣2⊢G ⍵}", "{m ← 0<F ⍵ ⋄ n⍴(m⌿⍵),G ⍵}", "{+⌿F⍤1 ⊢ [⍵ ⋄ G ⍵]}",
    "{0<+/⍵ : F ⍵ ⋄ G 2×⍵}", "{(F ⍵)×≢(0<G ⍵)⌿⍵}", "{F 0⌈G ⍵}", "{(n↑⍵)+F G n⍴⍵}",
)  # fmt: skip
PICK = """\
positive : f64[n] → (bool[n] ⋄ f64[k≤n])
positive ← {m ← ⍵>0 ⋄ (m ⋄ m⌿⍵)}
shift : (k) → f64[n] → f64[n]
shift ← {n⍴k↓⍵,k⍴0.5}
any : T[..s] → T[×/s] where T num
any ← {,⍵}
pairs : idx<n>[m] → 0..ω f64[n] → f64[m]
pairs ← {⍵[⍺]}
"""
USES = (
    "F x", "F 3↑x", "F⍤1 ⊢ 2 3⍴F 0.5 1 2 3 4 ¯5", "(p v) ← positive F x ⋄ v+p⌿x", "2 shift F x", "(≢x) shift F x",
    "any 2 (≢x)⍴x,F x", "any 2 2 1⍴F 1 2 3.5 ¯1", "any F x", "(⌽⍳≢x) pairs F x", "F (x>0)⌿x", "(F (x>0)⌿x)+(x>0)⌿x", "F ⍬×0.5",
    "any ⍳≢x", "{F ⍵} x", "any⍤2 ⊢ 2 2 3⍴F 2 1 0.5",
)  # fmt: skip
INPUTS: tuple[list[float], ...] = ([], [0.5], [1.0, -2.0], [3.0, 0.25, -1.0], [0.0, 2.0, -3.5, 4.0, 1.0, -0.5, 8.0])


def program(seed: int) -> str:
    """A chain of annotated functions, applied in a few ways."""
    chance = random.Random(seed)
    lines, names = [PICK.rstrip()], []
    for at in range(chance.randrange(2, 7)):
        body = chance.choice(BODIES) if at < 2 or chance.random() < 0.3 else chance.choice(JOINS)
        for letter in "FG":
            body = body.replace(letter, chance.choice(names) if names else letter)
        quantity = chance.choice(("", "0..ω ", "ω "))
        names.append(f"f{at}")
        needs = chance.choice((" where n ≥ 2", "", "", "", "", ""))
        lines += [f"f{at} : {quantity}f64[n] → f64[n]{needs}", f"f{at} ← {body}"]
    lines.append("input x : f64[n]")
    lines += [chance.choice(USES).replace("F", chance.choice(names)) for _ in range(3)]
    return "\n".join(lines)


def said(result: CheckResult) -> str:
    """What the checker says, but for the numbers of run-time sizes; how often items of arrays without items are read is open, and
    so is whether an example is found that breaks a fact (E201) or none (E209)."""
    messages = [("E201" if d.code == "E209" else d.code, d.message, d.span, [note for note in d.notes if "neither a" not in note])
                for d in result.diagnostics]  # fmt: skip
    types = str([show_type(type_) for type_ in ({} if result.core is None else result.core.types).values()])
    quantities = [(q.name, str(q.grade)) for q in result.quantities() if "[0]" not in types and q.name in result.types]
    answer = [messages, dict(result.types), quantities]
    return re.sub(r"\bk\d+", "k", str(answer))


@pytest.mark.parametrize("seed", seeds(1_000))
def test_both_ways_mean_the_same(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = program(seed)
    repeated = check(Source("<test>", text))
    monkeypatch.setattr(calls, "_repeatable_body", lambda *arguments: None)
    elaborated = check(Source("<test>", text))
    assert said(repeated) == said(elaborated), text
    if repeated.core is not None and elaborated.core is not None:
        for x in INPUTS:
            first, second = [by_reference(core, {"x": np.array(x)}) for core in (repeated.core, elaborated.core)]
            assert str(first) == str(second), (text, x)


def test_most_programs_are_accepted() -> None:
    accepted = [check(Source("<test>", program(seed))).core is not None for seed in range(20)]
    assert sum(accepted) >= 10


@pytest.mark.parametrize(("body", "depth", "first"), [
    ("{F F ⍵}", 14, "{1+⍵}"), ("{(F ⍵)+F ⍵}", 11, "{1+⍵}"), ("{n≤4 : F F ⍵ ⋄ (F ⍵)+F ⍵}", 9, "{1+⍵}"),
    ("{F F ⍵}", 13, "{⍵+⍵[3]}"), ("{(F ⍵)+F ⍵}", 11, "{⍵[⌊+/⍵]+⍵}"), ("{0<+/⍵ : F F ⍵ ⋄ F ⍵}", 7, "{⍵+⍵[3]}"),
])
def test_a_chain_of_one_liners_is_no_expansion(body: str, depth: int, first: str) -> None:
    """Annotated functions that each call the one before twice; fourteen without signatures are E610.  An index that is checked
    when the program runs is in the first: its check is open in each call as it is at the definition."""
    warned = first != "{1+⍵}"
    type = f"f64[n] → f64[n]{' where n ≥ 2' * warned}"
    lines = [f"f0 : {type}", f"f0 ← {first}"]
    for at in range(1, depth + 1):
        lines += [f"f{at} : {type}", f"f{at} ← {body.replace('F', f'f{at - 1}')}"]
    result = check(Source("<test>", "\n".join([f"input x : f64[n]{' where n ≥ 2' * warned}", *lines, f"f{depth} x"])))
    assert [d.code for d in result.diagnostics] == ["W310"] * warned
    assert result.elaborated.context.nodes < context.NODE_BUDGET


@pytest.mark.parametrize("most_inlined", [cloning.MOST_INLINED, 0])
@pytest.mark.parametrize("call", ["g 1 2.5", "g ⍬×0.5", "g⍤1 ⊢ 2 2⍴1 2.5", "{3>≢⍵ : g ⍵ ⋄ ⍵} x"])
def test_an_index_that_the_sizes_of_a_call_decide_is_decided_there(
    call: str, most_inlined: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The index is checked in a function that the called one calls, inlined or shared: at the definition, sizes do not decide
    it."""
    monkeypatch.setattr(cloning, "MOST_INLINED", most_inlined)
    text = f"f : f64[n] → f64[n]\nf ← {{⍵+⍵[3]}}\ng : f64[n] → f64[n]\ng ← {{f f ⍵}}\ninput x : f64[n]\ng x\n{call}"
    assert [d.code for d in check(Source("<test>", text)).diagnostics] == ["W310", "E310"]


def test_a_call_in_an_arm_leaves_the_facts_of_the_caller(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(calls, "_repeatable_body", lambda *arguments: None)
    signature = "f64[n] → f64[n] where n ≥ 2"
    text = f"f : {signature}\nf ← {{⍵}}\ng : {signature}\ng ← {{n=3 : ⍵ ⋄ f ⍵}}\nh : {signature}\nh ← {{(g ⍵)+g ⍵}}"
    assert [d.code for d in check(Source("<test>", text)).diagnostics] == []
