"""The clock on the wall is set forwards and back: no duration and no limit is measured by it."""

from __future__ import annotations

import ast
import io
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import rho
from rho.shell.console.standard_streams import Console
from rho.shell.main import main

pytestmark = pytest.mark.long

ROOT = Path(rho.__file__).parent
OF_THE_WALL = {"time", "time_ns", "ctime", "localtime", "gmtime", "now", "utcnow", "today"}
TELLING = re.compile(r"from time import|\b(?:time|date|datetime)\.[a-z_]+\(")
SHOWN = {"backend/calibration/calibrate.py": ["today"]}
"""A date that people read."""


def wall_clocks(text: str) -> Iterator[str]:
    """What a module calls of `time` and `datetime` that tells the time of day."""
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="time" | "datetime" | "date"), attr=name)) if name in OF_THE_WALL:
                yield name
            case ast.ImportFrom(module="time", names=names):
                yield from (one.name for one in names if one.name in OF_THE_WALL)


def test_nothing_asks_for_the_time_of_day() -> None:
    found = {}
    for room in ("lang", "typechecker", "backend", "shell"):
        for path in (ROOT / room).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            if TELLING.search(text) and (names := [*wall_clocks(text)]):
                found[path.relative_to(ROOT).as_posix()] = names
    assert found == SHOWN


@pytest.mark.parametrize("jump", [-1e9, 1e9])
@pytest.mark.parametrize("words", [["eval", "+/{1○⍵}⍣20⊢√⍳1000", "--max-time", "50"], ["eval", "+/⍳10"]])
def test_a_clock_that_jumps_ends_nothing(words: list[str], jump: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With each question, to and fro by thirty years."""
    real, asked = time.time, [0]

    def jumping() -> float:
        asked[0] += 1
        return real() + (jump if asked[0] % 2 else -jump)

    plain, jumped = io.StringIO(), io.StringIO()
    assert main(words, Console(plain, io.StringIO(), io.StringIO(), {})) == 0
    monkeypatch.setattr(time, "time", jumping)
    monkeypatch.setattr(time, "time_ns", lambda: int(jumping() * 1e9))
    assert main(words, Console(jumped, io.StringIO(), io.StringIO(), {})) == 0
    assert jumped.getvalue() == plain.getvalue()
