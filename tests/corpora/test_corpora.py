"""Recorded answers of other APL interpreters; what differs is listed, with its reason, in docs/apl-differences.md.

The list is exact: a case that starts to agree must leave it, a case that stops agreeing fails here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from rho.lang.diagnostics.model import RhoError
from rho.lang.syntax.source import Source
from rho.shell.execution.run_request import RunRequest
from rho.shell.pipeline import Session

from .compare import apltail_lines, same_lines

DATA = Path(__file__).parent / "data"
DIFFERENCES = Path(__file__).parents[2] / "docs" / "apl-differences.md"


@dataclass(frozen=True)
class Case:
    """`label` is how the list of differences names it."""

    label: str
    program: str
    expected: tuple[str, ...]
    digits: int
    skip_blank_lines: bool = False


def expressions() -> Iterator[Case]:
    for line in (DATA / "apl_expressions.jsonl").read_text().splitlines():
        row = json.loads(line)
        origin = "⎕IO←1\n" if row["io"] == 1 else ""
        yield Case(row["expr"], origin + row["expr"], tuple(row["expected"]), 9)


def idioms() -> Iterator[Case]:
    for line in (DATA / "apl_idioms.jsonl").read_text().splitlines():
        row = json.loads(line)
        label = row["program"].replace("\n", " ⋄ ")
        yield Case(label, "⎕IO←1\n" + row["program"], tuple(row["printed"].splitlines()), 6)


def programs() -> Iterator[Case]:
    for path in sorted((DATA / "apl_programs").glob("*.apl")):
        answer = path.with_suffix(".out.ok").read_text()
        yield Case(path.stem, "⎕IO←1\n" + path.read_text(), tuple(apltail_lines(answer)), 6, skip_blank_lines=True)


def printed(program: str) -> list[str] | None:
    """The lines a program prints, or None if it is rejected or fails."""
    session = Session()
    checked = session.check(Source("<corpus>", program))
    if not checked.accepted:
        return None
    try:
        outcome = session.run(session.load(checked, RunRequest()))
    except RhoError:
        return None
    return [line for shown in outcome.printed for line in shown.text().split("\n")]


def agrees(case: Case) -> bool:
    lines = printed(case.program)
    if lines is None:
        return False
    if case.skip_blank_lines:
        lines = [line for line in lines if line.strip()]
    return same_lines(lines, list(case.expected), case.digits)


def listed(heading: str) -> set[str]:
    """The cases that a section of the page lists: the code span that starts each row."""
    section = DIFFERENCES.read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    return {row.replace("\\|", "|") for row in re.findall(r"^\| ``? ?(.+?) ?``? \|", section, re.MULTILINE)}


CORPORA = {"Expressions": (tuple(expressions()), 0.92), "Idioms": (tuple(idioms()), 0.82), "Programs": (tuple(programs()), 0.70)}


def every_case() -> Iterator[object]:
    for heading, (cases, _) in CORPORA.items():
        differ = listed(heading)
        for number, case in enumerate(cases, 1):
            yield pytest.param(case, case.label not in differ, id=f"{heading.lower()}:{number}")


@pytest.mark.parametrize(("case", "agreed"), [*every_case()])
def test_recorded_answer(case: Case, agreed: bool) -> None:
    assert agrees(case) == agreed, case.label


@pytest.mark.parametrize("heading", CORPORA)
def test_the_list_of_differences_names_cases_and_is_short(heading: str) -> None:
    cases, bar = CORPORA[heading]
    differ = listed(heading)
    assert differ <= {case.label for case in cases}
    assert sum(case.label not in differ for case in cases) >= bar * len(cases)
