"""The type each primitive function gives, over inputs of symbolic size; what must not be reported is checked too."""

from __future__ import annotations

import pytest

from rho.lang.source import Source
from rho.typechecker.check import check

INPUTS = """
input x : f64[n]
input x2 : f64[n]
input y : f64[m]
input A : f64[n m]
input B : f64[m n]
input S : f64[n n]
input v : i64[n]
input i : i64
input w : i32[n]
input u : u8[n]
input f : f32[n]
input z : c128[n]
input g : c64[n]
input b : bool[n]
input b2 : bool[n]
input t : char[n]
input T3 : f64[n m p]
param k ← 3
"""

CLEAN = [
    # agreement
    ("x+x2", "f64[n]"), ("A+x", "f64[n m]"), ("x-A", "f64[n m]"), ("T3×A", "f64[n m p]"), ("A×2", "f64[n m]"),
    ("(x,x2)+x2,x", "f64[2×n]"), ("(x,y)+y,x", "f64[n+m]"), ("(1↓x)-¯1↓x", "f64[0⌈n-1]"),
    # lengths that are worked out
    ("(⊃1⌽3 5)⍴0", "i64[5]"), ("(1⌷1⌽3 5 7)⍴0", "i64[7]"), ("(⊃(,1)⌽3 5)⍴0", "i64[5]"), ("(⊃1⊖3 5)⍴0", "i64[5]"),
    ("(⊃⌽3 5)⍴0", "i64[5]"), ("(|(≢x)-3)⍴1", "i64[(3-n)⌈n-3]"), ("(|3-≢x)⍴1", "i64[(3-n)⌈n-3]"), ("(|-≢x)⍴1", "i64[n]"),
    ("(×≢x)⍴1", "i64[1⌊n]"),
    ("(-¯3)⍴1", "i64[3]"), ("(|¯3)⍴1", "i64[3]"), ("(×3)⍴1", "i64[1]"),
    ("(⊃1↓3 5)⍴0", "i64[5]"), ("(1⌷¯2↑3 5)⍴0", "i64[5]"), ("(3+(2*62)-2*62)⍴1", "i64[3]"),
    # conversions
    ("i64 t", "i64[n]"), ("i32 t", "i32[n]"), ("u8 t", "u8[n]"), ("char v", "char[n]"), ("char u", "char[n]"),
    # element types
    ("1+2", "i64"), ("2.5+1", "f64"), ("w+1", "i32[n]"), ("u⌈1", "u8[n]"), ("w+v", "i64[n]"), ("w+u", "i32[n]"),
    ("b+1", "i64[n]"), ("b+b2", "i64[n]"), ("b⌈b2", "i64[n]"), ("-b", "i64[n]"), ("f+1", "f32[n]"), ("f+1.5", "f32[n]"),
    ("f+u", "f32[n]"), ("f×b", "f32[n]"), ("f+w", "f64[n]"), ("f+v", "f64[n]"), ("f+x", "f64[n]"), ("v+1.5", "f64[n]"),
    ("z+1", "c128[n]"), ("g+x", "c128[n]"), ("g+f", "c64[n]"), ("g+1.5", "c64[n]"), ("f+1J2", "c64[n]"), ("x+1J2", "c128[n]"),
    ("v÷v", "f64[n]"), ("w÷2", "f64[n]"), ("f÷2", "f32[n]"), ("√v", "f64[n]"), ("√f", "f32[n]"), ("⌊x", "i64[n]"),
    ("⌈f", "i64[n]"), ("⌊z", "c128[n]"), ("|z", "f64[n]"), ("|g", "f32[n]"), ("|w", "i32[n]"), ("×x", "f64[n]"),
    ("!v", "f64[n]"), ("v*2", "i64[n]"), ("v*¯1", "f64[n]"), ("v*v", "f64[n]"), ("2*k", "i64"), ("x*2", "f64[n]"),
    ("○v", "f64[n]"), ("1○x", "f64[n]"), ("9○z", "f64[n]"), ("1○z", "c128[n]"), ("¯12○x", "c128[n]"), ("f>0.1", "bool[n]"),
    ("u<300", "bool[n]"), ("t='a'", "bool[n]"), ("t=1", "bool[n]"), ("z=0", "bool[n]"), ("v+2147483648", "i64[n]"),
    ("+z", "c128[n]"), ("+b", "i64[n]"), ("+x", "f64[n]"),
    # truth
    ("~b", "bool[n]"), ("b∧b2", "bool[n]"), ("b∧1", "bool[n]"), ("b∨v", "i64[n]"), ("12∨18", "i64"), ("b⍲b2", "bool[n]"),
    ("x≡x2", "bool"), ("x≢A", "bool"), ("≠v", "bool[n]"), ("b¿(x⋄x2)", "f64[n]"), ("b¿(x⋄0)", "f64[n]"), ("b¿(v⋄1)", "i64[n]"),
    # shape
    ("≢x", "i64"), ("⍴A", "i64[2]"), ("(⍴A)⍴0", "i64[n m]"), ("(⌽⍴A)⍴0", "i64[m n]"), ("2 3⍴x2", "f64[2 3]"),
    ("(≢x)⍴1", "i64[n]"), ("k k⍴0", "i64[k k]"), ("((⍴A),2)⍴0", "i64[n m 2]"), ("(2×≢x)⍴0", "i64[2×n]"),
    ("(⌊(≢x)÷2)⍴0", "i64[n÷2]"), ("(⌈(≢x)÷2)⍴0", "i64[(n+1)÷2]"), ("(×/⍴A)⍴0", "i64[n×m]"), ("((≢x)⌈≢y)⍴0", "i64[n⌈m]"),
    ("(2|≢x)⍴0", "i64[2|n]"), (",A", "f64[n×m]"), (",5", "i64[1]"), ("⍪x", "f64[n 1]"), ("⍪T3", "f64[n m×p]"),
    (",[0 1]T3", "f64[n×m p]"), (",[1 2]T3", "f64[n m×p]"), (",[0.5]x", "f64[n 1]"), (",[¯0.5]x", "f64[1 n]"),
    ("⌽A", "f64[n m]"), ("⊖A", "f64[n m]"), ("⌽[0]A", "f64[n m]"), ("1⌽A", "f64[n m]"), ("v⌽A", "f64[n m]"),
    ("v⊖B", "f64[m n]"), ("⍉A", "f64[m n]"), ("⍉T3", "f64[p m n]"), ("1 0⍉A", "f64[m n]"), ("0 0⍉A", "f64[n⌊m]"),
    ("2 0 1⍉T3", "f64[m p n]"), ("0 0⍉S", "f64[n]"), ("⊢A", "f64[n m]"), ("x⊣A", "f64[n]"), ("x⊢A", "f64[n m]"),
    ("↑A", "f64[n m]"),
    # join
    ("x,y", "f64[n+m]"), ("x,1", "f64[n+1]"), ("b,1", "bool[n+1]"), ("b,2", "i64[n+1]"), ("v,1.5", "f64[n+1]"),
    ("A,x", "f64[n m+1]"), ("A⍪y", "f64[n+1 m]"), ("A,0", "f64[n m+1]"), ("A⍪0", "f64[n+1 m]"), ("A,A", "f64[n 2×m]"),
    ("A⍪A", "f64[2×n m]"), ("x,[0.5]x2", "f64[n 2]"), ("x,[¯0.5]x2", "f64[2 n]"), ("x⍪x2", "f64[2×n]"),
    ("A,[0]A", "f64[2×n m]"), ("'ab','c'", "char[3]"), ("⍬,x", "f64[n]"), ("'',5", "i64[1]"),
    # take and drop
    ("3↑x", "f64[3]"), ("¯3↑x", "f64[3]"), ("k↑x", "f64[k]"), ("(-k)↑x", "f64[k]"), ("2 2↑A", "f64[2 2]"),
    ("1↓x", "f64[0⌈n-1]"), ("1↓3↑x", "f64[2]"), ("¯1↓x", "f64[0⌈n-1]"), ("1 1↓A", "f64[0⌈n-1 0⌈m-1]"), ("(≢x)↑A", "f64[n m]"),
    ("2↑[1]A", "f64[n 2]"), ("2 3↑5", "i64[2 3]"), ("(k+1)↓(k+3)⍴0", "i64[2]"), ("1↓⍴T3", "i64[2]"),
    # positions and search
    ("⍳5", "idx<5>[5]"), ("⍳≢x", "idx<n>[n]"), ("⍳k", "idx<k>[k]"), ("⍳2 3", "i64[2 3 2]"), ("⍳⍴A", "i64[n m 2]"),
    ("⍳,3", "idx<3>[3]"), ("⍳1e3", "idx<1000>[1000]"), ("2 3⍴⍳6", "idx<6>[2 3]"), ("1+⍳5", "i64[5]"),
    ("1+⍳≢x", "int<1..n>[n]"), ("⌽⍳≢x", "idx<n>[n]"), ("x⍳3", "int<0..n>"), ("x⍳y", "int<0..n>[m]"), ("A⍳y", "int<0..n>"),
    ("t⍳'ab'", "int<0..n>[2]"), ("t⍳1", "i64"), ("x∊y", "bool[n]"), ("A∊y", "bool[n m]"), ("'ab'⍷t", "bool[n]"),
    ("x⍸y", "i64[m]"), ("⍋x", "perm<n>"), ("⍒A", "perm<n>"), ("⍋t", "perm<n>"), ("'ab'⍋t", "perm<n>"), ("⌽⍋x", "perm<n>"),
    ("(⍋x)[⍋x]", "perm<n>"), ("(⍋x)⌷x", "f64[n]"), ("x[⍋x]", "f64[n]"), ("(⍳≢x)⌷A", "f64[n m]"), ("S[⍳≢x;⍳≢x]", "f64[n n]"),
    ("(≢x)|v", "i64[n]"), ("3|v", "i64[n]"), ("k 4⍴x", "f64[k 4]"),
    # run-time sizes
    ("b⌿x", "f64[k2≤n]"), ("b⌿A", "f64[k2≤n m]"), ("(b⌿x)+b⌿x2", "f64[k2≤n]"), ("(b⌿x)×≢b⌿x", "f64[k2≤n]"),
    ("⍸b", "idx<n>[k2≤n]"), ("⍸A>0", "i64[k2≤n×m 2]"), ("(⍸b)⌷x", "f64[k2≤n]"), ("x[⍸b]+b⌿x2", "f64[k2≤n]"),
    ("∪x", "f64[k2≤n]"), ("x~y", "f64[k2≤n]"), ("x∩y", "f64[k2≤n]"), ("x∪y", "f64[n+k2≤n+m]"), ("(b⌿x),b2⌿x", "f64[k2+k3≤2×n]"),
    ("≢b⌿x", "i64"), ("⍳+/b", "idx<k2>[k2≤n]"), ("(+/b)↑x", "f64[k2≤n]"), ("(-+/b)↑x", "f64[k2≤n]"),
    ("⍳10⌊0⌈i", "idx<k2>[k2≤10]"), ("+/b⌿x", "f64"), ("1 0 1⌿3↑x", "f64[2]"), ("2 0 3/1 2 3", "i64[5]"),
    ("1 ¯2 1/1 2 3", "i64[4]"), ("2/x", "f64[2×n]"), ("k/x", "f64[n×k]"), ("0/x", "f64[0]"), ("1 0 1\\5 6", "i64[3]"),
    ("b\\b⌿x", "f64[n]"), ("2/[0]A", "f64[2×n m]"), ("0 1/'ab'", "char[1]"), ("1 0 1/5", "i64[2]"),
    # numeric
    ("2⊥v", "i64"), ("2⊥A", "f64[m]"), ("2 2 2⊤v", "i64[3 n]"), ("2⊤5", "i64"), ("⌹S", "f64[n n]"), ("x⌹S", "f64[n]"),
    ("S⌹S", "f64[n n]"), ("⌹x", "f64[n]"), ("⌹2.0", "f64"), ("42?3", "f64[3]"), ("42?⍴A", "f64[n m]"), ("1 2?k", "f64[k]"),
    ("(1⋄2)?3", "f64[3]"), ("42?⍬", "f64"), ("f32 x", "f32[n]"), ("i64 x", "i64[n]"), ("u8 3", "u8"), ("c128 x", "c128[n]"),
    ("bool v", "bool[n]"), ("i64 t", "i64[n]"), ("char v", "char[n]"), ("f64 v", "f64[n]"), ("⎕erf x", "f64[n]"),
    ("⎕erf v", "f64[n]"), ("⎕fft 3↑x", "c128[3]"), ("⎕rfft 4↑x", "c128[3]"), ("⎕irfft 3↑z", "f64[4]"), ("⎕det S", "f64"),
    ("⎕cholesky S", "f64[n n]"), ("⎕qr A", "(f64[n n⌊m] ⋄ f64[n⌊m m])"), ("⎕svd A", "(f64[n n⌊m] ⋄ f64[n⌊m] ⋄ f64[n⌊m m])"),
    ("⎕eigh S", "(f64[n] ⋄ f64[n n])"), ("2↕5↑x", "f64[4 2]"), ("2 2↕3 3⍴0", "i64[2 2 2 2]"), ("⊃3↑x", "f64"), ("⊃5", "i64"),
    ("1⊃3↑x", "f64"), ("0 1⊃2 2↑A", "f64"), ("1⌷2 2↑A", "f64[2]"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "wanted"), CLEAN)
