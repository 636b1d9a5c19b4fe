"""What somebody types who has never seen the session: `help`, `exit`, a way back, lines edited without any extra."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from rho.shell.console.standard_streams import Console
from rho.shell.pipeline import Session
from rho.shell.repl.commands import CommandContext, PlainEntryReader, run_session
from rho.shell.repl.status_line import ReplSettings
from rho.shell.workspace.entry_program import MOST_UNDO
from rho.shell.workspace.workspace import Workspace


def session(lines: str) -> tuple[int, str, str, Workspace]:
    out, err, workspace = io.StringIO(), io.StringIO(), Workspace(Session())
    console = Console(out, err, io.StringIO(lines), {})
    code = run_session(PlainEntryReader(console), CommandContext(workspace, console, ReplSettings()))
    return int(code), out.getvalue(), err.getvalue(), workspace


@pytest.mark.parametrize("word", ["exit", "quit", "exit()", "quit()"])
def test_words_that_leave(word: str) -> None:
    assert session(f"1\n{word}\n2\n")[:3] == (0, "1\n", "")


def test_help_is_a_word_too() -> None:
    for word in ("help", "?", "help()"):
        assert ")undo" in session(f"{word}\n")[1]


def test_a_name_of_ones_own_is_a_name() -> None:
    assert session("help ← 3\nhelp+1\nhelp\n")[1] == "4\n3\n"


def test_undo_takes_back_entries_one_by_one() -> None:
    code, out, err, workspace = session("x ← 1\nx ← 2\ny ← x\n)undo\n)undo\nx\n)undo\n)undo\n)undo\n")
    assert (code, out) == (2, "1\n") and workspace.state.types == {}
    taken = [f"taken back: {text}" for text in ("y ← x", "x ← 2", "x", "x ← 1")]
    assert err.splitlines() == [*taken, "there is nothing to take back"]


def test_a_failed_entry_is_nothing_to_take_back() -> None:
    workspace = Workspace(Session())
    workspace.enter("x ← 1")
    workspace.enter("nothing")
    assert workspace.undo() == "x ← 1" and workspace.undo() is None


def test_only_so_much_is_kept() -> None:
    workspace = Workspace(Session())
    for number in range(MOST_UNDO + 5):
        workspace.enter(f"x ← {number}")
    assert len(workspace.state.earlier) == MOST_UNDO
    assert all(not state.earlier for state in workspace.state.earlier)
    workspace.enter("big ← 9000000⍴0.5")
    workspace.enter("x ← 1")
    assert workspace.state.earlier == () and workspace.undo() is None


def test_lines_are_edited_by_python_where_nothing_else_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readline = pytest.importorskip("readline")
    read: list[str] = []
    monkeypatch.setattr(readline, "read_history_file", lambda path: read.append(str(path)))
    lines = iter(["x ← 2 +", "", "3"])
    monkeypatch.setattr("builtins.input", lambda prompt: next(lines))
    console = Console(io.StringIO(), io.StringIO(), sys.stdin, {"XDG_STATE_HOME": str(tmp_path)})
    entries = PlainEntryReader(console, edited=True)
    assert [next(entries), next(entries)] == ["x ← 2 +", "3"]
    assert read == [str(tmp_path / "rho" / "lines")]
