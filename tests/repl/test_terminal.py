"""The editor, driven through prompt_toolkit's pipe input."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from rho.shell.console.process_exit import Exit
from rho.shell.pipeline import Session
from rho.shell.pipeline_types import LoadedProgram
from rho.shell.repl.commands import run_session
from rho.shell.repl.status_line import ReplSettings
from rho.shell.repl.terminal import Terminal

from .conftest import Table

ENTER, CONTROL_C, CONTROL_D, TAB = "\r", "\x03", "\x04", "\t"


@contextmanager
def typing(table: Table, keys: str) -> Iterator[Terminal]:
    """A terminal in which someone has typed."""
    with create_pipe_input() as pipe:
        terminal = Terminal(table.context, pipe, DummyOutput())
        try:
            pipe.send_text(keys)
            yield terminal
        finally:
            terminal.close()


def session(table: Table, keys: str) -> str:
    """What is printed when someone types this and then Ctrl-D."""
    with typing(table, keys + CONTROL_D) as terminal:
        assert run_session(terminal.entries(), table.context) is Exit.OK
    return table.out.getvalue()


def test_statements(table: Table) -> None:
    assert session(table, f"x `[ `iota 3{ENTER}x+1{ENTER}+/ans{ENTER}") == "i64[3]\n1 2 3\n6\n"


def test_an_open_bracket_goes_on(table: Table) -> None:
    assert session(table, f"f ← {{{ENTER}⍵+1{ENTER}}}{ENTER}f 2{ENTER}") == "3\n"


def test_own_blanks_are_the_automatic_ones_and_a_closing_bracket_goes_back(table: Table) -> None:
    for blanks in ("", "  ", " "):
        session(table, f"f ← {{{ENTER}{blanks}a ← ⍵+1{ENTER}a×({ENTER}{blanks}2){ENTER}}}{ENTER}")
        assert table.workspace.state.log[-1].text == "f ← {\n  a ← ⍵+1\n  a×(\n    2)\n}"
    session(table, f"g ← {{{ENTER}    ⍵}}{ENTER}h ← {{{ENTER}⍵{ENTER}}}{ENTER}")
    assert [entry.text for entry in table.workspace.state.log[-2:]] == ["g ← {\n    ⍵}", "h ← {\n  ⍵\n}"]


def test_a_signature_waits_for_its_binding(table: Table) -> None:
    assert session(table, f"f : f64 → f64{ENTER}f ← {{⍵÷2}}{ENTER}f 3{ENTER}") == "1.5\n"


def test_control_c_clears_the_line(table: Table) -> None:
    assert session(table, f"x ← 7{ENTER}x + ({CONTROL_C}x{ENTER}") == "7\n"


def test_control_c_while_computing(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    real, times = Session.run, [0]

    def once(own: Session, loaded: LoadedProgram) -> object:
        times[0] += 1
        if times[0] == 1:
            raise KeyboardInterrupt
        return real(own, loaded)

    monkeypatch.setattr(Session, "run", once)
    assert session(table, f"x ← 5{ENTER}x+1{ENTER}x+1{ENTER}") == "6\n"
    assert "interrupted" in table.err.getvalue()


def test_errors_go_on(table: Table) -> None:
    assert session(table, f"1 2+1 2 3{ENTER}4{ENTER}") == "4\n"
    assert "E101" in table.err.getvalue()


def test_commands_and_quit(table: Table) -> None:
    assert session(table, f"x ← 3{ENTER})names{ENTER})nam{ENTER})quit{ENTER}9{ENTER}") == "x : i64\n"
    assert "did you mean )names?" in table.err.getvalue()


def test_tab_completes(table: Table) -> None:
    assert session(table, f"zebras ← 4{ENTER}zeb{TAB}{ENTER}") == "4\n"


def test_history_is_kept(table: Table, tmp_path: Path) -> None:
    assert session(table, f"2+2{ENTER}") == "4\n"
    assert "2+2" in (tmp_path / "state" / "rho" / "history").read_text(encoding="utf-8")


def test_a_transcript_is_pasted(table: Table) -> None:
    pasted = "      x ← ⍳3\n      x+1\n1 2 3\n      f ← {\n    …   ⍵×2\n    … }\n"
    assert session(table, f"\x1b[200~{pasted}\x1b[201~{ENTER}f x{ENTER}") == "i64[3]\n1 2 3\ni64[3]\n0 2 4\n"


def test_pasted_text_is_not_respelled(table: Table) -> None:
    assert session(table, f"\x1b[200~'`iota '\x1b[201~{ENTER}") == "char[6]\n`iota \n"


def test_another_prefix(table: Table) -> None:
    assert session(table, f")set prefix ;{ENTER}x;[;iota 3{ENTER}(2 2⍴7)[0;;1]{ENTER}x{ENTER}").endswith("7\nidx<3>[3]\n0 1 2\n")


def test_the_bar_and_the_line(table: Table) -> None:
    table.workspace.enter("x ← 5000⍴1.5")

    async def typed() -> None:
        with typing(table, "") as terminal:
            table.context.settings = ReplSettings(pause=3600)
            buffer = terminal.editor.default_buffer
            for character in "x + `io":
                buffer.insert_text(character)
            assert terminal.bottom_line() == [("class:rho.line", "")], "the bar waits for a pause"
            table.context.settings = ReplSettings(pause=0)
            ((kind, text),) = [part[:2] for part in terminal.bottom_line()]
            assert kind == "class:rho.bar" and "⍳ iota" in text
            buffer.reset()
            buffer.insert_text("x+1")
            terminal.preview.start()
            terminal.preview.wait()
            ((kind, text),) = [part[:2] for part in terminal.bottom_line()]
            assert kind == "class:rho.line" and text.startswith("f64[5000] · reads each element once")

    asyncio.run(typed())
