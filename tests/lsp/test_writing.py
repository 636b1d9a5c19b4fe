"""Hints, completion and glyph input: what helps who writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.lang.primitives.table import PRIMITIVES
from rho.shell.lsp.completion import GLYPH_TRIGGERS, CompletionEntry, completion, on_type
from rho.shell.lsp.documents import Range, TextPosition
from rho.shell.lsp.hints import HintKind, hints

from .texts import applied, document, marked

# ------------------------------------------------------------------------------------------ hints


def shown(text: str) -> str:
    """The text with its hints in it."""
    opened = document(text)
    made = opened.text
    for hint in reversed(hints(opened, opened.lines.full_range())):
        offset = opened.lines.offset(hint.position)
        made = f"{made[:offset]}«{hint.text}»{made[offset:]}"
    return made


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("x ← 2 3⍴⍳6\n", "x« : idx<6>[2 3]» ← 2 3⍴⍳6\n"),
        ("x : f64[2] ← 1.5 2\n", "x : f64[2] ← 1.5 2\n"),
        ("input x : f64[n]\n+/x×x\n", "input x :« 2» f64[n]\n+/x×x\n"),
        ("mean ← {(+⌿⍵)÷≢⍵}\n", "mean« : 1 f64[n] → f64 …» ← {(+⌿⍵)÷≢⍵}\n"),
        ("f : f64[n] → f64\nf ← {+/⍵}\n", "f : «1 »f64[n] → f64\nf ← {+/⍵}\n"),
        ("f : 2 f64[n] → f64\nf ← {+/⍵×⍵}\n", "f : 2 f64[n] → f64\nf ← {+/⍵×⍵}\n"),
        ("f : f64[n] → f64[m] → f64[n m]\nf ← {⍺∘.×⍵}\n", "f : «m »f64[n] → «n »f64[m] → f64[n m]\nf ← {⍺∘.×⍵}\n"),
        (
            "norm : 2 f64[n] → f64\nnorm ← {√+/⍵×⍵}\ninput x : f64[n m]\nnorm x\n",
            "norm : 2 f64[n] → f64\nnorm ← {√+/⍵×⍵}\ninput x :« 2» f64[n m]\nnorm«⟨n⟩» x\n",
        ),
        ("input x : f64[a b c]\n{⍵[⍋⍵]}⍤1 ⊢ x\n", "input x :« 2» f64[a b c]\n{⍵[⍋⍵]}⍤1«⟨a b⟩» ⊢ x\n"),
        (
            "g ← {{⍵[⍋⍵]}⍤1 ⊢ ⍵}\ng 2 2⍴1.5\n g 3 2 2⍴1.5\n",
            "g« : 2 f64[n] → f64[n] …» ← {{⍵[⍋⍵]}⍤1 ⊢ ⍵}\ng 2 2⍴1.5\n g 3 2 2⍴1.5\n",
        ),
    ],
)
def test_hints(text: str, wanted: str) -> None:
    assert shown(text) == wanted


def test_a_long_hint_is_cut_and_explained() -> None:
    opened = document((Path(__file__).parents[2] / "examples" / "kmeans.rho").read_text(encoding="utf-8"))
    found = hints(opened, opened.lines.full_range())
    assert all(len(hint.text) <= 41 for hint in found)
    (reads,) = [hint for hint in found if hint.kind is HintKind.QUANTITY]
    assert reads.text.endswith("…") and "(k×steps)+(2×k)+steps+1" in reads.detail


def test_hints_are_those_of_the_range() -> None:
    opened = document("a ← 1.5\nb ← 2.5\nc ← 3.5\n")
    assert [hint.position.line for hint in hints(opened, Range(TextPosition(1, 0), TextPosition(1, 3)))] == [1]
    assert all(hint.kind is HintKind.TYPE for hint in hints(opened, opened.lines.full_range()))


# ------------------------------------------------------------------------------------------ completion


def offered(text: str) -> dict[str, CompletionEntry]:
    opened, position = marked(text)
    return {item.label: item for item in completion(opened, position)}


def test_completion_offers_names_in_scope() -> None:
    found = offered("alpha ← 1\nf ← {beta ← ⍵ ⋄ ‸ }\ngamma ← 2\n")
    assert "alpha" in found and "beta" in found and "gamma" not in found
    assert "beta" not in offered("f ← {beta ← ⍵ ⋄ beta}\n‸\n")


def test_completion_offers_members() -> None:
    found = offered("use stats\nstats.m‸\n")
    assert {"mean", "median"} <= set(found) and "input" not in found
    opened, position = marked("use stats\nstats.me‸\n")
    assert applied(opened, [next(i for i in completion(opened, position) if i.label == "mean").edit]).endswith("stats.mean\n")


def test_completion_offers_library_names_and_puts_them_in_use() -> None:
    opened, position = marked("⍝ A comment.\nx ← 1 2\nvaria‸ x\n")
    item = next(one for one in completion(opened, position) if one.label == "stats.variance")
    assert applied(opened, [item.edit, *item.additional_edits]) == "⍝ A comment.\nuse stats\nx ← 1 2\nstats.variance x\n"
    assert offered("use stats\nvaria‸\n")["stats.variance"].additional_edits == ()


def test_completion_offers_glyphs() -> None:
    opened, position = marked("x ← `io‸ 3\n")
    item = {one.label: one for one in completion(opened, position)}["`iota"]
    assert applied(opened, [item.edit]) == "x ← ⍳ 3\n" and "**⍳**" in item.documentation
    assert "iota ⍳" in offered("io‸\n")
    every = {name for row in PRIMITIVES for name in row.names}
    assert every <= {label.removeprefix("`") for label in offered("`‸")}


def test_completion_offers_system_names_modules_words_and_sizes() -> None:
    assert "⎕fft" in offered("⎕f‸\n")
    assert "stats" in offered("use s‸\n") and "input" not in offered("use s‸\n")
    assert {"input", "param", "f64"} <= set(offered("‸\n"))
    found = offered("input x : f64[rows 2]\ninput y : f64[‸\n")
    assert "rows" in found and "where" in found and "input" not in found


@pytest.mark.parametrize("text", ["⍝ co‸mment\n", "'te‸xt'\n", "x ← 'open te‸\n", "x ⍝ `io‸\n"])
def test_completion_is_silent_in_prose(text: str) -> None:
    assert offered(text) == {}


# ------------------------------------------------------------------------------------------ typing glyphs


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x ← `iota ‸", "x ← ⍳‸"),
        ("x ← `iota(‸", "x ← ⍳(‸"),
        ("`i ‸", "⍳‸"),
        ("x `[‸", "x ←‸"),
        ("x `gets ‸3", "x ←‸3"),
        ("`iotta ‸", "`iotta ‸"),
        ("`io ‸", "`io ‸"),
        ("x - ‸", "x - ‸"),
        ("`-‸", "`-‸"),
        ("⍝ `iota ‸", "⍝ `iota ‸"),
        ("'`iota ‸'", "'`iota ‸'"),
        ("'𝔸' , `iota ‸3", "'𝔸' , ⍳‸3"),
        ("+/`iota 1‸", "+/`iota 1‸"),
        ("+/`iota1‸", "+/⍳1‸"),
    ],
)
def test_typing_glyphs(before: str, after: str) -> None:
    opened, position = marked(before)
    typed = before[before.index("‸") - 1]
    edits = on_type(opened, position, typed)
    assert applied(opened, edits) == after.replace("‸", "")
    assert typed in GLYPH_TRIGGERS


def test_a_finished_line_is_spelt_in_glyphs() -> None:
    opened, position = marked("+/`iota `rho x ⍝ `iota\n‸")
    assert applied(opened, on_type(opened, position, "\n")) == "+/⍳ ⍴ x ⍝ `iota\n"


def test_every_key_works_at_once_or_after_a_blank() -> None:
    for row in PRIMITIVES:
        if row.key is not None and row.key not in "-`":
            typed = row.key if not row.key.isalpha() else " "
            opened = document(f"`{row.key}" + (" " if typed == " " else ""))
            edits = on_type(opened, opened.lines.position(len(opened.text)), typed)
            assert applied(opened, edits) == row.glyph, row.key
