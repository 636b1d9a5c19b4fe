"""What messages say: numbers as the program writes them, the program's own names, one hint that helps."""

from __future__ import annotations

import pytest

from rho.lang.diagnostics import Diagnostic, Rejected
from rho.lang.formatter import format_source
from rho.lang.source import Source
from rho.typechecker.check import check
from rho.typechecker.obligations import Relation, SizeFact
from rho.typechecker.sizes import SizeOrigin, SizeVariable, number, quotient, variable

N, M = (SizeVariable(name, i, SizeOrigin.INPUT) for i, name in enumerate("nm"))
n, m = variable(N), variable(M)


def only(text: str) -> Diagnostic:
    (found,) = check(Source("<test>", text)).diagnostics
    return found


SAID = [
    ("⌈0÷0", "E203", "the divisor is 0, so there is no number to round"),
    ("`iotta 3", "E007", "`iotta spells no glyph; did you mean ⍳?"),
    ("x ← 1 2\n`rsahpe x", "E007", "`rsahpe spells no glyph; did you mean ⍴?"),
    ("`i nobody", "E001", "`nobody` has no value here"),
]


@pytest.mark.parametrize(("text", "code", "message"), SAID)
def test_messages(text: str, code: str, message: str) -> None:
    found = only(text)
    assert (found.code, found.message) == (code, message)


INDEXED = "input x : f64[n]\ninput i : i64\ninput j : idx<m>[k]\n"
HINTS = [
    ("x[i+1]", "an index that its `input` or signature declares `idx<n>` is known to be in range"),
    ("(,x∘.+x)[i]", "an index that its `input` or signature declares `idx<n×n>` is known to be in range"),
    ("1 2 3[i]", "an index that its `input` or signature declares `idx<3>` is known to be in range"),
    ("x[j]", "it is in range if m ≤ n: state it where the sizes come from, `where m ≤ n`"),
    ("x[5]", "it is in range if 6 ≤ n: state it where the sizes come from, `where 6 ≤ n`"),
    ("x[(≢x)-1]", "it is in range if 1 ≤ n: state it where the sizes come from, `where 1 ≤ n`"),
    ("x[(≢x)|i]", "it is in range if 1 ≤ n: state it where the sizes come from, `where 1 ≤ n`"),
    ("(,x∘.+j)[3]", "it is in range if 4 ≤ n×k: state it where the sizes come from, `where 4 ≤ n×k`"),
    ("{1 2 3[⍵]}¨⍳4", "every index is checked when the program runs"),
]


@pytest.mark.parametrize(("text", "hint"), HINTS)
def test_hints_of_checked_indices(text: str, hint: str) -> None:
    found = only(INDEXED + text)
    assert found.code == "W310"
    assert found.notes[-1] == hint


def test_what_is_known_of_a_checked_index_is_said() -> None:
    assert only("input x : f64[n]\nx[+/x>1]").message == "this index may be n, but the axis has n cells"


def test_no_hint_changes_the_index() -> None:
    """What would wrap an index hides a mistake; a declaration shows it."""
    for first in ("", "⎕IO←1\n"):
        hint = only(first + "input x : f64[n] where n ≥ 1\ninput i : i64\nx[i]").notes[-1]
        assert "`idx<n>`" in hint or "where" in hint


def test_one_index_is_warned_of_once() -> None:
    program = "input x : f64[n]\ninput y : f64[n]\ninput i : i64\nx[i]\ny[i]+x[i]\nx[i+1]"
    assert [program.count("\n", 0, d.span.start) for d in check(Source("<test>", program)).diagnostics] == [3, 5]


EMPTY = [
    ("⌈/x", "give it a start value (`⌈/¯∞,x`), or state that the axis is not empty (`where m ≥ 1`)"),
    ("⌊⌿x", "give it a start value (`⌊/∞,x`), or state that the axis is not empty (`where n ≥ 1`)"),
    ("{⍺+2×⍵}⌿x", "give it a start value, or state that the axis is not empty (`where n ≥ 1`)"),
    ("⌈/,x", "give it a start value (`⌈/¯∞,x`), or state that the axis is not empty (`where n×m ≥ 1`)"),
    ("⌊/0⍴1.5", "give it a start value (`⌊/∞,x`)"),
]


@pytest.mark.parametrize(("text", "hint"), EMPTY)
def test_hints_of_empty_axes(text: str, hint: str) -> None:
    assert only("input x : f64[n m]\n" + text).notes[0] == hint


def test_a_size_of_a_signature_is_no_value() -> None:
    found = only("f : f64[n m] → f64[m]\nf ← {⍵[n-1;]}")
    assert (found.code, found.notes) == (
        "E001",
        ("n is a size in a type, not a value: take it from an array, as `≢x` or from `⍴x`",),
    )


