"""Repairs of the broken programs of `golden` remove the message they come with (messages.md: those of other programs)."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.lang.diagnostics.model import Diagnostic, Fix
from rho.lang.syntax.source import Source
from rho.shell.console.apply_fixes import with_fixes
from rho.typechecker.check import check

ROOT = Path(__file__).parent
BROKEN = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT.parent / "golden" / "broken").glob("*.rho"))}
def found(text: str) -> tuple[Diagnostic, ...]:
    return check(Source("<test>", text)).diagnostics


def repaired(text: str, fix: Fix) -> str:
    return with_fixes(Source("<test>", text), [fix]).text


def test_programs_have_repairs() -> None:
    assert sum(len(d.fixes) for text in BROKEN.values() for d in found(text)) >= 15


@pytest.mark.parametrize("name", BROKEN)
def test_a_repair_removes_its_message(name: str) -> None:
    for diagnostic in found(BROKEN[name]):
        for fix in diagnostic.fixes:
            after = found(repaired(BROKEN[name], fix))
            assert (diagnostic.code, diagnostic.message) not in [(d.code, d.message) for d in after], fix.title


def test_trains_and_derived_functions_get_no_wrong_repair() -> None:
    for program in ("input A : f64[n m]\n(⊢+⍉)A", "input A : f64[n m]\ninput b : f64[m]\nb (-⍨) A"):
        (warning,) = found(program)
        assert warning.code == "W201" and not any("write" in text for text in (*warning.notes, *[f.title for f in warning.fixes]))


def test_an_error_in_a_called_function_names_the_calls() -> None:
    text = "g ← {⍵ + 1 2}\nf ← {2 × g ⍵}\nf 1 2 3\nf 1 2 3"
    (error,) = found(text)
    places = [text[label.span.start : label.span.end] for label in error.labels if label.message == "in this call"]
    assert places == ["f", "g"]
    assert text[: error.span.start].count("\n") == 0
