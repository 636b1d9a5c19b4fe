"""A command run in process, with captured streams; a small project to run it on."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rho.shell.console.standard_streams import Console
from rho.shell.main import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Rho = Callable[..., Ran]


@pytest.fixture(scope="session")
def rho() -> Rho:
    def run(*words: str, stdin: str = "") -> Ran:
        out, err = io.StringIO(), io.StringIO()
        code = main(words, Console(out, err, io.StringIO(stdin), {}))
        return Ran(int(code), out.getvalue(), err.getvalue())

    return run


MEAN = 'input x : f64[n] ← "x.csv"\nparam k ← 2\nmean ← (+/x)÷≢x\noutput mean\nmean × k\n'


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A script with its data; the working folder is another one."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "mean.rho").write_text(MEAN, encoding="utf-8")
    (tmp_path / "src" / "x.csv").write_text("1\n2\n6\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path
