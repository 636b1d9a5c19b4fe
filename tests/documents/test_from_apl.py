"""The page for people who know APL: what it says to write is accepted, and what it says is refused is, with that code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import rho

PAGE = (Path(__file__).parents[2] / "docs" / "from-apl.md").read_text(encoding="utf-8")
NAMES = "x ← 3 1 4 1 5\nA ← 2 3⍴⍳6\nB ← 3 2⍴⍳6\nm ← x>2\nc ← 0 1 0 1 2\nt ← '12'\n"


def rows(heading: str) -> list[list[str]]:
    section = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ") and "`" in line]
    return [[cell.strip() for cell in re.split(r" \| ", line.strip().removesuffix("|").removeprefix("|"))] for line in lines]


def expressions(cell: str) -> list[str]:
    return [text.replace("\\|", "|") for text in re.findall(r"`([^`]+)`", cell)]


WRITTEN = [*rows("Spelling"), *rows("What is refused, and what to write"), *rows("From J")]


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row[0])
def test_what_to_write_is_accepted(row: list[str]) -> None:
    assert len(row) in (3, 4)
    for text in expressions(row[-1]):
        if text != "⎕IO←1":
            rho.eval(NAMES + text)


@pytest.mark.parametrize("row", rows("What is refused, and what to write"), ids=lambda row: row[0])
def test_what_is_refused_is_refused_with_its_code(row: list[str]) -> None:
    codes = re.findall(r"\bE\d{3}\b", row[1])
    for position, text in enumerate(expressions(row[0])):
        if codes:
            found = [one.code for one in rho.check(NAMES + text).diagnostics if one.is_error]
            assert found[:1] == [codes[min(position, len(codes) - 1)]], (text, found)
        else:
            assert str(rho.eval(NAMES + text)).lower() == row[1].partition(":")[0].lower().replace("0", "false"), text
