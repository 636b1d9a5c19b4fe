"""Rendering: the model of ux.md to the letter, hard cases of layout, and the machine formats."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given, strategies as st

from rho.lang.diagnostics.model import Code, Diagnostic, Edit, Fix, Label, Severity, Verdict
from rho.lang.diagnostics.render import (
    Ink,
    display_line,
    displayed_character as printed,
    render_text,
    to_github,
    to_json,
    to_sarif,
)
from rho.lang.syntax.source import Source, Span

WAVE = Source("wave.rho", "input A : f64[n m]\ninput b : f64[m]\nk ← 3\ny ← A + b\n")


def at(source: Source, piece: str, after: int = 0) -> Span:
    start = source.text.index(piece, after)
    return Span(source.name, start, start + len(piece))


def texts(*sources: Source) -> dict[str, Source]:
    return {source.name: source for source in sources}


def lines(text: str) -> str:
    return text.removeprefix("\n")


def model() -> Diagnostic:
    last = WAVE.text.index("y ←")
    plus = at(WAVE, "+", last)
    return Diagnostic(
        Code.E101, "these arrays do not line up: leading axes n and m may differ", plus,
        label="its axis 0 meets A's axis 0",
        labels=(Label(at(WAVE, "A", last), "f64[n m]"),
                Label(at(WAVE, "b", last), "f64[m]     from `input b : f64[m]` (line 2)")),
        fixes=(Fix("frames match from the left; to add b to every row write `A +⍤1 ⊢ b`", (Edit(plus, "+⍤1 ⊢"),)),),
        goal="n = m", verdict=Verdict.DEPENDS, counterexample={"n": 1, "m": 2},
    )  # fmt: skip


def test_model_of_the_design() -> None:
    assert render_text([model()], texts(WAVE)) == lines("""
error[E101]: these arrays do not line up: leading axes n and m may differ
  ┌─ wave.rho:4:7
4 │ y ← A + b
  │     ┬ ┬ ┬
  │     │ │ ╰ f64[m]     from `input b : f64[m]` (line 2)
  │     │ ╰ its axis 0 meets A's axis 0
  │     ╰ f64[n m]
  = example that breaks it: n=1, m=2
  = frames match from the left; to add b to every row write `A +⍤1 ⊢ b`      [fix]
""")


def test_colour_changes_nothing_but_escapes() -> None:
    coloured = render_text([model()], texts(WAVE), ink=Ink.ANSI)
    assert coloured.startswith("\x1b[1;31merror[E101]\x1b[0m")
    assert re.sub("\x1b\\[[0-9;]*m", "", coloured) == render_text([model()], texts(WAVE))


def test_labels_on_several_lines_and_files() -> None:
    other = Source("other.rho", "f ← {⍵}\n")
    diagnostic = Diagnostic(
        "E300", "two places", at(WAVE, "k"), Severity.WARNING,
        labels=(Label(at(WAVE, "y"), "used here"), Label(at(WAVE, "input A"), ""), Label(at(other, "f"), "defined here")),
    )  # fmt: skip
    assert render_text([diagnostic], texts(WAVE, other)) == lines("""
warning[E300]: two places
  ┌─ wave.rho:3:1
1 │ input A : f64[n m]
  │ ───────
2 │ input b : f64[m]
3 │ k ← 3
  │ ─
4 │ y ← A + b
  │ ┬
  │ ╰ used here
  ┌─ other.rho:1:1
1 │ f ← {⍵}
  │ ┬
  │ ╰ defined here
""")


def test_distant_lines_are_cut_out_and_the_gutter_is_as_wide_as_the_last_number() -> None:
    source = Source("long.rho", "".join(f"x{i} ← {i}\n" for i in range(1, 13)))
    diagnostic = Diagnostic(Code.E001, "far", at(source, "x12"), label="b", labels=(Label(at(source, "x1"), "a"),))
    assert render_text([diagnostic], texts(source)) == lines("""
error[E001]: far
   ┌─ long.rho:12:1
 1 │ x1 ← 1
   │ ┬─
   │ ╰ a
   ·
12 │ x12 ← 12
   │ ┬──
   │ ╰ b
""")


def test_nested_and_equal_spans() -> None:
    source = Source("n.rho", "abc def")
    whole, part = Span("n.rho", 0, 7), Span("n.rho", 4, 7)
    diagnostic = Diagnostic("E1", "m", whole, label="all", labels=(Label(part, "one"), Label(part, "two")))
    assert render_text([diagnostic], texts(source)) == lines("""
error[E1]: m
  ┌─ n.rho:1:1
1 │ abc def
  │     ┬──
  │     ├ one
  │     ╰ two
  │ ┬──────
  │ ╰ all