def test_type(expression: str, wanted: str) -> None:
    result = check(Source("<test>", INPUTS + expression))
    assert [f"{d.code}: {d.message}" for d in result.diagnostics] == []
    assert result.last == wanted


GUARDED = [
    ("x+y", "f64[n]", "n = m", {"n": 0, "m": 1}), ("A+y", "f64[n m]", "n = m", {"n": 0, "m": 1}),
    ("A⍪x", "f64[n+1 m]", "m = n", None), ("2↕x", "f64[n-1 2]", "2 ≤ n", {"n": 0}), ("⊃x", "f64", "1 ≤ n", {"n": 0}),
    ("b/A", "f64[n k2≤m]", "n = m", None), ("1 0 1/x", "f64[2]", "3 = n", None), ("⌹A", "f64[m n]", "m ≤ n", None),
    ("⎕fft x", "c128[n]", "1 ≤ n", {"n": 0}), ("((≢x)÷2)↑x", "f64[n÷2]", "2 ∣ n", {"n": 1}),
    ("(⌊(≢y)÷≢x)⍴0", "i64[m÷n]", "1 ≤ n", {"n": 0}), ("((≢x)-1)⍴0", "i64[n-1]", "0 ≤ n-1", {"n": 0}),
    ("⎕det A", "f64", "n = m", None), ("2⊥x⊣y⊥x", "f64", "m = n", None), ("y⍷x⊣b/y", "bool[n]", "n = m", None),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "wanted", "goal", "example"), GUARDED)
