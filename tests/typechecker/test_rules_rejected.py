"""What each primitive function refuses, with the code and the words that say why."""

from __future__ import annotations

import pytest

from rho.lang.source import Source
from rho.lang.vocabulary import AXIS_FUNCTIONS
from rho.tests.primitives.programs import functions
from rho.typechecker.check import check

INPUTS = """
input x : f64[n]
input x2 : f64[n]
input A : f64[n m]
input v : i64[n]
input i : i64
input u : u8[n]
input z : c128[n]
input b : bool[n]
input b2 : bool[n]
input t : char[n]
"""

REJECTED = [
    # shapes that do not line up
    ("1 2 3+1 2 3 4", "E101", "axis 0 is 3"), ("(2 3⍴0)+1 2 3", "E101", "axis 0 is 2"), ("(,5)+1 2 3", "E101", "line up"),
    ("(2 3⍴0)=3 2⍴0", "E101", "line up"), ("1 2⌽3 3⍴0", "E101", "rotation"), ("(2 2⍴0)⌽1 2", "E101", "rotation"),
    ("1 0/1 2 3", "E101", "counts"), ("(1=1 0)/1 2 3", "E101", "counts"), ("⎕det 2 3⍴0", "E101", "square"),
    ("⌹2 3⍴0", "E101", "rows"), ("1 2⌹3 3⍴0", "E101", "equations"), ("(3 3⍴0)⍳1 2", "E101", "cells"),
    ("1 2⊥1 2 3", "E102", "inner axes"), ("(2 3⍴0)+.×2 2⍴0", "E102", "inner"), ("(2 3⍴0),3 3⍴0", "E103", "may differ"),
    ("(2 3⍴0)⍪2 2⍴0", "E103", "may differ"), ("1 2,[0.5]1 2 3", "E103", "equal shapes"), ("(2 2 2⍴0),1 2", "E103", "ranks"),
    # run-time sizes
    ("(b⌿x)+x2", "E140", "k and n"), ("(b⌿x)+b2⌿x2", "E140", "not known to be equal"), ("(∪x)+x", "E140", "not known"),
    ("(⍸b)+⍳≢x", "E140", "not known"), ("⊃b⌿x", "E204", "first element"), ("2↕b⌿x", "E202", "windows"),
    # sizes
    ("⍳i", "E403", "bound"), ("i↑x", "E403", "bound"), ("i⍴1", "E403", "bound"), ("v⍴1", "E403", "known before"),
    ("42?i", "E403", "bound"), ("⍳¯1", "E202", "negative"), ("¯2⍴1", "E202", "negative"), ("0↕1 2 3", "E202", "at least one"),
    ("4↕1 2 3", "E202", "do not fit"), ("⍳⌊5÷0", "E203", "divisor"), ("⌊5÷2-2", "E203", "divisor"), ("⊃⍬", "E204", "empty"),
    ("⊃0 3⍴1", "E204", "empty"), ("(5÷2)⍴1", "E200", "whole"), ("1 1\\1 2 3", "E200", "holds 2 times"),
    ("⎕fft ⍬", "E204", "at least one"), ("3⌈⌸(0 0 2 ⋄ 1 2 3)", "E204", "no key uses"),
    ("4⌈⌸((⍳3),i⌊2⌈0 ⋄ (3⍴0),5)", "E204", "no key uses"),
    # arity, rank, axis
    ("⍷x", "E133", "left argument"), ("⊥x", "E133", "left argument"),
    ("2⍕x", "E133", "no left"), ("2 f64 x", "E133", "no left"), ("1 ⎕fft x", "E133", "no left"), ("⍋5", "E131", "rank 1"),
    ("⍸1", "E131", "rank 1"), ("5⍳1", "E131", "rank 1"), ("1⌷5", "E131", "rank 1"), ("⎕fft 5", "E131", "rank 1"),
    ("⎕det 1 2", "E131", "rank 2"), ("1 2 3↑x", "E131", "3 amounts"), ("2 2↓x", "E131", "2 amounts"),
    ("0 0⊃x", "E131", "2 indices"), ("(2 2⍴1)/x", "E131", "vector or a scalar"), ("(2 2⍴1)⍴x", "E131", "vector"),
    ("2 2↕x", "E131", "2 window"), ("⌽[2]A", "E132", "axes 0..1"), ("⌽[0]5", "E132", "no axes"), ("2 0 1⍉A", "E132", "2 axes"),
    ("+/[¯1]A", "E132", "no axis ¯1"), ("0 2⍉A", "E132", "no axis 2"), ("1 1⍉A", "E132", "axis 0"),
    ("v⍉A", "E132", "known before"), (",[0 2]A", "E132", "adjacent"), ("A,[2]A", "E132", "no axis 2"),
    ("2↑[3]A", "E132", "no axis 3"),
    # elements
    ("1+'a'", "E300", "text"), ("t-1", "E300", "text"), ("-'abc'", "E300", "text"), ("t<1", "E300", "text with text"),
    ("z<z", "E300", "no order"), ("z⌈1", "E300", "real"), ("⍋z", "E300", "no order"), ("⎕erf z", "E300", "real"),
    ("⎕rfft z", "E300", "real"), ("'a',1", "E300", "text with text"), ("b¿(1⋄'a')", "E300", "mix"), ("1.5⍴1", "E300", "whole"),
    ("'a'⍴1", "E300", "whole"), ("1.5⌽x", "E300", "whole"), ("x○x", "E300", "literal"), ("13○x", "E300", "¯12 to 12"),
    ("1 2⍋t", "E300", "collation"), ("x⍸t", "E300", "text with text"), ("bool t", "E300", "convert"), ("x?3", "E300", "whole"),
    ("u+300", "E302", "300 does not fit u8"), ("u-¯1", "E302", "¯1 does not fit u8"), ("u,256", "E302", "256"),
    ("f64 t", "E300", "convert"), ("char x", "E300", "convert"), ("char b", "E300", "convert"), ("c128 t", "E300", "convert"),
    ("~v", "E303", "bool"), ("v⍲b", "E303", "bool"), ("v/x", "E303", "bool"), ("v\\x", "E303", "bool"), ("⍸v", "E303", "bool"),
    ("v¿(x⋄x2)", "E303", "bool"), ("x[b]", "E304", "mask"), ("b⌷x", "E304", "mask"), ("x[1.5]", "E300", "whole"),
    ("b¿x", "E305", "tuple"), ("1+(1⋄2)", "E305", "tuple"),
    # indices proved out of range
    ("3⌷1 2 3", "E310", "out of range"), ("(1 2 3)[3]", "E310", "out of range"), ("¯1⌷x", "E310", "out of range"),
    ("5⊃1 2 3", "E310", "out of range"), ("(≢x)⌷x", "E310", "out of range"), ("(2 2⍴0)[0;2]", "E310", "out of range"),
    ("0⌷⍬", "E310", "no cells"), ("(1+≢x)⌷x", "E310", "out of range"),
    ("⎕cholesky 2 3⍴1.0", "E101", "square"), ("⎕eigh 2 3⍴1.0", "E101", "square"), ("u∨300", "E302", "300 does not fit u8"),
    ("300∧u", "E302", "300 does not fit u8"), ("100000000 1/1 2", "E702", "too large"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "code", "words"), REJECTED)