""")


def test_span_over_several_lines_is_a_rail() -> None:
    source = Source("m.rho", "f ← {\n  ⍵+1\n  ⍺\n}\nf 1\n")
    diagnostic = Diagnostic(
        "E133", "needs ⍺", at(source, "{\n  ⍵+1\n  ⍺\n}"), label="this function", labels=(Label(at(source, "⍺"), "here"),)
    )
    assert render_text([diagnostic], texts(source)) == lines("""
error[E133]: needs ⍺
  ┌─ m.rho:1:5
1 │   f ← {
  │ ╭─────╯
2 │ │   ⍵+1
3 │ │   ⍺
  │ │   ┬
  │ │   ╰ here
4 │ │ }
  │ ╰─╯ this function
""")


def test_long_rail_is_shortened() -> None:
    body = "".join(f"  ⍵+{i}\n" for i in range(8))
    source = Source("m.rho", "f ← {\n" + body + "}\n")
    text = render_text([Diagnostic("E1", "m", Span("m.rho", 4, len(source.text) - 1))], texts(source))
    assert text == lines("""
error[E1]: m
   ┌─ m.rho:1:5
 1 │   f ← {
   │ ╭─────╯
 2 │ │   ⍵+0
   · │
10 │ │ }
   │ ╰─╯
""")


def test_wide_combining_and_tab_characters_keep_the_underline_in_place() -> None:
    source = Source("w.rho", "\t日本e\u0301 + x")
    found = Diagnostic("E1", "m", at(source, "+"), label="p", labels=(Label(at(source, "日本"), "w"),))
    text = render_text([found], texts(source))
    assert text == lines("""
error[E1]: m
  ┌─ w.rho:1:7
1 │     日本e\u0301 + x
  │     ┬───  ┬
  │     │     ╰ p
  │     ╰ w
""")


def test_text_direction_and_control_characters_are_made_visible() -> None:
    source = Source("c.rho", "a\u202eb\x1b[31m\x7f\u2028")
    text = render_text([Diagnostic(Code.E006, "m", at(source, "b"), label="p")], texts(source))
    assert "a�b␛[31m␡�" in text
    assert "\x1b" not in text and "\u202e" not in text


def test_long_line_is_windowed_around_the_span() -> None:
    source = Source("l.rho", "1 + " * 500 + "z" + " + 2" * 500)
    text = render_text([Diagnostic(Code.E001, "m", at(source, "z"), label="here")], texts(source), width=60)
    shown, underline = text.splitlines()[2:4]
    assert len(shown) <= 60 + 4
    assert shown[4] == "…" and shown[-1] == "…"
    assert shown[underline.index("┬")] == "z"


def test_megabyte_line_is_short() -> None:
    source = Source("l.rho", "x" * 999_990 + "y" * 5 + "z" * 5)
    text = render_text([Diagnostic(Code.E016, "m", at(source, "yyyyy"), label="here")], texts(source))
    shown, underline = text.splitlines()[2:4]
    assert len(shown) <= 124 and shown.endswith("yyyyyzzzzz")
    assert shown[underline.index("┬")] == "y" and underline.endswith("┬────")


@pytest.mark.parametrize(("start", "end", "column"), [(5, 5, 0), (4, 4, 4), (900, 950, 0), (0, 0, 0)])
def test_empty_and_outside_spans_get_one_cell(start: int, end: int, column: int) -> None:
    source = Source("e.rho", "abcd\n")
    text = render_text([Diagnostic(Code.E002, "end", Span("e.rho", start, end), label="here")], texts(source))
    assert text.splitlines()[3] == "  │ " + " " * column + "┬"


def test_unknown_source_and_empty_source() -> None:
    missing = Diagnostic(
        "E704", "cannot read", Span("data.npy", 0, 0), label="no such file", notes=("looked in .\nand nowhere else",)
    )
    assert render_text([missing], {}) == lines("""
error[E704]: cannot read
  ┌─ data.npy
  = no such file
  = looked in .
    and nowhere else
