"""What is left of broken programs (broken.md: their messages)."""

from __future__ import annotations

from collections.abc import Callable

from rho.lang.syntax.parser import Parsed


def test_a_name_of_a_function_is_repaired_by_its_glyph(parsed: Callable[..., Parsed]) -> None:
    (diagnostic,) = parsed("5 max 3").diagnostics
    (edit,) = diagnostic.fixes[0].edits
    assert (edit.span.start, edit.span.end, edit.text) == (2, 5, "⌈")


def test_statements_that_are_right_are_bound_beside_wrong_ones(parsed: Callable[..., Parsed]) -> None:
    found = parsed("x ← 1\ny ← )\nz ← x+1")
    assert len(found.program.statements) == 2 and len(found.diagnostics) == 1


def test_a_cycle_names_its_definitions(parsed: Callable[..., Parsed]) -> None:
    text = "even ← {odd ⍵}\nodd ← {even ⍵}"
    (diagnostic,) = parsed(text).diagnostics
    assert "even → odd → even" in diagnostic.message
    assert [text[label.span.start : label.span.end] for label in diagnostic.labels] == ["even", "odd"]


def test_a_member_named_as_what_it_is_a_member_of_is_not_taken_silently(parsed: Callable[..., Parsed]) -> None:
    (diagnostic,) = parsed("foo.foo 3").diagnostics
    assert diagnostic.message == "`foo` has no value here"
