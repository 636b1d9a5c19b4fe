"""Diagnostics, hover, actions, outline, colours, formatting: one text, one answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from rho.lang.syntax.formatter import format_source
from rho.shell.lsp.diagnostics import Action, ActionKind, actions, reports
from rho.shell.lsp.documents import Document, OpenDocuments, PositionEncoding, Range, TextChange, TextPosition
from rho.shell.lsp.hover import hover
from rho.shell.lsp.navigation import (
    TokenClass,
    TokenModifier,
    call_signatures,
    coloured_tokens,
    encode_tokens,
    format_edits,
    outline,
)

from .texts import URI, applied, document, marked


def said(text: str) -> str | None:
    opened, position = marked(text)
    found = hover(opened, position)
    return None if found is None else found.markdown


def at(opened: Document, line: int) -> Range:
    return Range(TextPosition(line, 0), TextPosition(line, 0))


# ------------------------------------------------------------------------------------------ diagnostics


def test_a_diagnostic_has_places_code_and_related_places() -> None:
    opened = document("⍝ 𝔸\ninput b : f64[2]\ninput A : f64[3]\n'𝔸' ⋄ y ← A + b\n")
    (found,) = reports(opened)
    assert found.code == "E101" and found.range == Range(TextPosition(3, 13), TextPosition(3, 14))
    assert {place.uri for place in found.related} == {URI} and len(found.related) >= 2


def test_an_empty_range_is_made_visible() -> None:
    for text in ("x ← ", "f ← {", "'abc", "x ← 1 +", "1 2 3[", "`", "`nosuch x"):
        for found in reports(document(text)):
            assert found.range.start < found.range.end, text


def test_a_schedule_is_checked_as_it_is_written() -> None:
    opened = document("y ← ⍳3\ny\nschedule {\n  plce y on cpu\n  minimize enrgy\n  place q on cpu\n}\n")
    found = reports(opened)
    assert [one.code for one in found] == ["SCH107"] * 3
    assert found[0].range == Range(TextPosition(3, 2), TextPosition(3, 6))
    (fixed,) = [one for one in actions(opened, found[1].range) if one.kind is ActionKind.FIX and one.resolves == found[1]]
    assert "energy" in str(fixed.edits)


def test_what_is_wrong_with_a_module_is_shown_where_it_is_used(tmp_path: Path) -> None:
    (tmp_path / "geometry.rho").write_text("area ← {⍵ + nosuch}\n", encoding="utf-8")
    opened = document('x ← 1\nuse "./geometry.rho"\n', (tmp_path / "main.rho").as_uri())
    (found,) = [one for one in reports(opened) if one.code == "E001"]
    assert found.range.start.line == 1 and "geometry.rho" in found.message
    assert found.related[0].uri == (tmp_path / "geometry.rho").as_uri()


def test_an_open_module_counts_as_it_stands_in_the_editor(tmp_path: Path) -> None:
    (tmp_path / "geometry.rho").write_text("area ← {⍵×⍵}\n", encoding="utf-8")
    folder = OpenDocuments()
    uri, main = (tmp_path / "geometry.rho").as_uri(), (tmp_path / "main.rho").as_uri()
    using = folder.open(main, 1, 'use "./geometry.rho"\ngeometry.area 3\n')
    assert reports(using) == []
    module = folder.open(uri, 1, "surface ← {⍵×⍵}\n")
    (again,) = folder.invalidate_users(module)
    assert [one.code for one in reports(again)] == ["E001"]
    changed = folder.change(uri, 2, [TextChange(None, "area ← {⍵}\n")])
    assert changed is not None
    (again,) = folder.invalidate_users(changed)
    assert reports(again) == []


def test_a_file_that_is_no_text_is_a_diagnostic(tmp_path: Path) -> None:
    (tmp_path / "bad.rho").write_bytes(b"x \xff\xfe\n")
    found = reports(document('use "./bad.rho"\n', (tmp_path / "main.rho").as_uri()))
    assert found and found[0].range.start.line == 0
    (tmp_path / "folder.rho").mkdir()
    assert reports(document('use "./folder.rho"\n', (tmp_path / "main.rho").as_uri()))


def test_schedule_blocks_are_checked_for_the_devices_of_the_setting() -> None:
    text = "y ← 2×⍳9\ny\nschedule {\n  place y on gup0\n}\n"
    assert reports(OpenDocuments().open(URI, 1, text)) == []
    (found,) = reports(OpenDocuments(devices="workstation").open(URI, 1, text))
    assert found.code == "SCH107" and found.range.start.line == 3
    contrary = text.replace("place y on gup0", "print y before y")
    assert [one.code for one in reports(OpenDocuments().open(URI, 1, contrary))] == ["SCH102"]


def test_strict_makes_guards_errors() -> None:
    text = "input x : f64[n]\ninput y : f64[m]\nx + y\n"
    assert [one.code for one in reports(OpenDocuments().open(URI, 1, text))] == ["W201"]
    assert [one.code for one in reports(OpenDocuments(strict=True).open(URI, 1, text))] == ["E101"]


# ------------------------------------------------------------------------------------------ hover


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("input x : f64[n]\ny‸ ← x × 2\n", ("y : 0 f64[n]",)),
        ("input x‸ : f64[n]\n+/x × x\n", ("x : 2 f64[n]",)),
        ("param k‸ ← 3\n", ("param k : i64",)),
        ("⍝ The mean of the cells.\n⍝ >>> mean 1 2\n⍝ 1.5\nmean‸ ← {(+⌿⍵)÷≢⍵}\n",
         ("mean : 1 f64[n] → f64", "The mean of the cells.", "mean 1 2", "at n=1000", "formulas: `rho type ")),
        ("use stats\nstats.me‸an 1 2\n", ("stats.mean : f64[n ..s] → f64[..s]", "arithmetic mean")),
        ("+/‸⍳10\n", ("**⍳**", "`` `iota ``", "index of", "⍳5")),
        ("+/`io‸ta 10\n", ("**⍳**",)),
        ("‸+/1 2\n", ("**+**", "add")),
        ("+‸/1 2\n", ("**/**", "reduce")),
        ("⎕ff‸t 1 2\n", ("**⎕fft**",)),
        ("f64‸ 3\n", ("**f64**",)),
        ("inp‸ut x : f64[n]\n", ("**input**",)),
        ("x ← 1\nx‸ ← x , 2\n", ("x : 0 i64[2]",)),
        ("x‸ ← 1 2\nx ← +/x\n", ("x : i64[2]",)),
        ("f ← {y‸ ← ⍵ × 2 ⋄ y + 1}\nf 1.5 2 3\n", ("y : f64[3]",)),
        ("input x : f64[n‸]\n", ("a size",)),
    ],
)  # fmt: skip
def test_hover(text: str, parts: tuple[str, ...]) -> None:
    found = said(text)
    assert found is not None
    for part in parts:
        assert part in found, found


@pytest.mark.parametrize("text", ["1‸2 + 3\n", "'a‸bc'\n", "⍝ some w‸ords\n", "nos‸uch + 1\n", "‸\n", "x ← 1 ‸ \n"])
def test_nothing_to_say(text: str) -> None:
    assert said(text) is None


def test_hover_in_a_rejected_program() -> None:
    found = said("input x : f64[3]\ny‸ ← x × 2\nx + 1 2\n")
    assert found is not None and "y : f64[3]" in found


def test_hover_gives_the_range_in_utf16() -> None:
    opened, position = marked("'𝔸' ⋄ xy‸z ← 1\n")
    found = hover(opened, position)
    assert found is not None and found.range == Range(TextPosition(0, 7), TextPosition(0, 10))


# ------------------------------------------------------------------------------------------ actions


def titles(text: str) -> list[str]:
    opened, position = marked(text)
    return [action.title for action in actions(opened, Range(position, position))]


def test_a_fix_is_offered_and_repairs_the_program() -> None:
    opened, position = marked("points ← 1 2\npiont‸s + 1\n")
    (found,) = actions(opened, Range(position, position))
    assert found.kind is ActionKind.FIX and found.is_only_fix and found.resolves is not None and found.resolves.code == "E001"
    repaired = applied(opened, found.edits[URI])
    assert repaired == "points ← 1 2\npoints + 1\n" and reports(document(repaired)) == []


def test_no_fix_is_offered_elsewhere() -> None:
    assert titles("points‸ ← 1 2\npionts + 1\n") == []


def signatures(text: str) -> tuple[Document, list[Action]]:
    opened, position = marked(text)
    return opened, [one for one in actions(opened, Range(position, position)) if one.kind is ActionKind.REWRITE]


@pytest.mark.parametrize(
    "text",
    [
        "mean‸ ← {(+⌿⍵)÷≢⍵}\n", "x ← 1 ⋄ 2\nf ← {⍺+.×⍵‸}\n", "g ← +/‸\n", "unit ← {⍵÷√+/⍵‸×⍵}\nunit 1.5 2\n",
        "⍝ Doc.\nsm ← {e ← *⍵-⌈/⍵ ⋄ e÷+/e}‸\n",
    ],
)  # fmt: skip
def test_a_signature_is_offered_and_accepted(text: str) -> None:
    opened, found = signatures(text)
    assert found
    for action in found:
        made = document(applied(opened, action.edits[URI]))
        assert not [one for one in reports(made) if one.code.startswith("E")], made.text
        assert "→" in made.text


def test_no_signature_is_offered_for_what_has_one_or_is_none() -> None:
    assert signatures("f : f64[n] → f64\nf ← {+/⍵‸}\n")[1] == []
    assert signatures("x ← 1‸ 2\n")[1] == []
    # used with vectors and matrices: a signature for either would break the other use
    both = "f ← {(+⌿⍵)÷≢⍵}‸\nf 1.5 2\nf 2 2⍴1.5\n"
    for action in signatures(both)[1]:
        made = applied(document(both.replace("‸", "")), action.edits[URI])
        assert not [one for one in reports(document(made)) if one.code.startswith("E")]


# ------------------------------------------------------------------------------------------ the rest


def test_outline() -> None:
    opened = document("use stats\nparam k ← 3\nx ← 1 2\nf ← {y ← ⍵ ⋄ y}\nop ← {⍺⍺ ⍵}\n")
    assert [(entry.name, entry.kind.value, [one.name for one in entry.inside]) for entry in outline(opened)] == [
        ("stats", "module", []), ("k", "param", []), ("x", "array", []), ("f", "function", ["y"]), ("op", "operator", []),
    ]  # fmt: skip
    assert opened.checked.accepted
    assert outline(opened)[2].detail == "i64[2]" or "int" in outline(opened)[2].detail
    for entry in outline(opened):
        assert entry.range.start <= entry.name_range.start and entry.name_range.end <= entry.range.end


def test_words_by_class() -> None:
    opened = document("use stats\ninput x : f64[n]\nf ← {stats.mean ⍵}\n+/f¨'a' 2 x ⍝ end\n`iota 3\n")
    found = [(opened.text[w.start : w.end], w.kind) for w in coloured_tokens(opened)]
    for text, kind in {
        "use": "KEYWORD", "stats": "NAMESPACE", "x": "VARIABLE", "f64": "TYPE", "n": "SIZE", "f": "FUNCTION", "mean": "FUNCTION",
        "⍵": "PARAMETER", "+": "FUNCTION", "/": "OPERATOR", "¨": "OPERATOR", "'a'": "TEXT", "2": "NUMBER", "⍝ end": "COMMENT",
        "`iota": "FUNCTION",
    }.items():  # fmt: skip
        assert (text, TokenClass[kind]) in found, text
    declared = [w for w in coloured_tokens(opened) if TokenModifier.DECLARATION in w.modifiers]
    assert [opened.text[w.start : w.end] for w in declared] == ["stats", "x", "n", "f"]


@pytest.mark.parametrize("encoding", PositionEncoding)
def test_encoded_words_lead_back_to_the_text(encoding: PositionEncoding) -> None:
    text = "'𝔸' ⋄ x ← ⍳3\r\n⍝ 𝔸𝔸\n(x ⋄ '𝔸𝔸') ⋄ y ← `iota 3\n"
    opened = OpenDocuments(encoding=encoding).open(URI, 1, text)
    data = encode_tokens(opened)
    line = column = 0
    found = []
    for down, right, length, kind, bits in zip(*[iter(data)] * 5, strict=True):
        line, column = line + down, (column if down == 0 else 0) + right
        start = opened.lines.offset(TextPosition(line, column))
        found.append(text[start : opened.lines.offset(TextPosition(line, column + length))])
        assert 0 <= kind < len(TokenClass) and 0 <= bits < 8
    assert found == [text[w.start : w.end] for w in coloured_tokens(opened)] and "'𝔸𝔸'" in found and "`iota" in found


def test_formatting() -> None:
    text = "x←1   +  2\n\n\n\ny  ←  `iota  3  ⍝ c\nz ← 3\n"
    opened = document(text)
    edits = format_edits(opened)
    made = applied(opened, edits)
    assert made == format_source(opened.source) and format_edits(document(made)) == []
    assert format_edits(document("x ← (1\n")) == [] and format_edits(document("")) == []


def test_formatting_touches_only_lines_that_change() -> None:
    opened = document("a ← 1\nb←2\nc ← 3\n")
    (edit,) = format_edits(opened)
    assert edit.range == Range(TextPosition(1, 0), TextPosition(2, 0)) and edit.text == "b ← 2\n"


def test_formatting_keeps_line_ends() -> None:
    opened = document("a←1\r\nb ← 2\r\n")
    assert applied(opened, format_edits(opened)) == "a ← 1\r\nb ← 2\r\n"
    unfinished = document("a ← 1\nb←2")
    assert applied(unfinished, format_edits(unfinished)) == "a ← 1\nb ← 2\n"


def test_calls() -> None:
    opened, position = marked("dot ← {⍺+.×⍵}\n1 2 dot ‸\n")
    found = call_signatures(opened, position)
    assert found and found[0].label.startswith("dot : ")
    assert [found[0].label[start:end] for start, end in found[0].parameters] == found[0].label[6:].split(" → ")[:-1]
    opened, position = marked("use stats\nstats.mean ‸\n")
    assert call_signatures(opened, position)[0].doc
    opened, position = marked("2 3⍴‸\n")
    assert [one.label for one in call_signatures(opened, position)] == ["⍴ B", "A ⍴ B"]
    opened, position = marked("x ← ‸\n")
    assert call_signatures(opened, position) == []


def test_formatting_a_range_touches_only_its_lines() -> None:
    opened = document("a←1\nb←2\nc←3\n")
    (edit,) = format_edits(opened, Range(TextPosition(1, 0), TextPosition(1, 2)))
    assert edit.text == "b ← 2\n"
    assert format_edits(opened, Range(TextPosition(1, 0), TextPosition(2, 0))) == [edit]
