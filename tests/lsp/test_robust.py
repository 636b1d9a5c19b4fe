"""Whatever the text and the place, every question has an answer: nothing raises, whatever is half typed or broken."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st
from share import drawing

from rho.lang.syntax.source import Source
from rho.shell.lsp import (
    completion,
    diagnostics,
    hints,
    hints as lenses,
    navigation,
    navigation as calls,
    navigation as formatting,
    navigation as outline,
    navigation as semantic,
)
from rho.shell.lsp.diagnostics import reports
from rho.shell.lsp.documents import Document, OpenDocuments, Range, TextChange, TextPosition
from rho.shell.lsp.hover import hover
from rho.shell.pipeline import Session

from .texts import URI, document

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted((ROOT / "examples").glob("*.rho"))
PIECES = st.sampled_from([
    "x ← 1 2 \n", " ⋄ ", "{⍵+x}", "(", ")", "[", "]", "f ← {y←⍵ ⋄ y}\n", "f : f64[n] → f64\n",
    "input b : f64[n m] where n ≥ m\n", "'text", "\"", "⍝ note\n", "`iota", "`", "use stats\n", "stats.mean ", "stats.",
    "param k ← 3\n", "output x\n", "schedule {\n cpu { x } }\n", "←", "→", ":", ";", "⍣", "/", "⍵⍵", "⍺⍺", "∇", "$", "\t",
    "\r\n", "𝔸", "f", "x", "+", "⎕", "⎕fft ", "1e", "¯", ".", "..", "x[0]←1\n", "x +← 2\n", "(a b) ← (1 ⋄ 2)\n", "{⍺⍺ ⍵}",
    "use \"./x.rho\"\n", "n", "x : f64[2] ← ", "where", "_",
])  # fmt: skip


def ask_everything(opened: Document, position: TextPosition) -> None:
    """Every request at one place."""
    here = Range(position, position)
    reports(opened)
    hover(opened, position)
    hints.hints(opened, opened.lines.full_range())
    completion.completion(opened, position)
    for typed in (" ", "\n", "("):
        completion.on_type(opened, position, typed)
    diagnostics.actions(opened, here)
    calls.call_signatures(opened, position)
    outline.outline(opened)
    semantic.encode_tokens(opened)
    for lens in lenses.lenses(opened)[:2]:
        lenses.lens_text(opened, lens.name)
    formatting.format_edits(opened)
    navigation.definition(opened, position)
    navigation.references(opened, position)
    try:
        navigation.rename(opened, position, "other")
    except navigation.CannotRename as error:
        assert str(error)


@settings(max_examples=80, deadline=None)
@given(st.lists(PIECES, max_size=14).map("".join), st.integers(0, 200))
def test_any_text(text: str, offset: int) -> None:
    opened = document(text)
    ask_everything(opened, opened.lines.position(min(offset, len(text))))


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_programs_cut_anywhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    chosen = drawing(path.name)
    for cut in chosen.sample(range(len(text)), 3):
        opened = document(text[:cut], path.as_uri())
        ask_everything(opened, opened.lines.position(cut))


@pytest.mark.parametrize("position", [TextPosition(-1, 0), TextPosition(0, -5), TextPosition(999, 999), TextPosition(0, 10**6)])
def test_places_outside_the_text(position: TextPosition) -> None:
    for text in ("", "x ← 1", "x ← 1\n", "\r\n\r"):
        ask_everything(document(text), position)


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    ["{" * 400, "{" * 5000, "(" * 400 + ")" * 400, "x ← " + "1+" * 3000 + "1\n", "'" * 999, "x" * 100_000, "a ← 1 ⋄ " * 2000,
     "`" * 500, "\x00", "\ufeffx ← 1\n", "input x : " + "(" * 200],
    ids=lambda text: repr(text[:8]),
)  # fmt: skip
def test_hostile_texts(text: str) -> None:
    opened = document(text)
    ask_everything(opened, opened.lines.position(len(text) // 2))


def test_what_editing_shows_is_what_checking_the_text_shows() -> None:
    """Random edits one after the other: the diagnostics of every version are those of its text alone."""
    chosen = drawing("edits")
    path = ROOT / "examples" / "kmeans.rho"
    text = path.read_text(encoding="utf-8")
    folder = OpenDocuments()
    opened = folder.open(path.as_uri(), 1, text)
    for version in range(2, 40):
        start = chosen.randrange(len(opened.text))
        end = min(len(opened.text), start + chosen.choice((0, 0, 1, 3)))
        new = chosen.choice(("", "x", " + 1", "\n", "𝔸", "⍵", "}", "k"))
        change = TextChange(opened.lines.range(start, end), new)
        after = folder.change(opened.uri, version, [change])
        assert after is not None and after.text == opened.text[:start] + new + opened.text[end:]
        alone = Session().check(Source(after.name, after.text))
        assert after.checked.diagnostics == alone.diagnostics and after.checked.types == alone.types
        opened = after if chosen.random() < 0.7 else folder.open(path.as_uri(), version, text)


def test_a_closed_document_is_gone() -> None:
    folder = OpenDocuments()
    folder.open(URI, 1, "x")
    folder.close(URI)
    assert folder.change(URI, 2, []) is None
    folder.close(URI)
