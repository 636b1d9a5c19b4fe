"""Each rule on every vector of up to five items of {¯∞ ¯0 0 1 NaN}: the bits without rules, and those of the reference."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from share import share

from rho import backend
from rho.backend.graph.passes import pipeline
from rho.backend.graph.passes.rewriting import Preserves, RewriteRule
from rho.backend.library import sort
from rho.backend.reference.interpreter import interpret
from rho.backend.vm.values import from_numpy, to_numpy
from rho.lang.diagnostics.model import Refused, RhoError
from rho.tests.harness.tiers import MODES, agree, checked
from rho.typechecker.core.operations import Core

ITEMS = (-np.inf, -0.0, 0.0, 1.0, np.nan)
LONGEST = 5
RULES: tuple[RewriteRule, ...] = (*pipeline.RULES, *pipeline.TOLERANT_RULES, *pipeline.SIZED_RULES)
EXAMPLES = [(rule, text) for rule in RULES for text in rule.examples]


def accepted(text: str) -> tuple[Core, int]:
    """The program of a function of one vector, and the least length that it is for."""
    for least in range(LONGEST + 1):
        core = checked(f"input x : f64[n] where n ≥ {least}\noutput r ← {text} x\n")
        if core is not None:
            return core, least
    raise AssertionError(text)


def bits(value: Any) -> bytes:
    value = np.array(value)
    if value.dtype.kind == "f":
        value[np.isnan(value)] = np.nan
    return bytes(f"{value.dtype}{value.shape}", "utf-8") + value.tobytes()


def outcome(plan: backend.Plan, bound: backend.BoundGraph, x: Any) -> bytes | str:
    """The bits of the result, or the code of what failed."""
    try:
        return bits(backend.execute(plan, bound, {"x": x}).outputs["r"].value)
    except RhoError as failure:
        return failure.diagnostics[0].code


def by_reference(core: Core, x: Any) -> bytes | str:
    try:
        return bits(to_numpy(interpret(core, {"x": from_numpy(x)}, {}).outputs["r"]))
    except RhoError as failure:
        return failure.diagnostics[0].code


def test_every_rule_has_examples() -> None:
    for rule in RULES:
        assert rule.examples or rule.preserves is Preserves.TOLERANCE, rule.name


SOLVED = ["(⌹A)+.×v", "(⌹A)+.×B", "(⌹A)+.×v×2", "{(⌹A)+.×⍵}⍣3 ⊢ v", "(⌹⍉A)+.×A+.×v"]
INVERTED = ["⌹A", "v+.×⌹A", "P←⌹A ⋄ r←(P+.×v)+P+.×v×2", "(⌹B)+.×v"]


@pytest.mark.parametrize("text", SOLVED + INVERTED)
def test_solutions(text: str) -> None:
    """Of a square matrix, with what is said of one that is singular."""
    declared = "input A : f64[n n]\ninput v : f64[n]\ninput B : f64[n m]\n"
    first, _, last = text.rpartition(" ⋄ ")
    last = last.removeprefix("r←")
    core = checked(f"{declared}{first}\noutput r ← {last}\n")
    assert core is not None
    rng = np.random.default_rng(3)
    A, v, B = rng.standard_normal((6, 6)), rng.standard_normal(6), rng.standard_normal((6, 5))
    given = {"A": A, "v": v, "B": B}
    bound = backend.load(core, given)
    assert ("solved" in {note.rule for note in bound.graph.rewritten}) == (text in SOLVED)
    assert not agree(core, given)
    singular = {"A": np.ones((6, 6)), "v": v, "B": np.ones((6, 5))}
    found = []
    for without in (frozenset[str](), frozenset({"products"})):
        plain = backend.load(core, singular, without=without)
        with pytest.raises(RhoError) as failure:
            backend.execute(backend.plan(plain), plain, singular)
        diagnostic = failure.value.diagnostics[0]
        found.append((diagnostic.code, diagnostic.message, diagnostic.span))
    assert found[0] == found[1]


@pytest.mark.parametrize(("rule", "text"), EXAMPLES, ids=[f"{rule.name}: {text}" for rule, text in EXAMPLES])
def test_bits(rule: RewriteRule, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sort, "_LEAST", 1)
    core, least = accepted(text)
    found, compared = False, 0
    for length in range(least, LONGEST + 1):
        example = {"x": np.zeros(length)}
        try:
            bound, plain = backend.load(core, example), backend.load(core, example, without=frozenset({"rules"}))
        except Refused:
            continue  # it is for longer ones
        found |= rule.name in {note.rule for note in bound.graph.rewritten} or (not rule.says and bound.graph != plain.graph)
        plans = backend.plan(bound), backend.plan(plain)
        vectors = [np.array(items) for items in product(ITEMS, repeat=length)]
        for x in vectors:
            got, want = (outcome(plan, graph, x) for plan, graph in zip(plans, (bound, plain), strict=True))
            assert got == want, x
            compared += 1
        for x in share(vectors, seed=length):
            assert outcome(plans[0], bound, x) == by_reference(core, x), x
    assert found and compared >= len(ITEMS) ** LONGEST


RADICES = ["10 10 10", "0 24 60 60", "7⍴2", "0 3", "1 1", "7 6 1 10", "0 4096 4096 4096 4096 4096", "3", "2 4 8", "0 0 2"]


@pytest.mark.parametrize("radices", RADICES)
def test_digits_of_hard_integers(radices: str) -> None:
    """Quotients without a division are exact at the ends of the range; radices of 0 within stay a routine's."""
    x = np.array([0, 1, -1, 9, 10, -10, 12345, -98765, 2**53 + 1, -(2**53) - 1, 2**63 - 1, -(2**63), -(2**63) + 1, 2**62])
    core = checked(f"input x : i64[n]\noutput r ← (,{radices})⊤x\n")
    assert core is not None
    assert not agree(core, {"x": x})


