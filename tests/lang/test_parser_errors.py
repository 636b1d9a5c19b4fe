"""Broken programs: the code and the place of each message, and that one cause gives one message."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from rho.lang.parser import Parsed

BROKEN: tuple[tuple[str, list[tuple[str, str]]], ...] = (
    ('x ← (1 2', [('E003', '(')]),
    ('x ← 1 2)', [('E003', ')')]),
    ('(1 2]', [('E003', ']')]),
    ('f ← {⍵+1', [('E003', '{')]),
    ("x ← 'abc", [('E004', "'abc")]),
    ('"abc', [('E004', '"abc')]),
    ('1 2x', [('E005', '2x')]),
    ('1.2.3', [('E005', '1.2.3')]),
    ('3J', [('E005', '3J')]),
    ('1e', [('E005', '1e')]),
    ('¯ 3', [('E005', '¯')]),
    ('3¯4', [('E005', '3¯4')]),
    ('x ← 5 % 3', [('E006', '%')]),
    ('x^2', [('E006', '^')]),
    ('a ← #', [('E006', '#')]),
    ('∇', [('E600', '∇')]),
    ("⍎'1'", [('E006', '⍎')]),
    ('→0', [('E017', '→')]),
    (':If x>0', [('E017', ':If')]),
    (':While 1', [('E017', ':While')]),
    ('x ← 1 : 2', [('E017', ':')]),
    ('{:5}', [('E017', ':')]),
    ('{1:2:3}', [('E017', ':')]),
    ('{1:}', [('E002', ':')]),
    ('()', [('E002', '()')]),
    ('{}', [('E002', '{}')]),
    ('x ←', [('E002', '←')]),
    ('← 3', [('E010', '←')]),
    ('3 ← 4', [('E010', '3')]),
    ("'a' ← 3", [('E010', "'a'")]),
    ('(x 3) ← 1 2', [('E010', '3')]),
    ('⍺⍺ ← 3', [('E010', '⍺⍺')]),
    ('use ← 3', [('E014', 'use')]),
    ('f64 ← 3', [('E014', 'f64')]),
    ('(x where) ← 1 2', [('E014', 'where')]),
    ('1 + where', [('E014', 'where')]),
    ('2+', [('E009', '+')]),
    ('(2+)', [('E009', '+')]),
    ('¨3', [('E008', '¨')]),
    ('-⍤', [('E008', '⍤')]),
    ('-⍤1 x', [('E001', 'x')]),
    ('x←3⋄-⍤1 x', [('E013', 'x')]),
    ('x←3⋄-⍣2 x', [('E013', 'x')]),
    ('3¨4', [('E008', '3')]),
    ('1∘2', [('E008', '2')]),
    ('∘.3', [('E008', '∘')]),
    ('1;2', [('E002', ';')]),
    ('[1 2 3]', [('E002', '[1 2 3]')]),
    ('+[1]3', [('E002', '[1]')]),
    ('f←{⍵}⋄f[1]3', [('E002', '[1]')]),
    ('(1 ⋄ +)', [('E134', '(1 ⋄ +)')]),
    ('x ← (1 ⋄ )', [('E002', '(1 ⋄ )')]),
    ('[+ ⋄ 1]', [('E134', '+')]),
    ('x[+]', [('E134', '+')]),
    ('nope', [('E001', 'nope')]),
    ('tota←3⋄totla', [('E001', 'totla')]),
    ("⎕ReadFile 'x'", [('E001', '⎕ReadFile')]),
    ('⎕FFT 3', [('E001', '⎕FFT')]),
    ('⎕', [('E001', '⎕')]),
    ('⍵+1', [('E001', '⍵')]),
    ('⍺⍺ 3', [('E001', '⍺⍺')]),
    ('{⍺⍺¨ nope}', [('E001', 'nope')]),
    ('x←1⋄⎕IO←1', [('E018', '⎕IO')]),
    ('⎕IO←2', [('E018', '⎕IO')]),
    ('1⋄⎕IO←1', [('E018', '⎕IO')]),
    ('f ← g ← +', [('E010', '+')]),
    ('(f←+) 3', [('E010', '+')]),
    ('3[1]←2', [('E010', '[1]')]),
    ('f←+⋄f[1]←2', [('E010', 'f')]),
    ('f : f64[2×n+1]', [('E012', '×n+')]),
    ('f : f64[a+b-c] → f64', [('E012', '+b-')]),
    ('f : f64[n → f64', [('E003', '[')]),
    ('f f64[n]', [('E001', 'n')]),
    ('f : → f64', [('E011', '→')]),
    ('input x', [('E011', '')]),
    ('input x : f64[n] "x.npy"', [('E011', '"')]),
    ('input : f64', [('E011', ':')]),
    ('param k', [('E011', '')]),
    ('param k : 3', [('E011', ':')]),
    ('use', [('E011', '')]),
    ('use 3', [('E011', '3')]),
    ('use "./1a.rho"', [('E010', '"./1a.rho"')]),
    ('x : f64[n] where n', [('E011', 'n')]),
    ('x : idx<1..2>', [('E011', 'idx<1..2>')]),
    ('schedule gpu', [('E011', 'gpu')]),
    ('output', [('E011', '')]),
    ('even←{odd ⍵}⋄odd←{even ⍵}', [('E600', 'odd')]),
    ('99999999999999999999', [('E302', '99999999999999999999')]),
    ('1e400', [('E302', '1e400')]),
    ('`zzz 3', [('E007', '`zzz')]),
    ('`foo 3', [('E007', '`foo')]),
    ('1 + `foo 3\ny ← `rx\n3¨4', [('E007', '`foo'), ('E007', '`rx'), ('E008', '3')]),
    ('x ← “abc”', [('E006', '“')]),
    ('x ← a ∈ b', [('E006', '∈')]),
    ('x←+⋄x : f64 ← +', [('E011', 'f64')]),
    ("a b ← 1 2\na+b", [("E010", "a b")]),
    ("{a b←⍵ ⋄ a}1 2", [("E010", "a b")]),
    # several causes, one message each, and nothing for what follows from them
    ("x ← (1\ny ← x+1\nz ← 3¨4\ny+z", [("E003", "("), ("E008", "3")]),
    ("f ← {⍵+\n  nope\n}\nf 3\nx ← )", [("E009", "+"), ("E001", "nope"), ("E003", ")")]),
    ("f ← {\n  a ← ⍵ + oops\n  b ← 3J\n  a+b\n}", [("E005", "3J")]),
    ("f ← {a ← oops ⋄ b ← a+1 ⋄ 3¨⍵}", [("E001", "oops"), ("E008", "3")]),
    ("oops+1\noops+2\n{oops}3", [("E001", "oops")]),
    ("x ← 'abc\ny ← \"d\nx,y", [("E004", "'abc"), ("E004", '"d')]),
    ("g ← {\n  ⍵+(1\n}\nh ← 3\n", [("E003", "}")]),
    ("g ← {\n  ⍵+1\nh ← 3 ⋄ h", [("E003", "{")]),
    ("a ← {b ⍵}\nb ← {c ⍵}\nc ← {a ⍵}", [("E600", "b")]),
    ("late+1\nlate ← 3\nlate", [("E001", "late")]),
    ("op ← {⍺⍺ ⍵+nope}\n-op 3", [("E001", "nope")]),
    ("op ← {3¨⍺⍺ ⍵}", [("E008", "3")]),
)  # fmt: skip
"""A program, and each message as its code and the text it underlines."""


@pytest.mark.parametrize(("program", "expected"), BROKEN, ids=[program for program, _ in BROKEN])
def test_broken(program: str, expected: list[tuple[str, str]], parsed: Callable[..., Parsed]) -> None:
    diagnostics = parsed(program).diagnostics
    assert [(d.code, program[d.span.start : d.span.end]) for d in diagnostics] == expected
    for diagnostic in diagnostics:
        assert diagnostic.message and "\n" not in diagnostic.message
        for fix in diagnostic.fixes:
            assert fix.edits


FIXED = (
    ("x ← 1 2)", "x ← 1 2"),
    ("x ← (1 2]", "x ← (1 2)"),
    ("x ← 'abc", "x ← 'abc'"),
    ("x ← 3 ⋄ -⍤1 x", "x ← 3 ⋄ -⍤1 ⊢ x"),
    ("total ← 3 ⋄ totl+1", "total ← 3 ⋄ total+1"),
    ("5 max 3", "5 ⌈ 3"),
    ("¯ 3", "- 3"),
    ("9999999999999999999999", "9999999999999999999999."),
    ("f : f64[2×n+1] → f64", "f : f64[(2×n)+1] → f64"),
    ("f : f64[a+b-c] → f64", "f : f64[(a+b)-c] → f64"),
    ("1;2", "1 ⋄2"),
    ("x ← [1 2 3]", "x ← (1 2 3)"),
    ("⎕FFT 3", "⎕fft 3"),
    ("x ← 3 ∈ 4", "x ← 3 ∊ 4"),
    ("`Zilde", "⍬"),
    ("a b ← 1 2", "(a b) ← 1 2"),
)


@pytest.mark.parametrize(("program", "repaired"), FIXED)
def test_applying_the_fix_repairs(program: str, repaired: str, parsed: Callable[..., Parsed]) -> None:
    (diagnostic,) = parsed(program).diagnostics
    text = program
    for edit in sorted(diagnostic.fixes[0].edits, key=lambda edit: -edit.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    assert text == repaired
    assert not parsed(text).diagnostics


def test_statements_that_are_right_are_bound_beside_wrong_ones(parsed: Callable[..., Parsed]) -> None:
    found = parsed("x ← 1\ny ← )\nz ← x+1")
    assert len(found.program.statements) == 2 and len(found.diagnostics) == 1


def test_a_cycle_names_its_definitions(parsed: Callable[..., Parsed]) -> None:
    text = "even ← {odd ⍵}\nodd ← {even ⍵}"
    (diagnostic,) = parsed(text).diagnostics
    assert "even → odd → even" in diagnostic.message
    assert [text[label.span.start : label.span.end] for label in diagnostic.labels] == ["even", "odd"]
