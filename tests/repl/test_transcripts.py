"""Sessions saved as Markdown hold as tests and load again; pasted transcripts lose their prompts."""

from __future__ import annotations

import math
import resource
import signal
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from rho.backend.vm.values import array
from rho.shell.console.process_exit import Exit
from rho.shell.display.values import display, line_count
from rho.shell.execution.doctest import DoctestRunner
from rho.shell.execution.doctest_parser import markdown_cases
from rho.shell.repl.commands import run_command
from rho.shell.workspace.exchange import doctest_problems, session_markdown, statements_of_transcript
from rho.shell.workspace.workspace import Workspace
from rho.typechecker.elements import Kind

from .conftest import Table

Enter = Callable[..., list[str]]
ENTRIES = (
    "x ← 2 3⍴⍳6", "x", "f ← {\n  y ← ⍵×2\n  y+1\n}", "f x", "+/ans", "ans[1]", "'      six'", "⍬", "2 2 2⍴⍳8", "`iota 3 ⋄ ⎕←4",
    "⎕←x",
)  # fmt: skip


def test_a_saved_session_is_a_test(enter: Enter, workspace: Workspace) -> None:
    enter(*ENTRIES)
    text = session_markdown(workspace.state, "session")
    cases = list(markdown_cases(text))
    assert len(cases) == 1 and [failure for case in cases for failure in DoctestRunner("session.md").case(case, text)] == []
    wrong = text.replace("⍝ → 1 3  5", "⍝ → 1 3  6")
    assert wrong != text and doctest_problems(wrong, "session.md")


def test_a_saved_session_loads_again(table: Table, enter: Enter, tmp_path: Path) -> None:
    enter(*ENTRIES)
    assert run_command(")save s", table.context)[1] is Exit.OK
    assert "11 entries saved in s.md" in table.err.getvalue() and "does not hold" not in table.err.getvalue()
    again = Workspace(table.workspace.session)
    table.context.workspace = again
    assert run_command(")load s.md", table.context)[1] is Exit.OK
    assert again.state.types == table.workspace.state.types
    assert [shown.text() for shown in again.enter("f x").printed] == ["1 3  5\n7 9 11"]


def test_what_cannot_be_loaded_leaves_the_session(table: Table, enter: Enter, tmp_path: Path) -> None:
    enter("a ← 1")
    before = table.workspace.state
    (tmp_path / "bad.md").write_text("```rho\n      a ← 2\n      a + b\n```\n", encoding="utf-8")
    (tmp_path / "bad.rho").write_text("a ← 2\na +\n", encoding="utf-8")
    (tmp_path / "bytes.rho").write_bytes(b"a \xff")
    for name in ("bad.md", "bad.rho", "bytes.rho"):
        assert run_command(f")load {name}", table.context)[1] is Exit.REJECTED
    assert run_command(")load no.md", table.context)[1] is Exit.USAGE
    assert table.workspace.state is before and "Traceback" not in table.err.getvalue()


def test_a_session_that_is_no_program_says_so(table: Table, enter: Enter) -> None:
    enter("x ← 5000⍴1.5", "y ← (x>⍳5000)/x", "y+1 2")
    run_command(")save s.md", table.context)
    assert "as a program it does not hold" in table.err.getvalue()


def test_what_a_program_would_refuse_is_said_at_once(workspace: Workspace, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(9))
    for entry in (f"input x : i64[n] ← '{tmp_path / 'x.npy'}'", "y ← (x>3)⌿x ⋄ f ← {⌈/⍵}", "≢y", "(⍳n)[3]", "{0=≢⍵ : 0 ⋄ ⌈/⍵} y"):
        assert not workspace.enter(entry).notes, entry
    for entry, code in (("⌈/y", "E204"), ("x[⍳5]+y", "E140"), ("z ← 3 4⍴12↑y ⋄ 3↕y", "E202"), ("7+⊃y", "E204"), ("f y", "E204")):
        (note,) = workspace.enter(entry).notes
        assert note.startswith(f"in a program: {code}: "), note
    assert not workspace.enter("≢y").notes  # once for each entry


def test_names_of_sizes_are_numbers_in_a_session(workspace: Workspace, tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.arange(9))
    workspace.enter(f"input x : i64[n] ← '{tmp_path / 'x.npy'}'")
    printed = [shown.text() for entry in ("n", "f ← {⍵×n}", "f 2", "n ← 1", "f n") for shown in workspace.enter(entry).printed]
    assert printed == ["9", "18", "9"]


