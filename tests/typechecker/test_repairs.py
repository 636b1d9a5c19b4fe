"""Repairs that an editor can apply: each removes the message it comes with; counterexamples break the goal they come with."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.lang.diagnostics import Diagnostic, Fix
from rho.lang.source import Source
from rho.typechecker.check import check

ROOT = Path(__file__).parent
BROKEN = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT.parent / "golden" / "broken").glob("*.rho"))}
PROGRAMS = BROKEN | {
    "rows": "input A : f64[n m]\ninput b : f64[m]\n(2×b) - A",
    "rows of a sum": "input A : f64[n m]\ninput b : f64[m]\nA - b+1",
    "rows of integers with floats": "input A : i64[n m]\ninput b : f64[m]\nA - b",
    "transpose left": "input A : f64[n m]\ninput B : f64[m n]\n(B+1) × A",
    "transpose": "input A : f64[n m]\ninput B : f64[m n]\nA × B",
    "widths of texts": "input a : char[n w]\ninput b : char[n v]\na=b",
    "widths of three texts": "input a : char[w]\ninput b : char[n v]\ninput c : char[m w]\n(⊂0)⌷c\n(0⌷b)=0⌷c",
    "inner product": "input A : f64[n k]\ninput B : f64[m k]\nA +.× B",
    "mask": "input x : i64[n]\n(x-1)⌿x",
    "count": "input c : i64\n{⍵×2}⍣c ⊢ 3",
    "size": "input c : i64\n⍳c",
    "conversion": "input c : f64[n]\nx : f32[n] ← c",
    "conversion of an argument": "f : i64[n] → i64[n] → i64\nf ← {⍺+.×⍵}\n1.5 2.5 f 1 2",
    "element": "f : float[n] → f64\nf ← {+/⍵}",
}


def found(text: str) -> tuple[Diagnostic, ...]:
    return check(Source("<test>", text)).diagnostics


def repaired(text: str, fix: Fix) -> str:
    for edit in sorted(fix.edits, key=lambda e: -e.span.start):
        text = text[: edit.span.start] + edit.text + text[edit.span.end :]
    return text


def test_programs_have_repairs() -> None:
    assert sum(len(d.fixes) for text in PROGRAMS.values() for d in found(text)) >= 25


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_repair_removes_its_message(name: str) -> None:
    for diagnostic in found(PROGRAMS[name]):
        for fix in diagnostic.fixes:
            after = found(repaired(PROGRAMS[name], fix))
            assert (diagnostic.code, diagnostic.message) not in [(d.code, d.message) for d in after], fix.title


WIDTHS = "input a : char[n w]\ninput b : char[n v]\ninput c : char[m v]\na=b\n"


def test_two_widths_of_texts_get_one_name() -> None:
    """A `where` that equates them would hold for no file: the longest cell decides each."""
    (warning,) = found(WIDTHS)
    (fix,) = warning.fixes
    assert fix.title.startswith("name the width `w` instead of `v`") and "where" not in fix.title
    assert repaired(WIDTHS, fix) == WIDTHS.replace("v]", "w]") and found(repaired(WIDTHS, fix)) == ()


def test_a_width_of_which_more_is_said_is_renamed_by_hand() -> None:
    (warning,) = found(WIDTHS.replace("[n v]", "[n v] where v ≥ 2"))
    (fix,) = warning.fixes
    assert "instead of `v`" in fix.title and fix.edits == ()


def test_the_rows_of_texts_are_equated_by_a_clause() -> None:
    (warning,) = found("input a : char[n w]\ninput b : char[m w]\na=b\n")
    assert [fix.title for fix in warning.fixes] == ["add `where n = m` to `input b`"]


def test_a_conversion_is_no_operand_of_its_own() -> None:
    """What meets is named and underlined as the program writes it, whatever kind it is computed in."""
    (warning,) = found("input A : i64[n m]\ninput b : f64[m]\nA - b")
    (fix,) = warning.fixes
    assert fix.title == "add `where n = m` to `input A`"
    assert any("write `A -⍤1 ⊢ b`" in note for note in warning.notes)
    assert {"input A : i64[n m]\ninput b : f64[m]\nA - b"[label.span.start : label.span.end] for label in warning.labels} == {
        "A",
        "b",
    }


def test_trains_and_derived_functions_get_no_wrong_repair() -> None:
    for program in ("input A : f64[n m]\n(⊢+⍉)A", "input A : f64[n m]\ninput b : f64[m]\nb (-⍨) A"):
        (warning,) = found(program)
        assert warning.code == "W201" and not any("write" in text for text in (*warning.notes, *[f.title for f in warning.fixes]))


WARNED = (
    "input a : f64[n m]\ninput x : f64[p k]\ninput y : f64[q k]\na+.×x⍪y",
    "input A : f64[n m]\ninput b : f64[m]\nA - b",
    "input x : f64[n]\nparam k ← 2\n(_ k)⍴x",
    "input x : f64[n]\n⌈/x",
    "input x : f64[n] where n ≤ 9\ninput y : f64[m] ← 'y.npy'\n(2↕x)+y",
)


@pytest.mark.parametrize("program", WARNED)
def test_a_warning_offers_a_fact_and_no_other_program(program: str) -> None:
    """What is checked when loaded may be meant: the repair states it, and the statements stay as they are."""
    text = program
    for _ in range(5):
        warned = [d for d in found(text) if d.code == "W201"]
        if not warned:
            break
        (fix,) = warned[0].fixes
        assert "where" in fix.title
        text = repaired(text, fix)
    assert found(text) == ()
    last = program.split("\n")[-1]
    assert text.split("\n")[-1] == last


LOOPS = (
    "g : f64[n k] → f64[k] → f64[k]\ng ← {(⍺∘(+.×))⍣3 ⊢ ⍵}",
    "f : f64[n] → f64[m] → f64[n]\nf ← {(⍵∘{⍺})⍣3 ⊢ ⍺}",
    "input x : f64[n]\ninput y : f64[m]\n{y}⍣3 ⊢ x",
)


@pytest.mark.parametrize("program", LOOPS)
def test_a_loop_offers_the_fact_that_keeps_its_state(program: str) -> None:
    (error,) = found(program)
    assert error.code == "E402"
    (fix,) = error.fixes
    assert found(repaired(program, fix)) == ()


def test_an_error_in_a_called_function_names_the_calls() -> None:
    text = "g ← {⍵ + 1 2}\nf ← {2 × g ⍵}\nf 1 2 3\nf 1 2 3"
    (error,) = found(text)
    places = [text[label.span.start : label.span.end] for label in error.labels if label.message == "in this call"]
    assert places == ["f", "g"]
    assert text[: error.span.start].count("\n") == 0


@pytest.mark.parametrize("program", ["use missing\nmissing.f 1\nmissing.g 2", "x ← 1 2+1 2 3\nx[1]\n⌽x", "f ← {⍵+q}\nf 1\nf 2"])
def test_one_cause_one_error(program: str) -> None:
    assert len(found(program)) == 1


@pytest.mark.parametrize(("text", "title"), [
    ("input x : f64[n]\nx + (0,¯1↓x)", "add `where n ≥ 1` to `input x`"),
    ("input x : f64[n]\ninput y : f64[m]\nx + (¯2↓x),0 0", "add `where n ≥ 2` to `input x`"),
    ("input x : f64[n]\ninput y : f64[m]\ny + ¯1↓x", "add `where m = 0⌈n-1` to `input y`"),
])  # fmt: skip
def test_a_clause_says_which_side_of_a_maximum_it_is_where_that_suffices(text: str, title: str) -> None:
    (warning,) = found(text)
    assert [fix.title for fix in warning.fixes] == [title]