""")
    empty = Source("empty.rho", "")
    assert "1 │\n" in render_text([Diagnostic(Code.E002, "nothing", Span("empty.rho", 0, 0))], texts(empty))


def test_crlf_source_prints_no_carriage_return() -> None:
    source = Source("r.rho", "a ← 1\r\nb ← 2\r\n")
    assert "\r" not in render_text([Diagnostic(Code.E001, "m", at(source, "a"))], texts(source))


def test_goal_is_shown_only_where_it_adds_something() -> None:
    span = at(WAVE, "k")
    unproved = Diagnostic(Code.E209, "cannot prove it", span, goal="n = m", verdict=Verdict.UNKNOWN)
    assert "  = needed: n = m, which is not proved\n" in render_text([unproved], texts(WAVE))
    named = Diagnostic(Code.E209, "cannot prove n = m", span, goal="n = m", verdict=Verdict.UNKNOWN)
    assert "needed" not in render_text([named], texts(WAVE))


def test_a_fix_without_edits_is_a_plain_note() -> None:
    text = render_text([Diagnostic(Code.E001, "m", at(WAVE, "k"), fixes=(Fix("write it down"),))], texts(WAVE))
    assert text.endswith("  = write it down\n")


TEXTS = st.text(alphabet=st.sampled_from("ab ⍵⍺\n\t日e\u0301\u202e\U0001d49c\r"), max_size=60)


@given(
    TEXTS,
    st.lists(
        st.tuples(st.integers(-2, 70), st.integers(-2, 70), st.sampled_from(["", "label", "two\nlines"])), min_size=1, max_size=5
    ),
)
def test_any_spans_render_without_control_characters(text: str, spans: list[tuple[int, int, str]]) -> None:
    source = Source("any.rho", text)
    (start, end, label), *rest = spans
    diagnostic = Diagnostic(
        "E1", "m", Span("any.rho", start, end), label=label, labels=tuple(Label(Span("any.rho", a, b), c) for a, b, c in rest)
    )  # fmt: skip
    rendered = render_text([diagnostic], texts(source), width=30)
    assert not set(rendered) & set("\t\r\x1b\u202e")
    assert ("two lines" in rendered) == any(message == "two\nlines" for _, _, message in spans)
    ranged = to_json([diagnostic], texts(source), ["any.rho"], 0.0)["diagnostics"][0]["range"]
    assert (ranged["start"]["line"], ranged["start"]["character"]) <= (ranged["end"]["line"], ranged["end"]["character"])


@given(TEXTS, st.integers(0, 60), st.integers(0, 60), st.integers(20, 60))
def test_a_shown_line_fits_and_its_columns_never_go_back(text: str, a: int, b: int, limit: int) -> None:
    line = text.replace("\n", "")
    shown = display_line(line, [(min(a, b), max(a, b))], limit)
    assert sum(printed(character, 0)[1] for character in shown.text) <= limit
    columns = [shown.column(index) for index in range(len(line) + 1)]
    assert columns == sorted(columns)


def test_json_has_the_schema_of_the_design() -> None:
    wide = Source("wide.rho", "x ← '𝒜' + 1\n")
    plus = at(wide, "+")
    diagnostic = Diagnostic(
        "E300", "text", plus, labels=(Label(at(wide, "'𝒜'"), "char"),), fixes=(Fix("convert", (Edit(plus, "×"),)),),
        goal="g", counterexample={"n": 0},
    )  # fmt: skip
    report = to_json([diagnostic, Diagnostic(Code.W201, "w", plus, Severity.WARNING)], texts(wide), ["wide.rho"], 12.345)
    assert json.loads(json.dumps(report)) == report
    assert report["summary"] == {"errors": 1, "warnings": 1, "ms": 12.3}
    first, second = report["diagnostics"]
    assert first["range"] == {"start": {"line": 0, "character": 9}, "end": {"line": 0, "character": 10}}
    assert first["related"] == [
        {
            "file": "wide.rho",
            "range": {"start": {"line": 0, "character": 4}, "end": {"line": 0, "character": 8}},
            "message": "char",
        }
    ]
    assert first["fixes"] == [{"title": "convert", "edits": [{"file": "wide.rho", "range": first["range"], "newText": "×"}]}]
    assert (first["goal"], first["counterexample"], first["severity"], first["code"]) == ("g", {"n": 0}, "error", "E300")
    assert (second["goal"], second["counterexample"], second["severity"]) == (None, None, "warning")


def test_sarif_log() -> None:
    log = to_sarif([model(), Diagnostic(Code.W310, "w", Span("a b.rho", 0, 1), Severity.WARNING)], texts(WAVE), "0.1.0")
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["E101", "W310"]
    assert run["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == "these arrays do not line up"
    first, second = run["results"]
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 4, "startColumn": 7, "endLine": 4, "endColumn": 8}
    assert [related["id"] for related in first["relatedLocations"]] == [0, 1]
    assert first["fixes"][0]["artifactChanges"][0]["replacements"][0]["insertedContent"]["text"] == "+⍤1 ⊢"
    assert second["ruleIndex"] == 1 and second["level"] == "warning"
    assert second["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "a%20b.rho"}}


def test_github_annotations() -> None:
    source = Source("a,b:c.rho", "x ← 1\ny ← {\n}\n")
    one = Diagnostic(Code.E101, "50% wrong\nreally", at(source, "1"), notes=("note",))
    many = Diagnostic(Code.W201, "wide", at(source, "{\n}"), Severity.WARNING)
    note = Diagnostic(Code.SCH302, "gap", Span("<eval>", 0, 0), Severity.NOTE)
    assert to_github([one, many, note], texts(source)).splitlines() == [
        "::error file=a%2Cb%3Ac.rho,line=1,endLine=1,col=5,endColumn=6,title=E101::50%25 wrong%0Areally%0Anote",
        "::warning file=a%2Cb%3Ac.rho,line=2,endLine=3,title=W201::wide",
        "::notice file=<eval>,title=SCH302::gap",
    ]
