"""Every verb, exit code and code of a message is driven to happen once.

Codes whose pages have programs that check or run are driven by these (`tests/lang/test_codes.py`, docs/errors.md); the others by
a row here.  Those of schedules need devices: `SCHEDULES` names the folder of tests where each is asserted.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from rho.lang.diagnostics.help_pages import pages
from rho.lang.diagnostics.model import Code, PageStage
from rho.shell.cli.arguments import VERBS
from rho.shell.console.process_exit import Exit
from rho.shell.console.standard_streams import Console
from rho.shell.main import main

TESTS = Path(__file__).parents[1]
FILES = {
    "ok.rho": "x ← 1 2 3\n⎕←+/x\n",
    "bad.rho": "x ← 1 2+1 2 3\n",
    "absent.rho": 'input a : f64[n] ← "no.npy"\n⎕←+/a\n',
    "data.rho": 'input a : i64[n] ← "a.npy"\ninput i : i64[m] ← "i.npy"\noutput b ← a[i]\n',
    "three.rho": 'input a : i64[3] ← "a.npy"\n⎕←a\n',
    "long.rho": "⎕←+/{1○⍵}⍣50000000⊢√⍳1000\n",
    "plain.rho": "x←1",
    "wrong.md": "```rho\n      1+1\n3\n```\n",
    "plan.json": "{}",
    "odd.npy": "no array",
    "odd.rho": 'input a : i64[n] ← "odd.npy"\n⎕←a\n',
    "narrow.rho": 'input a : i64[n] ← "a.npy"\n⎕←i64 (a×0.5)\n',
}


class Row(NamedTuple):
    """Words of a command, how it ends, and a code or words that it says."""

    words: str
    exit: Exit
    says: str = ""


ROWS = [
    Row("run ok.rho", Exit.OK, "6"),
    Row("run data.rho --out b=b.npy", Exit.FAILED, "E310"),
    Row("run narrow.rho", Exit.FAILED, "E703"),
    Row("run absent.rho", Exit.FAILED, "E704"),
    Row("run odd.rho", Exit.FAILED, "E705"),
    Row("run", Exit.USAGE, "needs FILE"),
    Row("run ok.rho --zork", Exit.USAGE, "unknown option"),
    Row("run bad.rho", Exit.REJECTED, "E101"),
    Row("run ok.rho --max-memory 1B", Exit.REFUSED, "E702"),
    Row("run ../outside.rho", Exit.USAGE, "there is no file"),
    Row("run three.rho", Exit.REFUSED, "E706"),
    Row("run ok.rho --plan plan.json", Exit.REFUSED, "E705"),
    Row("run long.rho --max-time 1", Exit.BUDGET, "E709"),
    Row("run ok.rho --cluster nowhere", Exit.USAGE, "names no cluster"),
    Row("run out.rho --out b=missing/b.npy", Exit.FAILED, "E708"),
    Row("run up.rho", Exit.REFUSED, "E707"),
    Row("check ok.rho", Exit.OK, "no problems"),
    Row("check bad.rho", Exit.REJECTED, "E101"),
    Row("check", Exit.USAGE),
    Row("fmt ok.rho", Exit.OK),
    Row("fmt --check plain.rho", Exit.FAILED, "not in canonical layout"),
    Row("fmt", Exit.USAGE),
    Row("test ok.rho", Exit.OK),
    Row("test wrong.md", Exit.FAILED, "3"),
    Row("test", Exit.USAGE),
    Row("eval 1+1", Exit.OK, "2"),
    Row("eval 1+", Exit.REJECTED, "E009"),
    Row("eval (⍳3)[9]", Exit.REJECTED, "E310"),
    Row("eval", Exit.USAGE),
    Row("type +/1", Exit.OK, "i64"),
    Row("type zork", Exit.REJECTED, "E001"),
    Row("type", Exit.USAGE),
    Row("plan ok.rho", Exit.OK, "plan/2"),
    Row("plan bad.rho", Exit.REJECTED, "E101"),
    Row("plan ok.rho --devices none", Exit.REFUSED, "E704"),
    Row("plan --check none.json", Exit.REFUSED, "E704"),
    Row("plan ok.rho --diff none.json", Exit.REFUSED, "E704"),
    Row("run ok.rho --plan none.json", Exit.REFUSED, "E704"),
    Row("run ok.rho --devices none --simulate", Exit.REFUSED, "E704"),
    Row("plan", Exit.USAGE),
    Row("estimate ok.rho", Exit.OK),
    Row("estimate bad.rho", Exit.REJECTED, "E101"),
    Row("estimate", Exit.USAGE),
    Row("devices", Exit.OK, "cpu0"),
    Row("devices --devices none.toml", Exit.REFUSED, "E704"),
    Row("devices zork", Exit.USAGE),
    Row("init made", Exit.OK),
    Row("init ok.rho", Exit.USAGE, "is a file"),
    Row("kernel zork", Exit.USAGE),
    Row("explain E101", Exit.OK, "E101"),
    Row("explain zork", Exit.USAGE),
    Row("doc stats", Exit.OK, "stats.mean"),
    Row("doc zork", Exit.USAGE),
    Row("search running sum", Exit.OK),
    Row("search", Exit.USAGE),
    Row("completion bash", Exit.OK),
    Row("completion zork", Exit.USAGE),
    Row("info", Exit.OK, "python"),
    Row("lsp zork", Exit.USAGE),
    Row("repl zork", Exit.USAGE, "there is no file"),
    Row("repl", Exit.OK),
    Row("zork", Exit.USAGE, "unknown verb"),
]
ELSEWHERE = {
    Exit.BUG: "test_what_is_at_fault_is_said_to_be_a_bug",
    Exit.INTERRUPTED: "interrupts/test_interrupts.py",
    Exit.TERMINATED: "interrupts/test_ending.py",
}
SAID_ELSEWHERE = {Code.E710: "cluster"}
SCHEDULES = ("schedule", "shell", "plans", "cluster", "backend", "lang")
"""Folders in whose tests a code of schedules is asserted by its name."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    inside = tmp_path / "inside"
    inside.mkdir()
    for name, text in FILES.items():
        (inside / name).write_text(text, encoding="utf-8")
    (inside / "out.rho").write_text("output b ← ⍳3\n", encoding="utf-8")
    (inside / "up.rho").write_text('input a : i64[n] ← "../a.npy"\n⎕←a\n', encoding="utf-8")
    np.save(inside / "a.npy", np.arange(5))
    np.save(inside / "i.npy", np.arange(9))
    np.save(tmp_path / "a.npy", np.arange(5))
    monkeypatch.chdir(inside)
    return inside


