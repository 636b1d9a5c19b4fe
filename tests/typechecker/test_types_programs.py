"""The 105 programs of the type system's page: `types_programs.md` says what each must be answered."""

from __future__ import annotations

import re
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

import numpy
import pytest

from rho.lang.diagnostics import Diagnostic
from rho.lang.source import Source
from rho.shell.cli.console import Console
from rho.shell.main import main
from rho.typechecker.check import CheckResult, check
from rho.typechecker.solver import child


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    wanted: str
    program: str


ROWS = [
    Row(*found)
    for found in re.findall(
        r"^## (\S+) ([^\n]*)\n\n```rho\n(.*?)```",
        (Path(__file__).parent / "types_programs.md").read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
]


def rows(verb: str) -> list[object]:
    return [pytest.param(row, id=row.name) for row in ROWS if row.wanted.startswith(verb)]


def answer(row: Row) -> CheckResult:
    return check(Source("<test>", row.program))


def underlined(row: Row, diagnostic: Diagnostic) -> str:
    return row.program[diagnostic.span.start : diagnostic.span.end]


def test_every_program_is_here_once() -> None:
    assert [row.name for row in ROWS] == [f"P{i:02}" for i in range(1, 55)] + [f"N{i:02}" for i in range(1, 52)]
    assert len(rows("accepts")) + len(rows("rejects")) + len(rows("loads")) == 105


@pytest.mark.parametrize("row", rows("accepts"))
def test_accepted(row: Row) -> None:
    wanted = re.fullmatch(r"accepts `(.+)`(?: warns (\S+))?", row.wanted)
    assert wanted is not None
    result = answer(row)
    assert result.last == wanted[1]
    assert [d.code for d in result.diagnostics] == ([wanted[2]] if wanted[2] else [])
    assert result.core is not None
    strict = check(Source("<test>", row.program), strict=True)
    assert [d.code for d in strict.diagnostics] == ([{"W201": "E201", "W310": "E310"}[wanted[2]]] if wanted[2] else [])


@pytest.mark.parametrize("row", rows("rejects"))
def test_rejected(row: Row, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = re.fullmatch(r"rejects (\S+) at `(.+?)`( without the solver)?", row.wanted)
    assert wanted is not None
    if wanted[3]:
        if child.version() is not None:
            assert answer(row).core is not None
        monkeypatch.setattr(child, "installed", lambda: None)
    result = answer(row)
    assert [(d.code, underlined(row, d)) for d in result.diagnostics] == [wanted.groups()[:2]]
    assert result.core is None


@pytest.mark.parametrize("row", rows("loads"))
def test_refused_when_loaded(row: Row, tmp_path: Path) -> None:
    wanted = re.fullmatch(r"loads (\S+?)(?: at `(.+)`)? with n=(\d+) m=(\d+)", row.wanted)
    assert wanted is not None
    assert answer(row).core is not None
    (tmp_path / "program.rho").write_text(row.program, encoding="utf-8")
    numpy.save(tmp_path / "X.npy", numpy.ones((int(wanted[3]), int(wanted[4])), numpy.float32))
    out, err = StringIO(), StringIO()
    words = ("run", str(tmp_path / "program.rho"), "--in", f"X={tmp_path / 'X.npy'}")
    assert main(words, Console(out, err, StringIO(), {})) == 4
    assert out.getvalue() == ""
    assert f"error[{wanted[1]}]" in err.getvalue()
    if wanted[2]:
        assert wanted[2] in err.getvalue()
