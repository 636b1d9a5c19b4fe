"""Modules of the standard library: each checks as a program, and a program that uses one checks only what it reaches."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rho
from rho.lang.syntax.source import Source
from rho.shell.pipeline import Session
from rho.tests.harness.share import half
from rho.typechecker.signatures import check_definition

LIBRARY = sorted((Path(rho.__file__).parent / "stdlib").glob("*.rho"))


@pytest.mark.parametrize("path", LIBRARY, ids=lambda path: path.stem)
def test_every_definition_of_the_library_is_checked_here(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = path.read_text(encoding="utf-8")
    checked: list[str] = []
    original = check_definition._check_samples
    monkeypatch.setattr(
        check_definition, "_check_samples", lambda ctx, function: checked.append(function.name) or original(ctx, function)
    )
    assert not [one for one in Session().check(Source(str(path), text)).diagnostics if one.is_error]
    signed = re.findall(r"^(\w+) *: .*→", text, re.M)
    assert set(signed) <= set(checked)


def test_a_program_checks_what_it_reaches_of_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[str] = []
    original = check_definition._check_samples
    monkeypatch.setattr(
        check_definition, "_check_samples", lambda ctx, function: checked.append(function.name) or original(ctx, function)
    )
    result = rho.eval("use set\nset.size 3 1 3")
    assert result == 2 and checked == ["size"]


SIZED_BY_DATA = (
    "x[right]", "x[left]", "(x>1)⌿x", "x,(x>1)⌿x", "∪x", "(+/x>0)↑x", "1↓x[right]", "(x>1)⌿x[⍋x]", "y[1↓left],x", "2↓⌽y[left]",
)  # fmt: skip
UNARY = [
    f"{path.stem}.{name}"
    for path in LIBRARY
    for name in re.findall(r"^(\w+) : (?:T|f64)\[n(?: \.\.s)?\] → (?!.*where)[^→]*$", path.read_text(encoding="utf-8"), re.M)
]


@pytest.mark.parametrize("argument", SIZED_BY_DATA)
def test_calls_on_arrays_whose_lengths_the_run_knows_report_nothing(argument: str) -> None:
    """What a definition proved for all lengths is not refused for the formula of a join's, a mask's or a sum's length."""
    assert len(UNARY) >= 25
    uses = "".join(f"use {path.stem}\n" for path in LIBRARY if any(name.startswith(f"{path.stem}.") for name in UNARY))
    given = "input a : i64[n] where n ≥ 1\ninput b : i64[m] where m ≥ 1\ninput x : f64[m]\ninput y : f64[n]\n"
    calls = [f"v{at} ← {name} w\n" for at, name in enumerate(half(UNARY, argument))]
    text = f"{uses}{given}(left right) ← a table.inner b\nw ← {argument.replace('x[left]', 'y[left]')}\n{''.join(calls)}"
    assert not [(one.code, one.message) for one in Session().check(Source("<test>", f"use table\n{text}")).diagnostics], text


def test_groups_of_rows_of_text_that_a_join_gives() -> None:
    text = "use table\nuse set\ninput a : i64[n]\ninput b : i64[m]\ninput c : char[m w]\n(left right) ← a table.inner b\n"
    result = Session().check(Source("<test>", text + "(keys code) ← set.classes c[right;]\n(≢keys)+⌸(code ⋄ 1)"))
    assert result.diagnostics == ()


def test_a_call_that_fails_shows_no_text_of_the_library() -> None:
    result = Session().check(Source("<test>", "use stats\ninput x : f64[n]\nstats.median¨x\n1 stats.quantile 'a'"))
    assert result.diagnostics and all(one.span.file == "<test>" for one in result.diagnostics)


@pytest.mark.parametrize(("program", "code", "at", "says"), [
    ("use optim\n(0.1 ⋄ 200) optim.descent {+/(⍵-1 2)*2} 0 0.", "E008", "(0.1 ⋄ 200) optim.descent", "needs a function"),
    ("use text\n'a' text.search 'a' 'b'", "E131", "text.search", "`text.search` needs cells of rank 1"),
    ("use text\n'ab' text.equals 'a'", "E131", "text.equals", "`,'a'` is a text of it"),
    ("use text\n1 2 text.search 'a'", "E300", "text.search", "this argument of `text.search` is declared char"),
    ("use text\ntext.search 'a'", "E133", "text.search", "write it before the function: `a text.search x`"),
    ("use optim\nf ← {+/⍵*2}\nf optim.descent 0 0.", "E133", "f optim.descent", "`a f optim.descent x`"),
    ("use random\n1 random.normal 2 3⍴0", "E401", "random.normal", "normal : i64 → (n) → f64[n]"),
])  # fmt: skip
def test_a_wrong_call_of_the_library_is_told_in_terms_of_the_call(program: str, code: str, at: str, says: str) -> None:
    errors = [one for one in Session().check(Source("<test>", program)).diagnostics if one.is_error]
    assert [(one.code, program[one.span.start : one.span.end]) for one in errors] == [(code, at)]
    assert says in "\n".join([errors[0].message, *errors[0].notes]) and "classes_of" not in errors[0].message
