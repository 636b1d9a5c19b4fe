"""One exit code for one kind of failure: a result that cannot be written is exit 1, from every command."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from rho.shell.main import main

pytestmark = pytest.mark.long

COMMANDS = [
    "run p.rho --out y={}/y.npy", "run p.rho --out-dir {}/made", "run p.rho --trace {}/t.json", "plan p.rho -o {}/plan.json",
    "init {}/new", "init --from t.csv", "run p.rho --plot y={}/y.png",
]  # fmt: skip


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["file", "device"])
def test_results_that_cannot_be_written(
    command: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("p.rho").write_text("output y ← ⍳5\n", encoding="utf-8")
    Path("t.csv").write_text("a\n1\n", encoding="utf-8")
    Path("file").write_text("", encoding="utf-8")
    if "--from" in command:
        monkeypatch.setattr("rho.shell.console.standard_streams.replace_file", _full)
    folder = "file" if kind == "file" else "/dev/full"
    assert main([word.format(folder) for word in command.split()]) == 1
    assert "cannot be" in capsys.readouterr().err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "p.rho", "t.csv"]


def _full(*arguments: object, **named: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    ("lines", "code"),
    [("1+1\n)save file/x.md\n3\n", 1), (")save\n3\n", 2),
     (")nonsense\n3\n", 2), (")load nothing.md\n3\n", 2), (")set\n)names\n3\n", 0)],
)  # fmt: skip
def test_a_session_from_a_pipe_stops_at_a_command_that_fails(
    lines: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("", encoding="utf-8")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(lines.encode())))
    assert main([]) == code
    assert ("3" in capsys.readouterr().out.splitlines()) is (code == 0)