def test_what_depends_on_inputs_is_guarded_at_load(
    expression: str, wanted: str, goal: str, example: dict[str, int] | None
) -> None:  # fmt: skip
    result = check(Source("<test>", INPUTS + expression))
    assert [d.code for d in result.diagnostics] == ["W201"]
    assert result.diagnostics[0].goal == goal
    assert example is None or result.diagnostics[0].counterexample == example
    assert result.core is not None
    assert [str(guard.fact) for guard in result.core.guards] == [goal]
    assert result.last == wanted


CHECKED_INDEX = ["x[i]", "x[v]", "v⌷x", "i⌷x", "x[(⍳≢x)+1]", "x[⍳≢y]", "x[3]", "(x⍳y)⌷x", "i⊃x", "x[(≢x)-1]"]


@pytest.mark.parametrize("expression", CHECKED_INDEX)
def test_an_index_that_may_be_out_of_range_is_checked_when_it_runs(expression: str) -> None:
    result = check(Source("<test>", INPUTS + expression))
    assert [d.code for d in result.diagnostics] == ["W310"]
    assert result.core is not None


def test_index_origin_one() -> None:
    for expression, wanted in (
        ("⍳5", "idx<5>[5]"), ("1+⍳5", "i64[5]"), ("2 1⍉A", "f64[m n]"), ("⌽[1]A", "f64[n m]"), ("1 2,[0.5]3 4", "i64[2 2]"),
        ("x⍳3", "int<1..n+1>"), ("⍸b", "idx<n>[k2≤n]"), ("5↑⍳3", "i64[5]"), ("3⌷3↑x", "f64"),
    ):  # fmt: skip
        result = check(Source("<test>", INPUTS + expression), index_origin=1)
        assert not result.diagnostics, expression
        assert result.last == wanted, expression


def test_a_cell_selection_that_looks_like_one_element_warns() -> None:
    result = check(Source("<test>", "1 2⌷3 3⍴⍳9"))
    assert [d.code for d in result.diagnostics] == ["W320"]
    assert result.last == "idx<9>[2 3]"


LIMITED = ["(¯1+≢x)⌊0⌈i", "0⌈i⌊¯1+≢x", "0⌈(¯1+≢x)⌊i", "(0⌈i)⌊¯1+≢x"]


@pytest.mark.parametrize("index", LIMITED)
def test_an_index_limited_by_a_length_is_in_range(index: str) -> None:
    declared = "input x : f64[n] where n ≥ 1\ninput i : i64[k]\n"
    assert not check(Source("<test>", f"{declared}x[{index}]")).diagnostics
    found = check(Source("<test>", f"{declared.replace(' where n ≥ 1', '')}x[{index}]")).diagnostics
    assert [d.code for d in found] == ["W310"]
    function = f"f : f64[n] → i64[k] → f64[k] where n ≥ 1\nf ← {{x i ← (⍺ ⋄ ⍵) ⋄ x[{index}]}}".replace("x i ←", "(x i) ←")
    assert not check(Source("<test>", function)).diagnostics
