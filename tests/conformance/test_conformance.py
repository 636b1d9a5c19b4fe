"""Expressions with the answers Dyalog APL gives (or the language page, where it differs), by the plan and by the reference.

`cases/*.txt` hold one case a line, `expected ⇐ program`; `⎕IO←0` or `⎕IO←1` alone sets the origin of what follows; `⍝` starts a
comment line.  A program of several lines joins them with ` ⏎ `.
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


@pytest.mark.parametrize("path", sorted(CASES.glob("*.txt")), ids=lambda path: path.stem)
def test_table(path: Path) -> None:
    problems = []
    for line_number, program, expected in cases(path):
        planned, exact = answers(program)
        for who, answer in (("plan", planned), ("reference", exact)):
            if not agrees(answer, expected):
                problems.append(f"{path.name}:{line_number} {program!r}: {who} gives {spelled(answer)}, not {expected}")
    assert not problems, "\n".join(problems)
