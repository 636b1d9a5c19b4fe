"""Typing glyphs, the language bar, completion and colours, without a terminal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rho.lang.primitives.table import PRIMITIVES, glyph_of
from rho.shell.repl import terminal
from rho.shell.repl.commands import COMMANDS
from rho.shell.repl.status_line import preview_of
from rho.shell.repl.terminal import coloured_fragments, session_completions
from rho.shell.workspace.workspace import Workspace

Enter = Callable[..., list[str]]


def keys(text: str, prefix: str = "`") -> str:
    """What stands there after the characters were typed one by one."""
    line, after = "", 0
    for character in text:
        line += character
        found = terminal.glyph_replacement(line, prefix, after)
        if found is not None:
            after = len(line) - 1 if found.text == prefix else after
            line = line[: len(line) - found.length] + found.text
    return line


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("x `[ `iota 5", "x ← ⍳5"), ("`rho x", "⍴x"), ("`ix", "⍳x"), ("`i5", "⍳5"), ("`i 5", "⍳5"), ("`iota(3)", "⍳(3)"),
        ("`[", "←"), ("``", "⋄"), ("`-5", "¯5"), ("a`-b", "a×b"), ("a`- b", "a×b"),
        ("'`iota '", "'`iota '"), ("⍝ `iota x", "⍝ `iota x"),
        ("a`qq", "a?q"),
        ("`2", "¯"), ("2`", "2`"), ("x `", "x `"), ("`w+`a ", "⍵+⍺"),
    ],
)  # fmt: skip
def test_glyphs_appear(typed: str, line: str) -> None:
    assert keys(typed) == line


def test_every_name_and_key_can_be_typed() -> None:
    for row in PRIMITIVES:
        for name in row.names:
            assert keys(f"`{name} ").strip() == glyph_of(name), name
        if row.key is not None and row.glyph != "'":
            assert keys(f"`{row.key} ").strip() == row.glyph, row.key


def test_another_prefix() -> None:
    assert keys("x;[;iota 3", ";") == "x←⍳3"
    assert keys("x[1;;2]", ";") == "x[1;2]", "twice the prefix is the prefix"
    assert keys("`iota ", ";").strip() == "⍳", "the backtick always works"
    assert terminal.with_backticks("x ;iota", ";") == "x `iota"
    assert terminal.with_backticks("';iota'", ";") == "';iota'"


def test_the_bar() -> None:
    lines = terminal.language_bar("", 100)
    assert any("i ⍳" in line for line in lines) and all(len(line) <= 102 for line in lines)
    narrowed = terminal.language_bar("iot", 60)
    assert "⍳ iota" in narrowed[0] and "⍳" in narrowed[-1] and len(narrowed[-1]) <= 60
    assert terminal.language_bar("zzz", 60) == ["`zzz begins no name"]


def offered(workspace: Workspace, before: str) -> list[str]:
    return [offer.text for offer in session_completions(before, workspace, "`", COMMANDS)]


def test_completion(enter: Enter, workspace: Workspace, tmp_path: Path) -> None:
    enter("alpha ← 1", "use stats")
    (tmp_path / "data.npy").write_bytes(b"")
    (tmp_path / "sub").mkdir()
    assert "alpha" in offered(workspace, "2+alp")
    assert "⍳" in offered(workspace, "`iot")
    assert "⍳" in offered(workspace, "iot")
    assert "mean" in offered(workspace, "x+stats.me")
    assert offered(workspace, ")sea") == [")search"]
    assert offered(workspace, ")load da") == ["data.npy"]
    assert offered(workspace, 'input x : f64[n] ← "s') == ["sub/"]
    assert "⎕fft" in offered(workspace, "⎕ff")
    assert "stats" in offered(workspace, "use st")
    assert offered(workspace, "⍝ alp") == []


def test_colours_lose_nothing(workspace: Workspace, enter: Enter) -> None:
    enter("f ← {⍵}", "x ← 1")
    for line in ("y ← f¨x + 1.5 ⍝ note", "'open", "((", ")type x", "{⍺ ⍵}⎕fft \x00"):
        assert "".join(text for _, text in coloured_fragments(line, workspace.state.types)) == line
    classes = {text: kind for kind, text in coloured_fragments("f¨x", workspace.state.types)}
    assert classes == {"f": "function", "¨": "operator", "x": "defined"}


def test_the_bottom_line(enter: Enter, workspace: Workspace) -> None:
    enter("x ← 5000⍴1.5")
    checker = workspace.session.checker()
    line = preview_of(workspace, "x×2", checker).line
    assert line.startswith("f64[5000] · reads each element once · ") and line.endswith("cpu0") and "kB" in line
    assert "reads x 2×" in preview_of(workspace, "x×⌽x", checker).line
    wrong = preview_of(workspace, "x + 1 2", checker)
    assert wrong.is_error and wrong.line.startswith("E101")
    for text in ("", ")help", "{", "f : f64[n] → f64[n]\nf ← {⍵}", "input q : f64[n m]"):
        assert preview_of(workspace, text, checker).line == ""
    assert workspace.state.log[-1].text == "x ← 5000⍴1.5", "looking enters nothing"
