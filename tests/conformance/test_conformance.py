"""Expressions with the answers Dyalog APL gives (or the language page, where it differs), by the plan and by the reference.

`cases/*.txt` hold one case a line, `expected ⇐ program`; `⎕IO←0` or `⎕IO←1` alone sets the origin of what follows; `⍝` starts a
comment line.  A program of several lines joins them with ` ⏎ `.  A test is named by file and line: `-k scalar:12`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from .expected import same, value
from .running import Answer, answers, spelled

CASES = Path(__file__).parent / "cases"


def cases(path: Path) -> Iterator[tuple[int, str, str]]:
    """Line number, program, expected."""
    origin = "⎕IO←1"
    for line_number, line in enumerate(path.read_text().splitlines(), 1):
        if line in ("⎕IO←0", "⎕IO←1"):
            origin = line
        elif line.strip() and not line.startswith("⍝"):
            expected, mark, program = line.partition(" ⇐ ")
            assert mark, f"{path.name}:{line_number} has no ⇐"
            yield line_number, f"{origin}\n" * (origin != "⎕IO←0") + program.replace(" ⏎ ", "\n"), expected


def agrees(answer: Answer, expected: str) -> bool:
    if isinstance(answer, str) or expected.startswith("E"):
        return answer == expected.strip()
    wanted = [value(text) for text in expected.split(" ⋄ ")] if expected.strip() else []
    return len(wanted) == len(answer) and all(map(same, answer, wanted))


def every_case() -> Iterator[object]:
    for path in sorted(CASES.glob("*.txt")):
        for line_number, program, expected in cases(path):
            yield pytest.param(program, expected, id=f"{path.stem}:{line_number}")


@pytest.mark.parametrize(("program", "expected"), [*every_case()])
def test_case(program: str, expected: str) -> None:
    planned, exact = answers(program)
    for who, answer in (("plan", planned), ("reference", exact)):
        assert agrees(answer, expected), f"{program!r}: {who} gives {spelled(answer)}, not {expected}"
