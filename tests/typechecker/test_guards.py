"""Guards are facts: what a condition says holds in its arm, and its opposite behind it (accepted programs, beside NumPy)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from rho.lang.syntax.source import Source
from rho.shell.console.apply_fixes import apply_safe_fixes
from rho.shell.pipeline import Session
from rho.tests.harness.tiers import MODES, PLANS, agree, outcome
from rho.typechecker.core.operations import CoreBranch, all_ops

Vector = Any
NAN = float("nan")


def _median(x: Vector) -> float:
    return float(np.median(x)) if x.size else NAN


def _codes(x: Vector) -> Vector:
    seen: dict[int, int] = {}
    return np.array([seen.setdefault(int(item), len(seen)) for item in x], np.int64)


def _firsts(x: Vector) -> Vector:
    return np.array([*dict.fromkeys(x.tolist())], np.int64)


def _pairs(x: Vector) -> Vector:
    a, b = _codes(x), _codes(x % 2)
    width = len(set(b.tolist()))
    return np.bincount(a * width + b, minlength=len(set(a.tolist())) * width)


X = "input x : i64[n]\ninput i : i64\n"
Y = X + "y ← (x>3)⌿x\n"

ACCEPTED: dict[str, tuple[str, Callable[[Vector, int], Any]]] = {
    # the snippets of an analyst's day
    "filter, then group": ("use set\n" + Y + "(u c) ← set.classes y\noutput a ← c", lambda x, i: _codes(x[x > 3])),
    "filter, then group, with one more": (
        "use set\n" + Y + "(u c) ← set.classes 0,y\noutput a ← c", lambda x, i: _codes(np.append(0, x[x > 3]))),
    "sums by group of a filter": (
        "use set\n" + Y + "(u c) ← set.classes y\noutput a ← (≢u) +⌸ (c ⋄ y)",
        lambda x, i: np.bincount(_codes(x[x > 3]), x[x > 3]).astype(np.int64) if (x > 3).any() else np.zeros(0, np.int64)),
    "the median of a filter": ("use stats\n" + Y + "output a ← stats.median y", lambda x, i: _median(x[x > 3])),
    "the median behind a guard": (
        "use stats\n" + Y + "output a ← {0=≢⍵ : ⎕nan ⋄ stats.median ⍵} y", lambda x, i: _median(x[x > 3])),
    "windows behind a guard": (
        Y + "output a ← {3>≢⍵ : 0 ⋄ ⌈/3+/⍵} y",
        lambda x, i: np.convolve(x[x > 3], [1, 1, 1], "valid").max() if (x > 3).sum() >= 3 else 0),
    "a count as the length of a matrix": (X + "output a ← ((+/x>3) 4)⍴'ab'", lambda x, i: np.resize(
        np.array(["a", "b"]), (int((x > 3).sum()), 4))),
    "two keys": ("use set\n" + X + "(p a) ← set.classes x ⋄ (q b) ← set.classes 2|x\n"
                 "output c ← ((≢p)×≢q) +⌸ ((a×≢q)+b ⋄ 1)", lambda x, i: _pairs(x)),
    # more of the kind
    "the largest of all": (X + "output a ← {0=≢⍵ : ¯1 ⋄ ⌈/⍵} x", lambda x, i: x.max() if x.size else -1),
    "the opposite comes first": (X + "output a ← {0<≢⍵ : ⌈/⍵ ⋄ ¯1} x", lambda x, i: x.max() if x.size else -1),
    "not, and a literal on the right": (X + "output a ← {~(≢⍵)=0 : ⊃⍵ ⋄ ¯1} x", lambda x, i: x[0] if x.size else -1),
    "an index that is checked by hand": (
        X + "output a ← {(⍵<0)∨⍵≥≢x : ¯1 ⋄ x[⍵]} i", lambda x, i: x[i] if 0 <= i < x.size else -1),
    "an index between two bounds": (
        X + "output a ← {(0≤⍵)∧⍵<≢x : x[⍵] ⋄ ¯1} i", lambda x, i: x[i] if 0 <= i < x.size else -1),
    "guards one after another": (
        X + "output a ← {⍵≥≢x : ¯1 ⋄ ⍵<0 : ¯2 ⋄ x[⍵]} i", lambda x, i: -1 if i >= x.size else -2 if i < 0 else x[i]),
    "all indices at once": (
        X + "output a ← {∧/(0≤⍵)∧⍵<≢x : +/x[⍵] ⋄ ¯1} x",
        lambda x, i: x[x].sum() if ((x >= 0) & (x < x.size)).all() else -1),
    "by the extremes of the indices": (
        X + "output a ← {0=≢⍵ : 0 ⋄ (0>⌊/⍵)∨(≢x)≤⌈/⍵ : ¯1 ⋄ +/x[⍵]} x",
        lambda x, i: 0 if not x.size else x[x].sum() if x.min() >= 0 and x.max() < x.size else -1),
    "does any hold": (X + "m ← x>3\noutput a ← {∨/m : ⌊/m⌿x ⋄ ¯1} 0", lambda x, i: x[x > 3].min() if (x > 3).any() else -1),
    "how many hold": (X + "output a ← {2≤+/x>3 : ((x>3)⌿x)[1] ⋄ ¯1} 0", lambda x, i: x[x > 3][1] if (x > 3).sum() > 1 else -1),
    "do all hold": (X + "output a ← {∧/x>3 : +/x-(x>3)⌿x ⋄ ¯1} 0", lambda x, i: 0 if (x > 3).all() else -1),
    "the shape of the transpose": (
        X + "A ← 2 n⍴x\noutput a ← {∧/(⍴⍵)=⍴⍉⍵ : +/,⍵-⍉⍵ ⋄ ¯1} A", lambda x, i: 0 if x.size == 2 else -1),
    "some length differs": (
        X + "A ← 2 n⍴x\noutput a ← {∨/(⍴⍵)≠⍴⍉⍵ : ¯1 ⋄ +/,⍵-⍉⍵} A", lambda x, i: 0 if x.size == 2 else -1),
    "every axis has an item": (X + "output a ← {∧/0<⍴⍵ : ⍵[0;0] ⋄ ¯1} 1 n⍴x", lambda x, i: x[0] if x.size else -1),
    "not every axis is empty": (X + "output a ← {∧/0=⍴⍵ : ¯1 ⋄ ⊃⍵} x", lambda x, i: x[0] if x.size else -1),
    "an integer that is the length": (
        X + "output a ← {⍵=≢x : +/(⍳⍵)+x ⋄ ¯1} i", lambda x, i: (np.arange(x.size) + x).sum() if i == x.size else -1),
    "an integer that is no more than the length": (
        X + "output a ← {(0≤⍵)∧⍵≤≢x : ≢⍵↑x ⋄ ¯1} i", lambda x, i: i if 0 <= i <= x.size else -1),
    "as many hold as there are elements": (
        X + "output a ← {3≤+/⍵>3 : ⍵[2] ⋄ ¯1} x", lambda x, i: x[2] if (x > 3).sum() > 2 else -1),
    "more hold than an empty array has": (
        X + "output a ← {(+/⍵>3)=3 : +/1 2 3+(⍵>3)⌿⍵ ⋄ ¯1} 0⍴x", lambda x, i: -1),
    "either of two lengths": (X + "output a ← {(1=≢⍵)∨2=≢⍵ : ⊃⍵ ⋄ ¯1} x", lambda x, i: x[0] if x.size in (1, 2) else -1),
    "a shape behind two guards": (
        X + "output a ← {2>≢⍵ : 0 0⍴⍵ ⋄ 0≠2|≢⍵ : 0 0⍴⍵ ⋄ (2,⌊(≢⍵)÷2)⍴⍵} x",
        lambda x, i: x.reshape(2, -1) if x.size >= 2 and x.size % 2 == 0 else x[:0].reshape(0, 0)),
    "equal lengths": (X + "y ← (x>3)⌿x\nz ← (x<2)⌿x\noutput a ← {(≢y)=≢z : +/y×z ⋄ ¯1} 0",
                      lambda x, i: (x[x > 3] * x[x < 2]).sum() if (x > 3).sum() == (x < 2).sum() else -1),
    "a number as a length": (X + "output a ← {(0≤⍵)∧⍵≤5 : ⍵⍴7 ⋄ 1⍴¯1} i", lambda x, i: np.full(i, 7) if 0 <= i <= 5 else [-1]),
    "in a library function": ("use stats\n" + Y + "output a ← {1≤≢⍵ : stats.range ⍵ ⋄ ¯1} y",
                              lambda x, i: float(np.ptp(x[x > 3])) if (x > 3).any() else -1.0),
    "in the loop's body": (
        X + "output a ← {(⍵<0)∨(≢x)≤⍵ : ⍵ ⋄ ⍵+x[⍵]-1}⍣3 ⊢ i",
        lambda x, i: _steps(x, i)),
    "for each cell": (X + "output a ← {{(⍵<0)∨⍵≥≢x : ¯1 ⋄ x[⍵]}¨⍵} x",
                      lambda x, i: np.array([x[k] if 0 <= k < x.size else -1 for k in x], np.int64)),
    "an elementwise choice": (X + "output a ← {⍵<0 : 0 ⋄ ⍵>3 : 3 ⋄ 2×⍵}¨x-2", lambda x, i: np.where(
        x < 2, 0, np.where(x > 5, 3, 2 * (x - 2)))),
    "equal shapes": (X + "y ← (x>3)⌿x\nz ← (x<2)⌿x\noutput a ← {(⍴y)≡⍴z : +/y×z ⋄ ¯1} 0",
                     lambda x, i: (x[x > 3] * x[x < 2]).sum() if (x > 3).sum() == (x < 2).sum() else -1),
    "other shapes come first": (X + "y ← (x>3)⌿x\nz ← (x<2)⌿x\noutput a ← {(⍴y)≢⍴z : ¯1 ⋄ +/y×z} 0",
                                lambda x, i: (x[x > 3] * x[x < 2]).sum() if (x > 3).sum() == (x < 2).sum() else -1),
    "a written shape": (
        Y + "output a ← {(,2)≡⍴⍵ : +/⍵×3 4 ⋄ ¯1} y", lambda x, i: x[x > 3] @ [3, 4] if (x > 3).sum() == 2 else -1),
    "an item of a shape": (
        Y + "z ← ∪x\noutput a ← {(⊃⍴y)=⊃⌽⍴z : y+.×z ⋄ ¯1} 0",
        lambda x, i: x[x > 3] @ _firsts(x) if (x > 3).sum() == len(_firsts(x)) else -1),
    "equal counts of two masks": (X + "output a ← {(+/x>3)=+/x<2 : +/((x>3)⌿x)×(x<2)⌿x ⋄ ¯1} 0",
                                  lambda x, i: (x[x > 3] * x[x < 2]).sum() if (x > 3).sum() == (x < 2).sum() else -1),
    "as many as a mask keeps": (X + "m ← x>3\noutput a ← ((⍳+/m)×m⌿x),(+/m)↑m⌿x",
                               lambda x, i: np.append(np.arange((x > 3).sum()) * x[x > 3], x[x > 3])),
    "equal masks": (X + "output a ← {(x>3)≡x>4 : +/((x>3)⌿x)-(x>4)⌿x ⋄ ¯1} 0", lambda x, i: -1 if (x == 4).any() else 0),
    "a mask in a mask": (X + "m ← x>3\noutput a ← {∧/m≤x>i : ⌊/((x>i)⌿x)[⍳+/m],9 ⋄ ¯1} 0",
                         lambda x, i: min([9, *x[x > i][: (x > 3).sum()]]) if ((x > i) >= (x > 3)).all() else -1),
    "an exit of the argument's length": (Y + "output a ← x+{(≢x)=≢⍵ : ⍵ ⋄ x} y", lambda x, i: 2 * x),
    "exits of one length, which the first gives": (
        Y + "output a ← x+{(≢x)≠≢⍵ : x ⋄ ⌽⍵} y", lambda x, i: x + x[::-1] if (x > 3).all() else 2 * x),
    "a default where nothing is left": (Y + "z ← {0=≢⍵ : ,0 ⋄ ⍵} y\noutput a ← ⌈/z", lambda x, i: x[x > 3].max(initial=0)),
}  # fmt: skip


REFUSED = {
    "⌈/y": "E204", "⌊/y": "E204", "⌈⌿B": "E204", "⊃y": "E204", "⊃⌽y": "E204", "{⍺⌊⍵}/y": "E204",
    "7+/y": "E202", "3↕y": "E202", "2 3↕B": "E202", "2 _⍴y": "E201", "2-/y": "E202",
    "stats.range y": "E201", "sort.largest y": "E201", "1 1 1 stats.moving f64 y": "E201", "⎕fft f64 y": "E204",
    "{⌈/⍵} y": "E204", "(⌈/-⌊/) y": "E204", "+/{⊃⍵}y": "E204", "⌈/0↓y": "E204",
    "(≢x) {⍺+⊃⍵} y": "E204", "i⍴7": "E403", "(i 2)⍴7": "E403", "⍳i": "E403", "i↑x": "E403", "i +⌸ (0⌈0⌊x ⋄ 1)": "E403",
    "y⌹1,⍪y": "E140", "⌹⍉⍪y": "E140",
}  # fmt: skip
"""Expressions that need a fact about sizes or a bound that only the run knows, with their code."""


@pytest.mark.parametrize("expression", REFUSED)
def test_what_needs_a_fact_is_offered_a_line_that_checks(expression: str) -> None:
    text = f"use stats\nuse sort\n{Y}input A : f64[n 3]\nB ← (x>3)⌿A\noutput a ← {expression}\n"
    errors = Session().check(Source("<test>", text)).diagnostics
    assert {(error.code, error.span.file) for error in errors} == {(REFUSED[expression], "<test>")}
    assert all(error.fixes[0].edits for error in errors)
    after = apply_safe_fixes(Source("<test>", text), lambda text: Session().check(text).diagnostics)
    assert after.count == 1 and Session().check(after.source).core is not None, after.source.text


@pytest.mark.parametrize("expression", [name for name, code in REFUSED.items() if code != "E403"])
def test_the_counterexample_of_a_refused_program_is_one(expression: str) -> None:
    text = f"use stats\nuse sort\n{Y}input A : f64[n 3]\nB ← (x>3)⌿A\noutput a ← {expression}\n"
    error = Session().check(Source("<test>", text)).diagnostics[0]
    (size,) = (error.counterexample or {}).values()
    sized = text.replace("(x>3)⌿", f"{size}↑")
    assert {d.code for d in Session().check(Source("<test>", sized)).diagnostics if d.is_error} & {error.code, "E101", "E200"}


BRANCHES = {
    "{0=≢⍵ : 0 ⋄ ⌈/⍵} x": True, "{(⍵<0)∨⍵≥≢x : 0 ⋄ x[⍵]} i": True, "{∨/x>3 : ⌈/(x>3)⌿x ⋄ 0} 0": True,
    "{5<≢⍵ : 1 ⋄ 2} x": False, "{i<3 : 1 ⋄ 2} x": False, "{i<3 : +/x ⋄ ×/x} x": False, "{0=≢⍵ : 0 ⋄ +/⍵} x": False,
}  # fmt: skip


@pytest.mark.parametrize("expression", BRANCHES)
def test_an_arm_waits_for_its_condition_only_where_it_needs_it(expression: str) -> None:
    core = Session().check(Source("<test>", f"{X}output a ← {expression}")).core
    assert core is not None
    assert [op.needs_condition for op in all_ops(core.block.ops) if isinstance(op, CoreBranch)] == [BRANCHES[expression]]


DECIDED = [
    "{n≠n : ⍵[9] ⋄ 1} x", "{n=n : 1 ⋄ ⍵[9]} x", "{3≤≢⍵ : 1 ⋄ ⍵[7]} 1 2 3", "{(0=≢⍵)∨1<≢⍵ : 1 ⋄ ⊃⍵} x,x",
    "{0=≢⍵ : 1 ⋄ 0<≢⍵ : 2 ⋄ ⍵[9]} x", "{0≤≢⍵ : 1 ⋄ ⍵[9]} x",
]  # fmt: skip


@pytest.mark.parametrize("expression", DECIDED)
def test_a_guard_that_sizes_decide_leaves_one_arm(expression: str) -> None:
    checked = Session().check(Source("<test>", f"{X}output a ← {expression}"))
    assert checked.core is not None and not checked.diagnostics


def test_what_an_arm_needs_is_checked_at_load_where_its_condition_holds() -> None:
    text = "input x : i64[n]\ninput z : i64[m]\noutput a ← {3<≢⍵ : +/⍵+z ⋄ 0} x"
    checked = Session().check(Source("<test>", text))
    assert checked.core is not None and [d.code for d in checked.diagnostics] == ["W201"]
    for n, m, wanted in ((0, 5, 0), (3, 1, 0), (4, 4, 4)):
        arguments = {"x": np.ones(n, np.int64), "z": np.zeros(m, np.int64)}
        assert not agree(checked.core, arguments, PLANS, wanted=[np.int64(wanted)])
    assert outcome(checked.core, {"x": np.ones(4, np.int64), "z": np.zeros(5, np.int64)}, "plan") == "E701"


def _steps(x: Vector, i: int) -> int:
    for _ in range(3):
        i = i if i < 0 or i >= x.size else i + int(x[i]) - 1
    return i


BORDERS = [[], [3], [4], [5, 1], [4, 4], [1, 0], [0, 1, 4, 9, 9], [2, 2, 2, 2, 2, 5, 4]]


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_a_guard_says_holds_in_its_arm(name: str) -> None:
    text, wanted = ACCEPTED[name]
    checked = Session().check(Source("<test>", text))
    assert checked.core is not None and not checked.diagnostics, [d.message for d in checked.diagnostics]
    for x in BORDERS:
        for i in (-1, 0, 1, len(x) - 1, len(x), 5, 6):
            data = np.array(x, np.int64)
            value = np.asarray(wanted(data, i))
            value = value.astype(np.float64) if value.dtype.kind == "f" else value
            problems = agree(checked.core, {"x": data, "i": np.int64(i)}, (*PLANS, *MODES) if i == 1 else (), wanted=[value])
            assert not problems, (x, i, problems)
