"""Positions and edits, counted as editors count."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from rho.shell.lsp.documents import PositionEncoding, Range, TextChange, TextLines, TextPosition, apply_changes

TEXTS = st.text(alphabet="ab⍳𝔸é\n\r\u2028\x0c", max_size=30)


@pytest.mark.parametrize(("encoding", "column"), [(PositionEncoding.UTF16, 4), (PositionEncoding.UTF8, 8),
    (PositionEncoding.UTF32, 3)])
def test_a_column_counts_units(encoding: PositionEncoding, column: int) -> None:
    lines = TextLines("⍳𝔸xy", encoding)
    assert lines.position(3) == (0, column)
    assert lines.offset(TextPosition(0, column)) == 3


def test_the_inside_of_a_pair_is_its_start() -> None:
    assert TextLines("𝔸b").offset(TextPosition(0, 1)) == 0
    assert TextLines("𝔸b").offset(TextPosition(0, 2)) == 1


def test_lines_end_where_editors_say() -> None:
    lines = TextLines("a\r\nb\rc\nd\u2028e\x0cf")
    assert [lines.line(n) for n in range(len(lines))] == ["a", "b", "c", "d\u2028e\x0cf"]
    assert lines.offset(TextPosition(0, 99)) == 1
    assert lines.position(2) == (0, 1)  # between \r and \n


def test_places_outside_are_the_nearest_inside() -> None:
    lines = TextLines("ab\nc")
    assert lines.offset(TextPosition(9, 0)) == 4 and lines.offset(TextPosition(0, 7)) == 2 and lines.offset(TextPosition(-1,
        4)) == 0
    assert lines.line(5) == ""


@given(TEXTS, st.sampled_from(PositionEncoding))
def test_a_position_leads_back(text: str, encoding: PositionEncoding) -> None:
    lines = TextLines(text, encoding)
    for offset in range(len(text) + 1):
        if text[offset - 1 : offset + 1] != "\r\n":
            assert lines.offset(lines.position(offset)) == offset


@given(TEXTS, st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), TEXTS), max_size=4))
def test_changes_apply_one_after_the_other(text: str, drawn: list[tuple[int, int, str]]) -> None:
    lines, wanted = TextLines(text), text
    for first, second, new in drawn:
        start, end = sorted((min(first, len(wanted)), min(second, len(wanted))))
        if "\r\n" in (wanted[start - 1 : start + 1], wanted[end - 1 : end + 1]):
            continue
        lines = apply_changes(lines, [TextChange(Range(lines.position(start), lines.position(end)), new)])
        wanted = wanted[:start] + new + wanted[end:]
        assert lines.text == wanted


def test_changes_of_one_message_count_in_what_came_before() -> None:
    def at(start: int, end: int) -> Range:
        return Range(TextPosition(0, start), TextPosition(0, end))

    changes = [TextChange(at(0, 1), "xyz"), TextChange(at(0, 2), ""), TextChange(None, "⍳⍳"), TextChange(at(1, 2), "n")]
    made = apply_changes(TextLines("abc"), changes)
    assert made.text == "⍳n"
    backwards = TextChange(Range(TextPosition(0, 2), TextPosition(0, 0)), "z")
    assert apply_changes(TextLines("abc"), [backwards]).text == "zc"