@pytest.mark.parametrize("text", ["⍬⊥2×x", "(0⍴2)⊥1 3⍴⌊x", "⍬⊥(1 3⍴1.5)×x", "⍬⊥,1.5", "(,3)⊥0⍴x", "(⍳0)⊥1 0⍴x", "2⊥0⍴2×x"])
def test_a_number_in_no_radix(text: str) -> None:
    """Found by a net: one digit is extended to no radix, of which Horner's rule read the first."""
    assert not agree(f"input x : f64[1]\noutput r ← {text}\n", {"x": np.array([2.5])}, [*MODES, "no passes"])


LONG = ("p ← x⍳⌈/x\nr ← p,⌈/x", "p ← x⍳⌊/x\nr ← p,⌊/x", "r ← 10↑x[⍒x]", "r ← ¯10↑x[⍋x]", "r ← (9↑⍒x),9↑⍋x", "r ← x[⍋x][2000+⍳9]",
        "r ← x[20↑⍋x]", "r ← {⍵[⍒⍵]}⍤1 ⊢ 70 100⍴x", "r ← {3↑⍵[⍋⍵]}⍤1 ⊢ 7 1000⍴x")  # fmt: skip


@pytest.mark.parametrize("chosen", ["few", "zeros", "missing", "many"])
@pytest.mark.parametrize("text", LONG)
def test_long_vectors(text: str, chosen: str) -> None:
    """Selections, pieces of threads and rows: the bits without rules."""
    rng = np.random.default_rng(5)
    sources = {
        "few": rng.choice([-0.0, 0.0, 1.0, -1.0], 7000), "zeros": rng.choice([-0.0, 0.0], 7000),
        "missing": np.where(rng.random(7000) < 0.01, np.nan, rng.standard_normal(7000)), "many": rng.standard_normal(7000),
    }  # fmt: skip
    core = checked(f"input x : f64[n] where n = 7000\n{text}\noutput r\n")
    assert core is not None
    given = {"x": sources[chosen]}
    graphs = backend.load(core, given), backend.load(core, given, without=frozenset({"rules"}))
    assert graphs[0].graph.rewritten
    found = [backend.execute(backend.plan(graph), graph, given).outputs["r"].value for graph in graphs]
    assert bits(found[0]) == bits(found[1])
