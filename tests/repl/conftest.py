"""Sessions for tests: a workspace, and a context with a console that looks like a terminal and keeps what it is told."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from rho.shell.console.process_exit import Exit
from rho.shell.console.standard_streams import Console
from rho.shell.execution.params import Permissions
from rho.shell.pipeline import Session
from rho.shell.repl.commands import CommandContext
from rho.shell.repl.status_line import ReplSettings
from rho.shell.workspace.workspace import EntryResult, Workspace


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@dataclass
class Table:
    """A context and what was written."""

    context: CommandContext
    out: Tty
    err: Tty
    workspace: Workspace = field(init=False)

    def __post_init__(self) -> None:
        self.workspace = self.context.workspace


@pytest.fixture
def workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    monkeypatch.chdir(tmp_path)
    return Workspace(Session("", Permissions.of(["."], [])))


@pytest.fixture
def table(workspace: Workspace, tmp_path: Path) -> Table:
    out, err = Tty(), Tty()
    environment = {"NO_COLOR": "1", "XDG_STATE_HOME": str(tmp_path / "state"), "COLUMNS": "80"}
    return Table(CommandContext(workspace, Console(out, err, Tty(), environment), ReplSettings()), out, err)


@pytest.fixture
def enter(workspace: Workspace) -> Callable[..., list[str]]:
    """Enter texts that must be accepted; the texts printed by the last one."""

    def entered(*texts: str) -> list[str]:
        found: EntryResult | None = None
        for text in texts:
            found = workspace.enter(text)
            assert found.exit is Exit.OK, (text, found.diagnostics)
        return [] if found is None else [shown.text() for shown in found.printed]

    return entered