def test_long_output_is_left_out(enter: Enter, workspace: Workspace) -> None:
    enter("x ← 300 1⍴⍳300", "x", "≢x")
    text = session_markdown(workspace.state, "s")
    assert "⍝ → 300" in text and "⍝ → 299" not in text and not doctest_problems(text, "s.md")


LONG = (
    "1+1", "1000 1000⍴⍳7", "2+2", "⍳100000", "f ← {⍵+1}", "⎕←2 3 400⍴f ans[1]", "ans[0;1;2]", "100000⍴'abc'", "⍕⍳20000", "≢ans",
    "200 1 2⍴0.5", "y ← ⎕←5000⍴1.5", "y[3]", "0 3000⍴0", "3000 0⍴0", "3001 0⍴' '",
)  # fmt: skip
"""Entries whose output is long in lines, in characters, or in neither."""


@pytest.mark.long
def test_every_entry_is_saved_and_comes_back(table: Table, enter: Enter, tmp_path: Path) -> None:
    enter(*LONG)
    assert run_command(")save s", table.context)[1] is Exit.OK
    assert f"{len(LONG)} entries saved" in table.err.getvalue() and "does not hold" not in table.err.getvalue()
    saved = (tmp_path / "s.md").read_text(encoding="utf-8")
    assert len(saved.encode()) < 20_000
    statements = [line for line in saved.split("```")[1].split("\n")[1:] if line and not line.startswith("⍝ →")]
    assert sum(line != "ans" for line in statements) == len(LONG)
    again = Workspace(table.workspace.session)
    table.context.workspace = again
    assert run_command(")load s.md", table.context)[1] is Exit.OK
    assert again.state.types == table.workspace.state.types
    (loaded,), every = again.state.log, [text for entry in table.workspace.state.log for text in entry.printed]
    assert [text for text in loaded.printed if text != ""] == [text for text in every if text != ""]


def test_how_many_lines_a_value_takes() -> None:
    shapes = [(), (0,), (5,), (3, 4), (0, 4), (4, 0), (2, 3, 4), (2, 1, 3, 1), (2, 2, 2, 2, 2), (1, 1, 1, 1), (3, 0, 2)]
    for shape in shapes:
        value = array(Kind.I64, shape, [7] * math.prod(shape))
        assert line_count(shape) == len("\n".join(display(value)).split("\n")), shape


def test_a_claim_of_how_many_lines_are_printed_is_checked(enter: Enter, workspace: Workspace) -> None:
    enter("500 1⍴1", "3", "500 1⍴2")
    text = session_markdown(workspace.state, "s")
    assert text.count("⍝ → ⋮ 500 lines") == 2 and not doctest_problems(text, "s.md")
    for wrong in ("⋮ 499 lines", "⋮ 501 lines", "⋮ 5000 lines"):
        assert doctest_problems(text.replace("⋮ 500 lines", wrong, 1), "s.md"), wrong
        assert doctest_problems(text[::-1].replace("⋮ 500 lines"[::-1], wrong[::-1], 1)[::-1], "s.md"), wrong


def test_a_full_disk_leaves_the_saved_session(table: Table, enter: Enter, tmp_path: Path) -> None:
    enter("1+1")
    assert run_command(")save s", table.context)[1] is Exit.OK
    before = (tmp_path / "s.md").read_bytes()
    enter("x ← 3")
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) // 2, limit[1]))  # as a disk with that much room
    try:
        assert run_command(")save s", table.context)[1] is Exit.FAILED
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, handler)
    assert "cannot be written" in table.err.getvalue()
    assert (tmp_path / "s.md").read_bytes() == before and [p.name for p in tmp_path.glob("*.md*")] == ["s.md"]


@pytest.mark.parametrize(
    ("pasted", "statements"),
    [
        ("      x ← ⍳3\n      x+1\n1 2 3\n", "x ← ⍳3\nx+1"),
        ("      f ← {\n    …   ⍵+1\n    … }\n      f 2\n3", "f ← {\n  ⍵+1\n}\nf 2"),
        ("x ← 3\nx+1", "x ← 3\nx+1"),
        ("f ← {\n      ⍵+1\n}", "f ← {\n      ⍵+1\n}"),
        ("# Notes\n\n```rho\n      2+2\n4\n```\n\n```python\nx=1\n```\n", "2+2"),
        ("```rho\n2+2\n⍝ → 4\n```\n", "2+2\n⍝ → 4"),
        ("      x", "x"),
    ],
)
def test_paste(pasted: str, statements: str) -> None:
    assert statements_of_transcript(pasted) == statements
