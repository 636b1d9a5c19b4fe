"""The `)` commands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from rho.shell.console.process_exit import Exit
from rho.shell.execution import stored_plans
from rho.shell.repl import status_line
from rho.shell.repl.commands import COMMANDS, CommandResult, handle_entry, run_command
from rho.shell.repl.status_line import ReplSettings, cut_lines, with_setting

from .conftest import Table

Enter = Callable[..., list[str]]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        (")type x×2", "f64[5000]"),
        (")type mean", "mean"),
        (")explain E101", "E101"),
        (")explain ⍤", "rank"),
        (")plan +/x", "cpu0"),
        (")time +/x", "runs"),
        (")plot x×⍳5000", "┤"),
        (")search f64[n] → f64", "median"),
        (")help", ")save"),
        (")help iota", "⍳"),
        (")help stats.mean", "stats.mean"),
        (")search sort", "⍋"),
        (")names", "x : f64[5000]"),
        (")names me", "mean : 1 f64[n] → f64"),
        (")type +⌿÷≢", "f64[n m] → f64[m]"),
        (")type mean", " at n=1000; `)plan mean` has formulas"),
        (")type +/x×x", " operations, "),
        (")plan mean", "n reduce"),
        (")tree +/x", "x"),
        (")set", "prefix"),
        (")set digits", "digits"),
    ],
)
def test_commands_answer(table: Table, enter: Enter, command: str, said: str) -> None:
    enter("x ← 5000⍴1.5", "mean : f64[n] → f64\nmean ← {(+/⍵)÷≢⍵}")
    before = table.workspace.state
    assert run_command(command, table.context) == (CommandResult.CONTINUE, Exit.OK)
    assert said in table.out.getvalue()
    assert table.workspace.state is before


@pytest.mark.parametrize("command", [")plan +/x", ")time +/x"])
def test_estimates_by_default_tables_are_marked(
    table: Table, enter: Enter, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    known = stored_plans.this_machine()
    machine = replace(known, calibration=replace(known.calibration, calibrated=None))
    monkeypatch.setattr(stored_plans, "this_machine", lambda: machine)
    enter("x ← 5000⍴1.5")
    run_command(command, table.context)
    assert "(uncalibrated)" in table.out.getvalue()


@pytest.mark.parametrize(
    "command",
    [")typ x", ")type", ")type x+", ")explain zz", ")help zzz", ")search", ")search qqqq", ")forget q", ")load", ")save",
     ")save /no/such/folder/s.md", ")set nothing 3", ")set digits 99", ")set prefix ab", ")plan 1 2+1 2 3", ")plot", ")plot 3",
     ")plot 'abc'", ")time u8 300+⍳2"],
)  # fmt: skip
def test_commands_refuse(table: Table, command: str) -> None:
    after, code = run_command(command, table.context)
    assert after is CommandResult.CONTINUE and code is not Exit.OK and table.err.getvalue()


def test_a_fix_is_applied_and_explained_once(table: Table) -> None:
    handle_entry("x ← 1 2", table.context)
    table.context.explains_fixes = True
    handle_entry("sum(x)", table.context)
    assert table.err.getvalue().count(")fix applies") == 1
    assert run_command(")fix", table.context) == (CommandResult.CONTINUE, Exit.OK)
    assert table.out.getvalue() == "3\n" and "      +/,x\n" in table.err.getvalue()
    assert run_command(")fix", table.context)[1] is Exit.USAGE  # the entry has none any more
    handle_entry("sum(x)", table.context)
    assert table.err.getvalue().count(")fix applies") == 1


def test_a_fix_of_a_note_replaces_the_entry(table: Table) -> None:
    handle_entry("x ← 5", table.context)
    handle_entry("x = 7", table.context)
    assert run_command(")fix", table.context)[1] is Exit.OK
    handle_entry("x", table.context)
    assert [entry.text for entry in table.workspace.state.log] == ["x ← 5", "x ← 7", "x"]
    assert table.out.getvalue().splitlines()[-1] == "7"


@pytest.mark.parametrize("command", [")vars", ")fns", ")clear", ")copy"])
def test_commands_of_other_sessions_are_named(table: Table, command: str) -> None:
    assert run_command(command, table.context)[1] is Exit.USAGE
    assert ")" in table.err.getvalue().partition("; ")[2]


def test_quit(table: Table) -> None:
    assert run_command(")quit", table.context)[0] is CommandResult.QUIT


def test_every_command_is_there(table: Table) -> None:
    for name, _ in COMMANDS:
        run_command(name, table.context)
    assert "unknown command" not in table.err.getvalue()


def test_settings_are_kept(table: Table) -> None:
    run_command(")set prefix ;", table.context)
    run_command(")set types off", table.context)
    assert status_line.load_settings(table.context.console.environment) == ReplSettings(prefix=";", types=False)
    assert with_setting(ReplSettings(), "pause", "250") == ReplSettings(pause=250)


def test_values_have_a_header_and_are_cut(table: Table) -> None:
    handle_entry("2 3⍴⍳6", table.context)
    handle_entry("7", table.context)
    assert table.out.getvalue() == "idx<6>[2 3]\n0 1 2\n3 4 5\n7\n" or table.out.getvalue() == "i64[2 3]\n0 1 2\n3 4 5\n7\n"
    run_command(")set types off", table.context)
    handle_entry("⍳200 1", table.context)
    assert "⋮" in table.out.getvalue()
    assert cut_lines(["a"] * 20, 8) == ["a"] * 4 + ["⋮  (13 more lines)"] + ["a"] * 3


def test_digits(table: Table) -> None:
    run_command(")set digits 3", table.context)
    handle_entry("÷3", table.context)
    assert table.out.getvalue() == "0.333\n"