def test_rejected(expression: str, code: str, words: str) -> None:
    result = check(Source("<test>", INPUTS + expression))
    errors = [d for d in result.diagnostics if d.is_error]
    assert result.core is None
    assert [d.code for d in errors] == [code], [f"{d.code}: {d.message}" for d in errors]
    assert words in errors[0].message


@pytest.mark.parametrize(("expression", "code"), [row[:2] for row in REJECTED])
def test_what_reads_a_refused_value_is_not_refused_too(expression: str, code: str) -> None:
    following = "r+1\n⌽r\n⍴r\n+/,r\nr,r\nr=r\n⊂r\nf←{⍵}\nf r\n{⍵+1}¨r\n"
    result = check(Source("<test>", f"{INPUTS}r←{expression}\n{following}"))
    assert [d.code for d in result.diagnostics if d.is_error] == [code]


def test_too_many_axes() -> None:
    (error,) = check(Source("<test>", "a←2 2⍴0 ⋄ b←a∘.×a ⋄ c←b∘.×b ⋄ c∘.×c")).diagnostics
    assert error.code == "E620"
    assert "16 axes" in error.message


def test_a_row_hint() -> None:
    (error,) = check(Source("<test>", "A←2 3⍴0\nb←1 2 3\nA+b")).diagnostics
    assert "`A +⍤1 ⊢ b`" in error.fixes[0].title


def test_a_transpose_hint() -> None:
    (error,) = check(Source("<test>", "A←2 3⍴0\nB←3 2⍴0\nA+B")).diagnostics
    assert "⍉B" in error.fixes[0].title


def test_one_cause_one_error() -> None:
    result = check(Source("<test>", "y←1 2+1 2 3\nz←y×2\n⌽z,3"))
    assert [d.code for d in result.diagnostics] == ["E101"]


@pytest.mark.parametrize("glyph", sorted({*functions(monadic=True), *functions(monadic=False)} - {*AXIS_FUNCTIONS, *"/⌿\\⍀"}))
def test_an_axis_is_refused_by_the_parser_where_a_function_takes_none(glyph: str) -> None:
    """So that the rules of these functions are never given one."""
    for text in (f"{glyph}[0]A", f"A{glyph}[0]A", f"A{glyph}⍨[0]A", f"g←{glyph}\ng[0]A"):
        assert [d.code for d in check(Source("<test>", INPUTS + text)).diagnostics] in (["E001"], ["E002"])
