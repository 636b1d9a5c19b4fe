"""A command run in process, with captured streams."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from rho.shell.console import Console
from rho.shell.main import main


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Rho = Callable[..., Ran]


@pytest.fixture
def rho() -> Rho:
    def run(*words: str, stdin: str = "") -> Ran:
        out, err = io.StringIO(), io.StringIO()
        code = main(words, Console(out, err, io.StringIO(stdin), {}))
        return Ran(int(code), out.getvalue(), err.getvalue())

    return run