def ended(words: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return int(main(words.split(), Console(out, err, io.StringIO(), {}))), out.getvalue(), err.getvalue()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.words)
def test_how_a_command_ends(row: Row, folder: Path) -> None:
    code, out, err = ended(row.words)
    assert (code, row.says in out + err) == (row.exit, True), (code, out, err)
    assert bool(err) or row.exit is Exit.OK or "E101" in out, "it says why"


def test_every_verb_ends_well_and_is_misused() -> None:
    ends = {(row.words.split()[0], row.exit) for row in ROWS}
    served = {"kernel", "lsp"}  # until who asks them goes: tests/jupyter, tests/lsp
    unasked = {"info"}
    for verb in [one.name for one in VERBS]:
        assert (verb, Exit.OK) in ends or verb in served, verb
        assert (verb, Exit.USAGE) in ends or verb in unasked, verb


def test_every_exit_code_happens() -> None:
    assert {row.exit for row in ROWS} | set(ELSEWHERE) == set(Exit)


def test_every_code_happens() -> None:
    driven = {code for code, page in pages().items() if page.stage is not PageStage.SHOWN}
    driven |= {code for row in ROWS for code in Code if code == row.says} | {Code.BUG, Code.USAGE}
    for code in sorted(set(Code) - driven):
        folders = SCHEDULES if code.startswith("SCH") else (SAID_ELSEWHERE[code],)
        quoted = re.compile(rf"""["'{{ (\[]{code}[\]"'. )}}:,]|Code\.{code}\b""")
        files = (path for name in folders for path in (TESTS / name).rglob("*.*") if path.suffix in (".py", ".md"))
        assert any(quoted.search(path.read_text(encoding="utf-8")) for path in files), code


def test_what_is_at_fault_is_said_to_be_a_bug(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*given: object, **more: object) -> None:
        raise AssertionError("no such luck")

    monkeypatch.setattr("rho.shell.pipeline.Session.check", broken)
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    code, out, err = ended("run ok.rho")
    assert (code, out) == (Exit.BUG, "") and "a bug in Rho" in err
    (report,) = folder.glob("rho-bug-*.txt")
    assert report.name in err and "no such luck" in report.read_text(encoding="utf-8")