REPAIRED = ["⎕IO←1\ninput x : f64[n] where n ≥ 1\ninput i : i64\nx[1+n0|¯1+i]", "input x : f64[n] where 1 ≤ n\nx[(≢x)-1]",
            "input x : f64[n] where n ≥ 1\ninput i : i64\nx[n0|i+1]", "input x : f64[n] where 6 ≤ n\nx[5]",
            "input x : f64[n]\ninput j : idx<m>[k] where m ≤ n\nx[j]"]  # fmt: skip


@pytest.mark.parametrize("text", REPAIRED)
def test_what_the_hints_say_helps(text: str) -> None:
    assert not check(Source("<test>", text.replace("n0", "(≢x)"))).diagnostics


BROKEN = [
    (SizeFact(Relation.AT_MOST, number(1), n), {N: 0}, "1 ≤ n does not hold with n=0"),
    (SizeFact(Relation.EQUAL, quotient(n * m, 8) * 8, n * m), {N: 3, M: 3},
     "8×((n×m)÷8) = n×m does not hold with n=3, m=3: the left is 8, the right is 9"),
    (SizeFact(Relation.AT_MOST, number(0), n - 5), {N: 2}, "0 ≤ n-5 does not hold with n=2: the right is ¯3"),
]  # fmt: skip


@pytest.mark.parametrize(("fact", "sizes", "text"), BROKEN)
def test_a_broken_fact_gives_every_number_once(fact: SizeFact, sizes: dict[SizeVariable, int], text: str) -> None:
    assert fact.broken_with(sizes) == text


def test_hints_name_nothing_that_is_not_in_the_program() -> None:
    found = only("(2 3⍴1.5) - 1.5 2.5 3.5 + 1.5 2.5 3.5 + 1.5 2.5 3.5 + 1.5 2.5 3.5 × 1.5 2.5 3.5")
    assert found.code == "E101"
    assert any("⍤1" in text for text in (*found.notes, *[fix.title for fix in found.fixes]))
    assert not any("`b`" in note or " b " in note for note in (*found.notes, *[fix.title for fix in found.fixes]))


@pytest.mark.parametrize("text", ["+/x;", "(a;b)", "{⍵;1}", "x[1;(2;3)]"])
def test_the_formatter_refuses_what_no_program_has(text: str) -> None:
    with pytest.raises(Rejected) as caught:
        format_source(Source("<test>", text))
    assert caught.value.diagnostics[0].code == "E002"


def test_the_formatter_keeps_axes() -> None:
    assert format_source(Source("<test>", "x[1;;y[2;3]]")) == "x[1;;y[2;3]]\n"


INSTEAD = [
    ("{≢⍵}⌸'banana'", "E133", "{≢⍵}⌸", "to count how often each item of x occurs write `+/(∪x)∘.=x`"),
    ("2⊥⍣¯1⊢10", "E601", "¯1", "functions have no inverses: write the other one, as `2 2 2⊤x` for digits of `2⊥`"),
    ("⎕UCS 'a'", "E001", "⎕UCS", "`i64 text` gives the code points of text, `char codes` the text"),
    ("⎕C 'a'", "E001", "⎕C", "look letters up in an alphabet of your own: `⎕A[lower⍳x]`"),
    ("2⍕3.14", "E133", "⍕", "`2⎕text x` writes rows of text with 2 digits after the point"),
    (
        "1 0⊂1 2",
        "E620",
        "⊂",
        "arrays do not nest: cut with masks (`m⌿x`), or sum the items of each part with `k f⌸ (idx ⋄ values)`",
    ),
    ("'ab' 'cd'", "E111", "'ab'", "`↑'ab' 'cde'` pads texts to the rows of a matrix"),
    (
        "1 'a'",
        "E111",
        "1 'a'",
        "one array holds one type: keep them apart in a tuple `(a ⋄ b)`, or join text with `⍕` of the numbers",
    ),
    ("(,1)+1 2 3", "E101", "+", "an axis of length 1 is not stretched: use a scalar (`⊃x`)"),
    ("⊃0⍴1.5", "E204", "⊃", "join a default: `⊃x,0`"),
    ("x ← ⍳6\n(2↑x)←0", "E010", "2", "names get values, and items of one: `x[i]←v`, or `v@i ⊢ x` for a changed array"),
    ("⊃''", "E204", "⊃", "join a default: `⊃x,' '`"),
    ("-⍨\\⍳70", "E402", "-⍨\\", "at most 64 items, a number known when checked; a scan with a dfn is a left fold of any length"),
]


@pytest.mark.parametrize(("text", "code", "at", "note"), INSTEAD)
def test_a_refusal_says_what_to_write_instead(text: str, code: str, at: str, note: str) -> None:
    found = only(text)
    assert (found.code, text[found.span.start : found.span.end]) == (code, at)
    assert note in found.notes
